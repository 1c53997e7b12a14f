"""Arenas with known truth.

Votes follow Davidson's model of ties (Davidson, 1970): with eta = theta_k (r_i - r_j) + b_k,

    P(i wins) : P(tie) : P(j wins) = exp(eta / 2) : nu_k : exp(-eta / 2).

The default size is that of the paper's Table 1: 20 competitors, 42 annotators, 4,321 votes,
every annotator with more than 50 votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, require_seed
from bayes_arena.model.effects import DAVIDSON
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.votes.votes import FIRST, SECOND, TIE

if TYPE_CHECKING:
    import pandas as pd

LARGEST_SPREAD = 100.0  # larger ones count as mistakes
EXAMPLE_SEED = 2025
EXAMPLE_ANOMALOUS = 3
NO_TIES = -1000.0  # a logit at which a tie has probability 0
PAPER_VOTES = 51  # least votes of an annotator, where there are enough


@dataclass(frozen=True, eq=False)
class SimulatedArena:
    """Simulated votes and the truth behind them.

    Attributes
    ----------
    columns : dict of str to ndarray
        ``model_a``, ``model_b``, ``winner`` and ``judge``, one entry a vote.
    competitors, annotators : tuple of str
        Names.
    strength : ndarray, shape (competitors,)
        True r in logits, sum zero.
    discrimination : ndarray, shape (annotators,)
        True theta, negative for the anomalous annotators.
    log_tie_propensity, position : ndarray, shape (annotators,)
        True ln nu and b.
    anomalous : tuple of str
        Names of the planted anomalous annotators, who vote against the ranking.
    votes
    """

    columns: dict[str, np.ndarray]
    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    strength: Floats
    discrimination: Floats
    log_tie_propensity: Floats
    position: Floats
    anomalous: tuple[str, ...]

    @property
    def votes(self) -> pd.DataFrame:
        """The votes as a dataframe, one row a vote."""
        import pandas as pd

        return pd.DataFrame(self.columns)


def simulate(
    *,
    competitors: int = 20,
    annotators: int = 42,
    votes: int = 4321,
    guessers: int = 0,
    reversed: int = 0,
    strength_sd: float = 1.0,
    discrimination_sd: float = 0.5,
    tie_propensity: float = 1.0,
    tie_spread: float = 0.0,
    position_spread: float = 0.0,
    seed: int = 0,
) -> SimulatedArena:
    """Simulate an arena.

    Parameters
    ----------
    competitors, annotators, votes : int
        Size; the default is the paper's Table 1.
    guessers, reversed : int
        Numbers of annotators whose theta is zero, and negative.
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
    SimulatedArena

    Raises
    ------
    ModelError
        If a number is impossible.
    """
    require_possible(competitors, annotators, votes, guessers, reversed)
    require_spreads(strength_sd, discrimination_sd, tie_spread, position_spread)
    require_spreads(tie_propensity)
    require_seed(seed)
    rng = np.random.default_rng(seed)
    r = rng.normal(0, strength_sd, competitors)
    r -= r.mean()
    theta = np.abs(1 + discrimination_sd * rng.normal(size=annotators))
    planted = np.sort(rng.choice(annotators, guessers + reversed, replace=False))
    theta[planted[:guessers]] = 0
    theta[planted[guessers:]] *= -1
    k = draw_annotators(annotators, votes, rng)
    i = rng.integers(competitors, size=votes)
    j = (i + rng.integers(1, competitors, size=votes)) % competitors
    t_k, b_k = draw_habits(annotators, tie_spread, position_spread, seed)
    with np.errstate(divide="ignore"):
        t_k += np.log(tie_propensity)  # minus infinity where there are no ties
    outcome = draw_outcomes(theta[k] * (r[i] - r[j]) + b_k[k], t_k[k], rng)
    models = numbered_names("model", competitors)
    judges = numbered_names("annotator", annotators)
    return SimulatedArena(
        columns={
            "model_a": np.array(models)[i],
            "model_b": np.array(models)[j],
            "winner": np.array(["model_a", "tie", "model_b"])[outcome],
            "judge": np.array(judges)[k],
        },
        competitors=models,
        annotators=judges,
        strength=r,
        discrimination=theta,
        log_tie_propensity=t_k,
        position=b_k,
        anomalous=tuple(judges[k] for k in planted),
    )


def require_possible(
    competitors: int, annotators: int, votes: int, guessers: int, reversed: int
) -> None:
    """Refuse a size that no arena has."""
    is_possible = competitors >= 2 and annotators >= 1 and votes >= annotators
    n_planted = guessers + reversed
    if not is_possible or min(guessers, reversed) < 0 or n_planted > annotators:
        raise ModelError(
            "An arena needs at least two competitors, one annotator, a vote for each "
            "annotator, and no more guessers and reversed than annotators; not "
            f"{competitors}, {annotators}, {votes}, {guessers} and {reversed}."
        )


def require_spreads(*values: float) -> None:
    """Refuse standard deviations, or a tie propensity, that count as mistakes."""
    if not all(0 <= value <= LARGEST_SPREAD for value in values):
        raise ModelError(
            "Standard deviations and the tie propensity must lie between 0 and "
            f"{LARGEST_SPREAD:g}."
        )


def draw_annotators(annotators: int, votes: int, rng: np.random.Generator) -> Ints:
    """Return who casts each vote: some votes each, the others by how active one is."""
    least = min(PAPER_VOTES, votes // annotators)
    activity = rng.gamma(1.0, size=annotators)
    n_others = votes - least * annotators
    others = rng.choice(annotators, n_others, p=activity / activity.sum())
    k = np.concatenate([np.repeat(np.arange(annotators), least), others])
    rng.shuffle(k)
    return k


def draw_habits(
    annotators: int, tie_spread: float, position_spread: float, seed: int
) -> tuple[Floats, Floats]:
    """Return the deviations of ln nu and of b of every annotator, (annotators,)."""
    # With random numbers of their own: pairs and theta are the same whatever the habits.
    rng = np.random.default_rng([seed, 1])
    t_k = rng.normal(0, tie_spread, annotators)
    b_k = rng.normal(0, position_spread, annotators)
    return t_k, b_k


def draw_outcomes(eta: Floats, tau: Floats, rng: np.random.Generator) -> Ints:
    """Return 0 for a win of the first, 1 for a tie and 2 for a loss, (votes,)."""
    # Minus infinity, of no ties, would make 0 * tau undefined.
    z = np.stack([eta, np.maximum(tau, NO_TIES)])
    p, _ = outcome_probabilities(DAVIDSON.phi[[FIRST, TIE, SECOND]], z)
    cumulative = np.cumsum(p[:2], axis=0)
    # A uniform number exceeds as many cumulative probabilities as the outcome's code.
    return np.asarray((rng.random(len(eta)) > cumulative).sum(axis=0))


def example_arena() -> SimulatedArena:
    """Return the built-in example: of the size of the paper's Table 1, three reversed."""
    return simulate(reversed=EXAMPLE_ANOMALOUS, seed=EXAMPLE_SEED)


def numbered_names(kind: str, count: int) -> tuple[str, ...]:
    """Return names that sort by number."""
    width = len(str(count))
    return tuple(f"{kind}-{number:0{width}d}" for number in range(1, count + 1))
