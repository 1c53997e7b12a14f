"""The negative log-posterior of a design: at a point, and averaged over a Gaussian.

Each predictor of a row is a sum of terms, coefficient times parameter.  So by the chain
rule, the derivative of its loss in a parameter is the coefficient times the derivative
in the predictor.  The second derivative in two parameters is the product of their
coefficients times that in their predictors; it is added to the Hessian at the entry
where the two parameters meet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.model.arrow import Arrow, Covariance
from bayes_arena.model.design import Chunk, Design, Term
from bayes_arena.model.effects import ETA, LEAD, THETA
from bayes_arena.model.likelihood import (
    average_loss,
    coordinates,
    loss_at,
    outcome_probabilities,
)


@dataclass(frozen=True)
class Expansion:
    """Value, gradient and Hessian of the negative log-posterior, or their averages."""

    value: float
    gradient: Floats
    hessian: Arrow


def value(design: Design, x: Floats) -> float:
    """Return the negative log-posterior at x, up to a constant."""
    total = 0.5 * float(design.prior_precision() @ x**2)
    for chunk in design.chunks():
        z = coordinates(predictors(chunk, x))
        _, A = outcome_probabilities(design.phi, z)
        total += float(chunk.n_votes @ A - np.sum(chunk.statistic * z))
    return total


def expand(
    design: Design,
    x: Floats,
    covariance: Covariance | None = None,
    *,
    with_residuals: bool = False,
) -> Expansion:
    """Return the negative log-posterior and its derivatives.

    Parameters
    ----------
    design : Design
    x : ndarray, shape (parameters,)
    covariance : Covariance, optional
        If given, everything is averaged over N(x, covariance).
    with_residuals : bool
        Whether the Hessian is the complete one.  By default it is the expected one,
        which is positive semidefinite.
    """
    precision = design.prior_precision()
    gradient = precision * x
    total = 0.5 * float(gradient @ x)
    hessian = Arrow.diagonal(design.layout, precision / 2)
    for chunk in design.chunks():
        u = predictors(chunk, x)
        n, s = chunk.n_votes, chunk.statistic
        if covariance is None:
            loss = loss_at(u, n, s, design.phi)
        else:
            S = predictor_covariances(chunk, covariance)
            loss = average_loss(u, S, n, s, design.phi)
        if with_residuals:
            loss.hessian[LEAD, THETA] += loss.gradient[ETA]
            loss.hessian[THETA, LEAD] += loss.gradient[ETA]
        total += loss.total
        add_gradient(gradient, chunk, loss.gradient)
        part = hessian.of_groups(design.layout, chunk.groups)
        add_half_hessian(part, chunk, loss.hessian)
    return Expansion(total, gradient, hessian.plus_transpose(design.layout))


def row_coordinates(design: Design, x: Floats) -> Floats:
    """Return the coordinates z of all rows at x, (C, rows)."""
    parts = [coordinates(predictors(chunk, x)) for chunk in design.chunks()]
    return np.concatenate(parts, axis=1)


def predictors(chunk: Chunk, x: Floats) -> Floats:
    """Return the predictors u of the rows, (C + 2, rows)."""
    C, n_rows = chunk.statistic.shape
    u = np.zeros((C + 2, n_rows))
    u[THETA] = 1.0  # theta is 1 plus its effects
    for term in chunk.terms:
        u[term.predictor] += term.coefficient * x[chunk.index(term)]
    return u


def predictor_covariances(chunk: Chunk, covariance: Covariance) -> Floats:
    """Return the covariances of the predictors of the rows, (C + 2, C + 2, rows)."""
    C, n_rows = chunk.statistic.shape
    S = np.zeros((C + 2, C + 2, n_rows))
    matrix = covariance.of_groups(chunk.groups)
    for a, b in term_pairs(chunk):
        values, position = entries(matrix, chunk, a, b)
        product = a.coefficient * b.coefficient * values[position]
        S[a.predictor, b.predictor] += product
        if a is not b:
            S[b.predictor, a.predictor] += product
    return S


def add_gradient(gradient: Floats, chunk: Chunk, slope: Floats) -> None:
    """Add the gradients of the rows, given those in the predictors."""
    for term in chunk.terms:
        np.add.at(gradient, chunk.index(term), term.coefficient * slope[term.predictor])


def add_half_hessian(hessian: Arrow, chunk: Chunk, curvature: Floats) -> None:
    """Add half the Hessians of the rows to that of the chunk's groups.

    The ``curvature`` is that in the predictors.  The other half is the transpose.  So two
    terms are added on one side of the diagonal, and a term with itself counts half.
    """
    for a, b in term_pairs(chunk):
        values, position = entries(hessian, chunk, a, b)
        product = a.coefficient * b.coefficient * curvature[a.predictor, b.predictor]
        np.add.at(values, position, product / 2 if a is b else product)


def term_pairs(chunk: Chunk) -> Iterator[tuple[Term, Term]]:
    """Yield all pairs of terms, also a term with itself; local terms come first."""
    local = [term for term in chunk.terms if term.is_local]
    shared = [term for term in chunk.terms if not term.is_local]
    return combinations_with_replacement(local + shared, 2)


def entries(matrix: Arrow, chunk: Chunk, a: Term, b: Term) -> tuple[Floats, Ints]:
    """Return the entries of a matrix where the parameters of two terms meet.

    Returns
    -------
    values : ndarray
        A flat view of one part of the matrix, which is that of the chunk's groups: what is
        written into it is written into the matrix.
    position : ndarray, shape (rows,)
        Where in it each row's entry is.
    """
    if b.is_local:  # and so is a
        return matrix.local, chunk.block_start + a.column * chunk.n_local + b.column
    block = matrix.cross if a.is_local else matrix.shared
    # The groups of a chunk are consecutive, so that their part lies in one piece.
    values = block.reshape(-1, copy=False)
    return values, chunk.position(a) * block.shape[-1] + b.column
