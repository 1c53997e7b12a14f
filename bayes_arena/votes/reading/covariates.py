"""Covariates of votes, what they carry besides competitors, annotator and result: prompts, other slices, and features.

Prompts are recognised where a column has a usual name and answers repeat enough to be distinguished from noise
(:mod:`bayes_arena.votes.repeated_answers`); slices and features are read only if named.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import narwhals as nw
import polars as pl

from bayes_arena.errors import PACKAGE, ColumnError, PromptsWarning, UnusedColumnWarning, listing
from bayes_arena.votes.layouts.columns import column_names, require_columns, spellings
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, FEATURE, PROMPT, SLICE, TIME, Period
from bayes_arena.votes.periods import chosen_period, late, moments, name_of
from bayes_arena.votes.reading.decoding import as_text, normalised
from bayes_arena.votes.repeated_answers import FEWEST, SHARE, repeated_answers
from bayes_arena.votes.sources.frames import Frame, comparable_columns, to_polars
from bayes_arena.votes.summing import build_cells

PROMPTS = ("prompt", "prompt_id", "question_id", "question", "instruction", "uid", "item", "item_id", "task_id")
"""Columns of prompts; the first present is taken. ``prompt`` comes first, since a ``question_id`` beside it may be
the id of a vote or of a comparison."""
TIMES = ("tstamp", "timestamp", "created_at", "date", "time", "datetime")
"""Columns of times; the first present is taken."""
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
    recognised : bool
        Whether the prompt was recognised rather than named: it is then optional.
    timed : bool
        Whether the slice ``"time"`` has the times of the votes, to be read as periods.
    """

    slices: Mapping[str, tuple[str, ...]]
    features: Mapping[str, tuple[str, ...]]
    recognised: bool = False
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
        if not self.recognised:
            return self
        return replace(self, slices={k: v for k, v in self.slices.items() if k != PROMPT}, recognised=False)


def find_covariates(
    frame: Frame,
    taken: Collection[str],
    *,
    prompt: str | Sequence[str] | Literal[False] | None,
    time: str | bool | None,
    slices: SliceColumns,
    features: FeatureColumns,
) -> Covariates:
    """Find the columns of prompts, slices and features.

    Parameters
    ----------
    frame : narwhals frame
        The whole source.
    taken : collection of str
        Columns of other roles, which are not recognised as prompts.
    prompt, time, slices, features
        As for :func:`~bayes_arena.read_votes`.

    Raises
    ------
    ColumnError
        If a column is absent, a slice has a reserved name, or no column has the usual name of times.
    """
    wanted, numbers = by_name(slices), by_name(features)
    if reserved := {PROMPT, ANNOTATOR, COMPETITOR} & set(wanted):
        raise ColumnError(
            f"A slice cannot be called {listing(map(repr, sorted(reserved)))}. Name prompts with prompt= (--prompt), "
            "annotators with annotator= (--annotator)."
        )
    if time and TIME in wanted:
        raise ColumnError(f"There cannot be a slice {TIME!r} beside time={time!r}. Give the slice another name.")
    if time:
        wanted[TIME] = (_recognised_time(frame) if time is True else str(time),)
    if empty := [name for name, columns in (wanted | numbers).items() if not columns]:
        raise ColumnError(f"No column is given for {listing(map(repr, empty))}. Name one.")
    for name, columns in numbers.items():
        if len(columns) > 2:
            raise ColumnError(f"The feature {name!r} takes one column or two (of a, of b), not {len(columns)}.")
    taken = {*taken, *itertools.chain(*wanted.values(), *numbers.values())}
    found = _recognised_prompt(frame, taken) if prompt is None else _columns(prompt or ())
    recognised = prompt is None and bool(found)
    carried = Covariates(({PROMPT: found} if found else {}) | wanted, numbers, recognised, timed=bool(time))
    require_columns(carried.roles.values(), column_names(frame))
    return carried


def _recognised_time(frame: Frame) -> str:
    """Return the column that has a usual name of times."""
    spelling = spellings(column_names(frame))
    if not (found := [spelling[name] for name in TIMES if name in spelling]):
        raise ColumnError(
            f"No column is called {listing(TIMES)}, as times usually are. Name theirs with time='...' (--time COLUMN)."
        )
    return found[0]


def _recognised_prompt(frame: Frame, taken: Collection[str]) -> tuple[str, ...]:
    """Return the columns that look like the prompts."""
    spelling = spellings(column_names(frame))
    free = set(comparable_columns(frame)).difference(taken)
    found = [spelling[name] for name in PROMPTS if spelling.get(name) in free]
    turns = [spelling[TURN]] if spelling.get(TURN) in free else []
    return (found[0], *turns) if found else ()


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
    """Add slices as text and features as numbers to groups of votes, and the problems found in them.

    Parameters
    ----------
    groups : polars.DataFrame
        From :func:`~bayes_arena.votes.reading.decoding.decode`, with columns of the roles of ``carried``.
    normalise : bool
        Whether names are normalised.
    """
    slices = {
        SLICE + name: _joined([_text(groups, role, normalise) for role in _roles(SLICE + name, columns)])
        for name, columns in carried.slices.items()
    }
    numbers = {
        FEATURE + name: [pl.col(role).cast(pl.Float64, strict=False) for role in _roles(FEATURE + name, columns)]
        for name, columns in carried.features.items()
    }
    features = {name: (of[0] - of[1] if len(of) == 2 else of[0]) + 0.0 for name, of in numbers.items()}  # no -0.0
    groups = groups.with_columns(**slices, **features)
    missing = [pl.col(SLICE + name).is_null() for name in carried.named.slices if name != PROMPT]
    no_prompt = pl.col(SLICE + PROMPT).is_null() if PROMPT in carried.named.slices else pl.lit(False)
    bad = [pl.col(name).is_null() | ~pl.col(name).is_finite() for name in features]
    wrong = (
        pl.when(no_prompt)
        .then(pl.lit("missing prompt"))
        .when(pl.any_horizontal(pl.lit(False), *missing))
        .then(pl.lit("missing slice"))
        .when(pl.any_horizontal(pl.lit(False), *bad))
        .then(pl.lit("bad feature"))
    )
    groups = groups.with_columns(problem=pl.coalesce("problem", wrong))
    if not carried.timed:
        return groups
    text, when = pl.col(SLICE + TIME), moments(pl.col(SLICE + TIME))
    untimely = pl.when(text.is_not_null() & when.is_null()).then(pl.lit("not a time"))
    too_late = untimely.when(when > late()).then(pl.lit("time in the future"))
    return groups.with_columns(when.alias(SLICE + TIME), problem=pl.coalesce("problem", too_late))


def settle_time(votes: pl.DataFrame, period: Period | None) -> pl.DataFrame:
    """Replace the moments of valid votes by the names of their periods, chosen unless they are given."""
    moment, competitors = votes[SLICE + TIME], pl.concat([votes["a"].unique(), votes["b"].unique()]).n_unique()
    period = period or chosen_period(moment, int(votes["n"].sum()), competitors)
    return votes.with_columns(name_of(pl.col(SLICE + TIME), period))


def settle_prompt(votes: pl.DataFrame, columns: tuple[str, ...]) -> pl.DataFrame:
    """Keep recognised prompts if answers to them repeat enough, and warn of what was done.

    Parameters
    ----------
    votes : polars.DataFrame
        Valid votes.
    columns : tuple of str
        Columns of the prompts.
    """
    prompt = pl.col(SLICE + PROMPT)
    named = repr(columns[0] if len(columns) == 1 else list(columns))
    options = " ".join(f"--prompt {column}" for column in columns)
    silent = "prompt=False (--no-prompt)"
    if n_empty := votes.filter(prompt.is_null())["n"].sum():
        text = f"Column {listing(columns)} looks like the prompt but is empty in {n_empty} votes, so it is not read. "
        _warn(f"{text}Fill it in, or silence this with prompt=False (--no-prompt).", UnusedColumnWarning)
        return votes.drop(SLICE + PROMPT)
    if _are_votes(votes):
        return votes.drop(SLICE + PROMPT)
    found = repeated_answers(build_cells(votes, dropped={}, sided=False))
    if found.enough:
        text = f"Read {found.prompts} prompts from {listing(columns)}: {found.with_two} answers have two votes or more."
        confirm = f"To confirm: {options}, or read_votes(..., prompt={named})"
        _warn(f"{text} {confirm}; without prompts: --no-prompt, or prompt=False.", PromptsWarning)
        return votes
    why = (
        "it is the same in all votes"
        if found.prompts == 1
        else f"too few answers repeat: {found.with_two} have two votes or more ({FEWEST} would do), and "
        f"{found.share:.0%} of the votes are on prompts with such an answer ({SHARE:.0%} would do)"
    )
    text = f"Column {listing(columns)} looks like the prompt but is not read, as {why}."
    _warn(f"{text} Read it with prompt={named} ({options}), or silence this with {silent}.", UnusedColumnWarning)
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


def _text(groups: pl.DataFrame, role: str, normalise: bool) -> pl.Expr:
    text = as_text(groups, role)
    return normalised(text) if normalise else text


def _joined(parts: list[pl.Expr]) -> pl.Expr:
    """Join several columns by slashes, so that different rows stay different; null if one of them is."""
    if len(parts) == 1:
        return parts[0]
    return pl.concat_str([part.str.replace_all(r"([/\\])", r"\${1}") for part in parts], separator="/")


def _warn(text: str, category: type[PromptsWarning] | type[UnusedColumnWarning]) -> None:
    warnings.warn(text, category, skip_file_prefixes=PACKAGE)
