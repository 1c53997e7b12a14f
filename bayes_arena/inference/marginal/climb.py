"""Newton on the marginal likelihood, by the head and the annotators' spreads, and the spread of the strengths with it.

The spread of the strengths, with posterior variances V, follows by the fixed point of MacKay (1992), of the evidence
times the hyperprior:

    sigma_r^4 / s^2 + (gamma - 3) sigma_r^2 - |r|^2 = 0,      gamma = (n - 1) - sum V / sigma_r^2.

An evaluation of the integral over many annotators takes longer than anything else. At each the gradient and the
information give the whole quadratic, in which a step and the sigma_r that it leads to are brought to agree before the
integral is evaluated again. With few nodes the information is off by some percent where a spread is a difference of
moments, so what it missed of the last change of the gradient is added to it along that step, as a matrix of rank one
(the symmetric update of Nocedal & Wright, 2006, section 6.2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.integral import COARSE, FINE, FINEST, Evaluation, Integral
from bayes_arena.inference.marginal.spreads import LARGEST, SMALLEST
from bayes_arena.likelihood.priors import Prior, Spreads, degrees

ENOUGH = {COARSE: 1.0, FINE: 1e-4, FINEST: 1e-4}
"""Half the squared Newton decrement, in nats, that ends the steps: 1e-4 is 1.4 percent of a standard error. On the
coarse grid a last step is taken without a look at where it leads."""
STANDS_STILL = 1e-3
"""Relative change of the strengths' spread at which the steps end."""
AGREES = 1e-4
"""Relative change of the strengths' spread at which it agrees with a step."""
MAX_ROUNDS = 50
"""In which they are brought to agree."""
TOO_LITTLE = 1e-3
"""Cosine of a step and of what the information missed of it below which nothing is learnt from it."""
REGAINS = 1.05
"""By how much more the strengths' spread moves than in the step before where it goes on in one direction."""
LARGEST_STEP, SMALLEST_STEP = 1.0, 1e-6
SLACK = 0.1
"""Nats by which a step may raise F: the gradient is that of the integral, not of its approximation by few nodes."""
MAX_STEPS = {COARSE: 50, FINE: 100, FINEST: 200}
"""Few nodes can lead astray, as their sum is not what its derivatives say; more of them do not."""


@dataclass(frozen=True, eq=False)
class Climb:
    """Where Newton ended, in how many steps, and whether that is a maximum.

    Attributes
    ----------
    head : ndarray, shape (h,)
        Strengths and common numbers, in logits.
    prior : Prior
        With the spreads.
    at : Evaluation
        F there; on the coarse grid a step before.
    steps : int
        Newton steps taken.
    arrived : bool
        Whether it is a maximum, to within ``ENOUGH`` and ``STANDS_STILL``.
    decrement : float
        Half the squared Newton decrement: what F would still fall by, in nats.
    change : float
        By how much the logarithm of the strengths' spread would still change.
    """

    head: Floats
    prior: Prior
    at: Evaluation
    steps: int
    arrived: bool
    decrement: float
    change: float


@dataclass(frozen=True, eq=False)
class _Step:
    """A Newton step from somewhere, and what it was found from.

    Attributes
    ----------
    move : ndarray, shape (h + q + 1,)
        Of the head, and of the logarithms of the annotators' spreads and of that of the strengths.
    decrement : float
        Half the squared Newton decrement at the spread of the strengths as it is, in nats.
    change : float
        By how much the logarithm of that spread would change if nothing else moved.
    damped : bool
        Whether the information is not positive definite.
    pull, relaxation : float
        By how much the logarithm of that spread would move, and how much of that it does: half as much whenever it
        turns round from one step to the next, as with few votes, where the quadratic changes with it.
    """

    move: Floats
    decrement: float
    change: float
    damped: bool
    pull: float = 0.0
    relaxation: float = 1.0

    def improves_on(self, before: _Step) -> bool:
        """Whether less is left to gain, by a step uphill."""
        return not self.damped and self.decrement < before.decrement


def climb(integral: Integral, head: Floats, prior: Prior, nodes: int, *, held: Sequence[bool]) -> Climb:
    """Newton steps until the decrement is small enough and the strengths' spread stands still.

    A step is taken where it lowers F, or else the decrement: summed over many annotators the error of the quadrature
    is larger than what the last steps gain. On the coarse grid a small decrement is enough; at the end the information
    has to be positive definite, too.

    Parameters
    ----------
    integral : Integral
        The marginal likelihood.
    head : ndarray, shape (h,)
        Where to start.
    prior : Prior
        With the spreads to start from.
    nodes : int
        Of the integral.
    held : sequence of bool
        Which of the annotators' spreads stay as they are.

    Raises
    ------
    ConvergenceError
        If F has no value at the start.
    """
    n, last, taken, stuck = integral.target.n_competitors, nodes >= FINE, 0, False
    at = integral(head, prior)
    if not at.is_finite:
        raise ConvergenceError(
            f"The marginal likelihood has no value at the spreads {prior}. Start from narrower ones, or use "
            "method='map'."
        )
    step = _newton(integral, head, prior, at, held)
    while True:
        arrived = step.decrement < ENOUGH[nodes]
        if last:
            arrived = arrived and abs(step.change) < STANDS_STILL and not step.damped
        elif arrived:
            head, prior = _moved(integral, head, prior, step.move)
        if arrived or stuck or taken == MAX_STEPS[nodes]:
            return Climb(head, prior, at, taken, arrived, step.decrement, abs(step.change))
        move, squares = step.move, float(head[:n] @ head[:n])
        while True:
            there, spreads = _moved(integral, head, prior, move)
            trial, onward = integral(there, spreads), None
            if trial.is_finite:
                missed = _missed(integral, (head, prior, at), (there, spreads, trial))
                onward = _newton(integral, there, spreads, trial, held, missed, step)
            ceiling = at.value + 0.5 * squares * (spreads.strength**-2 - prior.strength**-2) + SLACK
            if onward and (trial.value <= ceiling or onward.improves_on(step)):
                break
            stuck = bool(np.abs(move).max() < SMALLEST_STEP)
            if stuck:
                break
            move = 0.5 * move
        if onward:
            head, prior, at, step, taken = there, spreads, trial, onward, taken + 1


def moving(spreads: Sequence[float], gradient: Floats, held: Sequence[bool]) -> NDArray[np.bool_]:
    """Which spreads take part in a step: none that is held, none that is pulled out of its range."""
    widths = np.array(spreads)
    outward = ((widths <= SMALLEST) & (gradient > 0)) | ((widths >= LARGEST) & (gradient < 0))
    return np.asarray(~outward & ~np.array(held))


def _newton(
    integral: Integral,
    head: Floats,
    prior: Prior,
    at: Evaluation,
    held: Sequence[bool],
    missed: Floats | None = None,
    behind: _Step | None = None,
) -> _Step:
    """Bring a step and the spread of the strengths that it leads to to agree; a spread that swings swings less.

    What the information missed is left out where the two together are not positive definite.
    """
    n, size = integral.target.n_competitors, len(head)
    free = np.append(np.ones(size, dtype=bool), moving(integral.spreads_of(prior), at.gradient[size:], held))
    informed = at.information if missed is None else at.information + missed

    def moves(spread: float) -> tuple[Floats, float, bool]:
        """Return the move under a spread, the sum V, and whether the information was damped."""
        stiffer = spread**-2 - prior.strength**-2
        gradient, information, move = at.gradient.copy(), informed.copy(), np.zeros(len(free) + 1)
        gradient[:n] += stiffer * head[:n]
        information[np.arange(n), np.arange(n)] += stiffer
        lower, damped = _damped_cholesky(information[np.ix_(free, free)])
        move[:-1][free] = -scipy.linalg.cho_solve((lower, True), gradient[free])
        move[-1] = math.log(spread / prior.strength)
        below = np.tril(scipy.linalg.lapack.dpotri(lower, lower=1)[0])[
            :n, :n
        ]  # of the covariance, the diagonal included
        return move, float((1 + 1 / n) * np.trace(below) - 2 * below.sum() / n), damped

    spread, relaxation, before = prior.strength, 1.0, 0.0
    move, variance, damped = moves(spread)
    if damped and missed is not None:
        return _newton(integral, head, prior, at, held, behind=behind)
    decrement = -0.5 * float(at.gradient @ move[:-1])
    change_here = math.log(_strength_spread(prior, spread, head[:n], variance) / spread)
    for _ in range(MAX_ROUNDS):
        change = math.log(_strength_spread(prior, spread, head[:n] + move[:n], variance) / spread)
        if abs(change) < AGREES:
            break
        relaxation = 0.5 * relaxation if change * before < 0 else min(1.2 * relaxation, 1.0)
        spread, before = spread * math.exp(relaxation * change), change
        move, variance, _ = moves(spread)
    pull, relaxation = float(move[-1]), 1.0
    if behind is not None:
        relaxation = 0.5 * behind.relaxation if pull * behind.pull < 0 else min(REGAINS * behind.relaxation, 1.0)
    if relaxation < 1:
        move, _, _ = moves(prior.strength * math.exp(relaxation * pull))
    move *= min(1.0, LARGEST_STEP / np.abs(move).max())
    return _Step(move, decrement, change_here, damped, pull, relaxation)


def _missed(
    integral: Integral, here: tuple[Floats, Prior, Evaluation], there: tuple[Floats, Prior, Evaluation]
) -> Floats | None:
    """Return what the information misses of the change of the gradient between two points, along the way."""
    (head, prior, at), (new_head, new_prior, trial) = here, there
    n, logs = integral.target.n_competitors, [np.log(integral.spreads_of(one)) for one in (prior, new_prior)]
    move = np.concatenate([new_head - head, logs[1] - logs[0]])
    rest = trial.gradient - at.gradient - 0.5 * (at.information + trial.information) @ move
    rest[:n] -= 0.5 * (new_prior.strength**-2 - prior.strength**-2) * (head + new_head)[:n]
    along = float(rest @ move)
    if abs(along) <= TOO_LITTLE * float(np.linalg.norm(rest) * np.linalg.norm(move)):
        return None
    return np.outer(rest, rest) / along


def _moved(integral: Integral, head: Floats, prior: Prior, move: Floats) -> tuple[Floats, Prior]:
    """Return the head and the spreads after a move."""
    names, size = integral.spreads, len(head)
    widths = np.clip(np.array(integral.spreads_of(prior)) * np.exp(move[size:-1]), SMALLEST, LARGEST)
    moved = prior.with_spreads(dict(zip(names, widths.tolist(), strict=True)))
    return head + move[:size], replace(moved, strength=prior.strength * math.exp(move[-1]))


def _strength_spread(prior: Prior, spread: float, strength: Floats, variance: float) -> float:
    """Solve the equation of the module for the spread of the strengths; ``variance`` is the sum V under ``spread``."""
    if not prior.estimates("strength"):
        return spread
    scale, size = cast(Spreads, prior.hyper).strength, float(strength @ strength)
    excess = max(len(strength) - 1 - variance / spread**2, 0.0) - degrees("strength")
    squared = 0.5 * scale**2 * (math.sqrt(excess**2 + 4 * size / scale**2) - excess)
    return max(math.sqrt(squared), SMALLEST)


def _damped_cholesky(information: Floats) -> tuple[Floats, bool]:
    """Cholesky factor of the information, or of the least damped one (of those tried) that is positive definite."""
    diagonal = np.abs(np.diag(information)) + 1e-8
    damping = 0.0
    while True:
        try:
            damped = information + np.diag(damping * diagonal)
            return scipy.linalg.cholesky(damped, lower=True, check_finite=False), damping > 0
        except np.linalg.LinAlgError:
            damping = max(4 * damping, 1e-2)
