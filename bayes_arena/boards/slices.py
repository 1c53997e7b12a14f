"""Boards by slice: where a competitor is stronger or weaker than overall.

In level g of a slice the strengths are r + u_g, pooled towards r.  The board of a level is the
average vote's there, and its gaps are the differences from the board of the average level.
Both come from draws of all parameters, as they hang together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import EloScale
from bayes_arena.errors import ModelError, require_level, require_seed
from bayes_arena.fits.draws import draw_vectors
from bayes_arena.fits.result import Fit
from bayes_arena.inference.scale import board_strengths
from bayes_arena.model.build import slice_parameters
from bayes_arena.model.constants import SMALLEST_SPREAD
from bayes_arena.tables import Columns, dataframe
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 300
ELO = EloScale()


def slice_gaps(
    fit: Fit,
    by: str,
    *,
    level: float = 0.95,
    elo: EloScale = ELO,
    seed: int = 0,
) -> pd.DataFrame:
    """Return where competitors are stronger or weaker than overall.

    Parameters
    ----------
    fit : Fit
        Of a model with the slice in ``strength_by``.
    by : str
        The slice.
    level : float
    elo : EloScale
    seed : int

    Returns
    -------
    DataFrame
        The slice's level, competitor, gap (Elo), lower, upper, p_ahead (probability that
        the gap is above zero), the largest gaps first.

    Raises
    ------
    ModelError
        If the model has no strengths by this slice.
    """
    return dataframe(slice_gap_columns(fit, by, level=level, elo=elo, seed=seed))


def slice_gap_columns(
    fit: Fit,
    by: str,
    *,
    level: float = 0.95,
    elo: EloScale = ELO,
    seed: int = 0,
) -> Columns:
    """Return the columns of :func:`slice_gaps`."""
    overall, boards, seen = level_draws(fit, by, level, seed)
    g, c = np.nonzero(seen)
    gaps = elo.points_per_logit * (boards[:, g, c] - overall[:, c])
    mean, sd = gaps.mean(axis=0), gaps.std(axis=0)
    q = float(ndtri((1 + level) / 2))
    columns = {
        by: np.array(fit.votes.levels[by], dtype=object)[g],
        "competitor": np.array(fit.votes.competitors, dtype=object)[c],
        "gap": mean,
        "lower": mean - q * sd,
        "upper": mean + q * sd,
        "p_ahead": np.mean(gaps > 0, axis=0),
    }
    order = np.argsort(-np.abs(mean), kind="stable")
    return {name: values[order] for name, values in columns.items()}


def slice_boards(
    fit: Fit,
    by: str,
    *,
    level: float = 0.95,
    elo: EloScale = ELO,
    seed: int = 0,
) -> Columns:
    """Return one board for each level of a slice, pooled, one below the other."""
    _, boards, seen = level_draws(fit, by, level, seed)
    tail = (1 - level) / 2
    q = float(ndtri((1 + level) / 2))
    parts: list[dict[str, Array]] = []
    for g, name in enumerate(fit.votes.levels[by]):
        at_level = boards[:, g][:, seen[g]]
        mean, sd = at_level.mean(axis=0), at_level.std(axis=0)
        ranks = 1 + np.argsort(np.argsort(-at_level, axis=1), axis=1)
        edges = np.quantile(ranks, [tail, 1 - tail], axis=0, method="inverted_cdf")
        competitors = np.array(fit.votes.competitors, dtype=object)[seen[g]]
        order = np.argsort(-mean, kind="stable")
        scores = elo.points(mean, competitors.tolist())
        columns: dict[str, Any] = {
            by: np.full(len(mean), name, dtype=object),
            "rank": np.argsort(order) + 1,
            "competitor": competitors,
            "elo": scores,
            "lower": scores - elo.points_per_logit * q * sd,
            "upper": scores + elo.points_per_logit * q * sd,
            "rank_lower": edges[0],
            "rank_upper": edges[1],
            "votes": votes_at_level(fit, by, g)[seen[g]],
            "p_best": np.mean(ranks == 1, axis=0),
        }
        parts.append({key: values[order] for key, values in columns.items()})
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def level_draws(
    fit: Fit, by: str, level: float, seed: int
) -> tuple[Floats, Floats, Array]:
    """Return draws of the board overall and in each level, and who was seen where.

    Returns
    -------
    overall : ndarray, shape (draws, competitors)
    boards : ndarray, shape (draws, levels, competitors)
    seen : ndarray of bool, shape (levels, competitors)
    """
    require_level(level)
    require_seed(seed)
    if by not in fit.model.strength_by:
        raise ModelError(
            f"The model {fit.model.name!r} has no strengths by {by!r}. Fit one with "
            f"strength_by=({by!r},), or use leaderboards(fit_many(votes, {by!r}))."
        )
    design = fit.posterior.design
    block = design.block(f"strength_by_{by}")
    vectors = draw_vectors(fit, DRAWS, seed)
    strengths = design.indices(design.block("strength"))
    g, c, index = slice_parameters(design, block)
    n_levels, n = len(fit.votes.levels[by]), fit.votes.n_competitors
    seen = np.zeros((n_levels, n), bool)
    seen[g, c] = True
    boards = np.empty((DRAWS, n_levels, n))
    # Within a level its effects are no noise any more.
    within = design.with_spreads({block.effect.name: SMALLEST_SPREAD})
    with threads_for(n):
        overall = board_strengths(design, vectors)
        for one_level in range(n_levels):
            here = g == one_level
            shifted = vectors.copy()
            shifted[:, strengths[c[here]]] += vectors[:, index[here]]
            boards[:, one_level] = board_strengths(within, shifted)
    return overall, boards, seen


def votes_at_level(fit: Fit, by: str, g: int) -> Floats:
    """Return the votes on each competitor in a level of a slice, (competitors,)."""
    rows = fit.votes.take(np.flatnonzero(fit.votes.slices[by] == g))
    return rows.votes_by_competitor
