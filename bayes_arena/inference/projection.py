"""One comparable scale for every model: the Bradley-Terry projection of the expected vote.

r* is the Bradley-Terry strength that predicts the same average vote: with W_ij the score (a tie counting 1/2) that i is
expected to take from j when annotator k is drawn with the probability a_k, their share in the average
(:mod:`bayes_arena.inference.crowd`), and no side has an advantage,

    W_ij = sum_k a_k E[score of i | theta_k (q_i - q_j) + sum_l v_kl (w_li - w_lj), nu_k],

r* minimises the Bradley-Terry loss against W over all pairs, each weighing the same. For Bradley-Terry and m-ELO it is
r itself; it puts all other models on their scale. By implicit differentiation L dr* = sum_j dW_ij, with L the Laplacian
of the weights P*(1 - P*).

Where competitors differ by slice, q is the strength on a slice drawn at random: q_i = m_i + noise, m the mean over the
slices that a :class:`~bayes_arena.inference.estimand.View` selects, and W is averaged over the noise, q_i - q_j having
the standard deviation lead_sd around m_i - m_j, and ln nu that of tie_sd around ln nu_k + w_i + w_j. So r* is
comparable with that of a model without slices, whose strengths have gone through the same average.

Where estimates are posterior means, W is averaged over the posterior of each annotator's parameters. With few votes
each, the posterior means lie closer together than the annotators themselves: to take annotators as so alike would make
r* wider, by 7 percent at ten votes each.

For the middle of the votes, W is a trimmed mean (:mod:`bayes_arena.inference.average_vote`).
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import factorise
from bayes_arena.algebra.own_jacobian import OwnJacobian
from bayes_arena.algebra.thin_jacobian import ThinJacobian
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import TooLargeError
from bayes_arena.inference.average_vote import CERTAIN, average_votes
from bayes_arena.inference.curves import Grid, curves
from bayes_arena.inference.estimand import View, on_new_slices
from bayes_arena.inference.many_pairs import Opponents, fit_all_pairs, jacobian
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.inference.projected import Projection
from bayes_arena.likelihood.derivatives import are_many, gradient_and_hessian
from bayes_arena.likelihood.numbering import number
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes import half
from bayes_arena.likelihood.point import Point
from bayes_arena.votes.tally import Tally

MOST = 300_000_000
"""Pairs times annotators whose middle is found; it takes minutes."""
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
    n, n_common = target.n_competitors, len(point.common)
    if is_bradley_terry(target):
        shape = n, target.n_annotators, len(target.own)
        nothing = OwnJacobian(shape, lambda part: np.zeros((n, part.stop - part.start, shape[2])))
        if are_many(n):
            thin = ThinJacobian.identity(n, n + n_common)
            return Projection(point.strength, thin, nothing, thin)
        return Projection(point.strength, np.eye(n, n + n_common), nothing, np.eye(n))
    view = view or on_new_slices(target)
    if _without_pairs(point.strength) and not (target.slices or view.crowd.middle):
        return _without_enumeration(target, point, votes, view)
    from scipy.sparse import csr_array  # slow to import

    i, j = np.triu_indices(n, k=1)
    if view.crowd.middle and len(i) * target.n_annotators > MOST:
        raise TooLargeError(
            f"The middle of the votes of {target.n_annotators:,} annotators on all pairs of {n:,} competitors takes "
            "too long. Rank by everybody's votes."
        )
    pair, signs = np.arange(len(i)), np.repeat([1.0, -1.0], len(i))
    totals = csr_array((signs, (np.append(i, j), np.append(pair, pair))), shape=(n, len(i)))
    found = average_votes(target, point, votes, view, i, j, totals)
    projected, factor = _bradley_terry(i, j, found.score, n)
    moved = found.mapped(factor.left.covariance.__matmul__)  # solving takes far longer for many annotators
    return Projection(projected, moved.by_head, moved.own, moved.by_mean)


def _without_enumeration(target: Objective, point: Point, votes: Floats, view: View) -> Projection:
    """Project the strengths of so many competitors that their pairs are not enumerated."""
    opponents = Opponents(point.strength)
    to_competitors = opponents.to_competitors
    found = curves(
        target, point, votes, view, Grid([opponents.leads], np.ones(1), np.eye(len(opponents.leads)), np.zeros(1))
    )
    common = [found.by_coordinate[one.coordinate] * (not one.belongs_to_vote) for one in target.common]
    by_common = to_competitors @ np.array(common).reshape(len(common), len(opponents.leads)).T
    all_pairs = fit_all_pairs(to_competitors @ np.clip(found.score, CERTAIN, 1 - CERTAIN), point.strength)
    thin = jacobian(opponents, found.by_lead[0], by_common, all_pairs)
    return Projection(all_pairs.strength, thin, found.own(all_pairs.solve(to_competitors)), thin)


def _without_pairs(strength: Floats) -> bool:
    """Whether there are too many pairs of competitors to enumerate."""
    n = len(strength)
    return are_many(n) or (n > ONE_BY_ONE and float(np.ptp(strength)) < FAR_APART)


def is_bradley_terry(target: Objective) -> bool:
    """Whether strengths are r* already: a logistic curve of the lead, the same for all annotators."""
    fixed = not (target.free_discrimination or target.slices)
    return target.likelihood.rows is half.rows and fixed


def _bradley_terry(i: Ints, j: Ints, score: Floats, n: int) -> tuple[Floats, Factor]:
    """Fit strengths to the scores of all pairs; also return the factor of the Laplacian at the solution."""
    score = np.clip(score, CERTAIN, 1 - CERTAIN)
    counts = np.column_stack([score, 1 - score, np.zeros((len(i), 2))])
    tally = Tally(i, j, np.zeros_like(i), counts, np.empty((0, len(i))), np.empty((0, len(i)), dtype=np.int64))
    target = Objective(
        tally=tally,
        counts=counts.T,
        likelihood=half.LIKELIHOOD,
        n_competitors=n,
        n_annotators=0,
        strength_sd=math.inf,
        common=(),
        own=(),
        slices=(),
        numbering=number(tally, n, 0, ((), (), ()), np.zeros(0, dtype=np.int64)),
    )
    gauge = Gauge(np.full((n, 1), 1 / math.sqrt(n)), free_scale=False, held=np.zeros(0, dtype=bool))
    solution = minimise(target, target.start(), gauge).point
    _, hessian = gradient_and_hessian(target, solution)
    factor = cast(Factor, factorise(hessian, extra=gauge.extra(solution, hessian), held=gauge.held))
    return solution.strength - solution.strength.mean(), factor
