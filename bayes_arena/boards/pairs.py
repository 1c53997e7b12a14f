"""Pairs: how far two competitors are apart, and whether that is settled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Unpack, get_args

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Floats, Ints, positions_of
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.boards.uncertainty import half_width, in_plural
from bayes_arena.boards.unexplained import pair_scores
from bayes_arena.boards.verdict import limit_of, votes_help, what_would_settle
from bayes_arena.errors import (
    ModelError,
    NotIdentifiedError,
    did_you_mean,
    require_choice,
)
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.said import Note, Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import MIN_VOTES

if TYPE_CHECKING:
    import pandas as pd

type Requirement = Literal["better", "not-worse", "settled"]
type Answer = Literal["yes", "no", "open"]
REQUIREMENTS = get_args(Requirement.__value__)
MOST_MULTIPLE = 1_000  # of all votes, above which no number is given


def pairs(
    fit: object,
    *,
    between: Sequence[str] | None = None,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    elo: EloScale = ELO,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> pd.DataFrame:
    """Return one row for every pair of competitors, or for one.

    Parameters
    ----------
    fit : Fit, or votes
    between : sequence of two str, optional
        The pair; by default all pairs, each with the stronger first.
    interval, cluster, level, min_votes, seed
        As in :func:`~bayes_arena.leaderboard`.
    elo : EloScale
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame
        first, second, gap (Elo), lower, upper, p_ahead (probability that the first is
        stronger), score (expected of the first against the second), votes (on the two),
        more_votes (on the two and as the others came, until the interval excludes 0; 0
        where it does, inf where it would take more than 1,000 times all votes, nan where
        more prompts are needed, not more votes); points of the first in these votes, ties
        as half, expected (points by the ranking), p_unexplained (at most the chance of such
        a result, or of one further off, if the ranking by all other votes holds; nan with
        fewer than five votes), flagged (no ranking explains it, at a false rate of .05).

    Raises
    ------
    ModelError
        If a competitor is unknown.
    NotIdentifiedError
        If one of the two has no finite estimate.
    """
    look = Look(interval, cluster, level, min_votes, seed)
    standing = standing_of(fitted(fit, **options), look)
    return dataframe(pair_columns(standing, between, elo))


def pair_columns(
    standing: Standing, between: Sequence[str] | None = None, elo: EloScale = ELO
) -> Columns:
    """Return the columns of :func:`pairs`."""
    votes = standing.fit.votes
    first, second = pair_indices(standing, between)
    gap, sd = standing.gaps(first, second)
    q = half_width(standing.look.level, standing.uncertainty.df)
    names = np.array(votes.competitors, dtype=object)
    return {
        "first": names[first],
        "second": names[second],
        "gap": elo.points_per_logit * gap,
        "lower": elo.points_per_logit * (gap - q * sd),
        "upper": elo.points_per_logit * (gap + q * sd),
        "p_ahead": standing.p_above(first, second),
        "score": expit(gap),
        "votes": votes_between(standing, first, second),
        "more_votes": more_votes(standing, first, second),
        **pair_scores(standing.fit).columns(
            code_of(standing, first, second), first > second
        ),
    }


def code_of(standing: Standing, first: Ints, second: Ints) -> Ints:
    """Return the code of each pair, whoever comes first."""
    low, high = np.minimum(first, second), np.maximum(first, second)
    return low * standing.fit.votes.n_competitors + high


def lacking(standing: Standing, first: Ints, second: Ints) -> Floats:
    """Return how many votes, or clusters, each pair lacks for each there is, (pairs,).

    Intervals shrink with the root of their number.
    """
    gap, sd = standing.gaps(first, second)
    q = half_width(standing.look.level, standing.uncertainty.df)
    with np.errstate(divide="ignore"):
        return np.asarray(np.maximum((q * sd / gap) ** 2 - 1, 0.0))


def more_votes(standing: Standing, first: Ints, second: Ints) -> Floats:
    """Return the votes that each pair lacks, (pairs,); nan where votes do not help."""
    cast = standing.fit.votes.votes_by_competitor
    growth = lacking(standing, first, second)
    with np.errstate(invalid="ignore"):
        more = np.ceil(growth * np.minimum(cast[first], cast[second]))
    more[~(more <= MOST_MULTIPLE * standing.fit.votes.n_votes)] = np.inf
    if not votes_help(standing):
        more[more > 0] = np.nan
    return more


def what_pairs_lack(standing: Standing, columns: Columns) -> tuple[Note, ...]:
    """Say how many more prompts (or other clusters) open pairs take, if votes do not help.

    Intervals shrink with the root of the number of clusters.
    """
    is_open = np.flatnonzero(np.asarray(columns["more_votes"]) != 0)
    if not len(is_open):
        return ()
    if standing.fit.model.strength_by:  # how many levels, nobody knows
        return (Note("pairs", what_would_settle(standing)),)
    limit, n = limit_of(standing), standing.uncertainty.n_clusters
    if limit is None:
        return ()
    gap, lower = (np.asarray(columns[name])[is_open] for name in ("gap", "lower"))
    with np.errstate(divide="ignore"):
        growth = ((gap - lower) / gap) ** 2 - 1
    nearest = is_open[np.argmin(growth)]
    count = np.ceil(growth.min() * n)
    if count > MOST_MULTIPLE * n:
        return (Note("pairs", what_would_settle(standing)),)
    useless = f"more votes on these {standing.votes.n_levels(limit):,} would not"
    if len(is_open) == 1:
        text = f"About {count:,.0f} more {in_plural(limit)} would settle it; {useless}."
    else:
        pair = f"{columns['first'][nearest]} or {columns['second'][nearest]}"
        more = (
            f"More {in_plural(limit)} would settle them, about {count:,.0f} for {pair}"
        )
        text = f"{more}; {useless}."
    return (Note("pairs", text),)


def settled_pairs(standing: Standing) -> tuple[int, int]:
    """Return how many pairs are settled, their gap's interval excludes 0, and of how many."""
    is_settled = lacking(standing, *pair_indices(standing, None)) == 0
    return int(is_settled.sum()), len(is_settled)


def pair_indices(
    standing: Standing, between: Sequence[str] | None
) -> tuple[Ints, Ints]:
    """Return the competitors of each pair, in the order of the board."""
    names = standing.fit.votes.competitors
    if between is not None:
        if len(between) != 2 or between[0] == between[1]:
            raise ModelError((Use(between=between), " must be two competitors."))
        for name in between:
            if name not in names:
                hint = did_you_mean(name, names)
                raise ModelError(f"{name!r} is no competitor.{hint}")
            if np.isnan(standing.strength[names.index(name)]):
                raise NotIdentifiedError(
                    f"{name!r} has no finite estimate.", Use(prior="default")
                )
        first, second = (np.array([names.index(name)]) for name in between)
        return first, second
    order = np.argsort(-standing.strength, kind="stable")
    order = order[np.isfinite(standing.strength[order])]
    above, below = np.triu_indices(len(order), k=1)
    return order[above], order[below]


def votes_between(standing: Standing, first: Ints, second: Ints) -> Floats:
    """Return the votes on each pair, shown either way."""
    votes = standing.fit.votes
    codes, row = np.unique(votes.pair_code, return_inverse=True)
    total = np.bincount(row, votes.counts.sum(axis=1))
    position = positions_of(codes, code_of(standing, first, second))
    return np.where(position >= 0, total[position], 0.0)


def gate(
    standing: Standing,
    between: Sequence[str],
    require: str,
    margin: float = 0.0,
    elo: EloScale = ELO,
) -> Answer:
    """Answer whether the first of two competitors meets a requirement.

    Parameters
    ----------
    standing : Standing
    between : sequence of two str
    require : {"better", "not-worse", "settled"}
        "better": its lead is above the margin.  "not-worse": it is above minus the
        margin.  "settled": it is clear which of the two is stronger.
    margin : float
        In Elo.
    elo : EloScale

    Returns
    -------
    {"yes", "no", "open"}
        "open": there are not enough votes to say, or none compare the two, directly
        or through others.
    """
    require_choice("require", require, REQUIREMENTS)
    if margin < 0:
        raise ModelError((Use(margin=margin), " must not be negative."))
    columns = pair_columns(standing, between, elo)
    (first,), (second,) = pair_indices(standing, between)
    if standing.group[first] != standing.group[second]:
        return "open"
    lower, upper = float(columns["lower"][0]), float(columns["upper"][0])
    if require == "settled":
        return "yes" if lower > margin or upper < -margin else "open"
    bound = margin if require == "better" else -margin
    if lower > bound:
        return "yes"
    return "no" if upper < bound else "open"
