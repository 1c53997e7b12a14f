"""Write the golden boards: by version 0.3 (tag v0.3), in an environment of that version.

``python make.py DATA`` writes a file for LLMFAO, MT-bench and the example: strengths r with
standard deviations, the board with half-widths at .95, and theta, of models without anything
that version 0.3 would add by itself.  Its strengths have the spread s / 1.5 ~ chi(3).
"""

import json
import sys
import warnings
from pathlib import Path

import arviz_stats
import numpy as np
import pandas as pd

import bayes_arena as ba

HERE = Path(__file__).parent
PLAIN = {"robust": False, "dimensions": 0, "answers": False}
BY_ANNOTATOR = {
    "discrimination": "annotator",
    "ties": "davidson",
    "tie_propensity": "annotator",
    "position": "annotator",
}
COMMON = {"ties": "davidson", "position": "common"}
PROMPTS = {"strength_by": ("prompt",), "ties_by": ("prompt",)}
STYLE = {"style": ("length",)}


def frames(data):
    """Return the votes of each arena, with a made-up feature, and its prompt columns."""
    tables = {
        "llmfao": (pd.read_csv(data / "llmfao.csv"), "prompt"),
        "mt_bench_human": (
            pd.read_csv(data / "mt_bench_human.csv"),
            ["question_id", "turn"],
        ),
        "example": (ba.example_arena().votes.to_pandas(), None),
    }
    for table, _ in tables.values():
        table["length"] = ((np.arange(len(table)) * 7919) % 101 - 50) / 25
    return tables


def fits(table, prompt):
    """Yield the name of each fit, its votes and its options."""
    votes = ba.read_votes(table, prompt=False)
    featured = ba.read_votes(table, prompt=False, features=["length"])
    for model in ("bradley-terry", "davidson", "m-elo"):
        yield f"{model} flat", votes, {"model": model, "prior": "flat"}
    for model in ("bradley-terry", "davidson"):
        yield f"{model} map", votes, {"model": model, "method": "map"}
    for model in ("bradley-terry", "davidson", "am-elo", "am-davidson"):
        yield f"{model} gaussian", votes, {"model": model, "method": "marginal"}
    active = ba.keep_annotators(votes, more_than=50)
    yield "am-elo flat", active, {"model": "am-elo", "prior": "flat"}
    for name, terms in (("davidson", COMMON), ("am-davidson", BY_ANNOTATOR)):
        style = ba.Model("style", **terms, **STYLE)
        yield f"{name} style", featured, {"model": style, "method": "marginal"}
        if prompt is not None:
            answers = ba.read_votes(table, prompt=prompt)
            model = ba.Model("prompts", **terms, **PROMPTS)
            yield f"{name} prompts", answers, {"model": model, "method": "marginal"}


def describe(fit):
    """Return the numbers of a fit, sorted by name, to ten digits."""
    if fit.model.needs_annotators:
        fit = fit.of("everybody", cap=1)
    names = list(fit.cells.competitors)
    board = ba.leaderboard(fit, interval="laplace").set_index("competitor").loc[names]
    strengths = ba.strengths(fit).set_index("competitor").loc[names]
    numbers = {
        "strength": fit.strength,
        "strength_sd": strengths["sd"],
        "elo": board["elo"],
        "half_width": (board["upper"] - board["lower"]) / 2,
    }
    if fit.model.needs_annotators:
        numbers["discrimination"] = fit.discrimination
    rounded = {name: [float(f"{x:.10g}") for x in v] for name, v in numbers.items()}
    return rounded | {"mean_loss": fit.mean_loss}


def worst_rhat(tree):
    """Return the largest r-hat of all parameters."""
    rhat = arviz_stats.rhat(tree)
    rhat = rhat["posterior"] if "posterior" in getattr(rhat, "children", {}) else rhat
    return max(float(np.nanmax(rhat[name].values)) for name in rhat.data_vars)


def write(name, numbers):
    """Write one entry a line."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value)}" for key, value in numbers.items()
    ]
    (HERE / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name, (table, prompt) in frames(Path(sys.argv[1])).items():
        boards = fits(table, prompt)
        write(name, {key: describe(ba.fit(v, **o, **PLAIN)) for key, v, o in boards})
