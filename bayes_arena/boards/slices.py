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
from scipy.special import ndtr, ndtri

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.intervals import uncertainty_of
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import Standing, have_rank
from bayes_arena.errors import ModelError, listing, require_level
from bayes_arena.fits.many import level_votes
from bayes_arena.fits.result import Fit, seen_votes
from bayes_arena.inference.estimate import Estimate, Linear, delta_method
from bayes_arena.inference.scale import board_strengths, linear_board, strength_rows
from bayes_arena.model.constants import TINY
from bayes_arena.model.design import Design
from bayes_arena.said import Call, Use
from bayes_arena.tables import Columns, dataframe, stacked
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

ELO = EloScale()
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
    design = fit.posterior.design
    names = np.array(design.votes.competitors, dtype=object)
    overall = linear_board(fit.posterior, design, strength_rows(design))
    tables = []
    for number, name in enumerate(fit.votes.levels[by]):
        there = level_of(fit, by, number)
        if there.seen.any():
            estimate = gap_estimate(fit, there, overall)
            competitors = names[there.seen]
            tables.append(
                {
                    by: np.full(len(competitors), name, dtype=object),
                    "competitor": competitors,
                    "gap": elo.points_per_logit * estimate.value,
                    "sd": elo.points_per_logit * estimate.sd,
                }
            )
    columns = stacked(tables)
    gap, sd = columns["gap"], columns.pop("sd")
    half_width = float(ndtri((1 + level) / 2)) * sd
    columns |= {
        "lower": gap - half_width,
        "upper": gap + half_width,
        "p_above": ndtr(gap / np.maximum(sd, TINY)),
    }
    order = np.argsort(-np.abs(gap), kind="stable")
    return {name: values[order] for name, values in columns.items()}


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

    @property
    def centring(self) -> Floats:
        """The matrix from numbers of all to those of who was seen, less their mean."""
        return centring_of(self.seen)


def centring_of(seen: Array) -> Floats:
    """Return the matrix from numbers of all to those of who was seen, less their mean."""
    return np.eye(len(seen))[seen] - seen / seen.sum()


def level_of(fit: Fit, by: str, number: int) -> Level:
    """Return a level of a slice."""
    design = fit.posterior.design
    block = design.block(f"strength_by_{by}")
    n = design.votes.n_competitors
    levels, competitors = np.divmod(block.keys, n)
    mask = levels == number
    competitors, index = competitors[mask], design.parameters(block)[mask]
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
    centring = level.centring

    def at(draws: Floats) -> Floats:
        return board_strengths(level.design, draws, level.strengths) @ centring.T

    with threads_for(len(level.seen)):
        linear = linear_board(fit.posterior, level.design, level.strengths)
        gaussian = delta_method(fit.posterior, linear.contrast(centring), at)
        return fit.marginals.estimate(gaussian)


def level_gap_columns(fit: Fit, by: str, one: str, other: str, level: float) -> Columns:
    """Return how much stronger competitors are at one level of a slice than at another.

    Columns are competitor, gap, lower and upper (Elo), the largest gap first, of those seen
    at both.
    """
    names = fit.votes.levels[by]
    first, second = (level_of(fit, by, names.index(name)) for name in (one, other))
    seen = first.seen & second.seen
    estimate = level_gap_estimate(fit, first, second, centring_of(seen))
    gap = ELO.points_per_logit * estimate.value
    half_width = float(ndtri((1 + level) / 2)) * ELO.points_per_logit * estimate.sd
    competitors = np.array(fit.posterior.design.votes.competitors, dtype=object)[seen]
    columns = {
        "competitor": competitors,
        "gap": gap,
        "lower": gap - half_width,
        "upper": gap + half_width,
    }
    order = np.argsort(-gap, kind="stable")
    return {name: values[order] for name, values in columns.items()}


def level_gap_estimate(
    fit: Fit, first: Level, second: Level, centring: Floats
) -> Estimate:
    """Return the strengths at one level less those at another, on the common scale."""

    def at(draws: Floats) -> Floats:
        here = board_strengths(first.design, draws, first.strengths)
        there = board_strengths(second.design, draws, second.strengths)
        return (here - there) @ centring.T

    with threads_for(len(first.seen)):
        here = linear_board(fit.posterior, first.design, first.strengths)
        there = linear_board(fit.posterior, second.design, second.strengths)
        gap = here.less(there).contrast(centring)
        return fit.marginals.estimate(delta_method(fit.posterior, gap, at))


def gap_estimate(fit: Fit, level: Level, overall: Linear) -> Estimate:
    """Return the strengths at a level less those overall, of those seen there.

    Both are on the common scale, and of mean zero among those seen.
    """
    centring = level.centring

    def at(draws: Floats) -> Floats:
        there = board_strengths(level.design, draws, level.strengths)
        return (there - fit.marginals.board.at(draws)) @ centring.T

    with threads_for(len(level.seen)):
        linear = linear_board(fit.posterior, level.design, level.strengths)
        gap = linear.less(overall).contrast(centring)
        return fit.marginals.estimate(delta_method(fit.posterior, gap, at))
