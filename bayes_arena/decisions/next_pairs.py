"""Which pairs to compare next.

For the order of all competitors, the pairs with the fewest votes are chosen. For the best competitor, so is one half of
the pairs; the other half are two candidates for the best (top-two Thompson sampling; Russo, 2016): one is drawn with
its probability of being best, the other likewise among the rest. The first half gives a competitor that was unlucky in
early votes another chance. ``benchmarks/decisions.py`` measures how many votes each rule takes.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import Columns, DataFrame, Floats, table_of
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.votes.cells import Cells

Goal = Literal["best", "ranking"]
"""Goal of collecting votes: to find the best competitor, or to put all in order."""


@held
def next_pairs(fit: Fit, n: int = 20, *, goal: Goal = "best", seed: int = 0) -> DataFrame:
    """Choose the pairs to compare next.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    n : int
        Number of pairs to choose, each for one vote.
    goal : {"best", "ranking"}
        Find the best competitor, or the order of all. For the order of all, no measured rule beats equal numbers of
        votes on all pairs: neither Chatbot Arena's sampling by expected gain in precision, nor expected information,
        nor a look-ahead at misranked pairs.
    seed : int
        The same seed gives the same pairs.

    Returns
    -------
    pandas.DataFrame
        ``a, b``, the competitors to show first and second (at random), and ``why``: the number of votes on the pair so
        far, or for the best competitor, in every second row, the two probabilities of being best. Pairs without votes
        come first. A pair may be chosen more than once.

    Raises
    ------
    ModelError
        If n is not positive, the goal is unknown or the seed negative.
    NotIdentifiedError
        For the best competitor, if the votes do not determine the estimate under a flat prior.

    References
    ----------
    Russo, D. (2016), "Simple Bayesian algorithms for best arm identification", COLT.
    """
    return table_of(next_columns(fit, n, goal=goal, seed=seed), goal=goal, seed=seed, **fit.about)


def next_columns(fit: Fit, n: int = 20, *, goal: Goal = "best", seed: int = 0) -> Columns:
    """Columns of :func:`next_pairs`."""
    require_choice("goal", goal, get_args(Goal))
    if n < 1 or seed < 0:
        raise ModelError(f"next_pairs needs n of at least 1 and a seed of at least 0, not {n} and {seed}.")
    rng, names, votes = np.random.default_rng(seed), fit.cells.competitors, _votes_by_pair(fit.cast)
    strength = decision_strengths(fit) if goal == "best" else None
    p_best = None if strength is None else best_probabilities(strength)
    asked = []
    for row in range(n):
        if strength is None or p_best is None or row % 2 == 0:
            a, b = _fewest_votes(votes, rng)
            why = f"{votes[a, b]:g} votes so far" if votes[a, b] else "never compared"
        else:
            a, b = _may_be_best(strength, p_best, rng)
            why = "P(best) " + " and ".join(f"{p:.2f}" if p >= 0.01 else "below 0.01" for p in (p_best[a], p_best[b]))
        votes[[a, b], [b, a]] += 1
        asked.append((names[a], names[b], why))
    return dict(zip(("a", "b", "why"), map(list, zip(*asked, strict=True)), strict=True))


def _votes_by_pair(cells: Cells) -> Floats:
    """Votes on every pair in either order, shape (n, n)."""
    votes = np.zeros((cells.n_competitors, cells.n_competitors))
    np.add.at(votes, (cells.a, cells.b), cells.counts.sum(axis=1))
    return votes + votes.T


def _fewest_votes(votes: Floats, rng: np.random.Generator) -> tuple[int, int]:
    """Draw one of the pairs with the fewest votes, and among them one whose competitors have the fewest."""
    a, b = np.nonzero(~np.eye(len(votes), dtype=bool))  # either may be shown first
    rows = np.arange(len(a))
    for load in (votes[a, b], votes.sum(axis=0)[a] + votes.sum(axis=0)[b]):
        rows = rows[load[rows] == load[rows].min()]
    row = rng.choice(rows)
    return int(a[row]), int(b[row])


def _may_be_best(strength: Floats, p_best: Floats, rng: np.random.Generator) -> tuple[int, int]:
    """Draw one competitor by its probability of being best, and another likewise among the rest."""
    one = rng.choice(len(p_best), p=p_best)
    rest = np.where(np.arange(len(p_best)) == one, 0.0, p_best)
    if not rest.any():  # it is best in every draw: the best of the others, then
        rest = best_probabilities(np.where(np.arange(len(p_best)) == one, -np.inf, strength))
    other = rng.choice(len(p_best), p=rest / rest.sum())
    a, b = rng.permutation([one, other]).tolist()  # either may be shown first
    return a, b
