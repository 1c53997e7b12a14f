"""What votes say of the parts of am-davidson, and how far its marginal fit is from the sampled one.

    uv run python benchmarks/parts.py > benchmarks/results/parts.md

LLMFAO, all annotators counted (``robust=False``): four sampled fits, compared by leave-one-vote-out. A sampled fit
whose chains disagree, by an r-hat above 1.02, ends the run with an error.
"""

import sys
import warnings

import numpy as np
from measuring import FILES

import bayes_arena as ba
from bayes_arena.validation.leave_one_out import PARETO_K

PARTS = [
    ba.Model("am-davidson", "annotator", "davidson", "annotator", position="annotator"),
    ba.Model("without position", "annotator", "davidson", "annotator"),
    ba.Model("and a common nu", "annotator", "davidson"),
    ba.Model("and theta = 1", ties="davidson"),
]


CONVERGED = 1.02


def main() -> None:
    import arviz as az

    warnings.simplefilter("ignore")
    print("`uv run python benchmarks/parts.py`\n")
    cells = ba.read_votes(FILES["LLMFAO"], prompt=False)
    fits = {}
    for model in PARTS:
        print(f"LLMFAO, {model.name}", file=sys.stderr)
        fits[model.name] = ba.fit(cells, model=model, method="nuts", robust=False)
    rhat = {name: float(az.rhat(fit.tree["posterior"].to_dataset()).to_array().max()) for name, fit in fits.items()}
    sampled = fits["am-davidson"]
    marginal = ba.fit(cells, model="am-davidson", method="marginal", robust=False)
    theta = sampled.samples.own[:, :, 0].mean(axis=0)
    away = (sampled.samples.strength.mean(axis=0) - marginal.strength) / sampled.samples.strength.std(axis=0)
    print("LLMFAO, marginal against sampled: theta's posterior means correlate ", end="")
    print(f"{np.corrcoef(theta, marginal.discrimination)[0, 1]:.4f};", end=" ")
    print(f"strengths differ by at most {np.abs(away).max():.2f} posterior sd.")
    print("\nLLMFAO, leave-one-vote-out from the sampled fits:\n")
    header = ["elpd difference", "its SE", "stacking weight", "largest Pareto k", "columns of votes above 0.7", "r-hat"]
    print(f"| | {' | '.join(header)} |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    bad = {name: ba.leave_one_out(fit).pareto_k > PARETO_K for name, fit in fits.items()}
    for row in ba.compare(fits).itertuples():
        columns = [f"{row.elpd_diff:.1f}", f"{row.dse:.1f}", f"{row.weight:.2f}", f"{row.pareto_k:.2f}"]
        columns += [f"{bad[row.name].sum()} of {len(bad[row.name])}", f"{rhat[row.name]:.4f}"]
        print(f"| {row.name} | {' | '.join(columns)} |")
    votes = cells.votes_by_annotator()
    row, outcome = np.nonzero(cells.counts)
    for name in fits:
        for column in np.flatnonzero(bad[name]):
            at, which = row[column], ("first", "second", "tie", "both bad")[outcome[column]]
            pair = f"{cells.competitors[cells.a[at]]}, {cells.competitors[cells.b[at]]}"
            print(f"\n{name}: {pair}: {which}, by an annotator with {votes[cells.annotator[at]]:.0f} votes")
    if apart := [name for name, value in rhat.items() if not value <= CONVERGED]:
        raise SystemExit(f"Chains disagree: {', '.join(apart)}")


if __name__ == "__main__":
    main()
