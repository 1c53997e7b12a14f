"""The programs as docs/how-to/own-model.md prints them: 20 seeds of the built-in example.

``python benchmarks/programs.py [--seeds 20] [--old PATH]``; PATH is a checkout of version 0.4
with an environment of its own.  Each run is what ``pm.sample`` does where nutpie is installed:
four chains of 1,000 draws to tune and 1,000 to keep, from nutpie's own starts.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from measuring import markdown, python, run, write_page

SAMPLE = """
import json
import nutpie, numpy as np
import bayes_arena as ba
from arviz_stats.base import array_stats
votes = ba.read_votes(ba.example_arena().votes)
program = ba.models.{name}.build(votes)
names = [variable.name for variable in program.deterministics + program.free_RVs]
compiled = nutpie.compile_pymc_model(program)
found = []
for seed in range({seeds}):
    tree = nutpie.sample(compiled, draws=1000, tune=1000, chains=4, seed=seed,
                         progress_bar=False)
    posterior, stats = tree["posterior"], tree["sample_stats"]
    draws = [posterior[name].values.reshape(4, 1000, -1) for name in names]
    every = np.concatenate(draws, axis=2)
    axes = dict(chain_axis=0, draw_axis=1)
    moved = np.any(np.diff(every, axis=1) != 0, axis=2).mean(axis=1)
    found.append(dict(
        stuck=int((moved < 0.5).sum()),
        divergent=int(stats["diverging"].sum()),
        r_hat=float(np.nanmax(array_stats.rhat(every, **axes, method="rank"))),
        ess=float(np.nanmin(array_stats.ess(every, **axes, method="bulk"))),
        gradients=int(stats["n_steps"].sum()),
    ))
print(json.dumps(found))
"""
NAMES = ("davidson", "am_elo", "am_davidson")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--old", type=Path)
    options = parser.parse_args()
    rows = [row(name, sampled(name, options.seeds)) for name in NAMES]
    if options.old:
        interpreter = str(options.old / ".venv" / "bin" / "python")
        runs = sampled(NAMES[-1], options.seeds, interpreter)
        rows.append(row(f"{NAMES[-1]}, 0.4", runs))
    header = [
        "program",
        "chains that stood still",
        "divergent draws",
        "runs of r-hat above 1.01",
        "least bulk ESS, worst run",
        "median run",
        "gradients a run",
    ]
    text = (
        f"{options.seeds} seeds, four chains each, of the built-in example.  A chain stands "
        "still if fewer than half of its draws moved.  The effective draws are the least of "
        "all variables of the program, spreads and coordinates, too.\n"
    )
    parts = [text, markdown(header, rows)]
    write_page(
        "programs",
        "The programs as printed",
        parts,
        "python benchmarks/programs.py --old PATH",
    )


def sampled(name: str, seeds: int, *interpreter: str) -> list[dict[str, float]]:
    """Return what sampling a program by some seeds gave."""
    code = SAMPLE.format(name=name, seeds=seeds)
    return json.loads(run(python(code, *interpreter)).output.splitlines()[-1])


def row(name: str, runs: Sequence[dict[str, float]]) -> list[object]:
    """Return a row of the table."""
    ess = sorted(found["ess"] for found in runs)
    return [
        name,
        sum(found["stuck"] for found in runs),
        sum(found["divergent"] for found in runs),
        sum(not found["r_hat"] <= 1.01 for found in runs),
        f"{ess[0]:,.0f}",
        f"{ess[len(ess) // 2]:,.0f}",
        f"{sum(found['gradients'] for found in runs) / len(runs):,.0f}",
    ]


if __name__ == "__main__":
    main()
