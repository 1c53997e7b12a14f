"""Where a search for directions of disagreement starts.

At w = 0 and v = 0 the objective has a saddle. Let R_k (n,) be the sums of annotator k's residuals in eta, + as i and
- as j, and L the Laplacian of the curvatures. If annotators agree up to noise, R_k has mean zero, and the R_k R_k' sum
to L. Loadings of variance one on a direction w add sum_k L_k w w' L_k, with L_k the share of annotator k in L. So for
the generalised eigenvectors of the largest eigenvalues of

    sum_k R_k R_k' - L        against L                                                     (a score test for w = 0)

disagreement stands out most from noise.
"""

from __future__ import annotations

import numpy as np
import scipy

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.point import Point

STARTS = 2
"""Directions to start from: noise may lead the first astray."""
SIZE = 0.5
"""Root mean square of the positions at the start, in logits."""
RIDGE, LEAST = 1e-2, 1e-3
"""Added to the Laplacian's diagonal; share of its largest eigenvalue below which a direction is not looked at."""


def starts_along(target: Objective, point: Point) -> list[Point]:
    """Return points with one more direction, to start a search from.

    Parameters
    ----------
    target : Objective
        Of a model with annotators.
    point : Point
        Its mode, or the mean of its posterior.
    """
    directions = _directions(target, point)[:STARTS]
    own = np.column_stack([point.own, np.zeros(target.n_annotators)])
    return [Point(point.strength, point.common, own, np.append(point.slices, w)) for w in directions]


def _directions(target: Objective, point: Point) -> Floats:
    """Return directions, those along which annotators disagree most first, each of shape (n,)."""
    from scipy.sparse import csr_array  # slow to import

    tally, n = target.tally, target.n_competitors
    terms = target.row_terms(point)
    shape, residual = (target.n_annotators, n), -terms.gradient[ETA]
    of_annotators = csr_array((residual, (tally.k, tally.i)), shape) - csr_array((residual, (tally.k, tally.j)), shape)
    between = sum_by(tally.i * n + tally.j, terms.hessian[ETA, ETA], n * n).reshape(n, n)
    laplacian = -(between + between.T)
    laplacian[np.diag_indices(n)] = -laplacian.sum(axis=1)
    values, vectors = np.linalg.eigh(laplacian + RIDGE * np.eye(n))
    seen = values > LEAST * values[-1]
    half = vectors[:, seen] / np.sqrt(values[seen])
    excess = half.T @ ((of_annotators.T @ of_annotators).toarray() - laplacian) @ half
    count = min(STARTS, len(excess))
    _, found = scipy.linalg.eigh(excess, subset_by_index=(len(excess) - count, len(excess) - 1))
    directions = (half @ found).T[::-1]
    directions = directions - directions.mean(axis=1, keepdims=True)
    return np.asarray(SIZE * directions / np.sqrt(np.mean(directions**2, axis=1, keepdims=True)))
