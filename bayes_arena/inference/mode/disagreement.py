"""Where a search for directions of disagreement starts.

At w = 0 and v = 0 the objective has a saddle. Let R_k (n,) be the sums of annotator k's residuals in eta, + as i and
- as j, and L_k the Laplacian of the curvatures. If annotators agree up to noise, R_k has mean zero and covariance L_k.
Loadings of variance one on a direction w add L_k w w' L_k. So along the generalised
eigenvector of the largest eigenvalue of

    sum_k c_k R_k R_k'        against sum_k c_k L_k,        c_k = 1 / (1 + w' L_k w) for a w of the usual size,

disagreement stands out most from noise: with the weights c_k no annotator counts for more than their loading can be
known. How large it is from noise alone is seen from the same residuals with random signs, which no longer belong
together (parallel analysis; Horn, 1965, Psychometrika 30).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.derivatives import are_many
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.threads import each

SIZE = 0.5
"""Root mean square of the positions at the start, in logits."""
RIDGE, LEAST = 1e-2, 1e-3
"""Added to the Laplacian's diagonal; share of its largest eigenvalue below which a direction is not looked at."""
AT_ONCE = 2_000_000
"""Annotators times competitors whose residuals are handled together."""
SHUFFLES, BEYOND = 8, 2.0
"""Sets of random signs, and standard deviations of their largest eigenvalues beyond whose mean directions are searched
for: whether they are there, the evidence decides."""


def start_along(problem: Problem, point: Point, *, beyond_noise: bool = False) -> Point | None:
    """Return a point with one more direction, to start a search from; None where nobody disagrees.

    Parameters
    ----------
    problem : Problem
        With one direction less.
    point : Point
        Its mode, or the mean of its posterior.
    beyond_noise : bool
        Only along a direction of more disagreement than noise alone has.
    """
    cells, model = problem.cells, problem.model
    target = problem.objective if model.needs_annotators else objective(cells, model, problem.prior, by_annotator=True)
    target = replace(target, n_annotators=cells.n_annotators)
    known = point.own if model.needs_annotators else np.zeros((cells.n_annotators, 0))
    own = np.column_stack([known, np.zeros(cells.n_annotators)])
    w, exceeds = _direction(target, point)
    size = float(np.sqrt(np.mean(w**2)))
    if not size or (beyond_noise and not exceeds):
        return None
    return Point(point.strength, point.common, own, np.append(point.slices, SIZE / size * w))


def _direction(target: Objective, point: Point) -> tuple[Floats, bool]:
    """Return the direction of most disagreement, shape (n,), and whether that exceeds noise."""
    tally, n = target.tally, target.n_competitors
    slope, curve = target.in_eta(point)
    known = sum_by(tally.k, curve, target.n_annotators)
    weight = 1 / (1 + 2 * SIZE**2 * known)[tally.k]
    between = sum_by(tally.i * n + tally.j, weight * curve, n * n).reshape(n, n)
    laplacian = -(between + between.T)
    laplacian[np.diag_indices(n)] = -laplacian.sum(axis=1)
    values, vectors = np.linalg.eigh(laplacian + RIDGE * np.eye(n))
    seen = values > LEAST * values[-1]
    half = vectors[:, seen] / np.sqrt(values[seen])
    residuals = np.sqrt(weight) * slope

    def shuffled(seed: int | None) -> tuple[float, Floats]:
        if seed is None:
            return _largest(target, residuals, half)
        signs = np.random.default_rng(seed).integers(2, size=len(residuals), dtype=np.int8)
        return _largest(target, np.where(signs, residuals, -residuals), half)

    at_once = map if are_many(n) else each  # each holds matrices of all pairs
    (largest, found), *of_noise = at_once(shuffled, [None, *range(SHUFFLES)])
    noise = [value for value, _ in of_noise]
    w = half @ found
    return w - w.mean(), bool(largest > np.mean(noise) + BEYOND * np.std(noise))


def _largest(target: Objective, residuals: Floats, half: Floats) -> tuple[float, Floats]:
    """Return the largest eigenvalue for residuals (n_rows,), given L^-1/2 (n, m), and its vector."""
    tally, n = target.tally, target.n_competitors
    products, step = np.zeros((n, n)), max(1, AT_ONCE // n)
    for first in range(0, target.n_annotators, step):
        some = slice(*np.searchsorted(tally.k, [first, first + step]).tolist())
        row, shape = (tally.k[some] - first) * n, (min(step, target.n_annotators - first), n)
        of_i, of_j = (sum_by(row + one[some], residuals[some], shape[0] * n) for one in (tally.i, tally.j))
        seen = (of_i - of_j).reshape(shape)
        products += seen.T @ seen
    total = half.T @ products @ half
    (value,), found = scipy.linalg.eigh(total, subset_by_index=(len(total) - 1, len(total) - 1))
    return float(value), found[:, 0]
