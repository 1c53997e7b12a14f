"""How much likelier are the votes where slices are modelled? Logarithms of the marginal likelihood, in nats.

    uv run python benchmarks/slices_evidence.py

Data as in ``slices_heldout.py``. For am-davidson Laplace's approximation at the estimated spreads, for models with
slices the lower bound that the nearest Gaussian N(m, S) gives,

    E[ln p(votes, numbers)] + (ln |S| + d) / 2,

up to the same constant, hyperpriors left out. Both are bounds or approximations: where the spreads of all slices are
held at 0.001 they should agree with am-davidson, and the row says by how much they do not.
"""

import warnings
from dataclasses import replace

import numpy as np
from slices_heldout import BASE, CATEGORY, SETS, read

import bayes_arena as ba
from bayes_arena.inference.marginal import nearest
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.likelihood.algebra.factor import CrossedFactor
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROMPT

NOTHING = 1e-3
MODELS = {
    "answers": replace(BASE, strength_by=(PROMPT,)),
    "tie per competitor": replace(BASE, ties_by=(COMPETITOR,)),
    "category": replace(BASE, strength_by=(CATEGORY,)),
    "answers + category": replace(BASE, strength_by=(PROMPT, CATEGORY)),
    "answers + tie per competitor": replace(BASE, strength_by=(PROMPT,), ties_by=(COMPETITOR,)),
    "answers + tie per prompt": replace(BASE, strength_by=(PROMPT,), ties_by=(PROMPT,)),
    "everything": replace(BASE, strength_by=(PROMPT, ANNOTATOR), ties_by=(PROMPT, COMPETITOR)),
}


def of_laplace(fit: ba.Fit) -> float:
    """Return Laplace's approximation for a model without slices."""
    target, sizes = fit.target, [fit.cells.n_competitors - 1, *[fit.target.n_annotators - 1] * len(fit.target.own)]
    widths = float(np.array(sizes) @ np.log(nearest.spreads_of(target)))
    widths += sum(float(np.log(effect.sd)) for effect in target.common)
    return -target.value(fit.point) - widths - 0.5 * fit.laplace.log_determinant


def of_gaussian(target: Objective, point: Point, factor: CrossedFactor, shifts: np.ndarray) -> float:
    """Return the bound of a Gaussian for a model with slices."""
    found = nearest.Nearest(target, point, factor, 0.0, 0)
    sizes, squares, variances = nearest._moments(found)
    n, c, sds = target.n_competitors, len(target.common), nearest.spreads_of(target)
    value = -float(nearest._smoothed(target, target.coordinates(point), factor.spread.rows).value.sum())
    value -= float(sizes @ np.log(sds) + 0.5 * np.sum((squares + variances) / sds**2))
    for x, variance, effect in zip(point.common, factor.spread.head[n : n + c], target.common, strict=True):
        value -= float(np.log(effect.sd) + 0.5 * ((x - effect.mean) ** 2 + variance) / effect.sd**2)
    gauge = Gauge(shifts, free_scale=False, held=np.ones(len(target.own), dtype=bool))
    held = shifts.shape[1] * np.log(gauge.shift_size(factor.hessian) + target.strength_sd**-2)
    return value - 0.5 * (factor.log_determinant() - held) + 0.5 * float(sizes.sum() + c)


def main() -> None:
    warnings.simplefilter("ignore", ba.ArenaWarning)
    for title, (name, prompt) in SETS.items():
        cells = read(name, prompt)
        base = ba.fit(cells, model=BASE)
        start = of_laplace(base)
        print(f"## {title}\n\n| | log marginal likelihood | gain | spreads |\n|---|---|---|---|")
        print(f"| am-davidson | {start:.1f} | | {base.spreads} |")
        for key, model in MODELS.items():
            if not set(model.slices) <= set(cells.slices):
                continue
            fit = ba.fit(cells, model=model)
            assert isinstance(fit.laplace.factor, CrossedFactor)
            value = of_gaussian(fit.target, fit.point, fit.laplace.factor, fit.laplace.shifts)
            print(f"| {key} | {value:.1f} | {value - start:+.1f} | {fit.spreads} |", flush=True)
        none = base.spreads.with_spreads({"strength_by_prompt": NOTHING})
        problem = Problem(cells, MODELS["answers"], none)
        off = nearest.nearest(problem, replace(base.point, slices=problem.objective.start().slices), estimate=False)
        value = of_gaussian(off.target, off.point, off.factor, problem.shifts)
        print(f"| answers held at {NOTHING:g} | {value:.1f} | {value - start:+.1f} | |\n", flush=True)


if __name__ == "__main__":
    main()
