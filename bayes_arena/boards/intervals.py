"""How certain numbers are: the posterior's own covariance, or one from the votes.

The scores of clusters of votes, their gradients in the parameters, move the numbers by
m_g (G, m).  With P the prior's precision, which counts as the score of one more vote,

    clustered    G / (G - 1) sum_g m_g m_g' + S P S,   Student's t with K - 1 degrees,
    sandwich     the same, each vote a cluster of its own, without the factor; normal.

K = (sum n_g)^2 / sum n_g^2 is Kish's number of clusters of n_g votes.  Where the model is
right and votes are independent, both are the posterior's covariance S: without S P S, which
vanishes under a flat prior, whoever has few votes would have an interval that is far too
narrow.  Sources: White (1982), Econometrica 50; Liang & Zeger (1986), Biometrika 73.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.sparse import csr_array, diags_array
from scipy.special import ndtri, stdtrit

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.bootstrap import bootstrap_covariance
from bayes_arena.boards.estimate import Estimate
from bayes_arena.errors import ModelError, VotesError, listing
from bayes_arena.fits.result import Fit
from bayes_arena.inference.sandwich import (
    cluster_moves,
    clustered_covariance,
    influence_of,
    sandwich_covariance,
)
from bayes_arena.model.constants import TINY
from bayes_arena.model.spec import visible_votes
from bayes_arena.said import Note, Said, Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import PROMPT, Votes, why_unread

type Interval = Literal["posterior", "clustered", "sandwich", "bootstrap"]
INTERVALS = get_args(Interval.__value__)
FEWEST_CLUSTERS = 8  # Kish's number, below which their spread says too little
HARDLY_ANY = 3  # Kish's number of clusters of one competitor, which show no spread
LARGEST_SHARE = 0.5  # of Kish's number of prompts in the votes, if prompts repeat


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How certain some numbers are.

    Attributes
    ----------
    name : str
        The kind of interval.
    covariance : ndarray, shape (m, m)
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    cluster : str, optional
        What votes of a cluster share.
    n_clusters : int
        Number of clusters; 0 without.
    notes : tuple of Note
        What intervals do not allow for.
    samples : ndarray, shape (samples, m), optional
        Samples of NUTS, whose quantiles are the bounds.
    """

    name: str
    covariance: Floats
    df: float = np.inf
    cluster: str | None = None
    n_clusters: int = 0
    notes: tuple[Note, ...] = ()
    samples: Floats | None = None

    @property
    def sd(self) -> Floats:
        """Standard deviations, (m,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def allowance(self) -> tuple[Note, ...]:
        """What intervals allow for; nothing without clusters."""
        if self.cluster is None:
            return ()
        is_noun = self.cluster in (PROMPT, "annotator")
        new = f"{self.cluster}s" if is_noun else f"levels of {self.cluster}"
        return (Note("allowance", f"Intervals allow for new {new} like these."),)

    def bounds(self, value: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper bounds of numbers (m,) at a level."""
        if self.samples is not None:
            tail = (1 - level) / 2
            lower, upper = np.quantile(self.samples, [tail, 1 - tail], axis=0)
            return lower, upper
        half_width = quantile(self.df, (1 + level) / 2) * self.sd
        return value - half_width, value + half_width


def quantile(df: float, p: float) -> float:
    """Return a quantile of Student's t, or of the normal distribution."""
    return float(stdtrit(df, p) if np.isfinite(df) else ndtri(p))


def uncertainty_of(
    fit: Fit,
    estimate: Estimate,
    interval: Interval | None = None,
    cluster: str | None = None,
    seed: int = 0,
) -> Uncertainty:
    """Return how certain some numbers are.

    Parameters
    ----------
    fit : Fit
    estimate : Estimate
    interval : {"posterior", "clustered", "sandwich", "bootstrap"}, optional
        By default "clustered" by prompt where prompts repeat, else "posterior".
    cluster : str, optional
        "prompt", "annotator" or another slice.
    seed : int
        For "bootstrap".

    Raises
    ------
    ModelError
        If the choice makes no sense, or there is a single cluster.
    VotesError
        If the votes have no such slice.
    """
    name, cluster, notes = choose_interval(fit, interval, cluster)
    if name == "posterior":
        samples = estimate.samples
        return Uncertainty(name, estimate.covariance, notes=notes, samples=samples)
    votes = visible_votes(fit.model, fit.fitted_votes)
    codes = None if cluster is None else cluster_codes(votes, cluster)
    if name == "bootstrap":
        covariance, n_lost = bootstrap_covariance(fit, estimate, codes, seed)
        notes += lost_resamples(n_lost)
        n_clusters = 0 if codes is None else int(codes.max()) + 1
        return Uncertainty(
            name, covariance, cluster=cluster, n_clusters=n_clusters, notes=notes
        )
    if codes is None or cluster is None:
        covariance = sandwich_covariance(
            fit.posterior, estimate.board, votes, fit.model
        )
        return Uncertainty(name, covariance + of_prior(fit, estimate), notes=notes)
    return clustered(fit, estimate, votes, cluster, codes, notes)


def clustered(
    fit: Fit,
    estimate: Estimate,
    votes: Votes,
    cluster: str,
    codes: Ints,
    notes: tuple[Note, ...],
) -> Uncertainty:
    """Return how certain numbers are if clusters of votes are independent."""
    moves = cluster_moves(fit.posterior, estimate.board, votes, fit.model, codes)
    covariance: Floats = clustered_covariance(moves) + of_prior(fit, estimate)
    cast = votes.counts.sum(axis=1)
    if estimate.is_by_competitor:
        few = kish_by_competitor(votes, codes) < HARDLY_ANY
        covariance = widened(covariance, estimate.covariance, few)
        notes += in_few_clusters(votes, few, cluster)
    return Uncertainty(
        "clustered",
        covariance,
        df=kish(np.bincount(codes, cast)) - 1,
        cluster=cluster,
        n_clusters=len(moves),
        notes=notes,
    )


class Choice(NamedTuple):
    """A kind of interval, what votes of a cluster share, and what it does not allow for."""

    name: str
    cluster: str | None = None
    notes: tuple[Note, ...] = ()


def choose_interval(fit: Fit, interval: str | None, cluster: str | None) -> Choice:
    """Return the kind of interval that is asked for, or that suits the votes."""
    if fit.samples is not None:
        return choice_of_samples(fit, interval, cluster)
    match interval, cluster:
        case None, None:
            return default_choice(fit)
        case None | "clustered", _:
            return Choice("clustered", cluster or usual_cluster(fit.votes))
        case "bootstrap", _:
            return Choice("bootstrap", cluster)
        case "posterior" | "sandwich", None:
            return Choice(interval)
        case "posterior" | "sandwich", _:
            choices = (Use(interval="clustered"), " or ", Use(interval="bootstrap"))
            raise ModelError(
                (Use(cluster=cluster), " goes with ", *choices, f", not {interval!r}.")
            )
    raise ModelError(unknown_interval(interval))


def default_choice(fit: Fit) -> Choice:
    """Return clusters by prompt where prompts repeat, else the posterior."""
    n_prompts = repeating_prompts(fit)
    if n_prompts is None:
        return Choice("posterior")
    if n_prompts >= FEWEST_CLUSTERS:
        return Choice("clustered", PROMPT)
    n = len(np.unique(fit.fitted_votes.slices[PROMPT]))
    prompts = "this prompt" if n == 1 else f"these {n} prompts"
    text = f"The board is about {prompts} only: there are too few to allow for others."
    return Choice("posterior", notes=(Note("intervals", text),))


def choice_of_samples(fit: Fit, interval: str | None, cluster: str | None) -> Choice:
    """Return the posterior, which is all that samples have; say if prompts repeat."""
    if interval not in (None, "posterior") or cluster is not None:
        only = " has the intervals of its posterior only."
        raise ModelError(
            ("A fit with ", Use(method="nuts"), only), Use(method="gaussian")
        )
    if repeating_prompts(fit) is None or PROMPT in fit.model.strength_by:
        return Choice("posterior")
    text = "Prompts repeat, and intervals by NUTS do not allow for new ones."
    return Choice("posterior", notes=(Note("intervals", text),))


def unknown_interval(interval: str | None) -> Said:
    """Say which intervals there are."""
    text = (Use(interval=interval), f" must be one of {', '.join(INTERVALS)}.")
    if interval != "profile":
        return text
    return (text, " Profile intervals are for strengths of a Bradley-Terry fit.")


def repeating_prompts(fit: Fit) -> float | None:
    """Return Kish's number of prompts, or None if prompts are unknown or hardly repeat."""
    votes = fit.fitted_votes
    if PROMPT not in votes.slices:
        return None
    cast = votes.counts.sum(axis=1)
    n_prompts = kish(np.bincount(votes.slices[PROMPT], cast))
    return n_prompts if n_prompts <= LARGEST_SHARE * cast.sum() else None


def usual_cluster(votes: Votes) -> str:
    """Return what votes are clustered by if nothing is named."""
    if PROMPT in votes.slices:
        return PROMPT
    if votes.n_annotators:
        return "annotator"
    unnamed = ("Name their column with ", Use("prompt"), ".")
    reasons: list[Said] = [note.text for note in votes.unread.values()]
    why = [(" ", reason) for reason in reasons or [unnamed]]
    raise ModelError(
        (
            "Clustered intervals need clusters, and the votes carry neither prompts nor "
            "annotators.",
            *why,
            (" Or use ", Use(interval="sandwich"), "."),
        )
    )


def cluster_codes(votes: Votes, cluster: str) -> Ints:
    """Return the codes 0, 1, ... of the clusters that voted, (rows,)."""
    if cluster == "annotator":
        votes.require_annotators()
    elif cluster not in votes.slices:
        known = listing(map(repr, [*votes.slices])) or "none"
        text = f"The votes have no slice {cluster!r} to cluster by. Slices: {known}. "
        remedy = ("Or use ", Use(cluster="annotator"), ".")
        raise VotesError((text, why_unread(votes.unread, cluster, remedy)))
    codes = np.unique(votes.level(cluster), return_inverse=True)[1]
    if codes.max() == 0:
        raise ModelError(
            f"All votes have the same {cluster}, and a single cluster has no spread.",
            Use(interval="sandwich"),
        )
    return codes


def kish(n_votes: Array) -> float:
    """Return Kish's effective number of clusters with these numbers of votes."""
    return float(n_votes.sum() ** 2 / (n_votes**2).sum())


def kish_by_competitor(votes: Votes, codes: Ints) -> Floats:
    """Return Kish's number of clusters among the votes on each competitor."""
    cast = votes.counts.sum(axis=1)
    entries = (np.tile(codes, 2), np.concatenate([votes.i, votes.j]))
    shape = (int(codes.max()) + 1, votes.n_competitors)
    table = csr_array((np.tile(cast, 2), entries), shape=shape)
    squares = (table**2).sum(axis=0)
    return np.asarray(table.sum(axis=0)) ** 2 / np.maximum(squares, TINY)


def widened(covariance: Floats, posterior: Floats, few: Array) -> Floats:
    """Return a covariance with at least the posterior's variances for some competitors.

    Votes in few clusters cannot show how clusters differ; correlations are kept.
    """
    variances = np.maximum(np.diag(covariance), TINY)
    factor = np.sqrt(np.maximum(np.diag(posterior) / variances, 1.0))
    factor[~few] = 1.0
    return covariance * factor[:, None] * factor


def in_few_clusters(votes: Votes, few: Array, cluster: str) -> tuple[Note, ...]:
    """Say whose votes come from few clusters."""
    if few.all() or not few.any():
        return ()
    names = [repr(votes.competitors[c]) for c in np.flatnonzero(few)]
    text = (
        f"Most votes on {listing(names)} are on one or two {cluster}s: their intervals "
        "may be too narrow for new ones."
    )
    return (Note("intervals", text),)


def lost_resamples(n_lost: int) -> tuple[Note, ...]:
    """Say how many resamples were left out."""
    if not n_lost:
        return ()
    text = f"{n_lost} resamples had no finite estimate: bootstrap intervals are too narrow."
    return (Note("intervals", text),)


def of_prior(fit: Fit, estimate: Estimate) -> Floats:
    """Return the prior's part of a covariance, S P S, (m, m)."""
    precision = fit.posterior.design.prior_precision()
    scores = diags_array(np.sqrt(precision), format="csr")
    scores = csr_array(scores[np.flatnonzero(precision)])
    with threads_for(len(estimate.value)):
        moves = influence_of(estimate.board).moves(scores)
        return moves.T @ moves
