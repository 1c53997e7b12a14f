"""Write means and standard deviations by NUTS, beside which the Gaussians are tested.

``python tests/golden/sample.py DATA`` samples the programs of ``models`` for LLMFAO and
MT-bench: 4 chains of 4,000 draws.
"""

import sys
from pathlib import Path

import pandas as pd
from make import BY_ANNOTATOR, COMMON, worst_rhat, write

import bayes_arena as ba

ARENAS = {
    "llmfao": "prompt",
    "mt_bench_human": ["question_id", "turn"],
}
BY_PROMPT = BY_ANNOTATOR | {"strength_by": ("prompt",)}


def samples(table, prompt, terms):
    """Return means and standard deviations of a program."""
    votes = ba.read_votes(table, prompt=prompt)
    fit = ba.fit(
        votes, model=ba.Model(**terms), method="nuts", draws=4000, tune=800, seed=1
    )
    numbers = {"rhat": worst_rhat(ba.to_datatree(fit))}
    for name in ("strength", "discrimination"):
        if name in fit.samples:
            numbers[name] = fit.samples[name].mean((0, 1)).tolist()
            numbers[f"{name}_sd"] = fit.samples[name].std((0, 1)).tolist()
    board = ba.leaderboard(fit, interval="posterior", min_votes=0)
    board = board.set_index("competitor").loc[list(votes.competitors)]
    numbers["elo"] = board["elo"].tolist()
    numbers["half_width"] = ((board["upper"] - board["lower"]) / 2).tolist()
    return numbers


if __name__ == "__main__":
    for name, prompt in ARENAS.items():
        table = pd.read_csv(Path(sys.argv[1]) / f"{name}.csv")
        programs = {
            "davidson": samples(table, False, COMMON),
            "am-davidson": samples(table, False, BY_ANNOTATOR),
            "am-davidson prompts": samples(table, prompt, BY_PROMPT),
        }
        write(f"{name}_nuts", programs)
