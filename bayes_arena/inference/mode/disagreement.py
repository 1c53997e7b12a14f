"""Where a search for directions of disagreement starts.

At w = 0 and v = 0 the objective has a saddle. Let R_k (n,) be the sums of annotator k's residuals in eta, + as i and
- as j, and L_k the Laplacian of the curvatures. If annotators agree up to noise, R_k has mean zero and covariance L_k.
Loadings of variance one on a direction w add L_k w w' L_k. So along the generalised eigenvectors of the largest
eigenvalues of

    sum_k c_k R_k R_k'        against sum_k c_k L_k,        c_k = 1 / (1 + w' L_k w) for a w of the usual size,

disagreement stands out most from noise: with the weights c_k no annotator counts for more than their loading can be
known. How large eigenvalues are from noise alone is seen from the same residuals with
random signs, which no longer belong together (parallel analysis; Horn, 1965, Psychometrika 30).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem

STARTS = 2
"""Most directions to start from: noise may lead the first astray."""
SIZE = 0.5
"""Root mean square of the positions at the start, in logits."""
RIDGE, LEAST = 1e-2, 1e-3
"""Added to the Laplacian's diagonal; share of its largest eigenvalue below which a direction is not looked at."""
AT_ONCE = 20_000
"""Annotators whose residuals are handled together."""
SHUFFLES, BEYOND = 8, 2.0
"""Sets of random signs, and standard deviations of their largest eigenvalues beyond whose mean directions are searched
for: whether they are there, the evidence decides."""


def starts_along(problem: Problem, point: Point, *, beyond_noise: bool = False) -> list[Point]:
    """Return points with one more direction, to start a search from.

    Parameters
    ----------
    problem : Problem
        With one direction less.
    point : Point
        Its mode, or the mean of its posterior.
    beyond_noise : bool
        Only along directions of more disagreement than noise alone has.
    """
    cells, model = problem.cells, problem.model
    target = problem.objective if model.needs_annotators else objective(cells, model, problem.prior, by_annotator=True)
    target = replace(target, n_annotators=cells.n_annotators)
    known = point.own if model.needs_annotators else np.zeros((cells.n_annotators, 0))
    own = np.column_stack([known, np.zeros(cells.n_annotators)])
    directions, exceed = _directions(target, point)
    chosen = [w for w in directions[: exceed if beyond_noise else STARTS] if np.mean(w**2) > 0]  # somebody disagrees
    found = [SIZE * w / np.sqrt(np.mean(w**2)) for w in chosen]
    return [Point(point.strength, point.common, own, np.append(point.slices, w)) for w in found]


def _directions(target: Objective, point: Point) -> tuple[list[Floats], int]:
    """Return directions, those of most disagreement first, each of shape (n,), and how many exceed noise."""
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
    residuals, rng = np.sqrt(weight) * slope, np.random.default_rng(0)
    signs = (rng.choice([-1.0, 1.0], size=len(residuals)) for _ in range(SHUFFLES))
    of_noise = [_spectrum(target, residuals * sign, half)[0][0] for sign in signs]
    noise = np.mean(of_noise) + BEYOND * np.std(of_noise)
    sizes, found = _spectrum(target, residuals, half)
    return [half @ one - np.mean(half @ one) for one in found], int((sizes > noise).sum())


def _spectrum(target: Objective, residuals: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Return the largest eigenvalues for residuals (n_rows,), given L^-1/2 (n, m), and their vectors as rows."""
    from scipy.sparse import csr_array  # slow to import

    tally, count, shape = target.tally, half.shape[1], (min(AT_ONCE, target.n_annotators), target.n_competitors)
    total = np.zeros((count, count))
    for first in range(0, target.n_annotators, AT_ONCE):
        some = slice(*np.searchsorted(tally.k, [first, first + AT_ONCE]).tolist())
        rows = residuals[some], tally.k[some] - first
        of_i, of_j = (csr_array((rows[0], (rows[1], one[some])), shape) for one in (tally.i, tally.j))
        seen = (of_i - of_j) @ half
        total += seen.T @ seen
    sizes, found = scipy.linalg.eigh(total, subset_by_index=(max(count - STARTS, 0), count - 1))
    return sizes[::-1], found.T[::-1]
