"""A judge, a program that votes say, held to the others: agreement, and its own maker.

The agreement of a judge with the others is over pairs that both saw: votes of the judge
against the majority of the others, corrected for chance as Cohen's kappa is (1960), ties half
agreeing.  The preference for its own maker is the taste for that maker's competitors, S / V
of the table annotators x competitors (people/table.py), in logits, with the spread of tastes
in its standard deviation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import ModelError, VotesError, did_you_mean, listing
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.people.annotators import annotator_columns
from bayes_arena.people.favourites import favourite_columns, find_favourites
from bayes_arena.people.table import PairTable, pair_table, votes_of
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import FIRST, TIE, Votes

if TYPE_CHECKING:
    import pandas as pd

NORMAL = 1.96  # standard deviations of an interval at .95


@dataclass(frozen=True, eq=False)
class JudgeReport:
    """What is known of a judge.

    Attributes
    ----------
    judge : str
    row : dict
        Its row of :func:`~bayes_arena.annotators`.
    kappa : float
        Agreement with the majority of the others beyond chance; 1 for always.  nan where
        no pair was seen by both.
    n_common : float
        Its votes on pairs that others saw, too.
    competitors : dict
        Its rows of the table annotators x competitors (``table`` as a dataframe).
    preference : float, optional
        For competitors of its own maker, in logits; ``lower`` and ``upper`` at .95.
    """

    judge: str
    row: dict[str, Any]
    kappa: float
    n_common: float
    competitors: Columns
    preference: float | None = None
    lower: float | None = None
    upper: float | None = None

    @property
    def table(self) -> pd.DataFrame:
        """Its votes on each competitor, beside those that the others let expect."""
        return dataframe(self.competitors)

    def __str__(self) -> str:
        """Return the report in a few lines."""
        lines = [
            f"{self.judge}: {self.row['verdict']}, {self.row['votes']:,.0f} votes",
            f"Agreement with the others beyond chance: {self.kappa:.2f} "
            f"({self.n_common:,.0f} votes on pairs that others saw)",
        ]
        if self.preference is not None:
            lines.append(
                f"Preference for its own maker: {self.preference:+.2f} logits "
                f"({self.lower:+.2f} … {self.upper:+.2f})"
            )
        return "\n".join(lines)


def judge_report(
    votes: object,
    judge: str,
    makers: Mapping[str, str] | str | Path | None = None,
    **columns: Any,
) -> JudgeReport:
    """Report on one judge beside the others.

    Parameters
    ----------
    votes : Fit, or votes
        With several annotators.
    judge : str
        Its name among the annotators.
    makers : mapping of str to str, or path, optional
        The maker of each competitor, and of the judge if it is no competitor; or a CSV of
        the two columns.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    JudgeReport

    Raises
    ------
    ModelError
        If the judge is unknown, or votes alone.
    """
    source = votes_of(votes, **columns)
    if judge not in source.annotators:
        raise ModelError(
            f"{judge!r} is no annotator.{did_you_mean(judge, source.annotators)}"
        )
    if source.n_annotators == 1:
        raise ModelError(
            f"{judge!r} voted alone: no comparison is possible. Add votes of others."
        )
    found = find_favourites(source)
    table = annotator_columns(fit_model(source, model="am-davidson"), found)
    k = list(table["annotator"]).index(judge)
    row = {name: values[k] for name, values in table.items()}
    rows = favourite_columns(source, found)
    mine = np.asarray(rows["annotator"]) == judge
    competitors = {
        name: np.asarray(values)[mine]
        for name, values in rows.items()
        if name != "annotator"
    }
    kappa, n_common = agreement_with_others(source, source.annotators.index(judge))
    report = JudgeReport(judge, row, kappa, n_common, competitors)
    if makers is None:
        return report
    columns_of_makers = maker_columns(source, makers, table["annotator"])
    preference = {name: float(values[k]) for name, values in columns_of_makers.items()}
    return JudgeReport(judge, row, kappa, n_common, competitors, *preference.values())


def agreement_with_others(votes: Votes, k: int) -> tuple[float, float]:
    """Return kappa of a judge with the majority of the others, and votes in common."""
    n = votes.n_competitors
    low, high = np.minimum(votes.i, votes.j), np.maximum(votes.i, votes.j)
    pair, row = np.unique(low * n + high, return_inverse=True)
    folded = votes.folded
    score = folded[:, FIRST] + folded[:, TIE] / 2
    cast = folded.sum(axis=1)
    score = np.where(votes.i == low, score, cast - score)
    own = votes.annotator == k
    mine = sum_by(row, score, own, len(pair))
    my_votes = sum_by(row, cast, own, len(pair))
    theirs = sum_by(row, score, ~own, len(pair))
    their_votes = sum_by(row, cast, ~own, len(pair))
    common = (my_votes > 0) & (their_votes > 0)
    if not common.any():
        return float("nan"), 0.0
    majority = np.sign(theirs[common] / their_votes[common] - 0.5) / 2 + 0.5
    first = mine[common]
    second = my_votes[common] - first
    total = float(my_votes[common].sum())
    observed = float(first @ majority + second @ (1 - majority)) / total
    share = float(first.sum()) / total
    base = float(my_votes[common] @ majority) / total
    chance = share * base + (1 - share) * (1 - base)
    return (observed - chance) / max(1 - chance, 1e-12), total


def sum_by(row: Ints, values: Floats, mask: Array, size: int) -> Floats:
    """Return sums of the values of some rows by pair, (pairs,)."""
    return np.bincount(row[mask], values[mask], size).astype(float)


def maker_columns(
    votes: Votes, makers: Mapping[str, str] | str | Path, annotators: Any
) -> Columns:
    """Return each annotator's preference for its own maker, with bounds.

    They are nan for annotators without a maker, people say.
    """
    maker = read_makers(makers)
    unknown = [name for name in votes.competitors if name not in maker]
    if len(unknown) == votes.n_competitors:
        raise VotesError(
            f"makers names no maker of {listing(map(repr, unknown))}. It needs a maker for "
            "each competitor."
        )
    table = pair_table(votes.collapse(annotators=True))
    names = [str(name) for name in annotators]
    preference, lower, upper = np.full((3, len(names)), np.nan)
    for place, name in enumerate(names):
        if name in maker:
            k = votes.annotators.index(name)
            taste, sd = maker_taste(table, votes, k, maker)
            preference[place] = taste
            lower[place], upper[place] = taste - NORMAL * sd, taste + NORMAL * sd
    return {"own_maker": preference, "own_lower": lower, "own_upper": upper}


def maker_taste(
    table: PairTable, votes: Votes, k: int, maker: Mapping[str, str]
) -> tuple[float, float]:
    """Return an annotator's mean taste for its maker's competitors, and its sd."""
    own = maker[votes.annotators[k]]
    is_own = np.array([maker.get(name) == own for name in votes.competitors])
    rows = (table.annotator == k) & is_own[table.competitor]
    information = float(table.variance[rows].sum())
    if information == 0:
        return float("nan"), float("nan")
    taste = float(table.net[rows].sum()) / information
    spread = float(table.taste_variance[rows].sum()) * table.taste**2
    return taste, float(np.sqrt(information + spread)) / information


def read_makers(makers: Mapping[str, str] | str | Path) -> Mapping[str, str]:
    """Return the maker of each name, from a mapping or a CSV of two columns."""
    if isinstance(makers, Mapping):
        return makers
    import csv

    try:
        with Path(makers).open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.reader(file) if row]
    except OSError as error:
        raise VotesError(f"Cannot read {str(makers)!r}: {error.strerror}.") from error
    wrong = [number for number, row in enumerate(rows, 1) if len(row) != 2]
    if wrong:
        raise VotesError(
            f"{str(makers)!r} needs two columns, a name and its maker; rows "
            f"{listing(wrong)} have others."
        )
    return {name.strip(): maker.strip() for name, maker in rows}
