"""The nearest Gaussian against NUTS, on the model that answers make hardest: many numbers, few votes for each.

    uv run python benchmarks/slices_nuts.py [--draws 500] [llmfao.csv ...] > benchmarks/results/slices_nuts.md

am-davidson with answers (``prompt`` as it is read by default) on LLMFAO and MT-bench, spreads estimated, by
``ba.fit(votes)`` and by ``ba.fit(votes, method="nuts")``. Compared are strengths on the Elo scale, of which boards are
made, and r beside them: the difference of their posterior means in posterior standard deviations of NUTS, and the
ratio of the standard deviations. Looks for the files in ``$BAYES_ARENA_DATA`` (else ``../shared/data``).
"""

import warnings

import arviz as az
import numpy as np
from measuring import DATA, options_of, timed

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.priors import spread_label


def main() -> None:
    """Print the tables."""
    parser = options_of(__doc__, draws=500)
    parser.add_argument("files", nargs="*", default=["llmfao.csv", "mt_bench_human.csv"])
    asked = parser.parse_args()
    for name in asked.files:
        print(f"## {name}\n")
        compare(ba.read_votes(DATA / name), asked.draws)


def compare(cells: ba.Cells, draws: int) -> None:
    """Print the tables of one data set."""
    warnings.simplefilter("ignore")
    gaussian, seconds, _ = timed(lambda: ba.fit(cells))
    options = {"model": gaussian.model, "method": "nuts", "draws": draws, "tune": draws, "seed": 1}
    sampled, sampling, _ = timed(lambda: ba.fit(cells, **options))
    posterior = sampled.tree["posterior"]
    print(f"{gaussian!r}\n\n{seconds:.1f} s, NUTS {sampling:.0f} s\n")
    spreads = [name for name in gaussian.target.spreads if name]  # of the others the prior has the value
    labels = ["strength", *map(spread_label, spreads)]
    worst = az.rhat(posterior.to_dataset()[labels])
    print(f"Largest r-hat {max(float(one.max()) for one in worst.data_vars.values()):.3f}\n")

    print("| spread | Gaussian | NUTS | sd |\n|---|---|---|---|")
    for name in spreads:
        drawn = posterior[spread_label(name)].to_numpy()
        print(f"| {name} | {gaussian.spreads.spread(name):.2f} | {drawn.mean():.2f} | {drawn.std():.2f} |")

    board = ba.draw(gaussian, size=20_000)
    rows = {
        "Elo scale": (board.elo_strength, sampled.samples.elo_strength),
        "r": (board.strength, sampled.samples.strength),
    }
    for scale, (ours, theirs) in rows.items():
        print(f"\n{scale}\n\n| competitor | Gaussian | NUTS | difference in sd | ratio of sd |\n|---|---|---|---|---|")
        center, spread = theirs.mean(axis=0), theirs.std(axis=0, ddof=1)
        mean = project(gaussian.target, gaussian.point, cells.votes_by_annotator()).strength
        mean = gaussian.strength if scale == "r" else mean
        off, ratio = (mean - center) / spread, ours.std(axis=0, ddof=1) / spread
        for row in zip(cells.competitors, mean, center, off, ratio, strict=True):
            print("| {} | {:.3f} | {:.3f} | {:+.2f} | {:.2f} |".format(*row))
        slope = float(center @ mean / (center @ center))
        print(
            f"\nSlope on NUTS {slope:.3f}; largest difference {np.abs(off).max():.2f} sd; ratios {ratio.min():.2f} to "
            f"{ratio.max():.2f}."
        )


if __name__ == "__main__":
    main()
