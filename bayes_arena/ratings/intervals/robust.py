"""Sandwich variances, which are consistent even if the likelihood is misspecified.

The inverse Hessian is the variance of an estimate only if the likelihood is correct. A tie that counts as half a win
varies less than under the logistic likelihood (intervals about 1 / sqrt(1 - share of ties) too wide), and votes on the
same prompt, or by the same annotator, are correlated (too narrow). Both can be estimated from the scores of the votes.

With s_v the gradient of vote v's negative log-likelihood at the mode and H the Hessian there, each further vote moves a
function of the parameters with gradient g, to first order, by the influence -s_v' x, x = H^-1 g. Hence

    sandwich     Var = sum_v (s_v' x)^2                                         votes are independent
    clustered    Var = G / (G - 1)  sum_c (sum_{v in c} s_v' x)^2               clusters c = 1..G are independent

For the mean of the Gaussian nearest to the posterior, the scores are those of the losses averaged over this Gaussian,
which depend also on the lead and on theta (:mod:`bayes_arena.likelihood.averaging`).

A vote's score is its gradient by the coordinates of its row (:mod:`bayes_arena.likelihood.outcomes`) times theirs by
the parameters: two strengths, the common ones, and those of one annotator. So s_v' x is a sum over coordinates of
scalars times differences of x, and no array of size votes x parameters is formed. With a Gaussian prior,
H is that of the posterior: the interval is that of the shrunken estimate around what it estimates, shrinkage included.

Clusters are the annotators, the prompts or another slice of the cells, whether or not the model uses them. Every
annotator's share in r* (:mod:`bayes_arena.inference.projection`), that of the votes cast, and the spreads that
``method="marginal"`` estimated are held fixed. A weight w counts as w votes. Fractional weights can be summed over a
cluster; the sandwich would need the square of each vote's weight, of which cells keep only sums, and refuses them.

Sources: White (1982), Econometrica 50; Liang & Zeger (1986), Biometrika 73.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bayes_arena.algebra.thin_jacobian import Jacobian
from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import OwnNumbers
from bayes_arena.likelihood.averaging import FACTOR, LEAD, averaged
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.predictor import THETA, lead
from bayes_arena.ratings.intervals.contract import (
    Interval,
    Quantity,
    Summary,
    require_point_estimate,
    symmetric,
)
from bayes_arena.ratings.intervals.multipliers import draw_with_scores
from bayes_arena.votes.outcomes import are_whole

CHUNK = 4_000_000
"""Rows times functions whose influence is computed together, which bounds the memory."""


@dataclass(frozen=True)
class Sandwich(Interval):
    """Gaussian intervals with a variance that is consistent whatever the distribution of independent votes.

    For point estimates (``method="map"`` or ``"marginal"``) of whole votes.

    References
    ----------
    White, H. (1982), "Maximum likelihood estimation of misspecified models", Econometrica 50.
    """

    name: ClassVar[str] = "sandwich"

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Summarise functions of the parameters."""
        return symmetric(quantity.value, sandwich_variance(fit, quantity.by_head, quantity.by_own), level)

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit with Gaussian draws of that variance."""
        _require_independent_votes(fit)
        target = fit.target
        scores = [np.sqrt(counts) * slope for counts, slope in _scores_by_outcome(fit, target)]
        return replace(fit, samples=draw_with_scores(fit, target, scores, np.arange(len(target.tally.i))))


def sandwich_variance(fit: Fit, head: Jacobian, own: OwnNumbers = None) -> Floats:
    """Return the variance of functions of the parameters if votes are independent, whatever their distribution.

    Parameters
    ----------
    fit : Fit
        A point estimate (``method="map"`` or ``"marginal"``).
    head : ndarray, shape (m, n) or (m, h)
        Derivatives of m functions with respect to strengths, or to strengths and common parameters.
    own : ndarray, shape (m, M, q), optional
        Derivatives with respect to the annotators' parameters; zero by default.

    Returns
    -------
    ndarray, shape (m,)

    Raises
    ------
    ModelError
        If the fit is not a mode, or votes have fractional weights.
    NotIdentifiedError
        If the estimate lies at infinity.
    """
    _require_independent_votes(fit)
    target = fit.target
    spread: Floats | float = 0.0  # sum over the votes of a row of their gradients' squares
    for counts, slope in _scores_by_outcome(fit, target):
        spread = spread + counts * slope[:, None] * slope
    variance = np.empty(len(head))
    for part, moves in moves_of_rows(fit, target, head, own):
        variance[part] = np.einsum("crs,crs->s", np.einsum("cdr,drs->crs", spread, moves), moves)
    return variance


def _require_independent_votes(fit: Fit) -> None:
    """Refuse a fit without scores of single votes."""
    require_point_estimate(fit, Sandwich.name)
    if not are_whole(fit.cells.counts):
        raise ModelError(
            "The interval 'sandwich' needs whole votes, and these have fractional weights. Use 'laplace' or "
            "'clustered'."
        )


def _scores_by_outcome(fit: Fit, target: Objective) -> Iterator[tuple[Floats, Floats]]:
    """Yield, for each outcome, its counts by row and the gradient of one such vote, as :func:`slopes_of_rows`."""
    for outcome in np.flatnonzero(target.counts.any(axis=1)):
        one = np.zeros_like(target.counts)
        one[outcome] = 1.0
        yield target.counts[outcome], slopes_of_rows(fit, target, one)


def slopes_of_rows(fit: Fit, target: Objective, counts: Floats) -> Floats:
    """Return the gradients of the losses of rows with these counts (4, n_rows).

    Returns
    -------
    ndarray, shape (C, n_rows)
        With respect to the coordinates and, where losses are averaged over the Gaussian, the lead and theta.
    """
    point, z = fit.point, target.coordinates(fit.point)
    if fit.covariances is None:
        return target.likelihood.rows(counts, z).gradient
    around = replace(fit.covariances, target=target)
    scatter = around.rows(slice(None), target.leads_at(point), target.factors(point), target.tally.features)
    terms = averaged(target.likelihood, counts, z, scatter)
    pulls = [scatter.pull(terms, name) + np.zeros(z.shape[1]) for name in (FACTOR, LEAD)]
    return np.concatenate([terms.gradient, pulls])


def moves_of_rows(fit: Fit, target: Objective, head: Jacobian, own: OwnNumbers) -> Iterator[tuple[slice, Floats]]:
    """Yield how the coordinates of each row move along x = H^-1 g, (C, n_rows, s), some functions at a time.

    The coordinates are those of :func:`slopes_of_rows`.
    """
    n, c, point, tally = target.n_competitors, target.n_competitors + len(target.common), fit.point, target.tally
    leads = [one[:, None] for one in target.leads_at(point)]
    numbers, predictor = np.array(target.own_numbers(point.own))[..., None], target.predictor_at(point)
    predictor = replace(predictor, sharper=np.reshape(predictor.sharper, (-1, 1)))
    of_slices = list(zip(target.slices, target.numbering.places(tally), strict=True)) if target.numbering else []
    width = max(1, CHUNK // (target.likelihood.n_coordinates * len(tally.i)))
    own = None if own is None else np.asarray(own)
    for start in range(0, len(head), width):
        part = slice(start, start + width)
        x_head, x_own = fit.laplace.solve(head[part], None if own is None else own[part])
        by_lead = [lead(x_head[:n], tally.i, tally.j, axis=0)]
        by_lead += [np.zeros_like(by_lead[0]) for _ in range(target.predictor.dimensions)]
        for effect, places in of_slices:
            if effect.basis == "difference":
                by_lead[effect.dimension] += lead(x_head[c:], places[0], places[1], axis=0)
        by_own = [column[tally.k] for column in np.moveaxis(x_own, 1, 0)]
        moves = predictor.move(leads, numbers, tally.features[..., None], by_lead, x_head[n:c], by_own)
        for effect, places in of_slices:
            if effect.basis != "difference":
                one = leads[0] if effect.basis == "lead" else 1.0
                moves[effect.coordinate] += one * sum(x_head[c:][at] for at in places)
        if fit.covariances is not None:
            by_theta = by_own[THETA] if target.free_discrimination else np.zeros_like(by_lead[0])
            by_theta = by_theta + sum(x_head[c:][at] for effect, (at, *_) in of_slices if effect.basis == "lead")
            moves = np.concatenate([moves, [by_lead[0], by_theta]])
        yield part, moves
