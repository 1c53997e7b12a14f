"""What reading notices: columns that are not read, rows that are copies, names alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw

from bayes_arena.arrays import Array
from bayes_arena.errors import listing, plural
from bayes_arena.reading.columns import TIES, TIMES, WEIGHTS, WINNERS, Header, words
from bayes_arena.reading.counting import Coded
from bayes_arena.reading.layouts import Layout
from bayes_arena.reading.options import Options
from bayes_arena.reading.roles import Roles
from bayes_arena.reading.sources import Frame, collected, is_nested
from bayes_arena.said import Note, Said, Use
from bayes_arena.votes.votes import ANNOTATOR, PROMPT, Votes

FEW_KINDS = 5  # least number of distinct rows from which equal rows are called copies
ROWS_LOOKED_AT = 1_000  # at the beginning of a table, to tell ids from labels
RARELY = 0.1  # share of differing results up to which equal rows are copies


def remarks_on_columns(
    header: Header, layout: Layout, roles: Roles, options: Options
) -> tuple[Note, ...]:
    """Return what a user may want to know about the columns of a source."""
    remarks = []
    likely = header.first((*WEIGHTS, *TIMES), roles.taken)
    if likely and options.weight is None and not layout.is_of_numbers:
        remarks.append(unread_weight(likely))
    ties = header.first(TIES, roles.taken)
    if ties and "wins_a" in roles.results and "ties" not in roles.results:
        said = f"The column {ties!r} looks like ties but is not read."
        remarks.append(Note("unread_ties", said))
    if options.winner is None and layout.write is None and "winner" in roles.results:
        remarks += other_winners(header, roles)
    return tuple(remarks)


def unread_weight(column: str) -> Note:
    """Say that a column may hold numbers of votes, and how to read it."""
    text = (
        f"The column {column!r} looks like numbers of votes but is not read",
        ("; ", Use(weight=column), " reads it"),
        ".",
    )
    return Note("unread_weight", text)


def remarks_on_copies(source: Frame, roles: Roles) -> tuple[Note, ...]:
    """Say how many rows are copies, and how to leave them out."""
    copies = duplicates(source, roles)
    if not copies:
        return ()
    equal = "equals" if copies == 1 else "equal"
    said = (
        f"{plural(copies, 'row')} {equal} another in every column. If that is a "
        "mistake, leave copies out: df.drop_duplicates() in pandas."
    )
    return (Note("copies", said),)


def other_winners(header: Header, roles: Roles) -> list[Note]:
    """Say which further columns may hold the winner."""
    winner = roles.results["winner"]
    others = [name for name in header.names if name not in roles.taken]
    others = [name for name in others if " ".join(words(name)) in WINNERS]
    if not others:
        return []
    columns = listing(map(repr, others))
    text = (
        f"The winner was read from {winner!r}, not from {columns}",
        ("; ", Use(winner=others[0]), " reads that"),
        ".",
    )
    return [Note("other_winner", text)]


def remarks_on_gaps(votes: Coded, kept: Array, roles: Roles) -> list[Note]:
    """Say how many votes lack an annotator, or a prompt."""
    pairs, remarks = votes.pairs, []
    columns = {ANNOTATOR: roles.annotator} if pairs.annotators else {}
    if PROMPT in pairs.slices:
        columns[PROMPT] = roles.slices[PROMPT]
    for kind, column in columns.items():
        is_missing = kept & (pairs.level(kind) == pairs.n_levels(kind))
        if n := int(votes.n[is_missing].sum()):
            verb = "has" if n == 1 else "have"
            of = f"{n:,} of {plural(votes.n[kept].sum(), 'vote')}"
            said = f"{of} {verb} no {kind}: {str(column)!r} is empty there."
            remarks.append(Note("gaps", said))
    return remarks


def duplicates(source: Frame, roles: Roles) -> int:
    """Return how many rows are copies of another.

    Votes are often equal, so equal rows are called copies only if rows that agree in all
    but the result hardly ever differ in it, and there are columns besides the votes' own.
    Databases are not searched, as every column would have to be read.
    """
    schema = source.collect_schema()
    names = [name for name in schema if not is_nested(schema[name])]
    results = {*roles.results.values(), *roles.of_annotators.values()}
    usual = replace(roles, slices={}, features={}, prompts=()).taken
    if not results or usual >= set(names) or roles.ranking is not None:
        return 0
    source = collected(source.select(names))
    if not isinstance(source, nw.DataFrame):
        return 0
    if any_is_distinct(source, [name for name in names if name not in usual]):
        return 0
    n, u = len(source), n_kinds(source, names)
    if n == u or u < FEW_KINDS:
        return 0
    v = n_kinds(source, [name for name in names if name not in results])
    return n - u if u - v <= RARELY * min(n - u, u) else 0


def any_is_distinct(frame: nw.DataFrame[Any], names: Sequence[str]) -> bool:
    """Whether some column never repeats a value, as an id does."""
    head = frame.head(ROWS_LOOKED_AT)
    likely = [name for name in names if head[name].n_unique() == len(head)]
    return any(frame[name].n_unique() == len(frame) for name in likely)


def n_kinds(frame: nw.DataFrame[Any], names: Sequence[str]) -> int:
    """Return the number of different rows in some columns."""
    if frame.implementation.is_polars():
        return int(frame.to_native().select(names).hash_rows().n_unique())
    return len(frame.select(*names).unique())


def remarks_on_the_lost(before: Sequence[str], after: Sequence[str]) -> list[Note]:
    """Name the competitors all of whose votes were left out."""
    lost = sorted(set(before) - set(after))
    said = f"All votes on these were left out: {listing(map(repr, lost))}."
    return [Note("left_out", said)] if lost else []


def remarks_on_names(votes: Votes) -> list[Note]:
    """Return what the names of competitors and annotators suggest."""
    remarks = []
    if groups := alike(votes.competitors):
        cast = dict(zip(votes.competitors, votes.votes_by_competitor, strict=True))
        new_names = {
            name: max(group, key=cast.__getitem__) for group in groups for name in group
        }
        new_names = {name: new for name, new in new_names.items() if name != new}
        as_one = ("; ", Use(names=new_names), " reads them as one")
        remarks.append(names_alike("competitors", groups, as_one))
    if groups := alike(votes.annotators):
        remarks.append(names_alike("annotators", groups, ()))
    return remarks


def names_alike(kind: str, groups: Sequence[Sequence[str]], as_one: Said) -> Note:
    """Say which names differ by case or spaces only, and what reads them as one."""
    pairs = listing(" and ".join(map(repr, group)) for group in groups)
    said = f"Names of {kind} differ by case or spaces only: {pairs}"
    return Note("names_alike", (said, as_one, "."))


def alike(names: Sequence[str]) -> list[list[str]]:
    """Return groups of names that differ by case or spaces only."""
    keys = ["".join(without_forms(name).casefold().split()) for name in names]
    if len(set(keys)) == len(keys):
        return []
    groups: dict[str, list[str]] = {}
    for key, name in zip(keys, names, strict=True):
        groups.setdefault(key, []).append(name)
    return [group for group in groups.values() if len(group) > 1]


def without_forms(name: str) -> str:
    """Return a name without differences of form, such as wide letters; ASCII has none."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)
