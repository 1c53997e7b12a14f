"""Default fits that are hard: large counts, annotators of a vote or two, annotators who are all alike.

    uv run python benchmarks/hard_fits.py [--arenas 50] [--votes 600000] [--annotators 40000]

Counts how many of so many random arenas end in an error, by its kind. Nothing here is likely as votes of people: rows
of up to a million votes that contradict each other, annotators spread wider than any seen.
"""

import time
import warnings
from collections import Counter
from collections.abc import Callable

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba

OUTCOMES = np.array(["model_a", "model_b", "tie"])


def large_counts(seed: int, largest: int) -> ba.Cells:
    """Give 5 to 60 rows of one outcome each a count of up to ``largest``."""
    rng = np.random.default_rng(seed)
    competitors, annotators, size = rng.integers(3, 9), rng.integers(2, 9), rng.integers(5, 60)
    rows = []
    for _ in range(size):
        i, j = rng.choice(competitors, 2, replace=False)
        k, outcome = rng.integers(annotators), OUTCOMES[rng.integers(3)]
        rows.append((f"m{i}", f"m{j}", outcome, f"k{k}", float(rng.integers(1, largest))))
    names = ["model_a", "model_b", "winner", "judge", "votes"]
    return ba.read_votes(pl.DataFrame(rows, schema=names, orient="row"), weight="votes")


def sparse(seed: int) -> ba.Cells:
    """Give 200 to 5,000 votes to a twentieth as many annotators or more: evenly, by Pareto, or one of them the rest."""
    rng = np.random.default_rng(seed)
    competitors, votes = int(rng.integers(3, 60)), int(rng.integers(200, 5000))
    annotators = int(votes * rng.uniform(0.05, 1))
    activity = rng.pareto(1, annotators) + 0.1
    others = [
        rng.integers(annotators, size=votes - annotators),
        rng.choice(annotators, votes - annotators, p=activity / activity.sum()),
        np.full(votes - annotators, annotators - 1),
    ][rng.integers(3)]
    k = np.concatenate([np.arange(annotators), others])
    theta = 1 + rng.choice([0, 0.3, 0.8]) * rng.normal(size=annotators)
    tie = rng.choice([-4, -1, 0, 1.5]) + rng.choice([0, 0.5, 2]) * rng.normal(size=annotators)
    position = rng.choice([0, 0.3, 1]) * rng.normal(size=annotators)
    strength = rng.choice([0.1, 0.6, 1.5]) * rng.normal(size=competitors)
    return vote(rng, strength, k, theta, tie, position)


def alike(votes: int, annotators: int) -> ba.Cells:
    """Let annotators who do not differ at all vote on 129 competitors, most of them a few times, some often."""
    rng = np.random.default_rng(0)
    activity = rng.pareto(1.2, annotators) + 0.2
    k = np.concatenate([np.arange(annotators), rng.choice(annotators, votes - annotators, p=activity / activity.sum())])
    return vote(rng, rng.normal(0, 0.6, 129), k, np.ones(annotators), np.zeros(annotators), np.zeros(annotators))


def disagreeing(votes: int, annotators: int, competitors: int) -> ba.Cells:
    """Let annotators disagree along two directions, by .4 logits each."""
    rng = np.random.default_rng(0)
    strength, directions = rng.normal(0, 0.6, competitors), rng.normal(size=(2, competitors))
    seen = strength + rng.normal(0, 0.4, (annotators, 2)) @ directions
    same = np.zeros(annotators)
    return vote(rng, seen, rng.integers(annotators, size=votes), same + 1, same - 0.3, same)


def vote(rng, strength, k, theta, tie, position) -> ba.Cells:
    """Draw votes of annotators k on random pairs, by Davidson's model; strengths are (n,), or as each sees them."""
    seen, size = np.atleast_2d(strength), len(k)
    n, by = seen.shape[1], k if len(seen) > 1 else 0
    i = rng.integers(n, size=size)
    j = (i + rng.integers(1, n, size)) % n
    eta = theta[k] * (seen[by, i] - seen[by, j]) + position[k]
    noise = rng.gumbel(size=(size, 3))
    outcome = (np.column_stack([eta / 2, -eta / 2, tie[k]]) + noise).argmax(axis=1)
    columns = {"model_a": i, "model_b": j, "winner": OUTCOMES[outcome], "judge": k}
    return ba.read_votes(pl.DataFrame(columns).with_columns(pl.col("model_a", "model_b", "judge").cast(pl.String)))


def attempt(kind: str, make: Callable[[int], ba.Cells], arenas: int) -> None:
    """Print a row: arenas, errors by their kind, seconds in all and of the slowest."""
    ends, seconds = Counter(), []
    for seed in range(arenas):
        cells, start = make(seed), time.perf_counter()
        try:
            ends["fitted"] += bool(ba.fit(cells))
        except ba.ArenaError as error:
            ends[type(error).__name__] += 1
        seconds.append(time.perf_counter() - start)
    errors = ", ".join(f"{count} {name}" for name, count in ends.items() if name != "fitted") or "none"
    print(f"| {kind} | {arenas} | {errors} | {sum(seconds):.1f} | {max(seconds):.1f} |", flush=True)


def main() -> None:
    options = options_of(__doc__, arenas=50, votes=600_000, annotators=40_000).parse_args()
    warnings.simplefilter("ignore")
    ba.fit(ba.read_votes(ba.simulate(annotators=300, votes=900, seed=1).votes))  # compiles, once an installation
    print("| | arenas | errors | seconds | slowest |\n|---|---:|---|---:|---:|")
    for largest in (10_000, 100_000, 1_000_000):
        attempt(f"rows of up to {largest:,} votes", lambda seed, top=largest: large_counts(seed, top), options.arenas)
    attempt("few votes an annotator", sparse, options.arenas)
    for tie_propensity, sd in ((0.5, 0.2), (0.0, 0.0), (1.0, 0.0)):
        attempt(
            f"3,000 annotators of one vote each, tie propensity {tie_propensity:g}",
            lambda seed, nu=tie_propensity, sd=sd: ba.read_votes(
                ba.simulate(annotators=3000, votes=3000, tie_propensity=nu, discrimination_sd=sd, seed=seed).votes
            ),
            min(options.arenas, 4),
        )
    attempt(
        f"{options.votes:,} votes of {options.annotators:,} annotators all alike",
        lambda _: alike(options.votes, options.annotators),
        1,
    )


if __name__ == "__main__":
    main()
