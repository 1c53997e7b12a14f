"""Items that several annotators judge: the intervals of default fits beside a bootstrap over items, and their coverage.

    uv run python benchmarks/items.py > benchmarks/results/items.md

PandaLM's test set has three annotators on each of 999 items, one pair an item, and they agree on nine votes of ten. The
file is looked for in ``$BAYES_ARENA_DATA``, else in ``../shared/data``. Simulated items have answers of their own,
N(0, sd) in logits; the truth is the board of Bradley-Terry's model on many votes on new items.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import polars as pl
from measuring import DATA, options_of

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.markup import percent

CODES = {0: "tie", 1: "model_a", 2: "model_b"}
QUALITY = np.array([0.0, -0.6, 0.7, -0.3, 0.2])
NAMES = np.array(["m0", "m1", "m2", "m3", "m4"])


def pandalm() -> pl.DataFrame:
    """Return the votes, with the row as ``item`` beside the instruction."""
    rows = json.loads((DATA / "pandalm_testset.json").read_text())
    votes = [
        (str(row["idx"]), row["instruction"], *row["cmp_key"].split("_"), CODES[row[who]], who)
        for row in rows
        for who in ("annotator1", "annotator2", "annotator3")
    ]
    names = ["item", "instruction", "model_a", "model_b", "winner", "judge"]
    return pl.DataFrame(votes, schema=names, orient="row")


def simulated(rng: np.random.Generator, items: int, sd: float) -> pl.DataFrame:
    """Return votes of three annotators on items of one pair, whose order is that of the names."""
    i = rng.integers(5, size=items)
    j = (i + rng.integers(1, 5, size=items)) % 5
    i, j = np.minimum(i, j), np.maximum(i, j)
    difference = (1 + sd / 2) * (QUALITY[i] - QUALITY[j]) + rng.normal(0, sd * np.sqrt(2), items)
    parts = []
    for judge, theta in (("k1", 0.85), ("k2", 1.0), ("k3", 1.15)):
        weights = np.exp(np.outer([0.5, 0, -0.5], theta * difference) + np.array([[0], [-0.5], [0]]))
        outcome = (rng.random(items) > np.cumsum(weights / weights.sum(axis=0), axis=0)).sum(axis=0)
        winner = np.array(["model_a", "tie", "model_b"])[outcome]
        columns = {"item": np.arange(items).astype(str), "model_a": NAMES[i], "model_b": NAMES[j], "winner": winner}
        parts.append(pl.DataFrame(columns).with_columns(judge=pl.lit(judge)))
    return pl.concat(parts)


def board(votes: pl.DataFrame, prompt: str | bool, interval: object = None, **fitted: object) -> tuple[Floats, Floats]:
    """Return the scores and half-widths of a fit, by name."""
    fit = ba.fit(ba.read_votes(votes, prompt=prompt), **fitted)
    table = ba.leaderboard(fit, interval=interval).sort_values("competitor")
    return table["elo"].to_numpy(), (table["upper"] - table["lower"]).to_numpy() / 2


def bootstrapped(votes: pl.DataFrame, by: str, resamples: int) -> Floats:
    """Return 1.96 standard deviations of default boards of items drawn with replacement."""
    rng, parts = np.random.default_rng(0), votes.partition_by(by)
    scores = []
    for _ in range(resamples):
        drawn = enumerate(rng.integers(len(parts), size=len(parts)))
        again = pl.concat([parts[part].with_columns(pl.lit(str(place)).alias(by)) for place, part in drawn])
        scores.append(board(again, by)[0])
    return 1.96 * np.std(scores, axis=0, ddof=1)


def main() -> None:
    options = options_of(__doc__, resamples=40, arenas=20).parse_args()
    warnings.simplefilter("ignore")
    print("Printed by `uv run python benchmarks/items.py`.\n")
    votes = pandalm()
    print("| PandaLM, prompts | half-width of the default fit | bootstrap | ratio |\n|---|---|---|---|")
    without = board(votes, False)[1].mean()
    for by in ("item", "instruction"):
        ours, truth = board(votes, by)[1], bootstrapped(votes, by, options.resamples)
        print(f"| {by} | {ours.mean():.1f} | {truth.mean():.1f} | {ours.mean() / truth.mean():.2f} |", flush=True)
    print(f"| none | {without:.1f} | | |\n")
    print(
        "| simulated, sd of answers | intervals | coverage | half-width | 1.96 sd of the error |\n|---|---|---|---|---|"
    )
    for sd in (0.0, 1.5, 4.0):
        new = simulated(np.random.default_rng(99), 300_000, sd)
        truth = board(new, False, model="bradley-terry")[0]
        ways = {
            "default, items read": ("item", None, {}),
            "no items": (False, None, {}),
            "no answers, clustered by item": ("item", ba.Clustered(by="prompt"), {"answers": False}),
        }
        for name, (prompt, interval, fitted) in ways.items():
            found = [
                board(simulated(np.random.default_rng(seed), 999, sd), prompt, interval, **fitted)
                for seed in range(options.arenas)
            ]
            error, half = (np.array([one[place] for one in found]) for place in (0, 1))
            error = error - truth
            covered, spread = np.mean(np.abs(error) <= half), 1.96 * np.sqrt(np.mean(error**2))
            print(f"| {sd:g} | {name} | {percent(covered, '.1f')} | {half.mean():.1f} | {spread:.1f} |", flush=True)


if __name__ == "__main__":
    main()
