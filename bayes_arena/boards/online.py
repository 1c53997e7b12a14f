"""Online Elo: ratings updated vote by vote, which depend on the order of the votes.

After a vote with score W (1, 0, or 1/2 for a tie) for competitor i against j,

    R_i += K (W - P),    R_j -= K (W - P),    P = 1 / (1 + base^((R_j - R_i) / scale))

(Liu et al., 2025, equation 1 and Algorithm 1).  Every R starts at init.  Chatbot Arena
took K = 4, scale 400, base 10 and init 1000.  What one gains the other loses, so that
the mean stays at init.  In the code ratings are in logits, and K becomes
``step`` = K ln(base) / scale.

Averages over random orders, or over resamples with replacement, hide the order but not
the spread that it causes (the error bars of Figure 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.ranks import ranks
from bayes_arena.errors import ModelError, require_level, require_seed
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.sequence import read_sequence
from bayes_arena.tables import Columns, dataframe, stacked
from bayes_arena.votes.singles import VoteSequence
from bayes_arena.votes.votes import NO_ANNOTATORS

if TYPE_CHECKING:
    import pandas as pd

K = 4.0  # largest change of a rating by one vote, in Elo points
ORDERED_VOTES = 2**25  # votes, over all orders, that are walked through together
LARGEST_LOGIT = 700.0  # a lead beyond which exp overflows
BLOCK = 1000  # votes of every order whose codes are looked up together


def online_elo(
    votes: object,
    *,
    k: float = K,
    elo: EloScale | None = None,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Rate the competitors by Elo, vote by vote in the order given (Algorithm 1).

    Parameters
    ----------
    votes : path, dataframe, list of records or VoteSequence
        What :func:`~bayes_arena.read_sequence` reads, or has read: votes in order.
    k : float
        Largest change of a rating by one vote, in Elo points.
    elo : EloScale, optional
        Every rating starts at its ``init``; its anchor shifts all ratings at the end.
    **columns
        Options of :func:`~bayes_arena.read_sequence`, where votes are still to be read.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, votes``, best first.

    Raises
    ------
    ModelError
        If ``k`` is not positive, or the anchor is not a competitor.
    VotesError
        If the votes cannot be read, or are counts, which have no order.
    """
    run = online(read_sequence(votes, **columns), k, elo)
    return run.table({"elo": run.after(run.every_vote)})


def reversed_elo(
    votes: object,
    *,
    k: float = K,
    elo: EloScale | None = None,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Show what the order does: Elo of the votes in the order given, and in reverse.

    Parameters
    ----------
    votes, k, elo, **columns
        As for :func:`online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, rank_reversed, elo_reversed, votes``, best first in the
        order given.

    Raises
    ------
    ModelError, VotesError
        As for :func:`online_elo`.
    """
    run = online(read_sequence(votes, **columns), k, elo)
    backward = run.after(run.every_vote[::-1])
    return run.table(
        {
            "elo": run.after(run.every_vote),
            "rank_reversed": ranks(backward),
            "elo_reversed": backward,
        }
    )


def shuffled_elo(
    votes: object,
    *,
    shuffles: int = 1000,
    seed: int = 0,
    k: float = K,
    elo: EloScale | None = None,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Average Elo over random orders of the votes (the error bars of Figure 1).

    Parameters
    ----------
    votes, k, elo, **columns
        As for :func:`online_elo`.
    shuffles : int
        Number of random orders, at least two.
    seed : int

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, mean, sd, min, max, votes``, highest mean first; in Elo
        points, over the orders.

    Raises
    ------
    ModelError
        If there are fewer than two shuffles; and as for :func:`online_elo`.
    """
    run = online(read_sequence(votes, **columns), k, elo)
    ratings = run.shuffled(shuffles, seed)
    return run.table(
        {
            "mean": ratings.mean(axis=0),
            "sd": ratings.std(axis=0, ddof=1),
            "min": ratings.min(axis=0),
            "max": ratings.max(axis=0),
        }
    )


def bootstrapped_elo(
    votes: object,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    k: float = K,
    elo: EloScale | None = None,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Rate by Elo votes drawn with replacement, as Chatbot Arena's bootstrap did.

    The code of am-ELO's authors reports the median over 1,000 resamples, whereas their
    text takes the mean over shuffles.  The spread mixes the error of sampling with the
    effect of the order.  A competitor that is absent from a resample stays at ``init``
    in it.

    Parameters
    ----------
    votes, k, elo, **columns
        As for :func:`online_elo`.
    resamples : int
        Number of resamples, at least two.
    seed : int
    level : float
        Coverage of the percentile interval.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, median, sd, lower, upper, votes``, highest median first; in
        Elo points.

    Raises
    ------
    ModelError
        If there are fewer than two resamples, or the level does not lie between 0 and
        1; and as for :func:`online_elo`.
    """
    require_level(level)
    run = online(read_sequence(votes, **columns), k, elo)
    ratings = run.resampled(resamples, seed)
    tail = (1 - level) / 2
    lower, median, upper = np.quantile(ratings, [tail, 0.5, 1 - tail], axis=0)
    sd = ratings.std(axis=0, ddof=1)
    return run.table({"median": median, "sd": sd, "lower": lower, "upper": upper})


def elo_by_annotator(
    votes: object,
    *,
    k: float = K,
    elo: EloScale | None = None,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Rate by Elo from the votes of each annotator alone (the lines of Figure 1).

    Parameters
    ----------
    votes, k, elo, **columns
        As for :func:`online_elo`; annotators must be known, and each must have voted on
        the anchor.

    Returns
    -------
    pandas.DataFrame
        ``annotator, competitor, elo, votes``: a row for each competitor that an
        annotator has voted on, sorted by names.

    Raises
    ------
    ModelError
        If the annotators are unknown, or one has not voted on the anchor; and as for
        :func:`online_elo`.
    """
    run = online(read_sequence(votes, **columns), k, elo)
    tables = []
    for annotator, rows in rows_by_annotator(run.votes):
        cast = votes_on_competitors(run.votes, rows)
        require_anchor(run, cast, annotator)
        voted = np.flatnonzero(cast)
        tables.append(
            {
                "annotator": np.full(len(voted), annotator, dtype=object),
                "competitor": run.names[voted],
                "elo": run.after(rows)[voted],
                "votes": cast[voted],
            }
        )
    return dataframe(stacked(tables))


@dataclass(frozen=True, eq=False)
class Online:
    """Votes in order, and a scale on which ratings go up and down with them.

    ``step`` is K in logits.
    """

    votes: VoteSequence
    scale: EloScale
    step: float

    @property
    def names(self) -> Array:
        """Names of the competitors, (competitors,)."""
        return np.array(self.votes.competitors, dtype=object)

    @property
    def every_vote(self) -> Ints:
        """The order in which the votes were cast."""
        return np.arange(len(self.votes.score))

    def points(self, rating: Floats) -> Floats:
        """Return ratings in logits as Elo points, (competitors,)."""
        return self.scale.points(self.votes.competitors, rating)

    def after(self, order: Ints) -> Floats:
        """Return Elo after the votes in one order, in points, (competitors,)."""
        return self.points(walk(self.votes, order, self.step))

    def shuffled(self, times: int, seed: int) -> Floats:
        """Return Elo in random orders of the votes, in points, (times, competitors)."""
        rng = generator(times, seed)
        return self.after_each(times, lambda: rng.permutation(len(self.votes.score)))

    def resampled(self, times: int, seed: int) -> Floats:
        """Return Elo of votes drawn with replacement, in points, (times, competitors)."""
        rng = generator(times, seed)
        size = len(self.votes.score)
        return self.after_each(times, lambda: rng.integers(size, size=size))

    def after_each(self, times: int, draw_order: Callable[[], Ints]) -> Floats:
        """Return Elo after each of the orders that are drawn, in points, (times, competitors).

        As many orders are walked together as ``ORDERED_VOTES`` leaves memory for.
        """
        at_once = max(ORDERED_VOTES // len(self.votes.score), 1)
        ratings = np.empty((times, len(self.votes.competitors)))
        for start in range(0, times, at_once):
            chunk = ratings[start : start + at_once]
            orders = np.empty((len(self.votes.score), len(chunk)), np.int32)
            for run in range(len(chunk)):
                orders[:, run] = draw_order()
            walked = walk_together(self.votes, orders, self.step)
            for run, rating in enumerate(walked):
                chunk[run] = self.points(rating)
        return ratings

    def table(self, columns: Columns) -> pd.DataFrame:
        """Return rank, competitor, some columns and votes, by the first column."""
        rank = ranks(np.asarray(next(iter(columns.values()))))
        order = np.lexsort((np.arange(len(rank)), rank))
        table = {
            "rank": rank,
            "competitor": self.names,
            **columns,
            "votes": votes_on_competitors(self.votes, self.every_vote),
        }
        return dataframe({name: np.asarray(x)[order] for name, x in table.items()})


def online(votes: VoteSequence, k: float = K, elo: EloScale | None = None) -> Online:
    """Return votes that are to be rated one by one."""
    scale = elo or ELO
    if not 0 < k < np.inf:
        raise ModelError(
            "k, the largest change of a rating by one vote, must be a positive number; "
            f"not {k!r}."
        )
    return Online(votes, scale, k / scale.points_per_logit)


def generator(times: int, seed: int) -> np.random.Generator:
    """Return a generator of random orders; a spread needs two of them."""
    require_seed(seed)
    if times < 2:
        raise ModelError(f"A spread needs at least two runs, not {times}.")
    return np.random.default_rng(seed)


def walk(votes: VoteSequence, order: Ints, step: float) -> Floats:
    """Return the ratings after the votes of one order, in logits, (competitors,)."""
    rating = [0.0] * len(votes.competitors)
    first, second = votes.i[order].tolist(), votes.j[order].tolist()
    for i, j, score in zip(first, second, votes.score[order].tolist(), strict=True):
        behind = min(rating[j] - rating[i], LARGEST_LOGIT)
        change = step * (score - 1 / (1 + math.exp(behind)))
        rating[i] += change
        rating[j] -= change
    return np.array(rating)


def walk_together(votes: VoteSequence, orders: Ints, step: float) -> Floats:
    """Return the ratings after each of many orders, in logits, (orders, competitors).

    ``orders`` is (votes, orders).  The orders are walked through side by side: the n-th
    votes of all of them are one step of NumPy.
    """
    n_orders, n = orders.shape[1], len(votes.competitors)
    rating = np.zeros(n_orders * n)
    offset = n * np.arange(n_orders)  # where the ratings of each order begin
    for start in range(0, len(orders), BLOCK):
        block = orders[start : start + BLOCK]
        first, second = offset + votes.i[block], offset + votes.j[block]
        for i, j, score in zip(first, second, votes.score[block], strict=True):
            rating_i, rating_j = rating[i], rating[j]
            change = step * (score - expit(rating_i - rating_j))
            rating[i] = rating_i + change
            rating[j] = rating_j - change
    return rating.reshape(n_orders, n)


def rows_by_annotator(votes: VoteSequence) -> Iterable[tuple[str, Ints]]:
    """Return each annotator's name and votes, in order."""
    if not votes.annotators:
        raise ModelError(NO_ANNOTATORS)
    for code, name in enumerate(votes.annotators):
        yield name, np.flatnonzero(votes.annotator == code)


def votes_on_competitors(votes: VoteSequence, rows: Ints) -> Ints:
    """Return the number of votes on each competitor, (competitors,)."""
    n = len(votes.competitors)
    return np.bincount(votes.i[rows], minlength=n) + np.bincount(
        votes.j[rows], minlength=n
    )


def require_anchor(run: Online, cast: Ints, annotator: str) -> None:
    """Raise a ModelError if an annotator has not voted on the anchor."""
    names = run.votes.competitors
    if run.scale.anchor is None or run.scale.anchor[0] not in names:
        return
    if not cast[names.index(run.scale.anchor[0])]:
        raise ModelError(
            f"{annotator!r} has no vote on the anchor {run.scale.anchor[0]!r}. Leave the "
            "anchor out."
        )
