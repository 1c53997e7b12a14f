"""Pairs that no ranking explains: how often one is named falsely, and how often found.

``python benchmarks/pairs.py [--arenas 100]``.  Simulated arenas (``arenas.py``) of one
ranking; and the same with one pair that ends otherwise than the ranking says.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from arenas import Arena, People, Rng, draw_arena, draw_on_prompts, of_leads
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.unexplained import pair_scores

FIRST_SEED = 7_000
type Draw = Callable[[int], Arena]


def ranking(rng: Rng, n: int = 15, sd: float = 1.0, reversal: float = 0.0) -> People:
    """Let one crowd vote by a ranking; the stronger of the first two loses so many logits."""
    strength = rng.normal(0, sd, n)
    lead = strength[:, None] - strength
    change = -reversal if strength[0] > strength[1] else reversal
    lead[0, 1] += change
    lead[1, 0] -= change
    return of_leads(lead[None], rng)


HONEST: dict[str, Draw] = {
    "15 competitors, 4,000 votes": partial(draw_arena, ranking, 4000),
    "30 competitors, 500 votes": partial(draw_arena, partial(ranking, n=30), 500),
    "60 competitors, 9,000 votes": partial(draw_arena, partial(ranking, n=60), 9000),
    "15, strengths of sd 2": partial(draw_arena, partial(ranking, sd=2.0), 4000),
    "15, 60 prompts": partial(draw_on_prompts, ranking, 4000),
    "15, 12 prompts": partial(draw_on_prompts, ranking, 4000, prompts=12),
}
CHANGES = (1.5, 2.5)


def honest(arenas: int) -> Iterable[str]:
    """Return the table of arenas that a ranking explains."""
    rows = []
    for name, draw in HONEST.items():
        named, p = 0, []
        for seed in range(arenas):
            found = pair_scores(ba.fit(draw(FIRST_SEED + seed).votes))
            named += bool(found.flagged.any())
            p.append(found.p_value[np.isfinite(found.p_value)])
        p = np.concatenate(p)
        rows.append([name, len(p), f"{np.mean(p <= 0.05):.4f}", named])
        print(rows[-1], file=sys.stderr, flush=True)
    yield "## One ranking\n"
    yield (
        f"{arenas} arenas a row; competitors differ by prompt with sd .7.  Pairs of five "
        "votes and more, their share with p up to .05, and arenas in which a pair is named.\n"
    )
    yield markdown(["arena", "pairs tested", "p up to .05", "arenas named"], rows)


def changed(arenas: int) -> Iterable[str]:
    """Return the table of arenas with a pair that a ranking does not explain."""
    rows = []
    for change in CHANGES:
        people = partial(ranking, reversal=change)
        for name, draw in (
            ("", partial(draw_arena, people, 4000)),
            (", 60 prompts", partial(draw_on_prompts, people, 4000)),
        ):
            hits, others = 0, 0
            for seed in range(arenas):
                found = pair_scores(ba.fit(draw(FIRST_SEED + seed).votes))
                named = found.code[found.flagged]
                hits += int(1 in named)  # the code of the first two
                others += int(np.sum(named != 1))
            rows.append([f"{change:g} logits{name}", f"{hits / arenas:.2f}", others])
            print(rows[-1], file=sys.stderr, flush=True)
    yield "## One pair apart\n"
    yield (
        f"15 competitors, 4,000 votes, some 38 a pair; of one pair the stronger does so much "
        f"worse.  {arenas} arenas a row: share in which it is named, and other pairs named.\n"
    )
    yield markdown(["arena", "found", "others named"], rows)


def real(_: int) -> Iterable[str]:
    """Return the table of real votes, and the CPU time."""
    rows = []
    for name in ("llmfao", "mt_bench_human", "mt_bench_gpt4"):
        if (DATA / f"{name}.csv").is_file():
            fit = ba.fit(DATA / f"{name}.csv")
            _ = fit.finite_board
            start = time.process_time()
            found = pair_scores(fit)
            seconds = time.process_time() - start
            least = np.nanmin(found.p_value)
            rows.append([name, found.flagged.sum(), f"{least:.2g}", f"{seconds:.3f}"])
    yield "## Real votes\n"
    yield markdown(["votes", "named", "least p", "CPU seconds"], rows)


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=100)
    options = parser.parse_args()
    parts = [line for part in (honest, changed, real) for line in part(options.arenas)]
    command = f"python benchmarks/pairs.py --arenas {options.arenas}"
    write_page("pairs", "Pairs that no ranking explains", parts, command)


if __name__ == "__main__":
    main()
