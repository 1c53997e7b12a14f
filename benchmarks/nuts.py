"""NUTS beside plain PyMC, NumPyro and BlackJAX: the smallest bulk ESS of any parameter, a second.

    uv run --group benchmark python benchmarks/nuts.py [--rounds 1] [--votes LLMFAO MT-bench] [--into FOLDER]

am-davidson with its default prior by ``ba.fit(votes, method="nuts", robust=False, dimensions=0)``, against the same
posterior as users of the others would write it (``nuts_programs.py``). Four chains of 1,000 draws, every run in a fresh
process, in turn. The whole call compiles whatever is not kept from earlier processes, and is timed after the imports;
sampling holds the warm-up. Posterior means that differ from ours by more than a quarter of a posterior standard
deviation end the run with an error. On 1.67 million votes nobody is sampled: gradients are timed, and what a posterior
would take is extrapolated from them.
"""

import statistics
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from measuring import (
    FILES,
    HERE,
    Clock,
    attempt,
    digits,
    in_own_process,
    keep,
    kept,
    markdown,
    parser,
    peak_mib,
    publish,
)
from nuts_programs import CHAINS, DRAWS, PARAMETERS, SAMPLERS, WARM_UP

import bayes_arena as ba

OURS = next(iter(SAMPLERS))
LIMIT = 420.0
AGREE = 0.25
"""Posterior means differ by no more posterior sds; a few hundred independent draws know no better."""
LARGE, SECONDS = "1.67 million votes", 3.0
SAID = (
    f"{CHAINS} chains of {DRAWS:,} draws each after {WARM_UP} of warm-up (ours: 300, its default); means of the "
    "rounds. In parentheses: our rate divided by this one. `min ESS` is the smallest bulk ESS of all parameters: "
    "strengths, annotators' numbers, what these share, and spreads. The whole call is timed after the imports, "
    "compiling included: our density is kept on disk, the others compile anew in every process. Sampling leaves "
    "compiling out. `apart` is the largest difference between any parameter's posterior mean and ours, in posterior "
    "sds."
)


def sample(name: str, votes: str, seed: int) -> dict[str, Any]:
    """Sample once in this process, and look at the draws."""
    clock = Clock()
    for module in SAMPLERS[name].needs[1:]:
        import_module(module)
    imports = clock.lap()["wall_s"]
    cells = ba.read_votes(FILES[votes], prompt=False)
    clock.lap()
    draws = SAMPLERS[name].sample(cells, seed)
    whole = clock.lap()
    import arviz as az

    ess, rhat = az.ess(draws), az.rhat(draws)
    each = [np.asarray(draws[name]).reshape(CHAINS * DRAWS, -1) for name in PARAMETERS]
    return {
        "imports_s": imports,
        **whole,
        "sampling_s": draws.attrs["seconds"],
        "gradients_a_draw": draws.attrs["gradients"],
        "ess": min(float(ess[name].min()) for name in PARAMETERS),
        "rhat": max(float(rhat[name].max()) for name in PARAMETERS),
        "divergences": draws.attrs["divergences"],
        "peak_mib": peak_mib(),
        "moments": np.concatenate([[of.mean(axis=0), of.std(axis=0)] for of in each], axis=1),
    }


def race(votes: str, rounds: int) -> list[dict[str, Any]]:
    """Sample by all in turn; how far posterior means are from ours, in posterior sds, stands with each."""
    runs = []
    for turn in range(rounds):
        ours = None
        for name in SAMPLERS:
            row = {"row": votes, "tool": name, "round": turn}
            found = attempt(row, SAMPLERS[name].needs, sample, name, votes, turn + 1, limit=LIMIT)
            if "moments" in found:
                mean, sd = found.pop("moments")
                ours = (mean, sd) if name == OURS else ours
                found["apart_sd"] = float(np.abs((mean - ours[0]) / ours[1]).max() if ours else np.nan)
            runs.append(found)
    return runs


def gradients(name: str) -> dict[str, Any]:
    """Time the log density and its gradient on the real battles, voted on by 61,003 simulated annotators."""
    from arena_votes import synthetic_annotators

    cells = synthetic_annotators(HERE / "data").cells
    gradient = SAMPLERS[name].gradient(cells)
    gradient()
    times, start = [], perf_counter()
    while len(times) < 3 or perf_counter() - start < SECONDS:
        clock = Clock()
        gradient()
        times.append(clock.lap())
    return {f"gradient_{key}": statistics.median(time[key] for time in times) for key in times[0]} | {
        "peak_mib": peak_mib(),
        "cells": len(cells.a),
    }


def section(votes: str, runs: pl.DataFrame) -> str:
    """Return the table of one file, means of rounds."""
    rows = []
    rates: dict[str, list[float]] = {}
    for name in runs["tool"].unique(maintain_order=True):
        mine = runs.filter(pl.col("tool") == name)
        done = mine.drop_nulls("ess") if "ess" in mine.columns else mine.clear()
        if done.is_empty():
            rows.append([name, mine["version"][0] or "", mine["note"][0], *[""] * 11])
            continue
        failed = "".join(f"; in one round {note}" for note in mine["note"].drop_nulls())
        means = {key: float(done[key].mean()) for key in ("wall_s", "cpu_s", "sampling_s", "ess", "gradients_a_draw")}
        own = [float((done["ess"] / done[key]).mean()) for key in ("sampling_s", "wall_s", "cpu_s")]
        rates[name] = own
        ratios = [digits(rates[OURS][place] / own[place]) if OURS in rates else "" for place in range(3)]
        rows.append(
            [
                name + failed,
                mine["version"][0] or "",
                *(digits(means[key]) for key in means),
                *(f"{digits(rate)} ({ratio})" for rate, ratio in zip(own, ratios, strict=True)),
                f"{done['rhat'].max():.4f}",
                done["divergences"].sum(),
                f"{done['peak_mib'].max():,.0f}",
                digits(done["apart_sd"].max()),
            ]
        )
    header = ["", "version", "whole call, s", "CPU s", "sampling, s", "min ESS", "gradients a draw"]
    header += ["ESS/s sampling", "ESS/s whole call", "ESS/CPU s whole call", "r-hat", "divergences", "MiB", "apart"]
    return f"## {votes}\n\n{markdown(header, rows)}"


def extrapolated(runs: pl.DataFrame, sampled: pl.DataFrame) -> str:
    """Return the table of gradients, and what a posterior would take at as many gradients a draw as on LLMFAO."""
    rows, own = [], runs.filter(pl.col("tool") == OURS)["gradient_wall_s"].first()
    for run in runs.iter_rows(named=True):
        if run["gradient_wall_s"] is None:
            rows.append([run["tool"], run["note"], *[""] * 4])
            continue
        mine = sampled.filter((pl.col("row") == "LLMFAO") & (pl.col("tool") == run["tool"]))
        each = mine["gradients_a_draw"].drop_nulls().mean() if "gradients_a_draw" in mine.columns else None
        hours = None if each is None else run["gradient_wall_s"] * float(each) * CHAINS * DRAWS / 3600
        rows.append(
            [
                run["tool"],
                digits(1e3 * run["gradient_wall_s"]),
                digits(1e3 * run["gradient_cpu_s"]),
                digits(run["gradient_wall_s"] / own) if own else "",
                digits(hours),
                f"{run['peak_mib']:,.0f}",
            ]
        )
    header = ["", "ms a gradient", "CPU ms", "times ours", "hours, extrapolated", "MiB"]
    said = (
        f"The hours are extrapolated, not measured: {CHAINS} chains of {DRAWS:,} draws one after the other, without "
        "warm-up, at as many gradients a draw as on LLMFAO. How large the effective sample would be is not known."
    )
    return f"## {LARGE}, 61,003 simulated annotators\n\n{said}\n\n{markdown(header, rows)}"


def differing(runs: pl.DataFrame) -> list[str]:
    """Name those whose posterior means are not ours, or not known to be."""
    done = [run for run in runs.iter_rows(named=True) if not run["note"]]
    return [f"{run['row']}, {run['tool']}: {run['apart_sd']}" for run in done if not run["apart_sd"] <= AGREE]


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--votes", nargs="+", choices=[*FILES, LARGE], default=[*FILES, LARGE])
    given = options.parse_args()
    files = [name for name in given.votes if name in FILES and FILES[name].is_file()]
    if files:  # what we keep on disk is there before
        in_own_process(sample, OURS, files[-1], 0, limit=LIMIT)
    for name in files:
        keep(given.into, "nuts", race(name, given.rounds), by="row")
    if LARGE in given.votes:
        timed = [
            attempt({"row": LARGE, "tool": name}, rival.needs, gradients, name, limit=LIMIT)
            for name, rival in SAMPLERS.items()
        ]
        keep(given.into, "nuts_gradients", timed)
    sampled, timed = (kept(given.into, name) for name in ("nuts", "nuts_gradients"))
    parts = [SAID, *(section(name, own) for name in FILES if len(own := sampled.filter(pl.col("row") == name)))]
    if len(timed):
        parts.append(extrapolated(timed, sampled))
    publish(given.into, "nuts", "NUTS beside other programs", parts)
    if wrong := differing(sampled):
        raise SystemExit(f"Posterior means differ from ours, in posterior sds: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
