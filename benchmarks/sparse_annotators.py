"""Many annotators of few votes: is the scale true, do intervals cover, and how long does it take.

    uv run python benchmarks/sparse_annotators.py [--arenas 10] [--votes 1000000] [--annotators 100000] [--robust both]

Simulated arenas of 129 competitors with strengths of sd 1; theta ~ Normal(1, 0.5), negative for one annotator in 44,
ln nu ~ Normal(0, 0.8), b ~ Normal(0, 0.2), as am-davidson says; annotators cast half as many votes as there are for
each, and the rest goes by activities that are exponential. Prints means over the arenas with their standard errors,
with ``robust=False`` and ``robust=True``: slopes and shares inside 89 % intervals of the strengths, and of the
leaderboard's Elo scores, of which the true ones are those of the true strengths among the true annotators, on the
leaderboard's scale; the estimated spreads divided by the standard deviations of the arena's own truth; honest votes, as
all are, that do not count; and seconds.
"""

import sys
import warnings
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import polars as pl
from measuring import options_of, timed
from true_boards import by_name

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point
from bayes_arena.markup import percent
from bayes_arena.progress import report
from bayes_arena.ratings.elo import EloScale

LEVEL = 0.89
COMPETITORS = 129
OUTCOMES = ["model_a", "model_b", "tie"]


@dataclass(frozen=True)
class Truth:
    """Strengths (n,), and (theta, ln nu, b) of every annotator, (M, 3)."""

    strength: np.ndarray
    own: np.ndarray


def arena(votes: int, annotators: int, seed: int) -> tuple[Truth, pl.DataFrame]:
    """Draw an arena, and its votes by Davidson's model."""
    rng = np.random.default_rng([seed, annotators])
    strength = rng.normal(0, 1, COMPETITORS)
    own = np.array([1.0, 0.0, 0.0]) + rng.normal(size=(annotators, 3)) * [0.5, 0.8, 0.2]
    least, activity = votes // annotators // 2, rng.exponential(size=annotators)
    others = rng.choice(annotators, votes - least * annotators, p=activity / activity.sum())
    k = rng.permutation(np.concatenate([np.repeat(np.arange(annotators), least), others]))
    i = rng.integers(COMPETITORS, size=votes)
    j = (i + rng.integers(1, COMPETITORS, size=votes)) % COMPETITORS
    theta, tie, position = own[k].T
    half = 0.5 * (theta * (strength[i] - strength[j]) + position)
    outcome = (np.column_stack([half, -half, tie]) + rng.gumbel(size=(votes, 3))).argmax(axis=1)
    columns = {"model_a": i, "model_b": j, "winner": np.array(OUTCOMES)[outcome], "judge": k}
    named = pl.DataFrame(columns).with_columns(pl.col("model_a", "model_b", "judge").cast(pl.String))
    return Truth(strength, own), named


def measured(truth: Truth, cells: ba.Cells, robust: bool) -> dict[str, float]:
    """Fit, and compare with the truth."""
    fit, fitting, _ = timed(lambda: ba.fit(cells, robust=robust))
    board, ranking, _ = timed(lambda: by_name(fit, level=LEVEL))
    competitors = fit.cells.competitors
    own = truth.own[[int(name) for name in fit.cells.annotators]]
    mean = own.mean(axis=0)  # where the model has it: mean theta is 1, mean ln nu and b are common
    own = np.column_stack([own[:, 0] / mean[0], own[:, 1:] - mean[1:]])
    strength = (truth.strength - truth.strength.mean())[[int(name) for name in competitors]] * mean[0]
    votes, table = fit.cast.votes_by_annotator(), ba.strengths(fit).set_index("competitor").loc[list(competitors)]
    elo = EloScale().points(project(fit.target, Point(strength, mean[1:], own), votes).strength, competitors)
    z = (table["strength"] - strength) / table["sd"]
    spreads = fit.spreads.discrimination, fit.spreads.tie_spread, fit.spreads.position_spread
    return {
        "slope of fitted on true strengths": np.polyfit(strength, table["strength"], 1)[0],
        f"strengths inside {percent(LEVEL)} intervals": np.mean(np.abs(z) < NormalDist().inv_cdf(0.5 + LEVEL / 2)),
        "slope of fitted on true Elo scores": np.polyfit(elo, board["elo"], 1)[0],
        f"Elo scores inside {percent(LEVEL)} intervals": np.mean((board["lower"] <= elo) & (elo <= board["upper"])),
        **{
            f"spread of {name}, fitted / true": found / sd
            for name, found, sd in zip(("theta", "ln nu", "b"), spreads, own.std(axis=0), strict=True)
        },
        "honest votes discounted": fit.votes_discounted / fit.cast.n_votes,
        "seconds: fit": fitting,
        "seconds: leaderboard": ranking,
    }


def main() -> None:
    """Print the table."""
    parser = options_of(__doc__, arenas=10, votes=1_000_000, annotators=100_000)
    parser.add_argument("--robust", choices=["off", "on", "both"], default="both")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    ba.fit(ba.read_votes(ba.simulate(annotators=300, votes=900, seed=1).votes))  # compiles, once an installation
    modes = {"off": [False], "on": [True], "both": [False, True]}[options.robust]
    found: dict[bool, list[dict[str, float]]] = {robust: [] for robust in modes}
    for seed in range(options.arenas):
        report("arenas", seed, options.arenas)
        truth, votes = arena(options.votes, options.annotators, seed)
        cells = ba.read_votes(votes)
        for robust in modes:
            found[robust].append(measured(truth, cells, robust))
    report("")
    command = " ".join(["uv run python benchmarks/sparse_annotators.py", *sys.argv[1:]])
    print(f"    {command}\n")
    print(f"{options.arenas} arenas of {options.votes:,} votes of {options.annotators:,} annotators.\n")
    print("| |", " | ".join("robust" if robust else "robust=False" for robust in modes), "|")
    print("|---|" + "---:|" * len(modes))
    for name in found[modes[0]][0]:
        values = [np.array([one[name] for one in found[robust]]) for robust in modes]
        digits = 1 if "seconds" in name else 4
        errors = [one.std(ddof=1) / np.sqrt(len(one)) if len(one) > 1 else np.nan for one in values]
        cells_of = [f"{one.mean():.{digits}f} ± {error:.{digits}f}" for one, error in zip(values, errors, strict=True)]
        print(f"| {name} | {' | '.join(cells_of)} |")


if __name__ == "__main__":
    main()
