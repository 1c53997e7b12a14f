"""Whether am-Davidson's Gaussian is found: arenas of its own prior, and perfect annotators.

``python benchmarks/convergence.py [--arenas 1000]``.  Version 0.4 damped the steps of its
sweeps, and not the precision; what it left without an answer is *rescued*, and the board is
held against the truth, and against NUTS.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from functools import partial
from unittest.mock import patch

import numpy as np
from arenas import People, Rng, draw_arena, draw_pairs, draw_votes, of_rankings
from measuring import markdown, write_page

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.standing import Standing, standing_of
from bayes_arena.errors import FitError
from bayes_arena.fits.fit import Fit
from bayes_arena.inference import gaussian
from bayes_arena.model import constants
from bayes_arena.model.priors import Spread
from bayes_arena.votes.votes import Votes

SAMPLED = 3  # rescued arenas beside NUTS
PERFECT = 1e3  # theta of who makes no error
NEVER = -1e4  # ln nu of who never ties


def of_the_prior(rng: Rng) -> People:
    """Draw people and competitors from the default prior."""
    n, size = int(rng.integers(3, 21)), int(rng.integers(2, 41))
    prior = ba.Prior()
    strength = rng.normal(0, drawn(prior.strength, rng), n)
    theta = rng.normal(0, drawn(prior.discrimination, rng), (size, 1))
    tie = rng.normal(0, prior.tie.sd)
    tie = tie + rng.normal(0, drawn(prior.tie_by_annotator, rng), size)
    position = rng.normal(0, prior.position.sd)
    position = position + rng.normal(0, drawn(prior.position_by_annotator, rng), size)
    theta = 1 + theta - theta.mean()
    return of_rankings(theta * strength, rng, tie=tie, position=position)


def drawn(spread: Spread, rng: Rng) -> float:
    """Draw an estimated spread from its prior."""
    return spread.scale * float(np.sqrt(rng.chisquare(spread.degrees)))


def perfect(rng: Rng, *, everybody: bool, reversed_: float = 0.0) -> People:
    """Return annotators without an error; or one such, who casts two thirds of the votes."""
    n, size = int(rng.integers(3, 13)), int(rng.integers(3, 21))
    strength = rng.normal(0, rng.choice([0.5, 1.0, 2.5]), n)
    theta = np.full(size, PERFECT if everybody else 1.0)
    theta[0] = PERFECT
    theta[rng.random(size) < reversed_] *= -1
    return of_rankings(
        theta[:, None] * strength,
        rng,
        tie=np.where(np.abs(theta) == PERFECT, NEVER, 0.0),
        position=np.zeros(size),
        activity=np.append(1.0 if everybody else 2.0 * size, np.ones(size - 1)),
    )


KINDS = {
    "one without an error, two thirds of the votes": partial(perfect, everybody=False),
    "all without an error": partial(perfect, everybody=True),
    "all without an error, three in ten by the reverse": partial(
        perfect, everybody=True, reversed_=0.3
    ),
}


def size_of(seed: int) -> int:
    """Return a number of votes between 40 and 3,000."""
    rng = np.random.default_rng([seed, 59])
    return round(float(np.exp(rng.uniform(*np.log([40, 3000])))))


def perfect_votes(people: Callable[[Rng], People], seed: int) -> Votes:
    """Return votes of people whose average has no finite strengths."""
    rng = np.random.default_rng([seed, 77])
    crowd = people(rng)
    return draw_votes(crowd, *draw_pairs(crowd, size_of(seed), rng), rng)


def fitted(votes: Votes) -> Fit | None:
    """Return am-Davidson's fit, or None without an answer."""
    try:
        return ba.fit(votes, model="am-davidson")
    except FitError:
        return None


def is_found_undamped(votes: Votes) -> bool:
    """Whether sweeps find it that damp the steps only."""
    replaced = patch.object(gaussian, "damped", lambda _, new, *rest: new)
    with replaced, patch.object(constants, "RECOVERY", 2.0):
        return fitted(votes) is not None


def coverage(standing: Standing, truth: np.ndarray) -> float:
    """Return the share of the intervals that hold the truth."""
    lower, upper = standing.bounds
    truth = truth - truth.mean()
    return float(np.mean((lower <= truth) & (truth <= upper)))


def of_own_prior(arenas: int) -> list[str]:
    """Return the tables of arenas drawn from the prior."""
    covered: dict[bool, list[float]] = {True: [], False: []}
    n_failed, rescued = 0, []
    for seed in range(arenas):
        arena = draw_arena(of_the_prior, size_of(seed), seed)
        fit = fitted(arena.votes)
        if fit is None:
            n_failed += 1
            print("no answer", seed, arena.votes, file=sys.stderr, flush=True)
            continue
        is_rescued = not is_found_undamped(arena.votes)
        standing = standing_of(fit, Look(min_votes=0))
        covered[is_rescued].append(coverage(standing, arena.strength))
        if is_rescued:
            rescued.append(fit)
    text = (
        f"{arenas:,} arenas drawn from the prior: 3 to 20 competitors, 2 to 40 annotators, "
        f"40 to 3,000 votes. Without an answer: {n_failed}. Rescued: {len(rescued)}. "
        f"Coverage of the rescued {np.mean(covered[True]):.3f}, of the others "
        f"{np.mean(covered[False]):.3f}.\n"
    )
    header = ["rescued", "largest move", "widths over NUTS's", "least; most"]
    table = markdown(header, [beside_nuts(fit) for fit in rescued[:SAMPLED]])
    beside = (
        "Boards of the rescued beside NUTS: the largest difference in half-widths of "
        "NUTS, and the ratio of the widths.\n"
    )
    return ["## Its own prior\n", text, beside, table]


def beside_nuts(fit: Fit) -> list[str]:
    """Return a row that compares the board with that of NUTS."""
    votes = fit.votes
    sampled = ba.fit(votes, model="am-davidson", method="nuts", draws=2000)
    board, exact = (f.marginals.board for f in (fit, sampled))
    sd = np.sqrt(np.diag(exact.covariance))
    move = np.abs(board.value - exact.value) / (1.96 * sd)
    ratio = np.sqrt(np.diag(board.covariance)) / sd
    name = (
        f"{votes.n_competitors} competitors, {votes.n_annotators} annotators, "
        f"{votes.n_votes:,.0f} votes"
    )
    ends = f"{ratio.min():.2f}; {ratio.max():.2f}"
    return [name, f"{move.max():.2f}", f"{ratio.mean():.2f}", ends]


def of_perfect(arenas: int) -> list[str]:
    """Return the table of annotators without an error."""
    rows = []
    for name, people in KINDS.items():
        failed = undamped = 0
        for seed in range(arenas):
            votes = perfect_votes(people, seed)
            failed += fitted(votes) is None
            undamped += not is_found_undamped(votes)
        rows.append([name, failed, undamped])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["annotators", "without an answer", "with undamped precision"]
    text = f"Of {arenas} arenas a row, 3 to 12 competitors, 3 to 20 annotators.\n"
    return ["## Annotators without an error\n", text, markdown(header, rows)]


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=1000)
    arenas = parser.parse_args().arenas
    warnings.simplefilter("ignore")
    parts = [*of_own_prior(arenas), *of_perfect(max(arenas // 20, 1))]
    command = f"python benchmarks/convergence.py --arenas {arenas}"
    write_page("convergence", "Whether am-Davidson has an answer", parts, command)


if __name__ == "__main__":
    main()
