"""Covariates of votes, what they carry besides competitors, annotator and result: prompts, other slices, and features.

Prompts are recognised where a column has a usual name and answers repeat enough to be distinguished from noise
(:mod:`bayes_arena.votes.records`), times where a column has a usual name and they can be read and differ;
slices and features are read only if named.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import narwhals as nw
import polars as pl

from bayes_arena.errors import ColumnError, PromptsWarning, UnusedColumnWarning, listing, warn
from bayes_arena.markup import percent
from bayes_arena.votes.layouts.columns import column_names, require_columns, spellings
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, FEATURE, PROMPT, SLICE, TIME, Period
from bayes_arena.votes.periods import chosen_period, late, moments, name_of
from bayes_arena.votes.reading.decoding import as_text, first_of, normalised
from bayes_arena.votes.records import FEWEST, SHARE, repeated_answers
from bayes_arena.votes.sources.frames import Frame, comparable_columns, to_polars
from bayes_arena.votes.summing import build_cells

PROMPTS = ("prompt", "prompt_id", "question_id", "question", "instruction", "uid", "item", "item_id", "task_id")
"""Columns of prompts; the first present is taken. ``prompt`` comes first, since a ``question_id`` beside it may be
the id of a vote or of a comparison."""
TIMES = ("tstamp", "timestamp", "created_at", "date", "datetime")
"""Columns of times; the first present is taken. A column ``time`` may as well say how long a vote took."""
TURN = "turn"
"""Column of the turn within a prompt: prompt and turn together are what was answered."""

SliceColumns = Mapping[str, str | Sequence[str]] | Sequence[str]
"""Columns of slices by name; each column in a sequence is a slice of that name."""
FeatureColumns = Mapping[str, str | Sequence[str]] | Sequence[str]
"""Columns of features by name, of differences or of a and b; each column in a sequence is a feature of that name."""


@dataclass(frozen=True)
class Covariates:
    """Columns of the covariates of votes.

    Attributes
    ----------
    slices : mapping of str to tuple of str
        By name of the slice, the columns that together make its levels.
    features : mapping of str to tuple of str
        By name of the feature, the column of differences, or those of a and b.
    recognised : frozenset of str
        Slices that were recognised rather than named, ``"prompt"`` and ``"time"``: they are then optional.
    timed : bool
        Whether the slice ``"time"`` has the times of the votes, to be read as periods.
    """

    slices: Mapping[str, tuple[str, ...]]
    features: Mapping[str, tuple[str, ...]]
    recognised: frozenset[str] = frozenset()
    timed: bool = False

    @property
    def roles(self) -> dict[str, str]:
        """Role to column, as of :func:`~bayes_arena.votes.layouts.columns.recognise_roles`."""
        return {
            role: column
            for kind, columns in ((SLICE, self.slices), (FEATURE, self.features))
            for name in columns
            for role, column in zip(_roles(kind + name, columns[name]), columns[name], strict=True)
        }

    @property
    def named(self) -> Covariates:
        """The covariates that were named; only these can make a vote invalid."""
        return self.without(self.recognised)

    def without(self, names: Collection[str]) -> Covariates:
        """Return the others than these slices."""
        left = {name: columns for name, columns in self.slices.items() if name not in names}
        timed = self.timed and TIME in left
        return replace(self, slices=left, recognised=self.recognised.difference(names), timed=timed)


def find_covariates(
    frame: Frame,
    taken: Collection[str],
    *,
    prompt: str | Sequence[str] | Literal[False] | None,
    time: str | Literal[False] | None,
    period: Period | None,
    slices: SliceColumns,
    features: FeatureColumns,
) -> Covariates:
    """Find the columns of prompts, slices and features; ``taken`` ones have other roles, and are not recognised."""
    wanted, numbers = by_name(slices), by_name(features)
    if reserved := {PROMPT, ANNOTATOR, COMPETITOR} & set(wanted):
        raise ColumnError(
            f"A slice cannot be called {listing(map(repr, sorted(reserved)))}. Name prompts with prompt= (--prompt), "
            "annotators with annotator= (--annotator)."
        )
    if time and TIME in wanted:
        raise ColumnError(f"There cannot be a slice {TIME!r} beside time={time!r}. Give the slice another name.")
    if time:
        wanted[TIME] = (time,)
    if empty := [name for name, columns in (wanted | numbers).items() if not columns]:
        raise ColumnError(f"No column is given for {listing(map(repr, empty))}. Name one.")
    for name, columns in numbers.items():
        if len(columns) > 2:
            raise ColumnError(f"The feature {name!r} takes one column or two (of a, of b), not {len(columns)}.")
    taken = {*taken, *itertools.chain(*wanted.values(), *numbers.values())}
    like = _usual(frame, taken, (*PROMPTS, TURN, *TIMES))
    optional = dict[str, tuple[str, ...]]()
    if prompt is None and (found := [like[name] for name in PROMPTS if name in like]):
        optional[PROMPT] = (found[0], *([like[TURN]] if TURN in like else []))
    if time is None and TIME not in wanted and (found := [like[name] for name in TIMES if name in like]):
        optional[TIME] = (found[0],)
    if period and not time and TIME not in optional:
        raise ColumnError(
            f"Periods need the times of the votes, and no column is called {listing(TIMES)}, as these usually are. "
            "Name theirs with time='...' (--time COLUMN)."
        )
    named = {PROMPT: _columns(prompt)} if prompt else {}
    recognised = frozenset(optional).difference([TIME] if period else ())
    carried = Covariates(named | optional | wanted, numbers, recognised, timed=bool(time) or TIME in optional)
    require_columns(carried.roles.values(), column_names(frame))
    return carried


def _usual(frame: Frame, taken: Collection[str], names: Collection[str]) -> dict[str, str]:
    """Return the columns that are called so and not taken, by the name."""
    spelling, free = spellings(column_names(frame)), set(comparable_columns(frame)).difference(taken)
    return {name: spelling[name] for name in names if spelling.get(name) in free}


def can_repeat(frame: Frame, carried: Covariates) -> bool:
    """Whether there are few enough different prompts for half of the votes to be on prompts with several votes.

    A column with an id for every vote, which would make as many groups as votes, is ruled out here by counting: with n
    votes, half of them on prompts of two votes or more, there are at most 3 n / 4 different prompts.
    """
    prompt, most = carried.slices[PROMPT][0], 1 - SHARE / 2
    if frame.implementation.is_polars() and frame.collect_schema()[prompt] == nw.String:
        estimate = nw.to_native(frame).lazy().select(pl.len(), pl.col(prompt).approx_n_unique())
        rows, prompts = estimate.collect(engine="streaming").row(0)
        if prompts > (1 + most) / 2 * rows:  # accurate to some percent, in a fifth of the time
            return False
    rows, prompts = to_polars(frame.select(rows=nw.len(), prompts=nw.col(prompt).n_unique())).row(0)
    return bool((prompts or 0) <= most * rows + 1)  # SQL gives null as the sum of no rows


def with_covariates(groups: pl.DataFrame, carried: Covariates, *, normalise: bool) -> pl.DataFrame:
    """Add slices as text and features as numbers to decoded groups of votes, and the problems found in them."""

    def text_of(role: str) -> pl.Expr:
        text = as_text(groups, role)
        return normalised(text) if normalise else text

    slices = {
        SLICE + name: _joined([text_of(role) for role in _roles(SLICE + name, columns)])
        for name, columns in carried.slices.items()
    }
    numbers = {
        FEATURE + name: [pl.col(role).cast(pl.Float64, strict=False) for role in _roles(FEATURE + name, columns)]
        for name, columns in carried.features.items()
    }
    features = {name: (of[0] - of[1] if len(of) == 2 else of[0]) + 0.0 for name, of in numbers.items()}  # no -0.0
    groups = groups.with_columns(**slices, **features)
    named = carried.named
    missing = {name: pl.col(SLICE + name).is_null() for name in named.slices}
    bad = [pl.col(name).is_null() | ~pl.col(name).is_finite() for name in features]
    problems = {"missing prompt": missing.pop(PROMPT)} if PROMPT in missing else {}
    problems["missing slice"] = pl.any_horizontal(pl.lit(False), *missing.values())
    problems["bad feature"] = pl.any_horizontal(pl.lit(False), *bad)
    groups = groups.with_columns(problem=pl.coalesce("problem", first_of(problems)))
    if not carried.timed:
        return groups
    text, when = pl.col(SLICE + TIME), moments(pl.col(SLICE + TIME))
    is_late = when > late()
    untimely = {"not a time": text.is_not_null() & when.is_null(), "time in the future": is_late}
    moment = pl.when(~is_late).then(when).alias(SLICE + TIME)
    return groups.with_columns(moment, problem=pl.coalesce("problem", first_of(untimely if named.timed else {})))


def settle_time(votes: pl.DataFrame, carried: Covariates, period: Period | None) -> pl.DataFrame:
    """Replace the moments of valid votes by the names of their periods, chosen unless they are given.

    Times that were recognised are kept if every vote has one, and they are of several periods. A column without any
    time only has a name like one of times.
    """
    moment, competitors = votes[SLICE + TIME], pl.concat([votes["a"].unique(), votes["b"].unique()]).n_unique()
    optional, (column,) = TIME in carried.recognised, carried.slices[TIME]
    unread = votes.filter(moment.is_null())
    if optional and unread.height == votes.height:
        return votes.drop(SLICE + TIME)
    if optional and unread.height:
        (role,) = _roles(SLICE + TIME, (column,))
        said = unread.select(as_text(unread, role).sort(nulls_last=True).first()).item()
        such = "it is empty" if said is None else f"it is no time until now, such as {said!r}"
        text = f"Column {column} looks like the times but is not read, as {such} in {unread['n'].sum()} votes."
        remedy = f"Read it with time={column!r} (--time {column}), which says what to correct"
        warn(f"{text} {remedy}, or silence this with time=False (--no-time).", UnusedColumnWarning)
        return votes.drop(SLICE + TIME)
    period = period or chosen_period(moment, int(votes["n"].sum()), competitors)
    named = votes.with_columns(name_of(pl.col(SLICE + TIME), period))
    return votes.drop(SLICE + TIME) if optional and named[SLICE + TIME].n_unique() < 2 else named


def settle_prompt(votes: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    """Keep prompts recognised in ``columns`` if answers to them repeat enough, and warn of what was done."""
    prompt = pl.col(SLICE + PROMPT)
    named = repr(columns[0] if len(columns) == 1 else list(columns))
    options = " ".join(f"--prompt {column}" for column in columns)
    silent = "prompt=False (--no-prompt)"
    if n_empty := votes.filter(prompt.is_null())["n"].sum():
        text = f"Column {listing(columns)} looks like the prompt but is empty in {n_empty} votes, so it is not read. "
        warn(f"{text}Fill it in, or silence this with prompt=False (--no-prompt).", UnusedColumnWarning)
        return votes.drop(SLICE + PROMPT)
    if _are_votes(votes):
        return votes.drop(SLICE + PROMPT)
    found = repeated_answers(build_cells(votes, dropped={}, sided=False))
    if found.enough:
        text = f"Read {found.prompts} prompts from {listing(columns)}: {found.with_two} answers have two votes or more."
        confirm = f"To confirm: {options}, or read_votes(..., prompt={named})"
        warn(f"{text} {confirm}; without prompts: --no-prompt, or prompt=False.", PromptsWarning)
        return votes
    why = (
        "it is the same in all votes"
        if found.prompts == 1
        else f"too few answers repeat: {found.with_two} have two votes or more ({FEWEST} would do), and "
        f"{percent(found.share)} of the votes are on prompts with such an answer ({percent(SHARE)} would do)"
    )
    text = f"Column {listing(columns)} looks like the prompt but is not read, as {why}."
    warn(f"{text} Read it with prompt={named} ({options}), or silence this with {silent}.", UnusedColumnWarning)
    return votes.drop(SLICE + PROMPT)


def _are_votes(votes: pl.DataFrame) -> bool:
    """Whether a column that looks like prompts holds ids of votes, some of them repeated: copies never differ.

    Votes on one prompt by several annotators, in both orders or with several winners do differ.
    """
    shared = votes.filter(pl.sum("n").over(SLICE + PROMPT) > 1)
    of_vote = [name for name in ("a", "b", "annotator", "outcome", "score") if name in votes.columns]
    return shared.n_unique([SLICE + PROMPT, *of_vote]) == shared[SLICE + PROMPT].n_unique()


def _roles(name: str, columns: Sequence[str]) -> list[str]:
    """Return the names of the raw columns of a slice or feature."""
    return [f"{place} of {name}" for place in range(len(columns))]


def _columns(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def by_name(given: Mapping[str, str | Sequence[str]] | Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return columns by the name of the slice or feature, sorted by it."""
    named = given if isinstance(given, Mapping) else {name: name for name in _columns(given)}
    return {name: _columns(named[name]) for name in sorted(named)}


def _joined(parts: list[pl.Expr]) -> pl.Expr:
    """Join several columns by slashes, so that different rows stay different; null if one of them is."""
    if len(parts) == 1:
        return parts[0]
    return pl.concat_str([part.str.replace_all(r"([/\\])", r"\${1}") for part in parts], separator="/")
