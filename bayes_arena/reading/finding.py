"""Finding the columns of the competitors and of the result.

An option that names a column comes first, then a usual name, then values: two columns are
competitors if their names differ only in a side and they share names (``school1, school2``,
``experiment_a, experiment_b``); a column is a result if each of its values names one of the
two in its row, or is a label of an outcome.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from bayes_arena.errors import VotesError
from bayes_arena.reading.columns import (
    ANNOTATORS,
    PAIR_CELLS,
    PROMPTS,
    WINNERS,
    has_word,
)
from bayes_arena.reading.options import Options
from bayes_arena.reading.roles import Column, Constant, Roles
from bayes_arena.reading.sheet import Sheet
from bayes_arena.reading.text_files import separator_of
from bayes_arena.said import Said, Use

MODELS = (
    "model", "generator", "system", "competitor", "candidate", "model a", "name",
    "llm",
)  # fmt: skip
# Words of columns that may hold names or sides of the pair and tell no result.
NO_RESULTS = (
    "toss", "batting", "first", "shown", "show", "position", "order", "swap", "swapped",
    "flipped", "seat", "colour", "color", "server", "serve", "serving", "favourite",
    "favorite", "seed", "expected", "predicted", "prediction", "forecast", "odds", "time",
    "date", "hour", "day", "age", "control", "baseline", "reference", "start", "starts",
    "host", "venue", "turn", "round", "language", "category", "group", "split", "source",
)  # fmt: skip
IDS = ("id", "ids", "code", "no", "number", "uid", "uuid")  # what numbers are names
ALIKE = "their names differ in the side, and they share names"
NAMES = "its values are names of the two"
LABELS = "its values are labels of who won"


def option_column(sheet: Sheet, options: Options, name: str) -> str | None:
    """Return the column that an option names, None if it names none."""
    given = getattr(options, name)
    return None if given is None else sheet.header.column(given, name)


def winner_columns(sheet: Sheet, options: Options) -> list[str] | None:
    """Return the columns that ``winner=`` names if it names several."""
    names = options.winner
    if isinstance(names, str):  # a name, or several with commas between
        names = () if names in sheet.header.names else names.split(",")
    if names is None or len(names) < 2:
        return None
    return [sheet.header.column(name.strip(), "winner") for name in names]


def winner_column(sheet: Sheet, options: Options) -> str | None:
    """Return the one column that ``winner=`` names."""
    if options.winner is None or winner_columns(sheet, options) is not None:
        return None
    return option_column(sheet, options, "winner")


def competitors(sheet: Sheet, options: Options) -> Roles | None:
    """Return the columns of the competitors: two, one and a constant, or one cell."""
    header = sheet.header
    if options.baseline is not None:
        return against_baseline(sheet, options)
    if options.a is not None and options.b is not None:
        a, b = header.column(options.a, "a"), header.column(options.b, "b")
        return Roles(a=a, b=b)
    if options.b is not None:
        text = (Use("b"), " needs ", Use("a"), ": name both columns of competitors.")
        raise VotesError(text)
    if options.a is not None:
        return Roles(pair=header.column(options.a, "a"))
    if pair := header.pair_of_competitors():
        return Roles(a=pair[0], b=pair[1])
    if cell := header.first(PAIR_CELLS):
        return Roles(pair=cell)
    return competitors_by_values(sheet)


def against_baseline(sheet: Sheet, options: Options) -> Roles | None:
    """Return the column of the competitors that met the baseline."""
    pair = sheet.header.pair_of_competitors()
    if options.a is None and pair:
        raise VotesError(
            (
                Use("baseline"),
                f" is for votes that name one competitor; {pair[0]!r} and {pair[1]!r} name "
                "both. Leave it out, or name one column with ",
                Use("a"),
                ".",
            )
        )
    a = option_column(sheet, options, "a") or sheet.header.first(MODELS)
    return Roles(a=a, b=Constant(str(options.baseline))) if a else None


def competitors_by_values(sheet: Sheet) -> Roles | None:
    """Return the only two columns that are named alike but for the side and share names."""
    pairs = [
        pair for pair in sheet.header.pairs_alike() if are_competitors(sheet, pair)
    ]
    if len(pairs) != 1:
        return None
    a, b = pairs[0]
    return Roles(a=a, b=b, how={a: ALIKE, b: ALIKE})


def are_competitors(sheet: Sheet, pair: tuple[str, str]) -> bool:
    """Whether two columns share names, or ids where the header says so."""
    a, b = pair
    if not sheet.share(a, b):
        return False
    if sheet.holds_numbers(a) and sheet.holds_numbers(b):
        return has_word(a, IDS)
    return sheet.holds_names(a) and sheet.holds_names(b)


def usual_winners(sheet: Sheet, taken: Collection[str]) -> list[str]:
    """Return the columns whose names say that they hold the winner, the usual ones first."""
    columns = (sheet.header.by_words.get(name) for name in WINNERS)
    return [column for column in columns if column and column not in taken]


def winner_by_values(sheet: Sheet, roles: Roles) -> Roles | None:
    """Return the only column whose values tell who won, be it by name or by label."""
    columns = winners_by_values(sheet, roles)
    if len(columns) != 1 or roles.a is None or roles.b is None:
        return None
    column = columns[0]
    is_named = sheet.names_winner(column, (roles.a, roles.b))
    how = {**roles.how, column: NAMES if is_named else LABELS}
    return replace(roles, results={"winner": column}, how=how)


def winners_by_values(sheet: Sheet, roles: Roles) -> list[str]:
    """Return the columns whose values tell who won, and whose names do not deny it."""
    if roles.a is None or roles.b is None:
        return []
    known = {sheet.header.first(ANNOTATORS, roles.taken), sheet.header.first(PROMPTS)}
    return [
        column
        for column in sheet.texts
        if column not in roles.taken | known
        and not has_word(column, NO_RESULTS)
        and sheet.tells_winner(column, (roles.a, roles.b))
    ]


def loser_beside(roles: Roles, winner: str) -> Column | None:
    """Return the other competitor's column where one of the two lists the winners."""
    if winner not in (roles.a, roles.b):
        return None
    return roles.b if winner == roles.a else roles.a


def without_header(
    names: Sequence[str], pair: tuple[str, str], winner: str | None, file: str
) -> Said:
    """Say that the first row is no header, and how Polars gives a file one."""
    roles = {pair[0]: "winner", pair[1]: "loser"}
    if winner is not None:
        roles = {pair[0]: "model_a", pair[1]: "model_b", winner: "winner"}
    columns = [roles.get(name, f"column_{k}") for k, name in enumerate(names, 1)]
    said = (
        f"The first row is no header: {pair[0]!r} and {pair[1]!r} are names of competitors, "
        "too. "
    )
    if not file:
        return f"{said}Name the columns, {', '.join(columns)} for instance."
    separator = separator_of(Path(file))
    option = "" if separator == "," else f"separator={separator!r}, "
    return (
        f"{said}Name the columns:\nimport polars as pl\n"
        f"pl.read_csv({file!r}, {option}has_header=False, infer_schema=False, "
        f"new_columns={columns!r}).write_csv('with_header.csv')"
    )
