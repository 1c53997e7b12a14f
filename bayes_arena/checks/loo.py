"""``leave_one_out``: how well each vote is predicted from all others.

From draws of the posterior of all votes, the density of a vote v given the others is
estimated by Pareto-smoothed importance sampling (Vehtari, Gelman & Gabry, 2017,
Statistics and Computing 27), with weights 1 / p(v | draw).  Votes that a model does not
tell apart have the same density.  It is computed once, and counts as often as it was
cast; so the sums are those of one column a vote.

With ties as half wins the density of a tie is that of half a win times half a loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.fits.pointwise import row_log_densities
from bayes_arena.fits.result import Fit, outcome_counts, require_fit, seen_votes
from bayes_arena.inference.predictive import rows_of
from bayes_arena.said import Call, Use
from bayes_arena.votes.votes import Votes, distinct_rows, summed_by

UNRELIABLE = 0.7  # a Pareto k above this makes an estimate unreliable
DRAWS = 1_000  # draws from a Gaussian; samples of NUTS are all used
ROWS_AT_ONCE = 1_000  # rows whose densities are in memory together


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Leave-one-out densities: one column for each row of votes and outcome.

    Attributes
    ----------
    elpd : ndarray, shape (columns,)
        Log predictive density of a vote given all others, in nats.
    pareto_k : ndarray, shape (columns,)
        Above 0.7 the estimate is unreliable.
    p : ndarray, shape (columns,)
        What a vote adds to the effective number of parameters.
    votes : ndarray, shape (columns,)
        How often it was cast.
    total
    se
    n_parameters
    """

    elpd: Floats
    pareto_k: Floats
    p: Floats
    votes: Floats

    @property
    def total(self) -> float:
        """Sum over all votes."""
        return float(self.elpd @ self.votes)

    @property
    def se(self) -> float:
        """Standard error of the total, with n - 1 as ArviZ has it."""
        n = self.votes.sum()
        return se_of_sum(self.elpd, self.votes) * float(np.sqrt(n / (n - 1)))

    @property
    def n_parameters(self) -> float:
        """Effective number of parameters."""
        return float(self.p @ self.votes)

    def __repr__(self) -> str:
        """Return the total, and whether it can be trusted."""
        high = self.votes[self.pareto_k > UNRELIABLE].sum()
        return (
            f"elpd {self.total:.1f} (se {self.se:.1f}), {self.n_parameters:.1f} "
            f"effective parameters; Pareto k above {UNRELIABLE}: {high:,.0f} of "
            f"{self.votes.sum():,.0f} votes, largest {self.pareto_k.max():.2f}"
        )


def leave_one_out(fit: Fit) -> LeaveOneOut:
    """Estimate how well each vote is predicted from all others.

    Parameters
    ----------
    fit : Fit
        Of a proper prior.  Unless it was sampled, draws are from its Gaussian.

    Returns
    -------
    LeaveOneOut

    Raises
    ------
    ModelError
        If the prior is flat.
    """
    require_fit(fit)
    if fit.prior.is_flat:
        raise ModelError(
            "Under a flat prior there is no posterior to draw from.",
            Use(prior="default"),
            Call("held_out", over="vote"),
        )
    votes = seen_votes(fit)
    first, kind = kinds_of_rows(fit, votes)
    counts = outcome_counts(fit)
    cast = summed_by(kind, counts, len(first))
    estimates = estimates_by_kind(fit, votes.take(first), cast)
    row, outcome = np.nonzero(counts)
    elpd, pareto_k, p = estimates[:, kind[row], outcome]
    return LeaveOneOut(elpd, pareto_k, p, counts[row, outcome])


def estimates_by_kind(fit: Fit, votes: Votes, cast: Floats) -> Floats:
    """Return elpd, Pareto k and p of a vote of each kind, (3, kinds, outcomes).

    They are 0 for what no vote is: ``cast`` (kinds, outcomes) counts the votes.
    """
    vectors = fit.marginals.vectors(DRAWS, seed=0)
    efficiency = fit.marginals.efficiency()
    estimates = np.zeros((3, *cast.shape))
    for rows in blocks(len(votes)):
        progress.show(f"Leaving out votes: {rows[0]:,} of {len(votes):,} rows")
        kinds, outcomes = np.nonzero(cast[rows])
        log_p = log_densities_of_rows(fit, votes.take(rows), vectors)
        columns = psis(log_p[kinds, outcomes], efficiency)
        estimates[:, rows[kinds], outcomes] = columns
    progress.clear()
    return estimates


def blocks(size: int) -> Iterator[Ints]:
    """Yield the numbers of the rows, some at a time."""
    for start in range(0, size, ROWS_AT_ONCE):
        yield np.arange(start, min(start + ROWS_AT_ONCE, size))


def kinds_of_rows(fit: Fit, votes: Votes) -> tuple[Ints, Ints]:
    """Return the first row of each kind that the model tells apart, and each row's kind.

    Rows are of a kind if they have the same annotator and the same terms.
    """
    rows = rows_of(fit.posterior.design, votes)
    columns: list[Array] = []
    if rows.design.layout.n_local.any():
        columns.append(rows.design.group)
    for term in rows.design.terms:
        columns += [term.column, term.coefficient]
    columns = [
        column for column in columns if np.ptp(column) > 0
    ]  # others tell nothing
    first, kind = distinct_rows(columns)
    back = np.argsort(rows.order)  # to the order of the votes
    return rows.order[first], kind[back]


def log_densities_of_rows(fit: Fit, votes: Votes, vectors: Floats) -> Floats:
    """Return the log-densities of a vote, (rows, outcomes, draws)."""
    rows = rows_of(fit.posterior.design, votes)
    return np.stack([row_log_densities(rows, x) for x in vectors], axis=2)


def psis(log_p: Floats, efficiency: float) -> Floats:
    """Return elpd, Pareto k and p of columns (columns, draws), as (3, columns)."""
    columns = arviz_arrays().loo(log_p, chain_axis=None, draw_axis=-1, r_eff=efficiency)
    return np.array(columns)


def arviz_arrays() -> Any:
    """Return ArviZ's functions of arrays, which take a second to import."""
    from arviz_stats.base.array import array_stats

    return array_stats


def se_of_sum(values: Floats, votes: Floats) -> float:
    """Return the standard error of a sum over votes, from their spread."""
    n = votes.sum()
    mean = values @ votes / n
    return float(np.sqrt(votes @ (values - mean) ** 2))
