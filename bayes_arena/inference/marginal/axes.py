"""The axes along which disagreement is measured.

With w (q, n) the positions and v (q, M) the loadings, votes see w'v alone: T w and T^-T v predict the same for every
invertible T. The priors w_l ~ N(0, sigma_l^2) and v_l ~ N(0, 1) choose T. Let A = sum_i E[w_i w_i'] and
V = sum_k E[v_k v_k']. The free energy is stationary in T where A and V are diagonal and

    V_ll - (M - 1) = A_ll / sigma_l^2 - n.

Sweeps approach that only slowly, so each is followed by a step to it (parameter expansion; Liu, Rubin & Wu, 1998,
"Parameter expansion to accelerate EM", Biometrika 85).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayes_arena.algebra.factorising import DenseFactor
from bayes_arena.arrays import Floats
from bayes_arena.likelihood.covariances import SliceCovariances
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

SHARE = 0.6
"""Share of the way that a step goes: sweeps themselves go some of it."""
FURTHEST = 4.0
"""Largest factor on the variance of loadings in a step."""


def on_axes(
    target: Objective, point: Point, factor: DenseFactor, around: SliceCovariances
) -> tuple[Objective, Point, SliceCovariances]:
    """Return spreads, point and Gaussian on the axes that the priors choose.

    Parameters
    ----------
    target : Objective
        Of a model with directions.
    point : Point
    factor : Factor or ChainFactor
        Of the precision, for the moments.
    around : SliceCovariances
        The Gaussian as rows of votes see it.
    """
    from scipy.linalg import fractional_matrix_power
    from scipy.optimize import linear_sum_assignment  # slow to import

    numbering = target.numbering
    n, columns, parts = target.n_competitors, target.predictor.loadings, target.directions
    q, w, v = len(columns), np.array([point.slices[part] for part in parts]), point.own[:, columns].T
    left, order = factor.left.covariance, numbering.elimination
    first = numbering.n_head - numbering.n_slices
    places = np.array([np.searchsorted(order.units.dense, first + np.arange(part.start, part.stop)) for part in parts])
    of_w = w @ w.T + left[places[:, None, :], places[None, :, :]].sum(axis=2)
    of_v = v @ v.T + around.own[:, np.array(columns)[:, None], columns].sum(axis=0)
    spreads = target.spread_values
    count, ratios = target.n_annotators - 1, np.diag(of_w) / spreads[-q:] ** 2
    sizes = np.sqrt(np.clip(count + ratios - n, count / FURTHEST, count * FURTHEST))
    root = np.linalg.cholesky(of_v / np.outer(sizes, sizes))
    _, turned = np.linalg.eigh(root.T @ of_w @ root)
    _, nearest = linear_sum_assignment(-np.abs(turned))  # no direction changes its place or its sign
    turned = turned[:, nearest]
    turned = turned * np.sign(np.diag(turned))
    move = np.asarray(fractional_matrix_power(turned.T @ root.T, SHARE).real)
    move_loadings = np.linalg.inv(move)
    slices, own = point.slices.copy(), point.own.copy()
    for part, positions in zip(parts, move @ w, strict=True):
        slices[part] = positions
    own[:, columns] = v.T @ move_loadings
    others = [*spreads[1:-q], *np.sqrt(np.diag(move @ of_w @ move.T) / ratios)]
    pieces = _moved(around.spread.pieces, order.factor, move, move_loadings.T)
    return (
        target.with_spreads(float(spreads[0]), others),
        replace(point, slices=slices, own=own),
        replace(around, spread=replace(around.spread, pieces=pieces)),
    )


def _moved(pieces: Floats, factor: np.ndarray, move: Floats, move_loadings: Floats) -> Floats:
    """Return the covariances of the pieces of rows, leads and factors along directions moved."""
    size = int((np.sqrt(8 * len(pieces) + 1) - 1) / 2)
    q, fixed = len(move), int(not (factor == 0).any())
    full = np.eye(size)
    leads, loadings = slice(1, 1 + q), slice(2 + q - fixed, 2 + 2 * q - fixed)
    full[leads, leads], full[loadings, loadings] = move, move_loadings
    found = np.empty_like(pieces)
    for u in range(size):
        for t in range(u + 1):
            parts = [
                (full[u, a] * full[t, b], max(a, b), min(a, b))
                for a in np.flatnonzero(full[u])
                for b in np.flatnonzero(full[t])
            ]
            found[u * (u + 1) // 2 + t] = sum(share * pieces[a * (a + 1) // 2 + b] for share, a, b in parts)
    return found
