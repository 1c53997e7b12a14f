"""Which columns of a source play which role: recognised by their usual names, or named."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

import narwhals as nw

from bayes_arena.errors import ColumnError, listing, printable
from bayes_arena.votes.sources.frames import Frame

PAIRS = (
    ("model_a", "model_b"),
    ("left", "right"),
    ("model_1", "model_2"),
    ("system_a", "system_b"),
    ("home_team", "away_team"),
    ("team_a", "team_b"),
    ("player_a", "player_b"),
)
WINNERS = ("winner", "label")
LIKELY_ANNOTATORS = (
    "annotator_id",
    "user_id",
    "judge_id",
    "worker_id",
    "rater_id",
    "voter_id",
    "visitor_id",
    "evaluation_session_id",
    "judge_hash",
)
"""Columns suggested as likely to hold annotators, as are ``ANNOTATORS`` in capitals."""
LIKELY_WEIGHTS = ("weight", "weights", "n", "count", "counts", "n_votes")
"""Columns suggested as likely to hold numbers of votes."""
ANNOTATORS = ("judge", "annotator", "worker", "performer", "judge_model")
WON = (
    {"a": "winner", "b": "loser"},
    {"a": "winner_name", "b": "loser_name"},
    {"a": "winner_model", "b": "loser_model"},
    {"a": "winner_id", "b": "loser_id"},
    {"a": "winning_model", "b": "losing_model"},
)
"""One row per vote, with a column of winners and one of losers; the first present is taken."""
COUNTED = {"a": "player1", "b": "player2", "wins_a": "win1", "wins_b": "win2"}
"""One row per pair: how often each has won, and how often they tied if there is a column of ``TIES``."""
TIES = ("ties", "draws")
ONE_HOT = {"winner_a": "winner_model_a", "winner_b": "winner_model_b", "winner_tie": "winner_tie"}
NAMED = tuple(name for names in (*PAIRS, *(won.values() for won in WON)) for name in names)
KNOWN = {*NAMED, *WINNERS, *ANNOTATORS, *COUNTED.values(), *TIES, *ONE_HOT.values()}

TOLOKA = {"ASSIGNMENT:worker_id": "worker", "ASSIGNMENT:task_id": "task_id", "OUTPUT:result": "winner"}
"""Names for columns of Toloka's assignments; others are known by what follows ``INPUT:`` or ``OUTPUT:``."""
IN_OR_OUT = re.compile("^(INPUT|OUTPUT):")

DUPLICATE = re.compile(r"_duplicated_\d+$")
"""Suffix that Polars gives to a repeated name of a CSV column."""


def recognise_roles(
    frame: Frame,
    *,
    a: str | None,
    b: str | None,
    winner: str | None,
    score: str | None,
    annotator: str | Literal[False] | None,
    weight: str | Literal[False] | None,
    id: str | None = None,
) -> dict[str, str]:
    """Recognise the columns of competitors, result, annotator, weight and id; return role to column.

    The roles are ``a, b``, then ``score``, ``winner`` or ``winner_a, winner_b, winner_tie`` or, in layouts without
    sides, nothing (``a`` has won) or ``wins_a, wins_b`` and perhaps ``ties``; then ``annotator``, ``weight`` and ``id``
    where present. With both ``winner`` and ``score``, the score counts where the winner is missing.
    """
    names = column_names(frame)
    if any("\0" in name for name in names):
        raise ColumnError("The names of the columns are not UTF-8; they look like UTF-16. Save the file as UTF-8.")
    if any("\r" in name for name in names):
        raise ColumnError("Lines end with a carriage return alone. Save the file with line feeds (LF).")
    spelling = spellings(names)
    recognised = _result_columns(list(spelling), a, b, winner, score)
    columns = {role: spelling.get(name, name) for role, name in recognised.items()}
    if annotator is None:
        found = [spelling[name] for name in ANNOTATORS if name in spelling and spelling[name] not in columns.values()]
        if found:
            columns["annotator"] = sole(found, names, "annotator", "annotator= (--annotator)", ANNOTATORS)
    elif annotator is not False:
        columns["annotator"] = annotator
    if weight:
        columns["weight"] = weight
    if id is not None:
        columns["id"] = id
    require_columns(columns.values(), names)
    return columns


def column_names(frame: Frame) -> list[str]:
    """Return the names of all columns, as text."""
    return [str(name) for name in frame.collect_schema().names()]


def spellings(names: Collection[str]) -> dict[str, str]:
    """Return the names of columns, keyed by the form in which they are recognised.

    That form is lower case if the header is in capitals, and lacks the prefix that Toloka adds.
    """
    plain = {TOLOKA.get(name) or IN_OR_OUT.sub("", name): name for name in names} | {name: name for name in names}
    in_capitals = {name.casefold(): spelling for name, spelling in plain.items()}
    return in_capitals if KNOWN & in_capitals.keys() and not KNOWN & plain.keys() else plain


def require_columns(columns: Collection[str], names: Sequence[str]) -> None:
    """Raise a :class:`ColumnError` for columns that the source lacks or has twice."""
    absent = [name for name in columns if name not in names]
    if absent:
        raise ColumnError(f"No column {listing(map(repr, absent))}. The source has: {printable(', '.join(names))}.")
    copies = {DUPLICATE.sub("", name) for name in names if DUPLICATE.search(name)}
    twice = [name for name in columns if name in copies]
    if twice:
        raise ColumnError(f"Several columns are called {listing(map(repr, twice))}. Rename all but one.")


def select_roles(frame: Frame, columns: Mapping[str, str]) -> Frame:
    """Select the columns that have a role, under the name of the role."""
    schema = frame.collect_schema()
    expressions = []
    for role, name in columns.items():
        column = nw.col(name)
        if isinstance(schema[name], nw.Categorical | nw.Enum):  # several engines cannot compare or group these
            column = column.cast(nw.String)
        expressions.append(column.alias(role))
    return frame.select(*expressions)


def _result_columns(
    names: list[str], a: str | None, b: str | None, winner: str | None, score: str | None
) -> dict[str, str]:
    """Return the columns of the competitors and of who won."""
    columns: dict[str, str] = {}
    pairs = [pair for pair in PAIRS if set(pair) <= set(names)]
    if a is None and b is None:
        won = next((won for won in WON if set(won.values()) <= set(names)), None)
        if (winner, score) == (None, None) and not pairs and won is not None:
            return dict(won)
        if (winner, score) == (None, None) and not pairs and set(COUNTED.values()) <= set(names):
            ties = [name for name in TIES if name in names]
            return COUNTED | ({"ties": sole(ties, names, "count of ties", "another name", TIES)} if ties else {})
        known = (*PAIRS, *(tuple(won.values()) for won in WON), tuple(COUNTED.values()))
        columns["a"], columns["b"] = sole(pairs, names, "pair of competitors", "a= and b= (--a and --b)", known)
    elif a is None or b is None:
        raise ColumnError("Name both columns of competitors (a=... and b=...), or neither.")
    else:
        columns |= {"a": a, "b": b}
    if score is not None:
        return columns | ({} if winner is None else {"winner": winner}) | {"score": score}
    if winner is None and not set(WINNERS) & set(names) and set(ONE_HOT.values()) <= set(names):
        return columns | ONE_HOT
    found = [name for name in WINNERS if name in names]
    named = winner or sole(found, names, "winner", "winner= (--winner)", WINNERS)
    if named in columns.values():  # the column holds the winner, so the columns are not sides
        loser = next((name for name in columns.values() if name != named), named)
        return {"a": named, "b": loser}
    return columns | {"winner": named}


def sole[T](found: Sequence[T], names: list[str], role: str, remedy: str, known: Iterable[object]) -> T:
    """Return the sole candidate for a role; none or several are an error."""
    if len(found) == 1:
        return found[0]
    several = f"Several columns could be the {role}: {listing(found)}"
    problem = several if found else f"No column recognised as the {role}"
    raise ColumnError(
        f"{problem}. Recognised names: {', '.join(map(str, known))}. "
        f"The source has: {printable(', '.join(names))}. Name the column with {remedy}."
    )
