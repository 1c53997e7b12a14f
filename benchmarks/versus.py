"""Is the number of votes that would settle a pair right? Pairs of simulated arenas, voted on until they should be.

    uv run python benchmarks/versus.py [--arenas 100]

Arenas of 10 competitors, r ~ Normal(0, 1), 1,000 votes on uniform pairs by 20 annotators with theta ~ Normal(1, .5),
nu = 1. Of each arena one pair is drawn among those that are not settled at .95 and are estimated to take 5,000 further
votes or less. So many votes on it are cast, by annotators drawn anew for each vote, and half and twice as many; after
each of these the same model is fitted again. Printed: how often the order is settled then, either way (the estimate
says about half of the time), and in which share of these it is right.
"""

import math
import sys
import warnings

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba
from bayes_arena.decisions.versus import pair_columns
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.votes.outcomes import TIE, WIN

MODELS = "bradley-terry", "am-davidson"
MOST = 5000


def further(arena: ba.Arena, pair: tuple[str, str], size: int, rng: np.random.Generator) -> pl.DataFrame:
    """Cast votes on a pair."""
    i, j = (arena.competitors.index(name) for name in pair)
    k = rng.integers(len(arena.annotators), size=size)
    gap = arena.discrimination[k] * (arena.strength[i] - arena.strength[j])
    p = np.exp(davidson.LIKELIHOOD.log_probabilities(np.array([gap, arena.log_tie_propensity[k]])))
    outcome = (rng.random(size) > np.cumsum(p[[WIN, TIE]], axis=0)).sum(axis=0)
    winner, judge = np.array(["model_a", "tie", "model_b"])[outcome], np.array(arena.annotators)[k]
    return pl.DataFrame({"model_a": [pair[0]] * size, "model_b": [pair[1]] * size, "winner": winner, "judge": judge})


def settled(model: str, seed: int) -> list[tuple[bool, bool]] | None:
    """Say whether half, all and twice the votes to go settle a pair, and whether rightly; None if there is no pair."""
    arena, rng = ba.simulate(competitors=10, annotators=20, votes=1000, seed=seed), np.random.default_rng([seed, 7])
    fit = ba.fit(arena.votes, model=model, robust=False)
    columns, _, unsettled = pair_columns(fit, 0.95)
    to_go = columns["votes_to_go"][:unsettled].astype(float)
    rows = np.flatnonzero((to_go > 0) & (to_go <= MOST))
    if not len(rows):
        return None
    row = rng.choice(rows)
    pair = columns["competitor"][row], columns["opponent"][row]
    votes = further(arena, pair, 2 * int(to_go[row]), rng)
    better = arena.strength[arena.competitors.index(pair[0])] > arena.strength[arena.competitors.index(pair[1])]
    found = []
    for times in (0.5, 1, 2):
        cast = pl.concat([arena.votes, votes[: math.ceil(times * to_go[row])]])
        now = ba.versus(ba.fit(cast, model=model, robust=False), *pair)
        found.append((now.settled, (now.p_better > 0.5) == better))
    return found


def main() -> None:
    arenas = options_of(__doc__, arenas=100).parse_args().arenas
    warnings.simplefilter("ignore")
    print(f"```\n{' '.join(['uv run python', *sys.argv])}\n```\n")
    print("# Votes that would settle a pair: were they enough?\n")
    print("| model | pairs | votes cast, of those estimated | settled | of these rightly |\n|---|---|---|---|---|")
    for model in MODELS:
        pairs = [found for seed in range(arenas) if (found := settled(model, seed))]
        for times, looks in zip(("half", "all", "twice"), zip(*pairs, strict=True), strict=True):
            right = [is_right for is_settled, is_right in looks if is_settled]
            share = np.mean([is_settled for is_settled, _ in looks])
            error = math.sqrt(share * (1 - share) / len(looks))
            print(f"| {model} | {len(looks)} | {times} | {share:.2f} ({error:.2f}) | {np.mean(right):.2f} |")


if __name__ == "__main__":
    main()
