"""Valid votes: columns found, votes grouped in their engine and decoded, invalid ones quoted and refused.

One group-by over the raw columns runs in the engine that holds the votes. Everything that can be wrong with
a vote shows in its group keys (names, winner label, annotator, weight, slices, features), so validation and the
decoding of winners work on the small grouped table, and the votes themselves are visited again only to quote the rows
of invalid ones.
"""

from __future__ import annotations

import math
import shlex
import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Unpack, get_args

import narwhals as nw
import polars as pl

from bayes_arena.errors import (
    SHOWN,
    ColumnError,
    DependentVotesWarning,
    DroppedVotesWarning,
    InvalidVotesError,
    NoVotesError,
    OnInvalid,
    UnusedColumnWarning,
    VotesError,
    Weights,
    listing,
    printable,
    require_choice,
    warn,
)
from bayes_arena.memory import enough_memory
from bayes_arena.votes.layouts.columns import ANNOTATORS, LIKELY_ANNOTATORS, LIKELY_WEIGHTS, TIES, select_roles
from bayes_arena.votes.names import CRITERION, ITEM, PROMPT, SLICE, Period
from bayes_arena.votes.outcomes import BOTH_BAD, OF_NAME, OUTCOMES, TIE, grades_of, wins_by
from bayes_arena.votes.reading.counting import once_each, one_side, without_repeats
from bayes_arena.votes.reading.covariates import (
    by_name,
    can_repeat,
    find_covariates,
    settle_prompt,
    settle_time,
    with_covariates,
)
from bayes_arena.votes.reading.decoding import (
    ARROWS,
    LABELS,
    NAMES,
    UNGRADED,
    as_label,
    as_text,
    by_words,
    decode,
    folded,
    meanings_of,
    without_sides,
)
from bayes_arena.votes.reading.opening import OpenedVotes, ReadOptions, open_votes, require_options
from bayes_arena.votes.sources.faults import readable
from bayes_arena.votes.sources.frames import Frame, to_polars

UNJUDGED = "missing winner"
"""The problem of records without a verdict."""
LONGEST_VALUE = 60
FURTHER = 2
"""By how much a verdict's grade may exceed those of all weaker ones: above ``A>B``, ``A>>>B`` is a grade."""
REMEDIES = {
    "missing competitor": "fill in the name or remove the vote",
    "competitor against itself": "remove the vote, or correct the name",
    "missing annotator": "fill in the annotator, or read with annotator=False (--no-annotator)",
    "null character": "a name holds a null character, or an unpaired surrogate read as one: write names as UTF-8",
    "missing id": "give every vote an id of its own",
    "missing winner": "fill in the winner or remove the vote",
    "not one winner": "exactly one of the three winner columns is 1, the others 0",
    "outcome for a name": "columns of winner and loser hold names only; for ties use columns model_a, model_b, winner",
    "ambiguous winner": "the label is also a competitor's name: rename the competitor",
    "verdict off the scale": "other verdicts of this source are graded (A>>B, much better), these have no grade, or "
    "one far beyond: give their grades with outcomes=, or fold all with grades='fold' (--grades fold)",
    "bad score": "scores are numbers from 0 to 1 (0.5, not 0,5); a preference p from 1 to 2 is the score 2 - p",
    "bad weight": "weights are numbers from 1e-100 to 1e100, or zero (0.5, not 0,5)",
    "missing prompt": "fill in the prompt, or read with prompt=False (--no-prompt)",
    "not a time": "times are dates (2026-03-01 12:00:00) or seconds or milliseconds since 1970",
    "time in the future": "correct the time: nothing was voted after now",
    "missing slice": "fill in the value, or read without that column",
    "bad feature": "features are finite numbers",
    "bad count": "counts of wins and ties are numbers from 1e-100 to 1e100, or zero",
}


@dataclass(frozen=True)
class ValidVotes:
    """Votes that can be rated.

    Attributes
    ----------
    rows : polars.DataFrame
        As :func:`~bayes_arena.votes.summing.build_cells` takes them; and ``score``, for votes that have one in place of
        an outcome, for :func:`~bayes_arena.votes.reading.counting.weighed` to write out.
    dropped : dict of str to int
        Invalid votes left out, by problem.
    sided : bool
        Whether the layout says who was shown first.
    prompt : tuple of str
        Columns read as the prompt.
    weights : {"frequency", "importance", "information"} or None
        Meaning of the weights that come with the layout, None if there are none.
    """

    rows: pl.DataFrame
    dropped: dict[str, int]
    sided: bool
    prompt: tuple[str, ...]
    weights: Weights | Literal["information"] | None


def valid_votes(source: object, *, in_order: bool, id: str | None = None, **reading: Unpack[ReadOptions]) -> ValidVotes:
    """Recognise, decode and validate votes with the options of :func:`~bayes_arena.read_votes`.

    A row is a vote in the order of the source (``in_order``), or a group of equal votes. Votes with different ids, in
    the column ``id``, are kept apart.
    """
    on_invalid, normalise = reading.get("on_invalid", "raise"), reading.get("normalise", False)
    dedupe, annotator = reading.get("dedupe", False), reading.get("annotator")
    if on_invalid not in get_args(OnInvalid):
        raise VotesError(f"on_invalid must be 'raise' or 'drop', not {on_invalid!r}.")
    require_options(reading)
    if reading.get("period") is not None:
        require_choice("period", str(reading["period"]), get_args(Period))
        if reading.get("time") is False:
            raise VotesError("Periods need the times of the votes. Leave out time=False (--no-time).")
    labels = _labels(reading.get("outcomes") or {})
    with enough_memory("reading votes"), readable(source):
        opened = open_votes(source, reading, id=id)
        whole, columns = opened.frame, opened.columns
        if in_order and ("wins_a" in columns or opened.weights == "frequency"):
            counts = columns.get("wins_a") or columns["weight"]
            raise ColumnError(f"The counts in {counts!r} have no order. Write one row per vote, or use read_votes.")
        if annotator is None and "annotator" not in columns:
            _propose(whole, columns, "annotator", (*ANNOTATORS, *LIKELY_ANNOTATORS), "--no-annotator")
        if not in_order and reading.get("weight") is None and columns.keys().isdisjoint(("weight", "wins_a")):
            _propose(whole, columns, "weight", LIKELY_WEIGHTS, "--no-weight")
        if columns.keys().isdisjoint(("winner", "winner_a", "score", "wins_a")):
            _tell_ties(whole)
        carried = find_covariates(
            whole,
            columns.values(),
            prompt=reading.get("prompt"),
            time=reading.get("time"),
            period=reading.get("period"),
            slices=opened.slices | by_name(reading.get("slices", ())),
            features=reading.get("features", ()),
        )
        different = without_repeats(whole, columns) if dedupe and "wins_a" not in columns else whole
        if PROMPT in carried.recognised and not (
            {"weight", "wins_a"} & columns.keys() or can_repeat(different, carried)
        ):
            carried = carried.without([PROMPT])
        groups = _groups(different, columns | carried.roles, in_order=in_order)
        total = int(groups["n"].sum())
        labels, ungraded = _graded(groups, labels, reading)
        decoded = decode(groups, labels, normalise=normalise, ungraded=ungraded)
        groups = with_covariates(decoded, carried, normalise=normalise)
        invalid = groups.filter(pl.col("problem").is_not_null())
        all_invalid = invalid.height == groups.height
        refused = invalid if on_invalid == "raise" or all_invalid else invalid.clear()
        if opened.unjudged and not all_invalid:  # records without a verdict are no votes
            refused = refused.filter(pl.col("problem") != UNJUDGED)
        if refused.height:
            raise InvalidVotesError(_complaint(opened, columns | carried.named.roles, refused, total, normalise))
    dropped = {problem: int(n) for problem, n in invalid.group_by("problem").agg(pl.sum("n")).sort("problem").rows()}
    counted = groups.select(pl.col("problem").is_null() & (pl.col("weight") > 0)).to_series()
    valid = groups if counted.all() else groups.filter(counted)
    if not opened.sided:
        valid = without_sides(one_side(valid, dedupe=dedupe) if "wins_a" in columns else valid)
    if not valid.height:
        kept = "" if opened.where is None else " kept by where="
        empty = "all votes have weight 0" if total else f"the source has no rows{kept}"
        raise NoVotesError(f"No vote to rate: {empty}. Check that it is the right source.")
    if carried.timed:
        valid = settle_time(valid, carried, reading.get("period"))
    if PROMPT in carried.recognised:
        valid = settle_prompt(valid, carried.slices[PROMPT])
    if dedupe and {"annotator", SLICE + PROMPT}.issubset(valid.columns):
        valid = once_each(valid)
    if SLICE + CRITERION in valid.columns:
        _tell_criteria(valid)
    if dropped:
        counts = ", ".join(f"{n} × {problem}" for problem, n in dropped.items())
        warn(f"Left out {sum(dropped.values()):,} of {total:,} votes: {counts}.", DroppedVotesWarning)
    read = carried.slices.get(PROMPT, ()) if SLICE + PROMPT in valid.columns else ()
    return ValidVotes(valid, dropped, opened.sided, read, opened.weights)


def _labels(outcomes: Mapping[str, str]) -> dict[str, str]:
    """Return the table of labels, extended by further ones."""
    labels = dict(LABELS)
    for label, outcome in outcomes.items():
        if not isinstance(outcome, str) or outcome not in OF_NAME:
            known = f"{', '.join(OUTCOMES)}, or of wins by a further grade, such as {wins_by(2)[0]}"
            raise VotesError(f"outcomes maps {label!r} to {outcome!r}; use one of {known}.")
        labels[pl.select(as_label(pl.lit(str(label)))).item()] = outcome
    return labels


def _graded(
    groups: pl.DataFrame, labels: dict[str, str], reading: ReadOptions
) -> tuple[dict[str, str], frozenset[str]]:
    """Return the labels with those of the source that name grades in words, and labels that lack a grade."""
    if "winner" not in groups.columns:
        return labels, frozenset()
    found = groups.select(as_label(pl.col("winner").unique()).unique()).to_series().drop_nulls().to_list()
    worded = by_words([label for label in found if label not in labels])
    labels = {**worded, **labels}
    if reading.get("grades") == "fold":
        return folded(labels), frozenset()
    codes = {label: OF_NAME[labels[label]] for label in found if label in labels}
    grades = {
        label: grades_of(max(code + 2, len(OUTCOMES))) for label, code in codes.items() if code not in (TIE, BOTH_BAD)
    }
    off = {*UNGRADED, *(label for label in worded if labels[label] != "tie" and ARROWS.keys() & set(found))}
    used = sorted({*grades.values()})
    far = min((after for before, after in pairwise(used) if after - before > FURTHER), default=math.inf)
    off |= {label for label, grade in grades.items() if grade >= far}
    given = {label.lower() for label in reading.get("outcomes") or {}}
    return labels, frozenset(off - given) if used and used[-1] > 1 else frozenset()


def _tell_criteria(votes: pl.DataFrame) -> None:
    """Warn where votes by several criteria share an item that is more than a comparison, which no model tells apart."""
    names = votes[SLICE + CRITERION].unique().sort().to_list()
    whose = [name for name in ("a", "b", "annotator") if name in votes.columns]
    item = SLICE + ITEM
    if len(names) < 2 or (item in votes.columns and votes.select(item, *whose).n_unique() == votes[item].n_unique()):
        return
    warn(
        f"Read the criteria {listing(names)} (slice 'criterion'). Votes on one comparison by several criteria are "
        "not independent: the intervals of a board over all of them are too narrow. Choose one with "
        f"where='criterion == \"{names[0]}\"' (--where).",
        DependentVotesWarning,
    )


def _propose(frame: Frame, columns: Mapping[str, str], role: str, likely: Collection[str], otherwise: str) -> None:
    """Warn of a column that looks right for a role that no column has."""
    for name in frame.collect_schema().names():
        if name.casefold() in likely and name not in columns.values():
            warn(
                f"Column {name} looks like the {role} but is not read. Read it with {role}={name!r} "
                f"(--{role} {name}), or silence this with {role}=False ({otherwise}).",
                UnusedColumnWarning,
            )
            return


def _tell_ties(frame: Frame) -> None:
    """Warn of a column that looks like ties beside winners and losers: ties then count as wins."""
    for name in frame.collect_schema().names():
        if name.casefold() in (*TIES, "tie", "draw", "is_tie", "is_draw"):
            warn(
                f"Column {name} looks like ties but is not read: every row counts as a win of its winner. For ties use "
                "columns model_a, model_b, winner.",
                UnusedColumnWarning,
            )
            return


def _groups(whole: Frame, columns: Mapping[str, str], *, in_order: bool) -> pl.DataFrame:
    """Collect the votes, or groups of equal ones, without the rows that are empty in every column of the source."""
    frame = select_roles(whole, columns)
    table = to_polars(frame).with_columns(n=pl.lit(1)) if in_order else _counted(frame)
    blank = pl.all_horizontal(pl.exclude("n").is_null())
    if not table.select(blank.any()).item():
        return table
    empty = nw.all_horizontal(nw.all().is_null(), ignore_nulls=False)
    if in_order:
        return table.filter(~to_polars(whole.select(empty=empty))["empty"])
    n_empty = to_polars(whole.filter(empty).select(n=nw.len()))["n"][0]
    return table.with_columns(n=pl.col("n") - pl.when(blank).then(n_empty).otherwise(0)).filter(pl.col("n") > 0)


def _counted(frame: Frame) -> pl.DataFrame:
    """Return the distinct rows and how often each occurs, ``n``.

    Polars groups by names as categories in two thirds of the time if they are few, and in half the memory if many.
    """
    schema, names = frame.collect_schema(), list[str]()
    if frame.implementation.is_polars():
        names = [name for name in NAMES if schema.get(name) == nw.String]
    frame = frame.with_columns(nw.col(name).cast(nw.Categorical) for name in names)
    try:
        groups = to_polars(frame.group_by(*schema.names()).agg(nw.len().alias("n")))
    except TypeError as error:  # pandas cannot group by lists
        raise ColumnError(f"A column of the votes holds lists or records, not names or numbers ({error}).") from error
    return groups.cast({"n": pl.Int64})


def _complaint(
    opened: OpenedVotes, columns: Mapping[str, str], invalid: pl.DataFrame, total: int, normalise: bool
) -> str:
    """Say how many votes are invalid, quote the first rows, and name the remedy of each problem."""
    keys, invalid = list(columns), invalid.cast({pl.Categorical: pl.String})
    texts = (pl.col("weight_text").alias(key) if key == "weight" else as_text(invalid, key) for key in keys)
    bad = invalid.select(*texts, "problem").unique()
    count = int(invalid["n"].sum())
    lines = [f"{count:,} of {total:,} votes {'is' if count == 1 else 'are'} invalid."]
    if opened.ordered:
        quoted, counted = _first_rows(opened, columns, bad, normalise)
        lines.append(f"First {quoted.height} (rows {counted}):" if quoted.height > 1 else f"The row ({counted}):")
    else:  # nothing but the groups leaves the engine
        quoted = bad.sort(keys).head(SHOWN).with_columns(row=pl.lit(None))
        unnumbered = f"(rows of {opened.frame.implementation.value} have no numbers)"
        lines.append(f"{quoted.height} of them {unnumbered}:" if count > 1 else f"The vote {unnumbered}:")
    for row in quoted.iter_rows(named=True):
        place = "" if row["row"] is None else f"row {row['row']}: "
        values = ", ".join(f"{printable(columns[key])}={_short(row[key])}" for key in keys)
        lines.append(f"  {place}{row['problem']} ({values})")
    for problem, n in invalid.group_by("problem").agg(pl.sum("n")).sort("problem").rows():
        detail, remedy = "", REMEDIES.get(problem, "")
        if problem == "unknown winner" and "winner" in keys:
            labels = invalid.filter(pl.col("problem") == problem)["winner"].unique().sort()
            detail = f" [{listing(map(repr, labels))}]"
            remedy = _remedy_for(labels.to_list(), alone=count == total)
        lines.append(f"{problem}{detail} × {n}: {remedy}.")
    if count < total:
        lines.append("Or leave invalid votes out with on_invalid='drop' (--on-invalid drop).")
    return "\n".join(lines)


def _remedy_for(labels: list[str], *, alone: bool) -> str:
    """Say how to name the meaning of an unknown label or numeric code; beside others it is off their scale."""
    codes = meanings_of(labels)
    if codes and not alone:
        return (
            "not on the scale of the other verdicts: correct or remove these votes, or give the number's meaning with "
            f"outcomes={{{labels[0]!r}: ...}} (--outcome {labels[0]}=...)"
        )
    meanings = codes or [{labels[0]: "tie"}]
    options = (",".join(f"{label}={outcome}" for label, outcome in meaning.items()) for meaning in meanings)
    either = " or ".join(f"--outcome {shlex.quote(option)}" for option in options)
    what = "numbers can have several meanings: give theirs" if codes else "give its meaning"
    return f"{what}, for instance with outcomes={meanings[0]} ({either})"


def _first_rows(
    opened: OpenedVotes, columns: Mapping[str, str], bad: pl.DataFrame, normalise: bool
) -> tuple[pl.DataFrame, str]:
    """Return the first invalid rows, and how rows are counted; ``bad`` has the texts and the problem of each kind."""
    rows, counted = opened.rows(columns)
    kinds = rows.head(0).collect()
    rows = rows.select("row", *(as_text(kinds, key, normalise=normalise) for key in columns))
    rows = rows.join(bad.lazy(), on=list(columns), how="inner", nulls_equal=True)
    return rows.sort("row").head(SHOWN).collect(engine="streaming"), counted


def _short(value: str | None) -> str:
    """Quote a value; of a long text, such as a prompt, only the beginning."""
    return repr(value if value is None else textwrap.shorten(value, LONGEST_VALUE, placeholder=" ..."))
