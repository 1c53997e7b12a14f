"""The order in which a problem is solved: it follows from the votes, not from names or from which side is shown first.

Rounding of sums and matrices depends on the order of their terms, and random starts are drawn in that order. Where some
votes weigh up to a billion times as much as others, or several optima are nearly equally good, this shows. So
competitors and annotators are numbered by their votes alone: by a fingerprint of whom they met, who judged and how it
ended, which in turn includes the fingerprints of these (colour refinement; Weisfeiler & Leman, 1968). Competitors with
the same fingerprint are practically interchangeable, but not one by one: of two pairs alike, who comes first in one
decides who does in the other. So one of them is marked, which one does not matter, and fingerprints are refined again,
until all differ or the work is too much. Annotators who are alike then voted alike. Slices keep the order of their
names, and programs have that of the annotators. A model with position effects is solved with the sides as they are or
with both swapped, whichever has the smaller fingerprint, and then fingerprints distinguish the sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import DenseFactor, factorise
from bayes_arena.algebra.rows import MIXED, Rows, Summed, summed
from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.mode.identification import at_infinity
from bayes_arena.inference.mode.laplace import Laplace, laplace_at
from bayes_arena.inference.mode.mode import Mode, Simpler
from bayes_arena.inference.mode.newton import Gauge, Optimum
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.objective import BLOCK
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.threads import in_blocks
from bayes_arena.votes.cells import NO_PROGRAM, Cells
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM
from bayes_arena.votes.outcomes import turned as turned_outcomes
from bayes_arena.votes.tally import Tally

Prints = NDArray[np.uint64]
"""Fingerprints; their sums wrap around, and so do not depend on the order of the terms."""
FACTOR, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(29)
NO_SIDE, SECOND = np.uint64(0), np.uint64(0xD1B54A32D192ED03)
"""Marks on the fingerprint of a row as seen from the competitor shown second."""
MOST_MARKED = 200_000
"""Competitors that are marked because others are like them, times rows of votes."""
POSITION = "position"


def in_own_order[T](find: Callable[..., tuple[Mode, T]], problem: Problem, *simpler: Mode) -> tuple[Mode, T]:
    """Find a mode of a problem, competitors and annotators numbered by their votes.

    Parameters
    ----------
    find : callable
        Finds the mode of a problem, and what does not depend on the order, given that and what ``simpler`` found, as
        :class:`~bayes_arena.inference.mode.mode.Simpler`.
    problem : Problem
    *simpler : Mode
        Of simpler models of the same votes.
    """
    cells = problem.cells
    if cells.n_competitors < 2 or not len(cells.a):
        return find(problem, *(Simpler(one.problem, one.point, one.open_questions) for one in simpler))
    order = Order.of(problem)
    ordered = order.ordered(problem)
    mode, rest = find(ordered, *(order.there(one, ordered) for one in simpler))
    return order.back(mode, problem), rest


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
        here = [row if kind != PROGRAM else row != NO_PROGRAM for kind, row in _slices(problem.model, tally)]
        slices = [row.astype(np.uint64) for row in here]
        seen = [*slices, *_bits(problem.objective.counts), *_bits(features)]
        counts = problem.objective.counts
        from_j = [*slices, *_bits(counts[turned_outcomes(len(counts))]), *_bits(0.0 - features)]
        who, judge = np.zeros(cells.n_competitors, np.uint64), np.zeros(max(cells.n_annotators, 1), np.uint64)
        who, judge, of_i, of_j = _refined(who, judge, (i, j, k), seen, from_j, NO_SIDE)
        turned, sides, second = False, ((i, j, k), seen, from_j), NO_SIDE
        if problem.model.position != "none":  # being shown first is not the same as being shown second
            turned, second = bool(of_j.sum() < of_i.sum()), SECOND
            sides = ((j, i, k), from_j, seen) if turned else sides
            who, judge, _, _ = _refined(who, judge, *sides, second)
        met = np.unique([i, j])
        for _ in range(MOST_MARKED // max(len(i), 1)):
            _, first, many = np.unique(who[met], return_index=True, return_counts=True)
            if not (many > 1).any():
                break
            who[met[first[many > 1][0]]] ^= FACTOR
            who, judge, _, _ = _refined(who, judge, *sides, second)
        return cls(np.argsort(who, kind="stable"), np.argsort(judge, kind="stable")[: cells.n_annotators], turned)

    def ordered(self, problem: Problem) -> Problem:
        """Return the same problem in this order, cells sorted as tallies are: by annotator first."""
        cells = problem.cells
        a, b = self._placed(cells.a, self.competitor), self._placed(cells.b, self.competitor)
        annotator = self._placed(cells.annotator, self.annotator) if len(self.annotator) else cells.annotator
        counts, features = cells.counts, dict(cells.features)
        if self.turned:
            a, b, counts = b, a, counts[:, turned_outcomes(counts.shape[1])]
            features = {name: 0.0 - values for name, values in features.items()}
        whole: dict[str, Any] = {
            "competitors": tuple(cells.competitors[c] for c in self.competitor),
            "annotators": tuple(cells.annotators[k] for k in self.annotator),
            "programs": self._programs(cells),
        }
        found = replace(cells, a=a, b=b, annotator=annotator, counts=counts, features=features, **whole)
        rows = np.argsort((annotator * cells.n_competitors + a) * cells.n_competitors + b, kind="stable")
        found = found.take(rows, counts=counts.T.take(rows, 1).T)
        return replace(problem, cells=found, as_cast=None)

    def _programs(self, cells: Cells) -> tuple[str, ...]:
        """Return the programs in this order."""
        return tuple(cells.annotators[k] for k in self.annotator if cells.annotators[k] in cells.programs)

    @staticmethod
    def _placed(codes: Ints, order: Ints) -> Ints:
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        return place[codes]

    def back(self, mode: Mode, problem: Problem) -> Mode:
        """Translate a mode of the reordered problem back to the original problem."""
        found = mode.problem
        problem = replace(problem, model=found.model, prior=found.prior, reasons=found.reasons)
        target, point = problem.objective, self._point(mode, problem, mode.point)
        infinite, factor = bool(mode.at_infinity), mode.laplace.factor
        if isinstance(factor, Factor) and not target.slices:
            laplace = replace(mode.laplace, factor=self._factor(factor, problem), shifts=problem.shifts)
        elif isinstance(factor, DenseFactor) and not math.isnan(mode.free_energy):  # averaged over a Gaussian
            laplace = self._of_slices(mode, cast(Rows, factor.rows), problem, point)
        else:
            laplace = laplace_at(target, point, problem.shifts, at_infinity=infinite)
        stopped = Optimum(point, math.nan, mode.gradient, mode.iterations, converged=False)
        return replace(
            mode,
            problem=problem,
            point=point,
            laplace=laplace,
            mirror=self._point(mode, problem, mode.mirror) if mode.mirror else None,
            at_infinity=tuple(at_infinity(problem, stopped)) if infinite else (),
        )

    def _factor(self, factor: Factor, problem: Problem) -> Factor:
        """Translate a factor of the reordered problem back."""
        n, found, (h, count, width) = len(self.competitor), factor.eliminated, factor.shape
        common, own = self._signs(problem)
        place = np.append(self.competitor, np.arange(n, h))  # original index of each entry of the head
        signs, who = np.append(np.ones(n), common), self.annotator[:count]
        matrix = np.empty((h, h))
        matrix[np.ix_(place, place)] = factor.left.matrix * signs[:, None] * signs
        units = problem.objective.numbering.units(problem.objective.tally)
        inverse, across = np.empty_like(found.inverse).reshape(count, width, width), found.across
        inverse[who] = found.inverse.reshape(inverse.shape) * own[:, None] * own
        if count and width:
            rows = np.empty((count, width), dtype=np.int64)
            rows[who] = np.arange(count * width).reshape(count, width)
            answers = found.answers[rows.ravel()]
            answers.indices = place.astype(answers.indices.dtype)[answers.indices]
            answers.has_sorted_indices = False
            answers.sort_indices()
            across = answers.data
            if self.turned:
                across *= signs[answers.indices]
                across *= np.repeat(np.tile(own, count), np.diff(answers.indptr))
        return Factor(replace(found, units=units, inverse=inverse.ravel(), across=across), factor.left.changed(matrix))

    def _signs(self, problem: Problem) -> tuple[Floats, Floats]:
        """Return the signs of common and annotators' effects: -1 for what swapped sides reverse."""
        common, own = (
            np.array([-1.0 if self.turned and one.name == POSITION else 1.0 for one in effects])
            for effects in (problem.objective.common, problem.objective.own)
        )
        return common, own

    def there(self, mode: Mode, ordered: Problem) -> Simpler:
        """Translate what was found with a simpler model of the same votes into this order."""
        found = mode.problem
        problem = replace(ordered, model=found.model, prior=found.prior, reasons=found.reasons)
        common, signs = self._signs(problem)
        slices = problem.objective.start().slices.copy()
        for here, there, known in self._places(problem, found):
            slices[here[known]] = mode.point.slices[there[known]]
        own = mode.point.own[self.annotator[: len(mode.point.own)]]
        point = Point(mode.point.strength[self.competitor], mode.point.common * common, own * signs, slices)
        return Simpler(problem, point, mode.open_questions)

    def _point(self, mode: Mode, problem: Problem, point: Point) -> Point:
        """Translate a point of the reordered problem back."""
        common, signs = self._signs(problem)
        strength, own, slices = (
            np.empty_like(one) for one in (point.strength, point.own, problem.objective.start().slices)
        )
        strength[self.competitor] = point.strength
        own[self.annotator[: len(own)]] = point.own
        slices[:] = 0.0
        for there, here, known in self._places(mode.problem, problem):
            slices[here[known]] = point.slices[there[known]]
        return Point(strength, point.common * common, own * signs, slices)

    def _places(self, ordered: Problem, problem: Problem) -> Iterator[tuple[Ints, Ints, NDArray[np.bool_]]]:
        """Yield places of numbers of slices in this order, by kind, those of the same numbers, and which are there."""
        there, here = ordered.objective.numbering, problem.objective.numbering
        parts = zip(there.slices, there.keys, here.keys, there.parts, here.parts, strict=True)
        for effect, keys, wanted, part, to in parts:
            keys = self._keys(effect, keys, ordered.cells, problem.cells)
            at = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
            known = wanted[at] == keys  # all but the number that stands for people's lack of a program's taste
            yield np.arange(part.start, part.stop), to.start + at, known

    def _keys(self, effect: Effect, keys: Ints, ordered: Cells, cells: Cells) -> Ints:
        """Translate the keys of numbers of slices back."""
        if effect.by == COMPETITOR:
            return self.competitor[keys]
        code, competitor = (keys, 0) if effect.is_single else np.divmod(keys, cells.n_competitors)
        code = self._codes(effect.by, code, ordered, cells)
        return code if effect.is_single else code * cells.n_competitors + self.competitor[competitor]

    def _codes(self, kind: str, codes: Ints, ordered: Cells, cells: Cells) -> Ints:
        """Translate codes of slices back."""
        if kind == ANNOTATOR:
            return self.annotator[codes]
        if kind == PROGRAM:
            place = np.array([cells.programs.index(name) for name in ordered.programs])
            return np.where(codes == NO_PROGRAM, codes, place[np.maximum(codes, 0)])
        return codes

    def _rows(self, mode: Mode, problem: Problem) -> tuple[Ints, Floats]:
        """Return which row of the reordered votes every row is, and -1 where its sides are swapped, else 1."""
        there, here = mode.problem.objective.tally, problem.objective.tally
        i, j = self.competitor[there.i], self.competitor[there.j]
        k = self.annotator[there.k] if problem.objective.n_annotators else there.k
        by_side = problem.model.position != "none"
        swapped = np.full(len(i), self.turned) if by_side else i > j
        i, j = np.where(swapped, j, i), np.where(swapped, i, j)
        slices = [
            self._codes(kind, row, mode.problem.cells, problem.cells) for kind, row in _slices(problem.model, there)
        ]
        features = np.where(swapped, -there.features, there.features)
        translated = np.lexsort((i, j, k, *slices, *features))
        row = np.empty_like(translated)
        row[np.lexsort((here.i, here.j, here.k, *here.slices, *here.features))] = translated
        return row, np.where(swapped, -1.0, 1.0)[row]

    def _of_slices(self, mode: Mode, found: Rows, problem: Problem, point: Point) -> Laplace:
        """Translate the precision of a Gaussian back, and factorise it."""
        target, (row, sign) = problem.objective, self._rows(mode, problem)
        hessian = gradient_and_hessian(target, point, residuals=False)[1]
        rows = hessian.rows if isinstance(hessian, Summed) else cast(Rows, hessian)
        curve, products = (one.take(row, -1) for one in (found.curve, found.products))
        strengths = np.empty_like(found.strengths)
        curve[ETA] *= sign
        curve[:, ETA] *= sign
        products[:, MIXED] *= sign
        strengths[self.competitor] = found.strengths
        rows = replace(rows, curve=curve, products=products, strengths=strengths)
        hessian = summed(rows)
        gauge = Gauge.of_all(problem.shifts, target)
        factor = factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)
        return Laplace(factor, problem.shifts, False, factor.log_determinant())


def _slices(model: Model, tally: Tally) -> list[tuple[str, Ints]]:
    """Return the slices of rows, by kind."""
    return list(zip(model.slices, tally.slices, strict=True))


def _refined(
    who: Prints,
    judge: Prints,
    rows: tuple[Ints, Ints, Ints],
    seen: list[Prints],
    from_j: list[Prints],
    second: np.uint64,
) -> tuple[Prints, Prints, Prints, Prints]:
    """Refine fingerprints until no more of them come apart; also return those of rows, by side."""
    (i, j, k), kinds = rows, 0
    of_i, of_j = (np.empty(len(i), np.uint64) for _ in range(2))

    def see(some: slice) -> None:
        sides = (i, j, seen, of_i, NO_SIDE), (j, i, from_j, of_j, second)
        for one, other, rest, found, mark in sides:
            parts = who[one[some]], who[other[some]], judge[k[some]], *(part[some] for part in rest)
            found[some] = _mixed(*parts) ^ mark

    while True:
        in_blocks(see, len(i), of=BLOCK)
        who, judge = _mixed(who), _mixed(judge)
        np.add.at(who, i, of_i)
        np.add.at(who, j, of_j)
        np.add.at(judge, k, of_i + of_j)
        before, kinds = kinds, sum(1 + int(np.count_nonzero(np.diff(np.sort(one)))) for one in (who, judge))
        if kinds == before:
            return who, judge, of_i, of_j


def _mixed(*parts: Prints) -> Prints:
    """Combine several fingerprints into one."""
    found: Prints = np.zeros(len(parts[0]), np.uint64)
    for one in parts:
        found ^= one
        found *= FACTOR
        found ^= found >> SHIFT
    return found


def _bits(rows: NDArray[np.float64]) -> list[Prints]:
    return [np.ascontiguousarray(row).view(np.uint64) for row in rows]
