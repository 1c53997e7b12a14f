"""The Gaussian nearest to the posterior, given which annotators belong together.

In the model all annotators' loadings a_k = (theta_k, v_k1, ...) have the same prior. Where votes are few it keeps them
close to its mean, and so the members of a camp too close to everybody else. Given the probability z_kc that k belongs
to camp c, their distribution is instead a mixture of N(m_c, diag(tau^2)). The means m_c and spreads tau come from what
the votes say without the prior, N(x_k, 1 / P_k), and are held: they fix the scale of v_k w, which the votes leave open.
The mixture enters as the Gaussian factor that gives a_k the mean and the variance that it has under the mixture,

    E a_k = sum_c z_kc a_kc,    Var a_k = Q_k + sum_c z_kc (a_kc - E a_k)^2,
    a_kc = Q_k (P_k x_k + m_c / tau^2),    Q_k = 1 / (P_k + 1 / tau^2),

which for a sure member is N(m_c, tau^2) (expectation propagation: Minka, 2001, "A family of algorithms for approximate
Bayesian inference"). All else moves by the sweeps of :mod:`bayes_arena.inference.marginal.gaussian`: an average over
the current Gaussian, then a Newton step. Where members are known, camps may also get directions of their own, whose
spreads are fitted on the way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.rows import Rows
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.mode.newton import Gauge, factorise_damped
from bayes_arena.inference.pace import length_of_step
from bayes_arena.likelihood.covariances import SliceCovariances, covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point

SWEEPS, NEAR, LONGEST = 100, 1e-3, 1.0
"""Most sweeps; the largest step in logits and loadings that is the last; and the longest."""
FASTER = 1.2
"""Factor by which the length of steps grows, after it was halved."""
NOT_FOUND = (
    "The strengths in the eyes of every camp were not found. Fit the votes of its members by themselves: "
    "keep_annotators(votes, names)."
)
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


def given_membership(mode: Mode, membership: Floats, *, contrasts: bool = False) -> Belonging:
    """Find the Gaussian nearest to the posterior, given who belongs to which camp.

    Parameters
    ----------
    mode : Mode
        The nearest Gaussian without camps; with directions, unless there are to be contrasts.
    membership : ndarray, shape (M, C)
        Probability that each annotator belongs to each camp.
    contrasts : bool
        Add directions that tell the camps apart, so that they may differ in any way. Only for known members.

    Raises
    ------
    ConvergenceError
        If it is not found.
    """
    usual = mode.problem.objective
    columns = columns_of_loadings(usual, theta=True)
    told, noise = told_by_votes(usual, mode.point, mode.laplace.own_given_head(), columns)
    variance = np.einsum("kdd->kd", noise)
    means, spread = _centers(told, variance, membership)
    precision, pushed = _matched(told, variance, membership, means, spread)
    around: SliceCovariances | None = None
    if contrasts:
        mode, apart = _with_contrasts(mode, membership)
        means, spread = np.column_stack([means, apart]), np.append(spread, np.full(apart.shape[1], NARROWEST))
        precision = np.column_stack([precision, np.full((len(membership), apart.shape[1]), NARROWEST**-2)])
        pushed = np.column_stack([pushed, membership @ apart / NARROWEST**2])
    else:
        around = cast(SliceCovariances, covariances(usual, mode.laplace.factor))
    problem, target, point = mode.problem, mode.problem.objective, mode.point
    columns, gauge = columns_of_loadings(target, theta=True), Gauge.of_all(problem.shifts, target)
    before, sd = _prior(target, columns)
    added = target.directions[-(len(means) - 1) :] if contrasts else []
    places = len(point.head) + np.arange(len(membership))[:, None] * len(target.own) + columns
    length, step = 1.0, np.zeros(len(point.head) + point.own.size)
    for _ in range(SWEEPS):
        _, gradient, hessian = value_and_derivatives(target, point, residuals=False, around=around)
        loadings, pull = point.own[:, columns], gradient.own.copy()
        pull[:, columns] += loadings * precision - pushed - (loadings - before) / sd**2
        gradient = gauge.on_plane(replace(gradient, own=pull))
        more = np.zeros(len(point.head) + point.own.size)
        more[places] = precision - sd**-2
        hessian = cast(Bordered | Rows, hessian).stiffened(more)
        factor, damping = factorise_damped(hessian, gauge.extra(point, hessian), 0.0, gauge)
        if factor is None:
            break
        head, own = factor.solve(-gradient.head, -gradient.own)
        step, last = np.append(head, own.ravel()), step
        length, furthest = length_of_step(length, FASTER, step, last), float(np.abs(step).max())
        point = point.moved(head, own, min(length, LONGEST / furthest))
        around = cast(SliceCovariances, covariances(target, factor))
        target, changed = _fitted_spreads(target, point, around, added)
        if max(furthest, changed) < NEAR and not damping:
            laplace = Laplace(factor, problem.shifts, singular=False, log_determinant=factor.log_determinant())
            prior = problem.prior.with_spreads(dict(zip(target.spreads, target.spread_values, strict=True)))
            mode = replace(mode, problem=replace(problem, prior=prior), point=point, laplace=laplace)
            return Belonging(
                mode, _shifts(point.own, laplace.own_given_head(), columns, precision, pushed, means, spread)
            )
    raise ConvergenceError(NOT_FOUND)


def _matched(
    told: Floats, variance: Floats, membership: Floats, means: Floats, spread: Floats
) -> tuple[Floats, Floats]:
    """Return precision and precision times mean, each (M, d), of the Gaussian factors that match the mixture."""
    information = 1 / variance
    within = 1 / (information + spread**-2)
    by_camp = within * (information * told + means[:, None] / spread**2)
    mean = np.einsum("kc,ckd->kd", membership, by_camp)
    total = within + np.einsum("kc,ckd->kd", membership, (by_camp - mean) ** 2)
    precision = np.maximum(1 / total - information, LEAST)
    return precision, mean * (precision + information) - information * told


def _shifts(
    own: Floats,
    covariance: Floats,
    columns: Ints,
    precision: Floats,
    pushed: Floats,
    means: Floats,
    spread: Floats,
) -> Floats:
    """Return by how much the annotators' numbers move where their camp is given, shape (C, M, q)."""
    every = np.arange(len(columns))
    towards = covariance[:, :, columns] @ np.linalg.inv(covariance[:, columns[:, None], columns])
    information = np.linalg.inv(covariance[:, columns[:, None], columns])
    alone = np.einsum("kde,ke->kd", information, own[:, columns]) - pushed
    information[:, every, every] += spread**-2 - precision
    given = np.linalg.solve(information, (alone + means[:, None] / spread**2)[..., None])[..., 0]
    return np.asarray(np.einsum("kqd,ckd->ckq", towards, given - own[:, columns]))


def _with_contrasts(mode: Mode, membership: Floats) -> tuple[Mode, Floats]:
    """Return a start of the model with directions for C - 1 contrasts, and the loadings of every camp, (C, C - 1).

    In each of them the members of one camp have one loading, and all others another.
    """
    model, count = mode.problem.model, membership.shape[1] - 1
    shares = membership.mean(axis=0)[1:]
    apart = (np.eye(count + 1)[:, 1:] - shares) / np.sqrt(shares * (1 - shares))
    problem = replace(mode.problem, model=replace(model, dimensions=model.dimensions + count))
    own = np.column_stack([mode.point.own, membership @ apart])
    slices = np.append(mode.point.slices, np.zeros(count * len(mode.point.strength)))
    return replace(mode, problem=problem, point=replace(mode.point, own=own, slices=slices)), apart


def _fitted_spreads(
    target: Objective, point: Point, around: SliceCovariances, directions: list[slice]
) -> tuple[Objective, float]:
    """Return the objective with the spreads of some directions that fit best (EM), and their largest change."""
    variances, values, names = around.variances[-len(point.slices) :], target.spread_values, target.spreads
    last = values.copy()
    for part, place in zip(directions, range(len(names) - len(directions), len(names)), strict=True):
        values[place] = max(float(np.sqrt(np.mean(point.slices[part] ** 2 + variances[part]))), LEAST)
    return target.with_spreads(float(values[0]), values[1:].tolist()), float(np.abs(values - last).max())


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
