"""The same votes told otherwise: everyone renamed, votes in another order, both sides swapped.

    uv run python benchmarks/invariance.py [--arenas 500] [--first 0] [--fits default am-elo ...]

Counts the random arenas in which that moves a score by more than a millionth of an Elo point, or leaves an annotator
without a number. A quarter of them are chains of neighbours, a quarter contradict themselves, a quarter never do; three
in five have weights: whole ones, over nine decades, one vote of a billion, fractions. Where votes are
discounted, which takes thresholds, the arena is counted apart.
"""

import warnings
from itertools import count
from typing import Any

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba

MOST = 1e-6
"""Elo points that count as none."""
OUTCOMES = np.array(["model_a", "model_b", "tie"])
SWAPPED = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}
VOTES = ("ordinary", "noise", "chain", "separated")
WEIGHTS = ("none", "counts", "nine decades", "one of a billion", "fractions")
FITS: dict[str, dict[str, Any]] = {
    "default": {},
    "am-elo": {"model": "am-elo"},
    "m-elo": {"model": "m-elo"},
    "bradley-terry": {"model": "bradley-terry"},
    "am-davidson, map": {"model": "am-davidson", "method": "map"},
    "am-elo, flat": {"model": "am-elo", "prior": "flat"},
    "bradley-terry, flat": {"model": "bradley-terry", "prior": "flat"},
}


def arena(seed: int) -> pl.DataFrame:
    """Return the votes of a random arena."""
    rng = np.random.default_rng(seed)
    kind, weights = VOTES[seed % len(VOTES)], WEIGHTS[seed // len(VOTES) % len(WEIGHTS)]
    n, people, votes = int(rng.integers(2, 12)), int(rng.integers(1, 13)), int(10 ** rng.uniform(1, 2.2))
    strength = np.sort(rng.normal(0, rng.choice([0.3, 1, 3]), n))
    a = rng.integers(n, size=votes)
    b = (a + rng.integers(1, n, size=votes)) % n
    if kind == "chain":
        first = rng.integers(n - 1, size=votes)
        turned = rng.random(votes) < 0.5
        a, b = first + turned, first + ~turned
    k = rng.integers(people, size=votes)
    theta, position = rng.normal(1, 0.5, people), rng.normal(0, 0.3, people)
    tie = rng.normal(rng.choice([-3, -0.5, 1]), 0.5, people)
    eta = 0 * a if kind == "noise" else theta[k] * (strength[a] - strength[b]) + position[k]
    outcome = (np.column_stack([eta / 2, -eta / 2, tie[k]]) + rng.gumbel(size=(votes, 3))).argmax(axis=1)
    if kind == "separated":
        outcome = (eta < 0).astype(int)
    weight = {
        "none": np.ones(votes),
        "counts": rng.integers(1, 30, votes).astype(float),
        "nine decades": np.ceil(10 ** rng.uniform(0, 9, votes)),
        "one of a billion": np.where(np.arange(votes) == rng.integers(votes), 1e9, 1.0),
        "fractions": 10 ** rng.uniform(-3, 3, votes),
    }[weights]
    names, judges = (
        np.array([f"{letter}{one:02}" for one in range(size)]) for letter, size in (("m", n), ("k", people))
    )
    columns = {"model_a": names[a], "model_b": names[b], "winner": OUTCOMES[outcome], "judge": judges[k]}
    return pl.DataFrame(columns).with_columns(votes=weight)


def told_otherwise(table: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the same votes with other names, in another order and with sides swapped, and who is called what now."""
    rng = np.random.default_rng([seed, 1])
    new = {}
    for columns, letter in ((["model_a", "model_b"], "x"), (["judge"], "y")):
        names = sorted(set().union(*(table[column] for column in columns)))
        new |= dict(zip(names, (f"{letter}{one:02}" for one in rng.permutation(len(names))), strict=True))
    other = table.select(
        model_a=pl.col("model_b").replace(new),
        model_b=pl.col("model_a").replace(new),
        winner=pl.col("winner").replace(SWAPPED),
        judge=pl.col("judge").replace(new),
        votes="votes",
    )
    return other.sample(fraction=1.0, shuffle=True, seed=seed), new


def fitted(table: pl.DataFrame, options: dict[str, Any]) -> ba.Fit | str:
    """Return a fit, or the name of the error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ba.fit(ba.read_votes(table, weight="votes"), **options)
        except ba.ArenaError as error:
            return type(error).__name__


def difference(one: ba.Fit | str, other: ba.Fit | str, new: dict[str, str]) -> float:
    """Return the largest change of a score in Elo points; infinite where the answers are of two kinds."""
    if isinstance(one, str) or isinstance(other, str):
        return 0.0 if one == other else np.inf
    if one.model != other.model:
        return np.inf
    scores, moved = (ba.leaderboard(fit).set_index("competitor")["elo"] for fit in (one, other))
    return float(np.abs(scores.to_numpy() - moved[[new[name] for name in scores.index]].to_numpy()).max())


def has_gaps(fit: ba.Fit | str) -> bool:
    """Whether the table of annotators has a NaN where a number belongs."""
    if isinstance(fit, str) or not fit.model.needs_annotators:
        return False
    return bool(ba.annotators(fit)[["theta", "theta_lower", "theta_upper", "net_agreement"]].isna().to_numpy().any())


def is_discounted(fit: ba.Fit | str) -> bool:
    """Whether some votes do not count."""
    return not isinstance(fit, str) and fit.votes_discounted > 0


def main() -> None:
    parser = options_of(__doc__, arenas=500, first=0)
    parser.add_argument("--fits", nargs="*", default=list(FITS))
    options = parser.parse_args()
    print("| fit | arenas | with votes discounted | refused | moved | largest, Elo | NaN |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for name in options.fits:
        seen = discounted = refused = gaps = 0
        moved, largest = [], 0.0
        for seed in count(options.first):
            if seen == options.arenas:
                break
            table = arena(seed)
            other, new = told_otherwise(table, seed)
            fits = fitted(table, FITS[name]), fitted(other, FITS[name])
            if any(map(is_discounted, fits)):
                discounted += 1
                continue
            seen, refused = seen + 1, refused + isinstance(fits[0], str)
            gap = difference(*fits, new)
            largest, gaps = max(largest, gap), gaps + any(map(has_gaps, fits))
            moved += [seed] if gap > MOST else []
        print(f"| {name} | {seen} | {discounted} | {refused} | {len(moved)} | {largest:.1e} | {gaps} |", flush=True)
        if moved:
            print(f"moved in {name}: {moved}", flush=True)


if __name__ == "__main__":
    main()
