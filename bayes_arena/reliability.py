"""What the votes say about those who cast them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from bayes_arena.errors import ModelError
from bayes_arena.intervals import half_width
from bayes_arena.ranking import Columns, whole_counts
from bayes_arena.result import Fit

SMALLEST_SD = 1e-12
"""A single annotator has theta = 1 by definition, without error."""

if TYPE_CHECKING:
    import pandas as pd


def annotators(fit: Fit, *, level: float = 0.95) -> pd.DataFrame:
    """Discrimination of every annotator, least first.

    Parameters
    ----------
    fit : Fit
        A model with a discrimination per annotator.
    level : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        ``annotator``; ``theta`` relative to the mean annotator (1) with ``lower`` and ``upper``; ``theta_paper``,
        the same on the paper's scale (sum 1); ``p_negative``, the probability that theta < 0 under the Gaussian
        approximation; ``votes``.

    Raises
    ------
    ModelError
        If the model has no discriminations, or the level is not possible.

    References
    ----------
    Liu et al. (2025), section 4.2: theta < 0 marks an anomalous annotator.
    """
    import pandas as pd

    return pd.DataFrame(annotator_columns(fit, level=level))


def annotator_columns(fit: Fit, *, level: float = 0.95) -> Columns:
    """Columns of :func:`annotators` (the command line prints them without importing pandas)."""
    if not len(fit.discrimination):
        raise ModelError(
            f"Model {fit.model.name!r} says nothing about annotators. Use model='am-elo' on votes that name them."
        )
    half = half_width(level)
    if fit.samples is not None:
        drawn = fit.samples.own[:, :, 0]
        theta = drawn.mean(axis=0)
        lower, upper = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        p_negative = (drawn < 0).mean(axis=0)
    else:
        theta, sd = fit.discrimination, fit.discrimination_sd
        lower, upper = theta - half * sd, theta + half * sd
        p_negative = ndtr(-theta / np.maximum(sd, SMALLEST_SD))
    columns: Columns = {
        "annotator": np.array(fit.cells.annotators, dtype=object),
        "theta": theta,
        "lower": lower,
        "upper": upper,
        "theta_paper": theta / len(theta),
        "p_negative": p_negative,
        "votes": whole_counts(fit.cells.votes_by_annotator()),
    }
    order = np.argsort(theta, kind="stable")
    return {name: column[order] for name, column in columns.items()}
