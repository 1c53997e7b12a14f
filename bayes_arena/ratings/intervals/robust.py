"""Sandwich variances, which are consistent even if the likelihood is misspecified, and draws that have them.

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

Draws need no matrix either. With s_g the score of group g of votes, a vote or a cluster, and z_g independent and
standard normal, H^-1 sum_g z_g s_g has the covariance H^-1 (sum_g s_g s_g') H^-1. The mode plus it is the multiplier
bootstrap to first order: scores are reweighted instead of votes, and nothing is refitted. Divided by sqrt(chi2_f / f),
the draws follow Student's t with f degrees of freedom.

Sources: White (1982), Econometrica 50; Liang & Zeger (1986), Biometrika 73; Kline & Santos (2012), Journal of
Econometric Methods 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from bayes_arena.algebra.thin_jacobian import Jacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import DEFAULT_DRAWS, with_elo
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import OwnNumbers
from bayes_arena.likelihood.averaging import FACTOR, LEAD, averaged
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import THETA, basis, lead
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary, require_point_estimate, symmetric
from bayes_arena.votes.outcomes import are_whole

AT_ONCE = 4_000_000
"""Rows, or parameters, times functions or draws that are computed together, which bounds the memory."""


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
    """Return the variance (m,) of functions of the parameters if votes are independent, whatever their distribution.

    ``head`` has the derivatives of the functions by strengths, or by strengths and common parameters, (m, n) or (m, h),
    and ``own`` those by the annotators' parameters, (m, M, q), zero by default.
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
        yield target.counts[outcome], slopes_of_a_vote(fit, target, outcome)


def slopes_of_a_vote(fit: Fit, target: Objective, outcome: int) -> Floats:
    """Return the gradients of the loss of one vote in each row, with the same outcome, as :func:`slopes_of_rows`."""
    one = np.zeros_like(target.counts)
    one[outcome] = 1.0
    return slopes_of_rows(fit, target, one)


def slopes_of_rows(fit: Fit, target: Objective, counts: Floats) -> Floats:
    """Return the gradients of the losses of rows with these counts (4, n_rows), shape (C, n_rows).

    They are by the coordinates and, where losses are averaged over the Gaussian, by the lead and theta.
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
    of_slices = list(zip(target.slices, target.numbering.places(tally), strict=True))
    width = max(1, AT_ONCE // (target.likelihood.n_coordinates * len(tally.i)))
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


def draw_with_scores(
    fit: Fit,
    target: Objective,
    scores: Sequence[Floats],
    group: Ints,
    *,
    freedom: float = math.inf,
) -> Draws:
    """Draw the parameters around the mode; the same votes give the same draws.

    ``target`` has the votes in rows, each of a ``group``; each of ``scores`` (C, n_rows), gradients of the rows as of
    :func:`~bayes_arena.ratings.intervals.robust.slopes_of_rows`, has its own multipliers.
    """
    n, h, size = target.n_competitors, len(fit.point.head), DEFAULT_DRAWS
    rng = np.random.default_rng(0)
    jacobians = [_by_parameters(fit, target, coordinate) for coordinate in range(len(scores[0]))]
    head, own = np.empty((size, h)), np.empty((size, *fit.point.own.shape))
    step = max(1, AT_ONCE // max(len(group), h + fit.point.own.size))
    for first in range(0, size, step):
        part = slice(first, min(first + step, size))
        count = part.stop - part.start
        gradient = np.zeros((h + fit.point.own.size, count))
        for slope in scores:
            multiplier = rng.normal(size=(int(group.max()) + 1, count))[group]
            for coordinate, jacobian in enumerate(jacobians):
                gradient += jacobian.T @ (slope[coordinate, :, None] * multiplier)
        if math.isfinite(freedom):
            gradient /= np.sqrt(rng.chisquare(freedom, size=count) / freedom)
        x_head, x_own = fit.laplace.solve(gradient[:h].T, gradient[h:].T.reshape(count, *fit.point.own.shape))
        head[part], own[part] = x_head.T, x_own.transpose(2, 0, 1)
    return with_elo(fit, fit.strength + head[:, :n], fit.point.common + head[:, n:], fit.point.own + own)


def _by_parameters(fit: Fit, target: Objective, coordinate: int) -> Any:
    """Return the derivatives of a coordinate of every row by strengths, common and annotators' parameters.

    The lead and theta follow the last coordinate.
    """
    from scipy.sparse import csr_array  # slow to import

    i, j, k = target.tally.i, target.tally.j, target.tally.k
    n, size, (count, width) = target.n_competitors, len(i), fit.point.own.shape
    leads, features = [target.leads(fit.strength)], target.tally.features
    columns, values = [], []
    if coordinate == ETA:
        theta = target.factors(fit.point)[0] * np.ones(size)
        columns, values = [i, j], [theta, -theta]
    places = [np.full_like(i, n + s) for s in range(len(target.common))]
    places += [n + len(target.common) + k * width + p for p in range(width)]
    if coordinate == target.likelihood.n_coordinates:
        columns, values = [i, j], [np.ones(size), -np.ones(size)]
    elif coordinate > target.likelihood.n_coordinates and target.free_discrimination:
        columns, values = [places[len(target.common)]], [np.ones(size)]
    for place, effect in zip(places, (*target.common, *target.own), strict=True):
        if effect.coordinate == coordinate:
            columns.append(place)
            values.append(basis(effect, leads, features) * np.ones(size))
    rows = np.tile(np.arange(size), len(columns))
    shape = (size, n + len(target.common) + count * width)
    if not columns:
        return csr_array(shape)
    return csr_array((np.concatenate(values), (rows, np.concatenate(columns))), shape=shape)
