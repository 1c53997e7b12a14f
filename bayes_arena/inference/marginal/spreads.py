"""Spreads estimated from the votes: empirical Bayes by the Laplace evidence.

Let l(sigma) be the mode under spreads sigma, U the negative log-posterior there and H its Hessian without residuals
(with them it is singular where a mode splits in two, which would attract sigma). The logarithm of the Laplace evidence
times the hyperpriors sigma / s ~ chi(d), as a density of ln sigma, is up to a constant

    L(ln sigma) = -U(l) - ln |H| / 2 - sum_p ((M_p - 1 - d_p) ln sigma_p + sigma_p^2 / (2 s_p^2)),

M_p being the number of parameters, of zero sum, with the spread sigma_p. L-BFGS maximises it. As ln sigma_p grows, l
moves by the inverse of the Hessian with residuals times 2 (l_p - mu_p) / sigma_p^2; as l is a mode, this matters only
through H. With the derivative of ln |H| taken along that path,

    dL / d ln sigma_p = |l_p - mu_p|^2 / sigma_p^2 - (d ln |H| / d ln sigma_p) / 2 - (M_p - 1 - d_p)
                        - sigma_p^2 / s_p^2.

(Ignoring that l moves gives the fixed point of MacKay (1992), which is wrong where votes hardly determine some
annotators: with a third of them calling every vote a tie it ended at a spread of theta of 3.6, where NUTS and the
maximum of L say 0.4.) As a density of ln sigma, L falls without bound towards sigma = 0, so few votes leave a spread
near s rather than make all annotators alike (Chung et al., 2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import Spreads, degrees
from bayes_arena.likelihood.problem import Problem

MAX_PASSES = 3
SAME_MODE = 1e-6
"""Nats by which two modes may differ and still count as one."""
TOLERANCE = 1e-2
"""Largest slope of L at its maximum, by ln sigma in units of 1 / sqrt(2 M): about a hundredth of its posterior sd."""
SMALLEST, LARGEST = 0.01, 100.0
"""Bounds of the spreads."""
REACH = math.log(10.0)
"""Change of ln sigma after which L-BFGS starts again: after a long step to a corner Newton may find no mode."""
MAX_STARTS = 10
"""Each moves ln sigma by at most REACH, and ln(LARGEST / SMALLEST) is four times that."""
NEARBY = 0.5
"""Change of ln sigma over which the mode moves nearly in a straight line."""
STEP = 1e-3
"""Change of ln sigma by which ln |H| is differentiated."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """L of the module docstring at the spreads of a mode.

    Attributes
    ----------
    value : float
        L, in nats.
    slope : ndarray, shape (n_spreads,)
        Its derivatives by ln sigma.
    along_head, along_own : ndarray, shapes (h, n_spreads) and (M, q, n_spreads)
        Derivatives of the mode by ln sigma.
    """

    value: float
    slope: Floats
    along_head: Floats
    along_own: Floats

    def moved(self, point: Point, change: Floats) -> Point:
        """Return where a mode goes, to first order, as ln sigma changes."""
        return point.moved(self.along_head @ change, self.along_own @ change)


def estimate_spreads(problem: Problem) -> Mode:
    """Estimate the spreads of a prior, and find the mode under them.

    Parameters
    ----------
    problem : Problem
        Its prior has the spreads to start from, and their hyperpriors (``hyper`` is not None).

    Returns
    -------
    Mode
        Of the problem with the estimated spreads in its prior.

    Raises
    ------
    ConvergenceError
        If the spreads do not converge.

    References
    ----------
    MacKay, D. J. C. (1992), "Bayesian interpolation", Neural Computation 4. Chung, Y. et al. (2013), "A nondegenerate
    penalized likelihood estimator for variance parameters in multilevel models", Psychometrika 78.
    """
    mode = find_mode(problem, thorough=False)
    for _ in range(MAX_PASSES):
        mode = _maximise_evidence(mode)
        best = find_mode(mode.problem)
        if best.problem.objective.value(best.point) > mode.problem.objective.value(mode.point) - SAME_MODE:
            break
        mode = best  # another mode is better: its spreads differ
    return _likelier_direction(best)


def _likelier_direction(best: Mode) -> Mode:
    """Estimate spreads for the reversed ranking, too, and return the direction with more evidence."""
    if best.mirror is None:
        return best
    other = _maximise_evidence(find_mode(best.problem, start=best.mirror))
    if other.point.strength @ best.point.strength > 0:
        return best  # at those spreads it is no longer a mode
    return other if log_evidence(other).value > log_evidence(best).value else best


def _maximise_evidence(mode: Mode) -> Mode:
    """Maximise L, starting from a mode; where the mode jumps on the way, so does L, and L-BFGS starts again."""
    from scipy.optimize import minimize  # slow to import

    problem, names = mode.problem, mode.problem.objective.spreads
    units = np.sqrt(2.0 * _sizes(mode))
    logs = np.clip(_logs(problem), *np.log([SMALLEST, LARGEST]))
    reach = np.array([REACH if problem.prior.estimates(name) else 0.0 for name in names])
    known: Evidence | None = None

    def at(there: Floats) -> Mode:
        """Find the mode under spreads, starting from the last one, extrapolated if they change little."""
        change, start = there - _logs(mode.problem), mode.point
        if known is not None and np.abs(change).max() < NEARBY:
            start = known.moved(start, change)
        return find_mode(_with_spreads(problem, names, there), start=start)

    def negative(x: Floats) -> tuple[float, Floats]:
        nonlocal mode, known
        mode = at(x / units)
        known = log_evidence(mode)
        return -known.value, -known.slope / units

    for _ in range(MAX_STARTS):
        start, near = logs, np.clip([logs - reach, logs + reach], *np.log([SMALLEST, LARGEST]))
        bounds = (near * units).T
        answer = minimize(
            negative, start * units, jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": TOLERANCE}
        )
        logs = answer.x / units
        if answer.success and np.abs(logs - start).max() < 0.999 * REACH:
            return at(logs)
    raise ConvergenceError(
        f"The spreads of the prior did not converge in {MAX_STARTS} starts ({answer.message}). "
        "Fix them with a Prior whose hyper is None, or use method='map'."
    )


def _with_spreads(problem: Problem, names: tuple[str, ...], logs: Floats) -> Problem:
    """Return the same problem with the spreads of these logarithms that are estimated."""
    spreads = dict(zip(names, np.exp(logs).tolist(), strict=True))
    estimated = {name: value for name, value in spreads.items() if problem.prior.estimates(name)}
    return replace(problem, prior=problem.prior.with_spreads(estimated))


def _logs(problem: Problem) -> Floats:
    """Return the logarithms of the spreads of its prior."""
    return np.log([problem.prior.spread(name) for name in problem.objective.spreads])


def _sizes(mode: Mode) -> Floats:
    """Return how many parameters have each spread."""
    count, width = mode.point.own.shape
    return np.array([len(mode.point.strength), *[count] * width], dtype=float)


def log_evidence(mode: Mode) -> Evidence:
    """Return L of the module docstring at the spreads of a mode."""
    prior = mode.problem.prior
    target, point, shifts = mode.problem.objective, mode.point, mode.laplace.shifts
    names, sizes, n = target.spreads, _sizes(mode), len(point.strength)
    hyper = cast(Spreads, prior.hyper)
    spreads, scales = (np.array([one.spread(name) for name in names]) for one in (prior, hyper))
    deviations = [point.strength, *((point.own - [effect.mean for effect in target.own]) * target.units).T]
    head, own = np.zeros((len(names), n)), np.zeros((len(names), *point.own.shape))
    head[0] = 2 * deviations[0] / spreads[0] ** 2
    for p in range(1, len(names)):
        own[p, :, p - 1] = 2 * target.units[p - 1] * deviations[p] / spreads[p] ** 2
    along_head, along_own = mode.laplace.solve(head, own)
    here = laplace_at(target, point, shifts, residuals=False)
    rows, rise = np.arange(len(names)), np.empty(len(names))
    for p in range(len(names)):
        move = STEP * along_head[:, p]
        moved = Point(point.strength + move[:n], point.common + move[n:], point.own + STEP * along_own[..., p])
        wider = target.spread_values * np.exp(STEP * (rows == p))
        near = target.with_spreads(wider[0], wider[1:].tolist())
        rise[p] = here.rise_of_determinant(laplace_at(near, moved, shifts, residuals=False)) / STEP
    value = -target.value(point) - 0.5 * here.log_of_determinant()
    powers = sizes - 1 - [degrees(name) for name in names]
    value -= float(powers @ np.log(spreads) + 0.5 * np.sum((spreads / scales) ** 2))
    squares = np.array([one @ one for one in deviations])
    slope = squares / spreads**2 - 0.5 * rise - powers - (spreads / scales) ** 2
    return Evidence(value, slope, along_head, along_own)


def information(mode: Mode) -> dict[str, float]:
    """Return how precisely the votes alone determine a single parameter of each kind.

    Parameters
    ----------
    mode : Mode
        Under estimated spreads.

    Returns
    -------
    dict of str to float
        By name of the estimated spread: (M - 1) / sum V - 1 / sigma^2, the mean posterior precision without that of the
        prior; zero for a single annotator, whose parameters equal their mean.
    """
    sizes, target = (_sizes(mode) - 1).tolist(), mode.problem.objective
    own = np.einsum("mqq->q", mode.laplace.own_covariance()) * target.units**2
    totals = [mode.laplace.strength_variance().sum(), *own]
    if target.slices:
        of_head = covariances(target, mode.laplace.factor).variances
        variances = of_head[len(mode.point.strength) + len(mode.point.common) :]
        for effect, part in zip(target.slices, target.numbers_by_slice(variances), strict=True):
            totals, sizes = [*totals, part.sum()], [*sizes, len(part) - effect.is_held]
    triples = zip(target.spreads, sizes, map(float, totals), strict=True)
    precision = {name: mode.problem.prior.spread(name) ** -2 for name in target.spreads}
    found = {name: max(size / total - precision[name], 0.0) if size else 0.0 for name, size, total in triples}
    return {name: value for name, value in found.items() if mode.problem.prior.estimates(name)}
