"""NUTS beside plain PyMC, NumPyro and BlackJAX: the smallest bulk ESS of any parameter, a second.

    uv run --group benchmark python benchmarks/nuts.py [--rounds 1] [--votes LLMFAO MT-bench] [--into FOLDER]

am-davidson with its default prior by ``ba.fit(votes, method="nuts", guard=False)`` at the defaults, against the same
posterior as users of the others would write it (``nuts_programs.py``). Four chains of 1,000 draws, every run in a fresh
process, in turn. The whole call compiles whatever is not kept from earlier processes, and is timed after the imports;
sampling holds the warm-up. On 1.67 million votes nobody is sampled: gradients are timed, and what a posterior would
take is extrapolated from them.
"""

import statistics
import sys
from importlib import import_module
from time import perf_counter
from typing import Any

import numpy as np
import polars as pl
from measuring import (
    FILES,
    HERE,
    Clock,
    Unfinished,
    digits,
    in_own_process,
    installed,
    keep,
    markdown,
    parser,
    peak_mib,
    publish,
)
from nuts_programs import CHAINS, DRAWS, GRADIENTS, PARAMETERS, SAMPLERS

import bayes_arena as ba

OURS = next(iter(SAMPLERS))
LIMIT = 420.0
AGREE = 0.25
"""Posterior means of strengths differ by no more posterior sds; a chain of 1,000 draws knows no better."""
LARGE, SECONDS = "1.67 million votes", 3.0


def sample(name: str, votes: str, seed: int) -> dict[str, Any]:
    """Sample once in this process, and look at the draws."""
    _, modules, sampler = SAMPLERS[name]
    clock = Clock()
    for module in modules:
        import_module(module)
    imports = clock.lap()["wall_s"]
    cells = ba.read_votes(FILES[votes], prompt=False)
    clock.lap()
    draws = sampler(cells, seed)
    whole = clock.lap()
    import arviz as az

    ess, rhat = az.ess(draws), az.rhat(draws)
    strength = np.asarray(draws["strength"]).reshape(-1, cells.n_competitors)
    return {
        "imports_s": imports,
        **whole,
        "sampling_s": draws.attrs["seconds"],
        "gradients_a_draw": draws.attrs["gradients"],
        "ess": min(float(ess[name].min()) for name in PARAMETERS),
        "rhat": max(float(rhat[name].max()) for name in PARAMETERS),
        "divergences": draws.attrs["divergences"],
        "peak_mib": peak_mib(),
        "strength": (strength.mean(axis=0), strength.std(axis=0)),
    }


def race(votes: str, rounds: int) -> list[dict[str, Any]]:
    """Sample by all in turn; how far means of strengths are from ours, in posterior sds, stands with each."""
    runs = []
    for turn in range(rounds):
        truth: tuple[np.ndarray, np.ndarray] | None = None
        for name, (package, modules, _) in SAMPLERS.items():
            row = {"row": votes, "tool": name, "version": installed(package), "round": turn, "note": None}
            if missing := [module for module in modules if not installed(module)]:
                runs.append(row | {"note": f"{', '.join(missing)} not installed"})
                continue
            print(f"{votes}, round {turn + 1}: {name}", file=sys.stderr)
            found = in_own_process(sample, name, votes, turn + 1, limit=LIMIT)
            if isinstance(found, Unfinished):
                runs.append(row | {"note": found.why})
                continue
            mean, sd = found.pop("strength")
            truth = truth or (mean, sd)  # ours comes first
            runs.append(row | found | {"apart_sd": float(np.abs((mean - truth[0]) / truth[1]).max())})
    return runs


def gradients(name: str) -> dict[str, Any]:
    """Time the log density and its gradient on the real battles, voted on by 61,003 simulated annotators."""
    from arena_votes import synthetic_annotators

    cells = synthetic_annotators(HERE / "data").cells
    gradient = GRADIENTS[name](cells)
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
        means = {key: float(done[key].mean()) for key in ("wall_s", "cpu_s", "sampling_s", "ess", "gradients_a_draw")}
        own = [float((done["ess"] / done[key]).mean()) for key in ("sampling_s", "wall_s", "cpu_s")]
        rates[name] = own
        ratios = [digits(rates[OURS][place] / own[place]) if OURS in rates else "" for place in range(3)]
        rows.append(
            [
                name,
                mine["version"][0] or "",
                *(digits(means[key]) for key in means),
                *(f"{digits(rate)} ({ratio})" for rate, ratio in zip(own, ratios, strict=True)),
                f"{done['rhat'].max():.4f}",
                done["divergences"].sum(),
                f"{done['peak_mib'].max():,.0f}",
                f"{done['apart_sd'].max():.2f}",
            ]
        )
    header = ["", "version", "whole call, s", "CPU s", "sampling, s", "min ESS", "gradients a draw"]
    header += ["ESS/s sampling", "ESS/s whole call", "ESS/CPU s whole call", "r-hat", "divergences", "MiB", "apart"]
    return f"## {votes}\n\n{markdown(header, rows)}"


def extrapolated(runs: pl.DataFrame, sampled: pl.DataFrame) -> str:
    """Return the table of gradients, and what a posterior would take at as many gradients a draw as on LLMFAO."""
    rows, own = [], None
    for run in runs.iter_rows(named=True):
        if run.get("gradient_wall_s") is None:
            rows.append([run["tool"], run["note"], *[""] * 4])
            continue
        own = own or run["gradient_wall_s"]
        mine = sampled.filter((pl.col("row") == "LLMFAO") & (pl.col("tool") == run["tool"]))
        each = mine["gradients_a_draw"].drop_nulls().mean() if "gradients_a_draw" in mine.columns else None
        hours = None if each is None else run["gradient_wall_s"] * float(each) * CHAINS * DRAWS / 3600
        rows.append(
            [
                run["tool"],
                digits(1e3 * run["gradient_wall_s"]),
                digits(1e3 * run["gradient_cpu_s"]),
                digits(run["gradient_wall_s"] / own),
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


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rounds", type=int, default=1)
    options.add_argument("--votes", nargs="+", choices=[*FILES, LARGE], default=[*FILES, LARGE])
    given = options.parse_args()
    files = [name for name in given.votes if name in FILES and FILES[name].is_file()]
    runs = [run for name in files for run in race(name, given.rounds)]
    table = keep(given.into, "nuts", runs)
    said = (
        "Means of the rounds. In parentheses: our rate divided by this one. `min ESS` is the smallest bulk ESS of all "
        "parameters: strengths, annotators' numbers, what these share, and spreads. `apart` is the largest difference "
        "between a strength's posterior mean and ours, in posterior sds."
    )
    parts = [said, *(section(str(name), own) for (name,), own in table.group_by("row", maintain_order=True))]
    if LARGE in given.votes:
        timed = []
        for name, (package, modules, _) in SAMPLERS.items():
            row = {"row": LARGE, "tool": name, "version": installed(package), "note": None}
            if missing := [module for module in modules if not installed(module)]:
                timed.append(row | {"note": f"{', '.join(missing)} not installed"})
                continue
            print(f"{LARGE}: {name}", file=sys.stderr)
            found = in_own_process(gradients, name, limit=LIMIT)
            timed.append(row | ({"note": found.why} if isinstance(found, Unfinished) else found))
        parts.append(extrapolated(keep(given.into, "nuts_gradients", timed), table))
    publish(given.into, "nuts", "NUTS beside other programs", parts)
    if "apart_sd" in table.columns and (worst := table["apart_sd"].max() or 0.0) > AGREE:
        raise SystemExit(f"Means of strengths differ by {worst:.2f} posterior sds.")


if __name__ == "__main__":
    main()
