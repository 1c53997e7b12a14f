"""Boards by slice: strengths pooled towards no difference, and where they differ.

At level g of a slice a competitor has the strength r_i + u_gi, and the scores there are on
the common scale as those of the whole board are, with u_g known up to its posterior instead
of drawn from the slices that the prior expects.  Over all votes, of which n_gi are at level
g and on competitor i, it has r_i + sum_g n_gi u_gi / sum_g n_gi: what a level differs from.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.clusters import FEWEST_CLUSTERS, kish_of_prompts
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.intervals import choose_interval, uncertainty_of
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.standing import Standing, have_rank
from bayes_arena.boards.surprise import FALSE_RATE, discoveries
from bayes_arena.boards.uncertainty import Uncertainty
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.many import level_votes
from bayes_arena.fits.result import Fit, require_fit, seen_votes
from bayes_arena.inference.estimate import Estimate, Linear, delta_method
from bayes_arena.inference.scale import board_strengths, linear_board, strength_rows
from bayes_arena.model.design import Design
from bayes_arena.said import Call, Note, Use
from bayes_arena.tables import Columns, dataframe, stacked
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import PROMPT, Votes

if TYPE_CHECKING:
    import pandas as pd

KNOWN_SPREAD = 1e-6  # spread of a slice whose level is given
FEW_PROMPTS = Note(
    "intervals", "The board is about its prompts only: too few to allow for others."
)


def standings_by(fit: Fit, by: str, look: Look) -> dict[str, Standing]:
    """Return where competitors stand at each level of a slice in ``strength_by``."""
    require_slice(fit, by)
    standings = {}
    for number, name in enumerate(fit.votes.levels[by]):
        votes = level_votes(seen_votes(fit), by, number)
        if len(votes):
            there = level_of(fit, by, number)
            is_ranked = have_rank(votes.votes_by_competitor, look.min_votes)
            estimate = level_estimate(fit, there).relative_to(is_ranked)
            uncertainty = uncertainty_there(fit, estimate, votes, look)
            standings[name] = Standing(fit, votes, estimate.value, uncertainty, look)
    return standings


def uncertainty_there(
    fit: Fit, estimate: Estimate, votes: Votes, look: Look
) -> Uncertainty:
    """Return how certain numbers of a level are, given its votes."""
    if not has_few_prompts(fit, votes, look):
        return uncertainty_of(fit, estimate, look)
    uncertainty = uncertainty_of(fit, estimate, replace(look, interval="posterior"))
    return replace(uncertainty, notes=(*uncertainty.notes, FEW_PROMPTS))


def has_few_prompts(fit: Fit, votes: Votes, look: Look) -> bool:
    """Whether a level has too few prompts for intervals that allow for new ones.

    Then its intervals are the posterior's, as those of a board of these votes alone.
    """
    if look.interval is not None or look.cluster is not None:
        return False
    is_by_prompt = choose_interval(fit, look).cluster == PROMPT
    return is_by_prompt and kish_of_prompts(votes) < FEWEST_CLUSTERS


def require_slice(fit: Fit, by: str) -> None:
    """Raise an error unless competitors have strengths by a slice."""
    if by in fit.model.strength_by:
        return
    known = listing(map(repr, fit.model.strength_by))
    slices = f"its slices are {known}" if known else "it has no slices"
    raise ModelError(
        f"The model has no strengths by {by!r}: {slices}.",
        Use(strength_by=(by,)),
        Call("fit_many", by=by),
    )


def slice_gaps(
    fit: Fit,
    by: str,
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    elo: EloScale = ELO,
    seed: int = 0,
) -> pd.DataFrame:
    """Return where competitors are stronger or weaker than over all votes.

    Parameters
    ----------
    fit : Fit
        Of a model with the slice in ``strength_by``.
    by : str
        The slice.
    interval, cluster, level, elo, seed
        As in :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        The slice's level, ``competitor, gap, lower, upper`` (Elo, relative to the others
        seen there), ``p_above``, the probability that the gap is above zero, and
        ``flagged``, whether it surely is no zero: one in twenty of these is false, at
        most.  The largest gaps come first.

    Raises
    ------
    ModelError
        If the model has no strengths by the slice.
    """
    require_fit(fit)
    look = Look(interval, cluster, level, seed=seed)
    columns = slice_gap_columns(fit, by, look, elo)
    order = np.argsort(-np.abs(columns["gap"]), kind="stable")
    return dataframe({name: values[order] for name, values in columns.items()})


def slice_gap_columns(
    fit: Fit, by: str, look: Look, elo: EloScale = ELO
) -> dict[str, Array]:
    """Return the columns of :func:`slice_gaps`, level by level."""
    require_slice(fit, by)
    tables = []
    overall = over_all_votes(fit, by)
    for number, name in enumerate(fit.votes.levels[by]):
        there = level_of(fit, by, number)
        if there.seen.any():
            votes = level_votes(seen_votes(fit), by, number)
            columns = gap_columns(fit, there, overall, votes, look, elo)
            names = np.full(there.seen.sum(), name, dtype=object)
            tables.append({by: names, **columns})
    columns = stacked(tables)
    p_value = 2 * np.minimum(columns["p_above"], 1 - columns["p_above"])
    return {**columns, "flagged": discoveries(p_value, FALSE_RATE)}


def level_gap_columns(
    fit: Fit, by: str, one: str, other: str, look: Look, elo: EloScale = ELO
) -> Columns:
    """Return how much stronger competitors are at one level of a slice than at another.

    Columns are those of :func:`gap_columns`, the largest gap first.
    """
    names = fit.votes.levels[by]
    first, second = (level_of(fit, by, names.index(name)) for name in (one, other))
    columns = gap_columns(fit, first, second, seen_votes(fit), look, elo)
    order = np.argsort(-columns["gap"], kind="stable")
    return {name: values[order] for name, values in columns.items()}


def gap_columns(
    fit: Fit, here: Level, there: Level, votes: Votes, look: Look, elo: EloScale
) -> dict[str, Array]:
    """Return how much stronger those seen at two levels are at one than at the other.

    Where these votes are on few prompts the interval is the posterior's.  Columns are
    competitor, gap, lower, upper and p_above, the probability of a gap above zero.
    """
    estimate = gap_estimate(fit, here, there)
    names = np.array(fit.posterior.design.votes.competitors, dtype=object)
    uncertainty = uncertainty_there(fit, estimate, votes, look)
    lower, upper = uncertainty.bounds(estimate.value, look.level)
    return {
        "competitor": names[here.seen & there.seen],
        "gap": elo.points_per_logit * estimate.value,
        "lower": elo.points_per_logit * lower,
        "upper": elo.points_per_logit * upper,
        "p_above": uncertainty.p_above_zero(estimate.value),
    }


@dataclass(frozen=True, eq=False)
class Level:
    """A level of a slice.

    ``strengths`` (competitors, parameters) takes the parameters to the strengths there,
    and ``seen`` (competitors,) says who was seen there.  In the ``design`` the effects of
    the slice are no noise.  The ``board`` has the strengths on the common scale.
    """

    design: Design
    strengths: csr_array
    seen: Array
    board: Linear


def centring(seen: Array) -> Floats:
    """Return the matrix from numbers of all to those of who was seen, less their mean."""
    return np.eye(len(seen))[seen] - seen / seen.sum()


def over_all_votes(fit: Fit, by: str) -> Level:
    """Return what competitors are over all levels of a slice, by their votes there."""
    votes = seen_votes(fit)
    keys = fit.posterior.design.block(f"strength_by_{by}").keys
    cast = np.zeros(len(votes.levels[by]) * votes.n_competitors)
    level, count = votes.slices[by], votes.cast
    for side in (votes.i, votes.j):
        known = level >= 0
        key = level[known] * votes.n_competitors + side[known]
        cast += np.bincount(key, count[known], len(cast))
    share = cast[keys] / votes.votes_by_competitor[keys % votes.n_competitors]
    return weighted(fit, by, share)


def level_of(fit: Fit, by: str, number: int) -> Level:
    """Return a level of a slice."""
    design = fit.posterior.design
    keys = design.block(f"strength_by_{by}").keys
    return weighted(fit, by, 1.0 * (keys // design.votes.n_competitors == number))


def weighted(fit: Fit, by: str, weight: Floats) -> Level:
    """Return the strengths r plus the sum of the effects u of a slice by some weights."""
    design = fit.posterior.design
    block = design.block(f"strength_by_{by}")
    n = design.votes.n_competitors
    column = np.flatnonzero(weight)
    competitors = block.keys[column] % n
    entries = (weight[column], (competitors, design.indices(block)[column]))
    shift = csr_array(entries, shape=(n, design.layout.size))
    strengths = csr_array(strength_rows(design) + shift)
    known = {f"strength_by_{by}": KNOWN_SPREAD, f"tie_by_{by}": KNOWN_SPREAD}
    design = design.with_spreads(known)
    with threads_for(n):
        board = linear_board(fit.posterior, design, strengths)
    return Level(design, strengths, np.isin(np.arange(n), competitors), board)


def level_estimate(fit: Fit, level: Level) -> Estimate:
    """Return the strengths on the common scale at a level, of those seen there."""
    gaussian = gaussian_at(fit, level)
    with threads_for(len(level.seen)):
        return fit.marginals.estimate(gaussian)


def gaussian_at(fit: Fit, level: Level) -> Estimate:
    """Return the same of the Gaussian, without samples."""
    rows = centring(level.seen)

    def at(draws: Floats) -> Floats:
        return board_strengths(level.design, draws, level.strengths) @ rows.T

    with threads_for(len(level.seen)):
        return delta_method(fit.posterior, level.board.contrast(rows), at)


def gap_estimate(fit: Fit, here: Level, there: Level) -> Estimate:
    """Return the strengths at a level less those at another, of those seen at both.

    Both are on the common scale, and of mean zero among those seen.
    """
    rows = centring(here.seen & there.seen)

    def at(draws: Floats) -> Floats:
        one = board_strengths(here.design, draws, here.strengths)
        other = board_strengths(there.design, draws, there.strengths)
        return (one - other) @ rows.T

    with threads_for(len(here.seen)):
        gap = here.board.less(there.board).contrast(rows)
        return fit.marginals.estimate(delta_method(fit.posterior, gap, at))
