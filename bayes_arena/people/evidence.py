"""What speaks for and against each annotator: agreement, side, favourite and copies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.boards.surprise import divergence
from bayes_arena.fits.result import Fit
from bayes_arena.people.anomaly import agreement_of
from bayes_arena.people.copies import find_copies
from bayes_arena.people.favourites import Favourite, Favourites
from bayes_arena.people.sides import side_scores, votes_for_one_side
from bayes_arena.people.table import score_moments
from bayes_arena.votes.votes import MIN_VOTES, Votes, summed_by

# Nats by which a score is beyond what is expected: a chance of 1 in 20.
SURPRISING = 3.0


@dataclass(frozen=True)
class Evidence:
    """What is known of an annotator.

    Attributes
    ----------
    first, second, ties : float
        Votes for the competitor shown first, for the second, and ties.
    agreement, lower, upper, p_anomaly : float
        Net agreement with its bounds at .95, and the probability of an anomaly
        (anomaly.py); 0 and 1 of who votes for one side and nothing else, nan without a fit.
    is_open : bool
        Whether the direction of the ranking is, for all.
    side_score : float
        z of the side (sides.py).
    favourite : Favourite, optional
        The clearest.
    copy_of : str, optional
        The annotator whose votes are cast again.
    """

    first: float
    second: float
    ties: float
    agreement: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    p_anomaly: float = np.nan
    is_open: bool = False
    side_score: float = 0.0
    favourite: Favourite | None = None
    copy_of: str | None = None

    @property
    def decided(self) -> float:
        """Votes that are not ties."""
        return self.first + self.second

    @property
    def votes(self) -> float:
        """All votes."""
        return self.decided + self.ties

    @property
    def tie_share(self) -> float:
        """Share of ties among the votes."""
        return self.ties / self.votes if self.votes else np.nan

    @property
    def side_share(self) -> float:
        """Share of the decided votes that went to the first."""
        return self.first / self.decided if self.decided else np.nan


def evidence_of(fit: Fit, seed: int) -> list[Evidence]:
    """Return what a fit with discrimination tells of its annotators, but for favourites."""
    votes = fit.votes
    agreement, scores = agreement_of(fit, seed), side_scores(fit)
    rows = []
    for k, counts in enumerate(counted(votes)):
        row = replace(
            counts,
            agreement=agreement.mean[k],
            lower=agreement.lower[k],
            upper=agreement.upper[k],
            p_anomaly=agreement.p_anomaly[k],
            is_open=agreement.is_open,
            side_score=scores[k],
        )
        rows.append(by_chance_if_one_sided(row))
    for k, earlier in find_copies(fit).items():
        rows[k] = replace(rows[k], copy_of=votes.annotators[earlier])
    return rows


def with_favourites(
    evidence: list[Evidence], fit: Fit, favourites: Favourites
) -> list[Evidence]:
    """Return the evidence with the favourite of each annotator who has one."""
    rows = evidence.copy()
    for k, pair in favourites.clearest.items():
        is_reversed = rows[k].upper < 0
        if not (is_reversed and is_mere_reversal(fit, favourites, pair)):
            favourite = favourites.of_pair(pair, fit.votes.competitors)
            rows[k] = replace(rows[k], favourite=favourite)
    return rows


def evidence_without_fit(votes: Votes, favourites: Favourites) -> list[Evidence]:
    """Return what is known of annotators whom no fit judges."""
    rows = counted(votes)
    for k, pair in favourites.clearest.items():
        favourite = favourites.of_pair(pair, votes.competitors)
        rows[k] = replace(rows[k], favourite=favourite)
    return rows


def counted(votes: Votes) -> list[Evidence]:
    """Return the votes of each annotator, and nothing else."""
    counts = summed_by(votes.annotator, votes.folded, votes.n_annotators)
    return [Evidence(first, second, ties) for first, second, ties in counts]


def by_chance_if_one_sided(evidence: Evidence) -> Evidence:
    """Return no agreement, and an anomaly, for who votes for one side and nothing else."""
    if not votes_for_one_side(evidence.side_score, evidence.side_share):
        return evidence
    return replace(evidence, agreement=0.0, lower=0.0, upper=0.0, p_anomaly=1.0)


def is_mere_reversal(fit: Fit, favourites: Favourites, pair: int) -> bool:
    """Whether a favourite is what votes against the ranking make of a weak competitor.

    That can only be told by ten votes on others.
    """
    table = favourites.table
    n_votes = fit.votes.votes_by_annotator[table.annotator[pair]]
    if n_votes - table.votes[pair] < MIN_VOTES:
        return False
    expected = score_by_own_theta(fit, table.annotator[pair], table.competitor[pair])
    surprise = table.votes[pair] * divergence(table.score[pair], np.asarray(expected))
    return bool(surprise < SURPRISING)


def score_by_own_theta(fit: Fit, k: int, c: int) -> float:
    """Return the score that annotator k, as fitted, is expected to give competitor c."""
    votes, posterior = fit.votes, fit.posterior
    rows = (votes.annotator == k) & ((votes.i == c) | (votes.j == c))
    first, second = votes.i[rows], votes.j[rows]
    eta = fit.discrimination[k] * (fit.strength[first] - fit.strength[second])
    eta += posterior.of_annotator("position", k)
    sign = np.where(first == c, 1, -1)  # the competitor may be shown second
    tie = posterior.of_annotator("tie", k)
    score, _ = score_moments(sign * eta, posterior.design.outcomes, tie)
    return float(np.average(score, weights=votes.counts[rows].sum(axis=1)))
