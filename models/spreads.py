"""Spreads of the prior: fixed, or sampled under their hyperpriors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pymc as pm
from pymc.distributions import transforms

from bayes_arena.likelihood.priors import Prior, degrees, spread_label


def spread(name: str, prior: Prior) -> Any:
    """Return a spread by its name in the prior: a number, or sampled where the prior estimates it.

    A sampled one has sigma / s ~ chi(d) (:mod:`bayes_arena.likelihood.priors`): half-normal with d = 1, Maxwell's
    distribution with d = 3.
    """
    if prior.hyper is None or not prior.estimates(name):
        return float(prior.spread(name))
    label, scale = spread_label(name), prior.hyper.spread(name)
    if degrees(name) == 1:
        return pm.HalfNormal(label, scale)
    chi = partial(_chi, degrees=degrees(name))
    return pm.CustomDist(label, scale, dist=chi, transform=transforms.log, class_name="Chi")


def falling(label: str, names: Sequence[str], prior: Prior) -> Any:
    """Return the spreads of directions, as a vector; where the prior estimates them, the largest first."""
    if prior.hyper is None or not prior.estimates(names[0]):
        return np.array([prior.spread(name) for name in names])
    scales, start = [prior.hyper.spread(name) for name in names], np.linspace(1.0, 0.5, len(names))
    in_order = transforms.Ordered(positive=True, ascending=False)
    return pm.HalfNormal(label, scales, dims="direction", default_transform=None, transform=in_order, initval=start)


def _chi(scale: Any, size: Any, degrees: int) -> Any:
    return scale * pm.math.sqrt(pm.ChiSquared.dist(degrees, size=size))
