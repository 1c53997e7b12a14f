"""Make a file of 1.67 million votes from the public Chatbot Arena counts that ``leaderbot`` ships."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import polars as pl

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
