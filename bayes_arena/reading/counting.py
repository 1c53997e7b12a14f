"""From groups of equal votes to counts: names become codes, labels outcomes.

Everything that can be wrong with a vote shows in its group: names, label, annotator,
weight.  So votes are checked once a group, and single rows are looked at only to be
quoted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import listing
from bayes_arena.reading.columns import is_usual_winner
from bayes_arena.reading.labels import (
    NOT_PLAYED,
    NUMBER,
    UNKNOWN,
    UNPLAYED,
    are_mixed,
    bare,
    meanings_of,
)
from bayes_arena.reading.names import clean_name, code, renamed
from bayes_arena.reading.options import Options
from bayes_arena.reading.roles import Roles, feature_columns, slice_column
from bayes_arena.reading.values import number_of
from bayes_arena.said import Note, Said, Use
from bayes_arena.votes.votes import FIRST, PROMPT, SECOND, TIE, Votes, sums

COUNTED = {"wins_a": FIRST, "wins_b": SECOND, "ties": TIE}
MOST_LABELS = 12  # unknown ones that may still be those of a result
MOST = 1e100  # the largest weight; sums of squares stay finite
GROUP = "group"  # the column that numbers groups of equal votes
MERGED = Note(
    "merged_names",
    "Names of competitors that differ in spaces at their ends or in their Unicode form "
    "were read as one.",
)
MIXED = Note(
    "mixed_grades",
    "Some verdicts have grades (A>>B) and others none: these count as weak wins.",
)
OTHER_CASE = "Winners were matched to names without regard to case"
NOBODY = -3  # a missing competitor, which no label names


@dataclass(frozen=True, eq=False)
class Coded:
    """Votes or groups of equal votes.

    Attributes
    ----------
    pairs : Votes
        Who voted on whom, without counts; of what is missing, and must not be, -1.
    outcome : ndarray of int
        A column of counts, or another meaning of a label.
    votes : ndarray
        Weight times number of votes.
    n : ndarray of int
        Number of votes.
    table : polars.DataFrame
        The groups of equal votes that they were read from.
    group : ndarray of int
        Row of ``table``.
    labels, label : tuple of str, ndarray of int
        The labels of winners, and the code of each; one above the last is none.
    is_named : ndarray of bool
        Where a label is the name of one of the two.
    is_ambiguous : ndarray of bool
        Where a label may be a name or a side.
    """

    pairs: Votes
    outcome: Ints
    votes: Floats
    n: Ints
    table: pl.DataFrame
    group: Ints
    labels: tuple[str, ...]
    label: Ints
    is_named: Array
    is_ambiguous: Array

    def labels_of(self, rows: Array) -> dict[str, int]:
        """Return the numbers of votes of the labels in some rows, the most first."""
        n = np.bincount(self.label[rows], self.n[rows], len(self.labels) + 1)
        order = [k for k in np.argsort(-n, kind="stable") if n[k] > 0]
        return {self.labels[k]: int(n[k]) for k in order}

    def count_cells(self, rows: Array, *, sided: bool) -> Votes:
        """Return the counts of some rows; without sides the pair's names are in order."""
        pairs, outcome, votes = (
            self.pairs.take(rows),
            self.outcome[rows],
            self.votes[rows],
        )
        if not sided:
            is_turned = pairs.i > pairs.j
            pairs = swap_sides(pairs, is_turned)
            outcome = np.where(is_turned, TURNED[outcome], outcome)
        first, row = pairs.kinds_of_rows()
        n_outcomes = 5 if outcome.max(initial=0) > TIE else 3
        cell = row * n_outcomes + outcome
        if not (votes == np.rint(votes)).all():  # a sum that depends on no order
            order = np.lexsort([votes, cell])
            cell, votes = cell[order], votes[order]
        counts = sums(cell, votes, len(first) * n_outcomes).reshape(-1, n_outcomes)
        given = None if pairs.given is None else sums(row, pairs.given, len(first))
        cells = replace(pairs.take(first), counts=counts, given=given, sided=sided)
        return cells.used()


TURNED = np.array([1, 0, 2, 4, 3, 5, 6, -1])  # outcomes seen from the other side


def swap_sides(pairs: Votes, rows: Array) -> Votes:
    """Return pairs of which some change sides."""
    features = {
        name: np.where(rows, -values, values) + 0.0
        for name, values in pairs.features.items()
    }
    i, j = np.where(rows, pairs.j, pairs.i), np.where(rows, pairs.i, pairs.j)
    return replace(pairs, i=i, j=j, features=features)


@dataclass(frozen=True, eq=False)
class Problem:
    """What may be wrong with votes: with which rows, and what to do.

    Where the labels of the winners are wrong, the remedy is made of them.
    """

    text: str
    rows: Array
    remedy: Said | Callable[[Sequence[str]], Said]


FILL_IN = "Fill it in."


def problems_of_pairs(votes: Coded) -> Iterator[Problem]:
    """Yield what may be wrong with who meets whom."""
    pairs = votes.pairs
    no_name = (pairs.i < 0) | (pairs.j < 0)
    yield Problem("a competitor has no name", no_name, FILL_IN)
    is_same = (pairs.i == pairs.j) & (pairs.i >= 0)
    remedy = "Correct the name, or remove the row."
    yield Problem("a competitor meets itself", is_same, remedy)
    for name, values in pairs.features.items():
        text = f"{name} is not a finite number"
        yield Problem(text, ~np.isfinite(values), "Features are finite numbers.")


def problems(votes: Coded) -> Iterator[Problem]:
    """Yield what may be wrong with votes."""
    pairs = votes.pairs
    yield from problems_of_pairs(votes)
    text = "the winner's label is unknown"
    yield Problem(text, votes.outcome == UNKNOWN, say_meaning)
    text = "the winner may be a name or a side"
    yield Problem(text, votes.is_ambiguous, say_side)
    is_weight = (votes.votes >= 0) & (votes.votes <= MOST)
    text = "the weight or count is not a number of 0 or more"
    yield Problem(text, ~is_weight, "Weights are numbers such as 0.5.")
    for name, codes in pairs.slices.items():
        yield Problem(f"{name} is missing", codes < 0, FILL_IN)


def say_meaning(labels: Sequence[str]) -> Said:
    """Ask what labels mean; so many of them are no result."""
    if len(labels) > MOST_LABELS:
        text = f"A result has few labels, and these are {len(labels):,}: name its column with "
        return (text, Use("winner"), ".")
    blanks = {label: "..." for label in labels}
    rest = " is model_a, model_b, tie, both_bad or unplayed."
    return (
        "Say what each label means: ",
        Use(outcomes=blanks),
        ", where each ...",
        rest,
    )


def say_side(labels: Sequence[str]) -> Said:
    """Ask which side labels mean that may be names."""
    text = "Rename the competitor, or say which side the label means: "
    blanks = {label: "..." for label in labels}
    return (text, Use(outcomes=blanks), ", where each ... is model_a or model_b.")


def encode_groups(table: pl.DataFrame, roles: Roles, options: Options) -> Coded:
    """Return groups of votes as codes.

    Parameters
    ----------
    table : polars.DataFrame
        Columns by role: ``a, b``, ``winner`` or ``wins_a, wins_b, ties`` or neither,
        ``annotator``, ``weight``, slices and features, and ``n`` votes a row.
    roles : Roles
        What the columns stand for, and what they were called.
    options : Options
        Meanings of further labels, and new names.
    """
    groups = table
    table = table.with_row_index(GROUP)
    if "wins_a" in table.columns:
        table = one_outcome_a_row(table)
    competitors, (i, j), n_merged = code([table["a"], table["b"]], clean_name)
    competitors, (i, j) = renamed(competitors, (i, j), options.names or {})
    annotators, annotator = annotators_of(table)
    slices, levels = slices_of(table, roles.slices)
    pairs = Votes(
        competitors=competitors,
        annotators=annotators,
        i=i,
        j=j,
        annotator=annotator,
        counts=np.zeros((len(i), 0)),
        slices=slices,
        levels=levels,
        features=features_of(table, roles.features),
        remarks=(MERGED,) if n_merged else (),
    )
    n = table["n"].to_numpy()
    outcome = np.full(len(n), FIRST)
    if "outcome" in table.columns:
        outcome = table["outcome"].to_numpy()
    votes = Coded(
        pairs=pairs,
        outcome=outcome,
        votes=n * number_of(table["weight"]) if "weight" in table.columns else n * 1.0,
        n=n,
        table=groups,
        group=table[GROUP].to_numpy(),
        labels=(),
        label=np.zeros(len(n), np.intp),
        is_named=np.zeros(len(n), bool),
        is_ambiguous=np.zeros(len(n), bool),
    )
    if "winner" not in table.columns:
        return votes
    return with_winners(votes, table["winner"], roles, options)


def with_winners(
    votes: Coded, column: pl.Series, roles: Roles, options: Options
) -> Coded:
    """Return votes with the outcomes that labels of winners mean.

    The name of one of the two competitors comes before any other meaning of a label, but
    for one that the user gives.
    """
    outcomes, new_names = options.labels, options.names or {}
    labels, (label,), _ = code([column], clean_name)
    label = np.where(label < 0, len(labels), label)  # no label: not played
    meaning = meanings_of(labels, roles.sides, outcomes)
    if not is_usual_winner(roles.results.get("winner", "winner")):
        meaning |= dict.fromkeys(numerals(labels, outcomes), UNKNOWN)
    by_label = np.array([*(meaning[text] for text in labels), UNPLAYED])[label]
    given = {bare(str(text)) for text in outcomes}
    names = [new_names.get(text, text) for text in labels]
    for place, text in enumerate(labels):
        if bare(text) in given:
            names[place] = ""
    is_first, is_second, is_exact, is_name = sides_named(names, label, votes.pairs)
    outcome = np.where(is_first, FIRST, np.where(is_second, SECOND, by_label))
    is_named = is_first | is_second
    remarks = votes.pairs.remarks
    if other_case := [labels[k] for k in np.unique(label[is_named & ~is_exact])]:
        remarks += (Note("case", f"{OTHER_CASE}: {listing(other_case)}."),)
    if not outcomes and are_mixed(meaning):
        remarks += (MIXED,)
    return replace(
        votes,
        pairs=replace(votes.pairs, remarks=remarks),
        outcome=outcome,
        labels=labels,
        label=label,
        is_named=is_named,
        is_ambiguous=are_ambiguous(by_label, outcome, is_named, is_name),
    )


def numerals(labels: Sequence[str], outcomes: Mapping[str, str]) -> list[str]:
    """Return the labels that are numbers, without those whose meaning is given."""
    given = {bare(str(text)) for text in outcomes}
    bares = {label: bare(label) for label in labels}
    return [
        label
        for label, text in bares.items()
        if NUMBER.fullmatch(text) and text not in given
    ]


def sides_named(
    labels: Sequence[str], label: Ints, pairs: Votes
) -> tuple[Array, Array, Array, Array]:
    """Return where a label names the first, the second, either exactly, or any competitor.

    An exact name comes before one that differs by case.
    """
    name, exact = (codes[label] for codes in names_of_labels(labels, pairs.competitors))
    kinds, _ = names_of_labels(pairs.competitors, pairs.competitors)
    kinds[-1] = NOBODY
    is_exact = (exact == pairs.i) | (exact == pairs.j)
    is_first = np.where(is_exact, exact == pairs.i, name == kinds[pairs.i])
    is_second = np.where(is_exact, exact == pairs.j, name == kinds[pairs.j])
    return is_first, is_second, is_exact, name >= 0


def names_of_labels(
    labels: Sequence[str], competitors: Sequence[str]
) -> tuple[Ints, Ints]:
    """Return which competitor labels name, without regard to case and exactly; -2 is none."""
    folded = {name.casefold(): code for code, name in enumerate(competitors)}
    exact = {name: code for code, name in enumerate(competitors)}
    return (
        np.array([*(folded.get(text.casefold(), -2) for text in labels), -2]),
        np.array([*(exact.get(text, -2) for text in labels), -2]),
    )


def are_ambiguous(
    by_label: Ints, outcome: Ints, is_named: Array, is_name: Array
) -> Array:
    """Return where a label may be the name of a competitor or the word for a side.

    Where a label names one of the two it is a name, and else it is a word.  But a name that
    as a word means something else is in doubt where some labels are words only; and a word
    that names another competitor is, unless some labels are words only and none names only.
    """
    is_side = (by_label == FIRST) | (by_label == SECOND)
    is_word_only = ~is_named & ~is_name & is_side
    is_name_only = is_named & (by_label != outcome)
    names_another = ~is_named & is_name & is_side
    are_words = is_word_only.any()
    doubtful_name = is_name_only & (by_label != UNKNOWN)
    in_doubt = np.zeros(len(outcome), bool)
    if are_words or names_another.any():
        in_doubt |= doubtful_name
    if not are_words or is_name_only.any():
        in_doubt |= names_another
    return in_doubt


def annotators_of(table: pl.DataFrame) -> tuple[tuple[str, ...], Ints]:
    """Return the annotators' names and codes; their number where nobody knows who voted."""
    if "annotator" not in table.columns:
        return (), np.zeros(len(table), np.intp)
    names, (codes,), _ = code([table["annotator"]], clean_name)
    return names, np.where(codes < 0, len(names), codes)


def slices_of(
    table: pl.DataFrame, names: Iterable[str]
) -> tuple[dict[str, Ints], dict[str, tuple[str, ...]]]:
    """Return the codes and the levels of each slice.

    Votes may lack a prompt, and nothing else; where all do, there are no prompts.
    """
    slices, levels = {}, {}
    for name in names:
        known, (codes,), _ = code([table[slice_column(name)]])
        if name == PROMPT:
            codes = np.where(codes < 0, len(known), codes)
        if known or name != PROMPT:
            slices[name], levels[name] = codes, known
    return slices, levels


def features_of(
    table: pl.DataFrame, features: Mapping[str, Sequence[str]]
) -> dict[str, Floats]:
    """Return the features: one column of differences, or the difference of two columns."""
    differences = {}
    for name, columns in features.items():
        first, *second = feature_columns(name, len(columns))
        difference = number_of(table[first])
        for column in second:
            difference = difference - number_of(table[column])
        differences[name] = difference + 0.0
    return differences


def one_outcome_a_row(table: pl.DataFrame) -> pl.DataFrame:
    """Return counts of wins and ties as weights of rows with one outcome each.

    An empty cell, or NA, is 0; a row of zeros was not played.
    """
    counts = {
        role: outcome for role, outcome in COUNTED.items() if role in table.columns
    }
    values = {role: number_of(empty_as_zero(table[role])) for role in counts}
    weight = number_of(table["weight"]) if "weight" in table.columns else 1.0
    rest = table.drop(*counts, "weight", strict=False)
    is_nothing = np.all([each == 0 for each in values.values()], axis=0)
    unplayed = rest.filter(is_nothing).with_columns(
        weight=pl.lit(1.0), outcome=pl.lit(UNPLAYED)
    )
    parts = [unplayed]
    for role, outcome in counts.items():
        part = rest.with_columns(
            weight=pl.Series(values[role] * weight), outcome=pl.lit(outcome)
        )
        parts.append(part.filter(values[role] != 0))
    alike = pl.col("weight").cast(pl.Float64), pl.col("outcome").cast(pl.Int64)
    return pl.concat([part.with_columns(*alike) for part in parts])


def empty_as_zero(column: pl.Series) -> pl.Series:
    """Return a column of counts as text, with 0 for cells that are empty, or say so."""
    text = column.cast(pl.String).str.strip_chars().fill_null("")
    return text.set(text.str.to_lowercase().is_in(NOT_PLAYED), "0")
