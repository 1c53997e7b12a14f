"""Where the uncertainty of a board comes from.

"posterior": the model's own.  "clustered": votes of a cluster, a prompt say, depend on
each other; CR1 covariance with Student's t of Kish's number of clusters less one.
"sandwich": votes are independent, the model may be off.  "bootstrap": votes, or clusters,
drawn again.

Kish's number of clusters is (sum n_g)^2 / sum n_g^2, with n_g votes in cluster g: as many even
ones say as much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import (
    ModelError,
    NotIdentifiedError,
    did_you_mean,
    require_choice,
)
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.sandwich import (
    cluster_moves,
    clustered_covariance,
    sandwich_covariance,
)
from bayes_arena.inference.scale import board_strengths
from bayes_arena.model.build import build_design
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import PROMPT, Votes

type IntervalName = Literal["posterior", "clustered", "sandwich", "bootstrap"]
INTERVALS = get_args(IntervalName.__value__)
FEWEST_CLUSTERS = 8  # prompts from which something can be said of new ones
MOST_PER_VOTE = 0.5  # prompts for each vote up to which they count as repeating
BOOTSTRAPS = 200


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """The covariance of a board, and the distribution that goes with it.

    Attributes
    ----------
    name : str
        The kind of interval.
    covariance : ndarray, shape (competitors, competitors)
        In logits, on the common scale.
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    cluster : str, optional
        What the votes depend on each other by.
    note : str
        What a reader has to know about it; may be empty.
    """

    name: str
    covariance: Floats
    df: float = np.inf
    cluster: str | None = None
    note: str = ""

    @property
    def sd(self) -> Floats:
        """Standard deviations of the strengths, (competitors,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    def quantile(self, level: float) -> float:
        """Return how many standard deviations an interval extends to either side."""
        p = (1 + level) / 2
        return float(ndtri(p) if np.isinf(self.df) else stdtrit(self.df, p))

    def probability(self, z: Floats) -> Floats:
        """Return the probability below z standard deviations."""
        return np.asarray(ndtr(z) if np.isinf(self.df) else stdtr(self.df, z))


def uncertainty_of(
    fit: Fit, interval: str | None = None, cluster: str | None = None, seed: int = 0
) -> Uncertainty:
    """Return the uncertainty of a board.

    Parameters
    ----------
    fit : Fit
    interval : {"posterior", "clustered", "sandwich", "bootstrap"}, optional
        By default "clustered" by prompt where prompts repeat, else "posterior".
    cluster : str, optional
        For "clustered" and "bootstrap": "prompt", "annotator" or a slice.
    seed : int
        For "bootstrap".

    Raises
    ------
    ModelError
        If the interval or the cluster is unknown, or there are too few clusters; or if a
        fit by NUTS is asked for another interval than its own.
    """
    if interval is None and cluster is None:
        return default_uncertainty(fit)
    name = interval or "clustered"
    require_choice("interval", name, INTERVALS)
    if cluster is not None and name not in ("clustered", "bootstrap"):
        raise ModelError(f"cluster= goes with interval='clustered', not {name!r}.")
    if name == "posterior":
        return Uncertainty(name, fit.board.covariance)
    if fit.samples is not None:
        raise ModelError(
            f"A fit by NUTS has interval='posterior' only, not {name!r}. Use "
            "method='gaussian'."
        )
    if name == "clustered":
        return clustered(fit, cluster or PROMPT)
    if name == "sandwich":
        parts = (fit.posterior, fit.finite_board, fit.fitted_votes, fit.model)
        return Uncertainty(name, spread_out(fit, sandwich_covariance(*parts)))
    return bootstrapped(fit, cluster, seed)


def default_uncertainty(fit: Fit) -> Uncertainty:
    """Return that of new prompts where prompts repeat, else the model's own."""
    posterior = Uncertainty("posterior", fit.board.covariance)
    number = repeating_prompts(fit.votes)
    if number is None or PROMPT in fit.model.strength_by:
        return posterior
    if fit.samples is not None:
        note = "Prompts repeat; intervals by NUTS do not allow for new ones."
        return replace(posterior, note=note)
    if number < FEWEST_CLUSTERS:
        n_prompts = len(np.unique(fit.votes.slices[PROMPT]))
        note = (
            f"This board is about these {n_prompts} prompts only, not about new ones."
        )
        return replace(posterior, note=note)
    return clustered(fit, PROMPT)


def repeating_prompts(votes: Votes) -> float | None:
    """Return Kish's number of prompts where these are known and repeat."""
    if PROMPT not in votes.slices:
        return None
    number = kish_number(votes.slices[PROMPT], votes.counts.sum(axis=1))
    return number if number <= MOST_PER_VOTE * votes.n_votes else None


def kish_number(codes: Ints, votes: Floats) -> float:
    """Return Kish's number of clusters, given the cluster of each row and its votes."""
    size = np.bincount(codes, votes)
    return float(size.sum() ** 2 / (size**2).sum())


def clustered(fit: Fit, cluster: str) -> Uncertainty:
    """Return the uncertainty if votes of a cluster depend on each other."""
    votes = fit.fitted_votes
    codes = cluster_codes(votes, cluster)
    number = kish_number(codes, votes.counts.sum(axis=1))
    if number < 2:
        raise ModelError(
            f"interval='clustered' needs at least two clusters by {cluster}; there are "
            f"{number:.1f}. Use interval='posterior'."
        )
    moves = cluster_moves(fit.posterior, fit.finite_board, votes, fit.model, codes)
    covariance = spread_out(fit, clustered_covariance(moves))
    note = f"Intervals allow for new {cluster}s like these."
    return Uncertainty("clustered", covariance, number - 1, cluster, note)


def cluster_codes(votes: Votes, cluster: str) -> Ints:
    """Return the codes 0, 1, ... of the clusters of rows.

    Raises
    ------
    ModelError
        If the votes do not know these clusters.
    """
    known = [*votes.slices, *(["annotator"] if votes.n_annotators else [])]
    if cluster not in known:
        option = "prompt=" if cluster == PROMPT else "slices="
        raise ModelError(
            f"The votes have no {cluster!r} to cluster by. Read its column with "
            f"{option}.{did_you_mean(cluster, known)}"
        )
    return np.unique(votes.level(cluster), return_inverse=True)[1]


def bootstrapped(fit: Fit, cluster: str | None, seed: int) -> Uncertainty:
    """Return the uncertainty over votes, or clusters of them, that are drawn again."""
    votes = fit.fitted_votes
    rng = np.random.default_rng(seed)
    sds = {block.effect.name: block.sd for block in fit.posterior.design.blocks}
    boards = np.empty((BOOTSTRAPS, votes.n_competitors))
    with threads_for(votes.n_competitors):
        for b in range(BOOTSTRAPS):
            again = resampled(votes, cluster, rng)
            design = build_design(again, fit.model, fit.prior).with_spreads(sds)
            try:
                mode = posterior_mode(design, fit.posterior.mean, tolerance=1e-4)
            except (np.linalg.LinAlgError, ValueError) as error:
                raise NotIdentifiedError(
                    "Votes that were drawn again do not determine all strengths. Use "
                    "prior='default', or another interval."
                ) from error
            boards[b] = board_strengths(design, mode.mean[None])[0]
    covariance = spread_out(fit, np.cov(boards, rowvar=False))
    return Uncertainty("bootstrap", covariance, cluster=cluster)


def resampled(votes: Votes, cluster: str | None, rng: np.random.Generator) -> Votes:
    """Return as many votes, or clusters of votes, drawn with replacement."""
    if cluster is None:
        share = votes.counts / votes.n_votes
        total = round(votes.n_votes)
        counts = rng.multinomial(total, share.ravel()).reshape(share.shape)
        return replace(votes, counts=counts.astype(float))
    codes = cluster_codes(votes, cluster)
    n_clusters = int(codes.max()) + 1
    times = rng.multinomial(n_clusters, np.full(n_clusters, 1 / n_clusters))
    return replace(votes, counts=votes.counts * times[codes][:, None])


def spread_out(fit: Fit, covariance: Floats) -> Floats:
    """Return a covariance of the competitors with an estimate for all; nan for others."""
    if fit.estimable.all():
        return covariance
    everyone = np.full((len(fit.estimable),) * 2, np.nan)
    everyone[np.ix_(fit.estimable, fit.estimable)] = covariance
    return everyone
