"""Write means and standard deviations by NUTS, beside which the Gaussians are tested.

``python -m tests.golden.sample DATA`` samples the programs of ``models`` for LLMFAO and
MT-bench: 4 chains of 4,000 draws.
"""

import sys
from pathlib import Path

import pandas as pd

import bayes_arena as ba
from bayes_arena.boards.uncertainty import NORMAL
from bayes_arena.fits import marginals
from tests.golden.make import BY_ANNOTATOR, COMMON, worst_rhat, write
from tests.helpers import elo_of, elo_sd

PROMPTS = {"llmfao": ["prompt"], "mt_bench_human": ["question_id", "turn"]}
marginals.MOST_BOARD_DRAWS = 16_000  # all of them
BY_PROMPT = BY_ANNOTATOR | {"strength_by": ("prompt",)}


def samples(table, prompt, terms):
    """Return means and standard deviations of a program."""
    votes = ba.read_votes(table, prompt=prompt)
    fit = ba.fit(
        votes, model=ba.Model(**terms), method="nuts", draws=4000, tune=800, seed=1
    )
    tree = ba.to_datatree(fit)
    numbers = {"rhat": worst_rhat(tree)}
    for name in ("strength", "discrimination"):
        if name in tree["posterior"]:
            values = tree["posterior"][name].values
            numbers[name] = values.mean((0, 1)).tolist()
            numbers[f"{name}_sd"] = values.std((0, 1)).tolist()
    numbers["elo"] = elo_of(fit).tolist()
    numbers["half_width"] = (NORMAL * elo_sd(fit)).tolist()
    return numbers


if __name__ == "__main__":
    for name, columns in PROMPTS.items():
        table = pd.read_csv(Path(sys.argv[1]) / f"{name}.csv")
        table["answer"] = table[columns].astype(str).agg("/".join, axis=1)
        programs = {
            "davidson": samples(table, False, COMMON),
            "am-davidson": samples(table, False, BY_ANNOTATOR),
            "am-davidson prompts": samples(table, "answer", BY_PROMPT),
        }
        write(f"{name}_nuts", programs)
