"""Pictures of a board: scores with intervals, scores of pairs, and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.leaderboard import leaderboard
from bayes_arena.boards.probabilities import win_probability
from bayes_arena.boards.ranks import rank_probabilities
from bayes_arena.fits.result import Fit
from bayes_arena.plots.canvas import (
    axes_of,
    entitle,
    intervals,
    named_rows,
    rows_height,
    shaded_square,
)
from bayes_arena.plots.palette import probability_shades, score_shades
from bayes_arena.rating import Rating

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NAMES_WIDTH = 2.5  # inches beside a square


def board(source: Fit | Rating | pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the board: scores with intervals, the best on top.

    Blue diamonds may be the best: rank 1 is in their range.

    Parameters
    ----------
    source : Fit, Rating or dataframe
        A dataframe is one of :func:`~bayes_arena.leaderboard`, with its options.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
    """
    table = board_table(source)
    table = table[np.isfinite(table["elo"])]
    ax = axes_of(ax, 7.0, 1.0 + rows_height(len(table)))
    may_be_best = (table["rank_lower"] == 1).to_numpy()
    lower, elo, upper = (table[name].to_numpy() for name in ("lower", "elo", "upper"))
    intervals(ax, lower, elo, upper, may_be_best, "lead")
    named_rows(ax, table["competitor"].tolist())
    entitle(ax, "Board; blue may be the best", "Elo score with its interval")
    return ax


def pairs(source: Fit | Rating, *, ax: Axes | None = None) -> Axes:
    """Draw the expected score of every competitor against every other.

    Parameters
    ----------
    source : Fit or Rating
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Rows and columns are in the order of the board.  Blue wins, grey loses.
    """
    fit = source.fit if isinstance(source, Rating) else source
    order = board_table(source)["competitor"]
    score = win_probability(fit).loc[order, order].to_numpy()
    return square(ax, score_shades(score), score, order.tolist(), "Expected score")


def ranks(source: Fit | Rating, *, ax: Axes | None = None) -> Axes:
    """Draw the probability of every rank of every competitor.

    Parameters
    ----------
    source : Fit or Rating
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Rows are in the order of the board.  The stronger the blue, the likelier.
    """
    fit = source.fit if isinstance(source, Rating) else source
    order = board_table(source)["competitor"]
    share = rank_probabilities(fit).loc[order].to_numpy()
    title = "Probability of every rank"
    return square(ax, probability_shades(share), share, order.tolist(), title)


def board_table(source: Fit | Rating | pd.DataFrame) -> pd.DataFrame:
    """Return the board of a fit or rating, or a table as it is."""
    if isinstance(source, Fit):
        return leaderboard(source)
    return source.leaderboard if isinstance(source, Rating) else source


def square(
    ax: Axes | None, shades: Ints, values: Floats, names: list[str], title: str
) -> Axes:
    """Draw a square of shades, a row for each name."""
    height = rows_height(len(names))
    ax = axes_of(ax, height + NAMES_WIDTH, height + 1.0)
    shaded_square(ax, shades, values, names)
    entitle(ax, title, "rank on the board")
    return ax
