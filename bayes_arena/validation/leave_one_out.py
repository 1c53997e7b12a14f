"""Leave-one-out cross-validation: of votes, or of whole groups of them.

The expected log predictive density of a vote that the model has not seen is estimated by Pareto-smoothed importance
sampling from draws of the posterior that has (PSIS-LOO, Vehtari et al., 2017). Votes of the same cell and outcome are
exchangeable, so the density is computed once for each of these columns and counted as often as it was cast: exact, and
a fraction of the work. Votes that the model leaves out (dropped ties or both-bad votes) have no density and no column.
A vote's weight is its exponent, as in the likelihood: a summed weight of 9.25 is nine votes, and one that weighs .25.

Where a group g of votes is left out, with weights w_v and log-likelihoods l_v(s) under draw s, each of its votes is
predicted by all other groups, on its own as by :func:`~bayes_arena.kfold`:

    ln p(v | without g) = ln sum_s W_s exp(l_v(s)),      W_s proportional to exp(-sum_{u in g} w_u l_u(s)), smoothed.

A group moves the posterior more than a vote does. Where Pareto k is above .5, and so the variance of the weights not
finite, the model is fitted again without the group, unless it was sampled. A model that has numbers of every group
knows them from that group's votes, which no weights undo: it is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ArenaWarning, ModelError
from bayes_arena.fits.draws import require_proper
from bayes_arena.fits.fitting import fit as fit_votes
from bayes_arena.fits.pointwise import pointwise
from bayes_arena.fits.result import Fit
from bayes_arena.inference.methods import Method
from bayes_arena.progress import report
from bayes_arena.votes.cells import with_counts
from bayes_arena.votes.groups import groups_of, plural

PARETO_K = 0.7
"""A Pareto k above this makes an estimate unreliable (Vehtari et al., 2024)."""
FINITE_VARIANCE = 0.5
"""A Pareto k above this leaves weights of infinite variance."""
BETWEEN_REPORTS = 500
"""Columns between two reports of progress."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out predictive densities of a fit.

    Attributes
    ----------
    elpd : ndarray, shape (n_columns,)
        Expected log predictive density of one vote of every column, in nats.
    pareto_k : ndarray, shape (n_columns,)
        Pareto k of every column, or of its group; 0 where the model was fitted again without the group.
    votes : ndarray, shape (n_columns,)
        How often each was cast (summed weights); their sum is the number of votes that the model sees.
    p : float
        Effective number of parameters.
    n_draws : int
        Draws used.
    group : ndarray of int, shape (n_columns,), or None
        Which columns were left out together; None where votes were left out one by one.
    """

    elpd: Floats
    pareto_k: Floats
    votes: Floats
    p: float
    n_draws: int
    group: Ints | None = None

    @property
    def total(self) -> float:
        """Sum over votes."""
        return float(self.elpd @ self.votes)

    @property
    def se(self) -> float:
        """Standard error of the total, from the spread over votes, or groups."""
        return self.se_of_sum(self.elpd)

    def se_of_sum(self, values: Floats) -> float:
        """Return the standard error of a sum over votes, values (n_columns,), from the spread over votes or groups."""
        deviations = self.votes * (values - values @ self.votes / self.votes.sum())
        if self.group is None:
            times = np.ceil(self.votes)
            squares, size = deviations**2 / times, int(times.sum())
        else:
            size = len(np.unique(self.group))
            squares = sum_by(self.group, deviations, int(self.group.max()) + 1) ** 2
        return float(np.sqrt(size / (size - 1) * squares.sum()))


def leave_one_out(fit: Fit, *, over: str | None = None) -> LeaveOneOut:
    """Leave-one-out cross-validation of a fit, over the votes that its model sees.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior; sampled, or with draws from its Gaussian approximation.
    over : str, optional
        Leave out whole groups: ``"annotator"``, or a slice of the votes, ``"prompt"`` say. By default single votes,
        which answers for further votes by the same annotators on the same prompts.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ModelError
        If the model sees only one vote, or group; if the prior is flat in some parameter; if the votes do not carry the
        groups; or if the model has numbers of each group, as those of annotators with theta free.

    References
    ----------
    Vehtari, A., Gelman, A. & Gabry, J. (2017), "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 27.
    """
    require_proper(fit, "Leave-one-out")
    if fit.target.n_votes < 2:
        raise ModelError("Leave-one-out takes two votes or more; the model sees one.")
    if over is not None and fit.model.has_numbers_of(over):
        raise ModelError(
            f"Model {fit.model.name!r} has numbers of its own for every {over}, which those of a new one are not: they "
            f"have to be integrated out. kfold(cells, models, over={over!r}) does that."
        )
    values, votes = pointwise(fit)
    if over is None:
        values, votes = _single_votes(values, votes)
        group, weight = np.arange(len(votes)), votes / np.ceil(votes)
    else:
        group, weight = _columns_by_group(fit, over), votes
    elpd, pareto_k = _left_out(fit, values, weight, group)
    if over is not None and fit.samples is None:
        _fit_again(fit, over, group, elpd, pareto_k)
    lppd = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return LeaveOneOut(
        elpd=elpd,
        pareto_k=pareto_k,
        votes=votes,
        p=float((lppd - elpd) @ votes),
        n_draws=len(values),
        group=None if over is None else group,
    )


def _single_votes(values: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Give what a summed weight has beyond whole votes a column of its own."""
    whole = np.floor(votes)
    rest = votes - whole
    if not rest.any():
        return values, votes
    columns = [np.flatnonzero(whole), np.flatnonzero(rest)]
    return values[:, np.concatenate(columns)], np.concatenate([whole[columns[0]], rest[columns[1]]])


def _columns_by_group(fit: Fit, over: str) -> Ints:
    """Return the group of every column of :func:`pointwise`."""
    row, _ = np.nonzero(fit.cells.counts * fit.model.sees)
    group = groups_of(fit.cells, over).of_cell[row]
    if len(np.unique(group)) < 2:
        raise ModelError(f"Leaving out {plural(over)} takes two or more with votes that the model sees; there is one.")
    return group


def _left_out(fit: Fit, values: Floats, weight: Floats, group: Ints) -> tuple[Floats, Floats]:
    """Density of a vote of every column without its group, and Pareto k, by importance sampling."""
    from arviz_stats.base.array import array_stats

    chains = fit.tree["posterior"].sizes["chain"] if fit.tree is not None else 1
    by_chain = np.ascontiguousarray(values.T).reshape(len(weight), chains, -1)
    by_column, efficiency = by_chain.reshape(len(weight), -1), _relative_efficiency(by_chain)
    elpd, pareto_k = np.empty(len(weight)), np.empty(len(weight))
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    for number, columns in enumerate(parts):
        if number % BETWEEN_REPORTS == 0:
            report("kinds of votes left out", number, len(parts))
        together = weight[columns] @ by_column[columns]
        log_weights, pareto_k[columns] = array_stats.psislw(together, r_eff=efficiency)
        elpd[columns] = logsumexp(log_weights + by_column[columns], axis=1)
    report("")
    return elpd, pareto_k


def _fit_again(fit: Fit, over: str, group: Ints, elpd: Floats, pareto_k: Floats) -> None:
    """Replace what importance sampling cannot say of a group by a fit without it."""
    of_cell, hard = groups_of(fit.cells, over).of_cell, np.unique(group[pareto_k > FINITE_VARIANCE])
    for number, one in enumerate(hard):
        report(f"fits without a {over}", number, len(hard))
        columns, inside = group == one, (of_cell == one)[:, None]
        others, left_out = (with_counts(fit.cells, fit.cells.counts * part) for part in (~inside, inside))
        with warnings.catch_warnings(action="ignore", category=ArenaWarning):
            method: Method = "marginal" if fit.evidence else "map"
            without = fit_votes(others, model=fit.model, prior=fit.prior, method=method, answers=False)
        values, _ = pointwise(without, cells=left_out)
        elpd[columns] = logsumexp(values, axis=0) - np.log(len(values))
        pareto_k[columns] = 0.0
    report("")


def _relative_efficiency(values: Floats) -> float:
    """Effective share of the draws, from the chains' total log-likelihood; 1 for independent draws."""
    from arviz_stats.base.array import array_stats

    if values.shape[1] == 1:
        return 1.0
    total = np.exp(values - values.max()).mean(axis=0)
    size = total.size
    return float(min(array_stats.ess(total, chain_axis=0, draw_axis=1, method="mean") / size, 1.0))
