"""Which model predicts votes best? Real votes, left out at random or annotator by annotator.

    uv run python benchmarks/prediction.py > benchmarks/results/prediction.md

Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``). For each it
prints ten random splits 80/20 by vote, ten folds of annotators, and the share of observed rates outside their 89 %
predictive intervals. Standard errors in brackets: over splits (Nadeau & Bengio) and clustered by annotator.
"""

import os
import time
import warnings
from functools import partial
from pathlib import Path

import pandas as pd

import bayes_arena as ba

NUMBERS = {"mse": ("MSE", 4), "auc": ("AUC", 4), "log_score": ("log score", 3)}
PLAIN = ba.Model("davidson", ties="davidson")
COMMON = ba.Model("common nu", "annotator", "davidson")
NU_K = ba.Model("nu_k", "annotator", "davidson", "annotator")
RAO_KUPPER = ba.Model("rao-kupper", "annotator", "rao-kupper", "annotator", position="annotator")


def filtered(cells: ba.Cells) -> ba.Fit:
    return ba.fit(ba.keep_annotators(cells, more_than=50), model="am-elo", prior="flat")


MODELS = {
    "m-ELO, flat": partial(ba.fit, model="m-elo", prior="flat"),
    "am-ELO, flat, delta = 50": filtered,
    "am-ELO": partial(ba.fit, model="am-elo"),
    "Bradley-Terry, Davidson": partial(ba.fit, model=PLAIN, method="marginal"),
    "am, Davidson nu": partial(ba.fit, model=COMMON),
    "am, Davidson nu_k": partial(ba.fit, model=NU_K),
    "am-davidson (nu_k, b_k)": partial(ba.fit, model="am-davidson"),
    "am, Rao-Kupper eta_k, b_k": partial(ba.fit, model=RAO_KUPPER),
}
REFERENCE = "am-davidson (nu_k, b_k)"
GROUPS = ("pair", "competitor", "annotator")


def markdown(table: pd.DataFrame) -> str:
    scores = [score for score in NUMBERS if score in table]
    names = [NUMBERS[score][0] for score in scores]
    heads = ["", *names, *(f"{name} less am-davidson's" for name in names)]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for _, row in table.iterrows():
        cells = [str(row["name"])]
        for suffix, sign in (("", ""), ("_diff", "+")):
            for score in scores:
                digits = NUMBERS[score][1]
                value, error = row[score + suffix], row[score + suffix + "_se"]
                if suffix and row["name"] == REFERENCE:
                    cells.append("")
                else:
                    cells.append(f"{value:{sign}.{digits + bool(suffix)}f} ({error:.{digits + bool(suffix)}f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def outside(cells: ba.Cells) -> str:
    lines = ["| outside 89 % | " + " | ".join(f"{what} by {by}" for by in GROUPS for what in ("wins", "ties")) + " |"]
    lines.append("|---" * (1 + 2 * len(GROUPS)) + "|")
    for name in ("Bradley-Terry, Davidson", REFERENCE, "am, Rao-Kupper eta_k, b_k"):
        fit = MODELS[name](cells)
        shares = []
        for by in GROUPS:
            table = ba.predictive_check(fit, by)
            out = (table["observed"] < table["lower"]) | (table["observed"] > table["upper"])
            shares += [f"{out[table['statistic'] == statistic].mean():.1%}" for statistic in ("win", "tie")]
        lines.append(f"| {name} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


def main() -> None:
    warnings.simplefilter("ignore", ba.ArenaWarning)
    folder = Path(os.environ.get("BAYES_ARENA_DATA") or Path(__file__).parents[2] / "shared" / "data")
    population = {name: fitter for name, fitter in MODELS.items() if fitter is not filtered}
    for title, name in (("LLMFAO", "llmfao.csv"), ("MT-bench, human", "mt_bench_human.csv")):
        cells = ba.read_votes(folder / name, prompt=False)
        start = time.perf_counter()
        table = ba.held_out(cells, MODELS, reference=REFERENCE)
        seconds = time.perf_counter() - start
        print(f"## {title}\n\n{cells.n_votes:.0f} votes, 10 splits 80/20, {seconds:.0f} s\n\n{markdown(table)}\n")
        start = time.perf_counter()
        table = ba.kfold(cells, population, over="annotator", reference=REFERENCE)
        seconds = time.perf_counter() - start
        print(f"Annotators nobody has seen, 10 folds, {seconds:.0f} s\n\n{markdown(table)}\n")
        print(f"Posterior predictive checks\n\n{outside(cells)}\n")


if __name__ == "__main__":
    main()
