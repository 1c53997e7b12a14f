"""The Elo scale: logits to points, and one comparable scale for every model.

    elo_i = init + scale / ln(base) * r*_i,     or shifted so that an anchor has a given score.

r* is the Bradley-Terry strength that predicts the same average vote: with W_ij the score that i is expected to
take from j when annotator k is drawn in proportion to their votes w_k,

    W_ij = sum_k w_k P(eta = theta_k (r_i - r_j)) / sum_k w_k,

r* minimises the Bradley-Terry loss against W over all pairs, each weighing the same. For a model with
theta = 1 it is r itself; for every other model it puts the numbers on the scale of m-ELO. By implicit
differentiation L dr* = sum_j dW_ij, with L the Laplacian of the weights P*(1 - P*).
"""

from __future__ import annotations

import difflib
import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.special import expit

from bayes_arena.arrow import factorise
from bayes_arena.cells import Floats, Tally
from bayes_arena.errors import ModelError
from bayes_arena.likelihood import Objective
from bayes_arena.newton import Gauge, minimise
from bayes_arena.outcomes import half

CHUNK = 256
"""Annotators handled at once when expected scores are averaged over them: bounds the memory."""


@dataclass(frozen=True)
class EloScale:
    """How logits become points.

    Attributes
    ----------
    init : float
        Mean score (unless there is an anchor).
    scale, base : float
        A lead of ``scale`` points means odds of ``base`` to 1.
    anchor : tuple of (str, float), optional
        A competitor and the score it is given. An anchor moves every score and every bound by the same amount:
        it changes neither the width of an interval nor a rank.

    Raises
    ------
    ModelError
        If scale is not positive or base not above 1.
    """

    init: float = 1000.0
    scale: float = 400.0
    base: float = 10.0
    anchor: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        numbers = (self.init, self.scale, self.base, self.anchor[1] if self.anchor else 0.0)
        if not self.scale > 0 or not self.base > 1 or not all(map(math.isfinite, numbers)):
            raise ModelError(f"An Elo scale needs finite numbers, scale > 0 and base > 1, not {self}.")

    @property
    def points_per_logit(self) -> float:
        """Elo points per logit: 400 / ln 10 = 173.7 by default."""
        return self.scale / math.log(self.base)

    def points(self, strength: Floats, competitors: tuple[str, ...]) -> Floats:
        """Return the scores of strengths (n,) in logits.

        Raises
        ------
        ModelError
            If the anchor is no competitor.
        """
        points = self.points_per_logit * strength
        if self.anchor is None:
            return np.asarray(self.init + points)
        name, score = self.anchor
        if name not in competitors:
            close = difflib.get_close_matches(name, competitors, n=3, cutoff=0.4)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise ModelError(f"The anchor {name!r} is no competitor.{hint}")
        return np.asarray(score + points - points[competitors.index(name)])


@dataclass(frozen=True, eq=False)
class Projection:
    """Comparable strengths r* and how they move with the parameters.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        r*, sum zero, in logits.
    by_strength, by_discrimination : ndarray, shapes (n, n) and (n, M)
        Jacobians of r*.
    """

    strength: Floats
    by_strength: Floats
    by_discrimination: Floats


def project(strength: Floats, discrimination: Floats, votes: Floats) -> Projection:
    """Put a model's strengths on the Bradley-Terry scale.

    Parameters
    ----------
    strength : ndarray, shape (n,)
        r in logits.
    discrimination : ndarray, shape (M,)
        theta; empty for a model with theta = 1.
    votes : ndarray, shape (M,)
        Votes of every annotator.

    Returns
    -------
    Projection
    """
    size = len(strength)
    if not len(discrimination):
        return Projection(strength, np.eye(size), np.zeros((size, 0)))
    i, j = np.triu_indices(size, k=1)
    d = strength[i] - strength[j]
    share = votes / votes.sum()
    score, slope = np.zeros(len(d)), np.zeros(len(d))
    pull = np.zeros((size, len(share)))
    ones, pair = np.ones(len(d)), np.arange(len(d))
    incidence = coo_array((np.append(ones, -ones), (np.append(i, j), np.append(pair, pair)))).tocsr()
    for first in range(0, len(share), CHUNK):
        part = slice(first, first + CHUNK)
        p = expit(np.outer(d, discrimination[part]))
        curve = p * (1 - p)
        score += p @ share[part]
        slope += curve @ (share[part] * discrimination[part])
        by_theta = curve * d[:, None] * share[part]
        pull[:, part] = incidence @ by_theta

    wins_i = np.column_stack([score, 1 - score, np.zeros((len(d), 2))])
    target = Objective(Tally(i, j, np.zeros_like(i), wins_i), wins_i.T, half, 1, size, 0, math.inf, (), ())
    gauge = Gauge(np.full((size, 1), 1 / math.sqrt(size)), free_scale=False, held=np.zeros(0, dtype=bool))
    start = replace(target.start(), strength=strength * float(share @ discrimination))
    solution = minimise(target, start, gauge).point
    projected = solution.strength - solution.strength.mean()
    _, arrow = target.gradient_and_hessian(solution)
    factor = factorise(arrow, extra=gauge.extra(solution, arrow), held=gauge.held)
    laplacian = np.zeros((size, size))
    laplacian[i, j] = laplacian[j, i] = -slope
    laplacian[np.diag_indices(size)] = -laplacian.sum(axis=1)
    return Projection(projected, factor.solve_schur(laplacian), factor.solve_schur(pull))
