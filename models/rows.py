"""Votes as the arrays that the programs read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.model.spec import is_shown_both_ways
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Use
from bayes_arena.votes.votes import TIE, Votes

A_VOTE = 0.2  # what a vote says on what it depends on, p (1 - p): .25 at most


@dataclass(frozen=True, eq=False)
class Data:
    """Rows of votes.

    Attributes
    ----------
    coords : dict of str to sequence
        Labels of the dimensions: "competitor", "annotator", "row", and of slices.
    first, second : ndarray of int, shape (pairs,)
        Competitors of the ordered pairs.
    pair, annotator : ndarray of int, shape (rows,)
        Which pair was shown, and who voted.
    counts : ndarray, shape (rows, 3) or (rows, 5)
        Wins of the first, of the second, and ties; if graded, clear wins of either.
    share : ndarray, shape (annotators,)
        Each annotator's share of the votes.
    information : dict of str to float
        About what the votes say on a parameter of each dimension, a precision: a fifth of
        the harmonic mean of the votes on each.
    has_sides, has_ties : bool
        Whether some pair was shown both ways, so that an advantage of the first side
        can be told; and whether there are ties.
    slices : mapping of str to (ndarray, ndarray, ndarray)
        For each slice, by row: the level, and the numbers of the first and of the second
        competitor at this level, among those seen at it.
    features : mapping of str to ndarray, shape (rows,)
        Features of the answers, first minus second.
    """

    coords: dict[str, Sequence[Any]]
    first: Ints
    second: Ints
    pair: Ints
    annotator: Ints
    counts: Floats
    share: Floats
    information: dict[str, float]
    has_sides: bool
    has_ties: bool
    slices: Mapping[str, tuple[Ints, ...]]
    features: Mapping[str, Floats]

    @property
    def folded(self) -> Floats:
        """Wins of the first, of the second and ties, clear wins being wins, (rows, 3)."""
        folded = self.counts[:, :3].copy()
        if self.counts.shape[1] > 3:
            folded[:, :2] += self.counts[:, 3:]
        return folded

    @property
    def half_wins(self) -> Floats:
        """Wins of the first and of the second, a tie half of each, (rows, 2)."""
        return self.folded[:, :2] + self.folded[:, [TIE]] / 2


def data(
    votes: object,
    *,
    annotators: bool = True,
    slices: Sequence[str] = (),
    features: Sequence[str] = (),
    per_vote: bool = False,
) -> Data:
    """Return votes as the arrays that a program reads.

    Parameters
    ----------
    votes : Votes, path, dataframe or Data
        ``Data`` are returned as they are.
    annotators : bool
        Whether rows of different annotators stay apart; votes of an unknown annotator, or
        prompt, are left out where these are told apart.
    slices, features : sequence of str
        Slices and features that stay apart.
    per_vote : bool
        One row for each vote, so that the log-likelihood of a sampled program has a
        column a vote, as ``az.loo`` needs; by default one for each kind of vote.

    Returns
    -------
    Data

    Raises
    ------
    ModelError
        If there is to be one row a vote, and votes have fractional weights.
    """
    if isinstance(votes, Data):
        return votes
    votes = votes_from(votes)
    kinds = (*(["annotator"] if annotators and votes.annotators else []), *slices)
    votes = votes.known(*kinds)
    votes = votes.collapse(annotators=annotators, slices=slices, features=features)
    has_sides = is_shown_both_ways(votes)
    has_ties = bool(votes.counts[:, TIE].any())
    share: Floats = np.zeros(0)
    if votes.n_annotators:
        share = votes.votes_by_annotator / votes.n_votes
    numbers = {by: slice_numbers(by, votes) for by in slices}
    coords = coords_of(votes, slices)
    information = information_of(votes, numbers)
    if per_vote:
        votes, row = one_row_a_vote(votes)
        for by, codes in numbers.items():
            numbers[by] = tuple(code[row] for code in codes)
    n = votes.n_competitors
    pairs, pair = np.unique(votes.i * n + votes.j, return_inverse=True)
    return Data(
        coords={**coords, "row": range(len(votes))},
        first=pairs // n,
        second=pairs % n,
        pair=pair,
        annotator=votes.annotator,
        counts=votes.counts,
        share=share,
        information=information,
        has_sides=has_sides,
        has_ties=has_ties,
        slices=numbers,
        features=votes.features,
    )


def slice_numbers(by: str, votes: Votes) -> tuple[Ints, ...]:
    """Return level, and the numbers of both competitors at this level, by row."""
    _, (first, second) = competitor_keys(by, votes)
    return votes.level(by), first, second


def information_of(
    votes: Votes, numbers: Mapping[str, tuple[Ints, ...]]
) -> dict[str, float]:
    """Return about what the votes say on a parameter of each dimension.

    A vote of probability p has the information p (1 - p) on what it depends on; it depends
    on two competitors.  Precisions of parameters with few votes and many are averaged as
    their variances are.
    """
    cast = votes.counts.sum(axis=1)
    both = np.tile(cast, 2)
    known = {"competitor": harmonic_mean(np.concatenate([votes.i, votes.j]), both)}
    if votes.n_annotators:
        known["annotator"] = harmonic_mean(votes.annotator, cast)
    for by, (level, first, second) in numbers.items():
        known[by] = harmonic_mean(level, cast)
        competitor = np.concatenate([first, second])
        known[f"competitor_by_{by}"] = harmonic_mean(competitor, both)
    return {dim: A_VOTE * n_votes for dim, n_votes in known.items()}


def harmonic_mean(code: Ints, n_votes: Floats) -> float:
    """Return the harmonic mean of the sums of votes by code, of those that occur."""
    total = np.bincount(code, n_votes)
    return float(1 / np.mean(1 / total[total > 0]))


def coords_of(votes: Votes, slices: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Return the labels of competitors, annotators, and of what slices have."""
    coords: dict[str, Sequence[Any]] = {"competitor": votes.competitors}
    if votes.n_annotators:
        coords["annotator"] = votes.annotators
    for by in slices:
        keys, _ = competitor_keys(by, votes)
        level, competitor = np.divmod(keys, votes.n_competitors)
        levels = votes.levels[by]
        coords[by] = levels
        pairs = zip(competitor, level, strict=True)
        names = [f"{votes.competitors[c]} | {levels[g]}" for c, g in pairs]
        coords[f"competitor_by_{by}"] = names
    return coords


def one_row_a_vote(votes: Votes) -> tuple[Votes, Ints]:
    """Return the votes one by one, and the row that each was in."""
    if votes.has_fractions:
        raise ModelError(
            "Votes with fractional weights cannot be written one a row.",
            Use(per_vote=False),
        )
    row, outcome = votes.one_by_one()
    counts = np.zeros((len(row), votes.counts.shape[1]))
    counts[np.arange(len(row)), outcome] = 1.0
    return replace(votes.take(row), counts=counts), row


def competitor_keys(by: str, votes: Votes) -> tuple[Ints, list[Ints]]:
    """Return level * competitors + competitor where seen, and their numbers in the rows."""
    base = votes.level(by) * votes.n_competitors
    seen, number = np.unique(
        np.concatenate([base + votes.i, base + votes.j]), return_inverse=True
    )
    return seen, np.split(number, 2)
