"""Kill whoever writes a file, and fill the disk, at every call that writes.

    uv run python benchmarks/store_kills.py [--faults 300] [--kills 300] [--seed 0]

Linux, with a C compiler.  ``store_faults.c`` stands between the process and its C
library and counts the calls that change a folder: open to create, write, sync, truncate,
rename, make a folder, unlink.  The n-th finds the disk full, that one or all from then
on, or kills the process (SIGKILL); half of what it was to write is written first.
Between two calls nothing on the disk changes, so that this meets every state that a kill
can leave.

So many faults and kills hit an arena, and as many the other files: saved votes, saved
fits (``fit -o``), and pages (``report``), each of which replaces a good file.

After each, what is there is read and checked.  It is all of the new state or all of the
old; the new one, if the work was said to be done.  A fault ends in exit code 2 and one
line on standard error that names the file and the cause, and leaves nothing else in the
folder.  The same work, done again, is done.  Exits with 1 at the first damage.
"""

import argparse
import ctypes
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_arena as ba
from bayes_arena.arena.store import SIDE_FILES, reading
from bayes_arena.cli.app import run

FULL, FULL_FROM_THEN_ON, KILL = range(3)
HOW = {FULL: "disk full once", FULL_FROM_THEN_ON: "disk full", KILL: "killed"}
DONE, REFUSED, KILLED = 0, 2, -9  # how a process ends
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["__main__", "bayes_arena.rating.report", "h5netcdf"])
NEW: dict[str, object] = {}  # the state after each work is done


@dataclass(frozen=True)
class Work:
    """Work that is hit.

    ``before`` puts there what stands there first, ``write`` writes; ``state`` reads and
    checks what is there.  All take the path of the file.
    """

    file: str
    before: Callable[[Path], object]
    write: Callable[[Path], object]
    state: Callable[[Path], object]


def votes() -> pd.DataFrame:
    arena = ba.simulate(competitors=5, annotators=9, votes=6000, reversed=1, seed=5)
    return arena.votes.assign(vote=[f"vote-{n}" for n in range(6000)])


def with_votes(path: Path, count: int) -> ba.StableArena:
    arena = ba.StableArena.create(path)
    arena.add(votes()[:count], id="vote")
    return arena


def create(path: Path) -> None:
    if not path.exists():
        ba.StableArena.create(path)


def readmit(path: Path) -> None:
    arena = ba.StableArena.open(path)
    table = arena.annotators()
    for name in table["annotator"][table["status"] == "excluded"]:
        arena.readmit(name)


def state_of_arena(path: Path) -> tuple[int, ...]:
    """Count votes, rounds and decisions of an arena, after it has been checked."""
    if not path.exists():
        return ()
    arena = ba.StableArena.open(path)
    tables = [arena.history(of) for of in ("rounds", "competitors", "decisions")]
    n_votes = int(arena.annotators()["votes"].sum())
    with reading(path) as connection:
        (n_ids,) = connection.execute("select count(*) from vote").fetchone()
    require(n_ids == n_votes, f"{n_ids} ids for {n_votes} votes")
    return (n_votes, *(len(table) for table in tables))


def source(name: str) -> Path:
    """Return the path of a file that commands read, apart from where they write."""
    return Path(os.environ["FAULTS_SOURCES"]) / name


def make_sources() -> None:
    """Write what the commands read: votes, and fits of fewer and of all of them."""
    table = votes()
    table.to_csv(source("votes.csv"), index=False)
    ba.save(ba.fit(table), source("fit.npz"))
    ba.save(ba.fit(table[:900]), source("former.npz"))
    for name, rows in {"fit.nc": 6000, "former.nc": 900}.items():
        few = {"draws": 50, "tune": 100}
        ba.save(ba.fit(table[:rows], method="nuts", **few), source(name))


def command(*words: str) -> Callable[[Path], None]:
    """Return the work of a command that writes its answer to a path."""

    def write(path: Path) -> None:
        files = [str(source(word)) if "." in word else word for word in words]
        sys.argv = ["bayes-arena", *files, "-o", str(path)]
        sys.exit(run())

    return write


def former(name: str) -> Callable[[Path], object]:
    """Return what puts a file there that was written before."""
    return lambda path: shutil.copy(source(name), path)


def state_of_samples(path: Path) -> bytes:
    """Return the samples of a saved fit."""
    return b"".join(samples.tobytes() for samples in ba.load(path).samples.values())


def state_of_file(path: Path) -> bytes:
    """Return a hash of a file."""
    return sha256(path.read_bytes()).digest()


ARENAS = {
    "create": Work("arena.db", lambda path: None, create, state_of_arena),
    "add": Work(
        "arena.db",
        lambda path: with_votes(path, 1000),
        lambda path: ba.StableArena.open(path).add(votes(), id="vote"),
        state_of_arena,
    ),
    "round": Work(
        "arena.db",
        lambda path: with_votes(path, 1000),
        lambda path: ba.StableArena.open(path).round(),
        state_of_arena,
    ),
    "readmit": Work(
        "arena.db",
        lambda path: with_votes(path, 1000).round(),
        readmit,
        state_of_arena,
    ),
}
FILES = {
    "Votes.save": Work(
        "votes.npz",
        lambda path: ba.read_votes(votes()[:900]).save(path),
        lambda path: ba.load(source("fit.npz")).votes.save(path),
        state_of_file,
    ),
    "fit -o .npz": Work(
        "fit.npz", former("former.npz"), command("fit", "votes.csv"), state_of_file
    ),
    "fit -o .nc": Work(
        "fit.nc", former("former.nc"), command("fit", "fit.nc"), state_of_samples
    ),
    "report": Work(
        "board.html",
        lambda path: ba.report(ba.load(source("former.npz")), path),
        command("report", "fit.npz"),
        state_of_file,
    ),
}
WORK = ARENAS | FILES


def prepare(name: str) -> Path:
    """Put what was there before in its place, and nothing else; return the path."""
    now = Path(os.environ["FAULTS_FOLDER"]) / "now"
    before = now.with_name(f"before {name}")
    if not before.exists():
        before.mkdir()
        WORK[name].before(before / WORK[name].file)
    shutil.rmtree(now, ignore_errors=True)
    shutil.copytree(before, now)
    return now / WORK[name].file


def work(name: str, path: Path, call: int, how: int, answers: Path) -> None:
    """Do the work, in a process of its own, and meet a fault at a call."""
    library = ctypes.CDLL(None)
    warnings.simplefilter("ignore")
    os.dup2(os.open(answers, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
    library.faults_arm(call, how)
    try:
        WORK[name].write(path)
    except ba.ArenaError as error:
        print(error, file=sys.stderr)
        sys.exit(REFUSED)
    finally:
        if call < 0:
            print(library.faults_calls(), file=sys.stderr)


def outcome_of_work(name: str, path: Path, call: int, how: int) -> tuple[int, str]:
    """Start the work; return its exit code, and what it wrote to standard error."""
    answers = source("standard error")
    process = PROCESSES.Process(target=work, args=(name, path, call, how, answers))
    process.start()
    process.join()
    return process.exitcode, answers.read_text()


def hit(name: str, call: int, how: int) -> str:
    """Hit one call of a writer; return what is there of its work."""
    path = prepare(name)
    old, new = WORK[name].state(path), NEW[name]
    code, errors = outcome_of_work(name, path, call, how)
    require(code in (DONE, REFUSED, KILLED), f"{name} ended with {code}: {errors}")
    if code == REFUSED:
        has_cause = "space" in errors or "disk" in errors
        is_clear = repr(str(path)) in errors and errors.count("\n") == 1 and has_cause
        require(is_clear, f"unclear: {errors}")
    if code == DONE:
        require(not errors, f"{name}, done, said: {errors}")
    if code != KILLED:
        require_alone(path)
    state = WORK[name].state(path)
    require(state in (old, new), f"{name}: {state}, not {old} or {new}")
    require(code != DONE or state == new, f"{name} was said to be done")
    if state == old:
        code, errors = outcome_of_work(name, path, sys.maxsize, FULL)
        is_done = code == DONE and WORK[name].state(path) == new
        require(is_done, f"{name}, done again, ends with {code}: {errors}")
    return "new" if state == new else "old"


def require_alone(path: Path) -> None:
    """Stop if there is anything in the folder that is not the file."""
    names = {entry.name for entry in path.parent.iterdir()}
    strays = names - {path.name, *(path.name + side for side in SIDE_FILES)}
    require(not strays, f"left beside {path.name}: {strays}")


def require(holds: bool, damage: str) -> None:
    if not holds:
        raise SystemExit(f"DAMAGE: {damage}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"faults": 300, "kills": 300, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if "FAULTS_FOLDER" not in os.environ:
        raise SystemExit(run_with_the_library())
    warnings.simplefilter("ignore")
    make_sources()
    rng = np.random.default_rng(options.seed)
    n_calls = {}
    for name in WORK:
        path = prepare(name)
        code, answers = outcome_of_work(name, path, -1, FULL)
        require(code == DONE, f"{name} without a fault ends with {code}: {answers}")
        n_calls[name] = int(answers)
        NEW[name] = WORK[name].state(path)
    outcomes: Counter[tuple[str, str, str]] = Counter()
    for works in (ARENAS, FILES):
        names = list(works)
        for number in range(options.faults + options.kills):
            how = number % 2 if number < options.faults else KILL
            name = names[number // 2 % len(names)]
            call = int(rng.integers(n_calls[name]))
            outcomes[name, HOW[how], hit(name, call, how)] += 1
            print(f"\r{number + 1} hits", end="", file=sys.stderr)
    print("\n# Kills and full disks\n")
    print(
        f"{options.faults} full disks and {options.kills} kills of an arena, and as "
        "many of the other files, each at a random call that writes: no damage. "
        "Counted is whether the new state was there afterwards, or the old one.\n"
    )
    print("| work | calls that write | hit by | new | old |")
    print("| --- | ---: | --- | ---: | ---: |")
    for name in WORK:
        for how in HOW.values():
            new, old = (outcomes[name, how, state] for state in ("new", "old"))
            print(f"| {name} | {n_calls[name]} | {how} | {new} | {old} |")
    words = f"--faults {options.faults} --kills {options.kills}"
    print(f"\nPrinted by `python benchmarks/store_kills.py {words}`.")


def run_with_the_library() -> int:
    """Run this script again, with the library before the C library."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "store_faults.so"
        code = Path(__file__).with_name("store_faults.c")
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, code, "-ldl"]
        subprocess.run(command, check=True)
        added = {"LD_PRELOAD": str(library)}
        for name in ("FAULTS_FOLDER", "FAULTS_SOURCES"):
            place = Path(folder) / name.lower()
            place.mkdir()
            added[name] = str(place)
        command = [sys.executable, *sys.argv]
        return subprocess.run(command, env=os.environ | added, check=False).returncode


if __name__ == "__main__":
    main()
