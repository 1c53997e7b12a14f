"""Pictures of annotators: agreement, and the scores that they give to favourites."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.errors import VotesError
from bayes_arena.fits.result import Fit
from bayes_arena.palette import LIGHT
from bayes_arena.people.annotators import annotators as annotators_table
from bayes_arena.people.favourites import (
    favourite_rows,
    favourites as favourites_table,
)
from bayes_arena.people.judgement import ODD, UNJUDGED
from bayes_arena.plots.canvas import (
    axes_of,
    entitle,
    intervals,
    named_rows,
    rows_height,
)
from bayes_arena.rating.rating import Rating

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def annotators(source: Fit | Rating | pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the agreement of each annotator who was judged, with its interval.

    Parameters
    ----------
    source : Fit, Rating or dataframe
        A dataframe is one of :func:`~bayes_arena.annotators`, or some of its rows.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        Orange diamonds are anomalous, or have a favourite.

    Raises
    ------
    VotesError
        If no annotator was judged.
    """
    if isinstance(source, Fit):
        source = annotators_table(source)
    table = source.annotators if isinstance(source, Rating) else source
    if len(table):  # a rating without annotators has an empty table
        table = table[~table["verdict"].isin(UNJUDGED)]
    if not len(table):
        raise VotesError("No annotator was judged, so there is none to draw.")
    ax = axes_of(ax, 6.0, 1.0 + rows_height(len(table)))
    is_odd = table["verdict"].isin(ODD).to_numpy()
    lower = table["lower"].to_numpy()
    upper = table["upper"].to_numpy()
    intervals(ax, lower, table["agreement"].to_numpy(), upper, is_odd, "odd")
    named_rows(ax, table["annotator"].tolist())
    ax.axvline(0, color=LIGHT["muted"], lw=1, ls=":")
    title = "Annotators; orange are anomalous or have a favourite"
    entitle(ax, title, "agreement: 0 is chance, 1 always with the others")
    return ax


def favourites(source: Fit | Rating | pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the scores that annotators give to favourites, beside the expected scores.

    Parameters
    ----------
    source : Fit, Rating or dataframe
        A dataframe is one of :func:`~bayes_arena.favourites`.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each flagged annotator and competitor; empty if there is none.
    """
    if isinstance(source, Rating):
        columns = source.named_favourites
    else:
        table = favourites_table(source) if isinstance(source, Fit) else source
        flagged = table[table["flagged"].to_numpy(bool)]
        columns = {str(name): flagged[name].to_numpy() for name in flagged}
    favoured = favourite_rows(columns)
    names = [row["label"] for row in favoured]
    observed = [row["score"] for row in favoured]
    expected = [row["expected"] for row in favoured]
    ax = axes_of(ax, 7.0, 1.2 + rows_height(len(names)))
    rows = np.arange(len(names))
    ax.hlines(rows, expected, observed, color=LIGHT["odd"], lw=1.4)
    ax.plot(expected, rows, "|", color=LIGHT["muted"], ms=12, mew=2, label="expected")
    ax.plot(observed, rows, "D", color=LIGHT["odd"], ms=5, label="observed")
    named_rows(ax, names)
    ax.set_xlim(0, 100)
    title = "Favourites" if names else "Nobody has a favourite"
    entitle(ax, title, "score of the competitor in percent")
    return ax
