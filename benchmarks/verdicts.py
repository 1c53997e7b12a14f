"""Of whom a verdict speaks, what newcomers do to scores, and a gate that is asked daily.

``python benchmarks/verdicts.py [--arenas 120]``.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.pairs import gate
from bayes_arena.boards.standing import standing_of

NEWCOMERS = 5
LEVELS = (0.95, 0.99)
LOOKS, VOTES_A_LOOK = 20, 50


def hidden_best(seed: int, n: int = 8, votes: int = 600) -> tuple[pd.DataFrame, str]:
    """Return votes of an arena whose best competitor has nine of them, and its name."""
    rng = np.random.default_rng([seed, 59])
    strength = np.sort(rng.normal(size=n))
    others = np.array([rng.choice(n - 1, 2, replace=False) for _ in range(votes)])
    few = np.stack([np.full(9, n - 1), rng.integers(n - 1, size=9)], axis=1)
    pairs = rng.permuted(np.concatenate([others, few]), axis=1)
    lead = strength[pairs[:, 0]] - strength[pairs[:, 1]]
    weight = np.exp(np.stack([lead / 2, -lead / 2, np.full(len(lead), -0.7)]))
    weight /= weight.sum(axis=0)
    outcome = (rng.random(len(lead)) > weight.cumsum(axis=0)[:2]).sum(axis=0)
    columns = {"model_a": pairs[:, 0], "model_b": pairs[:, 1]}
    frame = pd.DataFrame(columns).map(lambda c: f"model-{c}")
    frame["winner"] = np.array(["model_a", "model_b", "tie"])[outcome]
    return frame, f"model-{n - 1}"


def verdicts(arenas: int) -> str:
    """Return how often somebody else was named without a word on those left out."""
    unqualified = qualified = hidden = 0
    for seed in range(arenas):
        votes, best = hidden_best(seed)
        verdict = ba.verdict(votes)
        is_named = " is the best (" in verdict and best not in verdict
        unqualified += is_named and not verdict.startswith("Of the ")
        qualified += is_named and verdict.startswith("Of the ")
        hidden += best in verdict
    rows = [
        ["another is the best, and nothing is said", unqualified],
        ["another is the best of those with ten votes", qualified],
        ["nobody is the best", arenas - unqualified - qualified - hidden],
    ]
    return markdown(["the best has nine votes", f"of {arenas} arenas"], rows)


def looks(arenas: int) -> str:
    """Return how often a gate says at some look that two equal competitors differ."""
    settled = dict.fromkeys(LEVELS, 0)
    for seed in range(arenas):
        rng = np.random.default_rng([seed, 20])
        pairs = rng.permuted(np.tile(["a", "b"], (LOOKS * VOTES_A_LOOK, 1)), axis=1)
        winner = rng.choice(
            ["model_a", "model_b", "tie"], len(pairs), p=[0.4, 0.4, 0.2]
        )
        votes = {"model_a": pairs[:, 0], "model_b": pairs[:, 1], "winner": winner}
        said = dict.fromkeys(LEVELS, False)
        for end in range(VOTES_A_LOOK, len(pairs) + 1, VOTES_A_LOOK):
            fit = ba.fit({name: values[:end] for name, values in votes.items()})
            for level in LEVELS:
                answer = gate(standing_of(fit, Look(level=level)), "ab", "settled")
                said[level] |= answer == "yes"
        for level in LEVELS:
            settled[level] += said[level]
    rows = [[f"--level {level}", f"{settled[level] / arenas:.2f}"] for level in LEVELS]
    header = f"{LOOKS} looks at two equal competitors, {VOTES_A_LOOK} votes apart"
    return markdown([header, f"settled at some look, of {arenas}"], rows)


def newcomers() -> str:
    """Return by how much competitors of one vote each move the scores of the ranked."""
    votes = pd.read_csv(DATA / "mt_bench_human.csv", dtype=str)
    first, last = votes.iloc[0], ba.leaderboard(votes)["competitor"].iloc[-1]
    new = pd.DataFrame([first] * NEWCOMERS)
    new["model_a"] = [f"new-{k}" for k in range(NEWCOMERS)]
    new["model_b"], new["winner"] = last, "model_b"
    before = ba.leaderboard(votes).set_index("competitor")
    after = ba.leaderboard(pd.concat([votes, new])).set_index("competitor")
    moves = (after.loc[before.index, "elo"] - before["elo"]).abs()
    width = (before["upper"] - before["lower"]) / 2
    rows = [
        ["largest move of a ranked score, Elo", f"{moves.max():.2f}"],
        ["the same in half-widths", f"{(moves / width).max():.3f}"],
    ]
    return markdown([f"{NEWCOMERS} newcomers with one loss each", "MT-bench"], rows)


def main() -> None:
    """Print both tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=120)
    arenas = parser.parse_args().arenas
    command = f"python benchmarks/verdicts.py --arenas {arenas}"
    parts = [verdicts(arenas), newcomers(), looks(arenas)]
    write_page("verdicts", "Of whom verdicts speak", parts, command)


if __name__ == "__main__":
    main()
