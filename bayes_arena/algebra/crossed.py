"""Linear algebra of models with slices, whose numbers cross those of the annotators.

The Hessian H = J' W J + residuals + prior is sparse: a vote fills the entries of K numbers. One kind of slice
(annotators count as one) is eliminated unit by unit (:mod:`bayes_arena.algebra.elimination` says which), each on the
numbers that its votes touch. What is left is dense,

    S = A - sum_u B_u D_u^-1 B_u'.

The sums of the annotators' own numbers are held, E'x = 0, and so are those of what slices add to theta, which are
always left. Where annotators are eliminated, S + G T^-1 G' replaces S,
with G = sum_u B_u D_u^-1 E_u and T = sum_u E_u' D_u^-1 E_u, as in :mod:`bayes_arena.algebra.arrow`. Where they are
left, as those of slices are, rho E E' is added, which changes nothing on the plane, and solutions x are moved there,

    x - S^-1 E (E' S^-1 E)^-1 E' x,        ln |H| on the plane = ln |S| + ln |E' S^-1 E| + sum_u ln |D_u|.

Own numbers come as (M, q), everything else as the head: strengths, common numbers, numbers of slices.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayes_arena.algebra.elimination import Elimination
from bayes_arena.arrays import Floats

OF_LEAD, OF_FACTOR, MIXED = range(3)
"""Places in ``products``: of a lead along a direction, of its factor, and of both."""


@dataclass(frozen=True, eq=False)
class Crossed:
    """The Hessian of a model with slices, row by row.

    Attributes
    ----------
    elimination : Elimination
        What is eliminated, and the entries of every row.
    shape : (int, int, int)
        Numbers of the head, annotators, and own numbers of each.
    entry : ndarray, shape (n_rows, K)
        Entries of J, rows in the order of the elimination.
    curve : ndarray, shape (n_rows, C, C)
        Curvature of the rows in their coordinates.
    slope : ndarray, shape (n_rows,)
        Gradient in eta where residuals count, else zero: curvature in the lead in dimension 0 and its factor.
    products : ndarray, shape (n_rows, D - 1, 3)
        Curvature in the lead along every direction, in its factor, and in both, beyond J' W J.
    precision : ndarray, shape (p,)
        The diagonal of the prior's, for (head, own).
    head : ndarray, shape (n, n)
        The strengths' block.
    between : ndarray, shape (w,)
        The prior's precision off the diagonal, between numbers that walk: ``Elimination.walk`` says which.
    """

    elimination: Elimination
    shape: tuple[int, int, int]
    entry: Floats
    curve: Floats
    slope: Floats
    products: Floats
    precision: Floats
    head: Floats
    between: Floats
