"""The combined board beside Davidson's and am-Davidson's: errors, coverage, cost.

    python benchmarks/combined.py [--arenas 40] [--only disagreement crowds prompts cost]

Simulated arenas (``arenas.py``), and LLMFAO and MT-bench where ``$BAYES_ARENA_DATA`` (else
``../shared/data``) has them.  Truths: the average vote of everybody who voted; of prompts
that on new ones.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from arenas import (
    REGIMES,
    Arena,
    People,
    Rng,
    camp,
    crowd,
    draw_arena,
    draw_on_prompts,
    of_rankings,
)
from calibration import Tally
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.combined import combined_standing
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import standing_of

FIRST_SEED = 8_000
LOOK = Look(min_votes=0)
BOARDS = ("davidson", "am-davidson", "combined")
HEADER = ["arena", "am-Davidson", "combined", "width", "coverage", "of Davidson", "a"]
type Draw = Callable[[int], Arena]


def skilled(rng: Rng) -> People:
    """Let annotators of one ranking have skills of sd .8 in logarithm."""
    theta = np.exp(rng.normal(0, 0.8, (40, 1)))
    return of_rankings(theta * rng.normal(size=20), rng)


CROWDS: dict[str, Callable[[Rng], People]] = {
    "skills of sd .8 in logarithm": skilled,
    "30 % guess": partial(crowd, bad=0.3, kind="guess"),
    "60 % guess": partial(crowd, bad=0.6, kind="guess"),
    "15 % reversed": partial(crowd, bad=0.15),
    "30 % reversed": partial(crowd, bad=0.3),
}
ON_PROMPTS: dict[str, Callable[[Rng], People]] = {
    "camp of 30 %": partial(camp, share=0.3),
    "skills of sd .8 in logarithm": skilled,
    "30 % guess": partial(crowd, bad=0.3, kind="guess"),
    "15 % reversed": partial(crowd, bad=0.15),
}


def compared(
    name: str, draw: Draw, arenas: int
) -> tuple[list[object], dict[str, float]]:
    """Return a row of a table, and its numbers: RMSE over Davidson's, and coverage."""
    tallies = {board: Tally() for board in BOARDS}
    shares = []
    for seed in range(arenas):
        arena = draw(FIRST_SEED + seed)
        fits = [ba.fit(arena.votes, model=model) for model in BOARDS[:2]]
        combined, share = combined_standing(*fits, LOOK)
        standings = [*(standing_of(fit, LOOK) for fit in fits), combined]
        for tally, standing in zip(tallies.values(), standings, strict=True):
            tally.add(standing, arena.strength)
        shares.append(share)
    plain, weighted, mixed = tallies.values()
    width = np.mean(mixed.width) / np.mean(plain.width)
    numbers = {
        "am-davidson": weighted.rmse / plain.rmse,
        "combined": mixed.rmse / plain.rmse,
        "coverage": float(np.mean(mixed.covered)),
        "covered by am-davidson": float(np.mean(weighted.covered)),
    }
    cells = [numbers["am-davidson"], numbers["combined"], width]
    row = [name, *(f"{cell:.3f}" for cell in cells), mixed.coverage, plain.coverage]
    row.append(f"{np.mean(shares):.2f}")
    print(row, file=sys.stderr, flush=True)
    return row, numbers


def disagreement(arenas: int) -> Iterable[str]:
    """Return the table of people who disagree."""
    rows, results = [], []
    for name, (people, n_votes) in REGIMES.items():
        row, numbers = compared(name, partial(draw_arena, people, n_votes), arenas)
        rows.append(row)
        results.append(numbers)
    ratio, coverage = (
        np.array([r[k] for r in results]) for k in ("combined", "coverage")
    )
    other = np.array([r["am-davidson"] for r in results])
    covered = np.array([r["covered by am-davidson"] for r in results])
    yield "## People who disagree\n"
    yield (
        f"{arenas} arenas a regime: RMSE over Davidson's, mean width over Davidson's, "
        "coverage of 95 % intervals, and a, the share of the way.  RMSE over Davidson's: "
        f"mean {ratio.mean():.3f}, worst {ratio.max():.3f} (am-Davidson {other.mean():.3f}, "
        f"{other.max():.3f}); coverage: mean {coverage.mean():.3f}, least "
        f"{coverage.min():.3f} (am-Davidson {covered.mean():.3f}, {covered.min():.3f}).\n"
    )
    yield markdown(HEADER, rows)


def crowds(arenas: int) -> Iterable[str]:
    """Return the table of people of one ranking who follow it more and less closely."""
    rows = []
    for name, people in CROWDS.items():
        rows.append(compared(name, partial(draw_arena, people, 4000), arenas)[0])
    yield "## One ranking\n"
    yield f"40 annotators, 20 competitors, 4,000 votes; {arenas} arenas a row.\n"
    yield markdown(HEADER, rows)


def prompts(arenas: int) -> Iterable[str]:
    """Return the table of prompts that repeat."""
    rows = []
    for count in (60, 12):
        for name, people in ON_PROMPTS.items():
            draw = partial(draw_on_prompts, people, 4000, prompts=count)
            rows.append(compared(f"{count} prompts: {name}", draw, arenas)[0])
    yield "## Prompts that repeat\n"
    yield (
        "The same; competitors differ by prompt with sd .7.  Intervals are clustered by "
        f"prompt, and truths are on new prompts; {arenas} arenas a row.\n"
    )
    yield markdown(HEADER, rows)


def cost(arenas: int) -> Iterable[str]:
    """Return the table of real votes: how far the board goes, and at what cost."""
    rows = []
    for name in ("llmfao", "mt_bench_human"):
        if (DATA / f"{name}.csv").is_file():
            votes = ba.read_votes(DATA / f"{name}.csv")
            rows.append(timed(f"{name}, by prompt", votes))
            rows.append(timed(f"{name}, by vote", votes.collapse(annotators=True)))
    yield "## Real votes\n"
    yield "The largest move from Davidson's board in Elo; CPU seconds beside both fits.\n"
    yield markdown(["votes", "a", "largest move", "fits", "combined"], rows)


def timed(name: str, votes: ba.Votes) -> list[object]:
    """Return a row of the table of costs."""
    start = time.process_time()
    fits = [ba.fit(votes, model=model) for model in BOARDS[:2]]
    plain = standing_of(fits[0])
    _ = fits[1].marginals.board
    middle = time.process_time()
    combined, share = combined_standing(*fits)
    seconds = middle - start, time.process_time() - middle
    move = ELO.points_per_logit * np.abs(combined.strength - plain.strength).max()
    return [name, f"{share:.2f}", f"{move:.0f}", *(f"{s:.2f}" for s in seconds)]


PARTS: dict[str, Callable[[int], Iterable[str]]] = {
    "disagreement": disagreement,
    "crowds": crowds,
    "prompts": prompts,
    "cost": cost,
}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--arenas", type=int, default=40)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    parts = [line for name in options.only for line in PARTS[name](options.arenas)]
    command = f"python benchmarks/combined.py --arenas {options.arenas}"
    write_page("combined", "The combined board", parts, command)


if __name__ == "__main__":
    main()
