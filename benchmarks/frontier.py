"""Whether P(on the frontier) is what it says, and whom the sentence would ship.

    python benchmarks/frontier.py [--arenas 100]

Simulated arenas (``arenas.py``) of 20 competitors.  Prices are log-normal and go with
strength: ln price = z + noise of sd 1, with z the strengths in standard deviations.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

import numpy as np
from arenas import (
    Arena,
    N,
    People,
    Rng,
    draw_arena,
    draw_on_prompts,
    of_rankings,
    thetas,
)
from measuring import markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.frontier import Frontier, frontier_of
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import standing_of

FIRST_SEED = 9_000  # seeds of other pages are below
BINS = (0.0, 0.05, 0.3, 0.7, 0.9, 1.0)  # of what is said; 1 itself is a bin of its own
NEARLY_AS_GOOD = 30  # Elo below the best


def one_ranking(rng: Rng, sd: float = 1.0) -> People:
    """Forty annotators with one ranking, whose strengths have the sd given, in logits."""
    return of_rankings(thetas(rng, 40) * rng.normal(0, sd, N), rng)


DRAWS: dict[str, Callable[[int], Arena]] = {
    "4,000 votes": partial(draw_arena, one_ranking, 4000),
    "1,000 votes": partial(draw_arena, one_ranking, 1000),
    "4,000 votes, strengths of sd .3": partial(
        draw_arena, partial(one_ranking, sd=0.3), 4000
    ),
    "4,000 votes on 60 prompts": partial(draw_on_prompts, one_ranking, 4000),
}


def prices(strength: np.ndarray, seed: int) -> np.ndarray:
    """Draw prices that go with strength."""
    rng = np.random.default_rng([seed, 61])
    return np.exp(strength / strength.std() + rng.normal(size=len(strength)))


def on_frontier(strength: np.ndarray, price: np.ndarray) -> np.ndarray:
    """Return who has nobody cheaper above, by the truth."""
    order = np.argsort(price)
    is_on = np.empty(len(price), bool)
    is_on[order] = strength[order] >= np.maximum.accumulate(strength[order])
    return is_on


def arenas_of(draw: Callable[[int], Arena], arenas: int) -> Iterable[tuple]:
    """Yield the frontier of each arena, and its truth in the order of the frontier."""
    for seed in range(FIRST_SEED, FIRST_SEED + arenas):
        arena = draw(seed)
        price = prices(arena.strength, seed)
        frontier = frontier_of(standing_of(ba.fit(arena.votes), Look()), price)
        strength = arena.strength[frontier.codes]
        yield frontier, strength, on_frontier(strength, frontier.price)


def measured(draw: Callable[[int], Arena], arenas: int) -> tuple[list, list]:
    """Return what is said and true of all competitors, and of those to ship."""
    said, true, shipped = [], [], []
    for frontier, strength, is_on in arenas_of(draw, arenas):
        said.append(frontier.p_frontier)
        true.append(is_on)
        shipped.append(choice(frontier, strength, is_on))
    said, true = np.concatenate(said), np.concatenate(true)
    is_trivial = said == 1.0
    cells = []
    for low, high in pairwise(BINS):
        mask = (said >= low) & (said < high) & ~is_trivial
        cells.append(f"{said[mask].mean():.3f}: {true[mask].mean():.3f} ({mask.sum()})")
    cells.append(f"{true[is_trivial].mean():.3f} ({is_trivial.sum()})")
    return cells, shipped


def choice(
    frontier: Frontier, strength: np.ndarray, is_on: np.ndarray
) -> tuple[float, ...] | None:
    """Return of the one to ship: P said, whether true, Elo below the best, share of price."""
    row = frontier.choice
    if row is None:
        return None
    best = int(np.argmax(strength))
    short = ba.EloScale().points_per_logit * (strength[best] - strength[row])
    return (
        frontier.p_frontier[row],
        is_on[row],
        short,
        frontier.price[row] / frontier.price[best],
    )


def tables(arenas: int) -> Iterable[str]:
    """Return the tables of P(on the frontier), and of the sentence."""
    calibration, sentences = [], []
    for name, draw in DRAWS.items():
        cells, shipped = measured(draw, arenas)
        calibration.append([name, *cells])
        known = np.array([each for each in shipped if each is not None], float)
        p, is_on, short, share = known.T
        sentences.append(
            [
                name,
                f"{len(known)} of {arenas}",
                f"{p.mean():.2f}: {is_on.mean():.2f}",
                f"{np.median(short):.0f}",
                f"{np.mean(short <= NEARLY_AS_GOOD):.2f}",
                f"{np.median(share):.2f}",
            ]
        )
        print(calibration[-1], sentences[-1], file=sys.stderr, flush=True)
    names = [f"{low:g} to {high:g}" for low, high in pairwise(BINS)]
    yield "## P(on the frontier)\n"
    yield (
        f"{arenas} arenas a row, of {N} competitors.  For competitors with P in a range: "
        "the mean of P said, and the share of them that truly have nobody cheaper above "
        "(and how many they are).  In the last column all draws agree.\n"
    )
    yield markdown(["arena", *names, "1"], calibration)
    yield "## The one to ship\n"
    yield (
        "Arenas in which one is named; its mean P said, and the share in which it truly "
        "has nobody cheaper above; how far it truly is below the best of all (median Elo), "
        f"how often by {NEARLY_AS_GOOD} Elo at most; and its price as a share of that of "
        "the best (median).\n"
    )
    header = ["arena", "named", "said: true", "Elo below", "near", "share of price"]
    yield markdown(header, sentences)


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=100)
    options = parser.parse_args()
    command = f"python benchmarks/frontier.py --arenas {options.arenas}"
    write_page("frontier", "Score against price", [*tables(options.arenas)], command)


if __name__ == "__main__":
    main()
