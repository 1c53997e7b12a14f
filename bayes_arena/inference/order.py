"""The order in which a problem is solved: it follows from the votes, not from names or from which side is shown first.

Rounding of sums and matrices depends on the order of their terms, and random starts are drawn in that order. Where some
votes weigh up to a billion times as much as others, or several optima are nearly equally good, this shows. So
competitors and annotators are numbered by their votes alone: by a fingerprint of whom they met, who judged and how it
ended, which in turn includes the fingerprints of these (colour refinement; Weisfeiler & Leman, 1968). Those with the
same fingerprint are practically interchangeable. A model with position effects is solved with the sides as they are or
with both swapped, whichever has the smaller fingerprint, and then fingerprints distinguish the sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayes_arena.algebra.factors import Factor
from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.mode.identification import at_infinity
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.mode import Mode, judge_direction
from bayes_arena.inference.mode.newton import Optimum
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.outcomes import turned as turned_outcomes

Prints = NDArray[np.uint64]
"""Fingerprints; their sums wrap around, and so do not depend on the order of the terms."""
FACTOR, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
NO_SIDE, SECOND = np.zeros(1, np.uint64), np.array([0xD1B54A32D192ED03], np.uint64)
"""Marks on the fingerprint of a row as seen from the competitor shown second."""
POSITION = "position"


def in_own_order(
    find: Callable[[Problem], Mode],
    problem: Problem,
    judge: Callable[[Mode], tuple[Mode, float | None]] = judge_direction,
) -> tuple[Mode, float | None]:
    """Find a mode of a problem and judge its direction, competitors and annotators numbered by their votes.

    Parameters
    ----------
    find : callable
        Finds the mode of a problem.
    problem : Problem
        With slices it is solved in the given order: slices and their parameters are many.
    judge : callable
        Judges the direction.

    Returns
    -------
    mode : Mode
    mirror_probability : float or None
        From :func:`~bayes_arena.inference.mode.mode.judge_direction`.
    """
    cells = problem.cells
    if problem.model.is_crossed or cells.n_competitors < 2 or not len(cells.a):
        return judge(find(problem))
    order = Order.of(problem)
    mode, mirror_probability = judge(find(order.ordered(problem)))
    return order.back(mode, problem), mirror_probability


@dataclass(frozen=True, eq=False)
class Order:
    """A numbering of competitors and annotators.

    Attributes
    ----------
    competitor, annotator : ndarray of int, shapes (n,) and (n_annotators,)
        Their original indices, in the new order.
    turned : bool
        Whether sides are swapped.
    """

    competitor: Ints
    annotator: Ints
    turned: bool

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Return the order that follows from the votes as the model sees them; as cast, where some are discounted.

        What they count is computed, and so depends on names by rounding.
        """
        problem = problem if problem.as_cast is None else replace(problem, cells=problem.as_cast, as_cast=None)
        tally, cells = problem.objective.tally, problem.cells
        i, j, k = tally.i, tally.j, tally.k
        features = np.ascontiguousarray(tally.features) + 0.0
        seen = [*_bits(problem.objective.counts), *_bits(features)]
        counts = problem.objective.counts
        from_j = [*_bits(counts[turned_outcomes(len(counts))]), *_bits(0.0 - features)]
        who, judge = np.zeros(cells.n_competitors, np.uint64), np.zeros(max(cells.n_annotators, 1), np.uint64)
        who, judge, of_i, of_j = _refined(who, judge, (i, j, k), seen, from_j, NO_SIDE)
        turned = False
        if problem.model.position != "none":  # being shown first is not the same as being shown second
            turned = bool(of_j.sum() < of_i.sum())
            sides = ((j, i, k), from_j, seen) if turned else ((i, j, k), seen, from_j)
            who, judge, _, _ = _refined(who, judge, *sides, SECOND)
        return cls(np.argsort(who, kind="stable"), np.argsort(judge, kind="stable")[: cells.n_annotators], turned)

    def ordered(self, problem: Problem) -> Problem:
        """Return the same problem in this order."""
        cells = problem.cells
        a, b = self._places(cells.a, self.competitor), self._places(cells.b, self.competitor)
        annotator = self._places(cells.annotator, self.annotator) if len(self.annotator) else cells.annotator
        counts, features = cells.counts, dict(cells.features)
        if self.turned:
            a, b, counts = b, a, counts[:, turned_outcomes(counts.shape[1])]
            features = {name: 0.0 - values for name, values in features.items()}
        whole: dict[str, Any] = {
            "competitors": tuple(cells.competitors[c] for c in self.competitor),
            "annotators": tuple(cells.annotators[k] for k in self.annotator),
        }
        found = replace(cells, a=a, b=b, annotator=annotator, counts=counts, features=features, **whole)
        key = (a * cells.n_competitors + b) * max(cells.n_annotators, 1) + annotator
        return replace(problem, cells=found.take(np.argsort(key, kind="stable")), as_cast=None)

    @staticmethod
    def _places(codes: Ints, order: Ints) -> Ints:
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place[codes]

    def back(self, mode: Mode, problem: Problem) -> Mode:
        """Translate a mode of the reordered problem back to the original problem."""
        problem = replace(problem, prior=mode.problem.prior, reasons=mode.problem.reasons)
        target, point = problem.objective, self._point(mode.point, problem)
        infinite, factor = bool(mode.at_infinity), mode.laplace.factor
        if isinstance(factor, Factor):
            laplace = replace(mode.laplace, factor=self._factor(factor, problem), shifts=problem.shifts)
        else:
            laplace = laplace_at(target, point, problem.shifts, at_infinity=infinite)
        stopped = Optimum(point, math.nan, mode.gradient, mode.iterations, converged=False)
        return replace(
            mode,
            problem=problem,
            point=point,
            laplace=laplace,
            mirror=self._point(mode.mirror, problem) if mode.mirror else None,
            at_infinity=tuple(at_infinity(problem, stopped)) if infinite else (),
        )

    def _factor(self, factor: Factor, problem: Problem) -> Factor:
        """Translate a factor of the reordered problem back."""
        n, count = len(self.competitor), factor.border.shape[1]
        common, own = self._signs(problem)
        place = np.append(self.competitor, np.arange(n, len(factor.schur)))  # original index of each entry of the head
        signs = np.append(np.ones(n), common)
        schur = np.empty_like(factor.schur)
        schur[np.ix_(place, place)] = factor.schur * signs[:, None] * signs
        border, who = factor.border, self.annotator[:count]
        annotator = np.repeat(who, np.diff(border.start))
        column = place.astype(border.column.dtype)[border.column]
        order = np.argsort(annotator * len(place) + column)
        value = border.value * signs[border.column][:, None] * own
        start = np.searchsorted(annotator[order], np.arange(count + 1))
        inverse_tail = np.empty_like(factor.inverse_tail)
        inverse_tail[who] = factor.inverse_tail * own[:, None] * own
        return Factor(
            schur=schur,
            lower=np.asarray(np.linalg.cholesky(schur), dtype=np.float64),
            border=replace(border, start=start, column=column[order], value=value[order]),
            inverse_tail=inverse_tail,
            held=factor.held,
        )

    def _signs(self, problem: Problem) -> tuple[Floats, Floats]:
        """Return the signs of common and annotators' effects: -1 for what swapped sides reverse."""
        common, own = (
            np.array([-1.0 if self.turned and one.name == POSITION else 1.0 for one in effects])
            for effects in (problem.objective.common, problem.objective.own)
        )
        return common, own

    def _point(self, point: Point, problem: Problem) -> Point:
        """Translate a point of the reordered problem back."""
        common, signs = self._signs(problem)
        strength, own = np.empty_like(point.strength), np.empty_like(point.own)
        strength[self.competitor] = point.strength
        own[self.annotator[: len(own)]] = point.own
        return Point(strength, point.common * common, own * signs)


def _refined(
    who: Prints, judge: Prints, rows: tuple[Ints, Ints, Ints], seen: list[Prints], from_j: list[Prints], second: Prints
) -> tuple[Prints, Prints, Prints, Prints]:
    """Refine fingerprints until no more of them come apart; also return those of rows, by side."""
    (i, j, k), kinds = rows, 0
    while True:
        of_i, of_j = (
            _mixed(who[one], who[other], judge[k], *rest) for one, other, rest in ((i, j, seen), (j, i, from_j))
        )
        of_j = of_j ^ second
        who, judge = _mixed(who), _mixed(judge)
        np.add.at(who, i, of_i)
        np.add.at(who, j, of_j)
        np.add.at(judge, k, of_i + of_j)
        before, kinds = kinds, len(np.unique(who)) + len(np.unique(judge))
        if kinds == before:
            return who, judge, of_i, of_j


def _mixed(*parts: Prints) -> Prints:
    """Combine several fingerprints into one."""
    found: Prints = np.zeros(1, np.uint64)
    for one in parts:
        found = (found ^ one) * FACTOR
        found = found ^ (found >> SHIFT)
    return found


def _bits(rows: NDArray[np.float64]) -> list[Prints]:
    return [np.ascontiguousarray(row).view(np.uint64) for row in rows]
