"""Which number belongs to which slice.

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

from bayes_arena.algebra.elimination import Elimination
from bayes_arena.arrays import Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.votes.cells import NO_PROGRAM
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM
from bayes_arena.votes.tally import Tally

DENSE = 6000
"""Most numbers that may be left after elimination: a dense matrix of their size is factorised at every step."""


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of a model with slices.

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
    """

    tally: Tally
    n_competitors: int
    n_annotators: int
    common: tuple[Effect, ...]
    own: tuple[Effect, ...]
    slices: tuple[Effect, ...]
    keys: tuple[Ints, ...]

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the numbers of every effect are among those of all slices."""
        ends = np.cumsum([0, *map(len, self.keys)]).tolist()
        return tuple(slice(first, last) for first, last in pairwise(ends))

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
            places = []
            for wanted in keys_of_rows(effect, tally, self.n_competitors):
                at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
                known = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
                places.append(np.where(known, part.start + at, -1))
            found.append(places)
        return found

    @cached_property
    def columns(self) -> list[Ints]:
        """Place of every entry of the rows in (head, own), each of shape (n_rows,), in the order of the entries."""
        return _entries_of_rows(self)[0]

    @cached_property
    def elimination(self) -> Elimination:
        """The order of elimination of these numbers.

        Raises
        ------
        TooLargeError
            If too many numbers are left.
        """
        return _eliminate_largest(self)


def number(tally: Tally, n_competitors: int, n_annotators: int, effects: tuple[tuple[Effect, ...], ...]) -> Numbering:
    """Assign numbers to the slices of votes; ``effects`` are the common, the annotators' own and the slices'."""
    common, own, slices = effects
    keys = []
    for effect in slices:
        rows = [*keys_of_rows(effect, tally, n_competitors), *([np.arange(n_competitors)] * (effect.by == COMPETITOR))]
        keys.append(np.unique(np.concatenate(rows)))
    return Numbering(tally, n_competitors, n_annotators, common, own, slices, tuple(keys))


def keys_of_rows(effect: Effect, tally: Tally, n_competitors: int) -> list[Ints]:
    """Return the keys of every row's numbers: one array, or one per competitor; negative for an unknown slice.

    People's votes involve no program's taste: both their entries are the same arbitrary number, and cancel.
    """
    if effect.by == COMPETITOR:
        return [tally.i, tally.j]
    code = tally.k if effect.by == ANNOTATOR else tally.slices[effect.feature]
    if effect.basis == "one":
        return [code]
    keys = [np.where(code < 0, -1, code * n_competitors + one) for one in (tally.i, tally.j)]
    return [np.where(code == NO_PROGRAM, 0, key) for key in keys] if effect.by == PROGRAM else keys


def label_of(effect: Effect) -> str:
    """Return the name of the dimension of slices' numbers in a PyMC program and its draws."""
    if effect.dimension:
        return COMPETITOR
    return f"{effect.by}_of_{'competitor' if effect.basis == 'difference' else 'ties'}"


def _eliminate_largest(numbering: Numbering) -> Elimination:
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
        for effect, keys, part in zip(numbering.slices, numbering.keys, numbering.parts, strict=True):
            if effect.by == by:
                unit[first + part.start : first + part.stop] = keys // (1 if effect.basis == "one" else n)
        kinds[by] = unit
    by = max(kinds, key=lambda kind: int((kinds[kind] >= 0).sum()), default="")
    unit = kinds.get(by, np.full(size, -1))
    dense = np.flatnonzero(unit < 0)
    if len(dense) > DENSE:
        raise TooLargeError(_too_large(numbering, len(dense)))
    tail = np.flatnonzero(unit >= 0)
    own_first = np.lexsort((tail, tail < numbering.n_head, unit[tail]))
    tail = tail[own_first]

    code = _unit_of_rows(numbering, by)
    n_units = int(max(unit.max(initial=-1), code.max(initial=-1))) + 1
    rows = np.argsort(code, kind="stable")
    start = np.searchsorted(code[rows], np.arange(n_units + 1))
    tail_start = np.searchsorted(unit[tail], np.arange(n_units + 1))

    columns, coordinate, sign, dimension, factor = _entries_of_rows(numbering)
    entries = np.stack(columns, axis=1)[rows]
    place = np.empty(size, dtype=np.int64)
    place[dense] = np.arange(len(dense))
    place[tail] = np.arange(len(tail)) - tail_start[unit[tail]]
    left = unit[entries] < 0
    of_row = np.repeat(code[rows], entries.shape[1]).reshape(entries.shape)
    met = np.unique(of_row[left] * len(dense) + place[entries[left]])
    touched, touched_start = met % len(dense), np.searchsorted(met // len(dense), np.arange(n_units + 1))
    local = place[entries]
    among = np.searchsorted(met, of_row * len(dense) + np.where(left, place[entries], 0))
    counts = np.diff(tail_start)
    local = np.where(left, counts[of_row] + among - touched_start[of_row], local)
    return Elimination(
        by=by,
        rows=rows,
        start=start,
        dense=dense,
        tail=tail,
        tail_start=tail_start,
        touched=touched,
        touched_start=touched_start,
        local=local,
        coordinate=np.array(coordinate, dtype=np.int64),
        sign=np.array(sign, dtype=np.float64),
        dimension=np.array(dimension, dtype=np.int64),
        factor=np.array(factor, dtype=np.int64),
        pieces=_pieces(coordinate, sign, dimension, factor),
        n_own=width if by == ANNOTATOR else 0,
    )


def _unit_of_rows(numbering: Numbering, by: str) -> Ints:
    """Return the unit of every row, shape (n_rows,); the same for all where nothing is eliminated."""
    tally = numbering.tally
    if by == ANNOTATOR:
        return tally.k
    rows = [tally.slices[effect.feature] for effect in numbering.slices if effect.by == by]
    return rows[0] if rows else np.zeros_like(tally.i)


def _entries_of_rows(numbering: Numbering) -> tuple[list[Ints], list[int], list[float], list[int], list[int]]:
    """Return for every entry its place in (head, own) by row, its coordinate, its sign and the dimension of its lead.

    Also return the entry of the factor of the lead in every dimension, -1 where it is fixed.
    """
    tally, n = numbering.tally, numbering.n_competitors
    first = n + len(numbering.common)
    columns, coordinate, sign, dimension = [tally.i, tally.j], [ETA, ETA], [1.0, -1.0], [0, 0]
    for effect, places in zip(numbering.slices, numbering.places(tally), strict=True):
        signs = (1.0, -1.0) if effect.basis == "difference" else (0.0, 0.0)
        for at, one in zip(places, signs, strict=False):
            columns.append(first + at)
            coordinate.append(effect.coordinate)
            sign.append(one)
            dimension.append(effect.dimension)
    for s, effect in enumerate(numbering.common):
        columns.append(np.full_like(tally.i, n + s))
        coordinate.append(effect.coordinate)
    factor = [-1] * (1 + max((effect.dimension for effect in numbering.own), default=0))
    for p, effect in enumerate(numbering.own):
        if effect.basis == "lead":
            factor[effect.dimension] = len(columns)
        columns.append(numbering.n_head + tally.k * len(numbering.own) + p)
        coordinate.append(effect.coordinate)
    others = len(columns) - len(sign)
    return columns, coordinate, [*sign, *[0.0] * others], [*dimension, *[0] * others], factor


def _pieces(
    coordinate: list[int], sign: list[float], dimension: list[int], factor: list[int]
) -> tuple[Ints, Ints, np.ndarray]:
    """Return entries, the pieces that they are added to, and their weights there.

    The product of lead and factor in dimension 0 is known far better than the two, whose errors cancel. So it is a part
    of its coordinate, at the point of the factor; along directions it follows the point.
    """
    free = [one for one in factor if one >= 0]
    found: list[tuple[int, int, float]] = []
    for e, at in enumerate(coordinate):
        if sign[e]:
            found.append((e, dimension[e], sign[e]))
        elif e in free:
            found.append((e, len(factor) + free.index(e), 1.0))
        if (not sign[e] or not dimension[e]) and e not in factor[1:]:
            found.append((e, len(factor) + len(free) + at, 0.0))
    entries, pieces, weights = zip(*found, strict=True)
    return np.array(entries), np.array(pieces), np.array(weights)


def _too_large(numbering: Numbering, left: int) -> str:
    kinds: Sequence[str] = sorted({effect.by for effect in numbering.slices} - {COMPETITOR, ANNOTATOR, PROGRAM})
    return (
        f"{left:,} numbers of {numbering.n_annotators:,} annotators and of slices ({', '.join(kinds) or 'annotator'}) "
        f"cross each other, and at most {DENSE:,} can be solved for together. Leave out annotators with few votes "
        "(keep_annotators), or the annotators' own numbers (model='bradley-terry'), or the slices (answers=False)."
    )
