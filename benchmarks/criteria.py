"""Boards by criterion, from verdicts on several criteria of the same comparison.

    uv run python benchmarks/criteria.py [--arenas 100] > benchmarks/results/criteria.md
    uv run python benchmarks/criteria.py --otherwise [--arenas 100] > benchmarks/results/criteria_otherwise.md

Arenas of 16 competitors, 80 annotators, 1,000 comparisons with a verdict on each of four criteria, with ties.
Strengths by criterion differ from the common ones with a standard deviation of .3 logits; the verdicts of a comparison
share how well both answers turned out (.7 logits each). Rows: the default, which tells criteria and comparisons apart;
the same without comparisons, as though verdicts were votes of their own; and for one criterion its verdicts alone.
"overall" is the average over the criteria. Truth: the Bradley-Terry projection of the average vote on new comparisons.
"covers" of 95 % and 89 % intervals, and "RMSE", in Elo points.

``--otherwise``: the default where votes are not as the model has them, 400 comparisons an arena. "sharpness": on two
criteria people see twice as clearly as on the two others. "copies": answers do not differ from comparison to
comparison, but its verdicts repeat each other with a correlation of .8, ties included.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from measuring import options_of
from true_boards import Met, average_score, in_short, measured, projected

import bayes_arena as ba
from bayes_arena.arrays import Floats

N, PEOPLE, COMPARISONS, CRITERIA = 16, 80, 1_000, ("helpful", "harmless", "honest", "style")
STRENGTH_SD, CRITERION_SD, ANSWER_SD, TIE = 0.6, 0.3, 0.7, -0.5
NODES, MANY = 20, 200


@dataclass(frozen=True, eq=False)
class Arena:
    """Verdicts, and the boards by criterion and overall in Elo points."""

    votes: pl.DataFrame
    truth: dict[str, Floats]


def draw(
    seed: int,
    *,
    answer_sd: float = ANSWER_SD,
    comparisons: int = COMPARISONS,
    sharpness: tuple[float, ...] = (1.0,) * len(CRITERIA),
    copied: float = 0.0,
) -> Arena:
    """Simulate comparisons with a verdict on every criterion, in columns of their own.

    Every verdict has the noise of its comparison with the probability ``copied``, else its own.
    """
    rng = np.random.default_rng([seed, 43])
    strength = rng.normal(0, STRENGTH_SD, N)
    by_criterion = strength + rng.normal(0, CRITERION_SD, (len(CRITERIA), N))
    theta, tie = np.abs(rng.normal(1, 0.3, PEOPLE)), rng.normal(TIE, 0.4, PEOPLE)
    k = rng.integers(PEOPLE, size=comparisons)
    a = rng.integers(N, size=comparisons)
    b = (a + rng.integers(1, N, size=comparisons)) % N
    answers = rng.normal(0, answer_sd, (2, comparisons))
    names, words = np.array([f"m{one:02}" for one in range(N)]), np.array(["model_a", "model_b", "tie"])
    columns = {"model_a": names[a], "model_b": names[b], "judge": np.array([f"u{one:02}" for one in range(PEOPLE)])[k]}
    shared = rng.gumbel(size=(comparisons, 3)) if copied else np.zeros((comparisons, 3))
    for name, mine, sharp in zip(CRITERIA, by_criterion, sharpness, strict=True):
        eta = sharp * theta[k] * (mine[a] - mine[b] + answers[0] - answers[1])
        logits = np.column_stack([eta / 2, -eta / 2, tie[k]])
        noise = rng.gumbel(size=(comparisons, 3))
        if copied:
            noise = np.where(rng.random((comparisons, 1)) < copied, shared, noise)
        columns[f"{name}_winner"] = words[(logits + noise).argmax(axis=1)]
    one_by_one = zip(CRITERIA, by_criterion, sharpness, strict=True)
    truth = {name: _board(mine[None], (sharp,), answer_sd, rng) for name, mine, sharp in one_by_one}
    return Arena(pl.DataFrame(columns), truth | {"overall": _board(by_criterion, sharpness, answer_sd, rng)})


def _board(strengths: Floats, sharpness: tuple[float, ...], answer_sd: float, rng: np.random.Generator) -> Floats:
    """Return r* of the average vote on new comparisons in Elo points, over some criteria."""
    theta, tie = np.abs(rng.normal(1, 0.3, MANY)), rng.normal(TIE, 0.4, MANY)
    x, weight = np.polynomial.hermite_e.hermegauss(NODES)
    i, j = np.triu_indices(N, 1)
    score = np.zeros(len(i))
    for mine, sharp in zip(strengths, sharpness, strict=True):
        for at, part in zip(x * answer_sd * np.sqrt(2), weight / weight.sum(), strict=True):
            score += part / len(strengths) * average_score(sharp * theta[:, None] * (mine[i] - mine[j] + at), tie)
    return projected(score, N)


OTHERWISE: dict[str, dict[str, Any]] = {
    "sharpness": {"sharpness": (1.41, 1.41, 0.71, 0.71)},
    "copies": {"answer_sd": 0.0, "copied": np.sqrt(0.8)},
    "as the model has it": {},
}


def otherwise(arenas: int) -> None:
    """Print how the default does where the model is not that of the votes."""
    print("| arena | arenas | board | RMSE | covers 95 % | covers 89 % |")
    print("|" + "---|" * 6)
    for case, how in OTHERWISE.items():
        found: dict[str, list[Met]] = {}
        for seed in range(arenas):
            arena = draw(seed, comparisons=400, **how)
            fit = ba.fit(ba.read_votes(arena.votes), robust=False, dimensions=0)
            found.setdefault("overall", []).append(measured(fit, arena.truth["overall"]))
            for one in CRITERIA:
                within = fit.on(slice=("criterion", one))
                found.setdefault(one, []).append(measured(within, arena.truth[one]))
        for board, rows in found.items():
            print(f"| {case} | {arenas} | {board} | {in_short(rows)} |", flush=True)


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, arenas=100)
    parser.add_argument("--otherwise", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.otherwise:
        otherwise(options.arenas)
        return
    print("| board | fit | RMSE | covers 95 % | covers 89 % |")
    print("|" + "---|" * 5)
    found: dict[tuple[str, str], list[Met]] = {}
    for seed in range(options.arenas):
        arena, one = draw(seed), CRITERIA[0]
        cells = ba.read_votes(arena.votes)
        fit = ba.fit(cells, robust=False, dimensions=0)
        kinds = tuple(kind for kind in fit.model.strength_by if kind != "item")
        apart = ba.fit(cells, model=replace(fit.model, strength_by=kinds), robust=False)
        alone = ba.fit(ba.read_votes(arena.votes, where=f"criterion == '{one}'"), robust=False, dimensions=0)
        for name, each in (("default", fit), ("verdicts as votes", apart)):
            found.setdefault(("overall", name), []).append(measured(each, arena.truth["overall"]))
            within = each.on(slice=("criterion", one))
            found.setdefault((one, name), []).append(measured(within, arena.truth[one]))
        found.setdefault((one, "its verdicts alone"), []).append(measured(alone, arena.truth[one]))
    for (board, name), rows in sorted(found.items(), reverse=True):
        print(f"| {board} | {name} | {in_short(rows)} |", flush=True)


if __name__ == "__main__":
    main()
