"""From a file of votes to scores, beside other packages: time of processes and of calls.

``uv run --group benchmark python benchmarks/peers.py [--runs 3]``.  Each package gets its
fastest documented way in.  Bytecode is compiled on both sides, and packages take turns.  All
estimate the same strengths, which is checked: Bradley-Terry with ties as half wins, by maximum
likelihood.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from measuring import DATA, markdown, python, run, write_page
from scale import ARENAS, simulate

LATER_CALLS = 3  # in one process, after a first
APART = 0.05  # Elo by which the distances of first and last may differ
OURS = """
import bayes_arena as ba
def work():
    votes = ba.read_votes(path, annotator=False, prompt=False)
    fit = ba.fit(votes, model="bradley-terry", prior="flat")
    elo = ba.leaderboard(fit, interval="sandwich")["elo"]
    return elo.max() - elo.min()
"""
EVALICA = """
import evalica, math
import polars as pl
meaning = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}
def work():
    votes = pl.read_parquet(path, columns=["model_a", "model_b", "winner"])
    winner = [meaning.get(w, evalica.Winner.Draw) for w in votes["winner"].to_list()]
    columns = votes["model_a"].to_list(), votes["model_b"].to_list(), winner
    odds = evalica.bradley_terry(*columns).scores
    return 400 * math.log10(odds.max() / odds.min())
"""
EVALICA_COUNTED = """
import evalica, math
import polars as pl
meaning = {"model_a": evalica.Winner.X, "model_b": evalica.Winner.Y}
def work():
    keys = ["model_a", "model_b", "winner"]
    votes = pl.scan_parquet(path).group_by(keys).len().collect()
    winner = [meaning.get(w, evalica.Winner.Draw) for w in votes["winner"].to_list()]
    columns = votes["model_a"].to_list(), votes["model_b"].to_list(), winner
    weights = votes["len"].cast(pl.Float64).to_list()
    odds = evalica.bradley_terry(*columns, weights=weights).scores
    return 400 * math.log10(odds.max() / odds.min())
"""
ARENA_RANK = """
import polars as pl
from arena_rank.models.bradley_terry import BradleyTerry
from arena_rank.utils.data_utils import PairDataset
def work():
    data = PairDataset.from_pandas(pl.read_parquet(path).to_pandas())
    board = BradleyTerry(len(data.competitors)).compute_ratings_and_cis(data)
    return max(board["ratings"]) - min(board["ratings"])
"""
POLARS = """
import polars as pl
def work():
    keys = ["model_a", "model_b", "winner"]
    pl.scan_parquet(path).group_by(keys).len().collect()
"""
# Prints the result, and the wall and CPU seconds of the cheapest call after the first.
CALLS = """
import time
costs = []
for _ in range({calls}):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    costs.append((time.perf_counter() - wall, time.process_time() - cpu))
later = costs[1:] or costs
print(result, min(wall for wall, _ in later), min(cpu for _, cpu in later))
"""
PACKAGES = {
    "bayes_arena: scores, intervals, rank ranges": OURS,
    "evalica: scores": EVALICA,
    "evalica: scores, of counts by Polars": EVALICA_COUNTED,
    "arena-rank: scores, intervals": ARENA_RANK,
    "Polars: a bare group-by": POLARS,
}


@dataclass
class Timing:
    """The least seconds of the whole process with one call, and of later calls."""

    result: str = ""
    wall: float = float("inf")
    cpu: float = float("inf")
    later_wall: float = float("inf")
    later_cpu: float = float("inf")
    memory: float = 0.0


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    intro = (
        "From a Parquet file to scores, by maximum likelihood of Bradley-Terry with ties as "
        "half wins: a process with one call, imports included, and the cheapest of "
        f"{LATER_CALLS} more calls in one process. The least of {runs} runs in turns; each "
        "ratio is to ours. Only bayes_arena and arena-rank have intervals.\n"
    )
    parts = [intro]
    with tempfile.TemporaryDirectory() as folder:
        for name, votes in arenas().items():
            path = str(Path(folder) / "votes.parquet")
            votes.write_parquet(path)
            timings = race(path, runs)
            require_equal(timings)
            parts += [f"## {name}\n", table(timings)]
    command = "python benchmarks/peers.py"
    write_page("peers", "Beside other packages", parts, command)


def arenas() -> dict[str, pl.DataFrame]:
    """Return the votes by arena."""
    columns = ["model_a", "model_b", "winner", "judge"]
    real = pl.read_csv(DATA / "llmfao.csv").select(columns)
    arena = ARENAS["alike"]
    size = f"{arena.votes:,} votes on {arena.competitors} competitors, simulated"
    return {f"LLMFAO, {len(real):,} votes": real, size: simulate(arena)}


def race(path: str, runs: int) -> dict[str, Timing]:
    """Time all packages in turns; a first round compiles bytecode and does not count."""
    timings = {name: Timing() for name in PACKAGES}
    for turn in range(runs + 1):
        for name, code in PACKAGES.items():
            begin = f"path = {path!r}\n{code}"
            once = run(python(begin + CALLS.format(calls=1)))
            if turn == 0:
                continue
            more = run(python(begin + CALLS.format(calls=1 + LATER_CALLS)))
            result, wall, cpu = more.output.split()[-3:]
            timing = timings[name]
            timing.result = result
            timing.wall = min(timing.wall, once.wall)
            timing.cpu = min(timing.cpu, once.cpu)
            timing.later_wall = min(timing.later_wall, float(wall))
            timing.later_cpu = min(timing.later_cpu, float(cpu))
            timing.memory = max(timing.memory, once.memory)
    return timings


def require_equal(timings: dict[str, Timing]) -> None:
    """Check that all packages find the same distance between first and last."""
    distances = {n: float(t.result) for n, t in timings.items() if t.result != "None"}
    ours = distances[next(iter(PACKAGES))]
    if any(abs(distance - ours) > APART for distance in distances.values()):
        raise SystemExit(f"Not the same scores: {distances}")


def table(timings: dict[str, Timing]) -> str:
    """Return the table of one file."""
    header = ["", *("process, wall s", "ratio", "CPU s", "ratio")]
    header += [*("later call, wall s", "ratio", "CPU s", "ratio"), "GiB"]
    ours = timings[next(iter(PACKAGES))]
    rows = []
    for name, timing in timings.items():
        row = [name]
        for measure in ("wall", "cpu", "later_wall", "later_cpu"):
            seconds = getattr(timing, measure)
            row += [f"{seconds:.3g}", f"{seconds / getattr(ours, measure):.2g}"]
        rows.append([*row, f"{timing.memory:.2f}"])
    return markdown(header, rows)


if __name__ == "__main__":
    main()
