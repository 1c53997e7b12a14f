"""Simulation-based calibration: truth from the prior, votes by the model, and where the truth lies in the posterior.

    uv run python benchmarks/sbc.py [--replicates 500] [--only drift directions]

A replicate draws spreads from their hyperpriors (where the fit estimates them), all parameters from the prior, and the
votes of an arena of eight competitors from the model; the fit is that of the same model. So an interval has to hold the
truth as often as it says, over the whole prior, however wild the arena. Counted are the scores of the board, and theta
where annotators have one; errors in brackets are over replicates, and "rms z" is the root mean square of
(estimate - truth) / sd. "p" is of a Kolmogorov-Smirnov test that the posterior probability below the truth is uniform,
for the first competitor, or annotator, of every replicate. "refused" are arenas of which no posterior was found.

Regimes are the presets, and the parts that a model may have beside them: two grades of wins, strengths that move over
six periods, verdicts on three criteria of every comparison, strengths by three groups (and the board of a population
with other shares than the votes), and one direction in which annotators disagree.

The exit code is 1 where intervals of 89 % of a board hold less than 80 % of the truths, by more than three errors.

Source: Talts, S. et al. (2018), "Validating Bayesian inference algorithms with simulation-based calibration",
arXiv:1804.06788.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np
from measuring import markdown, options_of
from scipy.special import ndtr
from scipy.stats import kstest
from true_boards import PER_LOGIT, scores

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.fits.prior_draws import draw_prior
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS, in_dimensions, with_criteria, with_drift
from bayes_arena.likelihood.priors import SMALLEST
from bayes_arena.likelihood.problem import Problem
from bayes_arena.markup import percent
from bayes_arena.progress import report
from bayes_arena.votes.names import CRITERION, ITEM, TIME

N, ANNOTATORS, VOTES = 8, 30, 1500
PERIODS, CRITERIA, GROUPS = 6, 3, 3
SHARES = {"group": {"0": 0.6, "1": 0.3, "2": 0.1}}
LEVELS = (0.5, 0.89, 0.95)
FLOOR = 0.8
"""Of the coverage of 89 % intervals of boards."""
BOARD, POPULATION, THETA = "board", "board of a population", "theta"
AM_DAVIDSON = PRESETS["am-davidson"]


@dataclass(frozen=True)
class Regime:
    """A model, and what its votes carry.

    Attributes
    ----------
    model : callable
        From votes to the model.
    slices : callable
        From the index of a vote and that of its annotator to the levels of every slice, by its name.
    per_comparison : int
        Verdicts on every comparison.
    grades : int
        Grades of a win.
    """

    model: Callable[[ba.Cells], ba.Model]
    slices: Callable[[np.ndarray, np.ndarray], dict[str, np.ndarray]] = lambda vote, annotator: {}
    per_comparison: int = 1
    grades: int = 1


def preset(name: str) -> Regime:
    """Return the regime of a preset."""
    return Regime(lambda cells: PRESETS[name])


REGIMES = {name: preset(name) for name in PRESETS} | {
    "grades": Regime(lambda cells: replace(AM_DAVIDSON, grades=2), grades=2),
    "drift": Regime(lambda cells: with_drift(PRESETS["davidson"]), lambda vote, who: {TIME: vote % PERIODS}),
    "criteria": Regime(
        lambda cells: with_criteria(AM_DAVIDSON, cells, ba.Prior())[0],
        lambda vote, who: {ITEM: vote // CRITERIA, CRITERION: vote % CRITERIA},
        per_comparison=CRITERIA,
    ),
    "groups": Regime(
        lambda cells: replace(AM_DAVIDSON, strength_by=("group",)), lambda vote, who: {"group": who % GROUPS}
    ),
    "directions": Regime(lambda cells: in_dimensions(AM_DAVIDSON, 1)),
}


def design(regime: Regime, rng: np.random.Generator) -> ba.Cells:
    """Return who votes on what; all votes are for the first."""
    vote = np.arange(VOTES)
    comparison = vote // regime.per_comparison
    count = comparison[-1] + 1
    a = rng.integers(N, size=count)
    b = (a + rng.integers(1, N, size=count)) % N
    who = rng.permutation(count) % ANNOTATORS
    annotator = who[comparison]
    slices = regime.slices(vote, annotator)
    names = {name: tuple(f"{level:04}" for level in range(codes.max() + 1)) for name, codes in slices.items()}
    if TIME in slices:
        names[TIME] = tuple(f"2026-{month + 1:02}" for month in range(PERIODS))
    if "group" in slices:
        names["group"] = tuple(SHARES["group"])
    return ba.Cells(
        tuple(f"model-{one}" for one in range(N)),
        tuple(f"annotator-{one:02}" for one in range(ANNOTATORS)),
        a[comparison],
        b[comparison],
        annotator,
        np.eye(2 + 2 * regime.grades)[np.zeros_like(vote)],
        slices=slices,
        slice_names=names,
    )


def drawn(regime: Regime, seed: int) -> tuple[Problem, Point]:
    """Return votes under parameters from the prior, with their model and the true spreads, and the parameters."""
    planned = design(regime, np.random.default_rng([seed, 47]))
    model, prior = regime.model(planned), ba.Prior()
    if not (model.needs_annotators or model.is_crossed):
        prior = replace(prior, hyper=None)  # as the fit takes it
    problem = Problem.of(planned, model, prior)
    draws, spreads = draw_prior(problem, size=1, seed=seed)
    (truth,) = draws.points()
    target = problem.objective
    tally, p = target.tally, np.exp(target.likelihood.log_probabilities(target.coordinates(truth)))
    cells = replace(
        planned,
        annotators=planned.annotators if model.needs_annotators else (),
        a=tally.i,
        b=tally.j,
        annotator=tally.k,
        counts=np.random.default_rng([seed, 53]).multinomial(tally.votes.astype(int), p.T).astype(float),
        slices=dict(zip(model.slices, tally.slices, strict=True)),
        slice_names={name: planned.slice_names[name] for name in model.slices},
    )
    of_truth = {name: max(float(values[0]), SMALLEST) for name, values in spreads.items()}
    return Problem(cells, model, problem.prior.with_spreads(of_truth)), truth


def errors(fit: ba.Fit, problem: Problem, truth: Point) -> Floats:
    """Return the errors of a board in standard deviations, shape (N,)."""
    everybody = replace(fit.view, annotators=None)
    true = project(problem.objective, truth, problem.cells.votes_by_annotator(), everybody).strength
    elo, sd = scores(fit)
    return (elo - elo.mean() - PER_LOGIT * (true - true.mean())) / sd


def replicate(regime: Regime, seed: int) -> dict[str, Floats]:
    """Return errors in standard deviations, by what they are errors of."""
    problem, truth = drawn(regime, seed)
    fit = ba.fit(problem.cells, model=problem.model, dimensions=problem.model.dimensions, robust=False)
    found = {BOARD: errors(fit, problem, truth)}
    if "group" in problem.model.strength_by:
        found[POPULATION] = errors(fit.of_population(SHARES), problem, truth)
    if fit.target.free_discrimination:
        found[THETA] = (fit.discrimination - truth.own[:, 0]) / fit.discrimination_sd
    return found


@dataclass
class Findings:
    """What replicates of a regime have shown."""

    found: dict[str, list[Floats]] = field(default_factory=dict)
    refused: int = 0
    seconds: float = 0.0

    def add(self, regime: Regime, seed: int) -> None:
        """Add a replicate."""
        start = time.process_time()
        try:
            for what, z in replicate(regime, seed).items():
                self.found.setdefault(what, []).append(z)
        except ba.ArenaError as error:
            print(f"Replicate {seed}: {type(error).__name__}: {error}", file=sys.stderr)
            self.refused += 1
        self.seconds += time.process_time() - start

    def rows(self) -> tuple[list[list[str]], bool]:
        """Return a row of the table for each thing counted, and whether boards cover."""
        rows, right = [], True
        for what, values in self.found.items():
            z = np.array(values)
            cells = [what]
            for level in LEVELS:
                inside = (np.abs(z) < NormalDist().inv_cdf(0.5 + level / 2)).mean(axis=1)
                error = inside.std(ddof=1) / np.sqrt(len(inside))
                cells.append(f"{inside.mean():.3f} ({error:.3f})")
                if level == LEVELS[1] and what != THETA:
                    right &= bool(inside.mean() + 3 * error >= FLOOR)
            cells += [f"{np.sqrt((z**2).mean()):.2f}", f"{kstest(ndtr(-z[:, 0]), 'uniform').pvalue:.3f}"]
            rows.append([*cells, str(self.refused), f"{self.seconds / (len(values) + self.refused):.2f}"])
        return rows, right


def main() -> int:
    """Print the table, a regime at a time."""
    parser = options_of(__doc__, replicates=500)
    parser.add_argument("--only", nargs="*", default=list(REGIMES), choices=list(REGIMES), metavar="REGIME")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    levels = [percent(level) for level in LEVELS]
    print(f"{options.replicates} replicates a regime: {N} competitors, {ANNOTATORS} annotators, {VOTES:,} votes\n")
    print(markdown(["regime", "of", *levels, "rms z", "p", "refused", "CPU s a replicate"], []), flush=True)
    right = True
    for name in options.only:
        found = Findings()
        for seed in range(options.replicates):
            report(name, seed, options.replicates)
            found.add(REGIMES[name], seed)
        rows, covers = found.rows()
        right &= covers
        for row in rows:
            print(f"| {' | '.join([name, *row])} |", flush=True)
    report("")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
