"""Opening a source: its columns get roles, and what is not one vote a row is rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import narwhals as nw
import polars as pl

from bayes_arena.errors import VotesError
from bayes_arena.reading.choosing import choose
from bayes_arena.reading.columns import GAMES, PROMPTS, Header
from bayes_arena.reading.layouts import Layout, annotator_of
from bayes_arena.reading.nested import with_nested_columns
from bayes_arena.reading.options import Options
from bayes_arena.reading.remarks import remarks_on_columns
from bayes_arena.reading.roles import (
    RECORD,
    ROW,
    Constant,
    Roles,
    prompt_column,
    slice_column,
)
from bayes_arena.reading.sheet import Sheet
from bayes_arena.reading.sources import (
    Frame,
    collected,
    in_polars,
    is_nested,
    to_polars,
)
from bayes_arena.reading.tables import split_pairs, without_headers, without_mirrors
from bayes_arena.reading.values import as_text, text_of
from bayes_arena.said import Note, Said, Use, joined
from bayes_arena.votes.votes import ANNOTATOR, PROMPT, kish


@dataclass(frozen=True)
class Opened:
    """A source whose columns are called by their roles.

    Attributes
    ----------
    source : narwhals frame
        As it was opened, with all columns.
    frame : narwhals frame
        One vote a row; ``row`` is the number of the record where a layout rewrote it.
    header : Header
    layout : Layout
    roles : Roles
    remarks : tuple of Note
        What was noticed.
    file : str
        The path of the source, if it is one file with a header.
    """

    source: Frame
    frame: Frame
    header: Header
    layout: Layout
    roles: Roles
    remarks: tuple[Note, ...]
    file: str = ""


def open_votes(source: Frame, options: Options, file: str = "") -> Opened:
    """Find the roles of the columns, rewrite records to votes, choose the prompts."""
    source = with_nested_columns(source, options)
    sheet = Sheet.of(source, file)
    layout, roles = choose(sheet, options)
    roles = with_further_roles(roles, sheet, options, layout)
    require_single(sheet.header, roles, options)
    remarks = remarks_on_columns(sheet.header, layout, roles, options)
    frame = select_roles(source, roles)
    if roles.prompts:  # which are looked at before votes are counted
        frame = collected(frame)
    opened = Opened(source, frame, sheet.header, layout, roles, remarks, file)
    return with_prompt(one_vote_a_row(opened, options), options)


def with_further_roles(
    roles: Roles, sheet: Sheet, options: Options, layout: Layout
) -> Roles:
    """Return roles with annotators, weights, slices, features, and candidates for prompts."""
    header = sheet.header
    if annotator := annotator_of(sheet, options, roles):
        roles = replace(roles, annotator=annotator)
    if options.weight is not None:
        roles = replace(roles, weight=header.column(options.weight, "weight"))
    slices = {
        name: header.column(column, "slices")
        for name, column in options.by_role("slices").items()
    }
    if options.prompt:
        slices[PROMPT] = header.column(options.prompt, "prompt")
    features = {
        name: tuple(header.column(c, "features") for c in columns_of_feature(column))
        for name, column in options.by_role("features").items()
    }
    roles = replace(roles, slices=slices, features=features)
    if layout.has_mirrors:
        games = [header.by_words.get(name) for name in GAMES]
        roles = replace(roles, games=tuple(filter(None, games)))
    return replace(roles, prompts=prompts_of(header, options, layout, roles))


def columns_of_feature(column: str | Sequence[str]) -> Sequence[str]:
    """Return the column of differences, or those of both answers."""
    return [column] if isinstance(column, str) else column


def prompts_of(
    header: Header, options: Options, layout: Layout, roles: Roles
) -> tuple[str, ...]:
    """Return the columns that may hold the prompts; those of slices may, too."""
    if options.prompt is False or PROMPT in roles.slices:
        return ()
    names = dict.fromkeys([*PROMPTS, *layout.prompts])
    columns = [header.by_words[name] for name in names if name in header.by_words]
    used = replace(roles, slices={}).taken
    return tuple(column for column in columns if column not in used)


def require_single(header: Header, roles: Roles, options: Options) -> None:
    """Refuse columns whose name another column has, in this spelling or another."""
    used = roles.taken
    for role, column in roles.columns().items():
        if f"{column}_duplicated_0" in header.names:  # so Polars calls the second
            raise VotesError(
                f"Several columns are called {column!r}. Rename all but one."
            )
        if isinstance(column, Constant) or column in options.named:
            continue
        others = [name for name in header.alike(column) if name not in used]
        if others:
            role = PROMPT if column in roles.prompts else role
            raise VotesError(two_spellings(role, column, others[0]))


def two_spellings(role: str, column: str, other: str) -> Said:
    """Say that two columns may have a role, and how to name one of them."""
    if role in (PROMPT, "winner", ANNOTATOR):
        kind = f"the {role}"
        one, two = Use(**{role: column}), Use(**{role: other})
        remedy: Said = ("Name one: ", one, " or ", two, ".")
    elif role in ("a", "b"):
        kind = "a competitor"
        remedy = ("Name both columns of competitors, with ", Use("a"), " and ")
        remedy += (Use("b"), ".")
    else:
        kind, remedy = role, "Rename one of them."
    return joined(f"Both {column!r} and {other!r} may hold {kind}. ", remedy)


def select_roles(frame: Frame, roles: Roles) -> Frame:
    """Select the columns that have a role, called by it; names are never lists or objects."""
    schema = frame.collect_schema()
    taken = roles.taken
    used = [name for name in schema if name in taken]
    if nested := [name for name in used if is_nested(schema[name])]:
        table = in_polars(frame.select(*used)).collect()
        frame = nw.from_native(nested_as_json(table, nested))
    columns = []
    for role, column in roles.columns().items():
        value = nw.col(column) if isinstance(column, str) else nw.lit(column.value)
        columns.append(value.alias(role))
    return frame.select(*columns)


def nested_as_json(table: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Write nested values as JSON."""
    texts = [
        pl.Series(name, [as_text(value) for value in table[name].to_list()], pl.String)
        for name in columns
    ]
    return table.with_columns(texts)


def one_vote_a_row(opened: Opened, options: Options) -> Opened:
    """Rewrite a frame to one vote a row, in Polars, if it is not."""
    layout, roles = opened.layout, opened.roles
    if layout.write is None and roles.pair is None and not roles.games:
        return opened
    table = in_polars(opened.frame).collect().with_row_index(ROW)
    plain = without_headers(table, roles)
    table, remarks = plain.table, (*opened.remarks, *plain.notes)
    if roles.pair is not None:
        table = split_pairs(table)
    once = without_mirrors(table, roles)
    table, remarks = once.table, (*remarks, *once.notes)
    if layout.write is not None:
        written = layout.write(table, roles, options.unranked_last)
        table = written.table
        remarks += written.notes
    return replace(opened, frame=nw.from_native(table), remarks=remarks)


def with_prompt(opened: Opened, options: Options) -> Opened:
    """Take the first candidate for the prompts that repeats, and leave the others out."""
    candidates = candidates_for_prompts(opened)
    frame = opened.frame.drop(*candidates)
    if options.prompt is False or PROMPT in opened.roles.slices:
        return replace(opened, frame=frame)
    for name, column in candidates.items():
        if repeats(opened.frame, name):
            others = [other for other in candidates if other != name]
            frame = opened.frame.drop(*others).rename({name: slice_column(PROMPT)})
            slices = {**opened.roles.slices, PROMPT: column}
            roles = replace(opened.roles, slices=slices)
            return replace(opened, frame=frame, roles=roles)
    return replace(opened, frame=frame)


def candidates_for_prompts(opened: Opened) -> dict[str, str | Constant]:
    """Return the columns of a frame that may hold the prompts, and where they come from."""
    candidates: dict[str, str | Constant] = {
        prompt_column(place): column
        for place, column in enumerate(opened.roles.prompts)
    }
    if RECORD in opened.frame.collect_schema().names():
        candidates[RECORD] = Constant("the record")
    return candidates


def repeats(frame: Frame, column: str) -> bool:
    """Whether prompts repeat: Kish's number is at most half the votes that have one."""
    votes = nw.col("a").count().alias("n")  # blank rows are no votes
    sizes = to_polars(frame.group_by(column).agg(votes))
    prompt = text_of(sizes[column]).cast(pl.String).fill_null("").str.strip_chars()
    n = sizes["n"].to_numpy().astype(float)[(prompt != "").to_numpy()]
    return len(n) > 0 and kish(n) <= n.sum() / 2
