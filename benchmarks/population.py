"""A ranking for a population, from votes in which one group is over-represented.

    uv run python benchmarks/population.py [--arenas 100] > benchmarks/results/population.md

Arenas of 16 competitors, 120 annotators, 6,000 votes with ties. Three groups of the population have the shares .5, .3
and .2, and strengths that differ from the common ones with a standard deviation of .4 logits; the smallest casts so
many times as many votes a head as the others ("times"). Rows: the model with strengths by group, for those who voted
and for the population, and the model without groups. Truth is the board of the population: the Bradley-Terry projection
of the average vote of a population of many annotators. "covers" of 95 % and 89 % intervals, and "RMSE", in Elo points.
"a group missing": nobody of the second group voted. "interaction": strengths differ by group and country, too, which
the model does not know.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from measuring import options_of
from true_boards import Met, average_score, in_short, measured, projected

import bayes_arena as ba
from bayes_arena.arrays import Floats

N, PEOPLE, VOTES = 16, 120, 6_000
GROUPS, SHARES = ("A", "B", "C"), (0.5, 0.3, 0.2)
GROUP_SD, STRENGTH_SD, TIE = 0.4, 0.6, -0.7
MODEL = ba.Model(
    "by group",
    discrimination="annotator",
    ties="davidson",
    tie_propensity="annotator",
    strength_by=("group",),
)
CASES: dict[str, dict[str, Any]] = {
    **{f"{times} times": {"times": times} for times in (1.0, 2.0, 4.0, 8.0)},
    "4 times, a group missing": {"silent": "B"},
    "4 times, interaction": {"interaction": 0.3},
}


@dataclass(frozen=True, eq=False)
class Arena:
    """Votes of groups, and the board of the population in Elo points."""

    cells: ba.Cells
    truth: Floats


def draw(seed: int, *, times: float = 4.0, silent: str = "", interaction: float = 0.0) -> Arena:
    """Simulate votes in which the last group casts ``times`` as many votes a head as the others."""
    rng = np.random.default_rng([seed, 41])
    strength = rng.normal(0, STRENGTH_SD, N)
    by_group = strength + rng.normal(0, GROUP_SD, (len(GROUPS), N))
    more = rng.normal(0, interaction, (len(GROUPS), 2, N)) if interaction else np.zeros((len(GROUPS), 2, N))
    group = rng.choice(len(GROUPS), PEOPLE, p=SHARES)
    country = rng.integers(2, size=PEOPLE)
    theta = np.abs(rng.normal(1, 0.3, PEOPLE))
    tie = rng.normal(TIE, 0.4, PEOPLE)
    busy = np.where(group == len(GROUPS) - 1, times, 1.0) * (np.array(GROUPS)[group] != silent)
    k = rng.choice(PEOPLE, VOTES, p=busy / busy.sum())
    a = rng.integers(N, size=VOTES)
    b = (a + rng.integers(1, N, size=VOTES)) % N
    seen = (by_group[group] + more[group, country])[k]
    row = np.arange(VOTES)
    eta = theta[k] * (seen[row, a] - seen[row, b])
    outcome = (np.column_stack([eta / 2, -eta / 2, tie[k]]) + rng.gumbel(size=(VOTES, 3))).argmax(axis=1)
    names = np.array([f"m{one:02}" for one in range(N)])
    table = pl.DataFrame(
        {
            "model_a": names[a],
            "model_b": names[b],
            "winner": np.array(["model_a", "model_b", "tie"])[outcome],
            "judge": np.array([f"user-{one:03}" for one in range(PEOPLE)])[k],
            "group": np.array(GROUPS)[group[k]],
            "country": np.array(["X", "Y"])[country[k]],
        }
    )
    cells = ba.read_votes(table, slices=["group", "country"])
    return Arena(cells, truth(by_group, more, rng))


def truth(by_group: Floats, more: Floats, rng: np.random.Generator, many: int = 400) -> Floats:
    """Return r* in Elo points of the average vote of a population of many annotators, shape (N,)."""
    theta, tie = np.abs(rng.normal(1, 0.3, many)), rng.normal(TIE, 0.4, many)
    i, j = np.triu_indices(N, 1)
    score = np.zeros(len(i))
    for share, strength, added in zip(SHARES, by_group, more, strict=True):
        for one in added:
            seen = strength + one
            score += share / 2 * average_score(theta[:, None] * (seen[i] - seen[j]), tie)
    return projected(score, N)


def shares() -> dict[str, dict[str, float]]:
    """Return the population."""
    return {"group": dict(zip(GROUPS, SHARES, strict=True))}


def boards(arena: Arena) -> dict[str, ba.Fit]:
    """Return the fits that are compared."""
    by_group = ba.fit(arena.cells, model=MODEL, robust=False)
    return {
        "for the population": by_group.of_population(shares()),
        "for those who voted": by_group,
        "without groups": ba.fit(arena.cells, robust=False, dimensions=0),
    }


def main() -> None:
    """Print the table."""
    options = options_of(__doc__, arenas=100).parse_args()
    warnings.simplefilter("ignore")
    print("| arena | board | RMSE | covers 95 % | covers 89 % |")
    print("|" + "---|" * 5)
    for name, how in CASES.items():
        found: dict[str, list[Met]] = {}
        for seed in range(options.arenas):
            arena = draw(seed, **how)
            for board, fit in boards(arena).items():
                found.setdefault(board, []).append(measured(fit, arena.truth))
        for board, rows in found.items():
            print(f"| {name} | {board} | {in_short(rows)} |", flush=True)


if __name__ == "__main__":
    main()
