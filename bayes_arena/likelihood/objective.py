"""The negative log-posterior of any model of the grid, its gradient and its Hessian.

A row of the tally (i, j, k) has the coordinates of :mod:`bayes_arena.likelihood.outcomes`, each linear in everything
but the product of theta and r:

    eta = theta_k (r_i - r_j) + b + v_k,      t = ln nu + u_k,      m = ln mu.

With g_c and H_cd the row's derivatives by its coordinates, d = r_i - r_j, and D_p the derivative of a coordinate by
the annotator's number p (d for theta, 1 for u and v), the chain rule gives

    dl/dr_i = theta g_eta = -dl/dr_j,          dl/dp = D_p g_c(p)                     (paper, equations 3 and 6)
    d2l/dr2      : Laplacian with weights theta^2 H_eta,eta
    d2l/dr_i dp  = theta D_p H_eta,c(p) (+ g_eta for theta) = -d2l/dr_j dp
    d2l/dp dq    = D_p D_q H_c(p),c(q)

Parameters are ordered as in :mod:`bayes_arena.likelihood.arrow`: the head has the strengths and the common numbers, the
tail the numbers of every annotator. Strengths are in logits, values in nats summed over votes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.likelihood.arrow import Arrow
from bayes_arena.likelihood.outcomes import RowLikelihood, RowTerms, row_likelihood, seen_counts
from bayes_arena.likelihood.priors import COMMON_BOTH_BAD, COMMON_POSITION, COMMON_TIE, Prior
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.cells import Cells, Tally

ETA, TIE, BOTH_BAD = 0, 1, 2
"""Coordinates of a row."""


@dataclass(frozen=True, eq=False)
class Point:
    """A point in parameter space.

    Attributes
    ----------
    strength : ndarray, shape (n,)
        r.
    common : ndarray, shape (c,)
        What annotators have in common, in the order of ``Objective.common``.
    own : ndarray, shape (M, q)
        The annotators' own numbers, in the order of ``Objective.own``.
    """

    strength: Floats
    common: Floats
    own: Floats

    @property
    def head(self) -> Floats:
        """Strengths and common numbers, shape (n + c,)."""
        return np.concatenate([self.strength, self.common])

    def moved(self, head: Floats, own: Floats, length: float = 1.0) -> Point:
        """Return this point plus ``length`` times a step."""
        n = len(self.strength)
        return Point(self.strength + length * head[:n], self.common + length * head[n:], self.own + length * own)


@dataclass(frozen=True)
class Term:
    """A common or an annotators' parameter.

    Attributes
    ----------
    name : str
        ``"discrimination"``, ``"tie_propensity"``, ``"position"`` or ``"both_bad"``.
    coordinate : int
        The coordinate of a row that it enters.
    mean, sd : float
        Gaussian prior.
    """

    name: str
    coordinate: int
    mean: float
    sd: float


@dataclass(frozen=True, eq=False)
class Objective:
    """Negative log-posterior of a model: what the optimiser minimises.

    Attributes
    ----------
    tally : Tally
        The votes, no finer than the model needs.
    counts : ndarray, shape (4, n_rows)
        Their counts as the model sees them.
    rows : callable
        The likelihood of the rows.
    n_coordinates, n_competitors, n_annotators : int
        Coordinates of a row; n; M (0 where annotators have no numbers of their own).
    strength_sd : float
        Prior of r.
    common, own : tuple of Term
        Parameters that annotators share, and those of every annotator.
    """

    tally: Tally
    counts: Floats
    rows: RowLikelihood
    n_coordinates: int
    n_competitors: int
    n_annotators: int
    strength_sd: float
    common: tuple[Term, ...]
    own: tuple[Term, ...]

    @property
    def n_votes(self) -> float:
        """Votes that the model sees."""
        return float(self.counts.sum())

    @property
    def free_discrimination(self) -> bool:
        """Whether theta is free."""
        return any(term.name == "discrimination" for term in self.own)

    @property
    def is_proper(self) -> bool:
        """Whether every parameter has a prior with a finite spread, so that there is a posterior to draw from."""
        spreads = (self.strength_sd, *(term.sd for term in (*self.common, *self.own)))
        return all(map(math.isfinite, spreads))

    def start(self) -> Point:
        """Return the prior means."""
        return Point(
            np.zeros(self.n_competitors),
            np.array([term.mean for term in self.common]),
            np.tile([term.mean for term in self.own], (self.n_annotators, 1)),
        )

    def discrimination(self, point: Point) -> Floats:
        """Theta of every row, or a single 1 where it is fixed."""
        if not self.free_discrimination:
            return np.ones(1)
        return np.asarray(point.own[self.tally.k, 0])

    def coordinates(self, point: Point) -> Floats:
        """Coordinates of every row, shape (n_coordinates, n_rows)."""
        coordinates = np.zeros((self.n_coordinates, len(self.tally.i)))
        lead = point.strength[self.tally.i] - point.strength[self.tally.j]
        coordinates[ETA] = self.discrimination(point) * lead
        for value, term in zip(point.common, self.common, strict=True):
            coordinates[term.coordinate] += value
        for column, term in enumerate(self.own):
            if term.name != "discrimination":
                coordinates[term.coordinate] += point.own[self.tally.k, column]
        return coordinates

    def loss(self, point: Point) -> float:
        """Negative log-likelihood in nats, without the prior."""
        return float(self._row_terms(point).value.sum())

    def value(self, point: Point) -> float:
        """Negative log-posterior up to a constant."""
        value = self.loss(point) + 0.5 * float(point.strength @ point.strength) / self.strength_sd**2
        for x, term in zip(point.common, self.common, strict=True):
            value += 0.5 * ((float(x) - term.mean) / term.sd) ** 2
        for column, term in enumerate(self.own):
            value += 0.5 * float(np.sum((point.own[:, column] - term.mean) ** 2)) / term.sd**2
        return value

    def gradient_and_hessian(self, point: Point, *, residuals: bool = True) -> tuple[Point, Arrow]:
        """Gradient and Hessian of ``value``, the latter without residuals if so asked.

        The residuals' part is d2 eta / (dr dtheta) times the slope in eta, of mean zero under the model. Without it the
        Hessian is positive definite wherever the rows are convex: everywhere, but for ties under Rao-Kupper.
        """
        i, j, k = self.tally.i, self.tally.j, self.tally.k
        n, n_common, count, width = self.n_competitors, len(self.common), self.n_annotators, len(self.own)
        theta, terms = self.discrimination(point), self._row_terms(point)
        slope, curve = terms.gradient, terms.hessian

        def by_pair(values: Floats) -> Floats:
            return sum_by(i, values, n) - sum_by(j, values, n)

        # strengths
        g_strength = by_pair(theta * slope[ETA]) + point.strength / self.strength_sd**2
        off_diagonal = sum_by(i * n + j, theta * theta * curve[ETA, ETA], n * n).reshape(n, n)
        laplacian = -(off_diagonal + off_diagonal.T)
        laplacian[np.diag_indices(n)] = self.strength_sd**-2 - laplacian.sum(axis=1)
        head = np.zeros((n + n_common, n + n_common))
        head[:n, :n] = laplacian

        # what annotators have in common
        g_common = np.zeros(n_common)
        for s, term in enumerate(self.common):
            c = term.coordinate
            g_common[s] = slope[c].sum() + (point.common[s] - term.mean) / term.sd**2
            head[:n, n + s] = head[n + s, :n] = by_pair(theta * curve[ETA, c])
            for t, other in enumerate(self.common):
                head[n + s, n + t] = curve[c, other.coordinate].sum()
            head[n + s, n + s] += term.sd**-2

        # every annotator's own
        g_own = np.zeros((count, width))
        border, tail = np.zeros((n + n_common, count, width)), np.zeros((count, width, width))
        lead = point.strength[i] - point.strength[j]
        derivative = [lead if term.name == "discrimination" else 1.0 for term in self.own]
        for p, term in enumerate(self.own):
            c = term.coordinate
            g_own[:, p] = sum_by(k, derivative[p] * slope[c], count) + (point.own[:, p] - term.mean) / term.sd**2
            mixed = theta * derivative[p] * curve[ETA, c]
            if term.name == "discrimination" and residuals:
                mixed = mixed + slope[ETA]
            block = sum_by(i * count + k, mixed, n * count) - sum_by(j * count + k, mixed, n * count)
            border[:n, :, p] = block.reshape(n, count)
            for s, other in enumerate(self.common):
                border[n + s, :, p] = sum_by(k, derivative[p] * curve[other.coordinate, c], count)
            for q, other in enumerate(self.own):
                tail[:, p, q] = sum_by(k, derivative[p] * derivative[q] * curve[c, other.coordinate], count)
            tail[:, p, p] += term.sd**-2
        return Point(g_strength, g_common, g_own), Arrow(head, border, tail)

    def bend(self, point: Point, head: Floats, own: Floats) -> Point:
        """J' W e: the change of the gradient, without residuals, along a step's second order in eta.

        J has the derivatives of the coordinates by the parameters, W the curvature of the rows, and
        e = dtheta_k (dr_i - dr_j); only where theta is free.
        """
        i, j, k, n = self.tally.i, self.tally.j, self.tally.k, self.n_competitors
        pulls = self._row_terms(point).hessian[:, ETA] * own[k, 0] * (head[i] - head[j])
        by_strength = self.discrimination(point) * pulls[ETA]
        lead = point.strength[i] - point.strength[j]
        return Point(
            sum_by(i, by_strength, n) - sum_by(j, by_strength, n),
            np.array([pulls[term.coordinate].sum() for term in self.common]),
            np.column_stack(
                [
                    sum_by(k, (lead if term.name == "discrimination" else 1.0) * pulls[term.coordinate], len(own))
                    for term in self.own
                ]
            ),
        )

    def _row_terms(self, point: Point) -> RowTerms:
        return self.rows(self.counts, self.coordinates(point))


def objective(cells: Cells, model: Model, prior: Prior) -> Objective:
    """Return the negative log-posterior of a model given votes."""
    tally = cells.tally(by_annotator=model.needs_annotators, by_side=model.position != "none")
    common, own = [], []
    if model.discrimination == "annotator":
        own.append(Term("discrimination", ETA, 1.0, prior.discrimination))
    if model.has_tie_outcome:
        common.append(Term("tie_propensity", TIE, *COMMON_TIE[model.ties]))
        if model.tie_propensity == "annotator":
            own.append(Term("tie_propensity", TIE, 0.0, prior.tie_spread))
    if model.position != "none":
        common.append(Term("position", ETA, *COMMON_POSITION))
        if model.position == "annotator":
            own.append(Term("position", ETA, 0.0, prior.position_spread))
    if model.both_bad == "outcome":
        common.append(Term("both_bad", BOTH_BAD, *COMMON_BOTH_BAD))
    if prior.is_flat:
        common = [replace(term, sd=math.inf) for term in common]
    return Objective(
        tally=tally,
        counts=seen_counts(model, tally.counts),
        rows=row_likelihood(model),
        n_coordinates=1 + model.has_tie_outcome + (model.both_bad == "outcome"),
        n_competitors=cells.n_competitors,
        n_annotators=cells.n_annotators if own else 0,
        strength_sd=prior.strength,
        common=tuple(common),
        own=tuple(own),
    )
