"""Cells that name several competitors: a pair, the options of a choice, or an order.

A cell is cut at the separator that cuts all cells of its column, into the fewest different
names.  A separator that may stand in a name (``-``, ``_``, a blank) cuts only two halves, of
which most occur elsewhere: in other cells, or as winners.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from bayes_arena.errors import VotesError, shortened
from bayes_arena.reading.values import are_texts, as_text, parsed
from bayes_arena.said import Use

type Names = list[str]

# What may stand between names, the longest first.
BETWEEN = (
    " vs. ", " vs ", " v ", "_vs_", "-vs-", "__vs__", " versus ", "|", ";", " - ", " / ", ",",
    "/", ":", "__", "\t", " & ", " and ",
)  # fmt: skip
IN_NAMES = ("_", "-")
IN_ORDERS = (">", ",", ";", "|", " ")  # between names of which the first is the best
TIED = re.compile(r"\s*[=~]\s*")


def names_in_cells(cells: Sequence[str], known: Collection[str]) -> list[Names]:
    """Return the names in each cell; ``known`` are those of winners."""
    names = names_in_objects(cells)
    if not names and are_texts(cells):
        raise VotesError(
            f"The cell {shortened(repr(cells[0]), 60)} is a text, not names of competitors."
        )
    names = (
        names
        or names_between(cells)
        or halves_at_joints(cells, known)
        or halves_by_name(cells, known)
    )
    if cells and not names:
        raise VotesError(
            (
                f"Nothing divides the cell {shortened(repr(cells[0]))} into two names. "
                "Write them in two columns, and name these with ",
                Use("a"),
                " and ",
                Use("b"),
                ".",
            )
        )
    return names


def names_in_objects(cells: Sequence[str]) -> list[Names]:
    """Return the names in cells that are JSON: a list, or an object with one in each field."""
    names = []
    for cell in cells:
        value = parsed(cell)
        values = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(values, list) or len(values) < 2:
            return []
        names.append([as_text(each) or "" for each in values])
    return names


def names_between(cells: Sequence[str]) -> list[Names]:
    """Return the names at the separator that divides every cell into the fewest names."""
    best: list[Names] = []
    for separator in BETWEEN:
        names = [divided(cell, separator) for cell in cells]
        if all(names) and (not best or n_different(names) < n_different(best)):
            best = names
    return best


def divided(cell: str, separator: str) -> Names:
    """Return the names that a separator divides, without quotes and brackets; or none."""
    parts = [part.strip(" \t()[]'\"") for part in cell.split(separator)]
    return parts if len(parts) > 1 and all(parts) else []


def n_different(names: Collection[Names]) -> int:
    """Return the number of different names in cells."""
    return len({name for cell in names for name in cell})


def halves_at_joints(cells: Sequence[str], known: Collection[str]) -> list[Names]:
    """Return the halves of cells at ``-`` or ``_``, if most of them occur elsewhere."""
    for separator in IN_NAMES:
        halves = [divided(cell, separator) for cell in cells]
        if all(len(half) == 2 for half in halves) and occur_elsewhere(halves, known):
            return halves
    return []


def occur_elsewhere(halves: Sequence[Names], known: Collection[str]) -> bool:
    """Whether halves of cells stand on both sides, and most cells have known halves only."""
    times = Counter(name for half in halves for name in half)
    firsts, seconds = ({half[side] for half in halves} for side in (0, 1))
    is_known = [all(times[n] > 1 or n in known for n in half) for half in halves]
    are_named = bool(times.keys() & set(known))
    return (are_named or bool(firsts & seconds)) and sum(is_known) * 2 >= len(halves)


def halves_by_name(cells: Sequence[str], known: Collection[str]) -> list[Names]:
    """Return the names in cells that begin with one known name and end with another.

    Between them stands no letter and no digit.
    """
    halves = []
    for cell in cells:
        starts = [name for name in known if name and cell.startswith(name)]
        ends = [name for name in known if name and cell.endswith(name)]
        fits = [[x, y] for x in starts for y in ends if is_joint(cell, x, y)]
        if not fits:
            return []
        halves.append(max(fits, key=lambda pair: len(pair[0]) + len(pair[1])))
    return halves


def is_joint(cell: str, first: str, second: str) -> bool:
    """Whether a cell is two names and what stands between: no letter, no digit."""
    between = cell[len(first) : len(cell) - len(second)]
    return len(between) > 0 and not any(map(str.isalnum, between))


def orders_in_cells(cells: Sequence[str]) -> list[list[Names]]:
    """Return the order in each cell, the best first: the names that share each place.

    ``oak > elm = ash``, ``oak,elm,ash``, ``oak elm ash``, or a list in JSON.
    """
    if lists := names_in_objects(cells):
        return [[[name] for name in names] for names in lists]
    for separator in IN_ORDERS:
        orders = [divided(cell, separator) for cell in cells]
        if all(orders):
            return [[TIED.split(place) for place in order] for order in orders]
    return []


def are_orders(cells: Collection[str]) -> bool:
    """Whether cells are orders by their marks: ``oak > elm > ash``."""
    return bool(cells) and all(len(divided(cell, ">")) > 1 for cell in cells)
