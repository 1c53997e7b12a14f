"""What the votes of an annotator are worth, in votes of others.

Let V(a, b) be the sum of the posterior variances of the strengths r if the judge's votes count a times and those of the
reference annotators b times, with the spreads fixed and the Hessian at the estimate without residuals. The judge's
votes are worth the number m of further votes of the reference, cast by the same annotators on the same pairs, that
would replace them,

    V(0, 1 + m / n) = V(1, 1),          n votes of the reference so far,

and, however many the judge casts, at most the m of V(0, 1 + m / n) = V(infinity, 1). Where the judge has a taste,
q_i = r_i + u_i with u_i ~ N(0, tau^2), this bound is finite: its votes determine r_i - r_j to within sqrt(2) tau at
best. Where theta is free, the direction of r itself is projected out of V: it is the common scale of all strengths, on
which no ranking depends and about which no single annotator's votes tell anything.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.likelihood.objective import objective
from bayes_arena.threads import one_thread

ENDLESS, FARTHEST = 1e6, math.log(1e4)
"""Weight that stands for infinitely many votes of the judge; logarithm of the largest weight of the reference, beyond
which a variance counts as unattainable."""
SAME = 1e-4
"""Tolerance of the logarithm of the weight of the reference."""
FEWEST_OF_A_RANKING = 3
"""Fewest competitors for which a ranking is more than a scale."""


@dataclass(frozen=True)
class Worth:
    """What the votes of an annotator are worth in further votes of the reference: m, and the same for each vote.

    ``most`` is their largest worth, however many there are; None where no number of votes of the reference attains it.
    """

    votes: float
    each: float
    most: float | None


def worth(fit: Fit, judge: str, reference: Collection[str]) -> Worth:
    """Return what the votes of a judge are worth in votes of reference annotators."""
    problem, cells = fit.mode.problem, fit.cells
    is_judge = np.array([name == judge for name in cells.annotators])
    is_reference = np.array([name in reference for name in cells.annotators])
    n_votes = cells.votes_by_annotator()
    kept = np.eye(cells.n_competitors)
    size = float(fit.strength @ fit.strength)
    if fit.target.free_discrimination and cells.n_competitors >= FEWEST_OF_A_RANKING and size > 0:
        kept -= np.outer(fit.strength, fit.strength) / size

    target = objective(cells, problem.model, problem.prior, by_annotator=True)

    def variance(of_judge: float, of_reference: float) -> float:
        weight = np.where(is_judge, of_judge, np.where(is_reference, of_reference, 1.0))
        weighted = replace(target, counts=target.counts * weight[target.tally.k])
        covariance = laplace_at(weighted, fit.point, problem.shifts, residuals=False).strength_covariance()
        return float(np.trace(kept @ covariance @ kept))

    def without_judge(log: float) -> float:
        return variance(0.0, math.exp(log))

    def in_votes(wanted: float) -> float:
        """Return how many further votes of the reference give the wanted variance without the judge."""
        if wanted >= without:
            return 0.0
        if wanted <= least:
            return math.inf
        log = brentq(lambda log: without_judge(log) - wanted, 0.0, FARTHEST, xtol=SAME)
        return math.expm1(log) * float(n_votes[is_reference].sum())

    with one_thread():
        without, least = without_judge(0.0), without_judge(FARTHEST)
        now, most = in_votes(variance(1.0, 1.0)), in_votes(variance(ENDLESS, 1.0))
    return Worth(votes=now, each=now / float(n_votes[is_judge].sum()), most=most if math.isfinite(most) else None)
