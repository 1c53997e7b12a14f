"""Covariances of a Gaussian around a point, for the rows of votes and for the spreads.

Where the precision is an arrow, with the names of :mod:`bayes_arena.algebra.arrow`, S the Schur complement and
C = S^-1, the head has the covariance C, the numbers of annotator k and the head have -G_k C, and the former among
themselves

    Q_kk + G_k C G_k',        G_k = (Q B')_k.

A row involves two strengths, what annotators have in common, and the numbers of one annotator. So of G_k C, as of the
border, only what k touches is kept. With slices, the rows' covariances are summed unit by unit
(:mod:`bayes_arena.algebra.crossed`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import scipy

from bayes_arena.algebra.arrow import times_q
from bayes_arena.algebra.border import Border
from bayes_arena.algebra.crossed_factor import CrossedFactor, Spread
from bayes_arena.algebra.factors import AnyFactor, Factor
from bayes_arena.arrays import Floats
from bayes_arena.likelihood.averaging import FACTOR, LEAD, Scatter
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import basis, kinds
from bayes_arena.threads import each

NOWHERE = -1
"""Coordinate of a lead and a factor whose product is a part of eta already."""


@dataclass(frozen=True, eq=False)
class Covariances:
    """Covariances of strengths and numbers.

    Attributes
    ----------
    target : Objective
        Whose rows they are for.
    head : ndarray, shape (h, h)
        Of strengths and common numbers, up to a shift of all strengths.
    met : ndarray, shape (q, e)
        Of an annotator's own numbers and the strength of a competitor, for every entry of ``Tally.met``.
    common : ndarray, shape (M, c, q)
        Of an annotator's own numbers and the common ones.
    own : ndarray, shape (M, q, q)
        Of an annotator's own numbers.
    """

    target: Objective
    head: Floats
    met: Floats
    common: Floats
    own: Floats

    @classmethod
    def of(cls, target: Objective, factor: Factor) -> Self:
        """Compute them from a factor of the precision."""
        inverse, _ = scipy.linalg.lapack.dpotri(factor.lower, lower=1)
        head = np.tril(inverse) + np.tril(inverse, -1).T
        own, border, towards = factor.q_blocks(), factor.border, factor.towards
        count, n_common, width = len(own), len(target.common), border.shape[2]
        met, common = np.empty((width, len(border.column) - count * n_common)), np.empty((count, n_common, width))

        def fill(some: tuple[slice, Border]) -> None:
            part, of_some = some
            moved = times_q(of_some, factor.inverse_tail[part], factor.held, towards).transpose(1, 2, 0)
            across = moved.reshape(-1, len(head)) @ head
            own[part] += across.reshape(moved.shape) @ moved.transpose(0, 2, 1)
            is_met = of_some.column < target.n_competitors
            first = border.start[part.start] - n_common * part.start
            entries = slice(first, first + int(is_met.sum()))
            for p, places in enumerate(of_some.places()):
                touched = -across.reshape(-1)[places]
                met[p, entries] = touched[is_met]
                common[part, :, p] = touched[~is_met].reshape(common[part].shape[:2])

        deque(each(fill, list(border.parts())), 0)
        return cls(target, head, met, common, own)

    @cached_property
    def of_strengths(self) -> Floats:
        """Covariance of the strengths, whose sum is zero, shape (n, n)."""
        return _centred(self.head[: self.target.n_competitors, : self.target.n_competitors])

    @property
    def variances(self) -> Floats:
        """Variances of the head, shape (h,)."""
        return np.diag(self.head)

    def rows(self, rows: slice, leads: Sequence[Any], factors: Sequence[Any], features: Floats) -> Scatter:
        """Return how the coordinates of some rows vary."""
        tally, n = self.target.tally, self.target.n_competitors
        effects, of_common, of_own = kinds(self.target.common, self.target.own)
        i, j, k = (part[rows] for part in (tally.i, tally.j, tally.k))
        numbers = [(0, factors[0]), *((effect.coordinate, basis(effect, leads, features)) for effect in effects)]
        covariance: dict[tuple[int, int], Any] = {(0, 0): self._of_leads.take(i * n + j)}
        for u in range(len(effects)):
            total: Any = 0.0
            if u in of_own:
                column = self.met[of_own.index(u)]
                total = column.take(tally.met.of_i[rows]) - column.take(tally.met.of_j[rows])
            if u in of_common:
                column = self.head[n + of_common.index(u)]
                total = total + column.take(i) - column.take(j)
            covariance[0, u + 1] = total
        for (u, v), values in self._between.items():
            covariance[u + 1, v + 1] = values if np.ndim(values) == 0 else values.take(k)
        named = {(LEAD, 0): 0}
        if self.target.free_discrimination:
            named[FACTOR, 0] = 1 + [effect.basis for effect in effects].index("lead")
        return Scatter.of(self.target.likelihood.n_coordinates, numbers, covariance, named)

    @cached_property
    def _of_leads(self) -> Floats:
        """Variance of the lead of every pair, flat."""
        n = self.target.n_competitors
        variance = np.diag(self.head)[:n]
        return np.asarray(variance[:, None] + variance - 2 * self.head[:n, :n]).ravel()

    @cached_property
    def _between(self) -> dict[tuple[int, int], Any]:
        """Covariance of two kinds of numbers, for every annotator (M,) or the same for all."""
        effects, of_common, of_own = kinds(self.target.common, self.target.own)
        n, found = self.target.n_competitors, {}
        for u in range(len(effects)):
            for v in range(u, len(effects)):
                total: Any = 0.0
                s, t = ((of_common.index(one) if one in of_common else None) for one in (u, v))
                p, q = ((of_own.index(one) if one in of_own else None) for one in (u, v))
                if s is not None and t is not None:
                    total = total + self.head[n + s, n + t]
                if p is not None and q is not None:
                    total = total + self.own[:, p, q]
                if s is not None and q is not None:
                    total = total + self.common[:, s, q]
                if t is not None and p is not None:
                    total = total + self.common[:, t, p]
                found[u, v] = np.ascontiguousarray(total) if np.ndim(total) else total
        return found


@dataclass(frozen=True, eq=False)
class SliceCovariances:
    """The same for a model with slices.

    Attributes
    ----------
    target : Objective
        Whose rows they are for.
    of_strengths : ndarray, shape (n, n)
        Covariance of the strengths, whose sum is zero.
    spread : Spread
        All other covariances.
    """

    target: Objective
    of_strengths: Floats
    spread: Spread

    @property
    def variances(self) -> Floats:
        """Variances of the head, shape (h,); of numbers of slices, those of the steps between them."""
        numbering: Any = self.target.numbering
        found = self.spread.head.copy()
        found[len(found) - numbering.n_slices :] /= numbering.steps.gap
        return found

    @property
    def own(self) -> Floats:
        """Covariance of every annotator's own numbers, shape (M, q, q)."""
        return self.spread.own

    def rows(self, rows: slice, leads: Sequence[Any], factors: Sequence[Any], features: Floats) -> Scatter:
        """Return how the coordinates of some rows vary."""
        target, free = self.target, self.target.free_factors
        numbers = [(ETA if one else NOWHERE, factor) for one, factor in enumerate(factors)]
        numbers += [(ETA if one else NOWHERE, leads[one]) for one in free]
        numbers += [(c, 1.0) for c in range(target.likelihood.n_coordinates)]
        lower = np.tril_indices(len(numbers))
        pieces = self.spread.pieces[:, rows]
        covariance = {(v, u): part for u, v, part in zip(*map(np.ndarray.tolist, lower), pieces, strict=True)}
        named = {(LEAD, one): one for one in range(len(factors))}
        named |= {(FACTOR, one): len(factors) + place for place, one in enumerate(free)}
        return Scatter.of(target.likelihood.n_coordinates, numbers, covariance, named)


def covariances(target: Objective, factor: AnyFactor) -> Covariances | SliceCovariances:
    """Return the Gaussian around a point, given a factor of its precision.

    Raises
    ------
    TypeError
        If competitors are many, few pairs of whom met: covariances of all pairs are not formed.
    """
    if isinstance(factor, CrossedFactor):
        of_strengths = _centred(factor.covariance_left[: target.n_competitors, : target.n_competitors])
        return SliceCovariances(target, of_strengths, factor.spread)
    if isinstance(factor, Factor):
        return Covariances.of(target, factor)
    raise TypeError("many competitors have no matrix of all pairs")


def between[T](one: T, other: T, share: float) -> T:
    """Return covariances that are this share of the way from one to the other."""
    parts: Any = one
    found: dict[str, Any] = {}
    for field in fields(parts):
        here, there = getattr(one, field.name), getattr(other, field.name)
        if isinstance(here, np.ndarray):
            found[field.name] = here + share * (there - here)
        elif isinstance(here, Spread):
            found[field.name] = between(here, there, share)
    return cast(T, replace(parts, **found))


def _centred(covariance: Floats) -> Floats:
    moved = covariance - covariance.mean(axis=0)
    return np.asarray(moved - moved.mean(axis=1, keepdims=True))
