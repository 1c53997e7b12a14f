"""Read votes: any source in, checked counts out.

The source is opened, its columns get roles, and equal votes are counted in the engine that
holds them.  The counts come back, names become codes, and what is wrong is refused or left
out, and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np
import polars as pl

from bayes_arena.arrays import Array
from bayes_arena.errors import MOST_SHOWN, VotesError, listing, printable, shortened
from bayes_arena.votes import saved
from bayes_arena.votes.columns import PROMPTS, TIES, TIMES, WEIGHTS, Header
from bayes_arena.votes.counting import (
    FEATURE,
    NO_ANNOTATOR,
    SLICE,
    UNKNOWN_WINNER,
    Coded,
    alike,
    coded,
)
from bayes_arena.votes.labels import BOTH_BAD
from bayes_arena.votes.layouts import (
    LAYOUTS,
    Constant,
    Layout,
    Roles,
    annotator_of,
    choose,
)
from bayes_arena.votes.options import Columns, Options
from bayes_arena.votes.sources import (
    Frame,
    as_text,
    in_polars,
    open_source,
    readable,
    to_polars,
)
from bayes_arena.votes.tables import is_square, split_pairs
from bayes_arena.votes.votes import PROMPT, TIE, Votes

NAMES = ("a", "b", "pair", "winner", "annotator")  # roles whose columns hold names
CANDIDATE = (
    "prompt?"  # prefix of columns that may hold the prompts, the likeliest first
)
FEW_KINDS = 5  # least number of distinct rows from which equal rows are called copies
ROWS_LOOKED_AT = 1_000  # at the beginning of a table, to tell ids from labels
RARELY = 0.1  # share of differing winners up to which equal rows are copies


@dataclass(frozen=True)
class Opened:
    """A source whose columns are named by their roles.

    Attributes
    ----------
    frame : narwhals frame
        One vote a row; ``row`` is the number of the record where a layout rewrote it.
    layout : Layout
    roles : mapping of str to str
        The column of the source in each role.
    remarks : list of str
        What was noticed.
    """

    frame: Frame
    layout: Layout
    roles: Mapping[str, str]
    remarks: list[str]

    @property
    def sides(self) -> tuple[str, str]:
        """What the columns of the competitors are called."""
        return str(self.roles.get("a", "a")), str(self.roles.get("b", "b"))


def votes_from(source: object, **columns: Any) -> Votes:
    """Return Votes as they are, and read anything else."""
    if isinstance(source, Votes):
        if any(value is not None for value in columns.values()):
            raise VotesError(
                f"The votes are read already; {', '.join(columns)} cannot apply."
            )
        return source
    return read_votes(
        source, **{name: value for name, value in columns.items() if value is not None}
    )


def read_votes(
    source: object,
    *,
    layout: str | None = None,
    a: str | None = None,
    b: str | None = None,
    winner: Columns | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | None = None,
    weights: Literal["frequency", "importance"] = "frequency",
    prompt: str | Literal[False] | None = None,
    slices: Mapping[str, str] | Columns = (),
    features: Mapping[str, Columns] | Columns = (),
    outcomes: Mapping[str, str] | None = None,
    both_bad: Literal["tie", "drop"] = "tie",
    baseline: str | None = None,
    judge: str | None = None,
    on_invalid: Literal["raise", "drop"] = "raise",
) -> Votes:
    """Read votes from files, records or dataframes.

    The usual names of columns need no arguments, in any spelling: ``model_a, model_b,
    winner, judge``, ``HomeTeam, AwayTeam, FTR``, ``winner, loser``, two scores, counts of
    wins, rankings, and the formats of arenas, judges and annotation tools.

    Parameters
    ----------
    source : path, sequence of paths, dataframe, list of dicts or dict of columns
        CSV, TSV, Parquet, JSON or JSON lines, also as a glob or compressed; a file that
        ``Votes.save`` wrote; ``"hf:owner/name"`` for a data set on the Hugging Face hub; or
        a dataframe of any engine that narwhals knows.
    layout : str, optional
        How the votes are written down, if the columns do not tell; the error for an unknown
        name lists all.
    a, b : str, optional
        Columns of the competitors shown first and second; ``a`` alone names a column whose
        cells hold both.
    winner : str or sequence of str, optional
        Column of the winner: a competitor's name, a side, a tie, a grade such as ``A>>B``.
        Several columns are counts of wins (and ties), two scores, or annotators' verdicts,
        by the layout.
    annotator : str or False, optional
        Column of who voted; False reads none.
    weight : str, optional
        Column of weights, by default 1.
    weights : {"frequency", "importance"}
        Whether a weight is a number of votes, or how much a vote matters. Importance
        weights are scaled to sum to the number of votes.
    prompt : str or False, optional
        Column of the prompts; False reads none.  By default the first of ``prompt``,
        ``question_id``, ``question``, ``instruction`` or ``item`` in which Kish's number of
        prompts is at most half the votes.  It becomes the slice ``"prompt"``.
    slices : mapping of str to str, or sequence of str
        Columns of labels, by the name of the slice.
    features : mapping of str to str or pair of str, or sequence of str
        Columns of differences between the answers, or the columns of both.
    outcomes : mapping of str to str, optional
        What further labels mean: ``model_a``, ``model_b``, ``tie``, ``both_bad``,
        ``unplayed``, ``model_a_clearly`` or ``model_b_clearly``.
    both_bad : {"tie", "drop"}
        Whether votes that call both answers bad are ties or left out.
    baseline, judge : str, optional
        The competitor that all others met, or the one annotator, where no column says it.
    on_invalid : {"raise", "drop"}
        Whether invalid votes are an error, or left out and counted in ``Votes.dropped``.

    Returns
    -------
    Votes
        Counts by pair, annotator, slices and features; what was noticed stands in
        ``Votes.remarks``.

    Raises
    ------
    VotesError
        If the source cannot be read, columns are missing, or votes are invalid; the message
        names at most five values with their rows, counted from 0.

    Examples
    --------
    >>> votes = read_votes([{"model_a": "x", "model_b": "y", "winner": "x"}])
    >>> votes.competitors, votes.n_votes
    (('x', 'y'), 1.0)
    """
    options = Options(
        layout, a, b, winner, annotator, weight, weights, prompt, slices, features,
        outcomes, both_bad, baseline, judge, on_invalid,
    )  # fmt: skip
    return read(source, options)[0]


def read(source: object, options: Options) -> tuple[Votes, Opened | None]:
    """Return votes, and how the source was opened if they were not read already."""
    if isinstance(source, str | Path) and saved.is_saved(source):
        if options != Options():
            raise VotesError(
                f"{str(source)!r} holds votes that are read already: no options apply."
            )
        return saved.load(source), None
    with readable(source):
        opened = open_votes(open_source(source), options)
        groups = grouped(opened.frame)
    votes = coded(groups, opened.sides, labels_given(options))
    return summed(votes, opened, options), opened


def without_unknown(votes: Coded, opened: Opened) -> Coded:
    """Read no annotators if their column was not named and lacks some of them."""
    n_missing = int(votes.n[votes.annotator < 0].sum())
    if not n_missing:
        return votes
    if votes.annotators:
        column = opened.roles.get("annotator", "annotator")
        opened.remarks.append(
            f"Annotators are not read, since {column!r} is empty in {n_missing:,} votes; "
            f"annotator={column!r} with on_invalid='drop' leaves these votes out."
        )
    return replace(votes, annotators=(), annotator=np.zeros_like(votes.annotator))


def labels_given(options: Options) -> Mapping[str, str] | None:
    """Return the meanings of labels, without that of missing ranks."""
    given = dict(options.outcomes or {})
    if given.get("unranked") == "last":
        del given["unranked"]
    return given


def open_votes(source: Frame, options: Options) -> Opened:
    """Find the roles of the columns, rewrite what is not one vote a row, choose the prompts."""
    header = Header.of(source.collect_schema().names())
    layout, roles = layout_of(source, header, options)
    if annotator := annotator_of(header, options, roles):
        roles["annotator"] = annotator
    if options.weight is not None:
        roles["weight"] = header.column(options.weight, "weight")
    for name, column in options.by_role("slices").items():
        roles[SLICE + name] = header.column(column, "slices")
    for name, column in options.by_role("features").items():
        for side, each in enumerate([column] if isinstance(column, str) else column):
            roles[f"{FEATURE}{side}:{name}"] = header.column(each, "features")
    roles |= prompt_roles(header, options, layout, roles)
    source = collected(source, roles.values())
    remarks = remarks_on(source, header, roles, options)
    frame = written(by_role(source, roles), layout, options, remarks)
    return Opened(with_prompt(frame, roles, options, remarks), layout, roles, remarks)


def layout_of(source: Frame, header: Header, options: Options) -> tuple[Layout, Roles]:
    """Return the layout; a square table whose rows and columns are the same is a matrix."""
    try:
        return choose(header, options)
    except VotesError:
        if options != Options() or not header.names:
            raise
        first = nw.col(header.names[0]).cast(nw.String)
        head = source.select(first).head(len(header.names))
        if is_square(header.names, lambda: to_polars(head).to_series().to_list()):
            matrix = LAYOUTS[-1]
            return matrix, matrix.find(header, options) or {}
        raise


def prompt_roles(
    header: Header, options: Options, layout: Layout, taken: Mapping[str, str]
) -> Roles:
    """Return the columns that hold the prompts, or may hold them."""
    if options.prompt is False:
        return {}
    if options.prompt is not None:
        return {SLICE + PROMPT: header.column(options.prompt, "prompt")}
    if SLICE + PROMPT in taken:
        return {}
    names = dict.fromkeys([*PROMPTS, *layout.prompts])
    columns = [header.by_words[name] for name in names if name in header.by_words]
    used = {column for role, column in taken.items() if not role.startswith(SLICE)}
    return {
        f"{CANDIDATE}{place}": c for place, c in enumerate(columns) if c not in used
    }


def collected(frame: Frame, columns: Collection[str]) -> Frame:
    """Collect a lazy frame of Polars, with the columns in use and those that can be compared."""
    if not (isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars()):
        return frame
    schema = frame.collect_schema()
    wanted = [
        name for name in schema if name in columns or not schema[name].is_nested()
    ]
    return frame.select(wanted).collect()


def by_role(frame: Frame, roles: Roles) -> Frame:
    """Select the columns that have a role, named by it; names are never lists or objects."""
    schema = frame.collect_schema()
    nested = [c for c in set(roles.values()) if c in schema and is_nested(schema[c])]
    if nested:
        frame = nw.from_native(flattened(in_polars(frame).collect(), nested))
    columns = []
    for role, column in roles.items():
        value = nw.lit(str(column)) if isinstance(column, Constant) else nw.col(column)
        columns.append(value.alias(role))
    return frame.select(*columns)


def is_nested(kind: nw.dtypes.DType) -> bool:
    """Whether values of a type cannot be grouped in every engine."""
    return kind.is_nested() or isinstance(kind, nw.Object | nw.Unknown | nw.Binary)


def flattened(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Write nested values as JSON."""
    texts = [
        pl.Series(name, [as_text(value) for value in table[name].to_list()], pl.String)
        for name in columns
    ]
    return table.with_columns(texts)


def written(
    frame: Frame, layout: Layout, options: Options, remarks: list[str]
) -> Frame:
    """Rewrite a frame to one vote a row, in Polars, if it is not."""
    if layout.write is None and "pair" not in frame.collect_schema().names():
        return frame
    table = in_polars(frame).collect().with_row_index("row")
    table = split_pairs(table)
    if layout.write is not None:
        table = layout.write(table, options, remarks)
    return nw.from_native(table)


def with_prompt(
    frame: Frame, roles: Mapping[str, str], options: Options, remarks: list[str]
) -> Frame:
    """Take the first column of prompts that repeat enough, and leave the others out."""
    names = frame.collect_schema().names()
    candidates = [name for name in names if name.startswith(CANDIDATE)]
    chosen = None
    if SLICE + PROMPT not in names and options.prompt is not False:
        chosen = next((name for name in candidates if repeats(frame, name)), None)
    frame = frame.drop(*(name for name in candidates if name != chosen))
    if chosen is None:
        return frame
    if chosen in roles:
        text = f"Prompts were read from {roles[chosen]!r}; prompt=False reads none."
    else:
        text = "Verdicts on one record share a prompt; prompt=False takes them apart."
    remarks.append(text)
    return frame.rename({chosen: SLICE + PROMPT})


def repeats(frame: Frame, column: str) -> bool:
    """Whether Kish's number of prompts, (sum n)^2 / sum n^2, is at most half the votes."""
    sizes = to_polars(frame.group_by(column).agg(nw.len().alias("n")))
    missing = sizes[column].cast(pl.String).fill_null("").str.strip_chars() == ""
    n = sizes["n"].to_numpy().astype(float)
    if missing.any() or len(n) < 2:
        return False
    return bool(n.sum() ** 2 / (n**2).sum() <= n.sum() / 2)


def grouped(frame: Frame) -> pl.DataFrame:
    """Return the distinct votes, and how often each occurs: ``n``."""
    schema = frame.collect_schema()
    names = [name for name in schema.names() if name != "row"]
    if frame.implementation.is_polars():  # categories are grouped faster than text
        texts = [name for name in names if schema[name] == nw.String]
        frame = (
            frame.with_columns(nw.col(*texts).cast(nw.Categorical)) if texts else frame
        )
    else:
        texts = [n for n in names if isinstance(schema[n], nw.Categorical | nw.Enum)]
        frame = frame.with_columns(nw.col(*texts).cast(nw.String)) if texts else frame
    groups = to_polars(frame.group_by(*names).agg(nw.len().alias("n"))).cast(
        {"n": pl.Int64}
    )
    votes = [name for name in names if not name.startswith((SLICE, FEATURE))]
    return groups.filter(~pl.all_horizontal(pl.col(*votes).is_null()))


def known_votes(
    votes: Coded, opened: Opened, options: Options
) -> tuple[Coded, Array, dict[str, int]]:
    """Check coded votes: return them, which rows count, and how many others there are."""
    if options.annotator is None and options.judge is None:
        votes = without_unknown(votes, opened)
    dropped: Counter[str] = Counter()
    kept = ~votes.unplayed
    dropped["not played"] = int(votes.n[~kept].sum())
    is_bad = votes.outcome == BOTH_BAD
    if options.both_bad == "drop":
        dropped["both bad"] = int(votes.n[is_bad & kept].sum())
        kept &= ~is_bad
    for problem, where in votes.problems():
        wrong = where & kept
        if not wrong.any():
            continue
        if options.on_invalid == "raise" or (wrong == kept).all():
            raise VotesError(complaint(problem, wrong, votes, opened, options))
        dropped[problem] += int(votes.n[wrong].sum())
        kept &= ~where
    kept &= votes.votes > 0
    if not kept.any():
        raise VotesError(no_votes(dropped, opened))
    votes = replace(votes, outcome=np.where(is_bad, TIE, votes.outcome))
    return votes, kept, {reason: n for reason, n in dropped.items() if n}


def summed(votes: Coded, opened: Opened, options: Options) -> Votes:
    """Check coded votes, leave out what is no vote, and sum the others."""
    votes, kept, dropped = known_votes(votes, opened, options)
    if options.weights == "importance":
        if "weight" not in opened.roles:
            raise VotesError(
                "weights='importance' needs a column of weights: name it with weight=."
            )
        scale = votes.n[kept].sum() / votes.votes[kept].sum()
        votes = replace(votes, votes=votes.votes * scale)
    result = votes.summed(np.flatnonzero(kept), sided=opened.layout.sided)
    remarks = [*opened.remarks, *votes.remarks, *remarks_on_names(result)]
    remarks += [
        f"Left out {votes_in_words(n)}: {reason}." for reason, n in dropped.items()
    ]
    return replace(result, dropped=dropped, remarks=tuple(dict.fromkeys(remarks)))


def votes_in_words(n: int) -> str:
    """Return a number of votes."""
    return f"{n:,} vote" if n == 1 else f"{n:,} votes"


def no_votes(dropped: Mapping[str, int], opened: Opened) -> str:
    """Say that no vote is left, and why."""
    reasons = listing(f"{n:,} {reason}" for reason, n in dropped.items() if n)
    because = (
        f" Left out: {reasons}."
        if reasons
        else " The source has no rows, or no weights above 0."
    )
    winner = opened.roles.get("winner")
    hint = (
        f" The winner was read from {str(winner)!r}; winner= names another column."
        if winner
        else ""
    )
    return f"No vote is left.{because}{hint}"


def complaint(
    problem: str, wrong: Array, votes: Coded, opened: Opened, options: Options
) -> str:
    """Say what is wrong with some votes, where, and what to do."""
    n, total = int(votes.n[wrong].sum()), int(votes.n.sum())
    text = f"In {n:,} of {votes_in_words(total)} {problem}"
    if votes.labels and problem == UNKNOWN_WINNER:
        text += f": {votes.labels_of(wrong)}"
    rows = quoted(problem, opened, options)
    text += f" ({rows})." if rows else "."
    remedy = next((r for end, r in REMEDIES.items() if problem.endswith(end)), "")
    if problem == UNKNOWN_WINNER:
        remedy = remedy_of_labels(votes, wrong)
    elif problem == NO_ANNOTATOR:
        remedy = "Fill it in, or read no annotators: annotator=False."
    rest = " Or leave these votes out: on_invalid='drop'." if n < total else ""
    return f"{text} {remedy}{rest}".replace("  ", " ").strip()


REMEDIES = {
    "not a number of 0 or more": "Weights are numbers such as 0.5.",
    "missing": "Fill it in.",
    "not a finite number": "Features are finite numbers.",
}


def remedy_of_labels(votes: Coded, wrong: Array) -> str:
    """Say how to give unknown labels a meaning; a tie is proposed for no word but its own."""
    n = np.bincount(votes.label[wrong], votes.n[wrong])
    label = votes.labels[int(n.argmax())]
    return (
        f"Say what each label means, such as outcomes={{{shortened(label)!r}: 'model_a'}}; a label means "
        "model_a, model_b, tie, both_bad or unplayed."
    )


def quoted(problem: str, opened: Opened, options: Options) -> str:
    """Return the first rows with a problem: their numbers and values."""
    frame = opened.frame
    if not (isinstance(frame, nw.DataFrame) or frame.implementation.is_polars()):
        return ""
    table = in_polars(frame).collect()
    if "row" not in table.columns:
        table = table.with_row_index("row")
    if {"wins_a", "wins_b"} <= set(table.columns):
        return ""
    rows = table["row"].to_list()
    votes = coded(
        table.drop("row").with_columns(n=pl.lit(1, pl.Int64)),
        opened.sides,
        labels_given(options),
    )
    where = dict(votes.problems())[problem] & ~votes.unplayed
    names = [
        name
        for name in ("a", "b", "winner", "annotator", "weight")
        if name in table.columns
    ]
    shown = []
    for place in np.flatnonzero(where)[:MOST_SHOWN]:
        values = (table[name][int(place)] for name in names)
        text = ", ".join(printable(shortened(str(value), 60)) for value in values)
        shown.append(f"row {rows[place]}: {text}")
    return "; ".join(shown)


def remarks_on(
    source: Frame, header: Header, roles: Roles, options: Options
) -> list[str]:
    """Return what a user may want to know about the columns and rows of a source."""
    remarks = []
    taken = set(roles.values())
    likely = header.first((*WEIGHTS, *TIMES), taken)
    if (
        likely
        and options.weight is None
        and "wins_a" not in roles
        and "rank" not in roles
    ):
        remarks.append(
            f"The column {likely!r} looks like numbers of votes but is not read; weight={likely!r} reads it."
        )
    ties = header.first(TIES, taken)
    if ties and "winner" not in roles and "wins_a" in roles and "ties" not in roles:
        remarks.append(f"The column {ties!r} looks like ties but is not read.")
    if copies := duplicates(source, roles):
        remarks.append(
            f"{copies:,} rows equal another in every column. If they are copies, leave them out: "
            "df.drop_duplicates() in pandas."
        )
    return remarks


def duplicates(source: Frame, roles: Roles) -> int:
    """Return how many rows are copies of another.

    Votes are often equal, so equal rows are called copies only if rows that agree in all
    but the result hardly ever differ in it, and there are columns besides the votes' own.
    """
    schema = source.collect_schema()
    names = [name for name in schema if not is_nested(schema[name])]
    results = {
        c
        for role, c in roles.items()
        if role.startswith(("winner", "wins", "ties", "score", "hot", "rank", "rater"))
    }
    own = results | {
        c
        for role, c in roles.items()
        if role in ("a", "b", "pair", "annotator", "weight")
    }
    if not results or own >= set(names) or "rank" in roles:
        return 0
    if any_is_distinct(source, [name for name in names if name not in own]):
        return 0
    n, u = sizes(source, names)
    if n == u or u < FEW_KINDS:
        return 0
    _, v = sizes(source, [name for name in names if name not in results])
    return n - u if u - v <= RARELY * min(n - u, u) else 0


def any_is_distinct(frame: Frame, names: Sequence[str]) -> bool:
    """Whether some column of a table in Polars never repeats a value, as an id does."""
    if not (isinstance(frame, nw.DataFrame) and frame.implementation.is_polars()):
        return False
    table = frame.to_native()
    head = table.head(ROWS_LOOKED_AT)
    likely = [name for name in names if head[name].n_unique() == len(head)]
    return any(table[name].n_unique() == len(table) for name in likely)


def sizes(frame: Frame, names: Sequence[str]) -> tuple[int, int]:
    """Return the number of rows, and of different rows."""
    if isinstance(frame, nw.DataFrame) and frame.implementation.is_polars():
        table = frame.to_native().select(names)
        return len(table), table.n_unique() if len(
            names
        ) > 1 else table.to_series().n_unique()
    counted = frame.group_by(*names).agg(nw.len().alias("size of the group"))
    row = to_polars(
        counted.select(nw.col("size of the group").sum(), nw.len().alias("groups"))
    )
    n, u = (int(value or 0) for value in row.row(0))
    return n, u


def remarks_on_names(votes: Votes) -> list[str]:
    """Return what the names of competitors and annotators suggest."""
    remarks = []
    for kind, names in (
        ("competitors", votes.competitors),
        ("annotators", votes.annotators),
    ):
        if groups := alike(names):
            pairs = listing(" and ".join(map(repr, group)) for group in groups)
            remarks.append(f"Names of {kind} differ by case or spaces only: {pairs}.")
    return remarks
