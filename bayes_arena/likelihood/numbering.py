"""Which number is where, and which belongs to which slice.

Every slice that votes were cast in has numbers of its own: one for each competitor seen there (an answer), or a single
one. The numbers of a model are, in this order, the head (strengths, common numbers, numbers of slices) and the own
numbers of every annotator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bayes_arena.algebra.elimination import Chain, Elimination
from bayes_arena.algebra.units import Units
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.likelihood.steps import Steps
from bayes_arena.votes.cells import NO_PROGRAM
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM
from bayes_arena.votes.tally import Tally

DENSE = 6000
"""Most numbers that may be left after elimination: a dense matrix of their size is factorised at every step."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The entries of the rows of J; ``coordinate`` to ``factor`` are as in :class:`Elimination`.

    Attributes
    ----------
    columns : list of ndarray of int
        Place of every entry in (head, own), by row.
    coordinate, sign, dimension, factor : ndarray
    """

    columns: list[Ints]
    coordinate: Ints
    sign: Floats
    dimension: Ints
    factor: Ints

    def without(self, entries: list[int]) -> Layout:
        """Return the same without some entries."""
        kept = np.delete(np.arange(len(self.columns)), entries)
        columns = [self.columns[e] for e in kept]
        return Layout(columns, self.coordinate[kept], self.sign[kept], self.dimension[kept], self.factor[kept])


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of a model.

    Attributes
    ----------
    tally : Tally
        The votes that were fitted.
    n_competitors, n_annotators : int
        n, M.
    common, own, slices : tuple of Effect
        The effects of the model by level.
    keys : tuple of ndarray of int
        For every effect of slices: slice (times n, plus competitor) of each of its numbers, sorted.
    times : ndarray of int
        The slices of numbers that walk, as periods; empty where none do.
    """

    tally: Tally
    n_competitors: int
    n_annotators: int
    common: tuple[Effect, ...]
    own: tuple[Effect, ...]
    slices: tuple[Effect, ...]
    keys: tuple[Ints, ...]
    times: Ints

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the numbers of every effect are among those of all slices."""
        ends = np.cumsum([0, *map(len, self.keys)]).tolist()
        return tuple(slice(first, last) for first, last in pairwise(ends))

    @cached_property
    def steps(self) -> Steps:
        """The steps between the numbers of slices, which their prior is about."""
        return Steps.of(list(self.keys), [effect.walks for effect in self.slices], self.n_competitors, self.times)

    @property
    def held(self) -> list[slice]:
        """Where numbers are that sum to zero."""
        return [part for effect, part in zip(self.slices, self.parts, strict=True) if effect.is_held]

    @property
    def n_slices(self) -> int:
        """Count of the numbers of all slices."""
        return sum(map(len, self.keys))

    @property
    def n_head(self) -> int:
        """Count of strengths, common numbers and numbers of slices."""
        return self.n_competitors + len(self.common) + self.n_slices

    def places(self, tally: Tally) -> list[list[Ints]]:
        """Return the places of every row's numbers, by effect: one array, or one for each of the two competitors.

        Places are among the numbers of all slices; -1 where the votes that were fitted have no such slice.
        """
        return self._places if tally is self.tally else self._find_places(tally)

    @cached_property
    def _places(self) -> list[list[Ints]]:
        """Places for the votes that were fitted, found once for all objectives that share the numbering."""
        return self._find_places(self.tally)

    def _find_places(self, tally: Tally) -> list[list[Ints]]:
        found = []
        for effect, keys, part in zip(self.slices, self.keys, self.parts, strict=True):
            if effect.walks:
                found.append([np.where(at < 0, -1, part.start + at) for at in self._of_walk(effect, keys, tally)[0]])
                continue
            places = []
            for wanted in keys_of_rows(effect, tally, self.n_competitors):
                at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
                known = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
                places.append(np.where(known, part.start + at, -1))
            found.append(places)
        return found

    def _of_walk(self, effect: Effect, keys: Ints, tally: Tally) -> tuple[list[Ints], list[Floats]]:
        """Return which number of a walk each side of every row has, and the periods from the row to it.

        Where a competitor has no number in a period, it is the next later one; -1 stands for zero, now. In the last
        period, and later, both sides have the first number of all, which cancels.
        """
        n, code = self.n_competitors, tally.slices[effect.feature]
        last, sorted_by = len(self.times) - 1, np.argsort(keys % n * len(self.times) + keys // n)
        of_competitor = (keys % n * len(self.times) + keys // n)[sorted_by]
        places, gaps = [], []
        for one in (tally.i, tally.j):
            at = np.searchsorted(of_competitor, one * len(self.times) + np.minimum(code, last))
            at = np.minimum(at, len(keys) - 1)
            known = (of_competitor[at] // len(self.times) == one) & (code < last)
            places.append(np.where(known, sorted_by[at], -1))
            there = np.where(known, self.times[of_competitor[at] % len(self.times)], self.times[-1])
            here = self.times[np.minimum(code, last)] + np.maximum(code - last, 0)
            gaps.append(np.abs(there - here).astype(np.float64))
        now = (places[0] < 0) & (places[1] < 0)
        return [np.where(now, 0, at) for at in places], gaps

    def gaps(self, tally: Tally) -> list[list[Floats]]:
        """Return the periods between every row and the numbers it has, by effect; empty for those that do not walk."""
        walks = zip(self.slices, self.keys, strict=True)
        return [self._of_walk(effect, keys, tally)[1] if effect.walks else [] for effect, keys in walks]

    def at(self, time: int) -> tuple[Ints, Ints, Floats, Floats]:
        """Return what the deviation of every competitor in some period is a mixture of, by its prior.

        Returns
        -------
        competitor, place, weight : ndarray
            Of every part of a mixture: whose it is, the number among those of slices, and its weight.
        spare : ndarray, shape (n,)
            Variance around the mixture, in squared spreads.
        """
        effect = [effect.walks for effect in self.slices].index(True)
        keys, part, n = self.keys[effect], self.parts[effect], self.n_competitors
        when, competitor = self.times[keys // n], keys % n
        size = np.arange(part.start, part.stop)
        before, after = np.full(n, -1), np.full(n, -1)  # keys are in order of time
        before[competitor[when <= time]] = size[when <= time]
        after[competitor[when >= time][::-1]] = size[when >= time][::-1]
        when = np.append(np.zeros(part.start), [*when, self.times[-1]])  # by place; the last is now
        since = np.where(before < 0, np.inf, time - when[before])
        until = when[after] - time  # where there is none after, until now, where the deviation is zero
        if time >= self.times[-1]:
            return competitor[:0], size[:0], np.zeros(0), np.full(n, time - self.times[-1], dtype=np.float64)
        with np.errstate(invalid="ignore"):
            share = np.where(until == 0, 1.0, np.where(np.isinf(since), 1.0, since / (since + until)))
        spare = np.where(np.isinf(since), until, share * until)
        parts = [(np.flatnonzero(after >= 0), after, share), (np.flatnonzero(before >= 0), before, 1.0 - share)]
        columns = [(who, place[who], weight[who]) for who, place, weight in parts]
        return *(np.concatenate(one) for one in zip(*columns, strict=True)), spare

    def units(self, tally: Tally) -> Units:
        """Return the units of the Hessian; without slices, of any votes, these are the annotators."""
        return self._units if tally is self.tally else _annotators_alone(self, tally)

    @cached_property
    def _units(self) -> Units:
        return self.elimination.units if self.slices else _annotators_alone(self, self.tally)

    @cached_property
    def layout(self) -> Layout:
        """The entries of the rows of the votes that were fitted."""
        return _entries_of_rows(self)

    @cached_property
    def elimination(self) -> Elimination:
        """The order of elimination of these numbers.

        Raises
        ------
        TooLargeError
            If too many numbers are left.
        """
        return _cheapest_elimination(self)


def number(
    tally: Tally, n_competitors: int, n_annotators: int, effects: tuple[tuple[Effect, ...], ...], times: Ints
) -> Numbering:
    """Assign numbers to what a model has, and to the slices of votes.

    Parameters
    ----------
    tally : Tally
    n_competitors, n_annotators : int
    effects : tuple of tuple of Effect
        The common ones, the annotators' own and those of slices.
    times : ndarray of int
        The slices of numbers that walk, as periods. In the last, now, the numbers are zero.
    """
    common, own, slices = effects
    keys = []
    for effect in slices:
        rows = [*keys_of_rows(effect, tally, n_competitors), *([np.arange(n_competitors)] * (effect.by == COMPETITOR))]
        found = np.unique(np.concatenate(rows))
        keys.append(found[found < (len(times) - 1) * n_competitors] if effect.walks else found)
    return Numbering(tally, n_competitors, n_annotators, common, own, slices, tuple(keys), times)


def keys_of_rows(effect: Effect, tally: Tally, n_competitors: int) -> list[Ints]:
    """Return the keys of every row's numbers: one array, or one per competitor; negative for an unknown slice.

    People's votes involve no program's taste: both their entries are the same arbitrary number, and cancel.
    """
    if effect.by == COMPETITOR:
        return [tally.i, tally.j]
    code = tally.k if effect.by == ANNOTATOR else tally.slices[effect.feature]
    if effect.is_single:
        return [code]
    keys = [np.where(code < 0, -1, code * n_competitors + one) for one in (tally.i, tally.j)]
    return [np.where(code == NO_PROGRAM, 0, key) for key in keys] if effect.by == PROGRAM else keys


def label_of(effect: Effect) -> str:
    """Return the name of the dimension of slices' numbers in a PyMC program and its draws."""
    if effect.dimension:
        return COMPETITOR
    of = {"difference": COMPETITOR, "lead": "discrimination"}.get(effect.basis, "ties")
    return f"{effect.by}_of_{of}"


def _cheapest_elimination(numbering: Numbering) -> Elimination:
    """Choose what to eliminate, and lay out the entries of all rows for it."""
    n, width = numbering.n_competitors, len(numbering.own)
    kinds: dict[str, Ints] = {}  # unit of every number, -1 where it is left
    size = numbering.n_head + numbering.n_annotators * width
    first = n + len(numbering.common)
    for by in dict.fromkeys([*(effect.by for effect in numbering.slices), *([ANNOTATOR] if width else [])]):
        if by in (COMPETITOR, PROGRAM):  # there are few, and people's votes involve none
            continue
        unit = np.full(size, -1)
        if by == ANNOTATOR and width:
            unit[numbering.n_head :] = np.repeat(np.arange(numbering.n_annotators), width)
        walks = any(effect.by == by and effect.walks for effect in numbering.slices)  # other effects by time are left
        for effect, keys, part in zip(numbering.slices, numbering.keys, numbering.parts, strict=True):
            if effect.by == by and effect.walks == walks and not effect.is_held:
                unit[first + part.start : first + part.stop] = keys // (1 if effect.is_single else n)
        kinds[by] = unit
    for by in list(kinds):
        kinds[by] = _with_nested(numbering, by, kinds)
    by = min(kinds, key=lambda kind: _cost(kinds[kind]), default="")
    unit = kinds.get(by, np.full(size, -1))
    dense, chain = np.flatnonzero(unit < 0), None
    if len(dense) > DENSE:
        raise TooLargeError(_too_large(numbering, len(dense)))
    layout = numbering.layout
    kept = np.arange(len(layout.columns))
    walk = [numbering.slices.index(effect) for effect in numbering.slices if effect.walks and effect.by == by]
    if walk:
        part, keys = numbering.parts[walk[0]], numbering.keys[walk[0]]
        start = np.searchsorted(keys // n, np.arange(len(numbering.times)))
        chain = Chain(np.arange(first + part.start, first + part.stop), keys % n, start)
        at = 2 + sum(map(len, numbering.places(numbering.tally)[: walk[0]]))
        layout, kept = layout.without([at, at + 1]), np.delete(kept, [at, at + 1])
        unit = np.full(size, -1)
    tail = np.flatnonzero(unit >= 0)
    own_first = np.lexsort((tail, tail < numbering.n_head, unit[tail]))
    tail = tail[own_first]

    code = _unit_of_rows(numbering, by)
    n_units = max(int(max(unit.max(initial=-1), code.max(initial=-1))) + 1, len(numbering.times) if chain else 0)
    rows = np.argsort(code, kind="stable")
    start = np.searchsorted(code[rows], np.arange(n_units + 1))
    tail_start = np.searchsorted(unit[tail], np.arange(n_units + 1))
    n_own = width if by == ANNOTATOR else 0

    entries = np.stack(layout.columns, axis=1)[rows]
    place = np.empty(size, dtype=np.int64)
    place[dense] = np.arange(len(dense))
    place[tail] = np.arange(len(tail)) - tail_start[unit[tail]]
    left = unit[entries] < 0
    of_row = np.repeat(code[rows], entries.shape[1]).reshape(entries.shape)
    met = np.unique(of_row[left] * len(dense) + place[entries[left]])
    touched = (met % len(dense)).astype(np.int32)
    touched_start = np.searchsorted(met // len(dense), np.arange(n_units + 1))
    local = place[entries]
    among = np.searchsorted(met, of_row * len(dense) + np.where(left, place[entries], 0))
    counts = np.diff(tail_start)
    local = np.where(left, counts[of_row] + among - touched_start[of_row], local)
    return Elimination(
        by=by,
        rows=rows,
        start=start,
        units=Units(dense, tail, tail_start, touched, touched_start, n_own),
        local=local,
        coordinate=layout.coordinate,
        sign=layout.sign,
        dimension=layout.dimension,
        factor=layout.factor,
        pieces=_pieces(*(of.tolist() for of in (layout.coordinate, layout.sign, layout.dimension, layout.factor))),
        walk=numbering.steps.pairs(first),
        kept=kept,
        is_left=np.asarray(left.all(axis=0)),
        held=tuple(np.searchsorted(dense, first + np.arange(part.start, part.stop)) for part in numbering.held),
        chain=chain,
    )


def _annotators_alone(numbering: Numbering, tally: Tally) -> Units:
    """Return the annotators as units: each touches the competitors met, then the common numbers."""
    h, width = numbering.n_head, len(numbering.own)
    count = numbering.n_annotators if width else 0
    if not count:
        nothing = np.zeros(1, dtype=np.int64)
        return Units(np.arange(h), nothing[:0], nothing, np.zeros(0, dtype=np.int32), nothing, 0)
    common, met = np.arange(len(numbering.common)), tally.met
    here = np.append(met.start, np.full(count + 1 - len(met.start), len(met.competitor)))
    start = here + len(common) * np.arange(count + 1)
    touched = np.empty(start[-1], dtype=np.int32)
    touched[np.arange(len(met.competitor)) + np.repeat(len(common) * np.arange(count), np.diff(here))] = met.competitor
    touched[start[1:, None] - len(common) + common] = numbering.n_competitors + common
    own = np.arange(count * width)
    return Units(np.arange(h), h + own, width * np.arange(count + 1), touched, start, width)


def _with_nested(numbering: Numbering, by: str, kinds: dict[str, Ints]) -> Ints:
    """Return the unit of every number, of one kind of units and of kinds whose units lie within one of these.

    The votes on a comparison are by one annotator: its numbers are eliminated with the annotator's. Annotators' own
    numbers, whose sums are held, are units of their own, and so are periods that walk on to the next.
    """
    walking = [effect.by for effect in numbering.slices if effect.walks]
    if by in walking:
        return kinds[by]
    unit, of_rows = kinds[by].copy(), _unit_of_rows(numbering, by)
    for other, inner in kinds.items():
        inside = _unit_of_rows(numbering, other)
        outer = np.full(int(max(inside.max(initial=-1), inner.max(initial=-1))) + 1, -1)
        outer[inside] = of_rows
        if other not in (by, ANNOTATOR, *walking) and (outer[inside] == of_rows).all():
            unit = np.where(inner >= 0, outer[inner], unit)
    return unit


def _cost(unit: Ints) -> float:
    """Return about how many operations it takes to factorise what units hold, and what is left."""
    return float((np.bincount(unit[unit >= 0]).astype(float) ** 3).sum() + float((unit < 0).sum()) ** 3)


def _unit_of_rows(numbering: Numbering, by: str) -> Ints:
    """Return the unit of every row, shape (n_rows,); the same for all where nothing is eliminated."""
    tally = numbering.tally
    if by == ANNOTATOR:
        return tally.k
    rows = [tally.slices[effect.feature] for effect in numbering.slices if effect.by == by]
    return rows[0] if rows else np.zeros_like(tally.i)


def _entries_of_rows(numbering: Numbering) -> Layout:
    """Lay out the entries of the rows."""
    tally, n = numbering.tally, numbering.n_competitors
    first = n + len(numbering.common)
    columns, coordinate, sign, dimension = [tally.i, tally.j], [ETA, ETA], [1.0, -1.0], [0, 0]
    factor = [-1, -1]
    for effect, places in zip(numbering.slices, numbering.places(tally), strict=True):
        signs = (1.0, -1.0) if effect.basis == "difference" else (0.0, 0.0)
        for at, one in zip(places, signs, strict=False):
            columns.append(first + at)
            coordinate.append(effect.coordinate)
            sign.append(one)
            dimension.append(effect.dimension)
            factor.append(effect.dimension if effect.basis == "lead" else -1)
    for s, effect in enumerate(numbering.common):
        columns.append(np.full_like(tally.i, n + s))
        coordinate.append(effect.coordinate)
        factor.append(-1)
    for p, effect in enumerate(numbering.own):
        factor.append(effect.dimension if effect.basis == "lead" else -1)
        columns.append(numbering.n_head + tally.k * len(numbering.own) + p)
        coordinate.append(effect.coordinate)
    others = len(columns) - len(sign)
    return Layout(
        columns,
        np.array(coordinate, dtype=np.int64),
        np.array([*sign, *[0.0] * others]),
        np.array([*dimension, *[0] * others], dtype=np.int64),
        np.array(factor, dtype=np.int64),
    )


def _pieces(
    coordinate: list[int], sign: list[float], dimension: list[int], factor: list[int]
) -> tuple[Ints, Ints, np.ndarray]:
    """Return entries, the pieces that they are added to, and their weights there.

    The product of lead and factor in dimension 0 is known far better than the two, whose errors cancel. So it is a part
    of its coordinate, at the point of the factor; along directions it follows the point.
    """
    free, dimensions = sorted({one for one in factor if one >= 0}), 1 + max(*dimension, *factor)
    found: list[tuple[int, int, float]] = []
    for e, at in enumerate(coordinate):
        if sign[e]:
            found.append((e, dimension[e], sign[e]))
        elif factor[e] >= 0:
            found.append((e, dimensions + free.index(factor[e]), 1.0))
        if (not sign[e] or not dimension[e]) and factor[e] <= 0:
            found.append((e, dimensions + len(free) + at, 0.0))
    entries, pieces, weights = zip(*found, strict=True)
    return np.array(entries), np.array(pieces), np.array(weights)


def _too_large(numbering: Numbering, left: int) -> str:
    kinds: Sequence[str] = sorted({effect.by for effect in numbering.slices} - {COMPETITOR, ANNOTATOR, PROGRAM})
    return (
        f"{left:,} numbers of {numbering.n_annotators:,} annotators and of slices ({', '.join(kinds) or 'annotator'}) "
        f"cross each other, and at most {DENSE:,} can be solved for together. Leave out annotators with few votes "
        "(keep_annotators), or the annotators' own numbers (model='bradley-terry'), or the slices (answers=False)."
    )
