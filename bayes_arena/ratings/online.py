"""Online Elo: ratings updated vote by vote, which therefore depend on the order of the votes.

After a vote of score W on competitors i and j (Liu et al., 2025, equation 1 and Algorithm 1),

    R_i += K (W - P),    R_j -= K (W - P),    P = 1 / (1 + base^((R_j - R_i) / scale)),

where every R starts at init, with K = 4, scale 400, base 10 and init 1000 as in Chatbot Arena. What one gains the other
loses, so the mean stays at init. In the code ratings are in logits and move by at most K ln(base) / scale per vote.

Averages over shuffles of the votes, or over resamples with replacement, hide the order but not the spread that it
causes (the error bars of Figure 1 of Liu et al., 2025).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.compiled import called
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.ratings.leaderboard import ranks
from bayes_arena.votes.sequence import VoteSequence

K = 4.0
"""Largest change of a rating by one vote, in Elo points."""


@held
def online_elo(votes: VoteSequence, *, k: float = K, elo: EloScale | None = None) -> DataFrame:
    """Rate the competitors by Elo, vote by vote in the given order (Algorithm 1).

    Parameters
    ----------
    votes : VoteSequence
        Votes in order, from :func:`~bayes_arena.read_sequence`.
    k : float
        Largest change of a rating by one vote, in Elo points.
    elo : EloScale, optional
        Elo scale; every rating starts at its ``init``, and an anchor shifts all ratings at the end.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, votes``, best first.

    Raises
    ------
    ModelError
        If ``k`` is not positive, or the anchor is not a competitor.
    """
    score = walked_ratings(votes, [np.arange(votes.n_votes)], k, elo)[0]
    return competitor_table(votes, score, {"elo": score})


@held
def reversed_elo(votes: VoteSequence, *, k: float = K, elo: EloScale | None = None) -> DataFrame:
    """Show the effect of the order: online Elo of the votes in the given order, and in reverse.

    Parameters
    ----------
    votes : VoteSequence
    k, elo
        As for :func:`online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, rank_reversed, elo_reversed, votes``, best first in the order given.

    Raises
    ------
    ModelError
        As for :func:`online_elo`.
    """
    forward = np.arange(votes.n_votes)
    score, backward = walked_ratings(votes, [forward, forward[::-1]], k, elo)
    columns = {"elo": score, "rank_reversed": ranks(backward), "elo_reversed": backward}
    return competitor_table(votes, score, columns)


@held
def elo_by_annotator(votes: VoteSequence, *, k: float = K, elo: EloScale | None = None) -> DataFrame:
    """Compute online Elo from the votes of each annotator alone (the lines of Figure 1).

    Parameters
    ----------
    votes : VoteSequence
        Votes with annotators.
    k, elo
        As for :func:`online_elo`; every annotator must have votes on the anchor.

    Returns
    -------
    pandas.DataFrame
        ``annotator, competitor, elo, votes``: one row for every competitor an annotator has voted on, sorted by name.

    Raises
    ------
    ModelError
        If the annotators are unknown, or one has no vote on the anchor; and as for :func:`online_elo`.
    """
    if not votes.n_annotators:
        raise ModelError("The votes have no annotators. Name the column (annotator=...) when reading them.")
    orders = [np.flatnonzero(votes.annotator == index) for index in range(votes.n_annotators)]
    seen = np.array([_appearances(votes, order) for order in orders])
    if elo is not None and elo.anchor is not None and elo.anchor[0] in votes.competitors:
        blind = np.flatnonzero(seen[:, votes.competitors.index(elo.anchor[0])] == 0)
        if len(blind):
            raise ModelError(
                f"{votes.annotators[blind[0]]!r} has no vote on the anchor {elo.anchor[0]!r}. Leave the anchor out."
            )
    score = walked_ratings(votes, orders, k, elo)
    annotator, competitor = np.nonzero(seen)
    names, judges = np.array(votes.competitors, dtype=object), np.array(votes.annotators, dtype=object)
    return table_of(
        {
            "annotator": judges[annotator],
            "competitor": names[competitor],
            "elo": score[annotator, competitor],
            "votes": seen[annotator, competitor],
        }
    )


def walked_ratings(votes: VoteSequence, orders: Iterable[Ints], k: float, elo: EloScale | None) -> Floats:
    """Return the ratings in Elo points after all votes in each order, shape (n_orders, n_competitors)."""
    elo = elo or EloScale()
    if not 0 < k < np.inf:
        raise ModelError(f"k, the largest change of a rating by one vote, must be a positive number, not {k!r}.")
    from bayes_arena.likelihood import loops  # numba is slow to import

    rate, scores = k / elo.points_per_logit, list[Floats]()
    for order in orders:
        given = votes.a[order], votes.b[order], votes.score[order]
        scores.append(elo.points(called(loops.elo_updates, *given, rate, votes.n_competitors), votes.competitors))
    return np.array(scores)


def _appearances(votes: VoteSequence, order: Ints) -> Ints:
    ones = np.ones(len(order))
    sums = sum_by(votes.a[order], ones, votes.n_competitors) + sum_by(votes.b[order], ones, votes.n_competitors)
    return sums.astype(np.int64)


def competitor_table(votes: VoteSequence, score: Floats, columns: dict[str, Any]) -> DataFrame:
    """Return a table of rank, competitor, the given columns and the number of votes, best first."""
    everything = {
        "rank": ranks(score),
        "competitor": np.array(votes.competitors, dtype=object),
        **columns,
        "votes": _appearances(votes, np.arange(votes.n_votes)),
    }
    table = table_of(everything)
    return table.sort_values(["rank", "competitor"], ignore_index=True)


@held
def shuffled_elo(
    votes: VoteSequence, *, shuffles: int = 1000, seed: int = 0, k: float = K, elo: EloScale | None = None
) -> DataFrame:
    """Average online Elo over random orders of the votes (the error bars of Figure 1).

    Parameters
    ----------
    votes : VoteSequence
    shuffles : int
        Number of random orders, at least two.
    seed : int
        The same seed gives the same orders.
    k, elo
        As for :func:`~bayes_arena.online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, mean, sd, min, max, votes``, highest mean first; in Elo points, over the shuffles.

    Raises
    ------
    ModelError
        If there are fewer than two shuffles; and as for :func:`~bayes_arena.online_elo`.
    """
    drawn = shuffled_ratings(votes, shuffles=shuffles, seed=seed, k=k, elo=elo)
    mean = drawn.mean(axis=0)
    columns = {"mean": mean, "sd": drawn.std(axis=0, ddof=1), "min": drawn.min(axis=0), "max": drawn.max(axis=0)}
    return competitor_table(votes, mean, columns)


def shuffled_ratings(
    votes: VoteSequence, *, shuffles: int = 1000, seed: int = 0, k: float = K, elo: EloScale | None = None
) -> Floats:
    """Return the ratings of every shuffle in Elo points, shape (shuffles, n_competitors); see :func:`shuffled_elo`."""
    rng = _generator(shuffles, seed)
    return walked_ratings(votes, (rng.permutation(votes.n_votes) for _ in range(shuffles)), k, elo)


@held
def bootstrapped_elo(
    votes: VoteSequence,
    *,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    k: float = K,
    elo: EloScale | None = None,
) -> DataFrame:
    """Compute online Elo of votes resampled with replacement, in the order drawn, as Chatbot Arena's bootstrap does.

    The code of am-ELO's authors reports the median of 1,000 resamples as Elo, whereas their text takes the mean over
    shuffles. The spread mixes sampling error with the effect of the order. A competitor that is absent from a resample
    stays at ``init`` in it.

    Parameters
    ----------
    votes : VoteSequence
    resamples : int
        Number of resamples, at least two.
    seed : int
        The same seed gives the same resamples.
    level : float
        Coverage of the percentile interval.
    k, elo
        As for :func:`~bayes_arena.online_elo`.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, median, sd, lower, upper, votes``, highest median first; in Elo points.

    Raises
    ------
    ModelError
        If there are fewer than two resamples or the level is invalid; and as for :func:`~bayes_arena.online_elo`.
    """
    require_level(level)
    rng = _generator(resamples, seed)
    size = votes.n_votes
    drawn = walked_ratings(votes, (rng.integers(size, size=size) for _ in range(resamples)), k, elo)
    median, (lower, upper) = np.quantile(drawn, 0.5, axis=0), equal_tailed(drawn, level)
    columns = {"median": median, "sd": drawn.std(axis=0, ddof=1), "lower": lower, "upper": upper}
    return competitor_table(votes, median, columns)


def _generator(times: int, seed: int) -> np.random.Generator:
    if times < 2 or seed < 0:
        raise ModelError(f"A spread needs at least two runs and a seed of at least 0, not {times} and {seed}.")
    return np.random.default_rng(seed)
