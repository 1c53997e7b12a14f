"""The scores that annotators are expected to give, as curves of the lead.

On the leads x of one competitor over another, and x_l along directions, annotator k is expected to give the score

    F_k(x) = E[score | theta_k x + sum_l v_kl x_l, ln nu_k],

averaged over the posterior of their parameters, and over the scatter of ln nu from slice to slice. The lead scatters,
too, by a noise that is the same for all annotators and comes before theta: on a pair k gives F_k(q_i - q_j + noise) on
average. So all that is needed of annotators are curves on a grid of leads, and a matrix takes these from the grid to
pairs. The grid has all leads plus noise, or Chebyshev nodes, where these are fewer: as a function of theta x the score
is analytic within pi of the real numbers, so that the error falls as e^(-nodes asinh(pi / (theta reach))).

Where annotators differ in a single parameter, their curves are a smooth function of that, too, and interpolated between
nodes: twice as many until the last coefficients are as small as rounding, or direct evaluation takes less time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import called
from bayes_arena.inference.crowd import Crowd
from bayes_arena.inference.estimand import View
from bayes_arena.inference.many_pairs import chebyshev
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead, times
from bayes_arena.threads import each, in_blocks
from bayes_arena.votes.names import COMPETITOR

PART = 16_000
"""Leads times annotators that a thread handles at once: fits a processor's cache."""
NODES, MANY_NODES = 64, 512
"""Chebyshev nodes for the lead: at least, and at most, which is enough for a logistic curve of slope 50 over the whole
range."""
INTERPOLATED = 1e-12
"""Error of a score between the nodes."""
FEW_NODES, CHEAPER = 32, 4
"""Fewest nodes for the annotators' only parameter, and how many times as many points these must replace."""
KEPT = 5_000_000
"""Numbers of all curves that are kept for the Jacobian; more are computed anew."""
LEAD_NODES, TIE_NODES = 9, 5
"""Gauss-Hermite nodes for the scatter of lead and ln nu over slices."""
ROUGHLY = 5, 2
"""The same for a draw: errors of a thousandth are small beside the scatter of draws."""
WIDE, MANY_LEAD_NODES = 3.0, 121
"""Standard deviation of leads, in logits, above which nine nodes would give a staircase, and the number of nodes used
there."""
NEVER = 1e-15
"""Probability of a deviation that is left out."""
SCORE, BY_LEAD = 0, 1
"""First rows of curves: the score, and its slopes by the lead in every dimension. Then come the slopes by the leads'
factors, and by the coordinates."""

type Rule = Sequence[tuple[float, float]]
"""Deviations of ln nu, and their probabilities."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Leads at which curves are evaluated.

    Attributes
    ----------
    leads : list of ndarray, shape (S L,)
        q_i - q_j plus noise, and the leads along every direction.
    noise : ndarray, shape (S,)
        Probabilities over which curves are averaged, to L leads.
    at_pairs : array, shape (n_pairs, L)
        Takes curves from there to pairs.
    offset : ndarray, shape (S L,) or (1,)
        What competitors, and slices that are given, add to ln nu.
    """

    leads: list[Floats]
    noise: Floats
    at_pairs: Any
    offset: Floats

    def __len__(self) -> int:
        return len(self.leads[0]) // len(self.noise)

    def averaged(self, found: Floats) -> Floats:
        """Average curves (rows, S L, m) over the noise."""
        if len(self.noise) == 1:
            return found
        return np.asarray(
            np.einsum("s,rslm->rlm", self.noise, found.reshape(len(found), len(self.noise), len(self), -1))
        )


@dataclass(frozen=True, eq=False)
class Curves:
    """The average of a crowd's curves, on a grid of L leads.

    Attributes
    ----------
    score : ndarray, shape (L,)
    by_lead : ndarray, shape (1 + D, L)
        Derivatives by the leads.
    by_theta : ndarray, shape (L,)
        By what is added to all thetas.
    by_coordinate : ndarray, shape (C, L)
        Derivatives by the coordinates of votes.
    own : callable
        Returns the Jacobian of linear functions of the score in the annotators' parameters, (r, M, q), given their
        coefficients, (r, L).
    """

    score: Floats
    by_lead: Floats
    by_theta: Floats
    by_coordinate: Floats
    own: Callable[[Any], OwnJacobian]


def grid_of_pairs(target: Objective, point: Point, view: View, i: Ints, j: Ints) -> Grid:
    """Return a grid for some pairs of competitors."""
    from scipy.sparse import eye_array  # slow to import

    d = lead(point.strength + view.slices @ point.slices, i, j)
    along = [lead(point.slices[part], i, j) for part in target.directions]
    ties, (noise, _) = ties_of_competitors(target, point.slices), deviations(target, view)
    chosen = np.full(1, 0.0 if view.ties is None else float(view.ties @ point.slices))
    thetas = [target.predictor.factors(own.T)[0] for own, _ in around(target, point.own, view, slice(None))]
    steepest = max(float(np.abs(theta).max(initial=0.0)) for theta in thetas)
    near = max(float(np.abs(d).max()), 1e-12)
    reach = near + float(np.abs(noise[0]).max())
    wanted = -math.log(INTERPOLATED) / math.asinh(math.pi / max(steepest * reach, 1e-12))
    size = min(max(NODES, math.ceil(wanted)), MANY_NODES)
    if ties is not None or along or len(noise[0]) * len(d) <= size:
        repeated = [np.tile(one, len(noise[0])) for one in (d, *along)]
        repeated[0] += np.repeat(noise[0], len(d))
        offset = chosen if ties is None else chosen + np.tile(ties[i] + ties[j], len(noise[0]))
        return Grid(repeated, noise[1], eye_array(len(d), format="csr"), offset)
    nodes, to_coefficients = chebyshev(size)
    averaged = np.zeros((size, size))  # from the grid to leads that are averaged over the noise
    for shift, chance in zip(*noise, strict=True):
        averaged += chance * chebvander((near * nodes + shift) / reach, size - 1)
    at_pairs = chebvander(d / near, size - 1) @ (to_coefficients @ averaged @ to_coefficients)
    return Grid([reach * nodes], np.ones(1), at_pairs, chosen)


def curves(target: Objective, point: Point, votes: Floats, view: View, grid: Grid) -> Curves:
    """Average the curves of the crowd of a view.

    Parameters
    ----------
    target : Objective
        What was fitted.
    point : Point
        Its parameters.
    votes : ndarray, shape (M,)
        Votes of every annotator.
    view : View
        The crowd, and the slices over which ln nu scatters.
    grid : Grid
        The leads.
    """
    share, by_factor = shares(target, votes, view), BY_LEAD + len(grid.leads)
    by_coordinate, kept = by_factor + len(grid.leads), None
    numbers = point.own if target.n_annotators else np.zeros((1, 0))  # all are the same
    chunk = max(1, PART // len(grid.leads[0]))
    places = {  # of what moves with the annotators' own parameters
        column: by_factor + effect.dimension if effect.basis == "lead" else by_coordinate + effect.coordinate
        for column, effect in enumerate(target.own)
        if not effect.belongs_to_vote
    }
    ties = list(zip(*deviations(target, view)[1], strict=True))
    interpolated = _between_nodes(target, point, view, ties, grid)

    def found(part: slice) -> Floats:
        """Return the curves of some annotators times their shares, (rows, L, m)."""
        if interpolated is None:
            return _evaluated(target, point.common, around(target, numbers, view, part), ties, grid) * share[part]
        coefficients, polynomials = interpolated
        return np.asarray(coefficients @ (polynomials[:, part] * share[part]))

    parts = [slice(first, min(first + chunk, len(share))) for first in range(0, len(share), chunk)]
    rows = by_coordinate + target.likelihood.n_coordinates
    if rows * len(grid) * len(share) <= KEPT:
        kept = np.concatenate(list(each(found, parts)), axis=2)
        summed = kept.sum(axis=2)
    elif interpolated is None:
        summed = sum(some.sum(axis=2) for some in each(found, parts))
    else:
        summed = interpolated[0] @ (interpolated[1] @ share)

    def own(carried: Any) -> OwnJacobian:
        shape = carried.shape[0], target.n_annotators, len(target.own)

        def of(part: slice) -> Floats:
            moved = np.zeros((shape[0], part.stop - part.start, shape[2]))

            def of_block(block: slice) -> None:
                here = slice(part.start + block.start, part.start + block.stop)
                some = found(here) if kept is None else kept[:, :, here]
                for column, place in places.items():
                    moved[:, block, column] = carried @ some[place]

            in_blocks(of_block, part.stop - part.start, of=chunk)
            return moved

        return OwnJacobian(shape, of)

    return Curves(summed[SCORE], summed[BY_LEAD:by_factor], summed[by_factor], summed[by_coordinate:], own)


def _between_nodes(target: Objective, point: Point, view: View, ties: Rule, grid: Grid) -> tuple[Floats, Floats] | None:
    """Return Chebyshev coefficients of curves in the annotators' only parameter, and the polynomials of annotators.

    Shapes are (rows, L, C) and (C, M). None where annotators differ in several parameters, or nodes do not pay.
    """
    which = of_hypothetical_votes(target)
    if len(which) != 1:
        return None
    points = around(target, point.own, view, slice(None))
    values = np.array([own[:, which[0]] for own, _ in points])
    middle, size = 0.5 * (values.min() + values.max()), FEW_NODES
    half = max(0.5 * float(np.ptp(values)), 1e-12)
    while CHEAPER * size <= values.size:
        nodes, to_coefficients = chebyshev(size)
        own = np.zeros((size, len(target.own)))
        own[:, which[0]] = middle + half * nodes
        at_nodes = _evaluated(target, point.common, [(own, 1.0)], ties, grid)
        coefficients = at_nodes @ to_coefficients.T
        if np.abs(coefficients[..., -2:]).max() <= INTERPOLATED * np.abs(at_nodes).max():
            polynomials = np.zeros((size, values.shape[1]))
            for x, (_, weight) in zip(values, points, strict=True):
                polynomials += weight * chebvander((x - middle) / half, size - 1).T
            return coefficients, polynomials
        size *= 2
    return None


def _evaluated(
    target: Objective, common: Floats, points: Sequence[tuple[Floats, float]], ties: Rule, grid: Grid
) -> Floats:
    """Return curves, averaged over points of the parameters of some annotators, (rows, L, m)."""
    predictor, dimensions, size = target.predictor, len(grid.leads), len(points[0][0])
    by_factor, by_coordinate = BY_LEAD + dimensions, BY_LEAD + 2 * dimensions
    found = np.zeros((by_coordinate + target.likelihood.n_coordinates, len(grid.leads[0]), size))
    leads = [one[:, None] + np.zeros(size) for one in grid.leads]
    for own, weight in points:
        z = predictor.coordinates(leads, common, own.T)
        if len(z) > T:
            z[T] += grid.offset[:, None]
        score, slope = average_score(target.likelihood, z, ties)
        slope *= weight
        found[SCORE] += weight * score
        for dimension, (factor, ahead) in enumerate(zip(predictor.factors(own.T), leads, strict=True)):
            found[BY_LEAD + dimension] += times(factor, slope[ETA])
            found[by_factor + dimension] += ahead * slope[ETA]
        found[by_coordinate:] += slope
    return grid.averaged(found)


def average_score(likelihood: Likelihood, z: Floats, ties: Rule) -> tuple[Floats, Floats]:
    """Return the expected score and its slopes by the coordinates z, averaged over deviations of ln nu."""
    if likelihood.is_exponential:
        from bayes_arena.likelihood import loops  # numba is slow to import

        score, slope = called(loops.average_score, z.reshape(len(z), -1), *map(np.array, zip(*ties, strict=True)))
        return score.reshape(z.shape[1:]), slope.reshape(z.shape)
    parts = []
    for deviation, chance in ties:
        there = z.copy()
        there[T:][:1] += deviation
        parts.append([chance * one for one in likelihood.expected_score(there)])
    scores, slopes = zip(*parts, strict=True)
    return np.asarray(sum(scores)), np.asarray(sum(slopes))


def deviations(target: Objective, view: View, *, roughly: bool = False) -> tuple[tuple[Floats, Floats], ...]:
    """Return the deviations of leads from their means with their probabilities, and the same of ln nu."""
    found = []
    for sd, nodes, rough, many in zip(
        view.scatter(target), (LEAD_NODES, TIE_NODES), ROUGHLY, (MANY_LEAD_NODES, TIE_NODES), strict=True
    ):
        x, chance = np.polynomial.hermite_e.hermegauss(
            (rough if roughly else many if sd > WIDE else nodes) if sd else 1
        )
        chance /= chance.sum()
        found.append((sd * x[chance > NEVER], chance[chance > NEVER]))
    return tuple(found)


def of_hypothetical_votes(target: Objective) -> list[int]:
    """Return which of the annotators' own parameters matter where no vote is cast."""
    return [column for column, effect in enumerate(target.own) if not effect.belongs_to_vote]


def around(target: Objective, own: Floats, view: View, part: slice) -> list[tuple[Floats, float]]:
    """Return points of some annotators' posterior, shape (m, q), and their weights.

    Three points along each axis of a Gaussian reproduce its moments up to the third, and the fourth along the axes
    (Julier, S. J. & Uhlmann, J. K., 1997, "A new extension of the Kalman filter to nonlinear systems"). What belongs to
    votes moves nothing here, and is left out.
    """
    which = of_hypothetical_votes(target)
    if view.annotators is None or not which:
        return [(own[part], 1.0)]
    covariance = view.annotators[part][:, which][:, :, which]
    moves = np.zeros((len(which), *own[part].shape))
    moves[:, :, which] = math.sqrt(3.0) * np.moveaxis(np.linalg.cholesky(covariance), 2, 0)
    center = 1.0 - len(moves) / 3
    points = [(own[part] + side * move, 1 / 6) for move in moves for side in (1, -1)]
    return [(own[part], center), *points] if center else points


def part_of_ties(target: Objective) -> slice | None:
    """Return the place of competitors' tie propensities among the parameters of slices, if the model has them."""
    parts = target.numbering.parts
    mine = [one.by == COMPETITOR and one.coordinate == T for one in target.slices]
    return next((part for part, is_mine in zip(parts, mine, strict=True) if is_mine), None)


def ties_of_competitors(target: Objective, slices: Floats) -> Floats | None:
    """Return what every competitor adds to ln nu, (..., n), if the model has such effects."""
    part = part_of_ties(target)
    return None if part is None else slices[..., part]


def ties_of_pairs(target: Objective, view: View, slices: Floats, i: Ints, j: Ints) -> Floats | None:
    """Return what competitors and slices that are given add to ln nu of pairs, (..., m); None if nothing does."""
    ties, found = ties_of_competitors(target, slices), None
    if ties is not None:
        found = ties[..., i] + ties[..., j]
    if view.ties is None:
        return found
    chosen = np.asarray(slices @ view.ties)[..., None] + np.zeros(len(i))
    return chosen if found is None else found + chosen


def shares(target: Objective, votes: Floats, view: View | None) -> Floats:
    """Return every annotator's share in the average vote, shape (M,); a single 1 where they have no parameters."""
    if not target.n_annotators:
        return np.ones(1)
    return (Crowd() if view is None else view.crowd).shares(votes)
