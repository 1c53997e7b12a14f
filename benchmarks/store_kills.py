"""Kill the writer of an arena, and fill its disk, at every call that writes.

    uv run python benchmarks/store_kills.py [--faults 300] [--kills 300] [--seed 0]

Linux, with a C compiler.  ``store_faults.c`` stands between the process and its C
library and counts the calls that change a folder: open to create, write, sync, truncate,
rename, unlink.  The n-th finds the disk full, that one or all from then on, or kills the
process (SIGKILL); half of what it was to write is written first.  Between two calls
nothing on the disk changes, so that this meets every state that a kill can leave.

After each, the arena is opened and checked.  It holds all of the change or nothing of
it; all, if the work was said to be done.  An error is an ArenaError of one line that
names the file.  The same work, done again, is done.  Exits with 1 at the first damage.
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
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_arena as ba
from bayes_arena.arena.stable_arena import StableArena
from bayes_arena.arena.store import reading

FULL, FULL_FROM_THEN_ON, KILL = range(3)
HOW = {FULL: "disk full once", FULL_FROM_THEN_ON: "disk full", KILL: "killed"}
DONE, REFUSED, KILLED = "done", "refused", "killed"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["bayes_arena.arena.stable_arena", "pandas"])
NEW: dict[str, tuple[int, ...]] = {}  # the state after each work is done


def votes() -> pd.DataFrame:
    arena = ba.simulate(competitors=5, annotators=9, votes=6000, reversed=1, seed=5)
    return arena.votes.assign(vote=[f"vote-{n}" for n in range(6000)])


def with_votes(path: Path, count: int) -> StableArena:
    arena = StableArena.create(path)
    arena.add(votes()[:count], id="vote")
    return arena


def create(path: Path) -> None:
    if not path.exists():
        StableArena.create(path)


def readmit(path: Path) -> None:
    arena = StableArena.open(path)
    table = arena.annotators()
    for name in table["annotator"][table["status"] == "excluded"]:
        arena.readmit(name)


# By name: what stands there before, and the work that is hit.
WORK = {
    "create": (lambda path: None, create),
    "add": (
        lambda path: with_votes(path, 1000),
        lambda path: StableArena.open(path).add(votes(), id="vote"),
    ),
    "round": (
        lambda path: with_votes(path, 1000),
        lambda path: StableArena.open(path).round(),
    ),
    "readmit": (lambda path: with_votes(path, 1000).round(), readmit),
}


def state(path: Path) -> tuple[int, ...]:
    """Count votes, rounds and decisions of an arena, after it has been checked."""
    if not path.exists():
        return ()
    arena = StableArena.open(path)
    tables = [arena.history(of) for of in ("rounds", "competitors", "decisions")]
    n_votes = int(arena.annotators()["votes"].sum())
    with reading(path) as connection:
        (n_ids,) = connection.execute("select count(*) from vote").fetchone()
    require(n_ids == n_votes, f"{n_ids} ids for {n_votes} votes")
    return (n_votes, *(len(table) for table in tables))


def prepare(name: str, path: Path) -> None:
    """Put what was there before in its place, and nothing else."""
    before = path.parent.with_name("before-" + name)
    if not before.exists():
        before.mkdir()
        WORK[name][0](before / path.name)
    shutil.rmtree(path.parent, ignore_errors=True)
    shutil.copytree(before, path.parent)


def work(name: str, path: Path, call: int, how: int, to_parent: Connection) -> None:
    """Do the work, in a process of its own, and meet a fault at a call."""
    library = ctypes.CDLL(None)
    warnings.simplefilter("ignore")
    library.faults_arm(call, how)
    try:
        WORK[name][1](path)
        to_parent.send((DONE, library.faults_calls()))
    except ba.ArenaError as error:
        to_parent.send((REFUSED, str(error)))


def outcome_of_work(name: str, path: Path, call: int, how: int) -> tuple[str, object]:
    """Start the work; return how it ended, and the number of calls or the message."""
    receiver, to_parent = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=work, args=(name, path, call, how, to_parent))
    process.start()
    to_parent.close()
    try:
        outcome = receiver.recv()
    except EOFError:
        outcome = KILLED, None
    process.join()
    require(process.exitcode in (0, -9), f"{name} ended with {process.exitcode}")
    return outcome


def hit(name: str, path: Path, call: int, how: int) -> str:
    """Hit one call of a writer; return what is there of its work."""
    prepare(name, path)
    old, new = state(path), NEW[name]
    outcome, message = outcome_of_work(name, path, call, how)
    if outcome == REFUSED:
        is_clear = repr(str(path)) in message and "\n" not in message
        require(is_clear, f"unclear: {message}")
    found = state(path)
    require(found in (old, new), f"{name}: {found}, not {old} or {new}")
    require(outcome != DONE or found == new, f"{name} was said to be done")
    if found == old:
        WORK[name][1](path)
        require(state(path) == new, f"{name}, done again, is done")
    return "all" if found == new else "nothing"


def require(holds: bool, what: str) -> None:
    if not holds:
        raise SystemExit(f"DAMAGE: {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in {"faults": 300, "kills": 300, "seed": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    if "FAULTS_FOLDER" not in os.environ:
        raise SystemExit(run_with_the_library())
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(options.seed)
    path = Path(os.environ["FAULTS_FOLDER"]) / "now" / "arena.db"
    n_calls = {}
    for name in WORK:
        prepare(name, path)
        _, n_calls[name] = outcome_of_work(name, path, -1, FULL)
        NEW[name] = state(path)
    outcomes: Counter[tuple[str, str, str]] = Counter()
    names = list(WORK)
    for number in range(options.faults + options.kills):
        how = number % 2 if number < options.faults else KILL
        name = names[number // 2 % len(names)]
        call = int(rng.integers(n_calls[name]))
        outcomes[name, HOW[how], hit(name, path, call, how)] += 1
        print(f"\r{number + 1} hits", end="", file=sys.stderr)
    print(f"\n{options.faults} full disks and {options.kills} kills: no damage\n")
    print("| work | calls that write | hit by | all there | nothing there |")
    print("|---|---:|---|---:|---:|")
    for name in WORK:
        for how in HOW.values():
            counts = [outcomes[name, how, what] for what in ("all", "nothing")]
            print(f"| {name} | {n_calls[name]} | {how} | {counts[0]} | {counts[1]} |")


def run_with_the_library() -> int:
    """Run this script again, with the library before the C library."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "store_faults.so"
        source = Path(__file__).with_name("store_faults.c")
        command = ["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"]
        subprocess.run(command, check=True)
        place = Path(folder) / "written"
        place.mkdir()
        added = {"FAULTS_FOLDER": str(place), "LD_PRELOAD": str(library)}
        command = [sys.executable, *sys.argv]
        return subprocess.run(command, env=os.environ | added, check=False).returncode


if __name__ == "__main__":
    main()
