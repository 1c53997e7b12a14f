"""Leave-one-out cross-validation: of votes, or of whole groups of them.

The expected log predictive density of a vote that the model has not seen is estimated by Pareto-smoothed importance
sampling from draws of the posterior given all votes (PSIS-LOO, Vehtari et al., 2017). Votes of the same cell and
outcome are exchangeable, so the density is computed once for each of these columns and counted as often as it was cast:
exact, at a fraction of the work. Votes that the model leaves out (dropped ties or both-bad votes) have no density and
no column. A vote's weight is its exponent, as in the likelihood: a summed weight of 9.25 is nine votes and one of
weight .25.

Where a group g of votes is left out, with weights w_v and log-likelihoods l_v(s) under draw s, each of its votes is
predicted from all other groups, one vote at a time as in :func:`~bayes_arena.kfold`:

    ln p(v | without g) = ln sum_s W_s exp(l_v(s)),      W_s proportional to exp(-sum_{u in g} w_u l_u(s)), smoothed.

With more than :data:`LARGEST` columns only a sample is left out. The density of every column is approximated from few
draws, to second order in the effect of its vote,

    ln p(v | others) = -ln E 1/p(v)  ~  E l - Var l / 2,      p_loo ~ Var l      (l = ln p(v) under a draw),

with antithetic draws, mirrored about the estimate, which removes the first-order Monte Carlo error. For a simple random
sample of the columns the density is computed as usual, and the mean difference corrects the sum: an unbiased estimate,
whatever the approximation, with a known standard error (Magnusson et al., 2019).

A group moves the posterior more than a vote does. Where Pareto k is above .5, so that the weights have infinite
variance, the model is fitted again without the group, unless it was sampled. A model with parameters of every group has
learnt them from that group's votes, which no weights can undo: it is refused.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.special import logsumexp

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ArenaWarning, ModelError, SampledVotesWarning, warn
from bayes_arena.fits.arguments import held
from bayes_arena.fits.fitting import fit as fit_votes
from bayes_arena.fits.pointwise import DRAWS, Columns, in_parts, pointwise
from bayes_arena.fits.posterior_draws import require_proper
from bayes_arena.fits.result import Fit
from bayes_arena.inference.methods import Method
from bayes_arena.progress import report
from bayes_arena.validation.psis import psis_loo, smooth
from bayes_arena.votes.cells import with_counts
from bayes_arena.votes.groups import groups_of, plural

PARETO_K = 0.7
"""A Pareto k above this makes an estimate unreliable (Vehtari et al., 2024)."""
FINITE_VARIANCE = 0.5
"""A Pareto k above this leaves weights of infinite variance."""
BETWEEN_REPORTS = 500
"""Groups between two reports of progress."""
LARGEST, SAMPLED, SAMPLED_DRAWS = 100_000, 5_000, 4_000
"""Most columns of which all are left out; above that, the size of the sample, and its Gaussian draws."""
FEW, SEED = 100, 0
"""Draws for the approximation, each with its mirror image (a sampled fit gives twice as many), and the seed of the
sample: fits of the same votes are compared on the same one."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out predictive densities of a fit.

    Attributes
    ----------
    elpd : ndarray, shape (n_columns,)
        Expected log predictive density of one vote of every column, in nats; approximated where it was not sampled.
    pareto_k : ndarray, shape (n_columns,)
        Pareto k of every column, or of its group; 0 where the model was fitted again without the group, or the column
        was not sampled.
    votes : ndarray, shape (n_columns,)
        How often each was cast (summed weights); their sum is the number of votes that the model sees.
    p : float
        Effective number of parameters.
    n_draws : int
        Draws used.
    group : ndarray of int, shape (n_columns,), or None
        Which columns were left out together; None where votes were left out one by one.
    sampled : ndarray of int, shape (m,), or None
        The columns that were left out, where they are a sample; None where all were.
    error : ndarray, shape (m,), or None
        Error of the approximation in the sample, which estimates its error elsewhere.
    """

    elpd: Floats
    pareto_k: Floats
    votes: Floats
    p: float
    n_draws: int
    group: Ints | None = None
    sampled: Ints | None = None
    error: Floats | None = None

    @property
    def total(self) -> float:
        """Sum over votes."""
        return self.sum_of(self.elpd, self.error)

    @property
    def se(self) -> float:
        """Standard error of the total, from the spread over votes, or groups, and from the sampling of columns."""
        return self.se_of_sum(self.elpd, self.error)

    @property
    def sampling_se(self) -> float:
        """Standard error from the sampling of columns; 0 where all were left out."""
        return self.sampling_se_of_sum(self.error)

    def sum_of(self, values: Floats, error: Floats | None) -> float:
        """Return the sum over votes of values (n_columns,), corrected by their error (m,) in the sample."""
        total = float(values @ self.votes)
        if self.sampled is None or error is None:
            return total
        return total + (len(values) / len(error) - 1) * float(error @ self.votes[self.sampled])

    def sampling_se_of_sum(self, error: Floats | None) -> float:
        """Return the standard error of such a sum from the sampling of columns."""
        if self.sampled is None or error is None:
            return 0.0
        size, count = len(error), len(self.votes)
        of_column = float(np.var(error * self.votes[self.sampled], ddof=1))
        return count * float(np.sqrt((1 / size - 1 / count) * of_column))

    def se_of_sum(self, values: Floats, error: Floats | None = None) -> float:
        """Return the standard error of such a sum, from the spread over votes or groups and from the sampling."""
        deviations = self.votes * (values - values @ self.votes / self.votes.sum())
        if self.group is None:
            times = np.ceil(self.votes)
            squares, size = deviations**2 / times, int(times.sum())
        else:
            size = len(np.unique(self.group))
            squares = sum_by(self.group, deviations, int(self.group.max()) + 1) ** 2
        return float(np.sqrt(size / (size - 1) * squares.sum() + self.sampling_se_of_sum(error) ** 2))


@held
def leave_one_out(fit: Fit, *, over: str | None = None, sample: int | Literal["auto"] | None = "auto") -> LeaveOneOut:
    """Leave-one-out cross-validation of a fit, over the votes that its model sees.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior. Unless it was sampled, draws are from its Gaussian approximation.
    over : str, optional
        Leave out whole groups: ``"annotator"``, or a slice of the votes such as ``"prompt"``. By default single votes:
        how well are further votes by the same annotators on the same prompts predicted?
    sample : int, "auto" or None
        How many kinds of single votes (cell and outcome) are left out. The others are approximated, and the sum is
        corrected by the error of the approximation in the sample. ``"auto"`` leaves out all kinds if there are at most
        100,000, else a sample of 5,000; None leaves out all.

    Returns
    -------
    LeaveOneOut

    Warns
    -----
    SampledVotesWarning
        If ``"auto"`` took a sample: its size, and the standard error that this adds.

    Raises
    ------
    ModelError
        If the model sees only one vote or group; if the sample is of fewer than two, or of groups; if the prior is flat
        in some parameter; if the votes do not carry the groups; or if the model has parameters of each group, such as
        theta of annotators.

    References
    ----------
    Vehtari, A., Gelman, A. & Gabry, J. (2017), "Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC", Statistics and Computing 27. Magnusson, M. et al. (2019), "Bayesian leave-one-out
    cross-validation for large data", ICML.
    """
    require_proper(fit, "Leave-one-out")
    if fit.target.n_votes < 2:
        raise ModelError("Leave-one-out needs at least two votes; the model sees one.")
    if over is not None and fit.model.has_numbers_of(over):
        raise ModelError(
            f"Model {fit.model.name!r} has parameters of every {over}; those of a new one have to be integrated out. "
            f"kfold(cells, models, over={over!r}) does that."
        )
    if sample not in ("auto", None) and (not isinstance(sample, int) or sample < 2):
        raise ModelError(f"sample must be 'auto', None, or at least 2 kinds of votes, not {sample!r}.")
    if over is None:
        return _single_votes(fit, sample)
    if sample not in ("auto", None):
        raise ModelError(f"sample is for single votes; over={over!r} leaves out every group. Pass only one of the two.")
    values, votes = pointwise(fit)
    group = _columns_by_group(fit, over)
    elpd, pareto_k = _left_out(fit, values, votes, group)
    if fit.samples is None:
        _fit_again(fit, over, group, elpd, pareto_k)
    lppd = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return LeaveOneOut(elpd, pareto_k, votes, float((lppd - elpd) @ votes), len(values), group)


def _single_votes(fit: Fit, sample: int | str | None) -> LeaveOneOut:
    """Leave out a vote of every column, or of a sample of them."""
    columns = _with_fractions(Columns.of(fit))
    count = len(columns.cell)
    size = (SAMPLED if count > LARGEST else count) if sample == "auto" else count if sample is None else int(sample)
    if size >= count:
        elpd, pareto_k, p, n_draws = _by_importance(fit, columns, np.arange(count), DRAWS)
        return LeaveOneOut(elpd, pareto_k, columns.votes, float(p @ columns.votes), n_draws)
    sampled = np.sort(np.random.default_rng(SEED).choice(count, size, replace=False))
    elpd, p = _approximated(fit, columns)
    exact, k, exact_p, n_draws = _by_importance(fit, columns, sampled, SAMPLED_DRAWS)
    error, error_of_p, pareto_k = exact - elpd[sampled], exact_p - p[sampled], np.zeros(count)
    elpd[sampled], pareto_k[sampled] = exact, k
    p[sampled] = exact_p
    loo = LeaveOneOut(elpd, pareto_k, columns.votes, 0.0, n_draws, sampled=sampled, error=error)
    if sample == "auto":
        warn(
            f"There are {count:,} kinds of votes (pair, annotator and outcome): {size:,} of these were left out, the "
            f"others estimated. The standard error of {loo.se:.0f} includes {loo.sampling_se:.0f} for that. Use "
            f"sample={4 * size} (--sample {4 * size}) to halve it, or sample=None to leave out all.",
            SampledVotesWarning,
        )
    return replace(loo, p=loo.sum_of(p, error_of_p))


def _approximated(fit: Fit, columns: Columns) -> tuple[Floats, Floats]:
    """Approximate the leave-one-out density of a vote of every column, and its contribution to p_loo."""
    elpd, p, done = np.empty(len(columns.cell)), np.empty(len(columns.cell)), 0
    for at, values in in_parts(fit, columns, size=FEW, mirrored=True):
        some = values[:, :: max(1, values.shape[1] // (2 * FEW))]
        p[at] = some.var(axis=1)
        elpd[at] = some.mean(axis=1) - 0.5 * p[at]
        done += len(at)
        report("kinds of votes approximated", done, len(columns.cell))
    report("")
    return elpd, p


def _by_importance(fit: Fit, columns: Columns, which: Ints, size: int) -> tuple[Floats, Floats, Floats, int]:
    """Return leave-one-out densities of some columns, Pareto k, contributions to p_loo, and the number of draws."""
    elpd, pareto_k, p = np.empty(len(which)), np.empty(len(which)), np.empty(len(which))
    weight, done, n_draws, efficiency = columns.votes / np.ceil(columns.votes), 0, 0, 1.0
    if fit.tree is not None:
        likelihood = [np.exp(values).sum(axis=0) for _, values in in_parts(fit, columns, which=which)]
        efficiency = _efficiency(fit, np.sum(likelihood, axis=0))
    for at, values in in_parts(fit, columns, size=size, which=which):
        place, n_draws = np.searchsorted(which, at), values.shape[1]
        elpd[place], pareto_k[place] = psis_loo(values, weight[at], efficiency)
        p[place] = np.logaddexp.reduce(values, axis=1) - np.log(n_draws) - elpd[place]
        done += len(at)
        report("kinds of votes left out", done, len(which))
    report("")
    return elpd, pareto_k, p, n_draws


def _with_fractions(columns: Columns) -> Columns:
    """Give the fractional part of every summed weight a column of its own."""
    whole = np.floor(columns.votes)
    rest = columns.votes - whole
    if not rest.any():
        return columns
    of_whole, of_rest = np.flatnonzero(whole), np.flatnonzero(rest)
    at = np.concatenate([of_whole, of_rest])
    return replace(
        columns,
        cell=columns.cell[at],
        outcome=columns.outcome[at],
        votes=np.concatenate([whole[of_whole], rest[of_rest]]),
        seen=columns.seen[:, at],
    )


def _columns_by_group(fit: Fit, over: str) -> Ints:
    """Return the group of every column of :func:`pointwise`."""
    row, _ = np.nonzero(fit.cells.counts * fit.model.sees(fit.cells.counts.shape[1]))
    group = groups_of(fit.cells, over).of_cell[row]
    if len(np.unique(group)) < 2:
        raise ModelError(f"Leaving out {plural(over)} needs at least two with votes that the model sees; there is one.")
    return group


def _left_out(fit: Fit, values: Floats, weight: Floats, group: Ints) -> tuple[Floats, Floats]:
    """Return the density of a vote of every column without its group, and Pareto k, by importance sampling."""
    by_column, efficiency = np.ascontiguousarray(values.T), _efficiency(fit, np.exp(values).sum(axis=1))
    elpd, pareto_k = np.empty(len(weight)), np.empty(len(weight))
    order = np.argsort(group, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    for number, columns in enumerate(parts):
        if number % BETWEEN_REPORTS == 0:
            report("groups left out", number, len(parts))
        together = weight[columns] @ by_column[columns]
        log_weight = together.min() - together[None]
        pareto_k[columns] = smooth(log_weight, efficiency)
        elpd[columns] = logsumexp(log_weight + by_column[columns], axis=1) - logsumexp(log_weight)
    report("")
    return elpd, pareto_k


def _fit_again(fit: Fit, over: str, group: Ints, elpd: Floats, pareto_k: Floats) -> None:
    """Fit again without each group whose importance weights have infinite variance."""
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


def _efficiency(fit: Fit, likelihood: Floats) -> float:
    """Return the effective share of the draws, from a vote's likelihood (n_draws,) under each; 1 if independent."""
    if fit.tree is None:
        return 1.0
    from arviz_stats.base.array import array_stats

    by_chain = likelihood.reshape(fit.tree["posterior"].sizes["chain"], -1)
    return float(min(array_stats.ess(by_chain, chain_axis=0, draw_axis=1, method="mean") / likelihood.size, 1.0))
