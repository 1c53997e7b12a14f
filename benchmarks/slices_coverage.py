"""Do intervals of strengths over slices cover? Simulated arenas in which answers, categories and tastes differ.

    uv run python benchmarks/slices_coverage.py [--arenas 100] [--part answers|sparse|taste|categories]

answers: 8 competitors, 30 prompts, 20 annotators, 1,800 votes (15 an answer); sparse: 6, 80, 15, 960 (4 an answer);
taste: as answers, and two groups of annotators have opposite tastes (sd 1) for half of the competitors; categories: 4
of them (sd 0.7) over 48 prompts. s_r = s_u = 1, theta's sd 0.3, ln nu's 0.5, the position effect's 0.2.

Printed are the shares of 89 % intervals with the truth inside, of competitors' strengths less their mean in logits and
on the Elo scale, Monte Carlo errors in brackets (arenas are independent); the root mean square of z; the slope of the
estimates on the truth, what it is for a calibrated posterior mean (1 - posterior / prior variance), and the slope of
the truth on the estimates, which is then 1; and mean spreads.
"""

import argparse
import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from slices_boards import Truth, Weights, board, simulate, view_of

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.inference.projection import project
from bayes_arena.inference.views import View
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS

Z = NormalDist().inv_cdf(0.5 + 0.89 / 2)
BASE = PRESETS["am-davidson"]
ANSWERS = replace(BASE, strength_by=("prompt",), ties_by=("prompt",))
SMALL = {"competitors": 8, "prompts": 30, "annotators": 20, "votes": 1800}
CATEGORIES = 4
PARTS: Mapping[str, tuple[Mapping[str, Any], Mapping[str, ba.Model]]] = {
    "answers": (SMALL, {"am-davidson": BASE, "with answers": ANSWERS}),
    "sparse": (
        {"competitors": 6, "prompts": 80, "annotators": 15, "votes": 960},
        {"am-davidson": BASE, "with answers": ANSWERS},
    ),
    "taste": (
        {**SMALL, "taste_sd": 1.0},
        {
            "am-davidson": BASE,
            "with taste": replace(BASE, strength_by=("annotator",)),
            "with answers": ANSWERS,
            "with answers, taste": replace(ANSWERS, strength_by=("prompt", "annotator")),
        },
    ),
    "categories": (
        {**SMALL, "prompts": 48, "votes": 2400, "categories": CATEGORIES, "category_sd": 0.7},
        {
            "with answers": ANSWERS,
            "with answers, categories": replace(ANSWERS, strength_by=("prompt", "category")),
        },
    ),
}


def boards(truth: Truth) -> dict[str, tuple[Weights, Floats]]:
    """Return the boards by name: weights of the slices, and the true strengths."""
    prompts, n_categories = len(truth.answers), len(truth.categories)
    every = {"prompt": np.full(prompts, 1 / prompts), "category": np.full(n_categories, 1 / max(n_categories, 1))}
    of_all = truth.categories.mean(axis=0) if n_categories else 0.0
    found: dict[str, tuple[Weights, Floats]] = {
        "these prompts": (every, truth.strength + of_all + truth.answers.mean(axis=0))
    }
    if not n_categories:
        return {"new prompts": ({}, truth.strength)} | found
    for one in range(n_categories):
        only = (np.arange(n_categories) == one).astype(float)
        found[f"new prompts of category {one}"] = ({"category": only}, truth.strength + truth.categories[one])
    return found


def elo(fit: ba.Fit, truth: Truth, weights: Weights, true: Floats) -> tuple[Floats, Floats, Floats]:
    """Return r*, its variance and its true value; answers of new prompts scatter, those of these are averaged."""
    votes, mean, target = fit.cells.votes_by_annotator(), truth.theta.mean(), fit.target
    own = np.column_stack([truth.theta / mean, truth.tie - truth.tie.mean(), truth.position - truth.position.mean()])
    common = np.array([truth.tie.mean(), truth.position.mean()])
    point = Point(true * mean, common, own, np.zeros_like(fit.point.slices))
    new, answer_sd = "prompt" not in weights, float(truth.answers.std())
    sd = {effect.spread: effect.sd for effect in target.slices}
    scattered = np.sqrt(2) * sd.get("strength_by_prompt", 0.0) if new else 0.0
    fitted_view = view_of(fit, weights, float(scattered), sd.get("ties_by_prompt", 0.0) if new else 0.0)
    nothing = replace(fitted_view, slices=0.0 * fitted_view.slices, unseen=np.zeros(len(true)), tie_sd=0.0)
    true_view: View = replace(nothing, lead_sd=np.sqrt(2) * answer_sd * mean if new else 0.0)
    fitted, real = project(target, fit.point, votes, fitted_view), project(target, point, votes, true_view)
    variance = np.diag(fit.laplace.covariance(fitted.by_head, fitted.by_own))
    return fitted.strength, variance + fitted.by_mean**2 @ fitted_view.unseen, real.strength


def say(name: str, rows: list[tuple[Floats, Floats, Floats]]) -> None:
    """Print a row of estimates, variances and truths, each of shape (n,), arena by arena."""
    estimate, variance, true = (np.array(column) for column in zip(*rows, strict=True))
    z = (estimate - true) / np.sqrt(variance)
    inside = (np.abs(z) < Z).mean(axis=1)
    covers = f"{inside.mean():.3f} ({inside.std(ddof=1) / np.sqrt(len(inside)):.3f}) | {np.sqrt((z**2).mean()):.2f}"
    product = (estimate * true).sum()
    slope, back = product / (true**2).sum(), product / (estimate**2).sum()
    print(f"| {name} | {covers} | {slope:.3f} | {1 - variance.mean() / (true**2).mean():.3f} | {back:.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arenas", type=int, default=100)
    parser.add_argument("--part", choices=tuple(PARTS), default="answers")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    size, models = PARTS[options.part]
    rows: dict[str, list[tuple[Floats, Floats, Floats]]] = {}
    spreads: dict[str, list[list[float]]] = {name: [] for name in models}
    seconds, fits = dict.fromkeys(models, 0.0), dict[str, ba.Fit]()
    for seed in range(options.arenas):
        truth = simulate(20_000 + seed, **size)
        for name, model in models.items():
            start = time.process_time()
            fits[name] = fit = ba.fit(truth.cells, model=model)
            seconds[name] += time.process_time() - start
            spreads[name].append([fit.spreads.spread(one) for one in fit.target.spreads])
            for over, (weights, true) in boards(truth).items():
                kind = over.rstrip("0123456789 ")
                known = over.startswith("these") or "category" not in over or "category" in fit.model.strength_by
                centred = (true - true.mean()) * truth.theta.mean()
                rows.setdefault(f"{name}, {kind}, logits", []).append((*variances(board(fit, weights)), centred))
                if fit.target.slices and known:
                    rows.setdefault(f"{name}, {kind}, Elo", []).append(elo(fit, truth, weights, true))
        print(f"\r{seed + 1} of {options.arenas} arenas", end="", file=sys.stderr)
    print(file=sys.stderr)
    print(f"## {options.part}: {', '.join(f'{k} {v}' for k, v in size.items())}; {options.arenas} arenas\n")
    print("| | 89 % covers | rms z | estimate on truth | expected | truth on estimate |\n" + "|---" * 6 + "|")
    for name, of_name in rows.items():
        say(name, of_name)
    for name, values in spreads.items():
        shown = zip(fits[name].target.spreads, np.mean(values, axis=0), np.std(values, axis=0), strict=True)
        found = ", ".join(f"{kind} {mean:.3f} +- {sd:.3f}" for kind, mean, sd in shown)
        print(f"\n{name}: mean spreads {found}; {seconds[name] / options.arenas:.2f} CPU s a fit")


def variances(found: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return an estimate and the diagonal of its covariance."""
    return found[0], np.diag(found[1])


if __name__ == "__main__":
    main()
