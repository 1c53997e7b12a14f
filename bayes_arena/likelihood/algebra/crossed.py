"""Linear algebra of models with slices, whose numbers cross those of the annotators.

The Hessian H = J' W J + residuals + prior is sparse: a vote fills the entries of K numbers. One kind of slice, the
annotators among them, is eliminated unit by unit (:mod:`bayes_arena.likelihood.algebra.numbering` says which), each on
the numbers that its votes touch; what is left is dense,

    S = A - sum_u B_u D_u^-1 B_u'.

The sums of the annotators' own numbers are held, E'x = 0. Where annotators are eliminated, S + G T^-1 G' takes the
place of S, with G = sum_u B_u D_u^-1 E_u and T = sum_u E_u' D_u^-1 E_u, as in the ``arrow`` beside this module. Where
they are left, rho E E' is added, which changes nothing on the plane, and solutions x are moved there,

    x - S^-1 E (E' S^-1 E)^-1 E' x,        ln |H| on the plane = ln |S| + ln |E' S^-1 E| + sum_u ln |D_u|.

Own numbers come as (M, q), everything else as the head: strengths, common numbers, numbers of slices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy

from bayes_arena.arrays import Floats
from bayes_arena.compiled import made_ready
from bayes_arena.likelihood.algebra.numbering import Numbering

if TYPE_CHECKING:
    from bayes_arena.likelihood.algebra.factor import CrossedFactor

COMPILING = "the elimination of slices"


@dataclass(frozen=True, eq=False)
class Crossed:
    """The Hessian of a model with slices, row by row.

    Attributes
    ----------
    numbering : Numbering
        What the numbers are of.
    entry : ndarray, shape (n_rows, K)
        Entries of J, rows in the order of the elimination.
    curve : ndarray, shape (n_rows, C, C)
        Curvature of the rows by their coordinates.
    slope : ndarray, shape (n_rows,)
        Gradient by eta where residuals count, else zero.
    precision : ndarray, shape (p,)
        Of the prior, for (head, own).
    head : ndarray, shape (n, n)
        The strengths' block.
    """

    numbering: Numbering
    entry: Floats
    curve: Floats
    slope: Floats
    precision: Floats
    head: Floats

    def factorise(self, extra: Floats | float, damping: float) -> CrossedFactor:
        """Factorise on the plane where the annotators' numbers keep their sums.

        Parameters
        ----------
        extra : ndarray, shape (n, n)
            Added to the strengths' block.
        damping : float
            Added to the diagonal.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the matrix is not positive definite.
        """
        from bayes_arena.likelihood.algebra import kernels
        from bayes_arena.likelihood.algebra.factor import CrossedFactor, solved

        numbers, order = self.numbering, self.numbering.elimination
        n, d, m = numbers.n_competitors, len(order.dense), order.n_own
        precision = self.precision + damping
        dense = np.zeros((d, d))
        dense[np.diag_indices(d)] = precision[order.dense]
        dense[:n, :n] += extra
        counts, touches = np.diff(order.tail_start), np.diff(order.touched_start)
        inverse_start, across_start = (np.append(0, np.cumsum(counts * size)) for size in (counts, touches))
        inverse, across = np.empty(inverse_start[-1]), np.empty(across_start[-1])
        towards, held = np.zeros((d, m)), np.zeros((m, m))

        def eliminate() -> float:
            value: float = kernels.eliminate(
                order.start, order.local, self.entry, order.coordinate, order.sign, order.theta, self.curve, self.slope,
                order.tail_start, order.touched, order.touched_start, precision[order.tail], m, dense, towards, held,
                inverse, inverse_start, across, across_start,
            )  # fmt: skip
            return value

        log_determinant = made_ready(kernels.eliminate, eliminate, COMPILING)
        columns = np.zeros((d, 0 if m else len(numbers.own)))
        if m and numbers.n_annotators:
            dense += towards @ np.linalg.solve(held, towards.T)
            log_determinant += np.linalg.slogdet(held)[1]
        elif numbers.n_annotators:
            own = np.searchsorted(order.dense, numbers.n_head + np.arange(numbers.n_annotators * columns.shape[1]))
            columns[own, np.tile(np.arange(columns.shape[1]), numbers.n_annotators)] = 1.0
            dense += np.diag(dense).mean() / numbers.n_annotators * columns @ columns.T
        lower = scipy.linalg.cholesky(dense, lower=True, check_finite=False)
        back = solved(lower, columns)
        if columns.any():
            log_determinant += np.linalg.slogdet(columns.T @ back)[1]
        log_determinant += 2 * np.log(np.diag(lower)).sum()
        return CrossedFactor(
            self, lower, columns, back, towards, held, inverse, inverse_start, across, across_start, log_determinant
        )
