"""The leaderboard, of one fit or many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.sensitivity import prior_sensitivity
from bayes_arena.boards.slices import slice_boards
from bayes_arena.boards.standing import MIN_VOTES, Standing, standing_of
from bayes_arena.errors import warn
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.result import Fit
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

if TYPE_CHECKING:
    import pandas as pd

ELO = EloScale()


def leaderboard(
    fit: object,
    *,
    interval: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    rank_spread: bool = False,
    by: str | None = None,
    elo: EloScale = ELO,
    seed: int = 0,
    **columns: Any,
) -> pd.DataFrame:
    """Rank the competitors on the Elo scale.

    Parameters
    ----------
    fit : Fit, or votes
        Votes are fitted by Davidson's model.
    interval : {"posterior", "clustered", "sandwich", "bootstrap"}, optional
        "posterior": the model's own.  "clustered": votes of a cluster depend on each
        other (CR1, Student's t).  "sandwich": votes are independent, the model may be
        off.  "bootstrap": votes, or clusters, drawn again.  By default "clustered" by
        prompt where prompts repeat, else "posterior".
    cluster : str, optional
        "prompt", "annotator" or a slice.
    level : float
        Of intervals and rank ranges.
    min_votes : float
        Competitors with fewer votes have no rank, and stand below the others.
    rank_spread : bool
        Whether ranks are the arena's rank spread, by which intervals overlap, in place of
        those that a competitor's own draws leave to it.
    by : str, optional
        A slice in the model's ``strength_by``: one board for each of its levels.
    elo : EloScale
    seed : int
        Of the draws of ranks.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame
        rank, competitor, elo, lower, upper, rank_lower, rank_upper, votes, wins, losses,
        ties, p_best (probability of being the best); with ``by`` its level first.

    Raises
    ------
    ModelError
        If an option is unknown, or the model has no strengths by the slice.

    Warns
    -----
    ArenaWarning
        If scores depend on the prior.
    """
    result = fitted(fit, **columns)
    if by is not None:
        return dataframe(slice_boards(result, by, level=level, elo=elo, seed=seed))
    options: dict[str, Any] = {
        "interval": interval,
        "cluster": cluster,
        "min_votes": min_votes,
    }
    standing = standing_of(result, level=level, seed=seed, **options)
    note = prior_sensitivity(standing)
    if note:
        warn(note)
    return dataframe(leaderboard_columns(standing, elo, rank_spread=rank_spread))


def leaderboards(
    fits: Mapping[str, Fit], *, elo: EloScale = ELO, **options: Any
) -> pd.DataFrame:
    """Rank the competitors of many fits, each apart.

    Parameters
    ----------
    fits : mapping of str to Fit
        From :func:`~bayes_arena.fit_many`.
    elo : EloScale
    **options
        interval, cluster, level, min_votes and seed of :func:`leaderboard`.

    Returns
    -------
    DataFrame
        The boards one below the other, with the name of each in "board".
    """
    return dataframe(leaderboards_columns(fits, elo=elo, **options))


def leaderboards_columns(
    fits: Mapping[str, Fit], *, elo: EloScale = ELO, **options: Any
) -> Columns:
    """Return the columns of :func:`leaderboards`."""
    boards = {
        name: leaderboard_columns(standing_of(fit, **options), elo)
        for name, fit in fits.items()
    }
    parts = list(boards.values())
    names = [name for name, board in boards.items() for _ in board["rank"]]
    stacked: dict[str, Any] = {"board": names}
    for column in parts[0] if parts else ():
        stacked[column] = np.concatenate([np.asarray(part[column]) for part in parts])
    return stacked


def leaderboard_columns(
    standing: Standing, elo: EloScale = ELO, *, rank_spread: bool = False
) -> Columns:
    """Return the columns of a leaderboard, best first, those without a rank last."""
    votes = standing.fit.votes
    scores = elo.points(standing.strength, votes.competitors)
    lower, upper = standing.bounds
    best, worst = standing.rank_spread if rank_spread else standing.rank_range
    wins, losses, ties = records(votes)
    columns: dict[str, Any] = {
        "rank": standing.ranks,
        "competitor": np.array(votes.competitors, dtype=object),
        "elo": scores,
        "lower": scores + elo.points_per_logit * (lower - standing.strength),
        "upper": scores + elo.points_per_logit * (upper - standing.strength),
        "rank_lower": best,
        "rank_upper": worst,
        "votes": wins + losses + ties,
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "p_best": standing.p_best,
    }
    order = np.lexsort([-np.nan_to_num(scores, nan=-np.inf), standing.ranks])
    return {name: values[order] for name, values in columns.items()}


def records(votes: Votes) -> tuple[Floats, Floats, Floats]:
    """Return wins, losses and ties of the competitors, each (competitors,)."""
    n = votes.n_competitors
    first, second, tie = (votes.folded[:, c] for c in (FIRST, SECOND, TIE))
    wins = np.bincount(votes.i, first, n) + np.bincount(votes.j, second, n)
    losses = np.bincount(votes.i, second, n) + np.bincount(votes.j, first, n)
    ties = np.bincount(votes.i, tie, n) + np.bincount(votes.j, tie, n)
    return wins.astype(float), losses.astype(float), ties.astype(float)
