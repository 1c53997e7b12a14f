"""Pictures of a board: scores with intervals, scores of pairs, and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.leaderboard import leaderboard_columns
from bayes_arena.boards.standing import Standing, expected_scores, standing_of
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.palette import probability_shades, score_shades
from bayes_arena.plots.canvas import (
    axes_of,
    entitle,
    intervals,
    named_rows,
    rows_height,
    shaded_square,
)
from bayes_arena.rating.rating import Rating

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("competitor", "elo", "lower", "upper", "rank_lower")  # that are drawn
NAMES_WIDTH = 2.5  # inches beside a square
SMALLEST_SQUARE = 2.5  # inches


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
    table: Any = source
    if isinstance(source, Fit):
        table = leaderboard_columns(standing_of(source))
    elif isinstance(source, Rating):
        table = source.board_columns
    elif missing := [name for name in COLUMNS if name not in table]:
        raise ModelError(
            f"This is no board: it has no column {missing[0]!r}. Draw that of leaderboard()."
        )
    has_score = np.isfinite(np.asarray(table["elo"], float))
    drawn = {name: np.asarray(table[name])[has_score] for name in COLUMNS}
    may_be_best = drawn["rank_lower"] == 1
    ax = axes_of(ax, 7.0, 1.0 + rows_height(len(may_be_best)))
    intervals(ax, drawn["lower"], drawn["elo"], drawn["upper"], may_be_best, "lead")
    named_rows(ax, drawn["competitor"].tolist())
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
    standing = standing_from(source)
    score = expected_scores(standing)
    title = "Expected score against each"
    return square(ax, standing, score_shades(score), score, title)


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
    standing = standing_from(source)
    share = standing.rank_shares
    title = "Probability of every rank"
    return square(ax, standing, probability_shades(share), share, title)


def standing_from(source: Fit | Rating) -> Standing:
    """Return the standing of a fit or a rating."""
    return source.standing if isinstance(source, Rating) else standing_of(source)


def square(
    ax: Axes | None, standing: Standing, shades: Ints, values: Floats, title: str
) -> Axes:
    """Draw a square of shades, a row for each ranked competitor."""
    names = [standing.competitors[code] for code in standing.ranked]
    side = max(rows_height(len(names)), SMALLEST_SQUARE)
    ax = axes_of(ax, side + NAMES_WIDTH, side + 1.0)
    shaded_square(ax, shades, values, names)
    entitle(ax, title, "rank")
    return ax
