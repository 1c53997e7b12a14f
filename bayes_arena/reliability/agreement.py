"""Net agreement of annotators with the ranking, their consistency, and the side's pull, over posterior draws.

Let P_k(i), P_k(j) be the probabilities that annotator k votes for i and for j, without a position effect (b = 0). Then

    D_k = mean over pairs of competitors, r_i >= r_j, of P_k(i) - P_k(j)          net agreement, in [-1, 1]

where the difference is tanh(e / 2) if ties are half wins and 2 sinh(e / 2) / (2 cosh(e / 2) + nu_k) in Davidson's
model, with e = theta_k (r_i - r_j): in every model, twice the expected score of the better competitor minus one.
Reversed votes have -D_k; a guesser, and an annotator who always calls a tie, has 0. Theta alone does not identify the
latter: nu_k explains the ties, and theta_k returns to the prior. Somebody with a ranking of their own agrees little and
yet says much, which is

    E_k = mean over pairs of |P_k(i) - P_k(j)|                                    consistency, in [0, 1]

and |D_k| in a model where annotators do not disagree along directions. Draws are those of the mixture of
:mod:`bayes_arena.reliability.kinds`.

    S_k = P_k(left) - P_k(right) between equals                                   the side's pull, in [-1, 1]

is the same difference at e = b_k. Where strengths differ by slice, votes are predicted on new slices: r_i - r_j and
ln nu vary as in :mod:`bayes_arena.inference.estimand`, and D_k is averaged over that too, so that it is comparable with
that of a model without slices. Given the strengths, the mean over pairs is an integral over the distribution of leads,
which a Gauss rule with a few nodes evaluates for all annotators at once (Golub & Welsch, 1969). Where annotators
disagree along directions, e gains sum_l v_kl (w_li - w_lj), with w at its posterior mean, and E_k is taken after the
average over slices; where pairs are many the mean is over some of them, in which every competitor is as often: those so
many places apart in the ranking, taken as a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import ndtri

from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import called
from bayes_arena.fits.posterior_draws import draw_in_parts
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import on_new_slices
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.likelihood.outcomes.likelihood import ETA, Likelihood, T
from bayes_arena.likelihood.predictor import lead
from bayes_arena.progress import report
from bayes_arena.reliability.kinds import Kinds
from bayes_arena.threads import ahead

DRAWS = 1000
LARGEST = 30_000_000
"""Draws times annotators; with more annotators there are fewer draws, down to ``FEWEST``."""
FEWEST = 100
NODES = 10
"""Nodes of the Gauss rule: D_k to 1e-6 where log-odds reach 10, and to 1e-3 where they reach 100."""
PAIRS = 20_000
"""Pairs used where there are more, evenly spaced by lead: D_k to 0.002, the error being alike for all annotators."""
SOME_PAIRS, FEWEST_DISTANCES = 600, 3
"""About how many pairs are used where annotators disagree along directions, and the fewest distances between them in
the ranking, each of as many pairs as there are competitors: D_k to .001, at worst to .004, on LLMFAO."""
SCATTER, TIE_NODES = 15, 3
"""Points for the scatter of leads from slice to slice, and Gauss-Hermite nodes for that of ln nu."""
LEADS_AT_ONCE = 100_000
"""Leads evaluated together, so that they fit into the cache."""
SAME = 1e-10
"""Norm, relative to the largest lead, that counts as zero: a rule has no more nodes than there are leads."""

Rule = tuple[Floats, Floats, Floats]
"""Leads, shifts of ln nu, and weights of nodes."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Draws of how annotators vote; None where the model gives annotators no such parameter of their own.

    Attributes
    ----------
    net, consistency, pull : ndarray of float32, shape (n_draws, M)
        D_k, E_k and S_k.
    position : ndarray of float32, shape (n_draws, M), or None
        b_k, in logits.
    log_tie_propensity : ndarray, shape (M,), or None
        Posterior mean of ln nu_k (of ln kappa_k in Rao and Kupper's model).
    """

    net: np.ndarray
    consistency: np.ndarray
    pull: np.ndarray | None
    position: np.ndarray | None
    log_tie_propensity: Floats | None


def draw_agreement(fit: Fit, of: Kinds | None = None) -> Iterator[tuple[Ints, Agreement]]:
    """Draw how annotators vote: yield indices of some, and their draws, until all were drawn.

    Without ``of``, what kind they are, they all have the prior of the fit.
    """
    target, predictor, likelihood = fit.target, fit.target.predictor, fit.target.likelihood
    count = target.n_annotators
    size = min(DRAWS, max(FEWEST, LARGEST // count))
    strength, common, parts = draw_in_parts(fit, size=size)
    size = len(strength)
    if of is not None:
        parts = of.redrawn(parts)
    lead_sd, tie_sd = on_new_slices(target).scatter(target)
    if not predictor.dimensions:
        nodes, weights = (np.ascontiguousarray(one.T) for one in _rules(strength, lead_sd))
        rule = _with_ties(nodes, weights, tie_sd)
    sided = any(effect.belongs_to_vote and effect.basis == "one" for effect in target.own)
    tied = any(effect.coordinate == T for effect in target.own)
    shared = common.T[:, None, :]
    leads = [np.zeros((1, size))] * (1 + predictor.dimensions)  # between equals
    no_difference = np.zeros((len(fit.model.features), 1, size))  # in any feature
    try:
        for part, own in ahead(parts):
            report("annotators drawn", int(part[0]), count)
            numbers = np.ascontiguousarray(own.transpose(2, 1, 0))
            pull = position = None
            if sided:
                between_equals = predictor.coordinates(leads, shared, numbers, no_difference)
                position = between_equals[ETA].astype(np.float32).T
                pull = likelihood.net_score(between_equals).astype(np.float32).T
            coordinates = predictor.coordinates(leads, shared, numbers)
            log_tie = coordinates[T].mean(axis=1) if tied else None
            theta = predictor.factors(numbers)[0] + np.zeros((len(part), size))
            if predictor.dimensions:
                loadings = np.array(predictor.factors(numbers)[1:])
                both = _along_directions(fit, coordinates, theta, loadings, strength, (lead_sd, tie_sd))
                net, consistency = (one.astype(np.float32).T for one in both)
                yield part, Agreement(net, consistency, pull, position, log_tie)
                continue
            total = _averager(likelihood, coordinates, theta)(np.zeros(theta.shape), *rule)
            net = total.astype(np.float32).T
            yield part, Agreement(net, np.abs(net), pull, position, log_tie)
    finally:
        report("")


def _with_ties(leads: Floats, weights: Floats, tie_sd: float) -> Rule:
    """Return nodes (K, size) of leads with those of the scatter of ln nu."""
    shifts, chances = np.polynomial.hermite_e.hermegauss(TIE_NODES if tie_sd else 1)
    scattered = np.repeat(tie_sd * shifts, len(leads))
    return np.tile(leads, (len(shifts), 1)), scattered, np.kron(chances[:, None] / chances.sum(), weights)


def _averager(likelihood: Likelihood, z: Floats, theta: Floats) -> Callable[..., Floats]:
    """Return what averages net scores, shape (m, size), of numbers of annotators in draws; z is for a lead of zero.

    It takes what is added to theta times the lead, shape (m, size), and a rule: leads, shape (K, size), shifts of ln
    nu, shape (K,), and weights, shape (K, size).
    """
    if likelihood.is_exponential:
        from bayes_arena.likelihood import loops  # numba is slow to import

        odds = np.zeros((2, *theta.shape))
        odds[: len(z) - T] = np.exp(np.minimum(z[T:], davidson.LARGEST))
        return partial(called, loops.average_net_score, theta, *odds)
    there = z.copy()

    def by_numpy(along: Floats, leads: Floats, ties: Floats, weights: Floats) -> Floats:
        total = np.zeros(theta.shape)
        for node, tie, weight in zip(leads, ties, weights, strict=True):
            there[ETA] = theta * node + along
            there[T:][:1] = z[T:][:1] + tie
            total += weight * likelihood.net_score(there)
        return total

    return by_numpy


def _along_directions(
    fit: Fit, z: Floats, theta: Floats, loadings: Floats, strength: Floats, scatter: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Average the net score for the better competitor of a pair, and its size, over pairs, each (m, size).

    ``z`` is for leads of zero; ``loadings`` (q, m, size), ``strength`` (size, n).
    """
    i, j = np.triu_indices(strength.shape[1], k=1)
    chosen = _by_distance(strength.mean(axis=0), i, j, SOME_PAIRS)
    positions = [fit.point.slices[part] for part in fit.target.directions]
    lead_sd, tie_sd = scatter
    shifts, chances = np.polynomial.hermite_e.hermegauss(TIE_NODES if lead_sd else 1)
    weights = np.repeat(chances[:, None] / chances.sum(), len(strength), axis=1)
    net, consistency, average = *np.zeros((2, *theta.shape)), _averager(fit.target.likelihood, z, theta)
    for a, b in zip(i[chosen], j[chosen], strict=True):
        ahead = lead(strength, a, b)
        along = sum(v * (w[a] - w[b]) for v, w in zip(loadings, positions, strict=True))
        score = average(along, *_with_ties(ahead + lead_sd * shifts[:, None], weights, tie_sd))
        net += np.sign(ahead) * score
        consistency += np.abs(score)
    return net / len(chosen), consistency / len(chosen)


def _by_distance(center: Floats, i: Ints, j: Ints, count: int) -> Ints:
    """Return the indices of about so many pairs, by how many places they are apart on the circle of the ranking.

    A slight change of the strengths changes no pairs, or only those of two neighbours.
    """
    n = len(center)
    if len(i) <= count:
        return np.arange(len(i))
    distances = max(FEWEST_DISTANCES, round(count / n))
    chosen = 1 + np.floor((np.arange(distances) + 0.5) * (n // 2) / distances)
    rank = np.argsort(np.argsort(-center, kind="stable"))
    apart = np.abs(rank[i] - rank[j])
    return np.flatnonzero(np.isin(np.minimum(apart, n - apart), chosen))


def _by_lead(center: Floats, i: Ints, j: Ints, count: int) -> Ints:
    """Return the indices of so many pairs, evenly spaced by lead."""
    if len(i) <= count:
        return np.arange(len(i))
    by_lead = np.argsort(np.abs(lead(center, i, j)), kind="stable")
    return by_lead[((np.arange(count) + 0.5) * len(i) / count).astype(np.int64)]


def _rules(strength: Floats, lead_sd: float = 0.0) -> tuple[Floats, Floats]:
    """Return a Gauss rule for every draw of the strengths: means over the leads of all pairs, with their scatter."""
    i, j = np.triu_indices(strength.shape[1], k=1)
    noise = ndtri((np.arange(SCATTER) + 0.5) / SCATTER) if lead_sd else np.zeros(1)
    noise *= lead_sd / max(noise.std(), SAME)
    chosen = _by_lead(strength.mean(axis=0), i, j, PAIRS)
    i, j = i[chosen], j[chosen]
    step = max(1, LEADS_AT_ONCE // (len(i) * len(noise)))
    blocks = [strength[first : first + step] for first in range(0, len(strength), step)]
    points = (np.abs(lead(block, i, j))[:, :, None] + noise for block in blocks)
    nodes, weights = zip(*(gauss_rule(one.reshape(len(one), -1)) for one in points), strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def gauss_rule(points: Floats, size: int = NODES) -> tuple[Floats, Floats]:
    """Return nodes and weights of Gauss rules for means over points (n_rules, P), exact up to degree 2 size - 1.

    Lanczos iteration from the constant vector tridiagonalises diag(points); the eigenvalues of the tridiagonal matrix
    are the nodes, the squared first coordinates of its eigenvectors the weights (Golub & Welsch, 1969).
    """
    size = min(size, points.shape[1])
    reach = np.maximum(np.abs(points).max(axis=1, keepdims=True), np.finfo(float).tiny)
    points = points / reach
    jacobi = np.zeros((len(points), size, size))
    previous, vector = np.zeros_like(points), np.full_like(points, points.shape[1] ** -0.5)
    norm = np.zeros((len(points), 1))
    for s in range(size):
        following = points * vector
        jacobi[:, s, s] = np.einsum("dp,dp->d", following, vector)
        if s + 1 < size:
            following -= jacobi[:, s, s, None] * vector
            following -= norm * previous
            norm = np.sqrt(np.einsum("dp,dp->d", following, following))[:, None]
            norm[norm < SAME] = 0.0
            jacobi[:, s, s + 1] = jacobi[:, s + 1, s] = norm[:, 0]
            previous, vector = vector, following / np.where(norm > 0, norm, 1.0)
    nodes, vectors = np.linalg.eigh(jacobi)
    return reach * nodes, vectors[:, 0] ** 2
