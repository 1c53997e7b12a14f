"""Fill the disk at every call that writes, and kill the writer there: nothing is lost, nothing is half made.

    uv run python benchmarks/disk_faults.py [--faults 300] [--kills 100] [--seed 0] > benchmarks/results/disk_faults.md

Linux, with a C compiler. ``disk_faults.c`` stands between the process and its C library and counts the calls that
change a folder: open to create, write, fsync, truncate, rename, mkdir, whoever makes them, Python, DuckDB or Polars.
The n-th fails with "No space left on device", that one or all from then on, or kills the process (SIGKILL); half of
what it was to write is written first. Between two calls nothing on the disk changes, so this meets every state that a
kill can leave.

Every writer has a place where something old stands (``create`` one where nothing does). Every call of every writer is
failed both ways, those of the writers with the most calls at random up to the number asked for. Then: what is there is
the old or the new, whole; an error is an ``ArenaError`` that names the file and the reason; without an error it is the
new, after one the old. A change to an arena whose log could not be forced to disk may be there though the error came,
as the error says: these are counted. Hidden drafts are left by kills only. The same work, done again, gives the new.
Exits with 1 at the first damage.
"""

import ctypes
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from measuring import options_of

import bayes_arena as ba
from bayes_arena.page.report import Report

FOLDER = "FAULTS_FOLDER"
KILLED = multiprocessing.get_context("forkserver")
KILLED.set_forkserver_preload(["bayes_arena.arena.stable_arena", "bayes_arena.page.report", "duckdb", "pandas"])
FULL = "No space left on device"


def votes():
    return ba.simulate(votes=800, competitors=8, annotators=12, seed=5).votes.with_row_index("id")


@cache
def fitted(which: str) -> ba.Fit:
    with warnings.catch_warnings(action="ignore"):
        return ba.fit(ba.read_votes(votes()), model="bradley-terry" if which == "new" else "m-elo", robust=False)


def cells(which: str) -> ba.Cells:
    return ba.read_votes(votes() if which == "new" else votes().head(300))


def page(which: str) -> Report:
    return Report(which * 100_000)


def arena_with(path: Path, *, added: int, rated: int = 0) -> None:
    with ba.StableArena.create(path) as arena:
        if added:
            arena.add(votes().head(added), id="id")
        for _ in range(rated):
            arena.rate(model="bradley-terry", robust=False)


def add(path: Path) -> None:
    with ba.StableArena(path) as arena:
        arena.add(votes(), id="id")


def rate(path: Path) -> None:
    with ba.StableArena(path) as arena:
        if not len(arena.rounds()):  # done again, it is not to hold a second
            arena.rate(model="bradley-terry", robust=False)


def same(one: ba.Cells, other: ba.Cells) -> bool:
    return (one.competitors, one.annotators) == (other.competitors, other.annotators) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("a", "b", "annotator", "counts")
    )


def state_of_arena(path: Path) -> str:
    """Name what an arena holds, and hold its tables to one another."""
    if not path.exists():
        return "nothing"
    with ba.StableArena(path) as arena, arena._store.read() as session:
        ((stored,),) = session.rows("select count(*) from vote")
        if stored and not same(arena.cells(), ba.read_votes(votes().head(stored))):
            return f"{stored} votes with other cells"
        competitors = [n for (n,) in session.rows("select competitors from round order by round")]
        rated = [n for (n,) in session.rows("select count(*) from rating group by round order by round")]
        return f"{stored} votes, {len(rated)} rounds" if competitors == rated else "half a round"


def state_of_fit(path: Path) -> str:
    return "new" if ba.load(path).model == fitted("new").model else "old"


@dataclass(frozen=True)
class Writer:
    """What writes a file of this name, where what stands, and what may be there afterwards."""

    file: str
    prepare: Callable[[Path], object]
    write: Callable[[Path], object]
    state: Callable[[Path], str]
    old: str = "old"
    new: str = "new"


WRITERS = {
    "StableArena.create": Writer(
        "arena.duckdb",
        lambda path: None,
        lambda path: None if path.exists() else ba.StableArena.create(path).close(),
        state_of_arena,
        "nothing",
        "0 votes, 0 rounds",
    ),
    "StableArena.add": Writer(
        "arena.duckdb",
        lambda path: arena_with(path, added=300),
        add,
        state_of_arena,
        "300 votes, 0 rounds",
        "800 votes, 0 rounds",
    ),
    "StableArena.rate": Writer(
        "arena.duckdb",
        lambda path: arena_with(path, added=300),
        rate,
        state_of_arena,
        "300 votes, 0 rounds",
        "300 votes, 1 rounds",
    ),
    "Report.save": Writer(
        "page.html",
        lambda path: page("old").save(path),
        lambda path: page("new").save(path),
        lambda path: {page(which).html: which for which in ("old", "new")}.get(path.read_text(), "half"),
    ),
    "Cells.save": Writer(
        "cells.parquet",
        lambda path: cells("old").save(path),
        lambda path: cells("new").save(path),
        lambda path: "new" if same(ba.read_cells(path), cells("new")) else "old",
    ),
    "save, .nc": Writer(
        "fit.nc", lambda path: ba.save(fitted("old"), path), lambda path: ba.save(fitted("new"), path), state_of_fit
    ),
    "save, .zarr": Writer(
        "fit.zarr", lambda path: ba.save(fitted("old"), path), lambda path: ba.save(fitted("new"), path), state_of_fit
    ),
}


def shim() -> ctypes.CDLL:
    library = ctypes.CDLL(None)
    library.faults_calls.restype, library.faults_arm.argtypes = (
        ctypes.c_long,
        [ctypes.c_long, ctypes.c_int, ctypes.c_int],
    )
    return library


def calls_of(writer: Writer, path: Path) -> int:
    """Count the calls of a writer, after a first time, in which things are imported and compiled."""
    for _ in range(2):
        begin(writer, path)
        shim().faults_arm(-1, 0, 0)
        writer.write(path)
        found = shim().faults_calls()
        require(writer.state(path) == writer.new, f"without a fault the new is there, not {writer.state(path)}")
    return found


def begin(writer: Writer, path: Path) -> None:
    """Put what is old in its place, and nothing else."""
    kept = path.parent.with_name(f"{path.parent.name}-old")
    if not kept.exists():
        kept.mkdir()
        writer.prepare(kept / path.name)
    shutil.rmtree(path.parent, ignore_errors=True)
    shutil.copytree(kept, path.parent)


def fault(writer: Writer, path: Path, at: int, *, lasting: bool) -> str:
    """Fail one call, and say what became of the work."""
    begin(writer, path)
    refused = None
    shim().faults_arm(at, lasting, 0)
    try:
        writer.write(path)
    except ba.ArenaError as error:
        refused = str(error)
    finally:
        shim().faults_arm(-1, 0, 0)
    require(
        refused is None or (repr(str(path)) in refused and FULL in refused), f"file and reason are named: {refused}"
    )
    require({one.name for one in path.parent.iterdir()} <= {path.name, path.name + ".wal"}, "no draft is left")
    return outcome(writer, path, "said to be done" if refused is None else "refused")


def outcome(writer: Writer, path: Path, said: str) -> str:
    """Hold what is there to what was said, and do the work again."""
    state = writer.state(path)
    require(state in (writer.old, writer.new), f"the old or the new is there, not {state}")
    if said == "said to be done":
        require(state == writer.new, "what is said to be done is done")
    elif said == "refused" and not path.name.endswith(".duckdb"):
        require(state == writer.old, "what is refused is not done")
    writer.write(path)
    require(writer.state(path) == writer.new, "done again, it is the new")
    return f"{said}, {'new' if state == writer.new else 'old'}"


def work(name: str, path: Path, at: int) -> None:
    """Write, in a process of its own, until the call that kills it."""
    writer = WRITERS[name]
    fitted("new")
    shim().faults_arm(at, 0, 1)
    writer.write(path)


def kill(name: str, path: Path, at: int) -> str:
    begin(WRITERS[name], path)
    process = KILLED.Process(target=work, args=(name, path, at))
    process.start()
    process.join()
    require(process.exitcode == -signal.SIGKILL, f"the process was killed, not ended with {process.exitcode}")
    return outcome(WRITERS[name], path, "killed")


def require(holds: object, what: str) -> None:
    if not holds:
        raise SystemExit(f"DAMAGE: not so: {what}")


def main() -> None:
    options = options_of(__doc__, faults=300, kills=100, seed=0).parse_args()
    if FOLDER not in os.environ:
        raise SystemExit(with_the_shim())
    rng, found = np.random.default_rng(options.seed), {name: Counter() for name in WRITERS}
    paths = {name: Path(os.environ[FOLDER]) / str(n) / writer.file for n, (name, writer) in enumerate(WRITERS.items())}
    calls = {name: calls_of(writer, paths[name]) for name, writer in WRITERS.items()}
    every = [(name, at, lasting) for name in WRITERS for at in range(calls[name]) for lasting in (False, True)]
    often = Counter(name for name, _, _ in every)
    order = sorted(
        rng.permutation(len(every)), key=lambda one: often[every[one][0]]
    )  # all of the writers with few calls
    for done, one in enumerate(order[: options.faults]):
        name, at, lasting = every[one]
        found[name][fault(WRITERS[name], paths[name], at, lasting=lasting)] += 1
        print(f"\r{done + 1} faults", end="", file=sys.stderr)
    for done in range(options.kills):
        name = str(rng.choice(list(WRITERS)))
        found[name][kill(name, paths[name], int(rng.integers(calls[name])))] += 1
        print(f"\r{done + 1} kills ", end="", file=sys.stderr)
    total = sum(found.values(), Counter())
    killed = sum(number for what, number in total.items() if what.startswith("killed"))
    print(f"{total.total() - killed} full disks and {killed} kills: no damage\n")
    columns = ["refused, old", "refused, new", "said to be done, new", "killed, old", "killed, new"]
    print("| writer | calls |", " | ".join(columns), "|")
    print("|---|" + "---:|" * (1 + len(columns)))
    for name in WRITERS:
        print("|", name, "|", calls[name], "|", " | ".join(str(found[name][what]) for what in columns), "|")


def with_the_shim() -> int:
    """Run this script again, with what stands between it and the C library."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "disk_faults.so"
        source = Path(__file__).with_suffix(".c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
        place = Path(folder) / "written"
        place.mkdir()
        environment = os.environ | {FOLDER: str(place), "LD_PRELOAD": str(library)}
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode


if __name__ == "__main__":
    main()
