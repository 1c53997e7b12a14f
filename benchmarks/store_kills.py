"""Kill a process that writes to an arena, again and again, and look for damage.

    uv run python benchmarks/store_kills.py [--hits 100] [--seed 0] > benchmarks/results/store_kills.md

A worker adds numbered batches of votes, rates after every second, reads the tables, closes and opens the file after
every tenth, and says what it begins and what is done: a transaction has begun when it says so, and is over when it says
so. Most kills (SIGKILL) are aimed at transactions: after the first, second or third of a kind has begun, at a random
moment of as long as three in four have taken. The others come at any moment after the start-up. What was hit is what
the worker said last. Workers are forked from a process that has imported all and done nothing.

Then, on a copy of the file and its log: the votes stored are those of the batches that were said to be done, or of one
more if an addition was hit, each vote once; the cells are those of reading these votes at once; every round said to be
done is there, or one more if a round was hit, and every round there is whole. The next worker opens the file as the
kill left it, adds the last batch once more and goes on. At the end the votes of all batches are added again. Exits with
1 at the first damage.
"""

import multiprocessing
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import polars as pl
from disk_faults import require, same
from measuring import options_of

import bayes_arena as ba
from bayes_arena.arena import stable_arena, store

BATCH, BATCHES = 250, 400
WORKERS = multiprocessing.get_context("forkserver")
WORKERS.set_forkserver_preload(
    ["bayes_arena.arena.stable_arena", "bayes_arena.likelihood.simulation", "duckdb", "pandas"]
)
LONGEST = 1.5
"""Seconds from the end of the start-up until a kill at any moment, at most."""
ADDITION, ROUND = "in the transaction of an addition", "in the transaction of a round"
ADDING, RATING = "in an addition, outside its transaction", "in a round, outside its transaction"
AGAIN = "in an addition of what is stored"
TRANSACTION = {ADDING: ADDITION, RATING: ROUND, AGAIN: AGAIN}
AIMS = {ADDITION: 0.45, ROUND: 0.35, None: 0.2}


def all_votes() -> pl.DataFrame:
    return ba.simulate(votes=BATCH * BATCHES, annotators=60, seed=11).votes.with_row_index("id")


def batch(votes: pl.DataFrame, number: int) -> pl.DataFrame:
    return votes[number * BATCH : (number + 1) * BATCH]


DOING = ["between"]
TO_PARENT: list[Connection] = []


def say(word: str, what: object) -> None:
    TO_PARENT[0].send((word, what, time.monotonic()))


@contextmanager
def doing(what: str) -> Iterator[None]:
    DOING.append(what)
    say("doing", what)
    yield
    DOING.pop()
    say("doing", DOING[-1])


def tell_transactions() -> None:
    """Make transactions and fits say when they have begun and when they are over."""
    transaction, fit = store.Store.transaction, stable_arena.fit

    @contextmanager
    def told(self: store.Store) -> Iterator[store.Session]:
        with ExitStack() as over, transaction(self) as session:  # committed before it is over
            over.enter_context(doing(TRANSACTION[DOING[-1]]))
            yield session

    def told_fit(*arguments: object, **options: object) -> ba.Fit:
        with doing("in a fit"):
            return fit(*arguments, **options)

    store.Store.transaction, stable_arena.fit = told, told_fit


def work(to_parent: Connection, path: Path, first: int) -> None:
    TO_PARENT.append(to_parent)
    votes = all_votes()
    with tempfile.TemporaryDirectory() as folder, ba.StableArena.create(folder + "/scratch.duckdb") as scratch:
        scratch.add(batch(votes, 0), id="id")  # imports and compiles what the work needs
        scratch.rate(model="bradley-terry")
    tell_transactions()
    with doing("opening the file"):
        arena = ba.StableArena(path)
    for number in range(max(first - 1, 0), BATCHES):
        with doing(ADDING if number >= first else AGAIN):
            added = arena.add(batch(votes, number), id="id")
        if number < first and added.new:
            raise SystemExit("DAMAGE: a committed batch was new")
        say("added", number)
        if number % 2:
            with doing(RATING):
                round = arena.rate(model="bradley-terry")
            say("rated", round.number)
            with doing("reading the tables"):
                arena.history(), arena.annotators(), arena.rounds(), arena.decisions()
        if number % 10 == 9:
            with doing("closing the file"):
                arena.close()
            with doing("opening the file"):
                arena = ba.StableArena(path)


def killed(
    path: Path, first: int, aim: str | None, seconds: dict[str, list[float]], rng: np.random.Generator
) -> list[tuple[str, str | int, float]]:
    """Start a worker, kill it, and return what it said."""
    from_worker, to_parent = WORKERS.Pipe(duplex=False)
    worker = WORKERS.Process(target=work, args=(to_parent, path, first))
    worker.start()
    to_parent.close()
    said, meetings = [from_worker.recv()], rng.integers(1, 4)
    while aim and meetings:
        said.append(from_worker.recv())
        meetings -= said[-1][:2] == ("doing", aim)
    time.sleep(rng.uniform(0, np.quantile(seconds[aim], 0.75) if aim else LONGEST))
    worker.kill()
    worker.join()
    with suppress(EOFError, OSError):  # the last words may be cut off
        while True:
            said.append(from_worker.recv())
    if worker.exitcode != -9:
        raise SystemExit(f"The worker ended by itself with {worker.exitcode} after: {said[-3:]}")
    for (_, what, when), (_, _, then) in pairwise(words for words in said if words[0] == "doing"):
        seconds[what].append(then - when)
    return said


def examine(path: Path, votes: pl.DataFrame, *, added: int, rated: int) -> tuple[int, int]:
    """Return how many batches and rounds a copy of the file holds; complain of damage."""
    with tempfile.TemporaryDirectory() as folder:
        for file in path.parent.glob(path.name + "*"):
            shutil.copy(file, folder)
        copy = Path(folder) / path.name
        with ba.StableArena(copy, read_only=True) as arena, arena._store.read() as session:
            ids = [int(number) for (number,) in session.rows("select id from vote order by id::bigint")]
            whole = len(ids) // BATCH
            require(ids == list(range(whole * BATCH)), "the votes stored are whole batches, each vote once")
            require(whole in (added, added + 1), f"{added} batches were committed, {whole} are stored")
            if whole:
                expected = ba.read_votes(votes[: whole * BATCH])
                require(same(arena.cells(), expected), "the cells are those of the votes")
            rounds = session.rows(
                "select round, competitors, annotators, votes, "
                "(select count(*) from rating x where x.round = r.round), "
                "(select count(*) from ability x where x.round = r.round) from round r order by round"
            )
            require([row[0] for row in rounds] == list(range(1, len(rounds) + 1)), "rounds are numbered on")
            require(len(rounds) in (rated, rated + 1), f"{rated} rounds were committed, {len(rounds)} are stored")
            for number, competitors, annotators, rated_votes, ratings, abilities in rounds:
                require((competitors, annotators) == (ratings, abilities), f"round {number} is whole")
                require(rated_votes % BATCH == 0, f"round {number} rated whole batches")
            orphans = session.rows("select count(*) from rating where round not in (select round from round)")
            require(orphans == [(0,)], "no rating without its round")
    return whole, len(rounds)


def main() -> None:
    parser = options_of(__doc__, seed=0)
    parser.add_argument("--hits", type=int, default=100, help="kills within a transaction")
    options = parser.parse_args()
    rng, votes = np.random.default_rng(options.seed), all_votes()
    kills, completed, seconds = Counter(), Counter(), defaultdict(lambda: [0.02])
    arenas = added = rated = hits = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "none"
        while hits < options.hits:
            if added > 0.8 * BATCHES or not arenas:
                arenas, added, rated = arenas + 1, 0, 0
                path = Path(folder) / f"arena-{arenas}.duckdb"
                ba.StableArena.create(path).close()
            said = killed(path, added, rng.choice(list(AIMS), p=list(AIMS.values())), seconds, rng)
            hit = [what for word, what, _ in said if word == "doing"][-1]
            batches = max([added, *(number + 1 for word, number, _ in said if word == "added")])
            rounds = max([rated, *(number for word, number, _ in said if word == "rated")])
            added, rated = examine(path, votes, added=batches, rated=rounds)
            require(added == batches or hit in (ADDING, ADDITION), "only the addition hit is in doubt")
            require(rated == rounds or hit in (RATING, ROUND), "only the round hit is in doubt")
            kills[hit] += 1
            completed[hit] += (added > batches) + (rated > rounds)
            hits = kills[ADDITION] + kills[ROUND]
            print(f"\r{kills.total()} kills, {hits} in a transaction", end="", file=sys.stderr)
        with ba.StableArena(path) as arena:
            repeated = arena.add(votes, id="id")
        require(repeated.known == added * BATCH, "adding everything again finds what was stored")
        require(repeated.new == len(votes) - added * BATCH, "adding everything again completes the arena")
        examine(path, votes, added=BATCHES, rated=rated)
    print(f"{kills.total()} kills of a process at work, {arenas} arena(s), {hits} in a transaction: no damage\n")
    print("| killed | kills | whole in the file, though not yet said to be | nothing in the file |")
    print("|---|---:|---:|---:|")
    for what, count in kills.most_common():
        whole = (completed[what], count - completed[what]) if what in (ADDITION, ROUND) else ("", "")
        print("|", what, "|", count, "|", whole[0], "|", whole[1], "|")


if __name__ == "__main__":
    main()
