"""A thousand boards of one file of votes: ``fit_many`` beside a loop that reads and fits each board by itself.

    python benchmarks/boards.py --votes 1000000 10000000 > benchmarks/results/boards.md

Simulated votes of 60 competitors in 10 categories, 10 languages and 10 weeks are written to a Parquet file, and read by
one process after a first small fit. Seconds are those that passed; CPU seconds, of all threads together, do not depend
on what else the machine had to do.
"""

import platform
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from measuring import options_of, peak_mib, timed

import bayes_arena as ba

COMPETITORS, NAMES, SEED = 60, 10, 0
BY = ["category", "language", "week"]
LOOPED = 20
"""Boards of the loop, which all together would take too long."""


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--votes", type=int, nargs="+", default=[1_000_000])
    print(f"# A thousand boards\n\n```bash\n{' '.join(['python', 'benchmarks/boards.py', *sys.argv[1:]])}\n```")
    for votes in parser.parse_args().votes:
        print(f"\n## {votes:,} votes\n", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "votes.parquet"
            write_votes(path, votes)
            measure(path)
    peak = peak_mib() / 2**10
    versions = f"Python {platform.python_version()}, Polars {pl.__version__}, NumPy {np.__version__}"
    print(f"\nPeak memory of all, writing the votes included: {peak:.1f} GiB. {versions}.")


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
    boards, *of_many = timed(lambda: ba.fit_many(path, BY, model="m-elo"))
    table, *of_tables = timed(lambda: ba.leaderboards(boards))
    cells, *of_reading = timed(lambda: ba.read_votes(path, slices=BY))
    _, *of_fitting = timed(lambda: ba.fit_many(cells, BY, model="m-elo"))
    some = list(boards)[:: len(boards) // LOOPED][:LOOPED]
    singles, *of_loop = timed(lambda: [alone(path, names) for names in some])
    same = all(
        ba.leaderboard(one).equals(ba.leaderboard(boards[names])) for names, one in zip(some, singles, strict=True)
    )
    of_loop = [time * len(boards) / len(some) for time in of_loop]
    rows = {
        "fit_many of the file": of_many,
        "reading them, once more": of_reading,
        "fit_many of the cells that were read": of_fitting,
        "leaderboards": of_tables,
        f"a loop, from {len(some)} boards of it": of_loop,
    }
    print("| | seconds | CPU seconds |\n|---|---|---|")
    for name, (wall, cpu) in rows.items():
        print(f"| {name} | {wall:.2f} | {cpu:.2f} |")
    print(
        f"\n{boards!r} of {len(cells.a):,} cells; a table of {len(table):,} rows. The loop takes "
        f"{of_loop[1] / of_many[1]:.1f} times the CPU time, and its boards are the same to the last bit: {same}."
    )


def alone(path: Path, names: tuple[str, ...]) -> ba.Fit:
    """Fit a board as if there were no others."""
    chosen = [pl.col(kind) == name for kind, name in zip(BY, names, strict=True)]
    return ba.fit(ba.read_votes(pl.scan_parquet(path).filter(*chosen), slices=BY), model="m-elo")


if __name__ == "__main__":
    main()
