"""What all votes have in common, by the model: position, ties, style."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.boards.uncertainty import half_width
from bayes_arena.errors import require_level
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import FitOptions
from bayes_arena.fits.result import Fit
from bayes_arena.tables import Columns, dataframe

if TYPE_CHECKING:
    import pandas as pd


def effects(
    fit: object, *, level: float = 0.95, **options: Unpack[FitOptions]
) -> pd.DataFrame:
    """Return what all votes have in common: position, ties, style.

    Parameters
    ----------
    fit : Fit, or votes
    level : float
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    DataFrame
        effect, estimate (logits; of style per unit of the feature), sd, lower, upper, and
        spread, the estimated standard deviation among annotators or levels.
    """
    return dataframe(effect_columns(fitted(fit, **options), level))


def effect_columns(fit: Fit, level: float = 0.95) -> Columns:
    """Return the columns of :func:`effects`."""
    require_level(level)
    q = half_width(level)
    names, estimates, sds, spreads = [], [], [], []
    for block in fit.posterior.design.blocks:
        effect = block.effect
        if effect.by is not None or effect.per_competitor:
            continue
        names.append(effect.name)
        estimates.append(float(fit.marginals.mean_of(effect.name)[0]))
        sds.append(float(fit.marginals.sd_of(effect.name)[0]))
        spreads.append(fit.spreads.get(f"{effect.name}_by_annotator", np.nan))
    estimate, sd = np.array(estimates), np.array(sds)
    return {
        "effect": np.array(names, dtype=object),
        "estimate": estimate,
        "sd": sd,
        "lower": estimate - q * sd,
        "upper": estimate + q * sd,
        "spread": np.array(spreads),
    }
