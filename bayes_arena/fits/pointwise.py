"""What a fit says of every vote it has seen, under every draw of its posterior.

Votes of the same cell and outcome are exchangeable, so the density is computed once for each of these columns, with
the number of votes that were cast there. Votes that the model leaves out (dropped ties or both-bad votes) have none.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import Draws, draw
from bayes_arena.fits.result import Fit
from bayes_arena.votes.cells import OUTCOMES, Cells

DRAWS = 1000
"""Draws from a Gaussian approximation; a sampled fit uses all it has."""


def pointwise(fit: Fit, draws: Draws | None = None, cells: Cells | None = None) -> tuple[Floats, Floats]:
    """Log-likelihood of one vote of every column, under every draw.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.
    cells : Cells, optional
        Votes under the names of those that were fitted, by default these. The numbers of a slice that the fit has never
        seen are drawn from their prior.

    Returns
    -------
    log_likelihood : ndarray, shape (n_draws, n_columns)
        In nats. Columns are the outcomes cast in each cell, in their order, less those that the model
        leaves out.
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    """
    cells = cells or fit.cells
    counts, target = cells.counts, fit.target_of(cells.by_cell(fit.model.features, fit.model.slices))
    row, outcome = np.nonzero(counts * fit.model.sees)
    one = fit.model.seen_counts(np.eye(len(OUTCOMES))[outcome])
    draws, rng = draws or draw(fit, size=DRAWS), np.random.default_rng(0)
    values, unseen = np.empty((len(draws.strength), len(row))), target.has_unseen
    for index, point in enumerate(draws.points()):
        coordinates = target.coordinates(point)
        if unseen:
            coordinates += target.unseen(point, rng)
        values[index] = -target.likelihood.rows(one, coordinates[:, row]).value
    return values, counts[row, outcome]
