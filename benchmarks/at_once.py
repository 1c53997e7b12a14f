"""Many at once: start methods, threads, and processes that share an arena, a file or a cold cache.

    uv run python benchmarks/at_once.py [PART] > benchmarks/results/at_once.md

Linux. Each worker gives the answer of one that is alone, or says in one line why not; an arena has every vote once and
every round whole; a file is that of one of the writers, whole, and nothing stands beside it. ``PART`` is a regular
expression of what is tried. Exits with 1 if anything is not so.
"""

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pandas as pd
import polars as pl

import bayes_arena as ba

THREADS, PROCESSES, TIMES = 8, 4, 16
PATIENCE = 60
"""Seconds until a worker is said to hang."""
BUSY = "is in use by process"


def votes() -> pl.DataFrame:
    return ba.simulate(votes=400, competitors=5, annotators=8, anomalous=1, seed=5).votes


def board(source: pl.DataFrame | ba.Cells) -> pd.DataFrame:
    with warnings.catch_warnings(action="ignore"):
        return ba.leaderboard(ba.fit(source if isinstance(source, ba.Cells) else ba.read_votes(source)))


def differing(found: list[object], expected: object) -> str:
    """Say which answers are not the one expected, to nine digits: the threads that BLAS has left move the last bits."""
    same = [isinstance(one, pd.DataFrame) and one.round(9).equals(expected.round(9)) for one in found]
    return "" if all(same) else f"{same.count(False)} of {len(same)} differ: {found[same.index(False)]!r:.200}"


def answer(to_parent: Connection, source: pl.DataFrame | ba.Cells) -> None:
    try:
        to_parent.send(board(source))
    except ba.ArenaError as error:
        to_parent.send(error)


def started(method: str, source: pl.DataFrame | ba.Cells) -> list[object]:
    """Return the boards of processes, or their errors."""
    context, workers = multiprocessing.get_context(method), []
    for _ in range(PROCESSES):
        ours, theirs = context.Pipe(duplex=False)
        workers.append((ours, context.Process(target=answer, args=(theirs, source))))
        workers[-1][1].start()
        theirs.close()
    found: list[object] = []
    for ours, process in workers:
        try:
            found.append(ours.recv() if ours.poll(PATIENCE) else "no answer")
        except EOFError:
            found.append("died")
        process.kill()
        process.join()
    return found


def start_methods(_: Path) -> Iterator[tuple[str, int, str]]:
    table = votes()
    expected = board(table)
    for method in ("spawn", "forkserver"):
        yield f"processes by {method}", PROCESSES, differing(started(method, table), expected)
    refused = [isinstance(one, ba.errors.ForkError) for one in started("fork", table)]
    yield "processes by fork that read and fit, after a fit: refused", PROCESSES, "" if all(refused) else f"{refused}"
    yield (
        "processes by fork that fit what is read, after a fit",
        PROCESSES,
        differing(started("fork", ba.read_votes(table)), expected),
    )
    code = (
        "import os, sys\nsys.path.insert(0, sys.argv[1])\nimport at_once\n"
        "if os.fork():\n    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))\n"
        "print(at_once.board(at_once.votes()).to_csv())\n"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    same = (done.returncode, done.stdout) == (0, expected.to_csv() + "\n")
    yield (
        "a process by fork that reads and fits, before a fit",
        1,
        "" if same else f"{done.returncode} {done.stderr[-200:]!r}",
    )


def in_threads(work: Callable[[int], object], times: int = TIMES) -> list[object]:
    """Return the results or errors of work in threads."""

    def one(number: int) -> object:
        try:
            return work(number)
        except Exception as error:
            return error

    with ThreadPoolExecutor(THREADS) as pool, warnings.catch_warnings(action="ignore"):
        return list(pool.map(one, range(times)))


def threads(folder: Path) -> Iterator[tuple[str, int, str]]:
    table = votes()
    fit, expected = ba.fit(ba.read_votes(table)), board(table)
    found = in_threads(lambda _: board(table))
    yield "threads that read and fit", TIMES, differing(found, expected)
    others = [table[:-number] if number else table for number in range(TIMES)]
    alone = [board(other) for other in others]
    found = in_threads(lambda number: board(others[number]))
    wrong = next((said for one, own in zip(found, alone, strict=True) if (said := differing([one], own))), "")
    yield "threads that read and fit votes of their own", TIMES, wrong
    page, cells = ba.report(fit), fit.cells
    page.save(folder / "alone.html")
    text = (folder / "alone.html").read_text()
    writers: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
        "fit.nc": (partial(ba.save, fit), lambda path: ba.leaderboard(ba.load(path))),
        "fit.zarr": (partial(ba.save, fit), lambda path: ba.leaderboard(ba.load(path))),
        "cells.parquet": (cells.save, lambda path: board(ba.read_votes(path))),
        "page.html": (page.save, lambda path: expected if path.read_text() == text else "another page"),
    }
    for name, (write, read) in writers.items():
        place = folder / name.replace(".", "-")
        place.mkdir()
        found = in_threads(lambda _, write=write, path=place / name: write(path))
        odd = [one for one in found if isinstance(one, Exception) and not isinstance(one, ba.ArenaError)]
        wrong = f"{odd[0]!r}" if odd else ""
        if [path.name for path in place.iterdir()] != [name]:
            wrong += f" beside it: {sorted(path.name for path in place.iterdir())}"
        wrong += differing([read(place / name)], ba.leaderboard(ba.load(place / name)) if ".nc" in name else expected)
        refused = sum(isinstance(one, ba.ArenaError) for one in found)
        yield f"threads that write one {name}" + f", {refused} refused" * (refused > 0), TIMES, wrong


def whole(path: Path, size: int) -> str:
    """Say what is wrong with an arena that has so many votes."""
    with ba.StableArena(path, read_only=True) as arena, arena._store.read() as session:
        (stored, different), *_ = session.rows("select count(*), count(distinct id) from vote")
        rounds = session.rows(
            "select round, competitors, (select count(*) from rating x where x.round = r.round) from round r"
        )
    numbers = sorted(number for number, _, _ in rounds)
    wrong = [] if stored == different == size else [f"{stored} votes, {different} of them different, and not {size}"]
    wrong += [] if numbers == list(range(1, len(rounds) + 1)) else [f"rounds {numbers}"]
    wrong += [f"round {number} has {has} of {of}" for number, of, has in rounds if has != of]
    return "; ".join(wrong)


def arenas(folder: Path) -> Iterator[tuple[str, int, str]]:
    table = votes().with_row_index("id").with_columns(id=pl.col("id").cast(pl.String))
    parts = [table[number::TIMES] for number in range(TIMES)]

    def at_work(arena: ba.StableArena, number: int) -> None:
        arena.add(parts[number], id="id")
        arena.add(parts[number - 1], id="id")
        rated = number % 4 != 3
        while not rated:
            try:
                arena.rate(model="bradley-terry")
                rated = True
            except ba.errors.StoreError as error:
                if "Rate again" not in str(error):
                    raise
        arena.history(), arena.annotators()

    with ba.StableArena.create(folder / "shared.duckdb") as arena:
        found = in_threads(lambda number: at_work(arena, number))
    odd = "; ".join(f"{one!r}" for one in found if one is not None)
    yield "threads that add, rate and read, one StableArena", TIMES, odd or whole(folder / "shared.duckdb", len(table))

    def of_its_own(number: int) -> int:
        refused = 0
        while True:
            try:
                with ba.StableArena(folder / "own.duckdb") as arena:
                    at_work(arena, number)
                return refused
            except ba.errors.StoreError:
                refused += 1
                if refused > 1000:
                    raise

    ba.StableArena.create(folder / "own.duckdb").close()
    found = in_threads(of_its_own)
    odd = "; ".join(f"{one!r}" for one in found if not isinstance(one, int))
    tries = sum(one for one in found if isinstance(one, int))
    what = f"threads that add, rate and read, a StableArena each; {tries} refused and tried again"
    yield what, TIMES, odd or whole(folder / "own.duckdb", len(table))

    path = folder / "processes.duckdb"
    ba.StableArena.create(path).close()
    tries, wrong = 0, []
    for number, part in enumerate(parts):
        part.write_csv(folder / f"{number}.csv")

    def by_command(number: int) -> int:
        refused = 0
        while True:
            done = command("arena", "add", str(path), str(folder / f"{number}.csv"), "--id", "id")
            if done.returncode == 0:
                return refused
            if done.returncode != 2 or len(done.stderr.splitlines()) != 1 or BUSY not in done.stderr:
                raise ValueError(f"{done.returncode} {done.stderr[-300:]!r}")
            refused += 1

    with ThreadPoolExecutor(PROCESSES) as pool:
        for ended in [pool.submit(by_command, number) for number in range(TIMES)]:
            try:
                tries += ended.result()
            except ValueError as error:
                wrong.append(str(error))
    what = f"processes that add to one arena, four at a time; {tries} refused and tried again"
    yield what, TIMES, "; ".join(wrong) or whole(path, len(table))


def command(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in (os.environ | env).items() if value}
    whole_command = [sys.executable, "-m", "bayes_arena", *words]
    return subprocess.run(whole_command, env=given, capture_output=True, text=True, check=False, timeout=5 * PATIENCE)


def together(*words: str, size: int = PROCESSES, **env: str) -> list[subprocess.CompletedProcess[str]]:
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(lambda _: command(*words, **env), range(size)))


def shown(path: Path) -> str:
    """Return a text, or the board of a fit."""
    fits = path.suffix in (".nc", ".zarr")
    return command("rank", str(path), "--format", "csv").stdout if fits else path.read_text()


def commands(folder: Path) -> Iterator[tuple[str, int, str]]:
    source = folder / "votes.csv"
    votes().write_csv(source)
    rank = ("rank", str(source), "--format", "csv")
    plain = command(*rank)
    for what, env in {
        "processes, one cold cache of compiled code": {"NUMBA_CACHE_DIR": str(folder / "cold")},
        "processes, no cache that can be written": {"NUMBA_CACHE_DIR": "/dev/null/cache", "HOME": "/dev/null/home"},
    }.items():
        ends = together(*rank, **env)
        odd = [end for end in ends if (end.returncode, end.stdout) != (0, plain.stdout)]
        wrong = [f"{end.returncode} {end.stderr[-200:]!r}" for end in odd]
        yield what, len(ends), "; ".join(wrong)
    ba.save(ba.fit(ba.read_votes(source)), folder / "fit.nc")
    for words, name in (("fit", "a.nc"), ("fit", "a.zarr"), ("report", "a.html"), ("rank", "a.json")):
        path = folder / name.replace(".", "-") / name
        path.parent.mkdir()
        asked = (words, str(source if words == "fit" else folder / "fit.nc"), "-o", str(path))
        command(*asked)
        alone = shown(path)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        ends = together(*asked)
        wrong = [f"{end.returncode} {end.stderr[-200:]!r}" for end in ends if end.returncode not in (0, 2)]
        wrong += [f"{end.stderr[-300:]!r}" for end in ends if "Traceback" in end.stderr]
        beside = sorted(one.name for one in path.parent.iterdir())
        wrong += [f"beside it: {beside}"] if beside != [name] else ["it differs"] * (shown(path) != alone)
        refused = [end.stderr.splitlines()[-1] for end in ends if end.returncode == 2]
        what = f"processes that write one {name}" + f", {len(refused)} refused: {refused[:1]}" * bool(refused)
        yield what, len(ends), "; ".join(wrong)


def sampled(folder: Path) -> Iterator[tuple[str, int, str]]:
    source = folder / "votes.csv"
    votes().write_csv(source)
    asked = ("rank", str(source), "--model", "bradley-terry", "--format", "csv", "--method", "nuts")
    cold = {"NUMBA_CACHE_DIR": str(folder / "n"), "PYTENSOR_FLAGS": f"base_compiledir={folder / 'p'}"}
    plain = command(*asked)
    nowhere = {"NUMBA_CACHE_DIR": "", "HOME": "/dev/null/home", "PYTENSOR_FLAGS": ""}
    for what, env, size in (
        ("NUTS in processes, one cold cache of PyTensor", cold, 2),
        ("NUTS, a HOME that cannot be written", nowhere, 1),
    ):
        ends = together(*asked, size=size, **env)
        odd = [
            end for end in ends if end.returncode not in (0, 2) or (not end.returncode and end.stdout != plain.stdout)
        ]
        wrong = [f"{end.returncode} {end.stderr[-300:]!r}" for end in odd]
        refused = [end.stderr.splitlines()[-1] for end in ends if end.returncode == 2]
        yield what + f", {len(refused)} refused: {refused[:1]}" * bool(refused), size, "; ".join(wrong)


def main() -> None:
    part, wrong = re.compile(sys.argv[1] if len(sys.argv) > 1 else ""), False
    print("| at once | workers | wrong |\n|---|---:|---|")
    for tried in (start_methods, threads, arenas, commands, sampled):
        if not part.search(tried.__name__):
            continue
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
            for what, size, said in tried(Path(folder)):
                print(f"| {what} | {size} | {said or 'nothing'} |", flush=True)
                wrong |= bool(said)
    raise SystemExit(wrong)


if __name__ == "__main__":
    main()
