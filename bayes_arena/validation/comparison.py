"""Which model do the votes support? Differences in leave-one-vote-out density, and stacking.

All models are evaluated on the same columns of votes in the same order, so differences are taken vote by vote. Votes
that the models leave out are not scored; models that leave out different ones cannot be compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.specification import Model
from bayes_arena.validation.leave_one_out import PARETO_K, LeaveOneOut, leave_one_out, se_of_sum
from bayes_arena.votes.cells import Cells

if TYPE_CHECKING:
    import pandas as pd


def compare(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Compare models by leave-one-vote-out cross-validation.

    Parameters
    ----------
    fits : mapping of str to Fit
        Two fits or more of the same votes.

    Returns
    -------
    pandas.DataFrame
        Best first: ``name, rank, elpd_loo, se, elpd_diff, dse, weight, p_loo, pareto_k, votes``. ``elpd_diff`` is
        against the best, ``dse`` its standard error over votes, ``weight`` the share in the stacked prediction,
        ``pareto_k`` the largest (above 0.7 the estimate is unreliable), ``votes`` how many were scored: those that the
        models see. In nats, summed over votes.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes differ, the likelihoods are of different outcomes, or a fit cannot be
        cross-validated (:func:`~bayes_arena.leave_one_out`).

    References
    ----------
    Yao, Y. et al. (2018), "Using stacking to average Bayesian predictive distributions", Bayesian Analysis 13.
    """
    import pandas as pd

    if len(fits) < 2:
        raise ModelError("Comparing takes two fits or more.")
    _require_comparable(fits)
    loo = {name: leave_one_out(fit) for name, fit in fits.items()}
    best = max(loo, key=lambda name: loo[name].total)
    weights = _stacking_weights(loo)
    rows: list[dict[str, Any]] = []
    for name in sorted(loo, key=lambda name: -loo[name].total):
        one = loo[name]
        gap = one.elpd - loo[best].elpd
        rows.append(
            {
                "name": name,
                "rank": len(rows) + 1,
                "elpd_loo": one.total,
                "se": one.se,
                "elpd_diff": float(gap @ one.votes),
                "dse": se_of_sum(gap, one.votes),
                "weight": weights[name],
                "p_loo": one.p,
                "pareto_k": float(one.pareto_k.max()),
                "votes": int(one.votes.sum()),
            }
        )
    return pd.DataFrame(rows)


def _stacking_weights(loo: Mapping[str, LeaveOneOut]) -> dict[str, float]:
    """Stack the densities vote by vote, as ArviZ does."""
    import arviz as az
    import xarray as xr
    from arviz_stats.utils import ELPDDataLOO

    def per_vote(one: LeaveOneOut, values: Floats) -> xr.DataArray:
        return xr.DataArray(np.repeat(values, one.votes.astype(int)), dims="vote")

    data = {
        name: ELPDDataLOO(
            elpd=one.total,
            se=one.se,
            p=one.p,
            n_samples=one.n_draws,
            n_data_points=int(one.votes.sum()),
            scale="log",
            warning=bool((one.pareto_k > PARETO_K).any()),
            good_k=PARETO_K,
            elpd_i=per_vote(one, one.elpd),
            pareto_k=per_vote(one, one.pareto_k),
        )
        for name, one in loo.items()
    }
    return {str(name): float(w) for name, w in az.compare(data, method="stacking", round_to="none")["weight"].items()}


def _require_comparable(fits: Mapping[str, Fit]) -> None:
    """Refuse fits of different votes, or of likelihoods that predict different things."""
    (first, reference), *others = fits.items()
    for name, fit in others:
        if not _same_votes(reference.cells, fit.cells):
            raise ModelError(
                f"{first!r} and {name!r} were fitted to different votes ({reference.cells.n_votes:,.12g} and "
                f"{fit.cells.n_votes:,.12g}). Fit both to the same cells."
            )
        left, right = _outcomes(reference.model), _outcomes(fit.model)
        if left != right:
            raise ModelError(
                f"{first!r} predicts {left} ({_seen(reference)}) and {name!r} {right} ({_seen(fit)}): their densities "
                "are not of the same thing. Compare models that treat ties and both-bad votes alike (ties='davidson' "
                "has probabilities for ties)."
            )


def _outcomes(model: Model) -> str:
    """Say what a model's likelihood is a density of."""
    if model.likelihood.drops_ties:
        return "wins and losses alone"
    half = model.likelihood.half_wins
    ties = "half wins (a likelihood that is not normalised over win, tie and loss)" if half else "wins, ties and losses"
    both_bad = {"tie": "as ties", "drop": "left out", "outcome": "as an outcome of their own"}[model.both_bad]
    return f"{ties}, both-bad votes {both_bad}"


def _seen(fit: Fit) -> str:
    return f"{fit.target.n_votes:,.12g} of {fit.cells.n_votes:,.12g} votes"


def _same_votes(left: Cells, right: Cells) -> bool:
    return left is right or (
        left.competitors == right.competitors
        and left.annotators == right.annotators
        and all(np.array_equal(getattr(left, name), getattr(right, name)) for name in ("a", "b", "annotator", "counts"))
    )
