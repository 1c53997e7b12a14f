"""The Gaussian nearest to the posterior, given which annotators belong together.

In the model all annotators' loadings a_k = (theta_k, v_k1, ...) have the same prior. Where votes are few it keeps them
close to its mean, and so the members of a camp too close to everybody else. Given the probability z_kc that k belongs
to camp c, instead

    a_k ~ N(sum_c z_kc m_c, diag(tau^2)),

the mean-field approximation to a mixture of camps. The means m_c and spreads tau come from what the votes say without
the prior, and are held: they fix the scale of v_k w, which the votes leave open. All else moves by the sweeps of
:mod:`bayes_arena.inference.marginal.gaussian`: an average over the current Gaussian, then a Newton step. Given the
camp c instead of the probabilities, a_k has the same covariance Q_k, and its mean moves by Q_k tau^-2 (m_c - z_k m).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from bayes_arena.algebra.crossed import Crossed
from bayes_arena.algebra.crossed_factor import CrossedFactor
from bayes_arena.algebra.factors import AnyFactor, factorise
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

SWEEPS, NEAR = 50, 1e-3
"""Most sweeps, and the largest step in logits and loadings that is the last."""
NARROWEST = 0.1
"""Smallest spread of loadings within a camp."""
ROUNDS, SETTLED = 500, 1e-7
"""Most iterations for the spreads, and the change that is the last."""
LEAST = 1e-3
"""Information, in units of the prior's, that anybody's votes carry at least: what they say alone is finite."""


@dataclass(frozen=True, eq=False)
class Belonging:
    """A fit, given which annotators belong together.

    Attributes
    ----------
    mode : Mode
        The Gaussian nearest to the posterior.
    shifts : ndarray, shape (C, M, q)
        By how much the annotators' numbers move where camp c is given.
    """

    mode: Mode
    shifts: Floats

    def within(self, camp: int) -> Mode:
        """Return the same with the numbers that annotators have if they belong to a camp."""
        point = replace(self.mode.point, own=self.mode.point.own + self.shifts[camp])
        return replace(self.mode, point=point)


def columns_of_loadings(target: Objective, *, theta: bool) -> Ints:
    """Return the places of the loadings among the annotators' numbers, with theta if it is free and asked for."""
    places = [p for p, one in enumerate(target.own) if one.basis == "lead" and (theta or one.dimension)]
    return np.array(places, dtype=np.int64)


def told_by_votes(target: Objective, point: Point, covariance: Floats, columns: Ints) -> tuple[Floats, Floats]:
    """Return what the votes say about some of the annotators' numbers: the posterior divided by the prior.

    Parameters
    ----------
    target : Objective
    point : Point
    covariance : ndarray, shape (M, q, q)
        Of the annotators' numbers, given all others.
    columns : ndarray of int, shape (d,)
        Places of the numbers.

    Returns
    -------
    mean, noise : ndarray, shapes (M, d) and (M, d, d)
        Of a Gaussian likelihood.
    """
    center, spread = _prior(target, columns)
    information = np.linalg.inv(covariance[:, columns[:, None], columns] / np.outer(spread, spread))
    size, axes = np.linalg.eigh(information - np.eye(len(columns)))
    noise = (axes / np.maximum(size, LEAST)[:, None, :]) @ axes.transpose(0, 2, 1)
    mean = np.einsum("kab,kbc,kc->ka", noise, information, (point.own[:, columns] - center) / spread)
    return center + spread * mean, noise * np.outer(spread, spread)


def given_membership(mode: Mode, membership: Floats) -> Belonging:
    """Find the Gaussian nearest to the posterior of a model with directions, given who belongs to which camp.

    Parameters
    ----------
    mode : Mode
        The nearest Gaussian without camps, with directions.
    membership : ndarray, shape (M, C)
        Probability that each annotator belongs to each camp.

    Raises
    ------
    ConvergenceError
        If it is not found.
    """
    problem, target, point = mode.problem, mode.problem.objective, mode.point
    columns, gauge = columns_of_loadings(target, theta=True), Gauge.of_all(problem.shifts, target)
    factor = mode.laplace.factor
    told, noise = told_by_votes(target, point, given_others(factor), columns)
    means, spread = _centers(told, np.einsum("kdd->kd", noise), membership)
    center, precision, (usual, sd) = membership @ means, spread**-2, _prior(target, columns)
    places = len(point.head) + np.arange(len(center))[:, None] * len(target.own) + columns
    for _ in range(SWEEPS):
        around = covariances(target, factor)
        _, gradient, hessian = value_and_derivatives(target, point, residuals=False, around=around)
        loadings, pull = point.own[:, columns], gradient.own.copy()
        pull[:, columns] += (loadings - center) * precision - (loadings - usual) / sd**2
        gradient = gauge.on_plane(replace(gradient, own=pull))
        held = cast(Crossed, hessian).precision.copy()
        held[places] = precision
        hessian = replace(cast(Crossed, hessian), precision=held)
        try:
            factor = factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)
        except np.linalg.LinAlgError:
            break
        head, own = factor.solve(-gradient.head, -gradient.own)
        point = point.moved(head, own)
        if max(np.abs(head).max(), np.abs(own).max()) < NEAR:
            laplace = Laplace(factor, problem.shifts, singular=False, log_determinant=factor.log_determinant())
            moves = np.einsum(
                "kpd,ckd->ckp", given_others(factor)[:, :, columns], (means[:, None] - center) * precision
            )
            return Belonging(replace(mode, point=point, laplace=laplace), moves)
    raise ConvergenceError(
        "The strengths in the eyes of every camp were not found. Fit the votes of its members by themselves: "
        "keep_annotators(votes, names)."
    )


def given_others(factor: AnyFactor) -> Floats:
    """Return the covariance of every annotator's numbers given all others; where these go last, given nothing."""
    inverse = cast(CrossedFactor, factor).inverse_tail
    return factor.tail_covariance() if inverse is None else inverse


def _centers(told: Floats, noise: Floats, membership: Floats) -> tuple[Floats, Floats]:
    """Return the means of the camps (C, d), and the spreads within them (d,), by maximum likelihood (EM)."""
    variance, total = np.maximum(told.var(axis=0), NARROWEST**2), membership.sum(axis=0)
    for _ in range(ROUNDS):
        weight = 1 / (noise + variance)
        means = (membership.T @ (told * weight)) / (membership.T @ weight)
        shrunk = variance * weight
        squares = ((shrunk[:, None] * (told[:, None] - means)) ** 2 + (shrunk * noise)[:, None]).transpose(2, 0, 1)
        last, variance = variance, np.maximum((squares * membership).sum(axis=(1, 2)) / total.sum(), NARROWEST**2)
        if np.abs(variance - last).max() < SETTLED:
            break
    return means, np.sqrt(variance)


def _prior(target: Objective, columns: Ints) -> tuple[Floats, Floats]:
    """Return means and spreads of the prior of some of the annotators' numbers, each (d,)."""
    chosen = [target.own[p] for p in columns]
    return np.array([one.mean for one in chosen]), np.array([one.sd for one in chosen])
