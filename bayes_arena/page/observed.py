"""Observed against predicted votes, over all and pair by pair.

For every pair the score W of the competitor that the fit considers better is summed over its votes and compared with

    E = sum of E[score],        V = sum of Var[score],

at the estimate. Where ties have no probability in the model, a vote is treated as a win or a loss, which makes the
ranges a little too wide. The votes were used for the fit as well, so this can reveal a bad fit, not prove a good one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from bayes_arena.arrays import Floats, rows_of, sum_by
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import half_width
from bayes_arena.validation.prediction import grouped
from bayes_arena.votes.outcomes import outcome_scores, wins_losses_ties

GROUPS, FEWEST, FURTHEST = 12, 20, 5
"""Groups of pairs with about equal numbers of votes; fewest votes of a tested pair; most pairs that are named."""
RARE = 0.01
"""The fit is called good unless chance alone takes so many out of their ranges with less than this probability."""


@dataclass(frozen=True)
class Group:
    """Pairs with similar predictions: predicted and observed shares of their votes."""

    predicted: float
    observed: float
    lower: float
    upper: float
    votes: float

    @property
    def is_outside(self) -> bool:
        """Whether what was observed is outside its range."""
        return not self.lower <= self.observed <= self.upper


@dataclass(frozen=True)
class Fitted:
    """How the votes compare with the predictions of the fit, in ranges that cover ``level``.

    Attributes
    ----------
    scores, ties : tuple of Group
        Scores of the better of two according to the fit, and shares of ties (empty where ties have no probability).
    pairs, outside : int
        Number of pairs with enough votes to be tested, and of those outside their range.
    furthest : list of dict
        The pairs farthest outside: ``first, second, votes``, the score of the first ``observed`` and ``predicted``, and
        ``z`` of its deviation.
    """

    level: float
    scores: tuple[Group, ...]
    ties: tuple[Group, ...]
    pairs: int
    outside: int
    furthest: list[dict[str, Any]]

    @property
    def said(self) -> str:
        """Say whether the fit is good, and if not, where it is off."""
        off = [
            f"{what} (by up to {100 * max(abs(one.observed - one.predicted) for one in groups):.0f} points of 100)"
            for what, groups in (("scores", self.scores), ("ties", self.ties))
            if self._is_off(sum(one.is_outside for one in groups), len(groups))
        ]
        off += [f"single pairs ({self.outside} of {self.pairs})"] * self._is_off(self.outside, self.pairs)
        if off:
            return f"The fit is not good: it predicts {' and '.join(off)} worse than chance explains."
        return "The fit is good: votes came out as predicted, as far as chance allows."

    def _is_off(self, outside: int, size: int) -> bool:
        return bool(binom.sf(outside - 1, size, 1 - self.level) < RARE)


def fitted(fit: Fit, level: float) -> Fitted:
    """Compare the votes of a fit with its predictions."""
    target, n = fit.target, fit.cells.n_competitors
    p = np.exp(target.likelihood.log_probabilities(target.coordinates(fit.point)))
    score = np.asarray(target.likelihood.expected_score(target.coordinates(fit.point))[0])
    won, _, tie = wins_losses_ties(p.T)
    variance = np.maximum((won + tie / 4 if fit.model.has_tie_outcome else score) - score**2, 0.0)
    i, j = target.tally.i, target.tally.j
    swap = i > j
    votes, observed = target.counts.sum(axis=0), outcome_scores(len(target.counts)) @ target.counts
    expected = votes * score
    expected, observed = (np.where(swap, votes - one, one) for one in (expected, observed))
    tied = wins_losses_ties(target.counts.T)[2]
    keys, place = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True)
    rows = (votes, observed, expected, votes * variance, tied, votes * tie, votes * tie * (1 - tie))
    votes, observed, expected, variance, tied, ties, of_ties = (sum_by(place, one, len(keys)) for one in rows)
    seen = votes > 0
    first, second = np.divmod(keys, n)
    weaker = expected < votes / 2
    observed, expected = (np.where(weaker, votes - one, one) for one in (observed, expected))
    first, second = np.where(weaker, second, first), np.where(weaker, first, second)
    z = np.divide(observed - expected, np.sqrt(variance), out=np.zeros_like(votes), where=variance > 0)
    looked_at = votes >= FEWEST
    outside = looked_at & (np.abs(z) > half_width(level))
    names = np.array(fit.cells.competitors, dtype=object)
    worst = [k for k in np.argsort(-np.abs(z), kind="stable").tolist() if outside[k]][:FURTHEST]
    furthest = {
        "first": names[first[worst]],
        "second": names[second[worst]],
        "votes": votes[worst],
        "observed": observed[worst] / votes[worst],
        "predicted": expected[worst] / votes[worst],
        "z": z[worst],
    }
    return Fitted(
        level=level,
        scores=_groups(votes[seen], observed[seen], expected[seen], variance[seen], level),
        ties=_groups(votes[seen], tied[seen], ties[seen], of_ties[seen], level) if fit.model.has_tie_outcome else (),
        pairs=int(looked_at.sum()),
        outside=int(outside.sum()),
        furthest=rows_of(furthest),
    )


def _groups(votes: Floats, observed: Floats, expected: Floats, variance: Floats, level: float) -> tuple[Group, ...]:
    found = grouped(expected / votes, variance / votes, observed, votes, size=GROUPS, level=level)
    found |= {"lower": np.maximum(found["lower"], 0.0), "upper": np.minimum(found["upper"], 1.0)}
    return tuple(Group(*row) for row in zip(*(column.tolist() for column in found.values()), strict=True))
