"""The standing of the competitors: one set of draws for ranks, P(best), verdict and pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.intervals import Uncertainty, uncertainty_of
from bayes_arena.errors import ModelError, require_level, require_seed
from bayes_arena.fits.draws import board_draws
from bayes_arena.fits.result import Fit

DRAWS = 5_000
MIN_VOTES = 10  # votes of a competitor from which it has a rank
DIGITS = 9  # strengths that agree to so many digits have the same rank


@dataclass(frozen=True, eq=False)
class Standing:
    """Scores, their uncertainty, and draws of all ranks.

    Attributes
    ----------
    fit : Fit
    uncertainty : Uncertainty
    level : float
        Of intervals and rank ranges.
    ranked : ndarray of bool, shape (competitors,)
        Who has a rank: enough votes, and a finite estimate.
    seed : int
    """

    fit: Fit
    uncertainty: Uncertainty
    level: float
    ranked: Array
    seed: int = 0

    @property
    def strength(self) -> Floats:
        """Strengths in logits on the common scale, (competitors,)."""
        return self.fit.board.strength

    @property
    def half_width(self) -> Floats:
        """Half the width of the intervals, in logits, (competitors,)."""
        return self.uncertainty.quantile(self.level) * self.uncertainty.sd

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the strengths in logits, each (competitors,)."""
        if self.fit.samples is not None:
            tail = (1 - self.level) / 2
            draws = self.fit.board_samples
            lower, upper = np.quantile(draws, [tail, 1 - tail], axis=0)
            return lower, upper
        return self.strength - self.half_width, self.strength + self.half_width

    @cached_property
    def ranks(self) -> Floats:
        """Ranks by the estimates, 1 for the best, (competitors,); nan without one."""
        values = np.round(self.strength[self.ranked], DIGITS)
        ranks = np.full(len(self.ranked), np.nan)
        ranks[self.ranked] = 1 + np.sum(values[:, None] < values, axis=1)
        return ranks

    @cached_property
    def draws(self) -> Floats:
        """Draws of the strengths, (draws, competitors)."""
        covariance, df = self.uncertainty.covariance, self.uncertainty.df
        if self.fit.samples is not None:
            return board_draws(self.fit, DRAWS, self.seed)
        return board_draws(self.fit, DRAWS, self.seed, covariance=covariance, df=df)

    @cached_property
    def drawn_ranks(self) -> Ints:
        """Ranks in every draw, of those who have one, (draws, ranked)."""
        order = np.argsort(-self.draws[:, self.ranked], axis=1)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(1, order.shape[1] + 1)[None], axis=1)
        return ranks

    @cached_property
    def p_best(self) -> Floats:
        """Probability of being the best, (competitors,); nan without a rank."""
        p = np.full(len(self.ranked), np.nan)
        p[self.ranked] = np.mean(self.drawn_ranks == 1, axis=0)
        return p

    @cached_property
    def rank_range(self) -> tuple[Floats, Floats]:
        """The ranks that draws leave to each competitor, each (competitors,).

        They are quantiles of a competitor's own ranks, and hold the rank that it has.
        """
        tail = (1 - self.level) / 2
        edges = np.quantile(
            self.drawn_ranks.astype(float),
            [tail, 1 - tail],
            axis=0,
            method="inverted_cdf",
        )
        lower = np.full(len(self.ranked), np.nan)
        upper = lower.copy()
        lower[self.ranked] = np.minimum(edges[0], self.ranks[self.ranked])
        upper[self.ranked] = np.maximum(edges[1], self.ranks[self.ranked])
        return lower, upper

    @cached_property
    def rank_spread(self) -> tuple[Floats, Floats]:
        """The arena's rank spread: by which intervals lie above and below, (competitors,).

        Best: 1 and how many lower bounds lie above one's upper bound.  Worst: all but
        how many upper bounds lie below one's lower bound.
        """
        lower, upper = (bound[self.ranked] for bound in self.bounds)
        best = np.full(len(self.ranked), np.nan)
        worst = best.copy()
        best[self.ranked] = 1 + np.sum(lower > upper[:, None], axis=1)
        worst[self.ranked] = len(lower) - np.sum(upper < lower[:, None], axis=1)
        return best, worst

    @property
    def candidates(self) -> Ints:
        """Who may be the best by their rank ranges, the likeliest first."""
        lower, _ = self.rank_range
        candidates = np.flatnonzero(lower == 1)
        return candidates[np.argsort(-self.p_best[candidates], kind="stable")]


def standing_of(
    fit: Fit,
    *,
    interval: str | None = None,
    cluster: str | None = None,
    level: float = 0.95,
    min_votes: float = MIN_VOTES,
    seed: int = 0,
) -> Standing:
    """Return the standing of the competitors.

    Parameters
    ----------
    fit : Fit
    interval, cluster : str, optional
        See :func:`~bayes_arena.leaderboard`.
    level : float
        Of intervals and rank ranges.
    min_votes : float
        Votes of a competitor from which it has a rank.  Where fewer than two have as
        many, all have one.
    seed : int
    """
    require_level(level)
    require_seed(seed)
    if not min_votes >= 0:
        raise ModelError(f"min_votes must not be negative; not {min_votes!r}.")
    uncertainty = uncertainty_of(fit, interval, cluster, seed)
    has_votes = fit.votes.votes_by_competitor >= min_votes
    if (has_votes & fit.estimable).sum() < 2:
        has_votes[:] = True
    return Standing(fit, uncertainty, level, has_votes & fit.estimable, seed)
