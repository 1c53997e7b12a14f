"""Make a file of 1.67 million votes from the public Chatbot Arena counts that ``leaderbot`` ships.

These name no annotators: :func:`synthetic_annotators` lets simulated ones vote on the same battles.
"""

import importlib.util
import json
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from crowds import Crowd, HonestArena, cast_votes

import bayes_arena as ba

VOTES_EACH = 27
"""Votes of an annotator on average: 61,003 cast 1.67 million."""
OUTCOMES = ["model_a", "model_b", "tie", "tie (bothbad)"]


def write_arena_votes(folder: Path) -> Path:
    """Write ``arena.parquet`` (columns model_a, model_b, winner; shuffled, sides random) and return its path."""
    path = folder / "arena.parquet"
    if path.exists():
        return path
    specification = importlib.util.find_spec("leaderbot")
    if specification is None or specification.origin is None:
        raise SystemExit("leaderbot is missing: uv sync --group benchmark")
    counts_file = Path(specification.origin).parent / "data" / "chatbotarena_20240814.json"
    counts = json.loads(counts_file.read_text())
    pairs, table = np.array(counts["X"]), np.array(counts["Y"])
    models = np.array(counts["models"])
    i = np.repeat(pairs[:, 0], table.sum(axis=1))
    j = np.repeat(pairs[:, 1], table.sum(axis=1))
    outcome = np.concatenate([np.repeat(np.arange(4), row) for row in table])
    rng = np.random.default_rng(0)
    swap = rng.random(len(i)) < 0.5
    a, b = np.where(swap, j, i), np.where(swap, i, j)
    outcome = np.where(swap & (outcome < 2), 1 - outcome, outcome)
    order = rng.permutation(len(i))
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(
        {
            "model_a": models[a[order]],
            "model_b": models[b[order]],
            "winner": np.array(OUTCOMES)[outcome[order]],
        }
    ).write_parquet(path)
    return path


@cache
def real_battles(folder: Path) -> tuple[tuple[str, ...], np.ndarray, np.ndarray, np.ndarray]:
    """Names, Bradley-Terry strengths, and who was shown first and second in each of the 1.67 million votes."""
    cells = ba.read_votes(write_arena_votes(folder))
    board = ba.fit(cells, model="bradley-terry")
    times = cells.counts.sum(axis=1).astype(int)
    return cells.competitors, board.strength, np.repeat(cells.a, times), np.repeat(cells.b, times)


def synthetic_annotators(folder: Path, votes: int | None = None, *, seed: int = 0) -> HonestArena:
    """Let a crowd vote on the real battles, or on so many of them at random, by the real strengths."""
    names, strength, a, b = real_battles(folder)
    some = np.random.default_rng([seed, 2]).permutation(len(a))[:votes]
    return cast_votes(Crowd(annotators=len(some) // VOTES_EACH), names, strength, a[some], b[some], seed=seed)
