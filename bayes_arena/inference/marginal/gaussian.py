"""The Gaussian nearest to the posterior: annotators and slices, with the spreads of the prior estimated.

With few votes per annotator or answer the joint posterior mode is far from the mean: each parameter is pulled to what
its few votes happen to say, strengths stretch, and annotators look too much alike, or answers do, and strengths come
out too small (Neyman & Scott, 1948). Here the posterior is approximated by the Gaussian N(m, S) with the least
divergence from it, found by sweeps (:mod:`bayes_arena.inference.marginal.sweep`).

How long steps are, and how far the end is, says :mod:`bayes_arena.inference.pace`; where sweeps are slow all the same,
several are combined (:mod:`bayes_arena.inference.marginal.jumping`). With slices the spreads wait for the second sweep,
as the first, at no width, would lead them far astray.

Where hardly any annotator voted twice the votes say nothing about how annotators differ: the hyperpriors decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import DenseFactor
from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.axes import on_axes
from bayes_arena.inference.marginal.jumping import MOST, End, jump, residual
from bayes_arena.inference.marginal.response import answered, joined, response_of
from bayes_arena.inference.marginal.sweep import (
    AT_BOUND,
    FLATTEST,
    FURTHEST,
    SMALLEST,
    Sweep,
    change_of_spreads,
    free_energy,
    remedy,
    swept,
)
from bayes_arena.inference.mode.disagreement import start_along
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode, Simpler, find_mode, require_memory
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.inference.mode.search import far_apart
from bayes_arena.inference.pace import NEAR, SETTLING, Pace
from bayes_arena.likelihood.covariances import AnyCovariances, SliceCovariances, covariances, mixed
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.problem import MANY_ANNOTATORS, Problem
from bayes_arena.likelihood.specification import Model, Position
from bayes_arena.progress import report
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT

MAX_SWEEPS = 300
ROUGHLY = 20.0
"""Factor on ``NEAR`` for a quarter of many annotators, which only gives a start."""
SLOWLY = 0.2
"""The same where hardly any annotator voted twice, whatever the model: sweeps that leave .95 of the distance seem
nearer to the end than they are."""
LEVEL = 1e-4
"""Largest coordinate of E[dU] at the end, per vote."""
LONGEST_STEP = 1.0
"""Largest move of a strength in a sweep."""
CALM = np.array([1.0, 1.0, 5.0])
"""Steps, as ``NEAR`` has them, below which sweeps may be combined."""
PATIENT, FEW = 12, 4
"""Sweeps without slices before any are combined: earlier, a dozen annotators would be led astray. And how many are
combined then: there may be a million annotators, whose covariances each of them holds."""
NUDGE, FAR_BELOW = 0.1, 0.25
"""Change of ln sigma between the slopes of a finite difference, and share of ``doubtful`` below which a rough
uncertainty is enough."""
SPARSE, PLENTY = 2.0, 300
"""Annotators, per square root of the number of votes and of any number of votes, above which sweeps start from alike
annotators: the bias of the mode is of the order of 1 / (votes per annotator), the standard error of 1 / sqrt(votes);
and so many settle the direction of the ranking in all but a few arenas, where modes are tried afterwards."""
TELLING = 100.0
"""Pairs of votes by the same annotator from which a spread can be told from noise.

A single vote per annotator says nothing about how annotators differ: that shows only in whether two votes by one agree
more than two by different ones. With information iota of a vote (about .2) the variance sigma^2 of a number around
sigma = 0 has the standard error 1 / (iota sqrt(pairs)) (the score test of a variance component), .5 with 100 pairs,
which is as much as the hyperpriors say without votes.
"""
RARELY = 0.1
"""Such pairs per vote below which hardly any annotator voted twice; for a few who voted often the hyperpriors
decide."""
UNSETTLED = 0.5
"""Largest step of a strength, a common number or a spread, in standard deviations, in the calmest of all sweeps, with
which a model with slices is taken as found, and said to be found only nearly. One number of hundreds may go round in
circles, for instance of a comparison on which all verdicts repeat each other."""
EARLY = 10
"""Sweeps that are followed by a step to the axes of disagreement, which for two directions is not exact."""
OFF_SADDLE = 1.0
"""Gain of a Newton step, in nats, below which a start along a direction is left to sweeps: two directions turn together
at hardly any cost, and Newton follows that for dozens of steps."""
UNPROMISING = 20
"""Sweeps after which a search for a further direction is given up unless its free energy is below that without."""
PATIENCE = 8
"""Sweeps after which progress is shown."""


class Unpromising(ConvergenceError):
    """A search was given up: its free energy is not below the one to beat."""


def nearest_gaussian(
    problem: Problem, base: Mode | None = None, to_beat: float = math.inf, simpler: Simpler | None = None
) -> Mode:
    """Find the Gaussian nearest to the posterior, at estimated spreads.

    Parameters
    ----------
    problem : Problem
        Its prior has the spreads to start from and their hyperpriors (``hyper`` is not None).
    base : Mode, optional
        The result for fewer directions, if it is known: for one less, or with ``simpler`` for none.
    to_beat : float
        Give up once the free energy does not promise to fall below this.
    simpler : Simpler, optional
        The result of the model without answers, to start from.

    Returns
    -------
    Mode
        Of the problem with the estimated spreads in its prior: the mean of the Gaussian, and its precision.

    Raises
    ------
    ConvergenceError
        If it is not found.
    TooLargeError
        If the matrices need more memory than there is.
    """
    crossed = problem.model.is_crossed
    if not crossed:
        require_memory(problem, in_full=True)  # the start takes less
    unknown = bool(problem.objective.own) and hardly_any_voted_twice(problem.cells)
    if unknown:
        problem = problem.because(annotators="hardly any annotator voted twice, so the prior decides")
    along = problem.model.dimensions > 0
    if simpler is not None:
        known: list[Mode | Simpler] = [simpler, base] if base else [simpler]
        starts, questions = [_start_from(problem.objective, known)], known[-1].open_questions
    else:
        mode, starts = _starts(problem, base, by_evidence=math.isfinite(to_beat))
        known, questions = [mode] * along, mode.open_questions
    for one in known:
        problem = _with_spreads(problem, one.problem.objective)
    if along and simpler is None:  # sweeps alone hardly get away from the saddle where nobody disagrees
        gauge = Gauge.of_all(problem.shifts, problem.objective)
        starts = [minimise(problem.objective, start, gauge, near=OFF_SADDLE).point for start in starts]
    try:
        found, response = _find(problem, starts, SLOWLY if unknown else 1.0, to_beat)
    finally:
        report("")
    factor = found.factor if crossed else answered(found, cast(Factor, found.factor), response, problem.prior)
    untold = _untold(problem.cells) if unknown and not along else []
    return Mode(
        problem=_with_spreads(problem, found.target),
        point=found.point,
        laplace=Laplace(factor, problem.shifts, False, factor.log_determinant()),
        gradient=found.gradient,
        iterations=found.count,
        mirror=None,
        open_questions=(*questions, *untold, *_nearly(found)),
        at_infinity=(),
        free_energy=free_energy(found, problem.prior),
    )


def _find(problem: Problem, starts: list[Point], near: float = 1.0, to_beat: float = math.inf) -> tuple[Sweep, float]:
    """Return the Gaussian and the annotators' response; with many annotators start from that of a quarter of them.

    Where annotators differ so much that the votes hardly tell the direction of the ranking, sweeps start from modes of
    the other direction, too.
    """
    if problem.model.is_crossed or not problem.objective.own or problem.cells.n_annotators < MANY_ANNOTATORS:
        found = _lowest([_sweeps(problem, one, near=near, to_beat=to_beat) for one in starts])
        if problem.model.is_crossed:
            return found, 1.0
        is_alike = not problem.model.dimensions and _start_alike(problem.cells)
        if is_alike and found.target.free_discrimination and far_apart(found.point.own[:, THETA]):
            mode = find_mode(problem)
            points = [mode.point, *([mode.mirror] if mode.mirror else [])]
            turned = [one for one in points if one.strength @ found.point.strength < 0]
            found = _lowest([found, *(_sweeps(problem, one, near=near) for one in turned)])
        return found, response_of(found)
    few = problem.of_a_quarter()
    found, response = _find(few, [replace(starts[0], own=few.objective.start().own)], ROUGHLY)
    problem = _with_spreads(problem, found.target)
    start = joined(problem.objective, found)
    del few, found  # they would take as much memory again as a quarter of what follows
    return _sweeps(problem, *start, near), response


def _lowest(ends: list[Sweep]) -> Sweep:
    """Return the Gaussian of the least free energy."""
    return min(ends, key=lambda end: end.value)


def _with_spreads(problem: Problem, target: Objective) -> Problem:
    """Return the problem with those spreads of a target that are estimated."""
    spreads = dict(zip(target.spreads, target.spread_values.tolist(), strict=True))
    estimated = {name: value for name, value in spreads.items() if problem.prior.estimates(name)}
    return replace(problem, prior=problem.prior.with_spreads(estimated))


def _starts(problem: Problem, base: Mode | None, *, by_evidence: bool) -> tuple[Mode, list[Point]]:
    """Return the mode that says what the votes leave open, and the starting points.

    Starts are the mode, and the reversed one if it is a rival; where annotators are many, or have few votes, the mode
    with identical annotators; with slices the mode without them, and where annotators are turned round there, the same
    with all upright: a group that ranks otherwise seems turned round as long as it has no strengths of its own, which
    prompts do not do; with directions the Gaussian with one less, moved along the direction of most disagreement.
    """
    if problem.model.dimensions:
        fewer = replace(problem.model, dimensions=problem.model.dimensions - 1)
        base = base or nearest_gaussian(replace(problem, model=fewer))
        start = start_along(base.problem, base.point, beyond_noise=by_evidence)
        if start is None:
            raise Unpromising("All disagreement may be noise.")
        return base, [start]
    if problem.model.is_crossed:
        base, start = find_mode(replace(problem, model=problem.model.without_slices())), problem.objective.start()
        own = base.point.own if problem.objective.own else start.own  # of no width: annotators may have slices
        first = replace(start, strength=base.point.strength, common=base.point.common, own=own)
        groups = set(problem.model.strength_by) - {PROMPT}
        if not groups or not problem.objective.free_discrimination or (own[:, THETA] > 0).all():
            return base, [first]
        upright = own.copy()
        upright[:, THETA] = np.abs(own[:, THETA])
        return base, [first, replace(first, own=upright)]
    if problem.objective.own and _start_alike(problem.cells):
        pooled = find_mode(replace(problem, model=_without_annotators(problem.model)))
        return pooled, [replace(pooled.point, own=problem.objective.start().own)]
    mode = find_mode(problem)
    return mode, [mode.point, *([mode.mirror] if mode.mirror else [])]


def _start_alike(cells: Cells) -> bool:
    """Whether sweeps start from annotators who are all alike, not from the mode."""
    return cells.n_annotators > min(SPARSE * math.sqrt(cells.n_votes), PLENTY)


def _start_from(target: Objective, known: Sequence[Mode | Simpler]) -> Point:
    """Return the point at which numbers of the same name have their value in known results, the last that has it."""
    start, numbers = target.start(), dict[str, Floats]()
    for mode in known:
        there, point = mode.problem.objective, mode.point
        numbers |= {effect.name: column for effect, column in zip(there.own, point.own.T, strict=True)}
        by_slice = there.numbers_by_slice(point.slices)
        numbers |= {effect.name: one for effect, one in zip(there.slices, by_slice, strict=True)}
    own = [numbers.get(effect.name, column) for effect, column in zip(target.own, start.own.T, strict=True)]
    by_slice = target.numbers_by_slice(start.slices)
    slices = [numbers.get(effect.name, zero) for effect, zero in zip(target.slices, by_slice, strict=True)]
    return Point(
        point.strength, point.common, np.stack(own, axis=1) if own else start.own, np.concatenate([*slices, []])
    )


def _sweeps(
    problem: Problem,
    start: Point,
    around: AnyCovariances | None = None,
    near: float = 1.0,
    to_beat: float = math.inf,
) -> Sweep:
    """Sweep until strengths and spreads converge, from a point and, if it is known, the Gaussian around it.

    ``near`` multiplies the tolerance ``NEAR``. Sweeps end where the free energy is not below ``to_beat`` after
    ``UNPROMISING`` of them.

    Raises
    ------
    ConvergenceError
        If they do not, with slow ones combined or, without slices, not.
    """
    crossed = problem.model.is_crossed
    try:
        return _followed(problem, start, around, near, to_beat, MOST if crossed else FEW)
    except Unpromising:
        raise
    except ConvergenceError:
        if crossed:
            raise
    return _followed(problem, start, around, near, to_beat, 0)


def _followed(
    problem: Problem, start: Point, around: AnyCovariances | None, near: float, to_beat: float, combined: int
) -> Sweep:
    """Sweep as :func:`_sweeps` does, where slow ones are combined, so many at most."""
    target, prior, names = problem.objective, problem.prior, problem.objective.spreads
    estimated = np.array([prior.estimates(name) for name in names])
    gauge = Gauge.of_all(problem.shifts, target)
    point, first, calmest = start, len(start.head) - len(start.slices), None
    pace, ends = Pace.before([first, len(start.slices), len(names)]), list[End]()
    for count in range(1, MAX_SWEEPS + 1):
        if count > PATIENCE:
            report(f"sweep {count} over the votes")
        sweep, head, own = swept(target, prior, gauge, point, around, count)
        change = change_of_spreads(sweep, estimated) * (around is not None or not target.slices)
        of_spreads = change * np.sqrt(np.where(estimated, np.maximum(np.diag(sweep.by_spreads), FLATTEST), 0.0))
        in_steps = np.append(head[:first, 0], target.steps_between(head[first:, 0]))
        in_steps /= np.sqrt(sweep.around.variances)
        pace = pace.after((in_steps[:first], in_steps[first:], of_spreads), count)
        if count > UNPROMISING and sweep.value > to_beat:
            raise Unpromising("The votes do not show a further direction.")
        length, of_change = pace.lengths
        values, ratio = target.spread_values, np.exp(of_change * change)
        off = estimated & (values * ratio <= AT_BOUND * SMALLEST)
        jumped = None
        after = 0 if target.slices else PATIENT
        if around is not None and combined and count > after and not off.any() and np.all(pace.steps < CALM):
            to = point.moved(head[:, 0] + head[:, 1:] @ change, own[..., 0] + own[..., 1:] @ change)
            there = sweep.around
            ends = [*ends[1 - combined :], End(to, np.log(values) + change, there, residual(pace.moves, around, there))]
            jumped = jump(ends, around)
        else:
            ends = []
        ratio[off] = SMALLEST / values[off]
        change = np.log(ratio)
        step, by_own = head[:, 0] + head[:, 1:] @ change, own[..., 0] + own[..., 1:] @ change
        furthest, furthest_own = float(np.abs(step).max()), float(np.abs(by_own * target.units).max(initial=0.0))
        size = min(length, LONGEST_STEP / max(furthest, 1e-12), FURTHEST / max(furthest_own, 1e-12))
        point, values = point.moved(step, by_own, size), values * ratio
        if jumped is not None:
            point = jumped[0]
            values = np.where(estimated, np.maximum(np.exp(jumped[1]), SMALLEST), values)
        target = target.with_spreads(float(values[0]), values[1:].tolist())
        if count > 2 and np.all(pace.distance < near * NEAR) and sweep.gradient < LEVEL:
            return replace(sweep, target=target, point=point)
        if count > SETTLING and target.slices and not target.predictor.dimensions:
            moved = float(max(pace.steps[0], pace.steps[2]))
            if moved < (UNSETTLED if calmest is None else calmest.unsettled):
                calmest = replace(sweep, target=target, point=point, unsettled=moved)
        found, factor = sweep.around, sweep.factor if target.predictor.dimensions else None
        if count < MAX_SWEEPS:
            del sweep, head, own  # with many annotators a second factor would take as much memory again
        if jumped is not None:
            around = jumped[2]
        else:
            around = found if around is None or length == 1 else mixed((around, found), (1 - length, length))
            if isinstance(around, SliceCovariances) and factor is not None and count <= EARLY:
                target, point, around = on_axes(target, point, cast(DenseFactor, factor), around)
        del found, factor
    if calmest is not None:
        return calmest
    raise ConvergenceError(
        f"The posterior was not found in {MAX_SWEEPS} sweeps (strengths still move by {pace.steps[0]:.2g} standard "
        f"deviations, spreads by {pace.steps[2]:.2g}). To go on, {remedy(target)}"
    )


def spread_uncertainty(mode: Mode, name: str, doubtful: float = 0.0) -> float:
    """Return the posterior standard deviation of the logarithm of a spread, the other spreads fixed.

    Parameters
    ----------
    mode : Mode
        By :func:`nearest_gaussian`, with slices.
    name : str
        Of the spread.
    doubtful : float
        What it will be compared with: far below that it is 1 / sqrt(J_pp), which is too small: in the worst of 25
        simulated arenas a third of the finer one.
    """
    problem, target = mode.problem, mode.problem.objective
    place = target.spreads.index(name)
    gauge, around = Gauge.of_all(problem.shifts, target), covariances(target, mode.laplace.factor)
    here = swept(target, problem.prior, gauge, mode.point, around, 1)[0]
    roughly = float(max(here.by_spreads[place, place], 1e-12) ** -0.5)
    if roughly < FAR_BELOW * doubtful:
        return roughly
    prior = problem.prior.with_spreads({name: problem.prior.spread(name) * math.exp(NUDGE)})
    there = _sweeps(replace(problem, prior=replace(prior, known=target.spreads)), mode.point, around)
    return float(max((here.slope[place] - there.slope[place]) / NUDGE, 1e-12) ** -0.5)


def repeats(cells: Cells) -> float:
    """Return the number of pairs of votes by the same annotator."""
    votes = cells.votes_by_annotator()
    return float(np.maximum(votes * (votes - 1) / 2, 0.0).sum())


def hardly_any_voted_twice(cells: Cells) -> bool:
    """Whether hardly any annotator voted twice, so that the votes do not say how annotators differ."""
    return cells.n_annotators > 1 and repeats(cells) < min(TELLING, RARELY * cells.n_votes)


def _untold(cells: Cells) -> list[str]:
    """Say that the prior decides how much annotators differ."""
    return [
        f"{cells.n_annotators:,} annotators cast {cells.n_votes:,.12g} votes, too few of them by the same annotator to "
        "tell annotators from noise: how much they differ is what the prior expects. If the column of annotators holds "
        "sessions, read another column, or none (--no-annotator)."
    ]


def _nearly(found: Sweep) -> list[str]:
    """Say that the search did not settle."""
    if not found.unsettled:
        return []
    return [
        f"The search for the posterior did not settle: in the calmest of {MAX_SWEEPS} sweeps scores or spreads still "
        f"moved by {found.unsettled:.2g} standard deviations. The votes hardly determine this model: try a smaller "
        "one, or method='nuts'."
    ]


def _without_annotators(model: Model) -> Model:
    """Return the same model with identical annotators; it has the same common parameters."""
    position: Position = "none" if model.position == "none" else "common"
    return replace(model, discrimination="fixed", tie_propensity="common", position=position, style_slopes="common")
