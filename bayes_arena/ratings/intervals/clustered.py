"""Variances of an estimate if clusters of votes are independent, such as those by one annotator or on one prompt.

The formulas are in :mod:`bayes_arena.ratings.intervals.robust`. Clusters are annotators or the values of a slice of
the cells, whether or not the model uses them.

Source: Liang & Zeger (1986), Biometrika 73.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bayes_arena.algebra.thin_jacobian import Jacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import IdentificationWarning, ModelError, listing, warn
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import OwnNumbers
from bayes_arena.likelihood.objective import Objective
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary, require_point_estimate, symmetric
from bayes_arena.ratings.intervals.robust import draw_with_scores, moves_of_rows, slopes_of_rows
from bayes_arena.votes.groups import groups_of
from bayes_arena.votes.names import ANNOTATOR


@dataclass(frozen=True)
class Clustered(Interval):
    """Intervals with a variance from the scores of the votes summed by cluster, and quantiles of Student's t.

    For point estimates (``method="map"`` or ``"marginal"``) from votes in at least two clusters.

    Attributes
    ----------
    by : str
        What votes of a cluster share: ``"annotator"``, or a slice of the votes such as ``"prompt"``.

    Examples
    --------
    >>> table = leaderboard(fit(example_arena().votes), interval=Clustered(by="annotator"))
    >>> table.attrs["interval"]
    'clustered'

    References
    ----------
    Liang, K.-Y. & Zeger, S. L. (1986), "Longitudinal data analysis using generalized linear models", Biometrika 73.
    """

    name: ClassVar[str] = "clustered"
    by: str = ANNOTATOR

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Summarise functions of the parameters."""
        votes = _clustered(fit, self.by)
        variance = clustered_variance(fit, votes, quantity.by_head, quantity.by_own)
        return symmetric(quantity.value, variance, level, freedom=votes.size - 1)

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit with draws of that variance, which follow Student's t."""
        votes = _clustered(fit, self.by)
        scores = [np.sqrt(votes.size / (votes.size - 1)) * votes.slope]
        samples = draw_with_scores(fit, votes.target, scores, votes.cluster, freedom=votes.size - 1)
        return replace(fit, samples=samples)


@dataclass(frozen=True, eq=False)
class ClusteredVotes:
    """Rows of votes, no finer than the model and the clusters need.

    Attributes
    ----------
    slope : ndarray, shape (C, n_rows)
        Gradients of their losses, as :func:`~bayes_arena.ratings.intervals.robust.slopes_of_rows` gives them.
    cluster : ndarray of int, shape (n_rows,)
        The cluster of each row.
    size : int
        Number of clusters with a vote that the model sees.
    """

    target: Objective
    slope: Floats
    cluster: Ints
    size: int

    @classmethod
    def of(cls, fit: Fit, by: str) -> ClusteredVotes:
        """Return the votes of a fit."""
        tally, cluster = fit.model.tally_by(fit.cells, by)
        target = fit.target_of(tally)
        slope = slopes_of_rows(fit, target, target.counts)
        return cls(target, slope, cluster, len(np.unique(cluster[target.counts.any(axis=0)])))


def clustered_variance(fit: Fit, votes: ClusteredVotes, head: Jacobian, own: OwnNumbers = None) -> Floats:
    """Return the variance (m,) of functions of the parameters if clusters are independent, by CR1: G / (G - 1).

    The arguments are those of :func:`~bayes_arena.ratings.intervals.robust.sandwich_variance`, and at least two
    clusters.
    """
    order = np.argsort(votes.cluster, kind="stable")
    first = np.flatnonzero(np.diff(votes.cluster[order], prepend=-1))
    variance = np.empty(len(head))
    for part, moves in moves_of_rows(fit, votes.target, head, own):
        totals = np.add.reduceat(np.einsum("cr,crs->rs", votes.slope, moves)[order], first, axis=0)
        variance[part] = votes.size / (votes.size - 1) * (totals**2).sum(axis=0)
    return variance


def _clustered(fit: Fit, by: str) -> ClusteredVotes:
    """Return the votes of a posterior mode by cluster; refuse a single cluster, warn of competitors in only one."""
    require_point_estimate(fit, Clustered.name)
    groups, votes = groups_of(fit.cells, by), ClusteredVotes.of(fit, by)
    if votes.size < 2:
        raise ModelError(
            f"Clustered intervals need at least two clusters: every vote is {groups.label} {groups.names[0]!r}. Use "
            "interval='sandwich', or cluster by something that differs."
        )
    _warn_of_single_clusters(fit, votes)
    return votes


def _warn_of_single_clusters(fit: Fit, votes: ClusteredVotes) -> None:
    """Warn of competitors with votes in only one cluster, whose scores sum to zero by construction."""
    seen = votes.target.counts.any(axis=0)
    tally, size = votes.target.tally, votes.target.n_competitors
    pairs = np.unique(np.concatenate([votes.cluster * size + each for each in (tally.i, tally.j)])[np.tile(seen, 2)])
    alone = [fit.cells.competitors[c] for c in np.flatnonzero(np.bincount(pairs % size, minlength=size) == 1)]
    if alone:
        warn(
            f"All votes on {listing(alone)} are in one cluster, so variation between clusters cannot be estimated and "
            "their clustered intervals are too narrow. Use interval='sandwich' for them.",
            IdentificationWarning,
        )
