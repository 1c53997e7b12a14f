"""Annotators who favour nobody: how they scatter, and how common guessers and adversaries are among them.

Both are what the votes make likeliest under weak priors (EM). In large arenas ``SAMPLE`` annotators, evenly spaced, say
it of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.trust.classes import POSITION, THETA, TIE, Evidence, Population, Rows, Views, evidence
from bayes_arena.trust.mixture.shares import FAVOUR, REGULAR, USUAL, kind_posterior, mended
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.votes.outcomes import BOTH_BAD

MEANS = (1.0, 0.0, -1.0)
"""Of theta: of regular annotators, guessers and adversaries."""
SAMPLE = 5000
ROUNDS, STANDS_STILL = 50, 1e-3
"""Rounds of EM at most, and change of a share or of how the regular scatter that ends them."""
USUAL_SCATTER = {THETA: (0.5, 10.0), POSITION: (0.3, 5.0), TIE: (0.7, 5.0)}
"""Standard deviations of the numbers before the votes are seen, and how many annotators that is worth."""
NARROWEST, WIDEST = 0.05, 0.8
"""Of theta: wider, the regular would be taken for adversaries."""
LARGEST_SCALE = 2.0
"""Of the strengths."""


@dataclass(frozen=True, eq=False)
class Habits:
    """What annotators who favour nobody have in common.

    Attributes
    ----------
    population : Population
        How the regular scatter.
    scale : float
        Of the strengths: at these the regular have mean theta 1.
    shares : ndarray, shape (4,)
        Of the kinds.
    """

    population: Population
    scale: float = 1.0
    shares: Floats = field(default_factory=USUAL.copy)


@dataclass(frozen=True, eq=False)
class Crowd:
    """Annotators, as if they favoured nobody.

    Attributes
    ----------
    rows : Rows
        Their votes, at the strengths at which regular annotators have mean theta 1.
    views : Views
        Which rows are whose.
    habits : Habits
        What they have in common.
    value : ndarray, shape (3, n_annotators)
        Log marginal likelihood of everybody's votes under each of the first three kinds.
    regular : Evidence
        Of being regular.
    """

    rows: Rows
    views: Views
    habits: Habits
    value: Floats
    regular: Evidence

    @classmethod
    def of(cls, ballots: Ballots, strength: Floats, weight: Floats, habits: Habits) -> Crowd:
        """Find what makes their votes likeliest.

        Parameters
        ----------
        ballots : Ballots
            Votes.
        strength : ndarray, shape (n_competitors,)
        weight : ndarray, shape (n_annotators,)
            By how much everybody counts.
        habits : Habits
            From which to start.
        """
        lead = strength[ballots.i] - strength[ballots.j]
        views, totals = Views.of_annotators(ballots.first), _totals(ballots)
        of_totals = Views.of_annotators(np.arange(ballots.n_annotators + 1))

        def look(who: Ints, habits: Habits, before: Sequence[Evidence] = ()) -> tuple[Rows, list[Evidence]]:
            rows, found = Rows(ballots.i, ballots.j, habits.scale * lead, ballots.counts), []
            for kind, theta in enumerate(MEANS):
                asked = (rows, views.take(who)) if theta else (totals, of_totals.take(who))
                start = before[kind].numbers if before else None
                found.append(evidence(*asked, habits.population, theta=theta, start=start))
            return rows, found

        some = everybody = np.arange(ballots.n_annotators)
        if (counted := weight > 0).sum() > SAMPLE:
            some = everybody[counted][:: -(-int(counted.sum()) // SAMPLE)]
        rows, found = look(some, habits)
        for _ in range(ROUNDS):
            improved = _improved(found, weight[some], habits)
            if _close(improved, habits):
                break
            habits = improved
            rows, found = look(some, habits, found)
        if len(some) < len(everybody):
            rows, found = look(everybody, habits)
        value = np.array([one.value for one in found])
        return cls(rows, views, replace(habits, shares=_shares(value, weight, habits)), value, found[REGULAR])


def _totals(ballots: Ballots) -> Rows:
    """Votes of every annotator in one row, as guessers see them: to them all pairs are alike."""
    nowhere = np.zeros(ballots.n_annotators, dtype=np.int64)
    counts = [sum_by(ballots.k, one, ballots.n_annotators) for one in ballots.counts[:BOTH_BAD]]
    return Rows(nowhere, nowhere, np.zeros(ballots.n_annotators), np.array(counts))


def _shares(value: Floats, weight: Floats, habits: Habits) -> Floats:
    """Shares of the kinds, by a step of EM."""
    return mended(np.append(kind_posterior(value, habits.shares[:FAVOUR]) @ weight, 0.0))


def _improved(found: Sequence[Evidence], weight: Floats, habits: Habits) -> Habits:
    """Return habits by a step of EM, at which the strengths have the scale that gives the regular mean theta 1."""
    value, regular, population = np.array([one.value for one in found]), found[REGULAR], habits.population
    theirs = kind_posterior(value, habits.shares[:FAVOUR])[REGULAR] * weight
    total, variance = theirs.sum(), np.diagonal(regular.covariance, axis1=1, axis2=2)
    mean = {number: float(theirs @ regular.numbers[:, number]) / max(total, 1.0) for number in USUAL_SCATTER}
    sd = {}
    for number, (usual, worth) in USUAL_SCATTER.items():
        squares = theirs @ ((regular.numbers[:, number] - mean[number]) ** 2 + variance[:, number])
        sd[number] = float(np.sqrt((squares + worth * usual**2) / (total + worth)))
    stretch = max(mean[THETA], NARROWEST)
    moved = Population(
        discrimination=float(np.clip(sd[THETA] / stretch, NARROWEST, WIDEST)),
        tie_spread=sd[TIE],
        position_spread=sd[POSITION],
        log_tie_propensity=population.log_tie_propensity + mean[TIE],
        position=mean[POSITION] * total / (total + USUAL_SCATTER[POSITION][1]),
    )
    scale = float(np.clip(habits.scale * stretch, 1 / LARGEST_SCALE, LARGEST_SCALE))
    return Habits(moved, scale, _shares(value, weight, habits))


def _close(one: Habits, other: Habits) -> bool:
    """Whether a further step would hardly change anything."""
    change = [*(one.shares - other.shares), one.scale / other.scale - 1]
    change.append(one.population.discrimination - other.population.discrimination)
    return bool(np.abs(change).max() < STANDS_STILL)
