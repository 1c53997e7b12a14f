"""What work costs in a process of its own, and where its numbers go: a CSV file with a row a run, and a page."""

import argparse
import multiprocessing
import os
import platform
import shlex
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import polars as pl

HERE = Path(__file__).parent
RESULTS = HERE / "results"
DATA = Path(os.environ.get("BAYES_ARENA_DATA") or HERE.parents[1] / "shared" / "data")
"""Where ``llmfao.csv`` and ``mt_bench_human.csv`` are; what is absent is skipped."""
FILES = {"LLMFAO": DATA / "llmfao.csv", "MT-bench": DATA / "mt_bench_human.csv"}


class Clock:
    """Seconds on the clock and of the processor (all threads) since it was made, or since the last lap."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def lap(self) -> dict[str, float]:
        """Return what has passed, and start anew."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        self.__init__()
        return {"wall_s": wall, "cpu_s": cpu}


def timed[T](work: Callable[[], T]) -> tuple[T, float, float]:
    """Return a result, the seconds that passed until it was there, and those of the processor."""
    clock = Clock()
    result = work()
    return result, *clock.lap().values()


def peak_mib() -> float:
    """Return the largest memory that this process has held, imports included, since it was last forgotten."""
    status = Path("/proc/self/status")
    if status.is_file():  # what getrusage says counts the process that this one was started from
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 2**10
    import resource  # not there on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak() -> None:
    """Let the largest memory be what is held now; only Linux can."""
    if (found := Path("/proc/self/clear_refs")).exists():
        found.write_text("5")


@dataclass(frozen=True)
class Unfinished:
    """Work that came to no end: why, in a few words."""

    why: str


def in_own_process(work: Callable[..., Any], *given: object, limit: float = 600.0, gib: float = 12.0) -> Any:
    """Return what a function of a script returns in a fresh process, or :class:`Unfinished`.

    Parameters
    ----------
    work : callable
        At the top of its module.
    *given
        What it takes.
    limit, gib : float
        Seconds after which it is stopped, and memory that it may ask for.
    """
    fresh = multiprocessing.get_context("spawn")
    ours, theirs = fresh.Pipe(duplex=False)
    process = fresh.Process(target=_send, args=(theirs, work, given, gib))
    process.start()
    theirs.close()
    try:
        if not ours.poll(limit):
            return Unfinished(f"not finished after {limit:.0f} s")
        return ours.recv()
    except EOFError:
        process.join()
        return Unfinished(f"the process ended with {process.exitcode}")
    finally:
        process.kill()
        process.join()


def attempt(
    row: Mapping[str, object], needs: Sequence[str], work: Callable[..., dict[str, Any]], *given: object, limit: float
) -> dict[str, Any]:
    """Return a row with what work finds in a process of its own, or with a note that says why there is nothing.

    Parameters
    ----------
    row : mapping
        What is known before; it is what stderr hears.
    needs : sequence of str
        Packages without which there is nothing to try; the row gets the version of the first.
    work, *given, limit
        As for :func:`in_own_process`; what it returns is added to the row.
    """
    about = {**row, "version": installed(needs[0]), "note": None}
    if missing := [package for package in dict.fromkeys(needs) if not installed(package)]:
        return about | {"note": f"{', '.join(missing)} not installed"}
    print(*row.values(), sep=", ", file=sys.stderr)
    found = in_own_process(work, *given, limit=limit)
    return about | ({"note": found.why} if isinstance(found, Unfinished) else found)


def _send(pipe: Connection, work: Callable[..., Any], given: tuple[object, ...], gib: float) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (int(gib * 2**30),) * 2)
    try:
        with quiet():
            pipe.send(work(*given))
    except Exception as error:
        traceback.print_exc()
        pipe.send(Unfinished(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"))


@contextmanager
def quiet() -> Iterator[None]:
    """Keep warnings to itself, and send to stderr what a package prints."""
    kept, sys.stdout = sys.stdout, sys.stderr
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.stdout = kept


def installed(package: str) -> str | None:
    """Return the version of a package, None if it is not there."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def options_of(description: str | None, **numbers: float) -> argparse.ArgumentParser:
    """Return the options of a script: its text as it stands, and one for each number, which is the default."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        options.add_argument(f"--{name}", type=type(default), default=default)
    return options


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return the options that every script of a page has."""
    options = options_of(description)
    options.add_argument("--into", type=Path, default=RESULTS, help="the folder of the CSV file and the page")
    return options


def keep(folder: Path, name: str, runs: Sequence[Mapping[str, object]], *, by: str | None = None) -> pl.DataFrame:
    """Write runs to ``NAME.csv`` and return them; with ``by``, runs of other values of this column stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    table, before = pl.DataFrame(list(runs), infer_schema_length=None), kept(folder, name)
    if by and len(before):
        others = before.filter(~pl.col(by).is_in(table[by].unique().to_list()))
        table = pl.concat([others, table], how="diagonal_relaxed")
    table.write_csv(folder / f"{name}.csv")
    return table


def kept(folder: Path, name: str) -> pl.DataFrame:
    """Return the runs of ``NAME.csv``, none where there is no file."""
    path = folder / f"{name}.csv"
    nothing = pl.DataFrame(schema=dict.fromkeys(("row", "tool", "note"), pl.String))
    return pl.read_csv(path, infer_schema_length=None) if path.is_file() else nothing


def publish(folder: Path, name: str, title: str, parts: Iterable[str], *, beside: Sequence[str] = ()) -> None:
    """Write ``NAME.md``: the title, the command, the parts, and what it ran on.

    ``beside`` names packages that are not of the group: those that are there came by ``--with``.
    """
    others = [word for package in beside if installed(package) for word in ("--with", package)]
    words = ["--group", "benchmark", *others, "python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]]
    page = [f"# {title}", f"`uv run {shlex.join(words)}`", *parts, machine()]
    (folder / f"{name}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    print(folder / f"{name}.md", file=sys.stderr)


def machine() -> str:
    return f"Python {platform.python_version()} on {platform.system()}, {os.cpu_count()} processors."


def markdown(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; its first column is of words, the others are of numbers."""
    lines = [f"| {' | '.join(header)} |", f"|{'|'.join(['---', *['---:'] * (len(header) - 1)])}|"]
    return "\n".join(lines + [f"| {' | '.join(map(str, row))} |" for row in rows])


def digits(number: float | None) -> str:
    """Return a number with three digits that count."""
    if number is None:
        return ""
    return f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
