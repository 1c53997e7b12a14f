"""Read votes: any engine in, validated :class:`~bayes_arena.votes.cells.Cells` out."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Unpack

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import OnInvalid, VotesError, Weights, did_you_mean, listing
from bayes_arena.memory import enough_memory
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import MOST_GRADES, PROMPT, SLICE, TIME, Period
from bayes_arena.votes.outcomes import n_outcomes, outcome_scores, with_grades
from bayes_arena.votes.parquet import holds_cells, read_cells
from bayes_arena.votes.reading.counting import Repeats, count_repeats, weighed
from bayes_arena.votes.reading.covariates import FeatureColumns, SliceColumns, by_name
from bayes_arena.votes.reading.decoding import Grades
from bayes_arena.votes.reading.opening import ReadOptions, open_votes, require_options
from bayes_arena.votes.reading.validity import valid_votes
from bayes_arena.votes.sequence import VoteSequence
from bayes_arena.votes.sources.faults import readable
from bayes_arena.votes.sources.frames import files_of
from bayes_arena.votes.sources.hub import HUB
from bayes_arena.votes.summing import build_cells, without

IGNORED = {"annotator": "annotator", "prompt": SLICE + PROMPT, "time": SLICE + TIME}
"""Options that are False to ignore a column of saved cells."""


def read_votes(
    source: object,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    score: str | None = None,
    annotator: str | Literal[False] | None = None,
    weight: str | Literal[False] | None = None,
    weights: Weights = "frequency",
    prompt: str | Sequence[str] | Literal[False] | None = None,
    time: str | Literal[False] | None = None,
    period: Period | None = None,
    slices: SliceColumns = (),
    features: FeatureColumns = (),
    outcomes: Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "raise",
    where: str | None = None,
    dedupe: bool = False,
    normalise: bool = False,
    programs: str | Collection[str] = (),
    layout: str | None = None,
    grades: Grades = "keep",
) -> Cells:
    """Read pairwise votes, and sum them into cells.

    Arena conventions need no arguments: competitors in ``model_a, model_b``, ``left, right`` or the like; the winner in
    ``winner`` or ``label`` as ``model_a | model_b | tie | tie (bothbad) | both_bad | left | right | first | second |
    draw | same | equal``, as a verdict ``A>>B | A>B | A=B | B>A | B>>A`` or as the winning competitor's name, or
    one-hot in ``winner_model_a, winner_model_b, winner_tie``; the annotator, if any, in ``judge``, ``annotator``,
    ``worker``, ``performer`` or ``judge_model``. Numbers are not labels: ``outcomes`` says what they mean. Two layouts
    do not say who was shown first, so their votes have no position effect (``Cells.sided``): ``winner, loser``, and a
    table of how often each of a pair won, ``player1, player2, win1, win2`` and, if any tied, ``ties`` or ``draws``.

    Records of other tools need none either: their columns identify the layout, which ``layout`` names: ``arena-hard``,
    ``alpaca-eval``, ``mt-bench``, ``judge-arena``, ``arena-33k``, ``arena-55k``, ``arena-100k``, ``arena-140k``,
    ``arena-expert``, ``comparia``, ``evalica``, ``crowd-kit``, ``promptfoo``, ``inspect``, ``orq-arena``,
    ``open-webui``, ``label-studio``, ``argilla``, ``langwatch``, ``langsmith``, ``lm-eval``, ``mteb``,
    ``reward-bench``, ``openai-evals``, the best of several (``one-of-n``: ``contestants, winner``), scores of systems
    on the same items (``item-scores``: ``item, model, score``), several criteria (``criteria``: ``overall_winner,
    trust_winner``), soft scores (``scores``: ``score``), tables of wins (``win-counts``: ``winner, loser, n``;
    ``win-matrix``), a column for every annotator (``annotator-columns``), two scores and no winner (``two-scores``:
    ``home_score, away_score``), a pair in one cell (``pair-cell``), and rankings, as weighted pairs (``rankings``:
    ``ranking, competitor, rank``; ``rank-columns``: ``rank_A, rank_B, rank_C``; ``wmt-rankings``).

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        CSV, TSV, Parquet, JSONL or JSON (also a glob of them), ``"hf:owner/name"`` for a data set on the Hugging Face
        hub, or a pandas, Polars (eager or lazy), PyArrow, DuckDB or other dataframe that narwhals supports.
        Files written by :meth:`Cells.save <bayes_arena.Cells.save>` are read as by :func:`~bayes_arena.read_cells`;
        only the options ``annotator=False``, ``prompt=False``, ``programs`` and, for slices that they carry, ``slices``
        apply to them.
    a, b, winner : str, optional
        Names of columns that differ from the conventions.
    score : str, optional
        Column of scores of the first competitor, from 0 to 1, in place of a winner: a score s counts as s of a win and
        1 - s of a loss. 1/2 is half a win and half a loss, not a tie, which under ``ties="davidson"`` is an outcome of
        its own (:mod:`bayes_arena.votes.reading.counting`). Only layouts whose tool calls 1/2 a tie read it as one.
    annotator : str or False, optional
        Column of annotators; ``False`` ignores annotators.
    weight : str or False, optional
        Column of weights (finite, not negative); by default every vote has weight 1. Votes of weight 0 do not count.
        ``False`` ignores the weights of a layout; with ``"weight"`` their meaning is that of ``weights``.
        Arena-hard-auto's, 3 for ``A>>B``, stand for its grades, and count only with ``grades="fold"``.
    weights : {"frequency", "importance"}
        Meaning of a weight: a number of votes, or how much a vote matters. Importance weights are scaled to sum to the
        effective number of votes, (sum w)^2 / sum w^2 (Kish, 1965), which is then ``Cells.n_votes``: estimates under a
        flat prior do not change, intervals do.
    prompt : str, sequence of str or False, optional
        Column of the prompts (slice ``"prompt"``); several columns together, as ``["question_id", "turn"]``, are one
        prompt; ``False`` ignores prompts. By default ``prompt``, ``prompt_id``, ``question_id``, ``question``,
        ``instruction``, ``uid``, ``item``, ``item_id`` or ``task_id`` is recognised, with ``turn`` if there is one, and
        read if at least 100 answers (prompt x competitor) have two votes and at least half of the votes are on prompts
        with such an answer.
    time : str or False, optional
        Column of the times when votes were cast, dates (ISO 8601) or seconds or milliseconds since 1970; ``False``
        ignores times. They become the slice ``"time"`` of the votes' periods, for strengths that move
        (``fit(drift=True)``) and the test for change. By default ``tstamp``, ``timestamp``, ``created_at``, ``date`` or
        ``datetime`` is recognised, and read if every vote has a time and they are of several periods.
    period : {"day", "week", "month", "quarter", "year"}, optional
        Periods to count votes in, which have to have times then. Default: the shortest with ten votes per competitor in
        each and at most sixty of them.
    slices : mapping of str to str or sequence of str, or sequence of str
        Further slices of the votes: by name, the column or columns, ``{"language": "lang"}``. A sequence names columns
        that become slices of the same name.
    features : mapping of str to str or pair of str, or sequence of str
        Numeric features: by name, a column of differences (a less b), or the columns of a and of b,
        ``{"length": ("length_a", "length_b")}``. A sequence names columns of differences.
    outcomes : mapping of str to str, optional
        Further winner labels, each mapped to ``model_a``, ``model_b``, ``tie`` or ``both_bad``, or on a graded scale to
        ``model_a_2``, ``model_b_2`` and so on.
    on_invalid : {"raise", "drop"}
        What to do with invalid votes. ``"drop"`` leaves them out, warns, and counts them in ``Cells.dropped``; if no
        vote is valid, it raises all the same. Rows that are empty in every column are ignored.
    where : str, optional
        Condition that rows have to fulfil, in Python's syntax but never evaluated as Python:
        ``'language == "German" and turn in [1, 2]'``, ``"annotator is not None"``. Comparisons with ``== != < <= > >=
        in`` of columns and values, joined by ``and``, ``or`` and ``not``; a comparison with a missing value is
        false. Where a layout rewrites records, the columns are those of the votes, ``criterion`` and ``game`` included.
    dedupe : bool
        Leave out duplicates: files with the same content, rows that are equal in every column, and the second half of a
        table of wins that lists every pair from both sides. Equal rows are kept if they may be separate votes: if only
        competitors, winner and annotator are known, or if votes that agree in all other columns often differ in the
        winner. Where annotators and prompts are read, an annotator's votes on the same prompt and pair in the same
        order count as one vote, divided if they differ.
    normalise : bool
        Treat names as equal that differ only in surrounding spaces or in their Unicode form (NFC);
        :func:`~bayes_arena.check` lists such names.
    programs : str or collection of str
        Names of the annotators that are programs, language models as judges for instance; with a column of kinds,
        ``set(table.loc[table["kind"] == "llm", "judge"])``. Where people vote too, the presets give programs a taste
        of their own, so that they do not outvote people however many votes they cast
        (:func:`~bayes_arena.judge_report` says what their votes are worth).
    layout : str, optional
        Layout of the records, ``"arena-hard"`` for instance, if their columns do not identify it; the error for an
        unknown name lists all layouts. Records that have to be rewritten are collected into Polars; others stay in
        their engine. Records without a verdict are left out if the tool leaves them out.
    grades : {"keep", "fold"} or sequence of float
        What becomes of graded verdicts: ``A>>B`` beside ``A>B``, ``much better`` beside ``slightly better``
        (:mod:`bayes_arena.votes.reading.decoding`). By default a win by every further grade is an outcome of its own;
        ``"fold"`` counts wins alike. Numbers are the least margins of two scores that are a win of the first grade, of
        the second, and so on: with ``[1, 3]`` two points more are a win, three a clear one, and less than one a tie.

    Returns
    -------
    Cells
        The counts per (a, b, annotator, slices, features), in an order that does not depend on the order of the votes.

    Warns
    -----
    DroppedVotesWarning
        If invalid votes were left out.
    RepeatedVotesWarning
        If files have the same content or a table of wins lists every pair from both sides, and to say what ``dedupe``
        did.
    LayoutWarning
        If the layout of another tool was recognised; name it to silence this.
    DependentVotesWarning
        If comparisons were judged by several criteria (slice ``"criterion"``).
    PromptsWarning
        If prompts were recognised and are read; name them to silence this.
    UnusedColumnWarning
        If no annotator is read but a column such as ``user_id`` looks like one (``annotator=False`` silences this), if
        no weight is read but there is a column such as ``count`` (``weight=False``), or if prompts were recognised but
        are not read because too few repeat or some are missing (``prompt=False``), or times because some are missing or
        none (``time=False``).

    Raises
    ------
    ColumnError
        If a column is missing or its role is unclear.
    InvalidVotesError
        If votes are invalid and ``on_invalid="raise"``; the message quotes the first five with their rows,
        counted from 0.
    NoVotesError
        If no vote is left.
    VotesError
        If the source cannot be read, or a program is not among the annotators.

    Examples
    --------
    >>> import polars as pl
    >>> cells = read_votes(pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["x", "tie"]}))
    >>> cells.competitors, cells.n_votes
    (('x', 'y', 'z'), 2.0)
    """
    reading: ReadOptions = {
        "a": a,
        "b": b,
        "winner": winner,
        "score": score,
        "annotator": annotator,
        "weight": weight,
        "prompt": prompt,
        "time": time,
        "period": period,
        "slices": slices,
        "features": features,
        "outcomes": outcomes,
        "on_invalid": on_invalid,
        "where": where,
        "dedupe": dedupe,
        "normalise": normalise,
        "layout": layout,
        "grades": grades,
    }
    if files := cells_files(source):
        cells = _counted_already(files, {**reading, "weights": weights})
        return replace(cells, programs=_named_programs(cells, programs)) if programs else cells
    votes = valid_votes(source, **reading, in_order=False)
    meaning = weights if votes.weights in (None, "frequency") else votes.weights
    with enough_memory("counting votes"):
        rows, design_effect = weighed(votes.rows, meaning, named=bool(weight or votes.weights))
        cells = build_cells(rows, dropped=votes.dropped, sided=votes.sided)
    return replace(cells, design_effect=design_effect, programs=_named_programs(cells, programs))


def cells_files(source: object) -> list[Path]:
    """Return the files of a source if one of them holds cells that were saved, else none."""
    if not isinstance(source, str | Path | Sequence) or HUB in str(source):
        return []
    files = files_of(source)
    return files if any(map(holds_cells, files)) else []


def _counted_already(files: list[Path], reading: ReadOptions) -> Cells:
    """Read cells without ignored columns; raise a :class:`VotesError` for options that do not apply to cells."""
    cells = read_cells(files)
    named, slices = listing(repr(str(file)) for file in files), by_name(reading["slices"])
    if missing := [name for name, columns in slices.items() if columns != (name,) or name not in cells.slices]:
        raise VotesError(
            f"{named} holds cells (votes already counted) with the slices {listing(cells.slices) or 'none'}: "
            f"{listing(map(repr, missing))} cannot be read from it. Name one of these, or read the votes themselves."
        )
    weights = None if reading["weights"] == "frequency" else "importance"
    cut = None if reading["grades"] in ("keep", "fold") else reading["grades"]
    plain = {**reading, "slices": None, "on_invalid": None, "weights": weights, "grades": cut}
    given = [name for name, value in plain.items() if value or (name == "weight" and value is False)]
    if given:
        raise VotesError(
            f"{named} holds cells (votes already counted), to which {listing(given)} cannot apply. "
            "Leave it out, or read the votes themselves."
        )
    ignored = [column for name, column in IGNORED.items() if reading.get(name) is False]
    if reading["grades"] == "fold" and cells.grades > 1:
        cells = replace(cells, counts=with_grades(cells.counts, 1))
    return without(cells, ignored) if ignored else cells


def _named_programs(cells: Cells, programs: str | Collection[str]) -> tuple[str, ...]:
    """Return the names of programs, sorted; raise a :class:`VotesError` if one is not among the annotators."""
    require_options({"programs": programs})
    names = [programs] if isinstance(programs, str) else sorted(set(programs))
    if names and not cells.annotators:
        raise VotesError("Programs are annotators, but no annotators were read. Name their column (annotator=...).")
    if unknown := [name for name in names if name not in cells.annotators]:
        raise VotesError(
            f"Programs must be annotators, but none is called {listing(map(repr, unknown))}."
            f"{did_you_mean(unknown[0], cells.annotators) or ' Name programs as in the votes.'}"
        )
    return tuple(names)


def read_sequence(
    source: object,
    *,
    a: str | None = None,
    b: str | None = None,
    winner: str | None = None,
    annotator: str | Literal[False] | None = None,
    outcomes: Mapping[str, str] | None = None,
    on_invalid: OnInvalid = "raise",
    layout: str | None = None,
) -> VoteSequence:
    """Read pairwise votes in the order of the source.

    Columns, winner labels and invalid votes are treated as by :func:`~bayes_arena.read_votes`. Weights are not
    supported, as Elo has none. A soft score is taken as W.

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        Votes, one row each; several files are read one after the other.
    a, b, winner : str, optional
        Columns of the competitors and of the winner.
    annotator : str or False, optional
        Column of annotators; ``False`` ignores annotators.
    outcomes : mapping of str to str, optional
        Further winner labels, each mapped to ``model_a``, ``model_b``, ``tie`` or ``both_bad``.
    on_invalid : {"raise", "drop"}
        What to do with invalid votes.
    layout : str, optional
        Layout of the records, if their columns do not identify it.

    Returns
    -------
    VoteSequence

    Raises
    ------
    ColumnError, InvalidVotesError, NoVotesError, VotesError
        As for :func:`~bayes_arena.read_votes`.

    Examples
    --------
    >>> import polars as pl
    >>> votes = read_sequence(pl.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": ["y", "tie"]}))
    >>> votes.competitors, votes.score.tolist()
    (('x', 'y', 'z'), [0.0, 0.5])
    """
    votes = valid_votes(
        source,
        a=a,
        b=b,
        winner=winner,
        annotator=annotator,
        prompt=False,
        time=False,
        outcomes=outcomes,
        on_invalid=on_invalid,
        layout=layout,
        in_order=True,
    ).rows
    competitors = pl.concat([votes["a"], votes["b"]]).unique().sort()
    known = "annotator" in votes.columns
    annotators = votes["annotator"].unique().sort() if known else pl.Series(dtype=pl.String)
    return VoteSequence(
        competitors=tuple(competitors),
        annotators=tuple(annotators),
        a=_codes(votes["a"], competitors),
        b=_codes(votes["b"], competitors),
        annotator=_codes(votes["annotator"], annotators) if known else np.zeros(votes.height, dtype=np.int64),
        score=_scores(votes),
    )


def _scores(votes: pl.DataFrame) -> Floats:
    """Return W of every vote: its score if it has one, else that of its outcome."""
    outcome = pl.Series(outcome_scores(n_outcomes(MOST_GRADES))[votes["outcome"].to_numpy()])
    return (votes["score"].cast(pl.Float64).fill_null(outcome) if "score" in votes.columns else outcome).to_numpy()


def as_cells(votes: object) -> Cells:
    """Return cells unchanged, and read anything else with :func:`read_votes` without options."""
    return votes if isinstance(votes, Cells) else read_votes(votes)


def read_repeats(source: object, **reading: Unpack[ReadOptions]) -> Repeats | None:
    """Count the rows of a source that repeat another; the options are those of :func:`read_votes`.

    None for saved cells, in which votes are already counted.
    """
    if cells_files(source):
        return None
    with warnings.catch_warnings(action="ignore"):  # reading the votes warns
        opened = open_votes(source, reading)
    with readable(source):
        return count_repeats(opened.frame, opened.columns)


def _codes(names: pl.Series, categories: pl.Series) -> Ints:
    return names.cast(pl.Enum(categories)).to_physical().cast(pl.Int64).to_numpy().copy()
