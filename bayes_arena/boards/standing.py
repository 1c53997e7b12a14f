"""Where competitors stand: scores, their uncertainty, and draws that all answers share.

Ranks, P(best), verdict and proposals of pairs come from the same draws, of the covariance
and Student's t of the intervals; so they cannot contradict each other.  Competitors are
drawn in the order of the board: names decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, ndtr, stdtr

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.boards.intervals import board_uncertainty
from bayes_arena.boards.look import LOOK, Look
from bayes_arena.boards.uncertainty import Uncertainty
from bayes_arena.errors import listing
from bayes_arena.fits.result import Fit, estimable, of_all
from bayes_arena.inference.estimate import Estimate
from bayes_arena.model.constants import TINY
from bayes_arena.model.spec import visible_votes
from bayes_arena.said import Note
from bayes_arena.threads import threads_for
from bayes_arena.votes.components import components
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

MOST_DRAWS, FEWEST_DRAWS = 20_000, 2_000
DRAWN_NUMBERS = 1_500_000  # draws times competitors, between these limits
ROUNDING = 1e-12  # of a sum of shares of draws
JITTER = 1e-10  # relative; a covariance of few clusters is singular


@dataclass(frozen=True, eq=False)
class Standing:
    """The competitors' scores, and draws of them.

    Attributes
    ----------
    fit : Fit
    votes : Votes
        Those that the board is about.
    strength : ndarray, shape (competitors,)
        On the common scale, in logits, of mean zero over the competitors that have a
        rank; nan without an estimate.
    uncertainty : Uncertainty
        Of the competitors that have an estimate.
    look : Look
    """

    fit: Fit
    votes: Votes
    strength: Floats
    uncertainty: Uncertainty
    look: Look

    @property
    def competitors(self) -> tuple[str, ...]:
        """Names, (competitors,)."""
        return self.votes.competitors

    @cached_property
    def estimable(self) -> Array:
        """Whether competitors have an estimate, (competitors,)."""
        return np.isfinite(self.strength)

    @cached_property
    def bounds(self) -> tuple[Floats, Floats]:
        """Lower and upper bounds of the strengths, in logits, (competitors,) each."""
        value = self.strength[self.estimable]
        lower, upper = self.uncertainty.bounds(value, self.look.level)
        return self.of_all(lower), self.of_all(upper)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the strengths, (competitors, competitors)."""
        covariance = np.full((len(self.strength),) * 2, np.nan)
        mask = self.estimable
        covariance[np.ix_(mask, mask)] = self.uncertainty.covariance
        return covariance

    @cached_property
    def has_votes(self) -> Array:
        """Whether competitors have enough votes for a rank, (competitors,)."""
        return self.votes.votes_by_competitor >= self.look.min_votes

    @cached_property
    def ranked(self) -> Ints:
        """Codes of the competitors that have a rank, the best first.

        They have ``min_votes``; where fewer than two do, all are ranked.
        """
        estimated = np.flatnonzero(self.estimable)
        cast = self.votes.votes_by_competitor[estimated]
        codes = estimated[have_rank(cast, self.look.min_votes)]
        return codes[np.argsort(-self.strength[codes], kind="stable")]

    @cached_property
    def draws(self) -> Floats:
        """Draws of the strengths of those with a rank, the best first, (draws, ranked)."""
        return self.draws_of(self.ranked)

    def draws_of(self, codes: Ints) -> Floats:
        """Return joint draws of the strengths of some competitors, (draws, codes)."""
        if self.uncertainty.samples is not None:
            return self.uncertainty.samples[:, codes]
        rng = np.random.default_rng(self.look.seed)
        n, df = len(codes), self.uncertainty.df
        size = int(np.clip(DRAWN_NUMBERS // n, FEWEST_DRAWS, MOST_DRAWS))
        covariance = self.covariance[np.ix_(codes, codes)]
        ridge = JITTER * covariance.trace() * np.eye(n)
        with threads_for(n):
            root = np.linalg.cholesky(covariance + ridge)
            deviations = rng.standard_normal((size, n)) @ root.T
        if np.isfinite(df):
            deviations *= np.sqrt(df / rng.chisquare(df, size))[:, None]
        return self.strength[codes] + deviations

    def p_unranked_ahead(self, c: int) -> float:
        """Return the probability that anybody without a rank is ahead of competitor c."""
        mask = self.estimable.copy()
        mask[self.ranked] = False
        if not mask.any():
            return 0.0
        draws = self.draws_of(np.r_[c, np.flatnonzero(mask)])
        return float((draws[:, 1:] > draws[:, :1]).any(axis=1).mean())

    @cached_property
    def order_of_draws(self) -> Ints:
        """The ranked competitors in the order of each draw, the best first.

        Numbers 0, 1, ... count along ``ranked``; (draws, ranked).
        """
        return np.argsort(-self.draws, axis=1)

    @cached_property
    def rank_shares(self) -> Floats:
        """Probability of each rank (columns) of the ranked competitors, (ranked, ranked)."""
        size, n = self.draws.shape
        cell = self.order_of_draws * n + np.arange(n)
        return np.bincount(cell.ravel(), minlength=n * n).reshape(n, n) / size

    @property
    def p_best(self) -> Floats:
        """Probability that each ranked competitor is the best, (ranked,)."""
        return self.rank_shares[:, 0]

    @cached_property
    def rank_ranges(self) -> tuple[Ints, Ints]:
        """First and last rank at the level of each ranked competitor, (ranked,) each.

        Ranks below the first have together a probability of half of 1 - level at most,
        and so have those above the last.
        """
        tail = (1 - self.look.level) / 2
        cumulative = self.rank_shares.cumsum(axis=1)
        first = 1 + (cumulative <= tail).sum(axis=1)
        last = 1 + (cumulative < 1 - tail - ROUNDING).sum(axis=1)
        return first, last

    @cached_property
    def group(self) -> Ints:
        """Group of each competitor, (competitors,); no votes compare two groups."""
        return components(visible_votes(self.fit.model, self.votes))

    @property
    def n_groups(self) -> int:
        """Number of groups among the competitors that have a rank."""
        return len(np.unique(self.group[self.ranked]))

    def gaps(self, i: Ints, j: Ints) -> tuple[Floats, Floats]:
        """Return the gaps between competitors in logits, and their standard deviations."""
        C = self.covariance
        variance = np.maximum(C[i, i] + C[j, j] - 2 * C[i, j], TINY)
        return self.strength[i] - self.strength[j], np.sqrt(variance)

    def p_above(self, i: Ints, j: Ints, least: float = 0.0) -> Floats:
        """Return the probabilities that gaps are above a least one, in logits."""
        if self.uncertainty.samples is not None:
            samples = self.uncertainty.samples
            return (samples[:, i] - samples[:, j] > least).mean(axis=0)
        gap, sd = self.gaps(i, j)
        z = (gap - least) / sd
        df = self.uncertainty.df
        return np.asarray(stdtr(df, z) if np.isfinite(df) else ndtr(z))

    def of_all(self, values: Floats) -> Floats:
        """Return numbers of the competitors with an estimate for all, nan elsewhere."""
        everyone = np.full(len(self.strength), np.nan)
        everyone[self.estimable] = values
        return everyone

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader of the board has to know."""
        return (*self.uncertainty.allowance, *self.reservations)

    @property
    def reservations(self) -> tuple[Note, ...]:
        """What intervals do not allow for, and who has no rank."""
        return (*self.uncertainty.notes, *self.unranked_notes())

    def unranked_notes(self) -> tuple[Note, ...]:
        """Say who has no rank, and why."""
        mask = self.estimable & ~self.has_votes
        if not mask.any():
            return ()
        votes = f"{self.look.min_votes:g} votes"
        names = [self.competitors[c] for c in np.flatnonzero(mask)]
        if mask[self.ranked].any():
            text = f"Fewer than two competitors have {votes}: all are ranked."
        elif len(names) == 1:
            text = f"{names[0]} has fewer than {votes} and no rank."
        else:
            text = (
                f"{len(names)} competitors have fewer than {votes} and no rank: "
                f"{listing(names)}."
            )
        return (Note("ranks", text),)


def standing_of(fit: Fit, look: Look = LOOK) -> Standing:
    """Return where the competitors of a fit stand."""
    board = ranked_board(fit, look.min_votes)
    uncertainty = board_uncertainty(fit, board, look)
    return Standing(fit, fit.votes, of_all(fit, board.value), uncertainty, look)


def ranked_board(fit: Fit, min_votes: float) -> Estimate:
    """Return the board relative to the mean of the competitors that have a rank.

    Newcomers with hardly any votes would move the scores of all others, if the mean were
    also theirs.
    """
    cast = fit.votes.votes_by_competitor[estimable(fit)]
    return fit.marginals.board.relative_to(have_rank(cast, min_votes))


def have_rank(cast: Floats, min_votes: float) -> Array:
    """Return whose votes are enough for a rank; all, where fewer than two have enough."""
    mask = cast >= min_votes
    return mask if mask.sum() >= 2 else np.ones_like(mask)


def wins_losses_ties(votes: Votes) -> tuple[Floats, Floats, Floats]:
    """Return wins, losses and ties of each competitor, (competitors,) each."""
    n, counts = votes.n_competitors, votes.folded
    first, second = counts[:, FIRST], counts[:, SECOND]
    wins = np.bincount(votes.i, first, n) + np.bincount(votes.j, second, n)
    losses = np.bincount(votes.i, second, n) + np.bincount(votes.j, first, n)
    ties = np.bincount(np.r_[votes.i, votes.j], np.tile(counts[:, TIE], 2), n)
    return wins.astype(float), losses.astype(float), ties.astype(float)


def whole(counts: Floats) -> Array:
    """Return counts as whole numbers, if they are."""
    rounded = np.round(counts)
    return rounded.astype(np.int64) if np.array_equal(rounded, counts) else counts


def expected_scores(standing: Standing) -> Floats:
    """Return the expected score of each ranked competitor against each, best first."""
    strength = standing.strength[standing.ranked]
    return expit(strength[:, None] - strength)
