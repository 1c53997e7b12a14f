"""Which model predicts votes best? Real votes, left out at random or annotator by annotator.

    uv run python benchmarks/prediction.py > benchmarks/results/prediction.md

Looks for ``llmfao.csv`` and ``mt_bench_human.csv`` in ``$BAYES_ARENA_DATA`` (else ``../shared/data``). For each it
prints ten random splits 80/20 by vote, ten folds of annotators, and the share of observed rates outside their 89 %
predictive intervals. Standard errors in brackets: over splits (Nadeau & Bengio) and clustered by annotator.

With ``--robust`` it prints instead what discounting votes costs, or gains, in predicting votes left out:
the log score with it less that without it.
"""

import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
from measuring import DATA, options_of, timed

import bayes_arena as ba
from bayes_arena.markup import percent
from bayes_arena.validation.cross_validation import split_votes, vote_scores
from bayes_arena.validation.prediction import predict_cells

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
SPLITS, TEST = 10, 0.2
SETS = (("LLMFAO", "llmfao.csv"), ("MT-bench, human", "mt_bench_human.csv"))


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
            shares += [percent(out[table["statistic"] == statistic].mean(), ".1f") for statistic in ("win", "tie")]
        lines.append(f"| {name} | " + " | ".join(shares) + " |")
    return "\n".join(lines)


def with_and_without_discounts(cells: ba.Cells) -> str:
    """Log score of votes left out, where votes that are not those of one crowd are discounted and where all count."""
    rows, discounted = [], []
    for train, test in split_votes(cells, splits=SPLITS, test=TEST, seed=0):
        fits = [ba.fit(train, robust=robust) for robust in (True, False)]
        discounted.append(fits[0].votes_discounted)
        scores = [vote_scores(predict_cells(fit, test), test.counts)[1:] for fit in fits]
        rows.append([(logs * votes).sum() / votes.sum() for logs, votes in scores])
    robust, alike = np.array(rows).T
    error = math.sqrt(1 / len(rows) + TEST / (1 - TEST)) * (robust - alike).std(ddof=1)
    return (
        f"Votes discounted in a split: {np.mean(discounted):.0f}.\n\n"
        "| log score, robust | robust=False | difference |\n|---|---|---|\n"
        f"| {robust.mean():.4f} | {alike.mean():.4f} | {(robust - alike).mean():+.4f} ({error:.4f}) |"
    )


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("--robust", action="store_true", help="only what discounting votes costs")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    if options.robust:
        for title, name in SETS:
            cells = ba.read_votes(DATA / name, prompt=False)
            print(f"## {title}: the default fit, and robust=False\n")
            print(f"{cells.n_votes:.0f} votes, {SPLITS} splits 80/20\n\n{with_and_without_discounts(cells)}\n")
        return
    population = {name: fitter for name, fitter in MODELS.items() if fitter is not filtered}
    for title, name in SETS:
        cells = ba.read_votes(DATA / name, prompt=False)
        table, seconds, _ = timed(partial(ba.held_out, cells, MODELS, reference=REFERENCE))
        print(f"## {title}\n\n{cells.n_votes:.0f} votes, 10 splits 80/20, {seconds:.0f} s\n\n{markdown(table)}\n")
        by_annotator = partial(ba.kfold, cells, population, over="annotator", reference=REFERENCE)
        table, seconds, _ = timed(by_annotator)
        print(f"Annotators nobody has seen, 10 folds, {seconds:.0f} s\n\n{markdown(table)}\n")
        print(f"Posterior predictive checks\n\n{outside(cells)}\n")


if __name__ == "__main__":
    main()
