"""How the time of an addition and of a round grows with what an arena has stored.

    uv run python benchmarks/store_growth.py [--votes 1000000] [--competitors 20] [--annotators 50]

Votes are added in batches of 1,000 and rated after every 10,000, by bradley-terry, whose fit is so cheap that rounds
show the store: reading the cells, publishing. Prints for each tenth of the way: cells and megabytes at its end, the
median and the slowest addition (slow when DuckDB writes its log back into the file), the median round, and apart from
it the median time to read the cells and to fit. With many annotators nearly every vote is a cell of its own, and what a
round reads grows with the votes. The file stays open; a command line that opens it for each addition pays for the start
of Python and a checkpoint besides.
"""

import tempfile
from pathlib import Path

import numpy as np
from measuring import options_of, timed

import bayes_arena as ba

BATCH, ROUND = 1_000, 10_000


def main() -> None:
    options = options_of(__doc__, votes=1_000_000, competitors=20, annotators=50).parse_args()
    arena = ba.simulate(competitors=options.competitors, annotators=options.annotators, votes=options.votes, seed=5)
    votes = arena.votes.with_row_index("id")
    print(f"{options.votes:,} votes, {options.competitors} competitors, {options.annotators:,} annotators\n")
    print("| votes | cells | MB | add, ms | slowest | round, ms | reading cells | fitting |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    tenth = options.votes // 10
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arena.duckdb"
        adding, rating, reading, fitting = [], [], [], []
        with ba.StableArena.create(path) as stable:
            for first in range(0, options.votes, BATCH):
                adding.append(timed(lambda first=first: stable.add(votes[first : first + BATCH], id="id"))[1])
                stored = first + BATCH
                if stored % ROUND == 0:
                    rating.append(timed(lambda: stable.rate(model="bradley-terry"))[1])
                    cells, spent, _ = timed(stable.cells)
                    reading.append(spent)
                    fitting.append(timed(lambda cells=cells: ba.fit(cells, model="bradley-terry"))[1])
                if stored % tenth == 0:
                    megabytes = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
                    times = [np.median(adding), max(adding), *map(np.median, (rating, reading, fitting))]
                    cost = " | ".join(f"{1e3 * spent:.0f}" for spent in times)
                    print(f"| {stored:,} | {len(cells.a):,} | {megabytes:.0f} | {cost} |", flush=True)
                    adding, rating, reading, fitting = [], [], [], []
    with tempfile.TemporaryDirectory() as folder, ba.StableArena.create(Path(folder) / "arena.duckdb") as stable:
        at_once, again = (timed(lambda: stable.add(votes, id="id"))[1] for _ in range(2))
    print(f"\nall votes in one addition: {at_once:.1f} s; the same once more, adding nothing: {again:.1f} s")


if __name__ == "__main__":
    main()
