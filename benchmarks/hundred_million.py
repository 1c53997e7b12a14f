r"""Files of many votes: time, processor time and memory of whole processes.

    uv run python benchmarks/hundred_million.py [--votes 100000000] [--rounds 3] > benchmarks/results/hundred_million.md

Votes are of 129 competitors, drawn by Bradley and Terry's model with ties; files are written to a temporary folder, and
stand in the memory that the system keeps of files: each has been read once before. Every run is a process of its own: a
bare group-by of Polars, which only counts, the command, or `read_votes`. They run in turn, and who begins changes from
round to round; the lines have the least seconds, and in parentheses the most. Memory is the largest resident set.
"""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from measuring import options_of

COMPETITORS, CHUNK = 129, 1_000_000
LABELS = ("model_a", "model_b", "tie")
BARE = """
import sys
import polars as pl
path, *keys = sys.argv[1:]
scan = pl.scan_parquet(path) if path.endswith("parquet") else pl.scan_csv(path, infer_schema=False)
print(scan.group_by(keys).len().collect(engine="streaming").height)
"""
READ = "import sys, bayes_arena as ba; print(ba.read_votes(sys.argv[1]))"
WATCH = """
import os, subprocess, sys, time
start = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, process.returncode)
"""
"""A small process that starts the measured one: Linux counts the memory of who started it as its own."""
COMMAND = [sys.executable, "-m", "bayes_arena", "rank", "--model", "m-elo"]


def votes(count: int, annotators: int) -> Iterator[pa.Table]:
    """Draw votes in chunks."""
    rng = np.random.default_rng(7)
    strength = rng.normal(size=COMPETITORS)
    names = {"model": [f"model-{index:03}" for index in range(COMPETITORS)], "winner": list(LABELS)}
    names["judge"] = [f"user-{index:07}" for index in range(annotators)]
    for start in range(0, count, CHUNK):
        size = min(CHUNK, count - start)
        a, shift = rng.integers(COMPETITORS, size=size), rng.integers(1, COMPETITORS, size=size)
        b = (a + shift) % COMPETITORS
        eta = strength[a] - strength[b]
        shares = np.cumsum(np.exp([eta / 2, -eta / 2, np.full(size, -0.4)]), axis=0)
        outcome = (rng.random(size) * shares[2] > shares[:2]).sum(axis=0)
        codes = {"model_a": ("model", a), "model_b": ("model", b), "winner": ("winner", outcome)}
        if annotators:
            codes["judge"] = ("judge", rng.integers(annotators, size=size))
        yield pa.table({name: pa.array(names[of]).take(pa.array(code)) for name, (of, code) in codes.items()})


def write(path: Path, count: int, annotators: int) -> None:
    chunks = votes(count, annotators)
    first = next(chunks)
    open_writer = pyarrow.parquet.ParquetWriter if path.suffix == ".parquet" else pyarrow.csv.CSVWriter
    with open_writer(path, first.schema) as writer:
        writer.write(first)
        for chunk in chunks:
            writer.write(chunk)


def measured(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return seconds, seconds of processor and memory in GB."""
    done = subprocess.run([sys.executable, "-S", "-c", WATCH, *command], stdout=subprocess.PIPE, text=True, check=True)
    wall, cpu, kib, code = map(float, done.stdout.split())
    if code:
        raise RuntimeError(f"{command} ended with {code:.0f}.")
    return wall, cpu, kib * 1024 / 1e9


def in_turn(commands: dict[str, list[str]], rounds: int) -> dict[str, list[tuple[float, float, float]]]:
    """Run commands in turn, forwards and backwards, after each has run once."""
    taken: dict[str, list[tuple[float, float, float]]] = {name: [] for name in commands}
    names = list(commands)
    for turn in range(-1, rounds):
        for name in names if turn % 2 else names[::-1]:
            found = measured(commands[name])
            if turn >= 0:
                taken[name].append(found)
    return taken


def report(folder: Path, suffix: str, count: int, rounds: int, annotators: int = 0) -> None:
    path = folder / f"votes{suffix}"
    write(path, count, annotators)
    keys = ["model_a", "model_b", "winner"]
    runs = {"count by Polars": [sys.executable, "-c", BARE, str(path), *keys]}
    runs["`rank --model m-elo`"] = [*COMMAND, str(path)]
    if annotators:
        runs["count by Polars, with annotators"] = [*runs["count by Polars"], "judge"]
        runs["`read_votes`, with annotators"] = [sys.executable, "-c", READ, str(path)]
    about = f"{suffix[1:]}, {path.stat().st_size / 1e6:,.0f} MB"
    for name, laps in in_turn(runs, rounds).items():
        wall, cpu, memory = (f"{min(column):.2f} ({max(column):.2f})" for column in zip(*laps, strict=True))
        print(f"| {count:,} | {annotators:,} | {about} | {name} | {wall} | {cpu} | {memory} |", flush=True)
    path.unlink()


def main() -> None:
    parser = options_of(__doc__, rounds=3)
    parser.add_argument("--votes", type=int, default=10**8, help="of the largest file")
    given = parser.parse_args()
    print(f"    uv run python {shlex.join(['benchmarks/hundred_million.py', *sys.argv[1:]])}\n")
    print((__doc__ or "").split("\n\n")[-1])
    print(f"Polars {pl.__version__}, {os.cpu_count()} processors, {given.rounds} rounds.\n")
    print("| votes | annotators | file | | seconds | processor seconds | GB |\n|---:|---:|---|---|---:|---:|---:|")
    middle, failed = min(10**7, given.votes), []
    files = [(".parquet", count, 0) for count in (10**6, 10**7, 10**8) if count <= given.votes]
    with tempfile.TemporaryDirectory() as folder:
        for suffix, count, annotators in [*files, (".csv", middle, 0), (".parquet", middle, 61_003)]:
            try:
                report(Path(folder), suffix, count, given.rounds, annotators)
            except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
                failed.append(f"{count:,} {suffix}: {error}")
    print("".join(f"\nNot measured: {why}\n" for why in failed), end="")
    if failed:
        raise SystemExit("; ".join(failed))


if __name__ == "__main__":
    main()
