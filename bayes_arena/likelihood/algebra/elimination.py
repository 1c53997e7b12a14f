"""In which order the numbers of a model with slices are eliminated.

A vote meets few numbers, so its row of the Jacobian J of the coordinates has K entries, the same K for every row:

    strengths of i and j; numbers of the slices; what annotators share; the annotator's own.

What is eliminated first, unit by unit, is one kind of slice, the annotators among them: a vote meets one unit of it
only, so given the rest units are independent. It is the kind with the most numbers, so that what is left, the dense
part of the Hessian, is as small as it can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM

if TYPE_CHECKING:
    from bayes_arena.likelihood.algebra.numbering import Numbering

DENSE = 6000
"""Numbers that may be left when one kind is eliminated: a dense matrix of that size is factorised at every step."""


@dataclass(frozen=True, eq=False)
class Elimination:
    """What is eliminated, and the entries of every row.

    Attributes
    ----------
    by : str
        The kind of slice that is eliminated, ``"annotator"`` say.
    rows : ndarray of int, shape (n_rows,)
        Rows of the tally, sorted by unit.
    start : ndarray of int, shape (n_units + 1,)
        Where the rows of a unit begin.
    dense, tail : ndarray of int, shapes (d,) and (s,)
        Numbers that are left and that are eliminated, as places in (head, own); the latter sorted by unit.
    tail_start : ndarray of int, shape (n_units + 1,)
        Where the numbers of a unit begin in ``tail``.
    touched, touched_start : ndarray of int
        Places in ``dense`` that meet the votes of a unit, sorted, unit after unit.
    local : ndarray of int, shape (n_rows, K)
        Entries of every sorted row: place among the numbers of its unit, or these many plus that among its touched.
    coordinate : ndarray of int, shape (K,)
        The coordinate that an entry belongs to.
    sign : ndarray, shape (K,)
        1 or -1 for an entry that is theta times as much, else 0.
    theta : int
        The entry of theta itself; -1 where it is fixed.
    n_own : int
        Numbers of an annotator if annotators are eliminated: they are the first of their unit; else 0.
    """

    by: str
    rows: Ints
    start: Ints
    dense: Ints
    tail: Ints
    tail_start: Ints
    touched: Ints
    touched_start: Ints
    local: Ints
    coordinate: Ints
    sign: np.ndarray
    theta: int
    n_own: int

    @cached_property
    def back(self) -> Ints:
        """Place of every row of the tally among those sorted by unit."""
        return np.argsort(self.rows)

    @cached_property
    def inverse_pattern(self) -> tuple[Ints, Ints]:
        """Columns and row starts of a sparse matrix that has, unit by unit, a block of own by own numbers."""
        return _pattern(self.tail_start, self.tail_start, np.arange(len(self.tail)))

    @cached_property
    def across_pattern(self) -> tuple[Ints, Ints]:
        """The same of own by touched numbers."""
        return _pattern(self.tail_start, self.touched_start, self.touched)


def eliminate_largest(numbering: Numbering) -> Elimination:
    """Choose what to eliminate, and lay the entries of all rows out for it."""
    n, width = numbering.n_competitors, len(numbering.own)
    kinds: dict[str, Ints] = {}  # unit of every number, -1 where it is left
    size = numbering.n_head + numbering.n_annotators * width
    first = n + len(numbering.common)
    for by in dict.fromkeys([*(effect.by for effect in numbering.slices), *([ANNOTATOR] if width else [])]):
        if by in (COMPETITOR, PROGRAM):  # there are few, and votes of people meet none
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

    columns, coordinate, sign, theta = entries_of_rows(numbering)
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
        theta=theta,
        n_own=width if by == ANNOTATOR else 0,
    )


def _unit_of_rows(numbering: Numbering, by: str) -> Ints:
    """Return the unit that every row meets, shape (n_rows,); all meet the same where nothing is eliminated."""
    tally = numbering.tally
    if by == ANNOTATOR:
        return tally.k
    rows = [tally.slices[effect.feature] for effect in numbering.slices if effect.by == by]
    return rows[0] if rows else np.zeros_like(tally.i)


def _pattern(row_start: Ints, column_start: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return columns and row starts of a sparse matrix of one dense block a unit, whose columns are listed by unit."""
    rows, wide = np.diff(row_start), np.diff(column_start)
    unit = np.repeat(np.arange(len(rows)), rows)
    length = wide[unit]
    starts = np.append(0, np.cumsum(length))
    places = np.arange(starts[-1]) - np.repeat(starts[:-1], length) + np.repeat(column_start[:-1][unit], length)
    return columns[places], starts


def entries_of_rows(numbering: Numbering) -> tuple[list[Ints], list[int], list[float], int]:
    """Return of every entry its place in (head, own) by row, its coordinate, its sign; and which one is theta's."""
    tally, n = numbering.tally, numbering.n_competitors
    first = n + len(numbering.common)
    columns, coordinate, sign = [tally.i, tally.j], [ETA, ETA], [1.0, -1.0]
    for effect, places in zip(numbering.slices, numbering.places(tally), strict=True):
        signs = (1.0, -1.0) if effect.basis == "difference" else (0.0, 0.0)
        for at, one in zip(places, signs, strict=False):
            columns.append(first + at)
            coordinate.append(effect.coordinate)
            sign.append(one)
    for s, effect in enumerate(numbering.common):
        columns.append(np.full_like(tally.i, n + s))
        coordinate.append(effect.coordinate)
        sign.append(0.0)
    theta = -1
    for p, effect in enumerate(numbering.own):
        theta = len(columns) if effect.basis == "lead" else theta
        columns.append(numbering.n_head + tally.k * len(numbering.own) + p)
        coordinate.append(effect.coordinate)
        sign.append(0.0)
    return columns, coordinate, sign, theta


def _too_large(numbering: Numbering, left: int) -> str:
    kinds: Sequence[str] = sorted({effect.by for effect in numbering.slices} - {COMPETITOR, ANNOTATOR, PROGRAM})
    return (
        f"{left:,} numbers of {numbering.n_annotators:,} annotators and of slices ({', '.join(kinds) or 'annotator'}) "
        f"cross each other, and at most {DENSE:,} can be solved for together. Leave out annotators with few votes "
        "(keep_annotators), or the annotators' own numbers (model='bradley-terry'), or the slices (answers=False)."
    )
