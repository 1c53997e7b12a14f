"""What one account, and several of so many votes, move a competitor at most: attacks that try to.

    uv run python benchmarks/bound.py [--seeds 1] > benchmarks/results/bound.md

Honest arena: 20 competitors, 60 annotators with tastes of sd .4, 4,000 votes, the target 11th by truth. Accounts cast
so many votes each in the seven ways of :data:`WAYS`. Rows have the largest move of the target among these, in Elo
points, of Bradley-Terry, of the fit with robust=False and of the default, and by what way the default was moved.

Beside them is what clipping alone says: m y votes pull by at most 1 each at information I = 1 / V of the target's
strength, so that it moves by about -ln(1 - m y / I) logits, and without a bound from I votes on.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
from crowds import Crowd, honest_arena
from measuring import markdown, options_of
from promotion import Attack, attacked, board, fitted

import bayes_arena as ba
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.likelihood.problem import Problem
from bayes_arena.markup import percent
from bayes_arena.progress import report
from bayes_arena.ratings.elo import EloScale

CROWD, COMPETITORS, VOTES = Crowd(annotators=60, taste_sd=0.4), 20, 4_000
ACCOUNTS, EACH = (1, 5, 20), (60,)
WAYS = (
    (1.0, Attack("only on the target", 0, 0, 0)),
    (0.5, Attack("half on the target", 0, 0, 0)),
    (0.1, Attack("a tenth on the target", 0, 0, 0)),
    (0.1, Attack("a tenth, among copies of the board", 0, 0, 0, others="copied")),
    (0.1, Attack("a tenth, among copies that meet it", 0, 0, 0, others="copied", meets=True)),
    (0.5, Attack("half, soft", 0, 0, 0, "soft")),
    (0.5, Attack("half, against rivals", 0, 0, 0, rivals=True)),
)
"""Share of an account's votes that is on the target, and what they say."""


def ways(accounts: int, each: int) -> list[Attack]:
    """Return the attacks by so many accounts of so many votes."""
    sized = [(way, max(1, round(share * each))) for share, way in WAYS]
    return [replace(way, accounts=accounts, elsewhere=each - on, on=on) for way, on in sized]


def bradley_terry(cells: ba.Cells) -> Mode:
    """Fit Bradley-Terry."""
    return find_mode(Problem.of(cells, "bradley-terry", "default"))


def main() -> None:
    """Print the table."""
    options = options_of(__doc__, seeds=1).parse_args()
    warnings.simplefilter("ignore")
    points = EloScale().points_per_logit
    fits = ["Bradley-Terry", "robust=False", "default"]
    print(markdown(["seed", "accounts x votes", "of the votes", "by clipping", *fits, "by"], []), flush=True)
    for seed in range(options.seeds):
        arena = honest_arena(CROWD, competitors=COMPETITORS, votes=VOTES, strength_sd=0.8, seed=seed)
        target = int(np.argsort(-arena.strength)[COMPETITORS // 2])
        honest, plain = board(fitted(arena.cells)), bradley_terry(arena.cells)
        information = 1 / float(plain.laplace.variance(np.eye(COMPETITORS)[[target]])[0])
        for accounts in ACCOUNTS:
            for each in EACH:
                report(f"{accounts} x {each}")
                moves = []
                for attack in ways(accounts, each):
                    votes, _ = attacked(arena.cells, arena.strength, target, attack, seed)
                    usual = bradley_terry(votes).point.strength - plain.point.strength
                    others = [board(fitted(votes, robust=robust)) - honest for robust in (False, True)]
                    moves.append((points * usual[target], *(float(one[target]) for one in others), attack.name))
                pull = accounts * each / information
                clipped = f"{-points * math.log(1 - pull):.0f}" if pull < 1 else "none"
                worst = max(moves, key=lambda one: one[2])
                largest = [f"{max(one[which] for one in moves):+.0f}" for which in range(3)]
                share = accounts * each / (VOTES + accounts * each)
                cells = [str(seed), f"{accounts} x {each}", percent(share, ".1f"), clipped, *largest, worst[3]]
                print(f"| {' | '.join(cells)} |", flush=True)
    report("")


if __name__ == "__main__":
    main()
