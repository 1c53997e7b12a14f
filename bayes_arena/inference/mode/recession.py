"""Flat fits with free theta whose finite optimum is beaten at infinity.

The likelihood is bilinear in theta and r, so its supremum may lie at infinity, far from a finite local optimum. Let
theta_k of one annotator grow while the strengths tend to a coarser ranking g, r = g + s / theta_k. Then

    eta_k = theta_k (g_i - g_j) + s_i - s_j,        eta_l -> theta_l (g_i - g_j) for every other annotator l.

Where g separates, the votes of k cost nothing, provided that they all agree with g; where g ties, k keeps a finite
log-odds of its own. So g lies in the cone of k's preferences, g_i >= g_j wherever k once preferred i to j or called a
tie. What k gains is at most the loss of its votes where Newton ended, less the entropy of its rows; the others pay for
g instead of r. Infinity can win only where they pay less than k gains.

With the curvature H of the strengths the others pay about half the squared distance of r from the cone,

    min over A g >= 0 of |g - r|^2 / 2 in the metric of H,        a row e_i - e_j of A for every preference.

The dual of this is non-negative least squares, and any multipliers w >= 0 with w'A r <= 0 bound it from below by
(w'A r)^2 / (2 |A'w|^2), |.| in the metric of 1 / H. With w = the gaps by which r contradicts the preferences, one
pass over the votes leaves few annotators to try: in ordinary arenas none. As k may vote against the ranking, the same
is done with -r.
"""

from __future__ import annotations

from typing import cast

import numpy as np
import scipy

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA, lead
from bayes_arena.votes.outcomes import TIE, wins_losses_ties

MOST = 20
"""Largest number of starts: annotators, each with and against the ranking, the most promising first."""
LEAD = 100.0
"""Log-odds of the annotator between the first and the last group at the start."""


def starts_towards_infinity(target: Objective, point: Point) -> list[Point]:
    """Return starts towards limits at infinity that may lie below a finite optimum.

    Parameters
    ----------
    target : Objective
        With free theta and flat priors.
    point : Point
        Its finite optimum.

    Returns
    -------
    list of Point
        At most ``MOST``, the most promising first; empty where no annotator gains what the others would pay.
    """
    tally, counts, n, count = target.tally, target.counts, target.n_competitors, target.n_annotators
    wins, losses, drawn = wins_losses_ties(counts.T)
    over, under = wins + drawn > 0, losses + drawn > 0  # a tie is a preference both ways
    k = np.concatenate([tally.k[over], tally.k[under]])
    better = np.concatenate([tally.i[over], tally.j[under]])
    worse = np.concatenate([tally.j[over], tally.i[under]])

    curvature = cast(Bordered, gradient_and_hessian(target, point, residuals=False)[1]).in_full()[:n, :n]
    curvature = curvature + np.diag(curvature).mean() * (1 / n + 1e-9 * np.eye(n))
    root = scipy.linalg.cholesky(curvature, lower=True)  # H = root root'
    gain = sum_by(tally.k, target.likelihood.rows(counts, target.coordinates(point)).value - _entropy(target), count)
    candidates = []
    for sign in (1.0, -1.0):
        gap = np.maximum(sign * lead(point.strength, worse, better), 0.0)
        pull = sum_by(k * n + better, gap, count * n) - sum_by(k * n + worse, gap, count * n)
        size = np.sum(scipy.linalg.solve_triangular(root, pull.reshape(count, n).T, lower=True) ** 2, axis=0)
        price = 0.5 * sum_by(k, gap**2, count) ** 2 / np.maximum(size, 1e-300)
        candidates += [(gain[m] - price[m], m, sign) for m in np.flatnonzero(price < gain)]
    candidates.sort(reverse=True)

    starts = []
    for _, m, sign in candidates[:MOST]:
        rows = k == m
        preferences = np.zeros((int(rows.sum()), n))
        preferences[np.arange(len(preferences)), better[rows]] = 1.0
        preferences[np.arange(len(preferences)), worse[rows]] = -1.0
        limit = _nearest(preferences, root, sign * point.strength)
        if np.ptp(limit) > 1e-6 * np.ptp(point.strength):
            starts.append(_on_the_way(point, m, sign, limit))
    return starts


def _entropy(target: Objective) -> Floats:
    """Return the least loss of every row that any parameters can give."""
    decided, drawn = target.counts[:TIE], target.counts[TIE:]
    seen = target.counts if target.likelihood.has_tie_outcome else decided + 0.5 * drawn.sum(axis=0)
    total = np.maximum(seen.sum(axis=0), np.finfo(float).tiny)
    return np.asarray(total * scipy.special.entr(seen / total).sum(axis=0))


def _nearest(preferences: Floats, root: Floats, strength: Floats) -> Floats:
    """Return the point of the cone A g >= 0 that is nearest to r in the metric of H, by the dual problem."""
    from scipy.optimize import nnls  # slow to import

    white = scipy.linalg.solve_triangular(root, preferences.T, lower=True)
    aim = root.T @ strength
    weights, _ = nnls(white, -aim, maxiter=100 * len(preferences))
    return np.asarray(scipy.linalg.solve_triangular(root, aim + white @ weights, lower=True, trans=1))


def _on_the_way(point: Point, annotator: int, sign: float, limit: Floats) -> Point:
    """Stretch the limit until it separates, keeping the annotator's log-odds within groups and the others' between."""
    stretch = LEAD / np.ptp(limit)
    own = point.own.copy()
    within = point.own[annotator, THETA] * point.strength
    own[:, THETA] *= sign / stretch
    own[annotator, THETA] = 1.0
    return Point(stretch * limit + within, point.common, own)
