"""Arenas with known truth.

Votes follow Davidson's model of ties (Davidson, 1970): with eta = theta_k (r_i - r_j) + b_k,

    P(i wins) : P(tie) : P(j wins) = exp(eta / 2) : nu_k : exp(-eta / 2).

The default size is that of the paper's Table 1: 20 competitors, 42 annotators, 4,321 votes, every annotator with
more than 50 votes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.predictor import lead
from bayes_arena.votes.outcomes import TIE, WIN

LARGEST = 100.0
"""Larger spreads count as mistakes."""
EXAMPLE_SEED = 2025
EXAMPLE_ANOMALOUS = 3


@dataclass(frozen=True, eq=False)
class Arena:
    """Simulated votes and the truth behind them.

    Attributes
    ----------
    votes : polars.DataFrame
        ``model_a, model_b, winner, judge``, one row a vote.
    competitors, annotators : tuple of str
        Names.
    strength : ndarray, shape (n_competitors,)
        True r in logits, sum zero.
    discrimination : ndarray, shape (n_annotators,)
        True theta, negative for the anomalous annotators.
    log_tie_propensity, position : ndarray, shape (n_annotators,)
        True ln nu and b.
    anomalous : tuple of str
        Names of the planted anomalous annotators, who vote against the ranking.
    """

    votes: pl.DataFrame
    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    strength: Floats
    discrimination: Floats
    log_tie_propensity: Floats
    position: Floats
    anomalous: tuple[str, ...]


def simulate(
    *,
    competitors: int = 20,
    annotators: int = 42,
    votes: int = 4321,
    anomalous: int = 0,
    strength_sd: float = 1.0,
    discrimination_sd: float = 0.5,
    tie_propensity: float = 1.0,
    tie_spread: float = 0.0,
    position_spread: float = 0.0,
    seed: int = 0,
) -> Arena:
    """Simulate an arena.

    Parameters
    ----------
    competitors, annotators, votes : int
        Size; the default is the paper's Table 1.
    anomalous : int
        Number of annotators whose theta is negative.
    strength_sd : float
        Standard deviation of r, in logits.
    discrimination_sd : float
        Standard deviation of theta around 1.
    tie_propensity : float
        Davidson's nu; 0 for no ties, 1 for about 30 % at the default spread of strengths.
    tie_spread, position_spread : float
        Standard deviations of ln nu and of b over annotators.
    seed : int
        The same seed gives the same votes.

    Returns
    -------
    Arena

    Raises
    ------
    ModelError
        If a number is impossible.

    References
    ----------
    Davidson, R. R. (1970), "On extending the Bradley-Terry model to accommodate ties", JASA 65.
    """
    if competitors < 2 or annotators < 1 or votes < annotators or not 0 <= anomalous <= annotators:
        raise ModelError(
            "An arena needs at least two competitors, one annotator, a vote for each annotator, and no more anomalous "
            f"annotators than annotators; not {competitors}, {annotators}, {votes} and {anomalous}."
        )
    spreads = (strength_sd, discrimination_sd, tie_propensity, tie_spread, position_spread)
    if not all(0 <= number <= LARGEST for number in spreads) or seed < 0:
        raise ModelError(
            f"Standard deviations and the tie propensity must lie between 0 and {LARGEST:g}, and the seed must be at "
            f"least 0; not {', '.join(f'{number:g}' for number in spreads)} and seed {seed}."
        )
    rng = np.random.default_rng(seed)
    r = rng.normal(0, strength_sd, competitors)
    r -= r.mean()
    theta = 1 + discrimination_sd * rng.normal(size=annotators)
    theta = np.abs(theta)
    planted = np.sort(rng.choice(annotators, anomalous, replace=False))
    theta[planted] *= -1

    least = min(51, votes // annotators)
    activity = rng.gamma(1.0, size=annotators)
    k = np.concatenate(
        [
            np.repeat(np.arange(annotators), least),
            rng.choice(annotators, votes - least * annotators, p=activity / activity.sum()),
        ]
    )
    rng.shuffle(k)
    i = rng.integers(competitors, size=votes)
    j = (i + rng.integers(1, competitors, size=votes)) % competitors
    habits = np.random.default_rng([seed, 1])
    u, b = habits.normal(0, tie_spread, annotators), habits.normal(0, position_spread, annotators)
    with np.errstate(divide="ignore"):
        log_tie_propensity = np.log(tie_propensity) + u  # minus infinity where there are no ties
    z = np.array([theta[k] * lead(r, i, j) + b[k], log_tie_propensity[k]])
    p = np.exp(davidson.LIKELIHOOD.log_probabilities(z))
    outcome = (rng.random(votes) > np.cumsum(p[[WIN, TIE]], axis=0)).sum(axis=0)

    models = _names("model", competitors)
    judges = _names("annotator", annotators)
    frame = pl.DataFrame(
        {
            "model_a": np.array(models)[i],
            "model_b": np.array(models)[j],
            "winner": np.array(["model_a", "tie", "model_b"])[outcome],
            "judge": np.array(judges)[k],
        }
    )
    return Arena(frame, models, judges, r, theta, log_tie_propensity, b, tuple(judges[k] for k in planted))


def example_arena() -> Arena:
    """Return the built-in example: simulated, the size of the paper's Table 1, with planted anomalous annotators."""
    return simulate(anomalous=EXAMPLE_ANOMALOUS, seed=EXAMPLE_SEED)


def _names(kind: str, count: int) -> tuple[str, ...]:
    width = len(str(count))
    return tuple(f"{kind}-{number:0{width}d}" for number in range(1, count + 1))
