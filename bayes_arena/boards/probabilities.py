"""The probability that one competitor wins against another, by the board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy.special import expit

from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import FitOptions
from bayes_arena.fits.result import of_all

if TYPE_CHECKING:
    import pandas as pd


def win_probability(fit: object, **options: Unpack[FitOptions]) -> pd.DataFrame:
    """Return the expected score of every competitor against every other one.

    It is 1 / (1 + exp(r*_j - r*_i)), with r* the strengths of the board: a win counts 1, a
    tie 1/2.

    Parameters
    ----------
    fit : Fit, or votes
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame, shape (competitors, competitors)
        Of the row against the column, best first; nan on the diagonal.
    """
    import pandas as pd

    result = fitted(fit, **options)
    strength = of_all(result, result.marginals.board.value)
    order = np.argsort(-strength, kind="stable")
    score = expit(strength[order][:, None] - strength[order])
    np.fill_diagonal(score, np.nan)
    names = np.array(result.votes.competitors, dtype=object)[order]
    return pd.DataFrame(score, index=names, columns=names)
