"""The table annotators x competitors: what each annotator's votes did for each competitor.

At Davidson's fit a vote has an expected score for either competitor (win 1, tie 1/2, loss
0). For every annotator and competitor who met,

    m = votes,    S = sum of (score - expected),    V = sum of Var(score).

A *taste* delta shifts the annotator's leads of the competitor; then E[S] = delta V, so
S^2 exceeds V by delta^2 V^2. Favourites, contested competitors and judges' preferences
read this table. Davidson's fit is its base, as theta would explain favourites away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.special import ndtr

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.fits.fit import find_posterior
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.constants import TINY
from bayes_arena.model.effects import Outcomes
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.model.priors import PRIORS
from bayes_arena.model.spec import resolve_model
from bayes_arena.votes.votes import FIRST, SECOND, Votes, sums

LEAST_TASTE = 0.3  # smallest spread of tastes, in logits: that of ordinary annotators
LARGEST_TASTE = 10.0
TASTE_ACCURACY = 1e-6
CLIP = 4.0  # largest square of a standard score where tastes are estimated: robust
MOST_LEVERAGE = 0.9  # of an annotator's votes on a competitor's strength


class OrientedVotes(NamedTuple):
    """Votes seen from one of their competitors, each (oriented votes,).

    ``pair`` is the row of the annotator and this competitor in the table, ``lead`` the lead
    of the competitor, ``weight`` the number of votes, and ``score`` and ``wins`` are the
    competitor's.  Every vote is there twice, for its first and for its second competitor.
    """

    pair: Ints
    lead: Floats
    weight: Floats
    score: Floats
    wins: Floats

    def of_pairs(self, mask: Array) -> OrientedVotes:
        """Return the votes of some pairs, (pairs,), numbered anew."""
        kept = mask[self.pair]
        number = np.cumsum(mask) - 1
        return OrientedVotes(
            pair=number[self.pair[kept]],
            lead=self.lead[kept],
            weight=self.weight[kept],
            score=self.score[kept],
            wins=self.wins[kept],
        )


@dataclass(frozen=True, eq=False)
class PairTable:
    """One row for every annotator and competitor who met.

    Attributes
    ----------
    code : ndarray of int, shape (pairs,)
        Annotator times competitors plus competitor.
    oriented : OrientedVotes
    variance_of_strength : ndarray, shape (competitors,)
        Posterior variance of each strength.
    outcomes : Outcomes
    tie : float
        Davidson's common propensity to tie.
    """

    code: Ints
    oriented: OrientedVotes
    variance_of_strength: Floats
    outcomes: Outcomes
    tie: float

    @property
    def annotator(self) -> Ints:
        """Code of the annotator of each pair, (pairs,)."""
        return self.code // len(self.variance_of_strength)

    @property
    def competitor(self) -> Ints:
        """Code of the competitor of each pair, (pairs,)."""
        return self.code % len(self.variance_of_strength)

    @property
    def strength_variance(self) -> Floats:
        """Posterior variance of each pair's competitor, (pairs,)."""
        return self.variance_of_strength[self.competitor]

    def sum(self, values: Floats) -> Floats:
        """Return sums over the oriented votes of each pair, (pairs,)."""
        return sums(self.oriented.pair, values, len(self.code))

    @cached_property
    def votes(self) -> Floats:
        """m, (pairs,)."""
        return self.sum(self.oriented.weight)

    @cached_property
    def wins(self) -> Floats:
        """Votes for the competitor, (pairs,)."""
        return self.sum(self.oriented.wins)

    @cached_property
    def score(self) -> Floats:
        """Mean score of the competitor, (pairs,)."""
        return self.sum(self.oriented.score) / np.maximum(self.votes, TINY)

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """Mean and variance of the score of oriented votes, as fitted."""
        return score_moments(self.oriented.lead, self.outcomes, self.tie)

    @cached_property
    def net(self) -> Floats:
        """S, (pairs,)."""
        mean, _ = self.moments
        return self.sum(self.oriented.score - self.oriented.weight * mean)

    @cached_property
    def variance(self) -> Floats:
        """V, (pairs,)."""
        _, variance = self.moments
        return self.sum(self.oriented.weight * variance)

    def expected_at(self, shift: Floats) -> Floats:
        """Return the mean expected score of each pair, its leads shifted, (pairs,)."""
        lead = self.oriented.lead + shift[self.oriented.pair]
        mean, _ = score_moments(lead, self.outcomes, self.tie)
        return self.sum(self.oriented.weight * mean) / self.votes

    @cached_property
    def chance_variance(self) -> Floats:
        """Var(S) if nobody has a taste: V (1 - leverage), as S pulls the strength."""
        leverage = np.minimum(self.strength_variance * self.variance, MOST_LEVERAGE)
        return self.variance * (1 - leverage)

    @cached_property
    def taste_variance(self) -> Floats:
        """What a unit variance of tastes adds to Var(S): V^2, and the opponents' tastes."""
        _, variance = self.moments
        return self.variance**2 + self.sum((self.oriented.weight * variance) ** 2)

    @cached_property
    def taste(self) -> float:
        """Standard deviation of tastes, in logits."""
        return spread_of_tastes(self)

    def subset(self, mask: Array) -> PairTable:
        """Return the table of some pairs, (pairs,), and of their oriented votes."""
        return replace(
            self, code=self.code[mask], oriented=self.oriented.of_pairs(mask)
        )


def spread_of_tastes(table: PairTable) -> float:
    """Return the standard deviation of tastes, in logits, by robust moments.

    Squares of standard scores are clipped, so that a few planted favourites do not hide
    themselves, and their weighted mean is set to that of clipped normal ones.
    """
    chance, tasted = table.chance_variance, table.taste_variance
    weight = tasted / (chance + LEAST_TASTE**2 * tasted)
    target = weight.sum() * mean_of_clipped_square(CLIP)

    def is_too_small(taste: float) -> bool:
        squares = table.net**2 / (chance + taste**2 * tasted)
        return bool(weight @ np.minimum(squares, CLIP) > target)

    low, high = LEAST_TASTE, LARGEST_TASTE
    if not is_too_small(low):
        return low
    while high - low > TASTE_ACCURACY:
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_small(middle) else (low, middle)
    return (low + high) / 2


def mean_of_clipped_square(clip: float) -> float:
    """Return E min(z^2, clip) of a standard normal z."""
    edge = np.sqrt(clip)
    density = np.exp(-clip / 2) / np.sqrt(2 * np.pi)
    inside = 1 - 2 * ndtr(-edge) - 2 * edge * density
    return float(inside + clip * 2 * ndtr(-edge))


def score_moments(
    lead: Floats, outcomes: Outcomes, tie: float
) -> tuple[Floats, Floats]:
    """Return mean and variance of the score of votes at some leads, each (votes,)."""
    z = np.stack([lead, np.full_like(lead, tie)])[: outcomes.phi.shape[1]]
    p, _ = outcome_probabilities(outcomes.phi, z)
    mean = outcomes.points @ p
    return mean, outcomes.points**2 @ p - mean**2


def davidson_posterior(votes: Votes) -> Posterior:
    """Return Davidson's posterior."""
    model, votes, _ = resolve_model("davidson", votes)
    return find_posterior(votes, model, PRIORS["default"], "gaussian")


def pair_table(votes: Votes) -> PairTable:
    """Return the table of all votes, at Davidson's fit."""
    votes = votes.collapse(annotators=True)
    return table_at(davidson_posterior(votes), votes)


def pair_codes(votes: Votes) -> Ints:
    """Return the codes of oriented votes: each annotator with the first, then the second."""
    of_annotator = votes.annotator * votes.n_competitors
    return np.concatenate([of_annotator + votes.i, of_annotator + votes.j])


def without_pairs(votes: Votes, codes: Ints) -> Votes:
    """Return the votes that are not on some pairs."""
    of_first, of_second = np.split(np.isin(pair_codes(votes), codes), 2)
    return votes.take(np.flatnonzero(~(of_first | of_second)))


def table_at(posterior: Posterior, votes: Votes) -> PairTable:
    """Return the table of votes at a posterior of Davidson's."""
    design = posterior.design
    r = posterior.mean_of("strength")
    side, tie = posterior.common("position"), posterior.common("tie")
    index = design.indices(design.block("strength"))

    folded = votes.folded
    cast = folded.sum(axis=1)
    score = votes.score_of_first
    lead = r[votes.i] - r[votes.j] + side
    code, pair = np.unique(pair_codes(votes), return_inverse=True)
    return PairTable(
        code=code,
        oriented=OrientedVotes(
            pair=pair,
            lead=np.concatenate([lead, -lead]),
            weight=np.concatenate([cast, cast]),
            score=np.concatenate([score, cast - score]),
            wins=np.concatenate([folded[:, FIRST], folded[:, SECOND]]),
        ),
        variance_of_strength=np.diag(posterior.covariance.shared)[index],
        outcomes=design.outcomes,
        tie=tie,
    )


def exposure(votes: Votes) -> float:
    """Return chi-square over its degrees of freedom of who saw whom.

    It is near 1 where pairs were given out at random.
    """
    cast = votes.counts.sum(axis=1)
    annotator = np.concatenate([votes.annotator, votes.annotator])
    competitor = np.concatenate([votes.i, votes.j])
    shape = (votes.n_annotators, votes.n_competitors)
    seen = coo_array((np.tile(cast, 2), (annotator, competitor)), shape=shape)
    seen.sum_duplicates()
    by_annotator, by_competitor = seen.sum(axis=1), seen.sum(axis=0)
    total = seen.sum()
    row, column = seen.coords
    # sum (m - e)^2 / e over all cells, also those with m = 0, is sum m^2 / e - total.
    chi_square = total * np.sum(
        seen.data**2 / (by_annotator[row] * by_competitor[column])
    )
    n_rows, n_columns = np.count_nonzero(by_annotator), np.count_nonzero(by_competitor)
    return float((chi_square - total) / max((n_rows - 1) * (n_columns - 1), 1))
