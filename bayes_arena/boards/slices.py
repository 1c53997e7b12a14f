"""Boards by slice: strengths pooled towards no difference, and where they differ.

At level g of a slice a competitor has the strength r_i + u_gi, and the scores there are on
the common scale as those of the whole board are, with u_g known up to its posterior instead
of drawn from the slices that the prior expects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtr

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import ELO, EloScale
from bayes_arena.boards.intervals import uncertainty_of
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import Standing, have_rank
from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import ModelError, listing, require_level
from bayes_arena.fits.many import level_votes
from bayes_arena.fits.result import Fit, seen_votes
from bayes_arena.inference.estimate import Estimate, delta_method
from bayes_arena.inference.scale import board_strengths, linear_board, strength_rows
from bayes_arena.model.constants import TINY
from bayes_arena.model.design import Design
from bayes_arena.said import Call, Use
from bayes_arena.tables import Columns, dataframe, stacked
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

KNOWN_SPREAD = 1e-6  # spread of a slice whose level is given


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
            uncertainty = uncertainty_of(fit, estimate, look)
            standings[name] = Standing(fit, votes, estimate.value, uncertainty, look)
    return standings


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
    level: float = 0.95,
    elo: EloScale = ELO,
) -> pd.DataFrame:
    """Return where competitors are stronger or weaker than overall.

    Parameters
    ----------
    fit : Fit
        Of a model with the slice in ``strength_by``.
    by : str
        The slice.
    level : float
        Of the intervals.
    elo : EloScale

    Returns
    -------
    pandas.DataFrame
        The slice's level, ``competitor, gap, lower, upper`` (Elo) and ``p_above``, the
        probability that the gap is above zero; the largest gaps first.

    Raises
    ------
    ModelError
        If the model has no strengths by the slice.
    """
    return dataframe(slice_gap_columns(fit, by, level=level, elo=elo))


def slice_gap_columns(fit: Fit, by: str, *, level: float, elo: EloScale) -> Columns:
    """Return the columns of :func:`slice_gaps`."""
    require_level(level)
    require_slice(fit, by)
    tables = []
    for number, name in enumerate(fit.votes.levels[by]):
        there = level_of(fit, by, number)
        if there.seen.any():
            columns = gap_columns(fit, there, everywhere(fit), level, elo)
            names = np.full(there.seen.sum(), name, dtype=object)
            tables.append({by: names, **columns})
    columns = stacked(tables)
    order = np.argsort(-np.abs(columns["gap"]), kind="stable")
    return {name: values[order] for name, values in columns.items()}


def level_gap_columns(
    fit: Fit, by: str, one: str, other: str, level: float, elo: EloScale = ELO
) -> Columns:
    """Return how much stronger competitors are at one level of a slice than at another.

    Columns are those of :func:`gap_columns`, the largest gap first.
    """
    names = fit.votes.levels[by]
    first, second = (level_of(fit, by, names.index(name)) for name in (one, other))
    columns = gap_columns(fit, first, second, level, elo)
    order = np.argsort(-columns["gap"], kind="stable")
    return {name: values[order] for name, values in columns.items()}


def gap_columns(
    fit: Fit, here: Level, there: Level, level: float, elo: EloScale
) -> dict[str, Array]:
    """Return how much stronger those seen at two levels are at one than at the other.

    Columns are competitor, gap, lower, upper and p_above, the probability of a gap above
    zero.
    """
    estimate = gap_estimate(fit, here, there)
    names = np.array(fit.posterior.design.votes.competitors, dtype=object)
    gap, sd = (elo.points_per_logit * x for x in (estimate.value, estimate.sd))
    width = half_width(level) * sd
    return {
        "competitor": names[here.seen & there.seen],
        "gap": gap,
        "lower": gap - width,
        "upper": gap + width,
        "p_above": ndtr(gap / np.maximum(sd, TINY)),
    }


@dataclass(frozen=True, eq=False)
class Level:
    """A level of a slice.

    ``strengths`` (competitors, parameters) takes the parameters to the strengths there,
    and ``seen`` (competitors,) says who was seen there.  In the ``design`` the effects of
    the slice are no noise.
    """

    design: Design
    strengths: csr_array
    seen: Array


def centring(seen: Array) -> Floats:
    """Return the matrix from numbers of all to those of who was seen, less their mean."""
    return np.eye(len(seen))[seen] - seen / seen.sum()


def everywhere(fit: Fit) -> Level:
    """Return what competitors are overall, where a new level may be any."""
    design = fit.posterior.design
    seen = np.ones(design.votes.n_competitors, bool)
    return Level(design, strength_rows(design), seen)


def level_of(fit: Fit, by: str, number: int) -> Level:
    """Return a level of a slice."""
    design = fit.posterior.design
    block = design.block(f"strength_by_{by}")
    n = design.votes.n_competitors
    levels, competitors = np.divmod(block.keys, n)
    mask = levels == number
    competitors, index = competitors[mask], design.indices(block)[mask]
    entries = (np.ones(len(index)), (competitors, index))
    shift = csr_array(entries, shape=(n, design.layout.size))
    known = {f"strength_by_{by}": KNOWN_SPREAD, f"tie_by_{by}": KNOWN_SPREAD}
    return Level(
        design=design.with_spreads(known),
        strengths=csr_array(strength_rows(design) + shift),
        seen=np.isin(np.arange(n), competitors),
    )


def level_estimate(fit: Fit, level: Level) -> Estimate:
    """Return the strengths on the common scale at a level, of those seen there."""
    rows = centring(level.seen)

    def at(draws: Floats) -> Floats:
        return board_strengths(level.design, draws, level.strengths) @ rows.T

    with threads_for(len(level.seen)):
        linear = linear_board(fit.posterior, level.design, level.strengths)
        gaussian = delta_method(fit.posterior, linear.contrast(rows), at)
        return fit.marginals.estimate(gaussian)


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
        one = linear_board(fit.posterior, here.design, here.strengths)
        other = linear_board(fit.posterior, there.design, there.strengths)
        gap = one.less(other).contrast(rows)
        return fit.marginals.estimate(delta_method(fit.posterior, gap, at))
