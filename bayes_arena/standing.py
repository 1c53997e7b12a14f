"""What readers of a leaderboard ask: who is best, who beats whom, and which places the votes leave open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.stats import rankdata

from bayes_arena.cells import Floats
from bayes_arena.errors import ModelError
from bayes_arena.intervals import equal_tailed, require_level
from bayes_arena.likelihood import ETA
from bayes_arena.outcomes import expected_score
from bayes_arena.posterior import draw
from bayes_arena.result import Draws, Fit

if TYPE_CHECKING:
    import pandas as pd

Annotator = Literal["average", "new"]


def rank_probabilities(fit: Fit, *, top: int = 3, level: float = 0.95, draws: Draws | None = None) -> pd.DataFrame:
    """Posterior of the ranks.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    top : int
        k of "among the best k".
    level : float
        Posterior probability of the rank interval.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.

    Returns
    -------
    pandas.DataFrame
        ``competitor, p_best, p_top, expected_rank, rank_lower, rank_upper``, best expected rank first.

    Raises
    ------
    ModelError
        If top or level is not possible.
    """
    import pandas as pd

    names = fit.cells.competitors
    if not 1 <= top <= len(names):
        raise ModelError(f"top lies between 1 and the number of competitors, {len(names)}; not {top!r}.")
    require_level(level)
    ranks = rankdata(-(draws or draw(fit)).elo_strength, axis=1)
    lower, upper = equal_tailed(ranks, level, discrete=True)
    table = pd.DataFrame(
        {
            "competitor": names,
            "p_best": (ranks == 1).mean(axis=0),
            "p_top": (ranks <= top).mean(axis=0),
            "expected_rank": ranks.mean(axis=0),
            "rank_lower": lower.astype(int),
            "rank_upper": upper.astype(int),
        }
    )
    return table.sort_values("expected_rank", ignore_index=True)


def win_probability(fit: Fit, *, annotator: Annotator = "average", draws: Draws | None = None) -> pd.DataFrame:
    """Score that one competitor is expected to take from another in the next vote, a tie counting one half.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    annotator : {"average", "new"}
        Who votes: somebody with theta = 1 and the common tie propensity, or somebody new, drawn from the population
        of annotators that the prior describes. Neither favours a side.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.

    Returns
    -------
    pandas.DataFrame
        Square, rows against columns, both in the order of ``fit.cells.competitors``; the diagonal is 1/2, and an
        entry and its mirror sum to one.

    Raises
    ------
    ModelError
        If the annotator is neither, or new under a flat prior, which describes no population.
    """
    import pandas as pd

    if annotator not in ("average", "new"):
        raise ModelError(f"annotator is 'average' or 'new', not {annotator!r}.")
    if annotator == "new" and any(np.isinf(term.sd) for term in fit.target.own):
        raise ModelError("A flat prior describes no population to draw a new annotator from. Use prior='default'.")
    draws = draws or draw(fit)
    size, n = draws.strength.shape
    i, j = np.triu_indices(n, k=1)
    coordinates = np.zeros((fit.target.n_coordinates, size, len(i)))
    coordinates[ETA] = draws.strength[:, i] - draws.strength[:, j]
    for column, term in enumerate(fit.target.common):
        if term.name != "position":
            coordinates[term.coordinate] += draws.common[:, column, None]
    if annotator == "new":
        rng = np.random.default_rng(1)
        for term in fit.target.own:
            someone = rng.normal(term.mean, term.sd, (size, 1))
            if term.name == "discrimination":
                coordinates[ETA] *= someone
            elif term.name == "tie_propensity":
                coordinates[term.coordinate] += someone
    score = expected_score(fit.model, coordinates)[0].mean(axis=0)
    matrix = np.full((n, n), 0.5)
    matrix[i, j], matrix[j, i] = score, 1 - score
    return pd.DataFrame(matrix, index=list(fit.cells.competitors), columns=list(fit.cells.competitors))


def unsettled_pairs(fit: Fit, *, level: float = 0.95, draws: Draws | None = None) -> pd.DataFrame:
    """Pairs whose order the votes do not settle.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        An order is settled once its posterior probability exceeds this.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.

    Returns
    -------
    pandas.DataFrame
        ``stronger, weaker, probability``: the likelier order and its posterior probability (at most ``level``), the
        least settled pair first.

    Raises
    ------
    ModelError
        If the level is not possible.
    """
    import pandas as pd

    require_level(level)
    strength = (draws or draw(fit)).elo_strength
    names = np.array(fit.cells.competitors, dtype=object)
    ahead = _ahead(strength)
    i, j = np.nonzero((ahead >= 0.5) & (ahead <= level) & ~np.eye(len(names), dtype=bool))
    keep = (ahead[i, j] > 0.5) | (i < j)  # an even pair is listed once
    table = pd.DataFrame({"stronger": names[i[keep]], "weaker": names[j[keep]], "probability": ahead[i, j][keep]})
    return table.sort_values("probability", ignore_index=True, kind="stable")


def _ahead(strength: Floats) -> Floats:
    """Share of draws in which the row's competitor is ahead of the column's, shape (n, n)."""
    return np.array([(one[:, None] > strength).mean(axis=0) for one in strength.T])
