"""Simulated arenas with camps of annotators, and without; what every camp thinks is known.

Annotator k sees competitor i at q_ki = theta_k r_i, r being the ranking of k's camp, and votes by Davidson's model with
ties and position of k's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl
from true_boards import strength_of

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

OUTCOMES = np.array(["model_a", "model_b", "tie"])
TIE_SPREAD, POSITION = 0.4, (0.1, 0.2)
"""Standard deviation of ln nu; mean and standard deviation of the position effect."""


@dataclass(frozen=True, eq=False)
class Camped:
    """An arena whose camps are known.

    Attributes
    ----------
    cells : Cells
        The votes.
    strength : ndarray, shape (n_annotators, n_competitors)
        q, by annotator, in the order of the cells.
    log_tie : ndarray, shape (n_annotators,)
        ln nu.
    camp : ndarray of int, shape (n_annotators,)
        The camp that everyone belongs to; zeros where there are none.
    """

    cells: ba.Cells
    strength: Floats
    log_tie: Floats
    camp: Ints

    def truth(self, camp: int) -> Floats:
        """Return r* of the average vote of a camp, in logits, sum zero."""
        votes = self.cells.votes_by_annotator() * (self.camp == camp)
        i, j = np.triu_indices(self.cells.n_competitors, k=1)
        z = np.zeros((2, len(i), len(votes)))
        z[ETA], z[T] = (self.strength[:, i] - self.strength[:, j]).T, self.log_tie
        score = LIKELIHOOD.expected_score(z)[0] @ votes / votes.sum()
        return strength_of(score, self.cells.n_competitors)


def camped(
    rng: np.random.Generator, strength: Floats, camp: Ints, k: Ints, *, tie: Floats | None = None, programs: int = 0
) -> Camped:
    """Cast votes by annotators k of an arena where everyone sees the competitors at ``strength``.

    Parameters
    ----------
    rng : Generator
    strength : ndarray, shape (n_annotators, n_competitors)
    camp : ndarray of int, shape (n_annotators,)
    k : ndarray of int, shape (n_votes,)
        Who casts each vote.
    tie : ndarray, shape (n_annotators,), optional
        ln nu, drawn by default.
    programs : int
        How many annotators, from the first on, are programs.
    """
    everybody, n = strength.shape
    tie = rng.normal(0, TIE_SPREAD, everybody) if tie is None else tie
    i = rng.integers(n, size=len(k))
    j = (i + rng.integers(1, n, size=len(k))) % n
    z = np.array([strength[k, i] - strength[k, j] + rng.normal(*POSITION, everybody)[k], tie[k]])
    p = np.exp(LIKELIHOOD.log_probabilities(z))[[WIN, LOSS, TIE]]
    outcome = (rng.random(len(k)) > np.cumsum(p, axis=0)[:2]).sum(axis=0)
    models, people = (
        np.array([f"{what}-{one:04d}" for one in range(size)]) for what, size in (("model", n), ("person", everybody))
    )
    table = pl.DataFrame({"model_a": models[i], "model_b": models[j], "winner": OUTCOMES[outcome], "judge": people[k]})
    cells = ba.read_votes(table, programs=people[:programs].tolist())
    seen = np.searchsorted(people, cells.annotators)
    return Camped(cells, strength[seen], tie[seen], camp[seen])


def two_camps(
    rng: np.random.Generator,
    *,
    annotators: int = 40,
    votes: int = 100,
    share: float = 0.3,
    correlation: float = 0.3,
    theta: tuple[float, float] = (1.0, 0.3),
    theta_of_camp: float = 1.0,
    competitors: int = 20,
) -> Camped:
    """Let a share of the annotators have a ranking of their own, of this correlation with that of the others."""
    first, noise = _rankings(rng, 2, competitors)
    second = correlation * first + np.sqrt(1 - correlation**2) * noise
    camp = (np.arange(annotators) < round(share * annotators)).astype(int)
    own = np.where(camp == 1, theta_of_camp * rng.normal(1, 0.1, annotators), rng.normal(*theta, annotators))
    strength = own[:, None] * np.where(camp[:, None] == 1, second, first)
    return camped(rng, strength, camp, rng.integers(annotators, size=annotators * votes))


def two_programs(rng: np.random.Generator) -> Camped:
    """Let two language models, with much in common, cast half of the votes, and people the others."""
    people, competitors, votes = 60, 12, 4000
    ranking = 0.7 * _rankings(rng, 1, competitors)[0]
    theirs = ranking + rng.normal(0, 0.5, competitors)
    strength = rng.normal(1, 0.3, 2 + people)[:, None] * ranking
    strength[0], strength[1] = 2.5 * theirs, 2.5 * (theirs + rng.normal(0, 0.2, competitors))
    tie = rng.normal(0, TIE_SPREAD, 2 + people)
    tie[:2] = np.log(0.15)
    k = np.where(rng.random(votes) < 0.5, rng.integers(2, size=votes), rng.integers(2, 2 + people, size=votes))
    return camped(rng, strength, (np.arange(2 + people) < 2).astype(int), k, tie=tie, programs=2)


def tastes(rng: np.random.Generator, spread: float, *, annotators: int = 40, votes: int = 100) -> Camped:
    """Let everyone have independent tastes of their own: no camps."""
    ranking = _rankings(rng, 1, 20)[0]
    strength = rng.normal(1, 0.3, annotators)[:, None] * ranking + rng.normal(0, spread, (annotators, 20))
    return camped(rng, strength, np.zeros(annotators, dtype=int), rng.integers(annotators, size=annotators * votes))


def by_degrees(rng: np.random.Generator) -> Camped:
    """Let annotators differ in one direction, by normal degrees: no camps."""
    ranking, direction = 0.7 * _rankings(rng, 2, 20)
    strength = ranking + rng.normal(size=(40, 1)) * direction
    return camped(rng, strength, np.zeros(40, dtype=int), rng.integers(40, size=4000))


def _rankings(rng: np.random.Generator, count: int, competitors: int) -> Floats:
    """Draw standard normal strengths with mean zero, (count, competitors)."""
    drawn = rng.normal(size=(count, competitors))
    return drawn - drawn.mean(axis=1, keepdims=True)


REGIMES: dict[str, Callable[[np.random.Generator], Camped]] = {
    "30 % camp, 40 annotators": two_camps,
    "30 % camp, 150 annotators": lambda rng: two_camps(rng, annotators=150, votes=60),
    "10 % camp": lambda rng: two_camps(rng, share=0.1, correlation=0.0),
    "consistent minority": lambda rng: two_camps(rng, share=0.2, theta=(0.6, 0.2), theta_of_camp=3.0),
    "mild minority": lambda rng: two_camps(rng, share=0.2, correlation=0.5, theta=(0.8, 0.25), theta_of_camp=1.8),
    "30 % camp, ten votes each": lambda rng: two_camps(rng, annotators=400, votes=10),
    "two language models": two_programs,
    "no camps": lambda rng: tastes(rng, 0.0),
    "tastes of .4": lambda rng: tastes(rng, 0.4),
    "tastes of .8": lambda rng: tastes(rng, 0.8),
    "tastes of .8, 150 annotators": lambda rng: tastes(rng, 0.8, annotators=150, votes=60),
    "by degrees": by_degrees,
}
