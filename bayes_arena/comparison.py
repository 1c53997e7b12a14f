"""Which model do the votes support? Leave-one-vote-out cross-validation, and stacking.

The expected log predictive density of a vote that the model has not seen is estimated by Pareto-smoothed importance
sampling from draws of the posterior that has (PSIS-LOO, Vehtari et al., 2017). Votes of the same cell and outcome are
exchangeable, so the density is computed once for each of these columns and counted as often as it was cast: exact, and
a fraction of the work. All models are evaluated on the same columns in the same order, so differences are taken vote by
vote.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.cells import Cells, Floats, Tally
from bayes_arena.errors import ModelError
from bayes_arena.likelihood import Point
from bayes_arena.posterior import draw
from bayes_arena.result import Fit
from bayes_arena.specification import Model

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 1000
"""Draws from a Gaussian approximation; a sampled fit uses all it has."""
BAD_K = 0.7
"""A Pareto k above this makes an estimate unreliable (Vehtari et al., 2024)."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-vote-out predictive densities of a fit.

    Attributes
    ----------
    elpd : ndarray, shape (n_columns,)
        Expected log predictive density of one vote of every column, in nats.
    pareto_k : ndarray, shape (n_columns,)
        Pareto k of every column.
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    p : float
        Effective number of parameters.
    n_draws : int
        Draws used.
    """

    elpd: Floats
    pareto_k: Floats
    votes: Floats
    p: float
    n_draws: int

    @property
    def total(self) -> float:
        """Sum over votes."""
        return float(self.elpd @ self.votes)

    @property
    def se(self) -> float:
        """Standard error of the total, from the spread over votes."""
        return _se_of_sum(self.elpd, self.votes)


def _se_of_sum(values: Floats, votes: Floats) -> float:
    """Return the standard error of a sum over votes, from the spread of its terms."""
    n = votes.sum()
    return float(np.sqrt(n / (n - 1) * votes @ (values - values @ votes / n) ** 2))


def pointwise(fit: Fit) -> tuple[Floats, Floats]:
    """Log-likelihood of one vote of every column, under every draw.

    Parameters
    ----------
    fit : Fit
        A fitted model.

    Returns
    -------
    log_likelihood : ndarray, shape (n_draws, n_columns)
        In nats. Columns are the outcomes cast in each cell of ``fit.cells``, in its order.
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    """
    cells = fit.cells
    counts = cells.counts
    row, outcome = np.nonzero(counts)
    target = replace(fit.target, tally=Tally(cells.a, cells.b, cells.annotator, counts))
    one = np.zeros((4, len(row)))
    seen = {"tie": 2, "drop": 3, "outcome": 3}[fit.model.both_bad]
    one[np.where(outcome == 3, seen, outcome), np.arange(len(row))] = 1.0
    draws = draw(fit, size=DRAWS)
    values = np.empty((len(draws.strength), len(row)))
    for index in range(len(values)):
        point = Point(draws.strength[index], draws.common[index], draws.own[index])
        values[index] = -target.rows(one, target.coordinates(point)[:, row]).value
    return values, counts[row, outcome]


def leave_one_out(fit: Fit) -> LeaveOneOut:
    """Leave-one-vote-out cross-validation of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior; sampled, or with draws from its Gaussian approximation.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ModelError
        If votes are weighted by fractions, which are no votes to leave out, or the prior is flat.

    References
    ----------
    Vehtari, A., Gelman, A. & Gabry, J. (2017), "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 27.
    """
    from arviz_stats.base.array import array_stats

    if not np.array_equal(fit.cells.counts, np.rint(fit.cells.counts)):
        raise ModelError("Leave-one-out needs whole votes; these are weighted by fractions.")
    if fit.prior.is_flat:
        raise ModelError("Leave-one-out needs draws from a posterior. Use prior='default'.")
    values, votes = pointwise(fit)
    chains = fit.tree["posterior"].sizes["chain"] if fit.tree is not None else 1
    by_chain = values.T.reshape(len(votes), chains, -1)
    elpd, pareto_k, _ = array_stats.loo(by_chain, chain_axis=1, draw_axis=2, r_eff=_relative_efficiency(by_chain))
    lppd = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return LeaveOneOut(
        elpd=np.asarray(elpd),
        pareto_k=np.asarray(pareto_k),
        votes=votes,
        p=float((lppd - elpd) @ votes),
        n_draws=len(values),
    )


def compare(fits: Mapping[str, Fit]) -> pd.DataFrame:
    """Compare models by leave-one-vote-out cross-validation.

    Parameters
    ----------
    fits : mapping of str to Fit
        Two fits or more of the same votes.

    Returns
    -------
    pandas.DataFrame
        Best first: ``name, rank, elpd_loo, se, elpd_diff, dse, weight, p_loo, pareto_k``. ``elpd_diff`` is against the
        best, ``dse`` its standard error over votes, ``weight`` the share in the stacked prediction, ``pareto_k`` the
        largest (above 0.7 the estimate is unreliable). In nats, summed over votes.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes differ, or the likelihoods are of different outcomes.

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
                "dse": _se_of_sum(gap, one.votes),
                "weight": weights[name],
                "p_loo": one.p,
                "pareto_k": float(one.pareto_k.max()),
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
            warning=bool((one.pareto_k > BAD_K).any()),
            good_k=BAD_K,
            elpd_i=per_vote(one, one.elpd),
            pareto_k=per_vote(one, one.pareto_k),
        )
        for name, one in loo.items()
    }
    return {str(name): float(w) for name, w in az.compare(data, method="stacking", round_to="none")["weight"].items()}


def _relative_efficiency(values: Floats) -> float:
    """Effective share of the draws, from the chains' total log-likelihood; 1 for independent draws."""
    from arviz_stats.base.array import array_stats

    if values.shape[1] == 1:
        return 1.0
    total = np.exp(values - values.max()).mean(axis=0)
    size = total.size
    return float(min(array_stats.ess(total, chain_axis=0, draw_axis=1, method="mean") / size, 1.0))


def _require_comparable(fits: Mapping[str, Fit]) -> None:
    """Refuse fits of different votes, or of likelihoods that predict different things."""
    (first, reference), *others = fits.items()
    for name, fit in others:
        if not _same_votes(reference.cells, fit.cells):
            raise ModelError(f"{first!r} and {name!r} were fitted to different votes. Fit both to the same cells.")
        left, right = _outcomes(reference.model), _outcomes(fit.model)
        if left != right:
            raise ModelError(
                f"{first!r} predicts {left} and {name!r} {right}: their densities are not of the same thing. Compare "
                "models that treat ties and both-bad votes alike (ties='davidson' has probabilities for ties)."
            )


def _outcomes(model: Model) -> str:
    """Say what a model's likelihood is a density of."""
    if model.ties == "half":
        ties = "half wins (a likelihood that is not normalised over win, tie and loss)"
    else:
        ties = "wins and losses" if model.ties == "drop" else "wins, ties and losses"
    return f"{ties}, both-bad votes as {model.both_bad}"


def _same_votes(left: Cells, right: Cells) -> bool:
    return left is right or (
        left.competitors == right.competitors
        and left.annotators == right.annotators
        and all(np.array_equal(getattr(left, name), getattr(right, name)) for name in ("a", "b", "annotator", "counts"))
    )
