"""Boards by slice: strengths pooled towards no difference, and where they differ.

At level g of a slice a competitor has the strength r_i + u_gi, and the scores there are on
the common scale as those of the whole board are, with u_g known up to its posterior instead
of drawn from the slices that the prior expects.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.estimate import (
    Estimate,
    board_by_delta_method,
    linear_estimate,
    sampled_estimate,
)
from bayes_arena.boards.intervals import Interval, uncertainty_of
from bayes_arena.boards.standing import Standing, standing, whole
from bayes_arena.errors import ModelError, TooLargeError, listing, require_level
from bayes_arena.fits.many import level_votes
from bayes_arena.fits.result import Fit, parameter_vectors
from bayes_arena.inference.average_vote import annotator_types
from bayes_arena.inference.scale import (
    board_strengths,
    bradley_terry_strengths,
    pseudoinverse,
    tabulated_curve,
    total_scores,
)
from bayes_arena.model.build import slice_parameters
from bayes_arena.model.design import Design
from bayes_arena.tables import dataframe
from bayes_arena.threads import threads_for

if TYPE_CHECKING:
    import pandas as pd

MOST_GAPS = 5_000  # rows of a table of gaps
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
        votes = level_votes(fit.fitted_votes, by, level)
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
        f"The model has no strengths by {by!r}: {slices}. Fit one with "
        f"strength_by=({by!r},), or use leaderboards(fit_many(votes, by={by!r}))."
    )


def level_estimate(fit: Fit, by: str, level: int) -> Estimate:
    """Return the strengths on the common scale at a level, of those seen there."""
    posterior = fit.posterior
    block = posterior.design.block(f"strength_by_{by}")
    levels, competitors, indices = slice_parameters(posterior.design, block)
    seen = competitors[levels == level]
    shift = np.zeros((fit.fitted_votes.n_competitors, posterior.design.layout.size))
    shift[seen, indices[levels == level]] = 1.0
    design = posterior.design.with_spreads(
        {f"strength_by_{by}": KNOWN_SPREAD, f"tie_by_{by}": KNOWN_SPREAD}
    )
    strengths = design.indices(design.block("strength"))

    def evaluate(x: Floats) -> Floats:
        moved = np.array(x)
        moved[strengths] += shift @ x
        return centred(board_strengths(design, moved[None])[0][seen])

    if fit.samples is not None:
        vectors = parameter_vectors(posterior, fit.samples)
        step = max(len(vectors) // 1_000, 1)
        samples = np.array([evaluate(x) for x in vectors[::step]])
        return sampled_estimate(samples, evaluate, is_by_competitor=False)
    with threads_for(len(seen)):
        value, jacobian = board_at_level(fit, design, shift)
    value, jacobian = centred(value[seen]), centred(jacobian[seen])
    board = board_by_delta_method(posterior, value, jacobian)
    return Estimate(board, evaluate, is_by_competitor=False)


def board_at_level(fit: Fit, design: Design, shift: Array) -> tuple[Floats, Floats]:
    """Return strengths on the common scale, and their derivatives in all parameters."""
    posterior = fit.posterior
    types = annotator_types(posterior)
    r = posterior.mean_of("strength") + shift @ posterior.mean
    curve = tabulated_curve(design, types, r)
    totals, to_strength, to_types = total_scores(curve, r)
    value, weights = bradley_terry_strengths(totals)
    inverse = pseudoinverse(weights)
    jacobian = inverse @ to_types @ types.jacobian + inverse @ to_strength @ shift
    strengths = design.indices(design.block("strength"))
    jacobian[:, strengths] += inverse @ to_strength
    return value, np.asarray(jacobian)


def centred(values: Floats) -> Floats:
    """Return numbers less their mean over the first axis."""
    return np.asarray(values - values.mean(axis=0))
