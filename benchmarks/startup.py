"""What a whole process costs: `rank` on 9,000 votes, and reading a million votes with annotators that no model uses.

    uv run python benchmarks/startup.py [--runs 7]

Prints Markdown tables of CPU seconds (user and system, medians of runs in turn), which a busy machine stretches: ratios
are what to quote. Looks for ``llmfao.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``). The first run of each
command, which compiles bytecode, does not count.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars as pl
from measuring import FILES, options_of, timed

import bayes_arena as ba
from bayes_arena.markup import percent

VOTES, ANNOTATORS, COMPETITORS = 1_670_000, 61_003, 129
BARE = """
import sys, polars as pl
scan = pl.scan_csv if sys.argv[1].endswith("csv") else pl.scan_parquet
scan(sys.argv[1]).group_by("model_a", "model_b", "winner").agg(pl.len()).collect(engine="streaming")
"""
STAGES = """
import sys, time, io, warnings
seconds, clock = {}, time.process_time
warnings.simplefilter("ignore")
def taken(name, since):
    seconds[name] = seconds.get(name, 0.0) + clock() - since
seconds["Python"] = clock()
start = clock()
from bayes_arena.__main__ import main
taken("imports: command line", start)
start = clock()
import bayes_arena.ratings.leaderboard, bayes_arena.fits.fitting as fitting
import bayes_arena.votes.reading.read_votes as table
from bayes_arena.cli.output import Output
taken("imports: NumPy, Polars, SciPy, the package", start)
def timed(owner, attribute, name):
    function = getattr(owner, attribute)
    def run(*given, **named):
        start = clock()
        try:
            return function(*given, **named)
        finally:
            taken(name, start)
    setattr(owner, attribute, run)
timed(table, "read_votes", "reading")
timed(fitting, "discounted", "which votes count")
timed(fitting, "fit", "fit")
timed(bayes_arena.ratings.leaderboard, "leaderboard_columns", "leaderboard")
timed(Output, "write", "printing")
imported = set(seconds)
real, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
start = clock()
try:
    main()
except SystemExit:
    pass
whole = clock() - start
sys.stdout = real
seconds["fit"] -= seconds.get("which votes count", 0.0)
seconds["options (Typer, pydantic)"] = whole - sum(seconds[name] for name in set(seconds) - imported)
for name, value in seconds.items():
    print(name, value, sep="\\t")
"""


def cpu_seconds(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return (after.children_user - before.children_user) + (after.children_system - before.children_system)


def in_turn(tasks: Mapping[str, Callable[[], float]], runs: int) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for run in range(runs + 1):  # the first warms up
        for name, task in tasks.items():
            if run:
                taken[name].append(task())
            else:
                task()
    return {name: statistics.median(values) for name, values in taken.items()}


def print_table(first: str, seconds: Mapping[str, float]) -> None:
    bare = next(iter(seconds.values()))
    print(f"| {first} | CPU seconds | times bare Polars |\n|---|---:|---:|")
    for name, value in seconds.items():
        print(f"| {name} | {value:.3f} | {value / bare:.2f} |")
    print()


def program(*arguments: str | Path) -> Callable[[], float]:
    command = [sys.executable, "-m", "bayes_arena", *map(str, arguments)]
    return lambda: cpu_seconds(command)


def bare_process(path: Path) -> Callable[[], float]:
    return lambda: cpu_seconds([sys.executable, "-c", BARE, str(path)])


def small(path: Path, runs: int) -> None:
    print(f"`{path.name}`, {path.stat().st_size / 1e6:.1f} MB, whole processes:\n")
    commands = {
        "`--help`": ["--help"],
        "`rank --help`": ["rank", "--help"],
        "`rank`": ["rank", path],
        "`rank --no-prompt`": ["rank", "--no-prompt", path],
        "`rank --no-prompt --robust off`": ["rank", "--no-prompt", "--robust", "off", path],
        "`rank --no-prompt --model m-elo`": ["rank", "--no-prompt", "--model", "m-elo", path],
    }
    tasks = {"bare Polars: import, read, group by": bare_process(path)}
    print_table("", in_turn(tasks | {name: program(*one) for name, one in commands.items()}, runs))
    for name, options in (("`rank`", []), ("`rank --no-prompt`", ["--no-prompt"])):
        laps = []
        for _ in range(runs):
            command = [sys.executable, "-c", STAGES, "rank", *options, str(path)]
            lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
            laps.append({key: float(value) for key, value in (line.split("\t") for line in lines)})
        middle = {key: statistics.median(lap[key] for lap in laps) for key in laps[0]}
        print(f"What {name} spends them on:\n\n| | CPU seconds | share |\n|---|---:|---:|")
        for key, value in middle.items():
            print(f"| {key} | {value:.3f} | {percent(value / sum(middle.values()))} |")
        print()


def large_files(folder: Path) -> list[Path]:
    """Write votes of annotators of whom half cast eight or fewer and one cast thousands."""
    rng = np.random.default_rng(0)
    activity = rng.lognormal(0.0, 1.6, ANNOTATORS)
    busy = rng.choice(ANNOTATORS, VOTES - ANNOTATORS, p=activity / activity.sum())
    annotator = rng.permutation(np.append(np.arange(ANNOTATORS), busy))
    strength, shown = rng.normal(0.0, 0.7, COMPETITORS), rng.lognormal(0.0, 0.7, COMPETITORS)
    a = rng.choice(COMPETITORS, VOTES, p=shown / shown.sum())
    b = (a + 1 + rng.choice(COMPETITORS - 1, VOTES)) % COMPETITORS
    first = rng.random(VOTES) < 1 / (1 + np.exp(strength[b] - strength[a]))
    winner = np.where(rng.random(VOTES) < 0.25, "tie", np.where(first, "model_a", "model_b"))
    names = np.array([f"model-{place:03d}" for place in range(COMPETITORS)])
    people = np.array([f"user-{place:06d}" for place in range(ANNOTATORS)])
    votes = pl.DataFrame({"model_a": names[a], "model_b": names[b], "winner": winner, "judge": people[annotator]})
    paths = [folder / "votes.parquet", folder / "votes.csv"]
    votes.write_parquet(paths[0])
    votes.write_csv(paths[1])
    return paths


def bare_group_by(path: Path) -> object:
    scan = pl.scan_csv if path.suffix == ".csv" else pl.scan_parquet
    return scan(path).group_by("model_a", "model_b", "winner").agg(pl.len()).collect(engine="streaming")


def m_elo(path: Path, **reading: bool) -> object:
    return ba.leaderboard(ba.fit(ba.read_votes(path, **reading), model="m-elo"))


def large(runs: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for path in large_files(Path(folder)):
            print(f"`{path.suffix[1:]}`, {VOTES:,} votes, {COMPETITORS} competitors, {ANNOTATORS:,} annotators:\n")
            tasks = {
                "bare Polars, without annotators": lambda path=path: timed(lambda: bare_group_by(path))[2],
                "m-elo, `annotator=False`": lambda path=path: timed(lambda: m_elo(path, annotator=False))[2],
                "m-elo, annotators kept": lambda path=path: timed(lambda: m_elo(path))[2],
            }
            print_table("within a process", in_turn(tasks, runs))
            tasks = {
                "bare Polars: import, read, group by": bare_process(path),
                "`rank --model m-elo`": program("rank", "--model", "m-elo", path),
            }
            print_table("whole processes", in_turn(tasks, runs))


def main() -> None:
    options = options_of(__doc__, runs=7).parse_args()
    print(f"    uv run python benchmarks/startup.py --runs {options.runs}\n")
    small(FILES["LLMFAO"], options.runs)
    large(options.runs)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
