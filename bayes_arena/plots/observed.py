"""Calibration: how often predicted outcomes happened, compared with their probabilities.

Votes are sorted by their prediction, and divided into groups of about equal size. With p_v the expected score of vote v
and s_v^2 its variance, the mean score of a group lies, if the fit is right, in

    mean p_v +- z sqrt(sum s_v^2) / n

(the consistency bars of Bröcker and Smith, 2007, Weather and Forecasting 22, in their Gaussian limit). The same
holds for ties, with p_v the probability of a tie and s_v^2 = p_v (1 - p_v).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.markup import percent
from bayes_arena.plots.drawing import BLUE, RED, about, axes_of, entitle
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.validation.prediction import Prediction, grouped, predict_cells
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import TIE, WIN, wins_losses_ties

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GROUPS, LEAST = 10, 25
"""Groups of votes, where there are many, and fewest votes of a group."""


@held
def calibration(
    fit: Fit, votes: Cells | None = None, *, level: float = 0.95, seed: int = 0, ax: Axes | None = None
) -> Axes:
    """Draw observed against predicted votes: the score of the competitor shown first, and ties.

    Points on the diagonal are predictions that come true as often as they say; bars show how far from it chance alone
    takes them. Votes that the fit has seen are used twice, which makes the points steeper than those of new votes: they
    can reveal a bad fit, not prove a good one. For that, pass votes that were held out.

    Parameters
    ----------
    fit : Fit
        A fitted model that sees every vote.
    votes : Cells, optional
        Votes to predict, on competitors that the fit knows. By default those it was fitted to.
    level : float
        Coverage of the bars.
    seed : int
        Seed of the draws that predictions are averaged over.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        With a point for every tenth of the votes, or fewer where a tenth is less than 25 votes.

    Raises
    ------
    ModelError
        If the level is invalid, the model leaves out ties or both-bad votes, the fit does not know a competitor, or it
        has numbers for prompts or other slices, which follow the fitted votes too closely to be checked on them.
    """
    require_level(level)
    if votes is None and (fit.model.strength_by or fit.model.ties_by):
        raise ModelError(
            f"Model {fit.model.name!r} has numbers for every slice, which follow the votes it was fitted to: "
            "calibration needs held-out votes (votes=...), or a model without such numbers (answers=False, "
            "--answers off)."
        )
    cells = fit.cells if votes is None else votes
    expected = predict_cells(fit, cells, seed=seed)
    ax = axes_of(ax, 5.0, 5.2)
    ax.plot([0, 1], [0, 1], color="black", lw=0.7, ls=":", zorder=1)
    series = [("score of the competitor shown first", _scores(cells, expected), BLUE, "o")]
    if fit.model.has_tie_outcome:
        series.append(("tie", _ties(cells, expected), RED, "D"))
    votes_of_cells = cells.counts.sum(axis=1)
    size = int(np.clip(votes_of_cells.sum() // LEAST, 1, GROUPS))
    for what, per_cell, color, marker in series:
        columns = grouped(*per_cell, votes_of_cells, size=size, level=level)
        ax.vlines(columns["predicted"], columns["lower"], columns["upper"], color=color, lw=5, alpha=0.3)
        ax.plot(columns["predicted"], columns["observed"], marker, color=color, ms=5, label=what, clip_on=False)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ax.grid(alpha=0.3, lw=0.6)
    ax.legend(fontsize=9, loc="upper left", frameon=False)
    which = "the fitted votes" if votes is None else f"{cells.described_votes} given"
    y = f"observed (bars: {percent(level, 'g')} if the fit is right)"
    entitle(ax, f"Calibration on {which}", about(fit), x="predicted (means of groups of votes)", y=y)
    return ax


def _scores(cells: Cells, expected: Prediction) -> tuple[Floats, Floats, Floats]:
    """Return the expected score of the first, its variance per vote, and the sum observed in every cell."""
    won, _, tied = wins_losses_ties(cells.counts)
    p = np.exp(expected.log_p)
    variance = p[WIN] + p[TIE] / 4 - (p[WIN] + p[TIE] / 2) ** 2
    return expected.score, variance, won + tied / 2


def _ties(cells: Cells, expected: Prediction) -> tuple[Floats, Floats, Floats]:
    """Return the probability of a tie, its variance per vote, and the number observed in every cell."""
    p = np.exp(expected.log_p[TIE])
    return p, p * (1 - p), wins_losses_ties(cells.counts)[2]
