"""Draws of the parameters with a robust covariance, without forming that matrix.

With s_g the score of group g of votes at the mode, H the Hessian there, and z_g independent and standard normal,

    x = H^-1 sum_g z_g s_g      has the covariance      H^-1 (sum_g s_g s_g') H^-1,

which is the sandwich covariance where every vote is a group, and the clustered one where a group is a cluster. The mode
plus x is the multiplier bootstrap to first order: scores are reweighted instead of votes, and nothing is refitted.
Divided by sqrt(chi2_f / f), the draws follow Student's t with f degrees of freedom.

Source: Kline & Santos (2012), Journal of Econometric Methods 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import DEFAULT_DRAWS, with_elo
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import basis

AT_ONCE = 4_000_000
"""Draws times rows, or parameters, held at once, which bounds the memory."""


def draw_with_scores(
    fit: Fit,
    target: Objective,
    scores: Sequence[Floats],
    group: Ints,
    *,
    freedom: float = math.inf,
) -> Draws:
    """Draw the parameters around the mode; the same votes give the same draws.

    Parameters
    ----------
    fit : Fit
        A posterior mode.
    target : Objective
        Its votes, in rows.
    scores : sequence of ndarray, shape (C, n_rows)
        Gradients of the rows, as :func:`~bayes_arena.ratings.intervals.robust.slopes_of_rows` returns them; each array
        has its own multipliers.
    group : ndarray of int, shape (n_rows,)
        The group of every row.
    freedom : float
        Degrees of freedom.
    """
    n, h, size = target.n_competitors, len(fit.point.head), DEFAULT_DRAWS
    rng = np.random.default_rng(0)
    jacobians = [_by_parameters(fit, target, coordinate) for coordinate in range(len(scores[0]))]
    head, own = np.empty((size, h)), np.empty((size, *fit.point.own.shape))
    step = max(1, AT_ONCE // max(len(group), h + fit.point.own.size))
    for first in range(0, size, step):
        part = slice(first, min(first + step, size))
        count = part.stop - part.start
        gradient = np.zeros((h + fit.point.own.size, count))
        for slope in scores:
            multiplier = rng.normal(size=(int(group.max()) + 1, count))[group]
            for coordinate, jacobian in enumerate(jacobians):
                gradient += jacobian.T @ (slope[coordinate, :, None] * multiplier)
        if math.isfinite(freedom):
            gradient /= np.sqrt(rng.chisquare(freedom, size=count) / freedom)
        x_head, x_own = fit.laplace.solve(gradient[:h].T, gradient[h:].T.reshape(count, *fit.point.own.shape))
        head[part], own[part] = x_head.T, x_own.transpose(2, 0, 1)
    return with_elo(fit, fit.strength + head[:, :n], fit.point.common + head[:, n:], fit.point.own + own)


def _by_parameters(fit: Fit, target: Objective, coordinate: int) -> Any:
    """Return the derivatives of a coordinate of every row by strengths, common and annotators' parameters.

    The lead and theta follow the last coordinate.
    """
    from scipy.sparse import csr_array  # slow to import

    i, j, k = target.tally.i, target.tally.j, target.tally.k
    n, size, (count, width) = target.n_competitors, len(i), fit.point.own.shape
    leads, features = [target.leads(fit.strength)], target.tally.features
    columns, values = [], []
    if coordinate == ETA:
        theta = target.factors(fit.point)[0] * np.ones(size)
        columns, values = [i, j], [theta, -theta]
    places = [np.full_like(i, n + s) for s in range(len(target.common))]
    places += [n + len(target.common) + k * width + p for p in range(width)]
    if coordinate == target.likelihood.n_coordinates:
        columns, values = [i, j], [np.ones(size), -np.ones(size)]
    elif coordinate > target.likelihood.n_coordinates and target.free_discrimination:
        columns, values = [places[len(target.common)]], [np.ones(size)]
    for place, effect in zip(places, (*target.common, *target.own), strict=True):
        if effect.coordinate == coordinate:
            columns.append(place)
            values.append(basis(effect, leads, features) * np.ones(size))
    rows = np.tile(np.arange(size), len(columns))
    shape = (size, n + len(target.common) + count * width)
    if not columns:
        return csr_array(shape)
    return csr_array((np.concatenate(values), (rows, np.concatenate(columns))), shape=shape)
