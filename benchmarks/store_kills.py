"""Kill a process that writes to an arena, again and again, and look for damage.

    uv run python benchmarks/store_kills.py [--kills 100] [--seed 0]

A worker adds numbered batches of votes, rates after every fifth, closes and opens the file after every tenth, and says
what it is about to do and what is done. It is killed (SIGKILL) at a random moment. Then, on a copy of the file and its
log: the votes stored are those of the batches that were said to be done, or of one more, each vote once; the cells are
those of reading these votes at once; every round said to be done is there, and every round there is whole. The next
worker opens the file as the kill left it, adds the last batch once more and goes on. At the end the votes of all
batches are added again. Exits with 1 at the first damage.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl

import bayes_arena as ba

BATCH, BATCHES = 250, 400
LONGEST = 1.5
"""Seconds from the moment the worker has its votes until the kill, at most."""


def all_votes() -> pl.DataFrame:
    return ba.simulate(votes=BATCH * BATCHES, annotators=60, seed=11).votes.with_row_index("id")


def batch(votes: pl.DataFrame, number: int) -> pl.DataFrame:
    return votes[number * BATCH : (number + 1) * BATCH]


def say(*words: object) -> None:
    print(*words, flush=True)


def work(path: Path, first: int) -> None:
    votes = all_votes()
    with tempfile.TemporaryDirectory() as folder, ba.StableArena.create(folder + "/scratch.duckdb") as scratch:
        scratch.add(batch(votes, 0), id="id")  # imports and compiles what the work needs
        scratch.rate(model="bradley-terry")
    say("about to", "open")
    arena = ba.StableArena(path)
    if first and arena.add(batch(votes, first - 1), id="id").new:
        raise SystemExit("DAMAGE: a committed batch was new")
    for number in range(first, BATCHES):
        say("about to", "add")
        arena.add(batch(votes, number), id="id")
        say("added", number)
        if number % 5 == 4:
            say("about to", "rate")
            say("rated", arena.rate(model="bradley-terry").number)
        if number % 10 == 9:
            say("about to", "close")
            arena.close()
            say("about to", "open")
            arena = ba.StableArena(path)
    say("about to", "end")


def killed(path: Path, first: int, delay: float) -> list[str]:
    """Start a worker, kill it, and return what it said."""
    command = [sys.executable, __file__, "--work", str(path), "--first", str(first)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    lines = [process.stdout.readline()]
    time.sleep(delay)
    process.kill()
    lines += process.stdout.readlines()
    if process.wait() != -9:
        raise SystemExit(f"The worker ended by itself with {process.returncode} after: {''.join(lines[-3:])}")
    return [line.strip() for line in lines if line.endswith("\n")]


def examine(path: Path, votes: pl.DataFrame, *, added: int, rated: int) -> tuple[int, int]:
    """Return how many batches and rounds a copy of the file holds; complain of damage."""
    with tempfile.TemporaryDirectory() as folder:
        for file in path.parent.glob(path.name + "*"):
            shutil.copy(file, folder)
        with ba.StableArena(Path(folder) / path.name) as arena:
            store = arena._store
            ids = [int(number) for (number,) in store.rows("select id from vote order by id::bigint")]
            whole = len(ids) // BATCH
            require(ids == list(range(whole * BATCH)), "the votes stored are whole batches, each vote once")
            require(whole in (added, added + 1), f"{added} batches were committed, {whole} are stored")
            if whole:
                cells, expected = arena.cells(), ba.read_votes(votes[: whole * BATCH])
                same = cells.competitors == expected.competitors and cells.annotators == expected.annotators
                for name in ("a", "b", "annotator", "counts"):
                    same &= np.array_equal(getattr(cells, name), getattr(expected, name))
                require(same, "the cells are those of the votes")
            rounds = store.rows(
                "select round, competitors, annotators, votes, "
                "(select count(*) from rating x where x.round = r.round), "
                "(select count(*) from ability x where x.round = r.round) from round r order by round"
            )
            require([row[0] for row in rounds] == list(range(1, len(rounds) + 1)), "rounds are numbered on")
            require(len(rounds) in (rated, rated + 1), f"{rated} rounds were committed, {len(rounds)} are stored")
            for number, competitors, annotators, rated_votes, ratings, abilities in rounds:
                require((competitors, annotators) == (ratings, abilities), f"round {number} is whole")
                require(rated_votes % BATCH == 0, f"round {number} rated whole batches")
            orphans = store.rows("select count(*) from rating where round not in (select round from round)")
            require(orphans == [(0,)], "no rating without its round")
    return whole, len(rounds)


def require(holds: object, what: str) -> None:
    if not holds:
        raise SystemExit(f"DAMAGE: not so: {what}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.work, options.first)
    rng, votes, moments = np.random.default_rng(options.seed), all_votes(), Counter()
    arenas = added = rated = one_more = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "none"
        for _ in range(options.kills):
            if added > 0.8 * BATCHES or not arenas:
                arenas, added, rated = arenas + 1, 0, 0
                path = Path(folder) / f"arena-{arenas}.duckdb"
                ba.StableArena.create(path).close()
            said = killed(path, added, rng.uniform(0, LONGEST))
            moments[next((line for line in reversed(said) if line.startswith("about to")), "about to open")] += 1
            committed = max([added, *(int(line.split()[1]) + 1 for line in said if line.startswith("added"))])
            rounds = max([rated, *(int(line.split()[1]) for line in said if line.startswith("rated"))])
            added, rated = examine(path, votes, added=committed, rated=rounds)
            one_more += (added > committed) + (rated > rounds)
        with ba.StableArena(path) as arena:
            repeated = arena.add(votes, id="id")
        require(repeated.known == added * BATCH, "adding everything again finds what was stored")
        require(repeated.new == len(votes) - added * BATCH, "adding everything again completes the arena")
        examine(path, votes, added=BATCHES, rated=rated)
    print(f"{options.kills} kills, {arenas} arena(s), no damage; last said before the kill, and how often:")
    print(json.dumps(dict(moments.most_common())))
    print(f"committed, but killed before it could be said: {one_more}")
    return None


if __name__ == "__main__":
    main()
