"""Honest votes whose truth is known: what is rigged, and what no defence may call rigged.

Votes follow Davidson's model of ties, as in :mod:`bayes_arena.likelihood.simulation`, and annotators may have tastes:

    eta = theta_k (r_i + w_ki - r_j - w_kj) + b_k,        w_ki = taste of annotator k, or of the camp it belongs to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.outcomes.likelihood import ETA, T
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import TIE
from bayes_arena.votes.summing import sum_cells

VISIT = 3
"""Votes of a visitor."""


@dataclass(frozen=True)
class Crowd:
    """How honest annotators vote.

    Attributes
    ----------
    annotators : int
        How many, visitors apart.
    discrimination_sd : float
        Standard deviation of theta around 1, folded at zero.
    tie_propensity, tie_spread : float
        Median of Davidson's nu, and standard deviation of ln nu.
    position_spread : float
        Standard deviation of b.
    taste_sd : float
        Standard deviation of an annotator's own tastes, in logits.
    camp_sd, camp_share : float
        Standard deviation over competitors of what the second camp adds where both are of one size, and subtracts the
        first; share of the annotators in the second. Over annotators, tastes of camps are zero on average.
    guessers, adversaries : float
        Shares of annotators whose theta is zero, and negative.
    visitors : int
        Annotators of three votes each.
    """

    annotators: int = 200
    discrimination_sd: float = 0.5
    tie_propensity: float = 1.0
    tie_spread: float = 0.8
    position_spread: float = 0.3
    taste_sd: float = 0.0
    camp_sd: float = 0.0
    camp_share: float = 0.5
    guessers: float = 0.0
    adversaries: float = 0.0
    visitors: int = 0

    def __post_init__(self) -> None:
        shares = (self.camp_share, self.guessers, self.adversaries, self.guessers + self.adversaries)
        spreads = (self.discrimination_sd, self.tie_propensity, self.tie_spread, self.position_spread)
        if self.annotators < 1 or self.visitors < 0 or min(*spreads, self.taste_sd, self.camp_sd) < 0:
            raise ModelError("A crowd has one annotator or more; its spreads and visitors are not negative.")
        if not all(0 <= share <= 1 for share in shares):
            raise ModelError(f"Shares of annotators lie between 0 and 1, together too; not {shares}.")


@dataclass(frozen=True, eq=False)
class Habits:
    """Numbers of annotators, each of shape (n_annotators,): theta, ln nu and b."""

    discrimination: Floats
    log_tie_propensity: Floats
    position: Floats


@dataclass(frozen=True, eq=False)
class HonestArena:
    """Honest votes and the truth behind them.

    Attributes
    ----------
    cells : Cells
        The votes.
    strength : ndarray, shape (n_competitors,)
        True r in logits.
    habits : Habits
        Of every annotator.
    taste : ndarray, shape (n_annotators, n_competitors)
        w, camps' and own.
    guessers, adversaries, second_camp : tuple of str
        Who they are.
    """

    cells: Cells
    strength: Floats
    habits: Habits
    taste: Floats
    guessers: tuple[str, ...]
    adversaries: tuple[str, ...]
    second_camp: tuple[str, ...]

    def ranked(self, rank: int) -> str:
        """Return the name of the competitor that has a rank, from 1, by true strength."""
        return self.cells.competitors[int(np.argsort(-self.strength)[rank - 1])]

    def net_agreement(self) -> Floats:
        """Return every annotator's true D_k with the ranking of all (:mod:`bayes_arena.reliability.agreement`)."""
        return self._scores().mean(axis=1)

    def consistency(self) -> Floats:
        """Return every annotator's true E_k."""
        return np.abs(self._scores()).mean(axis=1)

    def _scores(self) -> Floats:
        """Return by how much every annotator is likelier to vote for the better of each pair, (n_annotators, pairs)."""
        order = np.argsort(-self.strength)
        better, worse = (order[place] for place in np.triu_indices(len(order), k=1))
        scores = np.empty((len(self.taste), len(better)))
        for k, taste in enumerate(self.taste):
            mine = self.strength + taste
            z = np.empty((2, len(better)))
            z[ETA] = self.habits.discrimination[k] * (mine[better] - mine[worse])
            z[T] = self.habits.log_tie_propensity[k]
            scores[k] = davidson.net_score(z)
        return scores


def honest_arena(
    crowd: Crowd | None = None,
    *,
    competitors: int = 60,
    votes: int = 20_000,
    strength_sd: float = 0.6,
    seed: int = 0,
) -> HonestArena:
    """Simulate honest votes on pairs of competitors that are offered alike.

    Parameters
    ----------
    crowd : Crowd, optional
        Who votes.
    competitors, votes : int
        Size; the votes are those of the crowd without its visitors.
    strength_sd : float
        Standard deviation of r, in logits.
    seed : int
        The same seed gives the same votes.

    Raises
    ------
    ModelError
        If a number is impossible.
    """
    if competitors < 2 or votes < 1 or strength_sd < 0 or seed < 0:
        raise ModelError(f"Not possible: {competitors} competitors, {votes} votes, sd {strength_sd}, seed {seed}.")
    crowd = crowd or Crowd()
    rng = np.random.default_rng(seed)
    r = rng.normal(0, strength_sd, competitors)
    size = votes + VISIT * crowd.visitors
    a = rng.integers(competitors, size=size)
    b = (a + rng.integers(1, competitors, size=size)) % competitors
    names = [f"model-{number:03d}" for number in range(1, competitors + 1)]
    return cast_votes(crowd, names, r - r.mean(), a, b, seed=seed)


def cast_votes(
    crowd: Crowd, competitors: Sequence[str], strength: Floats, a: Ints, b: Ints, *, seed: int = 0
) -> HonestArena:
    """Let a crowd vote on given battles.

    Parameters
    ----------
    crowd : Crowd
        Who votes. Half of the votes are spread evenly over its annotators, the rest by how active each is.
    competitors : sequence of str
        Names, sorted; each takes part.
    strength : ndarray, shape (n_competitors,)
        True r.
    a, b : ndarray of int, shape (n_votes,)
        Who is shown first and second, in an order that says nothing: the last battles are the visitors'.
    seed : int
        The same seed gives the same votes.

    Raises
    ------
    ModelError
        If there are fewer votes than annotators.
    """
    rng = np.random.default_rng([seed, 1])
    visits = VISIT * crowd.visitors
    regular = len(a) - visits
    if regular < crowd.annotators:
        raise ModelError(f"{regular} votes are fewer than {crowd.annotators} annotators: each casts one or more.")
    size = crowd.annotators + crowd.visitors
    least = max(regular // crowd.annotators // 2, 1)
    activity = rng.gamma(1.0, size=crowd.annotators)
    rest = rng.choice(crowd.annotators, regular - least * crowd.annotators, p=activity / activity.sum())
    k = rng.permutation(np.concatenate([np.repeat(np.arange(crowd.annotators), least), rest]))
    k = np.concatenate([k, np.repeat(np.arange(crowd.annotators, size), VISIT)])

    habits = draw_habits(crowd, size, rng)
    order = rng.permutation(size)
    guessing = order[: round(crowd.guessers * size)]
    against = order[len(guessing) :][: round(crowd.adversaries * size)]
    habits.discrimination[guessing] = 0.0
    habits.discrimination[against] *= -1
    second = rng.permutation(size)[: round(crowd.camp_share * size)] if crowd.camp_sd else order[:0]
    taste = _tastes(crowd, second, (size, len(strength)), rng)
    r = strength + taste if taste.any() else strength[None]
    row = k if taste.any() else np.zeros_like(k)
    outcome = draw_outcomes(r[row, a] - r[row, b], habits, k, rng)
    names = tuple(f"annotator-{number:05d}" for number in range(1, size + 1))
    votes = {"a": a, "b": b, "annotator": k, "outcome": outcome}
    ones = {"weight": np.ones(len(a)), "n": np.ones(len(a), dtype=np.int64)}
    cells = sum_cells(pl.DataFrame(votes | ones), competitors, names, {}, dropped={}, sided=True)
    who = [tuple(names[k] for k in np.sort(chosen)) for chosen in (guessing, against, second)]
    return HonestArena(cells, strength, habits, taste, *who)


def _tastes(crowd: Crowd, second: Ints, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Tastes of every annotator, of mean zero over competitors."""
    if not crowd.taste_sd and not crowd.camp_sd:
        return np.broadcast_to(0.0, shape)
    taste = rng.normal(0, crowd.taste_sd, shape)
    if crowd.camp_sd:
        share = len(second) / shape[0]
        apart = 2 * rng.normal(0, crowd.camp_sd, shape[1])
        taste -= share * apart
        taste[second] += apart
    return np.asarray(taste - taste.mean(axis=1, keepdims=True))


def draw_habits(crowd: Crowd, size: int, rng: np.random.Generator) -> Habits:
    """Draw theta, ln nu and b of annotators who neither guess nor vote against the ranking."""
    with np.errstate(divide="ignore"):
        common = np.log(crowd.tie_propensity)  # minus infinity where nobody ever calls a tie
    return Habits(
        discrimination=np.abs(rng.normal(1, crowd.discrimination_sd, size)),
        log_tie_propensity=common + rng.normal(0, crowd.tie_spread, size),
        position=rng.normal(0, crowd.position_spread, size),
    )


def draw_outcomes(leads: Floats, habits: Habits, annotator: Ints, rng: np.random.Generator) -> Ints:
    """Draw votes by Davidson's model: index of the outcome of each, shape (n_votes,).

    Parameters
    ----------
    leads : ndarray, shape (n_votes,)
        By how much the first is better, in logits, to the annotator.
    habits : Habits
        Of all annotators.
    annotator : ndarray of int, shape (n_votes,)
        Index of the annotator.
    rng : numpy.random.Generator
        Draws the votes.
    """
    eta = habits.discrimination[annotator] * leads + habits.position[annotator]
    p = np.exp(davidson.LIKELIHOOD.log_probabilities(np.array([eta, habits.log_tie_propensity[annotator]])))
    return np.asarray((rng.random(len(leads)) > np.cumsum(p[:TIE], axis=0)).sum(axis=0))
