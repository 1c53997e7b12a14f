"""Leave-one-vote-out cross-validation.

The expected log predictive density of a vote that the model has not seen is estimated by Pareto-smoothed importance
sampling from draws of the posterior that has (PSIS-LOO, Vehtari et al., 2017). Votes of the same cell and outcome are
exchangeable, so the density is computed once for each of these columns and counted as often as it was cast: exact, and
a fraction of the work. Votes that the model leaves out (dropped ties or both-bad votes) have no density and no column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.draws import require_proper
from bayes_arena.fits.pointwise import pointwise
from bayes_arena.fits.result import Fit
from bayes_arena.progress import report
from bayes_arena.votes.cells import whole_votes

PARETO_K = 0.7
"""A Pareto k above this makes an estimate unreliable (Vehtari et al., 2024)."""
CHUNK = 500
"""Columns between two reports of progress."""


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
        How often each was cast; their sum is the number of votes that the model sees.
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
        return se_of_sum(self.elpd, self.votes)


def se_of_sum(values: Floats, votes: Floats) -> float:
    """Return the standard error of a sum over votes, from the spread of its terms."""
    n = votes.sum()
    return float(np.sqrt(n / (n - 1) * votes @ (values - values @ votes / n) ** 2))


def leave_one_out(fit: Fit) -> LeaveOneOut:
    """Leave-one-vote-out cross-validation of a fit, over the votes that its model sees.

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
        If some weights are fractions, so that there are no single votes to leave out; if the model sees only one vote;
        or if the prior is flat in some parameter.

    References
    ----------
    Vehtari, A., Gelman, A. & Gabry, J. (2017), "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 27.
    """
    from arviz_stats.base.array import array_stats

    whole_votes(fit.target.counts)
    require_proper(fit, "Leave-one-out")
    if fit.target.n_votes < 2:
        raise ModelError("Leave-one-out takes two votes or more; the model sees one.")
    values, votes = pointwise(fit)
    chains = fit.tree["posterior"].sizes["chain"] if fit.tree is not None else 1
    by_chain = values.T.reshape(len(votes), chains, -1)
    efficiency = _relative_efficiency(by_chain)
    elpd, pareto_k = np.empty(len(votes)), np.empty(len(votes))
    for first in range(0, len(votes), CHUNK):
        report("kinds of votes left out", first, len(votes))
        part = slice(first, first + CHUNK)
        elpd[part], pareto_k[part], _ = array_stats.loo(by_chain[part], chain_axis=1, draw_axis=2, r_eff=efficiency)
    report("")
    lppd = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return LeaveOneOut(
        elpd=elpd,
        pareto_k=pareto_k,
        votes=votes,
        p=float((lppd - elpd) @ votes),
        n_draws=len(values),
    )


def _relative_efficiency(values: Floats) -> float:
    """Effective share of the draws, from the chains' total log-likelihood; 1 for independent draws."""
    from arviz_stats.base.array import array_stats

    if values.shape[1] == 1:
        return 1.0
    total = np.exp(values - values.max()).mean(axis=0)
    size = total.size
    return float(min(array_stats.ess(total, chain_axis=0, draw_axis=1, method="mean") / size, 1.0))
