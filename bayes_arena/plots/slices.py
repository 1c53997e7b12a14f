"""A picture of boards by slice: ranks, and who is stronger where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.leaderboard import stacked_columns
from bayes_arena.boards.look import LOOK
from bayes_arena.boards.slices import slice_gap_columns, standings_by
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.fits.result import Fit
from bayes_arena.palette import score_shades
from bayes_arena.plots.canvas import (
    axes_of,
    drawn_name,
    entitle,
    rows_height,
    shaded_rows,
    write_cells,
)
from bayes_arena.tables import records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMN_WIDTH = 0.9  # inches
NAMES_WIDTH = 2.5  # inches beside the matrix
MARKS = {True: " ▲", False: " ▼"}


def slices(fit: Fit, by: str, *, ax: Axes | None = None) -> Axes:
    """Draw the rank of every competitor at every level of a slice.

    Parameters
    ----------
    fit : Fit
        Of a model with the slice in ``strength_by``.
    by : str
        The slice.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Rows are in the order of the board.  Blue is stronger there than over all votes,
        grey weaker; ▲ and ▼ surely so, as :func:`~bayes_arena.slice_gaps` flags it.

    Raises
    ------
    ModelError
        If the model has no strengths by the slice.
    """
    standings = standings_by(fit, by, LOOK)
    names, score, text = matrix_of(fit, by, standings)
    width = COLUMN_WIDTH * len(standings) + NAMES_WIDTH
    ax = axes_of(ax, width, rows_height(len(names)) + 1.0)
    shades = score_shades(score)
    shaded_rows(ax, shades, names)
    ax.set_aspect("auto")
    columns = range(1, len(standings) + 1)
    ax.set_xticks(columns, [*map(drawn_name, standings)], rotation=30, ha="right")
    write_cells(ax, shades, text)
    entitle(ax, f"Rank by {by}; blue is stronger there, ▲ and ▼ surely differ", "")
    return ax


def matrix_of(
    fit: Fit, by: str, standings: Mapping[str, Standing]
) -> tuple[list[str], Floats, Array]:
    """Return the ranked competitors; scores against themselves; ranks and marks as text.

    The last two are (competitors, levels): an expected score at a level against the same
    competitor over all votes, one half where it was not seen.
    """
    whole = standing_of(fit)
    names = [whole.competitors[code] for code in whole.ranked]
    row_of = {name: row for row, name in enumerate(names)}
    column_of = {name: column for column, name in enumerate(standings)}
    score = np.full((len(names), len(standings)), 0.5)
    text = np.full(score.shape, "", dtype=object)
    for row in records(stacked_columns(by, standings, elo=ELO, rank_spread=False)):
        if row["competitor"] in row_of and row["rank"] is not None:
            text[row_of[row["competitor"]], column_of[row[by]]] = str(row["rank"])
    for row in records(slice_gap_columns(fit, by, LOOK)):
        if row["competitor"] in row_of:
            cell = row_of[row["competitor"]], column_of[row[by]]
            score[cell] = expit(row["gap"] / ELO.points_per_logit)
            text[cell] += MARKS[row["gap"] > 0] if row["flagged"] else ""
    return names, score, text
