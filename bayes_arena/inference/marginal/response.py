"""How annotators answer: their optimum given the head, and what that takes from the information about it.

The information of the head that follows from E[d2U] holds the annotators' covariances S_k fixed. But these respond to
the head, and with m and S of all annotators at their optimum the information is smaller, by up to a tenth where each
has a handful of votes: the linear response of the Gaussian (Giordano, Broderick & Jordan, 2018). The ratio hardly
depends on the direction. So it is measured along one direction, by finite differences, and the head's information is
multiplied by it. The information lost to the spreads' uncertainty is subtracted before. With slices the information is
not corrected.

Source: Giordano, R., Broderick, T. & Jordan, M. I. (2018), "Covariances, robustness, and variational Bayes", JMLR 19.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

import numpy as np

from bayes_arena.algebra.bordered import Bordered
from bayes_arena.algebra.dense import solve_lower
from bayes_arena.algebra.factor import Factor
from bayes_arena.arrays import Floats
from bayes_arena.inference.marginal.sweep import FLATTEST, Sweep
from bayes_arena.likelihood.covariances import Covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Prior
from bayes_arena.threads import in_blocks

PROBE, NEWTON_STEPS = 0.25, 2
"""Move of the head that measures the annotators' response, in standard deviations, and the Newton steps they take."""
RESPONSES = 0.25, 1.0
"""Bounds of the ratio: it is close to zero at a saddle between two camps, and above one only by rounding."""


def answered(found: Sweep, factor: Factor, response: float, prior: Prior) -> Factor:
    """Return the factor, its information of the head corrected for the response of annotators and spreads."""
    estimated = np.flatnonzero([prior.estimates(name) for name in found.target.spreads])
    moves, before = found.moves[:, estimated], factor.left.matrix
    values, vectors = np.linalg.eigh(found.by_spreads[np.ix_(estimated, estimated)])
    sure = values > FLATTEST
    loose = moves @ vectors[:, sure] / np.sqrt(values[sure])  # the spreads' uncertainty adds loose loose'
    seen = before @ loose
    schur = before - seen @ np.linalg.solve(np.eye(seen.shape[1]) + loose.T @ seen, seen.T)
    schur = float(np.clip(response, *RESPONSES)) * schur
    return replace(factor, left=factor.left.changed(0.5 * (schur + schur.T)))


def response_of(found: Sweep) -> float:
    """Return the information with annotators at their optimum over that with fixed S, along one direction."""
    target, factor, point, around = (
        found.target,
        cast(Factor, found.factor),
        found.point,
        cast(Covariances, found.around),
    )
    lower = factor.left.lower
    signs = np.where(np.random.default_rng(0).random(len(lower)) < 0.5, -1.0, 1.0)
    probe = PROBE * solve_lower(lower, signs, transposed=True)
    probe[: target.n_competitors] -= probe[: target.n_competitors].mean()
    own = factor.eliminated.following(probe)
    pulls = []
    for side in (1.0, -1.0):
        there, near = at_their_best(target, point.moved(probe, own, side), around, around.own - factor.inverse_tail)
        gradient = value_and_derivatives(target, there, residuals=False, around=near)[1]
        pulls.append(float(gradient.head @ probe))
    return (pulls[0] - pulls[1]) / (2 * float(np.sum((lower.T @ probe) ** 2)))


def joined(target: Objective, few: Sweep) -> tuple[Point, Covariances]:
    """Return the Gaussian of all annotators at the head found from few of them."""
    start = target.start().own
    head = cast(Covariances, few.around).head * (few.target.n_annotators / target.n_annotators)
    across, width = np.zeros(target.numbering.units(target.tally).across_start[-1]), start.shape[1]
    near = Covariances(target, head, across, np.zeros((len(start), width, width)))
    return at_their_best(target, replace(few.point, own=start), near, 0.0)


def at_their_best(
    target: Objective, point: Point, around: Covariances, beside: Floats | float
) -> tuple[Point, Covariances]:
    """Return the Gaussian with annotators at their optimum given the head.

    Their covariances are those given the head, D^-1, plus ``beside``.
    """
    for _ in range(NEWTON_STEPS):
        _, gradient, hessian = value_and_derivatives(target, point, residuals=False, around=around)
        tail = cast(Bordered, hessian).own_blocks()
        in_blocks(partial(_invert, tail), len(tail))
        moved = tail @ gradient.own[..., None]
        moved -= tail @ np.linalg.solve(tail.sum(axis=0), moved.sum(axis=0))
        point, around = point.moved(np.zeros(len(point.head)), moved[..., 0], -1.0), replace(around, own=tail + beside)
        del gradient, hessian  # the next ones would take as much memory again
    return point, around


def _invert(blocks: Floats, some: slice) -> None:
    """Replace some matrices by their inverses."""
    blocks[some] = np.linalg.inv(blocks[some])
