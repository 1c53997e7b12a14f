"""What a fit says of every vote it has seen, under every draw of its posterior.

Votes of the same cell and outcome are exchangeable, so the density is computed once for each of these columns, with
the number of votes that were cast there. Votes that the model leaves out (dropped ties or both-bad votes) have none.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import draw
from bayes_arena.fits.result import Draws, Fit
from bayes_arena.votes.cells import OUTCOMES

DRAWS = 1000
"""Draws from a Gaussian approximation; a sampled fit uses all it has."""


def pointwise(fit: Fit, draws: Draws | None = None) -> tuple[Floats, Floats]:
    """Log-likelihood of one vote of every column, under every draw.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.

    Returns
    -------
    log_likelihood : ndarray, shape (n_draws, n_columns)
        In nats. Columns are the outcomes cast in each cell of ``fit.cells``, in its order, less those that the model
        leaves out.
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    """
    counts, target = fit.cells.counts, fit.target_by_cell
    row, outcome = np.nonzero(counts * fit.model.sees)
    one = fit.model.seen_counts(np.eye(len(OUTCOMES))[outcome])
    draws = draws or draw(fit, size=DRAWS)
    values = np.empty((len(draws.strength), len(row)))
    for index, point in enumerate(draws.points()):
        values[index] = -target.likelihood.rows(one, target.coordinates(point)[:, row]).value
    return values, counts[row, outcome]
