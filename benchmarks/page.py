"""Weight of the page of a fit, and the time that it takes to make.

    uv run --group benchmark python benchmarks/page.py [--data benchmarks/data]

Arenas of 5 competitors (simulated), of 59 (LLMFAO, from $BAYES_ARENA_DATA or ../shared/data) and of 129 (the 1.67
million votes of ``arena_votes.py``, without annotators; and 100,000 of its battles with simulated annotators). Seconds
of processor time (and on the clock) are those of ``report`` alone, the best of three after one that compiles and
imports; the limits are 300 kB and 3 seconds at 129 competitors.
"""

import argparse
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

from arena_votes import synthetic_annotators, write_arena_votes

import bayes_arena as ba


def fits(data: Path) -> Iterator[tuple[str, ba.Fit]]:
    """Yield what is fitted, and the fit."""
    shared = Path(os.environ.get("BAYES_ARENA_DATA") or "../shared/data")
    yield "simulated", ba.fit(ba.simulate(competitors=5, annotators=12, votes=900, seed=3).votes)
    yield "LLMFAO", ba.fit(shared / "llmfao.csv", answers=False)
    yield "LLMFAO, with answers", ba.fit(shared / "llmfao.csv")
    yield "Chatbot Arena", ba.fit(write_arena_votes(data))
    yield "Chatbot Arena's battles, simulated annotators", ba.fit(synthetic_annotators(data, 100_000).cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("benchmarks/data"))
    print("| votes | | competitors | annotators | model | kB | s | s on the clock |")
    print("|---|---|---|---|---|---|---|---|")
    for name, fit in fits(parser.parse_args().data):
        page, taken = ba.report(fit), []
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            page = ba.report(fit)
            taken.append((time.process_time() - processor, time.perf_counter() - wall))
        cells, weight = fit.cells, len(page.html.encode()) / 1000
        print(
            f"| {name} | {cells.n_votes:,.0f} | {cells.n_competitors} | {cells.n_annotators:,} | {fit.model.name} "
            f"| {weight:.0f} | {min(taken)[0]:.2f} | {min(wall for _, wall in taken):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    with warnings.catch_warnings(action="ignore"):
        main()
