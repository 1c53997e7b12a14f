"""Large arenas: CPU seconds and memory of ``fit`` and ``leaderboard``.

``python benchmarks/scale.py [--only NAME ...]``.  Every row is a process of its own that fits
once on a small arena first; files are Parquet.  "polars" is a bare group-by of the same file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from measuring import markdown, python, run, write_page

FIT = """
import time
import bayes_arena as ba
ba.leaderboard(ba.fit(ba.example_arena().votes, model={model!r}), interval="posterior")
start = time.process_time()
votes = ba.read_votes({path!r}, annotator={annotator}, prompt=False)
read = time.process_time()
fit = ba.fit(votes, model={model!r})
fitted = time.process_time()
ba.leaderboard(fit, interval="posterior")
print(read - start, fitted - read, time.process_time() - fitted, len(votes))
"""
POLARS = """
import time
import polars as pl
start = time.process_time()
for _ in range(2):
    start = time.process_time()
    votes = pl.scan_parquet({path!r})
    keys = ["model_a", "model_b", "winner"]
    votes.group_by(keys).len().collect()
print(time.process_time() - start)
"""


@dataclass(frozen=True)
class Arena:
    """The size of a simulated arena; ``spread`` is that of theta."""

    votes: int
    annotators: int
    competitors: int
    spread: float
    pairs: float = 1.0  # share of all pairs that are asked


ARENAS = {
    "alike": Arena(1_670_250, 61_003, 129, 0.0, 0.25),
    "not alike": Arena(1_670_250, 61_003, 129, 0.5, 0.25),
    "medium": Arena(100_000, 2_000, 60, 0.5),
    "ten million": Arena(10_000_000, 900_000, 129, 0.0, 0.25),
    "many competitors": Arena(250_000, 4_000, 9_150, 0.3),
}
ROWS = (
    ("medium", "am-davidson", True),
    ("alike", "m-elo", False),
    ("alike", "davidson", False),
    ("alike", "am-davidson", True),
    ("not alike", "am-davidson", True),
    ("ten million", "m-elo", False),
    ("ten million", "davidson", False),
    ("many competitors", "am-davidson", True),
    ("many competitors", "davidson", False),
)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=ARENAS, default=list(ARENAS))
    only = parser.parse_args().only
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in only:
            path = str(Path(folder) / f"{name}.parquet")
            simulate(ARENAS[name]).write_parquet(path)
            for row in ROWS:
                if row[0] == name:
                    rows.append(fit_row(name, path, row[1], row[2]))
                    print(rows[-1], file=sys.stderr, flush=True)
            bare = run(python(POLARS.format(path=path)))
            again = float(bare.output.split()[-1])
            cells = ["bare Polars group-by", f"{again:.2f}", "", "", f"{bare.cpu:.1f}"]
            rows.append([name, *cells, f"{bare.wall:.1f}", f"{bare.memory:.2f}"])
    header = [
        "arena",
        "model",
        "read",
        "fit",
        "board",
        "process, CPU s",
        "wall s",
        "GiB",
    ]
    sizes = [
        [name, f"{a.votes:,}", f"{a.annotators:,}", f"{a.competitors:,}"]
        for name, a in ARENAS.items()
        if name in only
    ]
    parts = [
        markdown(["arena", "votes", "annotators", "competitors"], sizes),
        "CPU seconds after a first call; the last columns are the whole process.\n",
        markdown(header, rows),
    ]
    write_page("scale", "Large arenas", parts, "python benchmarks/scale.py")


def fit_row(name: str, path: str, model: str, annotators: bool) -> list[object]:
    """Return a row of the table: a fit in a process of its own, or its refusal."""
    annotator = repr("judge") if annotators else "False"
    code = FIT.format(path=path, model=model, annotator=annotator)
    cost = run(python(code), check=False)
    if not cost.output.split():
        return [
            name,
            model,
            "refused",
            "",
            "",
            f"{cost.cpu:.1f}",
            f"{cost.wall:.1f}",
            f"{cost.memory:.2f}",
        ]
    read, fit, board, _ = map(float, cost.output.split()[-4:])
    total = (f"{cost.cpu:.1f}", f"{cost.wall:.1f}", f"{cost.memory:.2f}")
    return [name, model, f"{read:.2f}", f"{fit:.2f}", f"{board:.2f}", *total]


def simulate(arena: Arena, seed: int = 0) -> pl.DataFrame:
    """Return votes of annotators whose activity is heavy-tailed, on some of the pairs."""
    rng = np.random.default_rng(seed)
    n, m = arena.competitors, arena.annotators
    strength = rng.normal(0, 0.8, n)
    theta = 1 + arena.spread * rng.normal(size=m)
    tie = -0.3 + 1.6 * arena.spread * rng.normal(size=m)
    activity = rng.pareto(0.8, m) + 0.1
    extra = rng.choice(m, arena.votes - m, p=activity / activity.sum())
    k = np.concatenate([np.arange(m), extra])
    first, second = random_pairs(arena, rng)
    popularity = 1 / np.arange(1, len(first) + 1) ** 0.9
    pair = rng.choice(len(first), arena.votes, p=popularity / popularity.sum())
    turned = rng.random(arena.votes) < 0.5
    i = np.where(turned, second[pair], first[pair])
    j = np.where(turned, first[pair], second[pair])
    eta = theta[k] * (strength[i] - strength[j])
    weight = np.exp(np.stack([eta / 2, tie[k], -eta / 2]))
    weight /= weight.sum(axis=0)
    outcome = (rng.random(arena.votes) > weight.cumsum(axis=0)[:2]).sum(axis=0)
    winner = pl.Series(np.array(["model_a", "tie", "model_b"])[outcome])
    return pl.DataFrame(
        {
            "model_a": names("model", n).gather(i),
            "model_b": names("model", n).gather(j),
            "winner": winner,
            "judge": names("user", m).gather(k),
        }
    )


def names(kind: str, count: int) -> pl.Series:
    """Return numbered names."""
    return pl.Series([f"{kind}-{number:07d}" for number in range(count)])


def random_pairs(
    arena: Arena, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs that are asked, in an order of popularity."""
    n = arena.competitors
    count = min(int(arena.pairs * n * (n - 1) / 2), arena.votes)
    first = rng.integers(n, size=2 * count)
    second = (first + rng.integers(1, n, size=2 * count)) % n
    key = np.unique(np.minimum(first, second) * n + np.maximum(first, second))
    key = rng.permutation(key)[:count]
    return key // n, key % n


if __name__ == "__main__":
    main()
