"""Opening a source: its columns get roles, and what is not one vote a row is rewritten."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import polars as pl

from bayes_arena.errors import VotesError
from bayes_arena.reading.columns import PROMPTS, Header
from bayes_arena.reading.counting import FEATURE, SLICE
from bayes_arena.reading.layouts import (
    Constant,
    Layout,
    Roles,
    annotator_of,
    choose,
)
from bayes_arena.reading.options import Options
from bayes_arena.reading.remarks import not_read, other_winners, remarks_on
from bayes_arena.reading.sources import Frame, in_polars, is_nested, to_polars
from bayes_arena.reading.tables import CANDIDATE, Noticed, split_pairs
from bayes_arena.reading.values import as_text, text_of
from bayes_arena.said import Note, Said, Use
from bayes_arena.votes.votes import ANNOTATOR, PROMPT, kish


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
    remarks : list of Note
        What was noticed.
    unread : dict of str to Note
        Why annotators or prompts are not read.
    """

    frame: Frame
    layout: Layout
    roles: Mapping[str, str]
    remarks: list[Note]
    unread: dict[str, Note]

    @property
    def sides(self) -> tuple[str, str]:
        """What the columns of the competitors are called."""
        return str(self.roles.get("a", "a")), str(self.roles.get("b", "b"))


def open_votes(source: Frame, options: Options) -> Opened:
    """Find the roles of the columns, rewrite records to votes, choose the prompts."""
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
    require_single(header, roles, options)
    source = collect_used(source, roles.values())
    remarks = remarks_on(source, header, roles, options)
    if options.winner is None and layout.write is None and "winner" in roles:
        remarks += other_winners(header, roles)
    frame = one_vote_a_row(select_roles(source, roles), layout, options, remarks)
    opened = Opened(frame, layout, roles, remarks, unread={})
    return with_prompt(opened, options)


def require_single(header: Header, roles: Roles, options: Options) -> None:
    """Refuse columns whose name another column has, in this spelling or another."""
    used = set(roles.values())
    for role, column in roles.items():
        if f"{column}_duplicated_0" in header.names:  # so Polars calls the second
            raise VotesError(
                f"Several columns are called {column!r}. Rename all but one."
            )
        others = [name for name in header.alike(column) if name not in used]
        if others and column not in options.named:
            raise VotesError(two_spellings(role, column, others[0]))


def two_spellings(role: str, column: str, other: str) -> str:
    """Say that two columns may have a role, and how to name one of them."""
    option = PROMPT if role.startswith(CANDIDATE) else role
    if option in (PROMPT, "winner", ANNOTATOR):
        kind = f"the {option}"
        remedy = f"Name one: {option}={column!r} or {option}={other!r}."
    elif option in ("a", "b"):
        kind = "a competitor"
        remedy = "Name both columns of competitors, with a= and b=."
    else:
        kind, remedy = option, "Rename one of them."
    return f"Both {column!r} and {other!r} may hold {kind}. {remedy}"


def layout_of(source: Frame, header: Header, options: Options) -> tuple[Layout, Roles]:
    """Return the layout; a square table whose rows and columns are the same is a matrix."""
    try:
        return choose(header, options)
    except VotesError:
        if options != Options() or not is_square(source, header.names):
            raise
        return choose(header, replace(options, layout="win-matrix"))


def is_square(source: Frame, names: Sequence[str]) -> bool:
    """Whether the first column of a table holds the names of all others."""
    if len(names) < 3:
        return False
    first = nw.col(names[0]).cast(nw.String)
    rows = to_polars(source.select(first).head(len(names))).to_series().to_list()
    stripped = sorted(str(value).strip() for value in rows)
    return stripped == sorted(name.strip() for name in names[1:])


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


def collect_used(frame: Frame, columns: Collection[str]) -> Frame:
    """Collect a lazy frame of Polars: the columns in use and those that can be compared."""
    if not (isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars()):
        return frame
    schema = frame.collect_schema()
    wanted = [
        name for name in schema if name in columns or not schema[name].is_nested()
    ]
    return frame.select(wanted).collect()


def select_roles(frame: Frame, roles: Roles) -> Frame:
    """Select the columns that have a role, named by it; names are never lists or objects."""
    schema = frame.collect_schema()
    used = [name for name in schema if name in roles.values()]
    if nested := [name for name in used if is_nested(schema[name])]:
        table = in_polars(frame.select(*used)).collect()
        frame = nw.from_native(nested_as_json(table, nested))
    columns = []
    for role, column in roles.items():
        value = nw.lit(str(column)) if isinstance(column, Constant) else nw.col(column)
        columns.append(value.alias(role))
    return frame.select(*columns)


def nested_as_json(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Write nested values as JSON."""
    texts = [
        pl.Series(name, [as_text(value) for value in table[name].to_list()], pl.String)
        for name in columns
    ]
    return table.with_columns(texts)


def one_vote_a_row(
    frame: Frame, layout: Layout, options: Options, remarks: list[Note]
) -> Frame:
    """Rewrite a frame to one vote a row, in Polars, if it is not."""
    if layout.write is None and "pair" not in frame.collect_schema().names():
        return frame
    table = in_polars(frame).collect().with_row_index("row")
    if "pair" in table.columns:
        table = split_pairs(table)
    if layout.write is not None:
        table = layout.write(table, Noticed(options.unranked_last, remarks))
    return nw.from_native(table)


def with_prompt(opened: Opened, options: Options) -> Opened:
    """Take the first column of prompts that repeat, and leave the others out."""
    frame = opened.frame
    names = frame.collect_schema().names()
    candidates = [name for name in names if name.startswith(CANDIDATE)]
    chosen = None
    if SLICE + PROMPT not in names and options.prompt is not False:
        chosen = repeated_prompt(opened, candidates)
    frame = frame.drop(*(name for name in candidates if name != chosen))
    if chosen is not None:
        frame = frame.rename({chosen: SLICE + PROMPT})
    return replace(opened, frame=frame)


def repeated_prompt(opened: Opened, candidates: Sequence[str]) -> str | None:
    """Return the first candidate that repeats, unless it has empty cells; say which."""
    for name in candidates:
        is_repeated, n_missing = repetition(opened.frame, name)
        if not is_repeated:
            continue
        column = opened.roles.get(name)
        if column is not None and n_missing:
            opened.unread[PROMPT] = not_read("Prompts", PROMPT, column, n_missing)
            return None
        opened.remarks.append(prompt_remark(column))
        return name
    return None


def prompt_remark(column: str | None) -> Note:
    """Say where prompts were read; without a column each record is one."""
    nothing = Use(prompt=False)
    text: Said = (
        f"Prompts were read from {column!r}",
        ("; ", nothing, " reads none"),
        ".",
    )
    if column is None:
        aside = ("; ", nothing, " takes them apart")
        text = ("Verdicts on one record share a prompt", aside, ".")
    return Note("prompts", text)


def repetition(frame: Frame, column: str) -> tuple[bool, int]:
    """Return whether prompts repeat, and how many votes have none.

    They do if Kish's number of prompts is at most half the votes that have a prompt.
    """
    votes = nw.col("a").count().alias("n")  # blank rows are no votes
    sizes = to_polars(frame.group_by(column).agg(votes))
    prompt = text_of(sizes[column]).cast(pl.String).fill_null("").str.strip_chars()
    n = sizes["n"].to_numpy().astype(float)
    is_missing = (prompt == "").to_numpy()
    known = n[~is_missing]
    is_repeated = len(known) > 0 and kish(known) <= known.sum() / 2
    return is_repeated, int(n[is_missing].sum())
