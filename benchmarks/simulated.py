"""Votes of any size in Parquet files, written piece by piece: sparse graphs of battles, crowds of annotators.

And small arenas, whose fits load or compile what the clock is not to see.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from boards import named

import bayes_arena as ba

PIECE = 2_000_000
"""Votes of a file."""
THETA_SD, TIE_SPREAD, POSITION_SPREAD = 0.5, 0.8, 0.2


def write_votes(
    folder: Path,
    votes: int,
    *,
    competitors: int = 129,
    opponents: int | None = None,
    annotators: int = 0,
    seed: int = 0,
) -> list[Path]:
    """Write simulated votes by Davidson's model, and return the files.

    Parameters
    ----------
    folder : Path
        Empty, or not there yet.
    votes, competitors : int
        Size.
    opponents : int, optional
        How many others each competitor meets, at random and even; all of them by default.
    annotators : int
        Who vote in turn, by their own theta |N(1, .5)|, ln nu and position; 0 for nobody in particular.
    seed : int
        The same seed gives the same votes.
    """
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    strength, many = rng.normal(size=competitors), max(annotators, 1)
    theta = np.abs(1 + THETA_SD * rng.normal(size=many)) if annotators else np.ones(1)
    tie = TIE_SPREAD * rng.normal(size=many) * bool(annotators)
    position = POSITION_SPREAD * rng.normal(size=many) * bool(annotators)
    met = rings(rng, competitors, opponents) if opponents and opponents < competitors - 1 else None
    names, people = named("model", competitors), named("user", annotators)
    paths = []
    for start in range(0, votes, PIECE):
        size = min(PIECE, votes - start)
        a = rng.integers(competitors, size=size)
        if met is None:
            b = (a + rng.integers(1, competitors, size=size)) % competitors
        else:
            b = met[a, rng.integers(met.shape[1], size=size)]
        k = np.arange(start, start + size) % many
        won, tied = np.exp(theta[k] * (strength[a] - strength[b]) + position[k]), np.exp(tie[k])
        drawn = rng.random(size) * (np.sqrt(won) + 1 / np.sqrt(won) + tied)
        outcome = (drawn > np.sqrt(won)).astype(int) + (drawn > np.sqrt(won) + tied)
        columns = {"model_a": names[a], "model_b": names[b], "winner": LABELS[outcome]}
        if annotators:
            columns["judge"] = people[k]
        paths.append(folder / f"votes-{len(paths):03}.parquet")
        pl.DataFrame(columns).write_parquet(paths[-1])
    return paths


def fit_small_arenas(**options: Any) -> None:
    """Fit an arena of few annotators with many votes each, and one of many with few: they go different ways."""
    for annotators, votes in ((10, 3000), (300, 3000)):
        ba.leaderboard(ba.fit(ba.read_votes(ba.simulate(annotators=annotators, votes=votes, seed=1).votes), **options))


LABELS = pl.Series(["model_a", "tie", "model_b"])


def rings(rng: np.random.Generator, competitors: int, opponents: int) -> np.ndarray:
    """Return whom each competitor meets, shape (n, opponents): its neighbours in rings of random order."""
    met = []
    for _ in range(max(opponents // 2, 1)):
        order = rng.permutation(competitors)
        place = np.argsort(order)
        met += [order[(place + 1) % competitors], order[place - 1]]
    return np.column_stack(met)
