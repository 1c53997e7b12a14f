"""Covariances of a Gaussian around a point, for the rows of votes and for the spreads.

A row involves two strengths, what annotators have in common, and the numbers of one annotator. So of the covariances of
an annotator's numbers only those with what k touches are needed (:func:`bayes_arena.algebra.units.joint`). With slices,
the rows' covariances are summed by the entries of every row (:mod:`bayes_arena.algebra.rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self, cast

import numpy as np

from bayes_arena.algebra.factor import Factor
from bayes_arena.algebra.factorising import AnyFactor, DenseFactor
from bayes_arena.algebra.rows import Spread
from bayes_arena.arrays import Floats
from bayes_arena.compiled import called
from bayes_arena.likelihood.averaging import FACTOR, LEAD, Scatter
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import basis, kinds
from bayes_arena.threads import in_blocks

AT_ONCE = 50_000
"""Numbers that are added at a time: few enough for a processor's cache."""
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
    across : ndarray
        Of the annotators' own numbers and those that their votes touch, as units have them (q, t), flat.
    own : ndarray, shape (M, q, q)
        Of an annotator's own numbers.
    """

    target: Objective
    head: Floats
    across: Floats
    own: Floats

    @classmethod
    def of(cls, target: Objective, factor: Factor) -> Self:
        """Compute them from a factor of the precision."""
        among = factor.joint()
        return cls(target, among.left, among.across, factor.own_covariance(among))

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
        from bayes_arena.likelihood import loops  # numba is slow to import

        target, units = self.target, self.target.numbering.units(self.target.tally)
        effects, _, _ = kinds(target.common, target.own)
        numbers = [(ETA, factors[0]), *((effect.coordinate, basis(effect, leads, features)) for effect in effects)]
        given = target.votes(rows), target.kinds, len(target.common), target.n_competitors, self._of_leads
        found = called(loops.vary_together, *given, self.head, self.across, units.across_start, units.touches, self.own)
        named = {(0, LEAD): 0}
        if target.free_discrimination:
            named[0, FACTOR] = 1 + [effect.basis for effect in effects].index("lead")
        return Scatter.of(target.likelihood.n_coordinates, numbers, found, named)

    @cached_property
    def _of_leads(self) -> Floats:
        """Variance of the lead of every pair, flat."""
        n = self.target.n_competitors
        variance = np.diag(self.head)[:n]
        return np.asarray(variance[:, None] + variance - 2 * self.head[:n, :n]).ravel()


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
        numbering, found = self.target.numbering, self.spread.head.copy()
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
        covariance = np.empty((len(numbers), len(numbers), pieces.shape[1]))
        for u, v, part in zip(*map(np.ndarray.tolist, lower), pieces, strict=True):
            covariance[u, v] = covariance[v, u] = part
        named = {(one, LEAD): one for one in range(len(factors))}
        named |= {(one, FACTOR): len(factors) + place for place, one in enumerate(free)}
        return Scatter.of(target.likelihood.n_coordinates, numbers, covariance, named)


AnyCovariances = Covariances | SliceCovariances


def covariances(target: Objective, factor: AnyFactor) -> AnyCovariances:
    """Return the Gaussian around a point, given a factor of its precision.

    Raises
    ------
    TypeError
        If competitors are many, few pairs of whom met: covariances of all pairs are not formed.
    """
    if not isinstance(factor, DenseFactor):
        raise TypeError("many competitors have no matrix of all pairs")
    if target.slices:
        of_strengths = _centred(factor.left.covariance[: target.n_competitors, : target.n_competitors])
        return SliceCovariances(target, of_strengths, factor.spread)
    return Covariances.of(target, cast(Factor, factor))


def mixed[T](ones: Sequence[T], weights: Sequence[float] | Floats) -> T:
    """Return covariances that are the sum of several, with weights whose sum is one."""
    found: dict[str, Any] = {}
    for field in fields(cast(Any, ones[0])):
        parts = [getattr(one, field.name) for one in ones]
        if isinstance(parts[0], np.ndarray):
            found[field.name] = _summed(parts, weights)
        elif isinstance(parts[0], Spread):
            found[field.name] = mixed(parts, weights)
    return cast(T, replace(cast(Any, ones[-1]), **found))


def _summed(parts: Sequence[Floats], weights: Sequence[float] | Floats) -> Floats:
    """Return the weighted sum of arrays, without temporary ones as large."""
    total = np.empty_like(parts[0], order="C")
    flat, ones = total.reshape(-1), [one.reshape(-1) for one in parts]

    def add(some: slice) -> None:
        flat[some] = sum(weight * one[some] for weight, one in zip(weights, ones, strict=True))

    in_blocks(add, len(flat), of=AT_ONCE)
    return total


def _centred(covariance: Floats) -> Floats:
    moved = covariance - covariance.mean(axis=0)
    return np.asarray(moved - moved.mean(axis=1, keepdims=True))
