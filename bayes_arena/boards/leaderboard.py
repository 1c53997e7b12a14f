"""The leaderboard, of one fit or of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import ELO, EloScale, require_scale
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.ranks import rank_spread as spread_of, ranks
from bayes_arena.boards.sensitivity import doubts
from bayes_arena.boards.slices import standings_by
from bayes_arena.boards.standing import (
    Standing,
    standing_of,
    whole,
    wins_losses_ties,
)
from bayes_arena.errors import ModelError, listing, warn
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.fits.result import Fit
from bayes_arena.said import Call, Note
from bayes_arena.tables import Columns, dataframe, stacked
from bayes_arena.votes.votes import MIN_VOTES

if TYPE_CHECKING:
    import pandas as pd


def leaderboard(
    fit: object,
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    rank_spread: bool = False,
    elo: EloScale = ELO,
    by: str | None = None,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> pd.DataFrame:
    """Rank the competitors on the Elo scale.

    Parameters
    ----------
    fit : Fit, or votes as for :func:`~bayes_arena.fit`
        Votes are fitted by Davidson's model.
    interval : {"posterior", "clustered", "sandwich", "bootstrap"}, optional
        By default "clustered" by prompt where prompts are known and repeat, so that
        intervals allow for new prompts like these; else "posterior".  "clustered" without
        prompts is by annotator.  "sandwich" takes votes as independent without trusting
        the model, and "bootstrap" draws votes or clusters with replacement, 200 times.  A
        fit with samples has "posterior" only.
    cluster : str, optional
        What votes of a cluster share: "prompt", "annotator" or another slice.
    level : float
        Coverage of each interval and of each rank range.
    min_votes : float
        Competitors with fewer votes have a score, but no rank.
    rank_spread : bool
        Whether ranges of ranks are the arena's spread, by which bounds overlap.
    elo : EloScale
    by : str, optional
        A slice in ``strength_by`` of the model: one board for each of its levels, pooled.
    seed : int
        Of the draws that ranks come from.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, lower, upper, rank_lower, rank_upper, votes, wins,
        losses, ties, p_best``, the best first; with ``by``, first a column of its levels.
        The range of ranks is that which a competitor's own posterior gives it at the
        level, and ``p_best`` the probability that it is the best.  Below the others,
        with nan, stand those without a rank, and last those without an estimate.
        ``attrs`` has the level, the interval, and ``notes`` for the reader, among them
        the warnings of the fit.

    Raises
    ------
    ModelError
        If an option is invalid, or the model has no strengths by the slice.

    Warns
    -----
    ArenaWarning
        If a score depends on the prior.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> board = ba.leaderboard(ba.fit(ba.example_arena().votes))
    >>> board["competitor"][0]
    'model-18'
    """
    require_scale(elo)
    look = Look(interval, cluster, level, min_votes, seed)
    fit = fitted(fit, **options)
    if by is None:
        standing = standing_of(fit, look)
        warnings = doubts(fit, min_votes)
        for note in warnings:
            if note not in fit.warnings:  # which were given when it was fitted
                warn(note)
        columns = leaderboard_columns(standing, elo=elo, rank_spread=rank_spread)
        return with_notes(columns, {"": standing}, {"": warnings})
    standings = standings_by(fit, by, look)
    columns = stacked_columns(by, standings, elo=elo, rank_spread=rank_spread)
    return with_notes(columns, standings, dict.fromkeys(standings, fit.warnings))


def leaderboards(
    fits: Mapping[str, Fit],
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    rank_spread: bool = False,
    elo: EloScale = ELO,
    seed: int = 0,
) -> pd.DataFrame:
    """Rank the competitors of many boards, in one table.

    Parameters
    ----------
    fits : mapping of str to Fit
        From :func:`~bayes_arena.fit_many`.
    interval, cluster, level, min_votes, rank_spread, elo, seed
        As in :func:`leaderboard`.

    Returns
    -------
    pandas.DataFrame
        A column ``board``, then those of :func:`leaderboard`.

    Raises
    ------
    ModelError
        If there is no fit, or an option is invalid.
    """
    if not isinstance(fits, Mapping):
        raise ModelError(
            f"leaderboards takes fits by name, as fit_many returns them, not a value of "
            f"type {type(fits).__name__}.",
            Call("fit_many", by="category"),
        )
    if not fits:
        raise ModelError("There is no fit to show.")
    look = Look(interval, cluster, level, min_votes, seed)
    standings = {name: standing_of(fit, look) for name, fit in fits.items()}
    columns = stacked_columns("board", standings, elo=elo, rank_spread=rank_spread)
    warnings = {name: fit.warnings for name, fit in fits.items()}
    return with_notes(columns, standings, warnings)


def leaderboard_columns(
    standing: Standing, *, elo: EloScale = ELO, rank_spread: bool = False
) -> Columns:
    """Return the columns of :func:`leaderboard`."""
    shift = elo.shift(standing.competitors, standing.strength)
    lower, upper = standing.bounds
    wins, losses, ties = wins_losses_ties(standing.votes)
    rank = np.full(len(standing.strength), np.nan)
    rank[standing.ranked] = ranks(standing.strength[standing.ranked])
    first, last = spread_of(standing) if rank_spread else standing.rank_ranges
    columns = {
        "rank": rank,
        "competitor": np.array(standing.competitors, dtype=object),
        "elo": elo.points(standing.competitors, standing.strength),
        "lower": shift + elo.points_per_logit * lower,
        "upper": shift + elo.points_per_logit * upper,
        "rank_lower": of_ranked(standing, first),
        "rank_upper": of_ranked(standing, last),
        "votes": whole(standing.votes.votes_by_competitor),
        "wins": whole(wins),
        "losses": whole(losses),
        "ties": whole(ties),
        "p_best": of_ranked(standing, standing.p_best),
    }
    order = np.lexsort((columns["competitor"].astype(str), -standing.strength, rank))
    return {name: as_whole(name, column[order]) for name, column in columns.items()}


def of_ranked(standing: Standing, values: Array) -> Floats:
    """Return numbers of the ranked competitors for all, nan elsewhere."""
    everyone = np.full(len(standing.strength), np.nan)
    everyone[standing.ranked] = values
    return everyone


def as_whole(name: str, column: Array) -> Array:
    """Return ranks as whole numbers, if all competitors have one."""
    if name.startswith("rank") and np.isfinite(column).all():
        return column.astype(np.int64)
    return column


def stacked_columns(
    by: str, standings: Mapping[str, Standing], *, elo: EloScale, rank_spread: bool
) -> Columns:
    """Return the columns of several boards, with their names in the first."""
    for name, standing in standings.items():
        require_anchor_there(elo, standing, f"{by} {name!r}")
    tables = [
        leaderboard_columns(standing, elo=elo, rank_spread=rank_spread)
        for standing in standings.values()
    ]
    if by in tables[0]:
        raise ModelError(
            f"The leaderboard has a column {by!r} of its own. Read the slice under "
            "another name."
        )
    sizes = [len(table["competitor"]) for table in tables]
    names = np.repeat(np.array([*standings], dtype=object), sizes)
    return {by: names, **stacked(tables)}


def require_anchor_there(elo: EloScale, standing: Standing, where: str) -> None:
    """Refuse an anchor that has no votes on one of several boards."""
    if elo.anchor is None:
        return
    name, _ = elo.anchor
    if name in standing.fit.votes.competitors and name not in standing.competitors:
        raise ModelError(
            f"The anchor {name!r} has no votes in {where}. Anchor one that has votes in "
            "all boards, or none."
        )


def with_notes(
    columns: Columns,
    standings: Mapping[str, Standing],
    warnings: Mapping[str, tuple[Note, ...]],
) -> pd.DataFrame:
    """Return a dataframe that says how its boards were made, and what makes them doubtful."""
    table = dataframe(columns)
    uncertainties = [standing.uncertainty for standing in standings.values()]
    notes = {name: (*standings[name].notes, *warnings[name]) for name in standings}
    table.attrs = {
        "level": next(iter(standings.values())).look.level,
        "interval": ", ".join(dict.fromkeys(each.name for each in uncertainties)),
        "cluster": next((each.cluster for each in uncertainties if each.cluster), None),
        "notes": tuple(map(str, notes_of_boards(notes))),
    }
    return table


def notes_of_boards(notes_by_board: Mapping[str, Sequence[Note]]) -> tuple[Note, ...]:
    """Return the notes of boards, each once: with the boards' names, unless all have it."""
    boards: dict[Note, list[str]] = {}
    for name, notes in notes_by_board.items():
        for note in dict.fromkeys(notes):
            boards.setdefault(note, []).append(name)
    return tuple(
        note
        if len(names) == len(notes_by_board)
        else replace(note, text=(f"{listing(names)}: ", note.text))
        for note, names in boards.items()
    )
