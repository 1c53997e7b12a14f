"""Does a board jump where the default changes its way? The same votes, fitted on both sides of every threshold.

    uv run python benchmarks/thresholds.py [--arenas 20] [--only sparse plenty many ...]

Arenas are drawn where the threshold is. Prints the largest change of a score between the two ways in half-widths of its
interval, over the competitors of an arena: the median, and the most, over the arenas.

- ``sparse``: annotators are so sparse that sweeps start from annotators who are all alike, not from the mode.
- ``plenty``: annotators are so many that they do.
- ``many``: annotators are so many that a part of them is fitted first.
- ``competitors``: competitors are so many, few of whom met, that there is no matrix of all pairs: the posterior mode.
- ``answers``: answers are modelled, or left out as too few were voted on twice.
"""

import sys
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal
from unittest.mock import patch

import numpy as np
import polars as pl
from measuring import options_of
from true_boards import by_name

import bayes_arena as ba
from bayes_arena.inference.marginal import gaussian
from bayes_arena.likelihood import derivatives
from bayes_arena.progress import report

Patch = AbstractContextManager[object]


def crowd(competitors: int, annotators: int, votes: int, seed: int) -> ba.Cells:
    """Votes of an arena whose annotators differ in everything."""
    return ba.read_votes(
        ba.simulate(
            competitors=competitors,
            annotators=annotators,
            votes=votes,
            discrimination_sd=0.35,
            tie_spread=0.5,
            position_spread=0.2,
            seed=seed,
        ).votes
    )


def few_met(seed: int) -> ba.Cells:
    """Votes of twenty annotators among as many competitors as have no matrix of all pairs, ten opponents each."""
    rng, n = np.random.default_rng(seed), 1_500
    strength, i = rng.normal(0, 1, n), rng.integers(n, size=30_000)
    j = (i + rng.integers(1, 6, size=len(i))) % n
    eta = strength[i] - strength[j]
    outcome = (np.column_stack([eta / 2, -eta / 2, np.zeros(len(i))]) + rng.gumbel(size=(len(i), 3))).argmax(axis=1)
    winner = np.array(["model_a", "model_b", "tie"])[outcome]
    judge = rng.integers(20, size=len(i)).astype(str)
    columns = {"model_a": i.astype(str), "model_b": j.astype(str), "winner": winner, "judge": judge}
    return ba.read_votes(pl.DataFrame(columns))


def answered(seed: int) -> ba.Cells:
    """Votes on prompts of two votes each, by eight annotators: half of them are on prompts with a repeated answer."""
    rng, n, prompts = np.random.default_rng(seed), 6, 180
    strength = rng.normal(0, 1, n)
    answer = strength + rng.normal(0, 1, (prompts, n))
    i, prompt = rng.integers(n, size=2 * prompts), rng.integers(prompts, size=2 * prompts)
    j = (i + rng.integers(1, n, size=len(i))) % n
    half = 0.5 * (answer[prompt, i] - answer[prompt, j])
    outcome = (np.column_stack([half, -half, 0 * half]) + rng.gumbel(size=(len(i), 3))).argmax(axis=1)
    columns = {
        "model_a": i.astype(str),
        "model_b": j.astype(str),
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "judge": rng.integers(8, size=len(i)).astype(str),
        "prompt": prompt.astype(str),
    }
    return ba.read_votes(pl.DataFrame(columns), prompt="prompt")


THRESHOLDS: dict[str, tuple[Callable[[int], ba.Cells], Callable[[], Patch], Callable[[], Patch]]] = {
    "sparse": (
        lambda seed: crowd(20, 245, 15_000, seed),
        lambda: patch.object(gaussian, "SPARSE", 0.0),
        lambda: patch.object(gaussian, "SPARSE", np.inf),
    ),
    "plenty": (
        lambda seed: crowd(20, 300, 60_000, seed),
        lambda: patch.object(gaussian, "PLENTY", 299),
        lambda: patch.object(gaussian, "PLENTY", 300),
    ),
    "many": (
        lambda seed: crowd(20, 10_000, 50_000, seed),
        lambda: patch.object(gaussian, "MANY_ANNOTATORS", 10_000),
        lambda: patch.object(gaussian, "MANY_ANNOTATORS", 10_001),
    ),
    "competitors": (
        few_met,
        lambda: patch.object(derivatives, "MANY", 1_500),
        lambda: patch.object(derivatives, "MANY", 1_501),
    ),
}


def board(cells: ba.Cells, answers: bool | Literal["auto"] = "auto") -> tuple[np.ndarray, np.ndarray]:
    """Return scores and half-widths, competitor by competitor."""
    table = by_name(ba.fit(cells, robust=False, answers=answers))
    return table["elo"].to_numpy(), ((table["upper"] - table["lower"]) / 2).to_numpy()


def jump(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """Largest change of a score, in half-widths."""
    return float(np.max(np.abs(one[0] - other[0]) / np.maximum(one[1], other[1])))


def jumps(name: str, arenas: int) -> list[float]:
    """Return the jump of every arena."""
    found = []
    for seed in range(arenas):
        report(f"arenas of {name}", seed, arenas)
        if name == "answers":
            cells = answered(seed)
            found.append(jump(board(cells, answers=True), board(cells, answers=False)))
            continue
        make, one, other = THRESHOLDS[name]
        cells = make(seed)
        with one():
            first = board(cells)
        with other():
            found.append(jump(first, board(cells)))
    report("")
    return found


def main() -> None:
    parser = options_of(__doc__, arenas=20)
    parser.add_argument("--only", nargs="+", default=[*THRESHOLDS, "answers"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("    " + " ".join(["uv run python benchmarks/thresholds.py", *sys.argv[1:]]) + "\n")
    print("| threshold | arenas | change in half-widths: median | most |")
    print("|---|---:|---:|---:|")
    for name in options.only:
        found = jumps(name, options.arenas)
        print(f"| {name} | {len(found)} | {np.median(found):.3f} | {max(found):.3f} |", flush=True)


if __name__ == "__main__":
    main()
