"""Sampling speed of ``method="nuts"``, and whether its answer can be trusted.

    uv run python benchmarks/nuts.py [--rounds 2] > benchmarks/results/nuts.md

am-davidson with its default prior by ``ba.fit(votes, method="nuts")`` at the defaults, against the same model as a user
would write it in PyMC: one row a vote, ``pm.Categorical``, strengths centred, the annotators' numbers non-centred,
sampled by nutpie with PyMC's defaults (1000 draws, 1000 to tune) and with as few to tune as ours. Four chains each, the
contestants in turn, a round each. The measure is the smallest bulk ESS of any parameter of the model (strengths,
annotators' numbers, what they share, spreads) per second. Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in
``$BAYES_ARENA_DATA`` (else ``../shared/data``) and skips what is absent.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import arviz as az
import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr

import bayes_arena as ba
from bayes_arena.validation.leave_one_out import PARETO_K

PARAMETERS = ["strength", "discrimination", "log_tie_propensity", "position"]
PARAMETERS += ["tie_propensity_common", "position_common"]
PARAMETERS += ["strength_sd", "discrimination_sd", "tie_spread", "position_spread"]
SHORT_TUNE = 300
PARTS = [
    ba.Model("am-davidson", "annotator", "davidson", "annotator", position="annotator"),
    ba.Model("without position", "annotator", "davidson", "annotator"),
    ba.Model("and a common nu", "annotator", "davidson"),
    ba.Model("and theta = 1", ties="davidson"),
]


def plain_program(cells: ba.Cells) -> pm.Model:
    """Return am-davidson one row a vote, as the textbooks would have it."""
    votes = cells.counts.astype(int)
    i, j, k = (np.repeat(column, votes.sum(axis=1)) for column in (cells.a, cells.b, cells.annotator))
    outcome = np.repeat(np.tile([0, 2, 1, 1], len(votes)), votes.ravel())
    hyper = ba.Prior().hyper
    with pm.Model(coords={"competitor": list(cells.competitors), "annotator": list(cells.annotators)}) as program:

        def own(label: str, scale: float) -> pt.TensorVariable:
            return pm.HalfNormal(label, scale) * pm.ZeroSumNormal(f"{label}_unit", dims="annotator")

        strength_sd = pm.HalfNormal("strength_sd", hyper.strength)
        strength = pm.ZeroSumNormal("strength", sigma=strength_sd, dims="competitor")
        theta = pm.Deterministic("discrimination", 1 + own("discrimination_sd", hyper.discrimination), dims="annotator")
        tie = pm.Normal("tie_propensity_common", 0, 1) + own("tie_spread", hyper.tie_spread)
        tie = pm.Deterministic("log_tie_propensity", tie, dims="annotator")
        position = pm.Normal("position_common", 0, 0.5) + own("position_spread", hyper.position_spread)
        position = pm.Deterministic("position", position, dims="annotator")
        eta = theta[k] * (strength[i] - strength[j]) + position[k]
        pm.Categorical("vote", logit_p=pt.stack([eta / 2, tie[k], -eta / 2], axis=1), observed=outcome)
    return program


def by_hand(tune: int) -> Callable[[ba.Cells, int], xr.DataTree]:
    def sample(cells: ba.Cells, seed: int) -> xr.DataTree:
        with plain_program(cells):
            return pm.sample(
                1000, tune=tune, chains=4, random_seed=seed, nuts_sampler="nutpie", progressbar=False, quiet=True
            )

    return sample


def by_fit(cells: ba.Cells, seed: int) -> xr.DataTree:
    return ba.fit(cells, model="am-davidson", method="nuts", seed=seed).tree


CONTESTANTS = {
    "plain PyMC, tune 1000": by_hand(1000),
    f"plain PyMC, tune {SHORT_TUNE}": by_hand(SHORT_TUNE),
    'fit(method="nuts")': by_fit,
}


def diagnose(tree: xr.DataTree) -> dict[str, float]:
    posterior = tree["posterior"].to_dataset()[PARAMETERS]
    ess, rhat = az.ess(posterior), az.rhat(posterior)
    return {
        "ess": min(float(ess[name].min()) for name in PARAMETERS),
        "rhat": max(float(rhat[name].max()) for name in PARAMETERS),
        "divergences": int(tree["sample_stats"]["diverging"].sum()),
        "gradients": float(tree["sample_stats"]["n_steps"].mean()),
        "sampling": float(tree["posterior"].attrs["sampling_time"]),
    }


def race(name: str, cells: ba.Cells, rounds: int) -> None:
    results: dict[str, list[dict[str, float]]] = {contestant: [] for contestant in CONTESTANTS}
    for seed in range(1, rounds + 1):
        for contestant, sample in CONTESTANTS.items():
            print(f"{name}, round {seed}: {contestant}", file=sys.stderr)
            start = time.perf_counter()
            tree = sample(cells, seed)
            results[contestant].append(diagnose(tree) | {"whole": time.perf_counter() - start})
    first = next(iter(results))

    def mean(contestant: str, measure: Callable[[dict[str, float]], float]) -> float:
        return float(np.mean([measure(one) for one in results[contestant]]))

    print(f"\n{name}: {cells}, mean of {rounds} rounds\n")
    print(
        "| | seconds | of these not sampling | gradients a draw | min ESS | ESS/s sampling | times | ESS/s whole call "
        "| times | r-hat | divergences |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for contestant in results:
        rate, whole = (
            [mean(each, lambda one, key=key: one["ess"] / one[key]) for each in (contestant, first)]
            for key in ("sampling", "whole")
        )
        columns = [
            f"{mean(contestant, lambda one: one['whole']):.1f}",
            f"{mean(contestant, lambda one: one['whole'] - one['sampling']):.1f}",
            f"{mean(contestant, lambda one: one['gradients']):.1f}",
            f"{mean(contestant, lambda one: one['ess']):.0f}",
            f"{rate[0]:.1f}",
            f"{rate[0] / rate[1]:.1f}",
            f"{whole[0]:.1f}",
            f"{whole[0] / whole[1]:.1f}",
            f"{max(one['rhat'] for one in results[contestant]):.4f}",
            f"{sum(one['divergences'] for one in results[contestant])}",
        ]
        print(f"| {contestant} | {' | '.join(columns)} |", flush=True)


def agreement(cells: ba.Cells) -> None:
    """Print how far the marginal fit is from the sampled one, and what the votes say of the parts of am-davidson."""
    fits = {}
    for model in PARTS:
        print(f"LLMFAO, {model.name}", file=sys.stderr)
        fits[model.name] = ba.fit(cells, model=model, method="nuts")
    sampled = fits["am-davidson"]
    marginal = ba.fit(cells, model="am-davidson", method="marginal")
    theta = sampled.samples.own[:, :, 0].mean(axis=0)
    away = (sampled.samples.strength.mean(axis=0) - marginal.strength) / sampled.samples.strength.std(axis=0)
    print("\nLLMFAO, marginal against sampled: theta's posterior means correlate ", end="")
    print(f"{np.corrcoef(theta, marginal.discrimination)[0, 1]:.4f};", end=" ")
    print(f"strengths differ by at most {np.abs(away).max():.2f} posterior sd.")
    print("\nLLMFAO, leave-one-vote-out from the sampled fits:\n")
    print("| | elpd difference | its SE | stacking weight | largest Pareto k | columns of votes above 0.7 |")
    print("|---|---:|---:|---:|---:|---:|")
    bad = {name: ba.leave_one_out(fit).pareto_k > PARETO_K for name, fit in fits.items()}
    for row in ba.compare(fits).itertuples():
        columns = [f"{row.elpd_diff:.1f}", f"{row.dse:.1f}", f"{row.weight:.2f}", f"{row.pareto_k:.2f}"]
        print(f"| {row.name} | {' | '.join(columns)} | {bad[row.name].sum()} of {len(bad[row.name])} |")
    votes = cells.votes_by_annotator()
    row, outcome = np.nonzero(cells.counts)
    for name in fits:
        for column in np.flatnonzero(bad[name]):
            at, which = row[column], ("first", "second", "tie", "both bad")[outcome[column]]
            pair = f"{cells.competitors[cells.a[at]]}, {cells.competitors[cells.b[at]]}"
            print(f"\n{name}: {pair}: {which}, by an annotator with {votes[cells.annotator[at]]:.0f} votes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = Path(os.environ.get("BAYES_ARENA_DATA") or Path(__file__).parents[2] / "shared" / "data")
    files = {"LLMFAO": "llmfao.csv", "MT-bench": "mt_bench_human.csv"}
    found = {name: folder / file for name, file in files.items() if (folder / file).is_file()}
    arenas = {name: ba.read_votes(path, prompt=False) for name, path in found.items()}
    arenas["Example arena"] = ba.read_votes(ba.example_arena().votes)
    print("am-davidson, four chains; ESS is the smallest bulk ESS of any parameter; times are against the first row.")
    for name, cells in arenas.items():
        race(name, cells, options.rounds)
    if "LLMFAO" in arenas:
        agreement(arenas["LLMFAO"])


if __name__ == "__main__":
    main()
