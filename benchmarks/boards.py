"""A thousand boards of one file of votes: ``fit_many`` beside a loop that reads each board by itself.

    python benchmarks/boards.py --votes 1000000 > benchmarks/results/boards.md

Simulated votes of 60 competitors in 10 categories, 10 languages and 10 weeks are written to a Parquet file. Seconds are
of one process on a machine as it was, after a first small fit; ``cpu`` is what all its threads took.
"""

import argparse
import platform
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import polars as pl

import bayes_arena as ba

COMPETITORS, NAMES, SEED = 60, 10, 0
BY = ["category", "language", "week"]
LOOPED = 20
"""Boards of the loop, which all together would take too long."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--votes", type=int, default=1_000_000)
    votes = parser.parse_args().votes
    print(f"# A thousand boards\n\n```bash\n{' '.join(['python', 'benchmarks/boards.py', *sys.argv[1:]])}\n```\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "votes.parquet"
        write_votes(path, votes)
        measure(path)


def write_votes(path: Path, votes: int) -> None:
    """Write votes whose winner Bradley-Terry's model draws, three in ten of them ties."""
    rng = np.random.default_rng(SEED)
    strength = rng.normal(size=COMPETITORS)
    a = rng.integers(COMPETITORS, size=votes)
    b = (a + rng.integers(1, COMPETITORS, size=votes)) % COMPETITORS
    lost = rng.random(votes) > 1 / (1 + np.exp(strength[b] - strength[a]))
    outcome = np.where(rng.random(votes) < 0.3, 2, lost)
    columns = {"model_a": named("model", COMPETITORS)[a], "model_b": named("model", COMPETITORS)[b]}
    columns["winner"] = pl.Series(["model_a", "model_b", "tie"])[outcome]
    columns |= {kind: named(kind, NAMES)[rng.integers(NAMES, size=votes)] for kind in BY}
    pl.DataFrame(columns).write_parquet(path)


def named(kind: str, size: int) -> pl.Series:
    return pl.Series([f"{kind}-{number:02}" for number in range(size)])


def measure(path: Path) -> None:
    ba.leaderboard(ba.fit(pl.scan_parquet(path).head(1000), model="m-elo"))  # imports, and what is compiled
    cells = timed("read", lambda: ba.read_votes(path, slices=BY))
    timed("split", lambda: ba.split(cells, BY))
    boards = timed("fit_many of these cells", lambda: ba.fit_many(cells, BY, model="m-elo"))
    table = timed("leaderboards", lambda: ba.leaderboards(boards))
    del cells
    whole = timed("fit_many of the file", lambda: ba.fit_many(path, BY, model="m-elo"))
    some = list(boards)[:: max(len(boards) // LOOPED, 1)][:LOOPED]
    singles = timed(f"loop over {len(some)} of them", lambda: [alone(path, names) for names in some])
    same = all(
        ba.leaderboard(one).equals(ba.leaderboard(whole[names])) for names, one in zip(some, singles, strict=True)
    )
    each = {name: seconds for name, (seconds, _) in TIMES.items()}
    of_loop = each[f"loop over {len(some)} of them"] / len(some) * len(boards)
    print("| | seconds | cpu |\n|---|---|---|")
    for name, (seconds, cpu) in TIMES.items():
        print(f"| {name} | {seconds:.2f} | {cpu:.2f} |")
    print(
        f"\n{boards!r}, {len(table):,} rows. A loop over all boards would take {of_loop:.0f} s,"
        f" {of_loop / each['fit_many of the file']:.0f} times as long. Its boards are the same to the last bit: {same}."
    )
    print(f"\nPython {platform.python_version()}, Polars {pl.__version__}, NumPy {np.__version__}.")


TIMES = dict[str, tuple[float, float]]()


def timed[T](name: str, work: Callable[[], T]) -> T:
    wall, cpu = perf_counter(), process_time()
    result = work()
    TIMES[name] = perf_counter() - wall, process_time() - cpu
    return result


def alone(path: Path, names: tuple[str, ...]) -> ba.Fit:
    """Fit a board as if there were no others."""
    chosen = [pl.col(kind) == name for kind, name in zip(BY, names, strict=True)]
    return ba.fit(ba.read_votes(pl.scan_parquet(path).filter(*chosen), slices=BY), model="m-elo")


if __name__ == "__main__":
    main()
