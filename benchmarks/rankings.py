"""Whether the standard errors of pairs from rankings are those of a bootstrap over rankings.

    uv run python benchmarks/rankings.py [--rankings 2000] [--replicates 200]

Simulates five-way rankings like those of WMT: 13 systems, judged with Gumbel noise (Plackett-Luce) and put on a scale
of steps, so that systems tie; and the same without ties. Prints the mean over systems of the standard error, by the
inverse information and by a bootstrap over rankings, their ratio, and what that would be if every pair weighed 1.
"""

import numpy as np
import polars as pl
from measuring import options_of

import bayes_arena as ba
from bayes_arena.markup import percent
from bayes_arena.votes.cells import with_counts

SYSTEMS, AT_ONCE = 13, 5
MODELS = {"half wins": ba.Model("half"), "davidson": ba.Model("davidson", ties="davidson")}


def simulated(rankings: int, step: float, spread: float, seed: int) -> pl.DataFrame:
    """Long rankings; judgments within a step of the scale tie."""
    rng = np.random.default_rng(seed)
    strength = rng.normal(0, spread, SYSTEMS)
    shown = rng.permuted(np.tile(np.arange(SYSTEMS), (rankings, 1)), axis=1)[:, :AT_ONCE]
    judged = strength[shown] + rng.gumbel(size=shown.shape)
    rank = -np.floor(judged / step) if step else -judged
    rank -= rank.min(axis=1, keepdims=True)
    names = np.array([f"system {index:02d}" for index in range(SYSTEMS)])
    columns = {"ranking": np.repeat(np.arange(rankings), AT_ONCE), "competitor": names[shown.ravel()]}
    return pl.DataFrame(columns | {"rank": rank.ravel()})


def bootstrapped(cells: ba.Cells, model: ba.Model, replicates: int) -> float:
    rng, ranking = np.random.default_rng(0), cells.slices["ranking"]
    size, strengths = len(cells.slice_names["ranking"]), []
    for _ in range(replicates):
        times = np.bincount(rng.integers(size, size=size), minlength=size)[ranking]
        again = with_counts(cells, cells.counts * times[:, None])
        strengths.append(ba.fit(again, model=model, prior="flat", method="map").strength)
    return float(np.std(strengths, axis=0).mean())


def main() -> None:
    options = options_of(__doc__, rankings=2000, replicates=200).parse_args()
    print("| strengths' sd | ties | model | weight | sd | bootstrap | ratio | ratio at weight 1 |\n|" + "---|" * 8)
    for spread in (0.3, 1.0):
        for step in (0.0, 0.75):
            cells = ba.read_votes(simulated(options.rankings, step, spread, seed=1), layout="rankings")
            ties = cells.counts[:, 2].sum() / cells.n_votes
            weight = cells.counts[0].max()
            for name, model in MODELS.items():
                if ties == 0 and model.has_tie_outcome:
                    continue
                sd = ba.strengths(ba.fit(cells, model=model, prior="flat", method="map"))["sd"].mean()
                truth = bootstrapped(cells, model, options.replicates)
                ratio, plain = sd / truth, sd * weight**0.5 / truth
                numbers = f"{weight:.2f} | {sd:.4f} | {truth:.4f} | {ratio:.3f} | {plain:.3f}"
                print(f"| {spread} | {percent(ties)} | {name} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
