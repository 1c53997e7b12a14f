"""Do intervals cover? Simulated arenas of the paper's Table 1 size, 30 % ties, true discriminations of sd 0.5.

    uv run python benchmarks/calibration.py [--arenas 100] [--model am-davidson] [--interval laplace|sandwich|nuts]

Prints the share of true values inside 50, 89 and 95 % intervals, for the Elo strengths r* of the competitors (the true
ones projected exactly like the fitted ones) and the discriminations theta, and the root mean square z-score. A
calibrated interval covers what it says; the Monte Carlo error in brackets treats the arenas as independent.

With ``--interval sandwich`` the strengths are those of the mode (``method="map"``) and their variance is the
sandwich's. With ``--interval nuts`` a z-score is the normal quantile of the truth's rank among the posterior draws
(simulation-based calibration), from arenas whose annotators also differ in their ties and sides, as am-davidson says.
"""

import argparse
import sys
import warnings
from statistics import NormalDist

import numpy as np
from scipy.special import ndtri

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point
from bayes_arena.ratings.intervals.robust import sandwich_variance

LEVELS = (0.5, 0.89, 0.95)


def true_point(arena: ba.Arena, fit: ba.Fit) -> Point:
    """Return the truth in the parameters of the fitted model: mean theta 1, no position effect, nu = 1."""
    mean = arena.discrimination.mean()
    own = np.zeros_like(fit.point.own)
    if fit.target.free_discrimination:
        own[:, 0] = arena.discrimination / mean
    return Point(arena.strength * mean, np.zeros_like(fit.point.common), own)


def z_of_ranks(arena: ba.Arena, model: str) -> tuple[np.ndarray, np.ndarray]:
    fit = ba.fit(ba.read_votes(arena.votes), model=model, method="nuts", draws=500, seed=1)
    own = np.column_stack([arena.discrimination, arena.log_tie_propensity, arena.position])
    mean = own.mean(axis=0)
    truth = Point(arena.strength * mean[0], mean[1:], np.column_stack([own[:, 0] / mean[0], own[:, 1:] - mean[1:]]))
    strength = project(fit.model, fit.target, truth, fit.cells.votes_by_annotator()).strength

    def z(drawn: np.ndarray, true: np.ndarray) -> np.ndarray:
        return ndtri(((drawn < true).sum(axis=0) + 0.5) / (len(drawn) + 1))

    return z(fit.samples.elo_strength, strength), z(fit.samples.own[:, :, 0], truth.own[:, 0])


def z_scores(arena: ba.Arena, model: str, interval: str) -> tuple[np.ndarray, np.ndarray]:
    cells = ba.read_votes(arena.votes)
    fit = ba.fit(cells, model=model, method="map" if interval == "sandwich" else None)
    votes = cells.votes_by_annotator()
    fitted = project(fit.model, fit.target, fit.point, votes)
    truth = true_point(arena, fit)
    if fit.model.ties == "half":  # the soft likelihood estimates the expected score, not Davidson's parameters
        davidson = ba.fit(cells, model="am-davidson")
        true_strength = project(davidson.model, davidson.target, true_point(arena, davidson), votes).strength
    else:
        true_strength = project(fit.model, fit.target, truth, votes).strength
    if interval == "sandwich":
        variance = sandwich_variance(fit, fitted.by_head, fitted.by_own)
    else:
        variance = np.diag(fit.laplace.covariance(fitted.by_head, fitted.by_own))
    z_elo = (fitted.strength - true_strength) / np.sqrt(variance)
    z_theta = np.zeros(0)
    if fit.target.free_discrimination:
        z_theta = (fit.discrimination - truth.own[:, 0]) / fit.discrimination_sd
    return z_elo, z_theta


def coverage(rows: list[np.ndarray]) -> str:
    z = np.array(rows)
    cells = []
    for level in LEVELS:
        inside = (np.abs(z) < NormalDist().inv_cdf(0.5 + level / 2)).mean(axis=1)
        cells.append(f"{inside.mean():.3f} ({inside.std(ddof=1) / np.sqrt(len(inside)):.3f})")
    return " | ".join([*cells, f"{np.sqrt((z**2).mean()):.2f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arenas", type=int, default=100)
    parser.add_argument("--model", default="am-davidson", help="nuts: am-davidson")
    parser.add_argument("--interval", choices=("laplace", "sandwich", "nuts"), default="laplace")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    elo, theta = [], []
    for seed in range(options.arenas):
        if options.interval == "nuts":
            scores = z_of_ranks(ba.simulate(tie_spread=0.8, position_spread=0.3, seed=10_000 + seed), options.model)
        else:
            scores = z_scores(ba.simulate(seed=10_000 + seed), options.model, options.interval)
        for rows, z in zip((elo, theta), scores, strict=True):
            rows.append(z)
        print(f"\r{seed + 1} of {options.arenas} arenas", end="", file=sys.stderr)
    print(file=sys.stderr)
    kind = "" if options.interval == "laplace" else f", {options.interval}"
    print(f"{options.model}{kind}, {options.arenas} arenas\n")
    print("| | 50 % | 89 % | 95 % | rms z |\n|---|---|---|---|---|")
    print(f"| Elo strength | {coverage(elo)} |")
    if theta[0].size and options.interval != "sandwich":
        print(f"| theta | {coverage(theta)} |")


if __name__ == "__main__":
    main()
