"""The fewest units of change that reverse a pair, found by refits.

Units are taken in the order of their first-order effect on the gap, which also predicts how many are needed. The
prediction only guides the search: refits bracket the number by the secant method, until that many units reverse the
pair and one unit fewer does not. Refits start from the last mode, with the spreads of the prior fixed.

A whole group is not a small change. Where few groups suffice, they are therefore chosen again one by one, with effects
recomputed at the mode without the groups already chosen, and the smaller number counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.decisions.changes import Changes
from bayes_arena.errors import ConvergenceError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.newton import Gauge, minimise, runs_to_infinity
from bayes_arena.inference.mode.search import EQUAL
from bayes_arena.likelihood.point import Point

STRAIGHT = 6
"""Refits of the secant method; after them the bracket is halved."""
CHOSEN_ANEW = 25
"""Largest number of groups that are chosen one by one."""


@dataclass(frozen=True, eq=False)
class Fewest:
    """The fewest units whose change makes a gap negative.

    Attributes
    ----------
    effect : ndarray, shape (n_kinds,)
        How far one unit of each kind moves the gap, to first order, in logits.
    units, predicted : float
        Their number, infinity if the votes available, or allowed, do not suffice; and its linear prediction.
    taken : ndarray, shape (n_kinds,)
        Number of units of each kind; all 0 where no such change exists.
    """

    changes: Changes
    effect: Floats
    units: float
    predicted: float
    taken: Floats

    @property
    def kinds(self) -> Ints:
        """Kinds of which units are taken, the strongest first."""
        return strongest_first(np.flatnonzero(self.taken), self.effect)

    @property
    def votes(self) -> tuple[Ints, Ints, Floats]:
        """Outcome, row and number of the votes that are dropped or reversed, the strongest kinds first."""
        kinds = self.kinds
        gone = self.changes.delta[kinds].minimum(0).tocoo()
        order = np.argsort(gone.row, kind="stable")
        outcome, row = np.divmod(gone.col[order], len(self.changes.target.tally.i))
        return outcome, row, -gone.data[order] * self.taken[kinds][gone.row[order]]


def strongest_first(kinds: Ints, effect: Floats) -> Ints:
    """Return kinds sorted by their effect."""
    return kinds[np.argsort(effect[kinds], kind="stable")]


@dataclass(frozen=True, eq=False)
class Path:
    """Units in the order of their first-order effect on a gap, up to so many votes that may be changed."""

    changes: Changes
    effect: Floats
    most_votes: float

    @cached_property
    def order(self) -> Ints:
        """Kinds that narrow the gap, the strongest first."""
        return strongest_first(np.flatnonzero(self.effect < 0), self.effect)

    @cached_property
    def ends(self) -> tuple[Floats, Floats]:
        """Cumulative units at the end of each kind, from 0 on, and by how much they narrow the gap."""
        available = self.changes.available[self.order]
        narrowed = np.cumsum(available * -self.effect[self.order])
        return np.append(0.0, np.cumsum(available)), np.append(0.0, narrowed)

    @property
    def longest(self) -> int:
        """Largest number of units within the votes that may be changed."""
        available, votes = self.changes.available[self.order], self.changes.votes[self.order]
        before = np.cumsum(available * votes) - available * votes
        return int(np.clip((self.most_votes - before) // votes, 0, available).sum())

    def narrowed(self, units: float) -> float:
        """Return by how much the first units narrow the gap, to first order."""
        return float(np.interp(units, *self.ends))

    def units(self, narrowed: float) -> float:
        """Return how many units, at least one, narrow the gap that much, to first order; infinity if all do not."""
        units, effects = self.ends
        return max(1, math.ceil(np.interp(narrowed, effects, units))) if narrowed <= effects[-1] else math.inf

    def taken(self, units: int) -> Floats:
        """Return how many of the first units are of each kind, shape (n_kinds,)."""
        taken = np.zeros(len(self.effect))
        taken[self.order] = np.clip(units - self.ends[0][:-1], 0, self.changes.available[self.order])
        return taken


def fewest_along(path: Path, fit: Fit, contrast: Floats) -> Fewest:
    """Find the fewest units, in the order of their effect, whose change makes the gap of a refit negative.

    The fit is at its mode, where the gap is not negative; ``contrast`` has its derivatives by strengths, common
    parameters and slice parameters, (h,).
    """
    point, gap = fit.point, float(contrast @ fit.point.head)
    low, low_gap, high, high_gap = 0, gap, path.longest + 1, math.inf  # beyond the longest the gap is unknown
    slope, refits = 1.0, 0
    while high - low > 1:
        if refits > STRAIGHT and high_gap < 0:
            units = (low + high) // 2
        else:
            guess = path.units(path.narrowed(low) + low_gap / slope) if slope > 0 else math.inf
            units = int(min(max(guess, low + 1), high - 1))
        point, refits = refit(path.changes, path.taken(units), fit, point), refits + 1
        reached = float(contrast @ point.head)
        if reached < -EQUAL:
            high, high_gap = units, reached
        else:
            low, low_gap = units, reached
        known, known_gap = (high, high_gap) if high_gap < 0 else (0, gap)
        slope = (low_gap - known_gap) / (path.narrowed(known) - path.narrowed(low))
    predicted = path.units(gap)
    if high_gap < 0:
        return Fewest(path.changes, path.effect, high, predicted, path.taken(high))
    return Fewest(path.changes, path.effect, math.inf, predicted, np.zeros(len(path.effect)))


def fewest_one_by_one(path: Path, found: Fewest, fit: Fit, contrast: Floats) -> Fewest:
    """Choose groups again one by one, and return them if they are fewer than those found by :func:`fewest_along`."""
    changes, effect, taken, now = path.changes, path.effect, np.zeros(len(path.effect)), fit
    for chosen in range(1, int(min(found.units - 1, CHOSEN_ANEW)) + 1):
        left = (effect < 0) & (taken < changes.available) & (taken @ changes.votes + changes.votes <= path.most_votes)
        if not left.any():
            break
        taken[np.argmin(np.where(left, effect, math.inf))] += 1
        now = refitted(changes, taken, fit, now.point)
        if float(contrast @ now.point.head) < -EQUAL:
            return replace(found, units=chosen, taken=taken)
        (effect,) = changes.effects(now, contrast[None])
    return found


def refit(changes: Changes, taken: Floats, fit: Fit, start: Point) -> Point:
    """Return the mode after ``taken`` units of each kind, searched from a start."""
    target = replace(changes.target, counts=changes.counts(taken))
    gauge = Gauge.of_all(fit.laplace.shifts, target)
    found = minimise(target, start, gauge)
    if not found.converged and not runs_to_infinity(target, found.point):
        raise ConvergenceError(
            f"No mode was found after {taken.sum():,.0f} votes or groups were changed. Use a tighter prior or a "
            "smaller max_share."
        )
    return found.point


def refitted(changes: Changes, taken: Floats, fit: Fit, start: Point) -> Fit:
    """Return the fit at the mode of :func:`refit`, at which effects can be recomputed."""
    point = refit(changes, taken, fit, start)
    target = replace(changes.target, counts=changes.counts(taken))
    return replace(fit, mode=replace(fit.mode, point=point, laplace=laplace_at(target, point, fit.laplace.shifts)))
