"""Boards by slice: strengths pooled towards no difference, and where they differ.

At level g of a slice a competitor has the strength r_i + u_gi, and the scores there are on
the common scale as those of the whole board are, with u_g known up to its posterior instead
of drawn from the slices that the prior expects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.estimate import (
    Estimate,
    board_by_delta_method,
    sampled_estimate,
)
from bayes_arena.boards.standing import Standing, standing
from bayes_arena.errors import ModelError, listing, require_level
from bayes_arena.fits.many import level_votes
from bayes_arena.fits.result import Fit, thinned_vectors
from bayes_arena.inference.average_vote import annotator_types
from bayes_arena.inference.scale import board_strengths, linear_board
from bayes_arena.model.constants import TINY
from bayes_arena.model.design import Design
from bayes_arena.model.spec import visible_votes
from bayes_arena.said import Call, Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

ELO = EloScale()
KNOWN_SPREAD = 1e-6  # spread of a slice whose level is given


def standings_by(fit: Fit, by: str, **options: Any) -> dict[str, Standing]:
    """Return where competitors stand at each level of a slice.

    Parameters
    ----------
    fit : Fit
    by : str
        A slice in ``strength_by`` of the model.
    **options
        Those of :func:`~bayes_arena.boards.standing.standing`.
    """
    require_slice(fit, by)
    standings = {}
    for level, name in enumerate(fit.votes.levels[by]):
        votes = level_votes(visible_votes(fit.model, fit.fitted_votes), by, level)
        if len(votes):
            estimate = level_estimate(fit, by, level)
            standings[name] = standing(fit, estimate, votes, **options)
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
    gaps_of = gaps_by_delta_method if fit.samples is None else gaps_of_samples
    numbers, competitors, gaps, sds = [], [], [], []
    for number, seen, gap, sd in gaps_of(fit, by):
        numbers.append(np.full(len(seen), number))
        competitors.append(seen)
        gaps.append(gap)
        sds.append(sd)
    gap = elo.points_per_logit * np.concatenate(gaps)
    sd = elo.points_per_logit * np.concatenate(sds)
    half_width = float(ndtri((1 + level) / 2)) * sd
    names = np.array(fit.fitted_votes.competitors, dtype=object)
    columns = {
        by: np.array(fit.votes.levels[by], dtype=object)[np.concatenate(numbers)],
        "competitor": names[np.concatenate(competitors)],
        "gap": gap,
        "lower": gap - half_width,
        "upper": gap + half_width,
        "p_above": ndtr(gap / np.maximum(sd, TINY)),
    }
    order = np.argsort(-np.abs(gap), kind="stable")
    return {name: values[order] for name, values in columns.items()}


def gaps_by_delta_method(
    fit: Fit, by: str
) -> Iterator[tuple[int, Ints, Floats, Floats]]:
    """Yield each level, who was seen there, their gaps, and standard deviations.

    A gap is a difference of two boards of the same parameters, so are its derivatives.
    """
    design = fit.posterior.design
    nowhere = np.zeros((fit.fitted_votes.n_competitors, design.layout.size))
    overall, overall_jacobian = board_at_level(fit, design, nowhere)
    for number in range(len(fit.votes.levels[by])):
        shift = level_shift(fit, by, number)
        seen = np.flatnonzero(shift.any(axis=1))
        value, jacobian = board_at_level(fit, known_level(design, by), shift)
        difference = centred((jacobian - overall_jacobian)[seen])
        moves = fit.posterior.covariance.solve(np.ascontiguousarray(difference.T))
        variance = np.einsum("ij,ji->i", difference, moves)
        gap = centred((value - overall)[seen])
        yield number, seen, gap, np.sqrt(np.maximum(variance, 0.0))


def gaps_of_samples(fit: Fit, by: str) -> Iterator[tuple[int, Ints, Floats, Floats]]:
    """Yield the same of a fit by NUTS, from its samples."""
    for number in range(len(fit.votes.levels[by])):
        seen, evaluate = level_function(fit, by, number)
        strength = np.array([evaluate(x) for x in thinned_vectors(fit)])
        gap = strength - centred(fit.board_samples[:, seen].T).T
        yield number, seen, gap.mean(axis=0), gap.std(axis=0)


def level_estimate(fit: Fit, by: str, level: int) -> Estimate:
    """Return the strengths on the common scale at a level, of those seen there."""
    posterior = fit.posterior
    seen, evaluate = level_function(fit, by, level)
    shift = level_shift(fit, by, level)
    design = known_level(posterior.design, by)

    if fit.samples is not None:
        samples = np.array([evaluate(x) for x in thinned_vectors(fit)])
        return sampled_estimate(samples, evaluate, is_by_competitor=False)
    with threads_for(len(seen)):
        value, jacobian = board_at_level(fit, design, shift)
    value, jacobian = centred(value[seen]), centred(jacobian[seen])
    board = board_by_delta_method(posterior, value, jacobian)
    return Estimate(board, evaluate, is_by_competitor=False)


def level_function(
    fit: Fit, by: str, level: int
) -> tuple[Ints, Callable[[Floats], Floats]]:
    """Return who was seen at a level, and their strengths there at given parameters."""
    shift = level_shift(fit, by, level)
    seen = np.flatnonzero(shift.any(axis=1))
    design = known_level(fit.posterior.design, by)
    strengths = design.indices(design.block("strength"))

    def evaluate(x: Floats) -> Floats:
        moved = np.array(x)
        moved[strengths] += shift @ x
        return centred(board_strengths(design, moved[None])[0][seen])

    return seen, evaluate


def level_shift(fit: Fit, by: str, level: int) -> Floats:
    """Return what a level adds to the strengths, (competitors, parameters)."""
    design = fit.posterior.design
    block = design.block(f"strength_by_{by}")
    n = fit.fitted_votes.n_competitors
    levels, competitors = np.divmod(block.keys, n)
    indices = design.parameters(block)
    mask = levels == level
    shift = np.zeros((n, design.layout.size))
    shift[competitors[mask], indices[mask]] = 1.0
    return shift


def known_level(design: Design, by: str) -> Design:
    """Return the design of a level that is given: its effects are no noise."""
    spreads = {f"strength_by_{by}": KNOWN_SPREAD, f"tie_by_{by}": KNOWN_SPREAD}
    return design.with_spreads(spreads)


def board_at_level(fit: Fit, design: Design, shift: Array) -> tuple[Floats, Floats]:
    """Return strengths on the common scale, and their derivatives in all parameters."""
    posterior = fit.posterior
    types = annotator_types(posterior)
    r = posterior.mean_of("strength") + shift @ posterior.mean
    linear = linear_board(design, types, r)
    jacobian = linear.by_types @ types.jacobian + linear.by_strength @ shift
    strengths = design.indices(design.block("strength"))
    jacobian[:, strengths] += linear.by_strength
    return linear.strength, np.asarray(jacobian)


def centred(values: Floats) -> Floats:
    """Return numbers less their mean over the first axis."""
    return np.asarray(values - values.mean(axis=0))
