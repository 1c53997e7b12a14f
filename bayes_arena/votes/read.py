"""Read votes: any source in, checked counts out.

The group-by runs in the engine that holds the votes; only counts come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import narwhals as nw
import numpy as np
import polars as pl

from bayes_arena.arrays import Array
from bayes_arena.errors import VotesError, listing
from bayes_arena.votes.columns import ANNOTATORS, PROMPTS, TIES, TIMES, WINNERS, Header
from bayes_arena.votes.counting import FEATURE, SLICE, Coded, alike, coded
from bayes_arena.votes.labels import BOTH_BAD, UNPLAYED
from bayes_arena.votes.sources import Frame, in_polars, open_source, readable, to_polars
from bayes_arena.votes.votes import PROMPT, TIE, Votes

type Columns = str | Sequence[str]


@dataclass(frozen=True)
class Options:
    """How votes are to be read: the options of ``read_votes``."""

    layout: str | None = None
    a: str | None = None
    b: str | None = None
    winner: Columns | None = None
    annotator: str | Literal[False] | None = None
    weight: str | None = None
    weights: str = "frequency"
    prompt: str | Literal[False] | None = None
    slices: Mapping[str, str] | Sequence[str] = ()
    features: Mapping[str, Columns] | Sequence[str] = ()
    outcomes: Mapping[str, str] | None = None
    both_bad: str = "tie"
    baseline: str | None = None
    judge: str | None = None
    on_invalid: str = "raise"


@dataclass(frozen=True)
class Opened:
    """A source whose columns are named by their roles."""

    frame: Frame
    sides: tuple[str, str]
    sided: bool
    remarks: list[str] = field(default_factory=list)


def votes_from(source: object, **columns: Any) -> Votes:
    """Return Votes as they are, and read anything else."""
    return (
        source
        if isinstance(source, Votes) and not columns
        else read_votes(source, **columns)
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
    slices: Mapping[str, str] | Sequence[str] = (),
    features: Mapping[str, Columns] | Sequence[str] = (),
    outcomes: Mapping[str, str] | None = None,
    both_bad: Literal["tie", "drop"] = "tie",
    baseline: str | None = None,
    judge: str | None = None,
    on_invalid: Literal["raise", "drop"] = "raise",
) -> Votes:
    """Read votes from a file, a dataframe or records."""
    options = Options(
        layout, a, b, winner, annotator, weight, weights, prompt, slices, features,
        outcomes, both_bad, baseline, judge, on_invalid,
    )  # fmt: skip
    with readable(source):
        opened = open_votes(open_source(source), options)
        groups = grouped(opened.frame)
        return counted(coded(groups, opened.sides, outcomes), opened, options)


def open_votes(frame: Frame, options: Options) -> Opened:
    """Find the roles of the columns, and name these by them."""
    header = Header.of(frame.collect_schema().names())
    roles: dict[str, str] = {}
    pair = (
        (header.column(options.a, "a"), header.column(options.b, "b"))
        if options.a and options.b
        else header.pair_of_competitors()
    )
    counts, won = header.counts(), header.winner_and_loser()
    sided = True
    winner = (
        header.column(options.winner, "winner")
        if options.winner
        else header.first(WINNERS, pair or ())
    )
    if pair and winner:
        roles = {"a": pair[0], "b": pair[1], "winner": winner}
    elif pair and counts:
        roles = dict(
            zip(("a", "b", "wins_a", "wins_b", "ties"), (*pair, *counts), strict=False)
        )
        sided = "winner" in counts[0].casefold()
    elif won:
        roles, sided = {"a": won[0], "b": won[1]}, False
    else:
        raise VotesError(
            f"The columns do not tell who met and who won: {listing(header.names)}."
        )
    if options.annotator is not False:
        named = options.annotator and header.column(options.annotator, "annotator")
        found = named or header.first(ANNOTATORS, roles.values())
        if found:
            roles["annotator"] = found
    if options.weight:
        roles["weight"] = header.column(options.weight, "weight")
    frame, remarks = collected(frame), []
    prompt = prompt_of(frame, header, options, roles.values())
    if prompt:
        roles[SLICE + PROMPT] = prompt
    for name, column in as_mapping(options.slices).items():
        roles[SLICE + name] = header.column(column, "slices")
    for name, column in as_mapping(options.features).items():
        for side, each in enumerate([column] if isinstance(column, str) else column):
            roles[f"{FEATURE}{side}:{name}"] = header.column(each, "features")
    return Opened(
        frame.select(*(nw.col(column).alias(role) for role, column in roles.items())),
        (roles["a"], roles["b"]),
        sided,
        remarks,
    )


def as_mapping(given: Mapping[str, Any] | Sequence[str]) -> dict[str, Any]:
    """Return columns by the name of the slice or feature, in the order of names."""
    given = [given] if isinstance(given, str) else given
    named = given if isinstance(given, Mapping) else {name: name for name in given}
    return dict(sorted(named.items()))


def collected(frame: Frame) -> Frame:
    """Collect a lazy frame of Polars, whose columns are looked at more than once."""
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
        return frame.collect()
    return frame


def prompt_of(frame: Frame, header: Header, options: Options, taken: Any) -> str | None:
    """Return the column of prompts: named, or the first that repeats enough."""
    if options.prompt is False:
        return None
    if options.prompt is not None:
        return header.column(options.prompt, "prompt")
    for name in PROMPTS:
        column = header.by_words.get(name)
        if column is not None and column not in taken and repeats(frame, column):
            return column
    return None


def repeats(frame: Frame, column: str) -> bool:
    """Whether Kish's number of prompts, (sum n)^2 / sum n^2, is at most half the votes."""
    sizes = to_polars(frame.group_by(column).agg(nw.len().alias("n")))
    if sizes[column].null_count():
        return False
    n = sizes["n"].to_numpy().astype(float)
    return bool(len(n) > 1 and n.sum() ** 2 / (n**2).sum() <= n.sum() / 2)


def grouped(frame: Frame) -> pl.DataFrame:
    """Return the distinct rows, and how often each occurs: ``n``."""
    schema = frame.collect_schema()
    names = schema.names()
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
    is_blank = pl.all_horizontal(pl.col(name).is_null() for name in names)
    return groups.filter(~is_blank)


def counted(votes: Coded, opened: Opened, options: Options) -> Votes:
    """Check coded votes and sum them."""
    dropped: Counter[str] = Counter()
    keep = ~votes.unplayed
    dropped["not played"] = int(votes.n[~keep].sum())
    is_bad = votes.outcome == BOTH_BAD
    if options.both_bad == "drop":
        dropped["both bad"] = int(votes.n[is_bad].sum())
        keep &= ~is_bad
    for problem, where in votes.problems():
        wrong = where & keep
        if not wrong.any():
            continue
        if options.on_invalid == "raise":
            raise VotesError(complaint(problem, wrong, votes, opened))
        dropped[problem] += int(votes.n[wrong].sum())
        keep &= ~where
    keep &= votes.votes > 0
    if not keep.any():
        raise VotesError("No vote is left. Check that it is the right source.")
    votes = replace(votes, outcome=np.where(is_bad, TIE, votes.outcome))
    if options.weights == "importance":
        scale = votes.n[keep].sum() / votes.votes[keep].sum()
        votes = replace(votes, votes=votes.votes * scale)
    remarks = [*opened.remarks, *votes.remarks]
    result = votes.summed(np.flatnonzero(keep), sided=opened.sided)
    for group in alike(result.competitors):
        remarks.append(
            f"These names differ only by case or spaces: {listing(map(repr, group))}."
        )
    return replace(
        result, dropped={k: v for k, v in dropped.items() if v}, remarks=tuple(remarks)
    )


def complaint(problem: str, wrong: Array, votes: Coded, opened: Opened) -> str:
    """Say what is wrong with some votes."""
    return f"In {int(votes.n[wrong].sum())} votes {problem}."


_ = UNPLAYED, TIES, TIMES, in_polars
