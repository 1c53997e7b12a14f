"""Every table and figure of the paper on a file of votes, and how long each takes.

    uv run python benchmarks/paper.py llmfao.csv

Prints Markdown; docs/paper.md has the answer for LLMFAO.
"""

import sys
import time
import warnings

import bayes_arena as ba
from bayes_arena.paper import TARGETS


def main() -> None:
    warnings.simplefilter("ignore")
    votes = ba.read_votes(sys.argv[1], prompt=False)
    for name in TARGETS:
        start, cpu = time.perf_counter(), time.process_time()
        result = ba.paper.reproduce(name, votes)
        wall, cpu = time.perf_counter() - start, time.process_time() - cpu
        print(
            f"**{name}** ({wall:.1f} s, {cpu:.1f} CPU s)\n\n{markdown(result.summary)}"
        )
        if result.note:
            print(f"{result.note}\n")


def markdown(columns: dict[str, list[object]]) -> str:
    rows = [list(columns), ["---"] * len(columns)]
    rows += [list(row) for row in zip(*columns.values(), strict=True)]
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


if __name__ == "__main__":
    main()
