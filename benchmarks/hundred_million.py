r"""Files of many votes: time, processor time and memory of whole processes.

    uv run python benchmarks/hundred_million.py

Votes are of 129 competitors, drawn by Bradley and Terry's model with ties; files are written to a temporary folder and
deleted. Every line is a process of its own: a bare group-by of Polars, which only counts, the command, or
`read_votes`. Memory is the largest resident set.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

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
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with {process.returncode}.")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


def report(folder: Path, suffix: str, count: int, annotators: int = 0) -> None:
    path = folder / f"votes{suffix}"
    write(path, count, annotators)
    keys = ["model_a", "model_b", "winner"]
    runs = {"count by Polars": [sys.executable, "-c", BARE, str(path), *keys]}
    runs["`rank --model m-elo`"] = [*COMMAND, str(path)]
    if annotators:
        runs["count by Polars, with annotators"] = [*runs["count by Polars"], "judge"]
        runs["`read_votes`, with annotators"] = [sys.executable, "-c", READ, str(path)]
    about = f"{suffix[1:]}, {path.stat().st_size / 1e6:,.0f} MB"
    for name, command in runs.items():
        wall, cpu, memory = measured(command)
        print(f"| {count:,} | {annotators:,} | {about} | {name} | {wall:.1f} | {cpu:.1f} | {memory:.2f} |", flush=True)
    path.unlink()


if __name__ == "__main__":
    most = int(float(sys.argv[1])) if sys.argv[1:] else 10**8
    print((__doc__ or "").split("\n\n")[1], end="\n\n")
    print(f"Polars {pl.__version__}, {os.cpu_count()} cores.\n")
    print("| votes | annotators | file | | seconds | processor seconds | GB |\n|---:|---:|---|---|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for count in (10**6, 10**7, 10**8):
            if count <= most:
                report(Path(folder), ".parquet", count)
        report(Path(folder), ".csv", min(10**7, most))
        report(Path(folder), ".parquet", min(10**7, most), annotators=61_003)
