"""``Draws`` of all parameters of a model, with the strengths on the common scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.estimand import View
from bayes_arena.inference.projected import Projection
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import spread_label
from bayes_arena.likelihood.problem import Problem

if TYPE_CHECKING:
    from xarray import DataTree


UNSEEN = 11
"""Seed of the parameters of slices without votes."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of all parameters of a model.

    Attributes
    ----------
    strength : ndarray, shape (n_draws, n_competitors)
        r in logits.
    elo_strength : ndarray, shape (n_draws, n_competitors)
        r*, on the scale that all models share, in logits.
    common : ndarray, shape (n_draws, c)
        Parameters that annotators share.
    own : ndarray, shape (n_draws, n_annotators, q)
        Parameters of each annotator.
    slices : ndarray, shape (n_draws, s)
        Parameters of slices.
    """

    strength: Floats
    elo_strength: Floats
    common: Floats
    own: Floats
    slices: Floats = field(default_factory=partial(np.zeros, (0, 0)))

    @classmethod
    def of(
        cls,
        problem: Problem,
        strength: Floats,
        common: Floats,
        own: Floats,
        slices: Floats | None = None,
        spreads: Mapping[str, Floats] | None = None,
        on: View | None = None,
    ) -> Draws:
        """Return draws of the parameters of a problem with their r*, given its spreads or draws of some of them."""
        votes, target = problem.cells.votes_by_annotator(), problem.objective
        drawn = np.tile(target.spread_values, (len(strength), 1))
        for name, values in (spreads or {}).items():
            drawn[:, target.spreads.index(name)] = values
        projected = project_draws(target, strength, common, own, votes, slices, drawn if spreads else None, on)
        return cls(strength, projected, common, own, np.zeros((len(strength), 0)) if slices is None else slices)

    def points(self) -> Iterator[Point]:
        """Iterate over the draws as points in parameter space."""
        slices = self.slices if len(self.slices) else np.zeros((len(self.strength), 0))
        return map(Point, self.strength, self.common, self.own, slices)


def viewed(
    projection: Projection, center: Point, on: View, strength: Floats, common: Floats, own: Floats, slices: Floats
) -> Draws:
    """Return draws with the Elo scale's r* for some slices, to first order around a point and its r*."""
    head = np.column_stack([strength, common, slices]) - center.head
    noise = noise_of_unseen(on, len(head)) if on.unseen.any() else None
    shift = projection.moved(head, own - center.own, noise)
    return Draws(strength, projection.strength + shift, common, own, slices)


def noise_of_unseen(on: View, size: int) -> Floats:
    """Draw the contribution to the strengths of slices without votes, shape (size, n)."""
    return np.asarray(np.random.default_rng(UNSEEN).normal(size=(size, len(on.unseen))) * np.sqrt(on.unseen))


def draws_of_spreads(tree: DataTree, target: Objective) -> dict[str, Floats]:
    """Read the draws of the spreads that were sampled, each of shape (n_draws,), by the names of ``Prior``."""
    posterior, labels = tree["posterior"], {name: spread_label(name) for name in target.spreads}
    return {name: np.ravel(posterior[label].to_numpy()) for name, label in labels.items() if label in posterior}
