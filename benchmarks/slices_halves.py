"""Would other prompts say the same? Random halves of the prompts of real votes, fitted by themselves.

    uv run python benchmarks/slices_halves.py [--halvings 20]

Data as in ``slices_heldout.py``; both turns of a question are in the same half. Printed is how often the 89 % interval
of the difference of the two halves' strengths (less their mean, in logits; sd the root of the summed variances, as if
the halves were independent) covers 0, and how often one half's interval covers the estimate of the other. Intervals of
strengths on new prompts should cover the difference in 89 %, and the other estimate in 74 % where both are as wide.
Halvings of the same prompts are not independent, so the standard errors in brackets, over halvings, are too small.
"""

import argparse
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from slices_boards import board
from slices_heldout import BASE, CATEGORY, SETS, read

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.votes.names import ANNOTATOR, PROMPT

Z = NormalDist().inv_cdf(0.5 + 0.89 / 2)
MODELS = {
    "am-davidson": BASE,
    "with answers": replace(BASE, strength_by=(PROMPT,), ties_by=(PROMPT,)),
    "with answers, taste": replace(BASE, strength_by=(PROMPT, ANNOTATOR), ties_by=(PROMPT,)),
    "with answers, categories": replace(BASE, strength_by=(PROMPT, CATEGORY), ties_by=(PROMPT,)),
}


def halves(cells: ba.Cells, halvings: int, by: str) -> Iterator[tuple[ba.Cells, ba.Cells]]:
    """Yield the votes on two random halves of the questions, or of the categories."""
    names = [name.split("/")[0] for name in cells.slice_names[by]]
    questions, code = np.unique(names, return_inverse=True)
    rng = np.random.default_rng(0)
    for _ in range(halvings):
        first = rng.permutation(len(questions)) < len(questions) // 2
        inside = first[code[cells.slices[by]]]
        yield cells.take(inside), cells.take(~inside)


def covered(fits: list[ba.Fit], weights: Mapping[str, Floats]) -> tuple[float, float, float, float]:
    """Return the shares of intervals that cover, the mean square of z, and the root mean square of the sds."""
    (one, v_one), (two, v_two) = (board(fit, weights) for fit in fits)
    gap, sds = np.abs(one - two), np.sqrt([np.diag(v_one), np.diag(v_two)])
    both = np.sqrt((sds**2).sum(axis=0))
    return (
        float((gap < Z * both).mean()),
        float((gap < Z * sds).mean()),
        float(((gap / both) ** 2).mean()),
        float((sds**2).mean()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--halvings", type=int, default=20)
    parser.add_argument("--over", choices=(PROMPT, CATEGORY), default=PROMPT, help="what is halved")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    for title, (name, prompt) in SETS.items():
        cells = read(name, prompt)
        if options.over not in cells.slices:
            continue
        models = {key: model for key, model in MODELS.items() if set(model.slices) <= set(cells.slices)}
        rows: dict[str, list[tuple[float, float, float, float]]] = {key: [] for key in models}
        for both in halves(cells, options.halvings, options.over):
            for key, model in models.items():
                rows[key].append(covered([ba.fit(half, model=model) for half in both], {}))
        print(f"## {title}, {options.halvings} halvings by {options.over}\n")
        print("| | difference covered | other half covered | rms z | sd of a half, logits |\n" + "|---" * 5 + "|")
        for key, values in rows.items():
            found = np.array(values)
            (a, b, square, variance), errors = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(len(found))
            shares = f"{a:.3f} ({errors[0]:.3f}) | {b:.3f} ({errors[1]:.3f})"
            print(f"| {key} | {shares} | {np.sqrt(square):.2f} | {np.sqrt(variance):.2f} |")
        print(flush=True)


if __name__ == "__main__":
    main()
