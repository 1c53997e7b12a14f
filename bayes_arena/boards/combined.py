"""Davidson's board, moved towards am-Davidson's as far as is safe: Stein's rule.

Let r be Davidson's board, d the gap to am-Davidson's, put on the scale of r by weighted
regression, and C = Cov(r, d).  The combined board is

    r - a d,    a = min(1, c / |d|^2),    c = max(tr C - 2 lambda_max(C), 0).

If r is normal around the average vote, Stein's lemma gives the combined board the risk

    tr Var(r) + a (c - 2 tr C + 4 u' C u),    u = d / |d|,

which is never above Davidson's, whatever annotators believe (Stein, 1981, Annals of
Statistics 9; Bock, 1975, Annals of Statistics 3).  Covariances come from the moves of
votes, or of prompts where they repeat, whichever model is right.  At a fixed a the board
has the covariance Var(r) - a (C + C') + a^2 Var(d); it is widened to the risk where that
is larger, and at most to the mean width of Davidson's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.clusters import prompt_clusters
from bayes_arena.boards.look import LOOK, Look
from bayes_arena.boards.standing import Standing, ranked_board, standing_of
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.sandwich import cluster_scores
from bayes_arena.model.constants import TINY
from bayes_arena.threads import threads_for

MOST_CLUSTERS = 20_000  # of single rows; more are put together at random


@dataclass(frozen=True, eq=False)
class Gap:
    """Davidson's board less am-Davidson's, on the scale of the former.

    ``value`` is d, (competitors,); ``covariance`` Var(d) and ``with_board`` C, made
    symmetric, both (competitors, competitors).
    """

    value: Floats
    covariance: Floats
    with_board: Floats

    @property
    def squared(self) -> float:
        """|d|^2."""
        return max(float(self.value @ self.value), TINY)

    @cached_property
    def safe_covariance(self) -> float:
        """c, as much of the covariance as never makes the risk larger."""
        C = self.with_board
        return max(float(C.trace() - 2 * np.linalg.eigvalsh(C)[-1]), 0.0)

    @property
    def share(self) -> float:
        """a, how far the combined board goes."""
        return min(1.0, self.safe_covariance / self.squared)


def gap_between(plain: Fit, weighted: Fit, min_votes: float) -> Gap:
    """Return the gap between the boards of two fits to the same votes.

    Parameters
    ----------
    plain, weighted : Fit
        Of Davidson and of am-Davidson.
    min_votes : float
        Boards are relative to the mean of the competitors that have so many.
    """
    board, other = (ranked_board(fit, min_votes) for fit in (plain, weighted))
    r, s = board.value, other.value
    weight = s / np.diag(board.covariance)
    weight /= weight @ s
    scale = weight @ r  # of am-Davidson's board, by weighted least squares
    scores = scores_in_both(plain, weighted)
    with threads_for(len(r)):
        by_plain, by_weighted = map(by_parameter, (board, other), (plain, weighted))
        by_both = np.vstack([by_plain, -scale * by_weighted])
        # To first order a change of r - scale s moves the gap by its residual.
        by_both -= np.outer(by_both @ weight, s)
        # Sums over clusters come first: there are more clusters than parameters.
        moved = scores.T @ (scores @ by_both)
        C = by_plain.T @ moved[: len(by_plain)]
        return Gap(r - scale * s, by_both.T @ moved, (C + C.T) / 2)


def scores_in_both(plain: Fit, weighted: Fit) -> csr_array:
    """Return the scores of clusters of votes in the parameters of both fits, side by side."""
    codes = gap_clusters(plain)
    scores = [
        cluster_scores(fit.posterior, fit.votes, fit.model, codes)
        for fit in (plain, weighted)
    ]
    return csr_array(hstack(scores))


def by_parameter(board: Estimate, fit: Fit) -> Floats:
    """Return how far a unit of each parameter's score moves a board, (parameters, m)."""
    size = fit.posterior.design.layout.size
    return board.moves(csr_array(eye_array(size)))


def gap_clusters(fit: Fit) -> Ints:
    """Return the clusters of rows: prompts where enough repeat, else the rows."""
    codes = prompt_clusters(fit, fit.votes)
    return np.arange(len(fit.votes)) % MOST_CLUSTERS if codes is None else codes


def combined_standing(
    plain: Fit, weighted: Fit, look: Look = LOOK
) -> tuple[Standing, float]:
    """Return where competitors stand on the combined board, and a.

    Parameters
    ----------
    plain, weighted : Fit
        Of Davidson and of am-Davidson, to the same votes.
    look : Look
        With the default kind of interval.
    """
    standing = standing_of(plain, look)
    gap = gap_between(plain, weighted, look.min_votes)
    of_board = standing.uncertainty
    covariance = definite(widened(of_board.covariance, gap))
    moved = replace(
        standing,
        strength=standing.strength - gap.share * gap.value,
        uncertainty=replace(of_board, covariance=covariance),
    )
    return moved, gap.share


def widened(of_board: Floats, gap: Gap) -> Floats:
    """Return the covariance of the combined board, widened to its risk.

    Parameters
    ----------
    of_board : ndarray, shape (competitors, competitors)
        Var(r).
    gap : Gap
    """
    a, c, C = gap.share, gap.safe_covariance, gap.with_board
    covariance = of_board - 2 * a * C + a**2 * gap.covariance
    along = gap.value @ C @ gap.value / gap.squared  # u' C u
    risk = of_board.trace() + a * (c - 2 * C.trace() + 4 * along)
    least = float(covariance.trace())
    most = max(float(of_board.trace()), least)
    return covariance * np.clip(risk, least, most) / least


def definite(covariance: Floats) -> Floats:
    """Return the nearest covariance that is not negative in any direction.

    Var(r) and the moves come from different estimates, so their sum may be, by little.
    """
    values, vectors = np.linalg.eigh(covariance)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T
