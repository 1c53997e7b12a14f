"""One comparable scale for every model: the Bradley-Terry projection of the expected vote.

r* is the Bradley-Terry strength that predicts the same average vote: with W_ij the score (a tie counting 1/2) that i is
expected to take from j when annotator k is drawn with the probability a_k, their share in the average
(:mod:`bayes_arena.inference.crowd`), and no side has an advantage,

    W_ij = sum_k a_k E[score of i | theta_k (q_i - q_j) + sum_l v_kl (w_li - w_lj), nu_k],

r* minimises the Bradley-Terry loss against W over all pairs, each weighing the same. For Bradley-Terry and m-ELO it is
r itself; it puts all other models on their scale. By implicit differentiation L dr* = sum_j dW_ij, with L the Laplacian
of the weights P*(1 - P*).

Where competitors differ by slice, q is the strength on a slice drawn at random: q_i = m_i + noise, m the mean over the
slices that a :class:`~bayes_arena.inference.views.View` selects, and W is averaged over the noise, q_i - q_j having the
standard deviation lead_sd around m_i - m_j, and ln nu that of tie_sd around ln nu_k + w_i + w_j. So r* is comparable
with that of a model without slices, whose strengths have gone through the same average.

Where estimates are posterior means, W is averaged over the posterior of each annotator's parameters. With few votes
each, the posterior means lie closer together than the annotators themselves: to take annotators as so alike would make
r* wider, by 7 percent at ten votes each.

For the middle of the votes, W is a trimmed mean (:mod:`bayes_arena.inference.average_vote`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from bayes_arena.algebra.arrow import Arrow
from bayes_arena.algebra.factors import Factor, factorise
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.thin_jacobian import ThinJacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.inference.average_vote import (
    CERTAIN,
    around,
    average_votes,
    in_parts,
    part_of_ties,
    scattered,
    shares,
    ties_of_competitors,
)
from bayes_arena.inference.many_pairs import Opponents, chebyshev, fit_all_pairs, jacobian
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.inference.projected import Projection
from bayes_arena.inference.views import View, on_new_slices
from bayes_arena.likelihood.derivatives import are_many, gradient_and_hessian
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes import half
from bayes_arena.likelihood.outcomes.likelihood import ETA, M, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead, times
from bayes_arena.threads import in_blocks
from bayes_arena.votes.tally import Tally

CHUNK = 250_000
"""Leads times annotators that a thread handles at once when expected scores are averaged over draws: bounds the memory,
and fits a processor's cache."""
PART = 16_000
"""The same for one point: fits a processor's cache."""
NODES, MANY_NODES = 64, 256
"""Chebyshev nodes at which the average score is evaluated as a function of the lead: for draws, and for one point (at
most)."""
INTERPOLATED = 1e-12
"""Error of a score between the nodes, for one point."""
KEPT = 500_000
"""Derivatives in the annotators' parameters that are kept when they come with the scores."""
SCORE, BY_LEAD = 0, 1
"""First rows of the summed scores: the scores, and their slopes by the lead in every dimension. Then come the slopes by
the leads' factors, and by the coordinates."""
MOST = 300_000_000
"""Pairs times annotators whose middle is found; it takes minutes."""
CERTAINLY = 150.0
"""Log-odds beyond which another logit makes no difference to a number."""
ONE_BY_ONE, FAR_APART = 500, 30.0
"""Number of competitors whose pairs are enumerated in a fifth of a second; and range of the strengths, in logits, from
which pairs of more competitors are, too, as nodes would lie too far apart."""


def project(target: Objective, point: Point, votes: Floats, view: View | None = None) -> Projection:
    """Put a model's strengths on the Bradley-Terry scale.

    Parameters
    ----------
    target : Objective
        What was fitted.
    point : Point
        Its parameters.
    votes : ndarray, shape (n_annotators,)
        Votes of every annotator.
    view : View, optional
        The slices over which strengths are averaged; by default unseen ones.

    Returns
    -------
    Projection
    """
    predictor, n, n_common, width = target.predictor, target.n_competitors, len(point.common), len(target.own)
    shape = n, target.n_annotators, width
    if is_bradley_terry(target):
        nothing = OwnJacobian(shape, lambda part: np.zeros((n, part.stop - part.start, width)))
        if are_many(n):
            thin = ThinJacobian.identity(n, n + n_common)
            return Projection(point.strength, thin, nothing, thin)
        return Projection(point.strength, np.eye(n, n + n_common), nothing, np.eye(n))
    from scipy.sparse import coo_array  # slow to import

    view = view or on_new_slices(target)
    if view.crowd.middle:
        return _of_middle(target, point, votes, view)
    mean = point.strength + view.slices @ point.slices
    ties, offset, exactly = ties_of_competitors(target, point.slices), np.zeros(1), False
    directions, along = target.directions, list[Floats]()
    by_factor = BY_LEAD + 1 + len(directions)
    slopes_from = by_factor + 1 + len(directions)
    opponents = Opponents(mean) if _without_pairs(mean) and not target.slices else None
    if opponents is not None:
        leads, to_competitors = opponents.leads, opponents.to_competitors
    else:
        i, j = np.triu_indices(n, k=1)
        d = lead(mean, i, j)
        thetas = [predictor.factors(own.T)[0] for own, _ in around(point.own, view, slice(None))]
        steepest = float(np.max(np.abs(thetas), initial=0.0))
        exactly = ties is not None or bool(directions) or len(d) <= MANY_NODES
        along = [lead(point.slices[part], i, j)[:, None] for part in directions]
        leads, at_pairs = _interpolation(d, steepest, exactly=exactly)
        offset = offset if ties is None else ties[i] + ties[j]
        pair, ones = np.arange(len(d)), np.ones(len(d))
        incidence = coo_array((np.append(ones, -ones), (np.append(i, j), np.append(pair, pair)))).tocsr()
        to_competitors = incidence @ at_pairs
    share, deviations = shares(target, votes, view), scattered(target, view)

    def scores(part: slice) -> Floats:
        """Sum scores and slopes over points of some annotators' parameters, (``SLOPES`` + C, leads, m)."""
        points = around(point.own, view, part)
        if target.likelihood.is_exponential:
            return _exponential_scores(target, point, [leads, *along], offset, deviations, points, share[part])
        found = np.zeros((slopes_from + target.likelihood.n_coordinates, len(leads), len(share[part])))
        for (shift, tie, chance), (own, weight) in product(deviations, points):
            shifted = [(leads if shift == 0.0 else leads + shift)[:, None] + np.zeros(len(share[part])), *along]
            z = predictor.coordinates(shifted, point.common, own.T)
            if target.slices and len(z) > T:
                z[T] += tie + offset[:, None]
            expected, slope = target.likelihood.expected_score(z)
            counted = times(chance * weight, share[part])
            found[SCORE] += expected * counted
            pull = slope[ETA] * counted
            for dimension, (factor, there) in enumerate(zip(predictor.factors(own.T), shifted, strict=True)):
                found[BY_LEAD + dimension] += pull * factor
                found[by_factor + dimension] += pull * there
            found[slopes_from:] += slope * counted
        return found

    def by_numbers(found: Floats, carried: Any) -> Floats:
        """Return what carries the slopes to competitors, by annotator and parameter, (n, m, q)."""
        moved = np.zeros((n, found.shape[2], width))
        for column, effect in enumerate(target.own):
            if not effect.belongs_to_vote:
                place = by_factor + effect.dimension if effect.basis == "lead" else slopes_from + effect.coordinate
                moved[:, :, column] = carried @ found[place]
        return moved

    def average(part: slice) -> None:
        """Add the scores of some annotators, and their slopes."""
        found = scores(part)
        totals[part.start // chunk] = found.sum(axis=2)
        if kept is not None:
            kept[:, part] = by_numbers(found, to_competitors)

    chunk = max(1, PART // len(leads))
    totals = np.zeros((-(-len(share) // chunk), slopes_from + target.likelihood.n_coordinates, len(leads)))
    kept = np.zeros((n, len(share), width)) if n * len(share) * width <= KEPT else None
    in_blocks(average, len(share), of=chunk)
    summed = totals.sum(axis=0)
    score, by_lead, slopes = summed[SCORE], summed[BY_LEAD], summed[slopes_from:]
    common = np.array([slopes[one.coordinate] * (not one.belongs_to_vote) for one in target.common])
    by_common = to_competitors @ common.reshape(n_common, len(leads)).T

    if opponents is not None:
        all_pairs = fit_all_pairs(to_competitors @ np.clip(score, CERTAIN, 1 - CERTAIN), mean)
        carried = all_pairs.solve(to_competitors)
        thin = jacobian(opponents, by_lead, by_common, all_pairs)
        of_own = OwnJacobian(shape, lambda part: by_numbers(scores(part), carried))
        return Projection(all_pairs.strength, thin, of_own, thin)
    score, by_lead = at_pairs @ score, at_pairs @ by_lead
    projected, factor = _bradley_terry(i, j, score, n)
    by_head = factor.solve_schur(np.column_stack([_laplacian(i, j, by_lead, n), by_common]))

    def by_own(part: slice) -> Floats:
        moved = by_numbers(scores(part), to_competitors) if kept is None else kept[:, part]
        return np.asarray(factor.solve_schur(moved.reshape(n, -1))).reshape(moved.shape)

    by_mean = by_head[:, :n]
    if target.slices:
        by_slices: Floats = np.asarray((view.slices.T @ by_mean.T).T)
        if ties is not None:
            moved = incidence @ (abs(incidence.T) * slopes[T][:, None]).toarray()
            by_slices[:, part_of_ties(target)] = factor.solve_schur(moved)
        for dimension, part in enumerate(directions, 1):
            by_slices[:, part] = factor.solve_schur(_laplacian(i, j, summed[BY_LEAD + dimension], n))
        by_head = np.column_stack([by_head, by_slices])
    return Projection(projected, by_head, OwnJacobian(shape, by_own), by_mean)


def _of_middle(target: Objective, point: Point, votes: Floats, view: View) -> Projection:
    """Project the middle of the votes, pair by pair."""
    from scipy.sparse import coo_array

    n, width = target.n_competitors, len(target.own)
    i, j = np.triu_indices(n, k=1)
    if len(i) * target.n_annotators > MOST:
        raise TooLargeError(
            f"The middle of the votes of {target.n_annotators:,} annotators on all pairs of {n:,} competitors takes "
            "too long. Rank by everybody's votes."
        )
    score, by_mean, by_head = np.empty(len(i)), np.zeros((n, n)), np.zeros((n, len(point.head)))
    own = np.zeros((n, target.n_annotators * width))
    for part in in_parts(target, len(i)):
        some, pair = average_votes(target, point, votes, view, i[part], j[part]), np.arange(part.stop - part.start)
        signs = np.repeat([1.0, -1.0], len(pair))
        sums = coo_array((signs, (np.append(i[part], j[part]), np.tile(pair, 2))), shape=(n, len(pair))).tocsr()
        score[part] = some.score
        by_mean += (sums @ some.by_mean).toarray()
        by_head += (sums @ some.by_head).toarray()
        own += sums @ some.by_own.reshape(len(pair), -1)
    projected, factor = _bradley_terry(i, j, score, n)
    by_mean, by_head, own = (factor.solve_schur(moved) for moved in (by_mean, by_head, own))
    shape = n, target.n_annotators, width
    by_own = OwnJacobian(shape, lambda part: own.reshape(shape)[:, part])
    return Projection(projected, by_head, by_own, by_mean)


def _exponential_scores(
    target: Objective,
    point: Point,
    leads: Sequence[Floats],
    offset: Floats,
    deviations: Sequence[tuple[float, float, float]],
    points: Sequence[tuple[Floats, float]],
    share: Floats,
) -> Floats:
    """Return the sums of scores and slopes for an exponential likelihood.

    With y = exp(eta / 2) outcomes have the weights y^2, 1 and (nu + mu) y. So a deviation of the lead, by which y is
    multiplied, takes no further exponential.
    """
    size, dimensions, width = len(share), len(leads), target.likelihood.n_coordinates
    along, more = np.array([lead.ravel() for lead in leads]), np.exp(np.minimum(offset, CERTAINLY))
    by_factor, by_eta = BY_LEAD + dimensions, BY_LEAD + 2 * dimensions
    found, shape = np.zeros((by_eta + 3, size, along.shape[1])), (size, along.shape[1])
    y, tied, net, one, other = (np.empty(shape) for _ in range(5))
    for own, weight in points:
        z = np.full((3, size), -np.inf)  # an outcome that the model lacks has probability zero
        z[:width] = target.predictor.coordinates([np.zeros(size)] * dimensions, point.common, own.T)
        nu, mu = (np.exp(np.minimum(z[one, :, None], CERTAINLY)) for one in (T, M))
        factors = np.array([factor + np.zeros(size) for factor in target.predictor.factors(own.T)]).T
        root = np.exp(0.5 * np.clip(factors @ along, -CERTAINLY, CERTAINLY))
        slope, shifted = np.zeros(shape), np.zeros(shape)
        for shift, tie, chance in deviations:
            counted = chance * weight
            with_tie = nu * math.exp(min(tie, CERTAINLY)) * more
            np.multiply(root, np.exp(0.5 * np.clip(factors[:, :1] * shift, -CERTAINLY, CERTAINLY)), out=y)
            np.multiply(y, with_tie + mu, out=tied)
            np.multiply(y, y, out=net)
            np.add(net, 1.0, out=one)
            one += tied
            net -= 1.0
            np.reciprocal(one, out=one)
            net *= one  # P(win) - P(loss)
            tied *= one
            np.multiply(net, counted, out=other)
            found[SCORE] += other
            y *= one
            other *= y
            found[by_eta + T] -= with_tie * other
            if width > M:
                found[by_eta + M] -= mu * other
            net *= net
            net += tied
            np.subtract(1.0, net, out=net)
            net *= counted
            slope += net
            if shift:
                net *= shift
                shifted += net
        found[by_eta] += slope
        for dimension in range(dimensions):
            found[BY_LEAD + dimension] += factors[:, dimension, None] * slope
            found[by_factor + dimension] += along[dimension] * slope
        found[by_factor] += shifted
    found[SCORE] = 0.5 * (found[SCORE] + sum(weight for _, weight in points) * sum(one[2] for one in deviations))
    found[BY_LEAD : by_eta + 1] *= 0.25
    found[by_eta + 1 :] *= 0.5
    found *= share[:, None]
    return found.transpose(0, 2, 1)[: by_eta + width]


def _without_pairs(strength: Floats) -> bool:
    """Whether there are too many pairs of competitors to enumerate."""
    n = len(strength)
    return are_many(n) or (n > ONE_BY_ONE and float(np.ptp(strength)) < FAR_APART)


def _laplacian(i: Ints, j: Ints, weights: Floats, n: int) -> Floats:
    """Return the Laplacian of a weight for every pair, shape (n, n)."""
    laplacian = np.zeros((n, n))
    laplacian[i, j] = laplacian[j, i] = -weights
    laplacian[np.diag_indices(n)] = -laplacian.sum(axis=1)
    return laplacian


def is_bradley_terry(target: Objective) -> bool:
    """Whether strengths are r* already: a logistic curve of the lead, the same for all annotators."""
    fixed = not (target.free_discrimination or target.slices)
    return target.likelihood.rows is half.rows and fixed


def _interpolation(d: Floats, steepest: float, *, exactly: bool) -> tuple[Floats, Any]:
    """Return leads at which to evaluate a function, and the matrix from its values there to those at the leads d.

    These are all of d, or Chebyshev nodes. As a function of theta d the score is analytic within pi of the real
    numbers, so that the error falls as e^(-nodes asinh(pi / (theta reach))): there are as many nodes as an error of
    1e-12 needs, up to ``MANY_NODES``, which are enough for a logistic curve of slope 25 over the whole range.
    """
    if exactly:
        from scipy.sparse import eye_array

        return d, eye_array(len(d), format="csr")
    reach = max(float(np.abs(d).max()), 1e-12)
    wanted = -math.log(INTERPOLATED) / math.asinh(math.pi / max(steepest * reach, 1e-12))
    size = min(max(NODES, math.ceil(wanted)), MANY_NODES)
    nodes, to_coefficients = chebyshev(size)
    return reach * nodes, chebvander(d / reach, size - 1) @ to_coefficients


def _bradley_terry(i: Ints, j: Ints, score: Floats, n: int) -> tuple[Floats, Factor]:
    """Fit strengths to the scores of all pairs; also return the factor of the Laplacian at the solution."""
    score = np.clip(score, CERTAIN, 1 - CERTAIN)
    counts = np.column_stack([score, 1 - score, np.zeros((len(i), 2))])
    target = Objective(
        tally=Tally(i, j, np.zeros_like(i), counts, np.empty((0, len(i))), np.empty((0, len(i)), dtype=np.int64)),
        counts=counts.T,
        likelihood=half.LIKELIHOOD,
        n_competitors=n,
        n_annotators=0,
        strength_sd=math.inf,
        common=(),
        own=(),
    )
    gauge = Gauge(np.full((n, 1), 1 / math.sqrt(n)), free_scale=False, held=np.zeros(0, dtype=bool))
    solution = minimise(target, target.start(), gauge).point
    _, arrow = gradient_and_hessian(target, solution)
    factor = cast(Factor, factorise(cast(Arrow, arrow), extra=gauge.extra(solution, arrow), held=gauge.held))
    return solution.strength - solution.strength.mean(), factor
