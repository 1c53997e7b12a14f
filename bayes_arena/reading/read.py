"""Read votes: any source in, checked counts out.

The source is opened, its columns get roles, and equal votes are counted in the engine that
holds them.  The counts come back, names become codes, and what is wrong is refused or left
out, and said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

import narwhals as nw
import numpy as np
import polars as pl

from bayes_arena.arrays import Array
from bayes_arena.errors import (
    MOST_SHOWN,
    VotesError,
    listing,
    plural,
    printable,
    shortened,
)
from bayes_arena.reading.counting import Coded, Problem, encode_groups, problems
from bayes_arena.reading.labels import BOTH_BAD, UNPLAYED
from bayes_arena.reading.opening import Opened, open_votes
from bayes_arena.reading.options import (
    BothBad,
    Columns,
    OnInvalid,
    Options,
    ReadOptions,
    Weights,
    options_from,
)
from bayes_arena.reading.plausible import require_votes
from bayes_arena.reading.remarks import (
    remarks_on_copies,
    remarks_on_gaps,
    remarks_on_names,
    remarks_on_the_lost,
)
from bayes_arena.reading.roles import OF_VOTES, ROW
from bayes_arena.reading.sources import (
    Frame,
    file_with_header,
    has_order,
    in_polars,
    open_source,
    readable,
    to_polars,
)
from bayes_arena.reading.tables import without_headers
from bayes_arena.said import Note, Said, Use, joined
from bayes_arena.votes import saved
from bayes_arena.votes.merge import distinct
from bayes_arena.votes.votes import TIE, Votes

READ_ALREADY = "These votes are read already, so no options apply."
LEAVE_OUT = (" Or leave these votes out: ", Use(on_invalid="drop"), ".")
MOST_SEARCHED = (
    100_000  # votes, which may be written by hand, among which copies are sought
)
NO_GAME = "not played"  # why votes are left out whose label says so


def votes_from(source: object, **columns: Unpack[ReadOptions]) -> Votes:
    """Return Votes as they are, and read anything else; None stands for no option."""
    return read(source, options_from(columns))[0]


def read_votes(
    source: object,
    *,
    layout: str | None = None,
    a: str | None = None,
    b: str | None = None,
    winner: Columns | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | None = None,
    weights: Weights = "frequency",
    prompt: str | Literal[False] | None = None,
    slices: Mapping[str, str] | Columns = (),
    features: Mapping[str, Columns] | Columns = (),
    outcomes: Mapping[str, str] | None = None,
    both_bad: BothBad = "tie",
    baseline: str | None = None,
    judge: str | None = None,
    names: Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "raise",
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
        Column of who voted; False reads none.  Where it is empty nobody knows who did:
        such a vote counts on boards, and not where annotators are told apart.
    weight : str, optional
        Column of weights, by default 1.
    weights : {"frequency", "importance"}
        Whether a weight is a number of votes, or how much a vote matters.  Importance
        weights are scaled to sum to Kish's number, (sum w)^2 / sum w^2: as many votes of
        equal weight would tell as much.  The votes of competitors and annotators are
        counted themselves; wins, ties and pairs are sums of scaled weights.
    prompt : str or False, optional
        Column of the prompts, which becomes the slice ``"prompt"``; False reads none.  By
        default the first of ``prompt``, ``prompt_id``, ``question_id``, ``question``,
        ``instruction`` or ``item`` that repeats: in which Kish's number of prompts is at
        most half the votes, be it one prompt for all.  A vote whose cell is empty shares
        its prompt with no other.
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
    names : mapping of str to str
        New names of competitors; those that get the same name are one.
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
        outcomes, both_bad, baseline, judge, names, on_invalid,
    )  # fmt: skip
    return read(source, options)[0]


def read(
    source: object, options: Options, *, most_searched: float = MOST_SEARCHED
) -> tuple[Votes, Opened | None]:
    """Return votes, and how the source was opened if they were not read already.

    Copies are looked for where there are at most ``most_searched`` votes.
    """
    is_file = isinstance(source, str | Path) and saved.is_saved(source)
    if is_file or isinstance(source, Votes):
        if options != Options():
            raise VotesError(READ_ALREADY)
        return source if isinstance(source, Votes) else Votes.load(str(source)), None
    with readable(source):
        opened = open_votes(open_source(source), options, file_with_header(source))
        groups = without_headers(count_equal_votes(opened.frame), opened.roles)
        remarks = (*opened.remarks, *groups.notes)
        if groups.table["n"].sum() <= most_searched:
            remarks += remarks_on_copies(opened.source, opened.roles)
    votes = encode_groups(groups.table, opened.roles, options)
    opened = replace(opened, remarks=remarks)
    return checked_counts(votes, opened, options), opened


def count_equal_votes(frame: Frame) -> pl.DataFrame:
    """Return the distinct votes, and how often each occurs: ``n``."""
    schema = frame.collect_schema()
    names = [name for name in schema.names() if name != ROW]
    old: tuple[type, ...] = (nw.Categorical, nw.Enum)
    new: type[nw.String | nw.Categorical] = nw.String
    if frame.implementation.is_polars():
        frame = frame.lazy()  # one plan, in which Polars groups while it casts
        old, new = (nw.String,), nw.Categorical  # grouped faster than text
    if texts := [name for name in names if isinstance(schema[name], old)]:
        frame = frame.with_columns(nw.col(*texts).cast(new))
    groups = to_polars(frame.group_by(*names).agg(nw.len().alias("n"))).cast(
        {"n": pl.Int64}
    )
    votes = [name for name in names if name in OF_VOTES]
    return groups.filter(~pl.all_horizontal(pl.col(*votes).is_null()))


def checked_counts(votes: Coded, opened: Opened, options: Options) -> Votes:
    """Check coded votes, leave out what is no vote, and sum the others."""
    words = unplayed_words(votes)
    votes, kept, dropped = known_votes(votes, opened, options)
    if options.weights == "importance":
        votes = with_importance(votes, kept, opened)
    result = votes.count_cells(np.flatnonzero(kept), sided=opened.layout.is_sided)
    remarks = [*opened.remarks, *result.remarks, *remarks_on_names(result)]
    remarks += remarks_on_gaps(votes, kept, opened.roles)
    remarks += remarks_on_the_lost(votes.pairs.competitors, result.competitors)
    details = {NO_GAME: f" Their labels: {words}." if words else ""}
    for reason, n in dropped.items():
        text = f"Left out {plural(n, 'vote')}: {reason}.{details.get(reason, '')}"
        remarks.append(Note("left_out", text))
    return replace(result, dropped=dropped, remarks=distinct(remarks))


def with_importance(votes: Coded, kept: Array, opened: Opened) -> Coded:
    """Return votes whose weights w sum to Kish's number, (sum w)^2 / sum w^2.

    Their number stays known.
    """
    if opened.roles.weight is None:
        text = (" needs a column of weights: name it with ", Use("weight"), ".")
        raise VotesError((Use(weights="importance"), *text))
    weight = votes.votes[kept]
    scale = weight.sum() / (weight**2 / votes.n[kept]).sum()
    pairs = replace(votes.pairs, given=votes.n.astype(float))
    return replace(votes, pairs=pairs, votes=votes.votes * scale)


def labels_in_words(labels: Mapping[str, int]) -> str:
    """List labels with their numbers of votes."""
    return listing(f"{label!r} ({n:,})" for label, n in labels.items())


def unplayed_words(votes: Coded) -> str:
    """List the words that were read as no game, since "none" may mean something else."""
    are_words = [any(map(str.isalpha, label)) for label in votes.labels]
    is_word = np.array([*are_words, False])  # the last is for votes without a label
    is_unplayed = votes.outcome == UNPLAYED
    return labels_in_words(votes.labels_of(is_unplayed & is_word[votes.label]))


def known_votes(
    votes: Coded, opened: Opened, options: Options
) -> tuple[Coded, Array, dict[str, int]]:
    """Check coded votes: return them, which rows count, and how many others there are."""
    require_votes(votes, opened, options)
    dropped: Counter[str] = Counter()
    kept = votes.outcome != UNPLAYED
    dropped[NO_GAME] = int(votes.n[~kept].sum())
    is_bad = votes.outcome == BOTH_BAD
    if options.both_bad == "drop":
        dropped["both bad"] = int(votes.n[is_bad & kept].sum())
        kept &= ~is_bad
    for problem in problems(votes):
        wrong = problem.rows & kept
        if not wrong.any():
            continue
        if options.on_invalid == "raise" or (wrong == kept).all():
            said = complaint(problem, wrong, votes, opened.frame)
            raise VotesError(said if (wrong == kept).all() else joined(said, LEAVE_OUT))
        dropped[problem.text] += int(votes.n[wrong].sum())
        kept &= ~wrong
    kept &= votes.votes > 0
    if not kept.any():
        raise VotesError(no_votes(dropped, opened))
    votes = replace(votes, outcome=np.where(is_bad, TIE, votes.outcome))
    return votes, kept, {reason: n for reason, n in dropped.items() if n}


def no_votes(dropped: Mapping[str, int], opened: Opened) -> Said:
    """Say that no vote is left, and why."""
    reasons = listing(f"{n:,} {reason}" for reason, n in dropped.items() if n)
    text: Said = "No vote is left. The source has no rows, or no weights above 0."
    if reasons:
        text = f"No vote is left. Left out: {reasons}."
    winner = opened.roles.results.get("winner")
    if winner is None:
        return text
    read = f" The winner was read from {winner!r}; "
    return joined(text, read, (Use("winner"), " names another column."))


def complaint(problem: Problem, wrong: Array, votes: Coded, frame: Frame) -> Said:
    """Say what is wrong with some votes, where, and what to do."""
    n, total = int(votes.n[wrong].sum()), int(votes.n.sum())
    text, remedy = problem.text, problem.remedy
    if callable(remedy):
        labels = votes.labels_of(wrong)
        text += f": {labels_in_words(labels)}"
        remedy = remedy([shortened(label) for label in labels])
    rows = quote_rows(frame, votes.table[np.unique(votes.group[wrong])])
    where = f" ({rows})" if rows else ""
    return joined(f"In {n:,} of {plural(total, 'vote')} {text}{where}. ", remedy)


def quote_rows(frame: Frame, groups: pl.DataFrame) -> str:
    """Return the first rows that are in some groups of equal votes: numbers and values.

    Rows of an engine without an order have no numbers.
    """
    if not has_order(frame):
        return ""
    table = in_polars(frame).collect()
    if ROW not in table.columns:
        table = table.with_row_index(ROW)
    names = [name for name in table.columns if name != ROW]
    texts = groups.select(pl.col(names).cast(pl.String))
    rows = table.with_columns(pl.col(names).cast(pl.String))
    rows = rows.join(texts, on=names, how="semi", nulls_equal=True)
    rows = rows.sort(ROW).unique(ROW, maintain_order=True).head(MOST_SHOWN)
    shown = []
    for row in rows.iter_rows(named=True):
        values = (shortened(str(row[name]), 60) for name in OF_VOTES if name in row)
        shown.append(f"row {row[ROW]}: {', '.join(map(printable, values))}")
    return "; ".join(shown)


def one_vote_groups(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of votes as groups of one vote each."""
    return table.with_columns(n=pl.lit(1, pl.Int64))
