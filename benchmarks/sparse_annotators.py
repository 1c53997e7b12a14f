"""Many annotators of few votes: is the scale true, do intervals cover, and how long does it take.

    uv run python benchmarks/sparse_annotators.py [--annotators 61000] [--votes 1670250]

One simulated arena of 129 competitors; theta of sd 0.5, ln nu of sd 0.8, b of sd 0.2. Prints the slope of the fitted on
the true strengths, the share of true strengths inside 89 % intervals and the root mean square z-score.
"""

import argparse
import time
from statistics import NormalDist

import numpy as np

import bayes_arena as ba

LEVEL = 0.89


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--annotators", type=int, default=61_000)
    parser.add_argument("--votes", type=int, default=1_670_250)
    options = parser.parse_args()
    small = ba.simulate(annotators=300, votes=900, seed=1)
    ba.fit(ba.read_votes(small.votes))  # compiles, once an installation
    arena = ba.simulate(
        competitors=129,
        annotators=options.annotators,
        votes=options.votes,
        tie_spread=0.8,
        position_spread=0.2,
        seed=7,
    )
    truth = arena.strength * arena.discrimination.mean()
    laps = [time.perf_counter()]
    cells = ba.read_votes(arena.votes)
    laps.append(time.perf_counter())
    fit = ba.fit(cells)
    laps.append(time.perf_counter())
    ba.leaderboard(fit)
    laps.append(time.perf_counter())
    reading, fitting, ranking = np.diff(laps)
    table = ba.strengths(fit)
    z = (table["strength"] - truth) / table["sd"]
    inside = np.mean(np.abs(z) < NormalDist().inv_cdf(0.5 + LEVEL / 2))
    print(f"{options.votes:,} votes of {options.annotators:,} annotators, marginal by {fit.evidence}\n")
    print("| | |\n|---|---:|")
    print(f"| slope of fitted on true strengths | {np.polyfit(truth, table['strength'], 1)[0]:.3f} |")
    print(f"| inside {LEVEL:.0%} intervals | {inside:.3f} |")
    print(f"| rms z | {np.sqrt(np.mean(z**2)):.2f} |")
    print(f"| sd of theta, ln nu, b (true 0.5, 0.8, 0.2) | {fit.spreads.discrimination:.3f}, ", end="")
    print(f"{fit.spreads.tie_spread:.3f}, {fit.spreads.position_spread:.3f} |")
    print(f"| seconds: read, fit, leaderboard | {reading:.1f}, {fitting:.1f}, {ranking:.1f} |")


if __name__ == "__main__":
    main()
