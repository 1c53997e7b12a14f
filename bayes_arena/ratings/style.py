"""Effects of style: the slopes of features of the answers.

A slope b is what one unit of a feature adds to the log-odds of a win against a loss. With s the root mean square of the
feature over votes, b s is the effect of one standard deviation, and exp(b s) its odds ratio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.predictor import root_mean_square
from bayes_arena.ratings.estimates import linear_table
from bayes_arena.ratings.intervals.contract import Interval
from bayes_arena.ratings.intervals.names import IntervalName

if TYPE_CHECKING:
    import pandas as pd


@held
def style_effects(fit: Fit, *, level: float = 0.95, interval: Interval | IntervalName = "laplace") -> pd.DataFrame:
    """Estimate what a feature of the answers, such as their length, adds to the odds of winning.

    Parameters
    ----------
    fit : Fit
        A fit of a model with style, such as ``Model("style", style=("length",))``.
    level, interval
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``feature``; its slope ``estimate`` in logits per unit, ``sd``, ``z``, ``p``, ``lower``, ``upper``;
        ``feature_sd``, its root mean square over votes; ``per_sd``, the slope in logits per ``feature_sd``; and the
        ``odds_ratio`` of a win to a loss per ``feature_sd``, with ``odds_lower`` and ``odds_upper``.

    Warns
    -----
    DependentVotesWarning
        If votes share prompts and neither the model nor the interval accounts for it: all votes on an answer share its
        length, and standard errors were found to be 3 to 8 times too small.

    Raises
    ------
    ModelError
        If the model has no style, or the level or interval is invalid.
    """
    common, n = fit.target.common, fit.cells.n_competitors
    rows = [row for row, effect in enumerate(common) if effect.basis == "feature"]
    if not rows:
        raise ModelError(f"Model {fit.model.name!r} has no style. Name features of the votes: style=('length',).")
    jacobian = np.eye(n + len(common))[n:][rows]
    table = linear_table(fit, {"feature": list(fit.model.style)}, "estimate", jacobian, level, interval)
    size = np.array([root_mean_square(common[row], fit.target.tally) for row in rows])
    bounds = {"odds_ratio": "estimate", "odds_lower": "lower", "odds_upper": "upper"}
    odds = {name: np.exp(table[bound] * size) for name, bound in bounds.items()}
    return table.assign(feature_sd=size, per_sd=table["estimate"] * size, **odds)
