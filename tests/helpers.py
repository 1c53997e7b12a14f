"""Votes and cells written by hand, and the command."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl

import bayes_arena as ba

COMMAND = Path(sys.executable).parent / "bayes-arena"
PAIRS = (("0", "1"), ("0", "2"), ("1", "2"))


def frame(rows: list[tuple[str, ...]]) -> pl.DataFrame:
    """Votes from (a, b, winner) or (a, b, winner, judge) rows."""
    names = ["model_a", "model_b", "winner", "judge"][: len(rows[0])]
    return pl.DataFrame(rows, schema=names, orient="row")


def panel(judges: dict[str, tuple[int, int] | list[tuple[int, int]]]) -> ba.Cells:
    """Cells of three competitors from each judge's wins and losses of the first name on every pair."""
    rows = []
    for judge, counts in judges.items():
        counts = counts if isinstance(counts, list) else [counts] * 3
        for (a, b), (won, lost) in zip(PAIRS, counts, strict=True):
            rows += [(a, b, "model_a", judge)] * won + [(a, b, "model_b", judge)] * lost
    return ba.read_votes(frame(rows))


def run(*arguments: object, **options) -> subprocess.CompletedProcess:
    """Run the command in a process of its own, on no terminal."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=120, **options
    )
