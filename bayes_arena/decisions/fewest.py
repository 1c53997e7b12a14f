"""Changes of votes, their effect on the gap between two competitors, and the fewest that reverse it, found by refits.

A change consists of units: votes, or whole groups of votes. Units of the same kind are interchangeable, as identical
votes are, so a change is a number m_u of units of each kind u, and the new counts are linear in these numbers:

    counts' = counts + sum_u m_u delta_u,        delta_u = what one unit of kind u adds to the counts.

With s_v the gradient of a vote's negative log-likelihood at the mode, H the Hessian there and g the gradient of the
gap with respect to the parameters, one more vote moves the gap by -s_v' H^-1 g to first order, through every parameter
of the model, and one unit by the sum over delta_u.

Units are taken in the order of this effect, which also predicts how many are needed. The prediction only guides the
search: refits bracket the number by the secant method, until that many units reverse the pair and one unit fewer does
not. Refits start from the last mode, or from that of the fit where it is better: a mode far away may be another than
that which few changes lead to. The spreads of the prior stay fixed.

A whole group is not a small change. Where few groups suffice, they are therefore chosen again one by one, with effects
recomputed at the mode without the groups already chosen, and the smaller number counts.

Source: Broderick, Giordano & Meager, "An automatic finite-sample robustness metric", arXiv:2011.14999; for rankings
Huang, Shen, Wei & Broderick, arXiv:2508.11847.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ConvergenceError, ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.newton import Gauge, minimise, runs_to_infinity
from bayes_arena.inference.mode.search import EQUAL
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.ratings.intervals.robust import moves_of_rows, slopes_of_a_vote
from bayes_arena.votes.groups import groups_of
from bayes_arena.votes.outcomes import LOSS, WIN, turned, whole_votes
from bayes_arena.votes.tally import Tally

How = Literal["drop", "flip", "add"]
VOTE = "vote"
STRAIGHT = 6
"""Refits of the secant method; after them the bracket is halved or, where nothing reversed the pair yet, doubled."""
CHOSEN_ANEW = 25
"""Largest number of groups that are chosen one by one."""


@dataclass(frozen=True, eq=False)
class Changes:
    """The units in which votes can be changed, by kind.

    Attributes
    ----------
    target : Objective
        The votes as the model sees them, in rows that are fine enough to tell the units apart.
    delta : sparse array, shape (n_kinds, K * n_rows)
        What one unit adds to the counts, outcome by outcome.
    available, votes : ndarray, shape (n_kinds,)
        Number of units of each kind, and votes in one unit.
    """

    target: Objective
    delta: csr_array
    available: Floats
    votes: Floats

    def effects(self, fit: Fit, head: Floats) -> Iterator[Floats]:
        """Yield, for one function after another, how far one unit of each kind moves it, shape (n_kinds,).

        The fit is at its mode; ``head`` has the functions' derivatives by strengths, common and slice parameters, (m,
        h).
        """
        one_vote = np.array([slopes_of_a_vote(fit, self.target, outcome) for outcome in range(len(self.target.counts))])
        for _, moves in moves_of_rows(fit, self.target, head, None):
            for function in range(moves.shape[2]):
                yield self.delta @ -np.einsum("ocr,cr->or", one_vote, moves[:, :, function]).ravel()

    def counts(self, taken: Floats) -> Floats:
        """Return the counts after ``taken`` units of each kind have been changed, shape (K, n_rows)."""
        return np.asarray(self.target.counts + (self.delta.T @ taken).reshape(self.target.counts.shape))


def changes(fit: Fit, by: str, how: How, pair: tuple[int, int]) -> Changes:
    """Return how the votes of a fit can be changed; the pair matters only where votes are added to it."""
    if how == "add":
        return _added(fit, by, pair)
    if by == VOTE:
        return _single_votes(fit, how)
    return _whole_groups(fit, by, how)


def _single_votes(fit: Fit, how: How) -> Changes:
    """Return changes that drop or reverse single votes; identical votes are of one kind."""
    target, size = fit.target, len(fit.target.tally.i)
    counts = whole_votes(target.counts)
    outcome, row = np.nonzero(counts) if how == "drop" else _decided(counts)
    kind, ones = np.arange(len(row)), np.ones(len(row))
    entries = [(-ones, kind, outcome * size + row)]
    if how == "flip":
        entries.append((ones, kind, _turned(counts)[outcome] * size + row))
    return Changes(target, _matrix(entries, len(row), counts.shape), counts[outcome, row].astype(float), ones)


def _decided(counts: Ints) -> tuple[Ints, Ints]:
    """Return outcome and row of the votes that have a winner."""
    outcome, row = np.nonzero(counts)
    decided = _turned(counts)[outcome] != outcome
    return outcome[decided], row[decided]


def _turned(counts: Floats | Ints) -> Ints:
    """Return the index of every outcome with the sides swapped."""
    return np.array(turned(len(counts)))


def _whole_groups(fit: Fit, by: str, how: How) -> Changes:
    """Return changes that drop or reverse all votes of an annotator or a slice."""
    groups_of(fit.cells, by)
    tally, group = fit.model.tally_by(fit.cells, by)
    target, size = fit.target_of(tally), len(tally.i)
    outcome, row = np.nonzero(target.counts)
    counts = target.counts[outcome, row]
    entries = [(-counts, group[row], outcome * size + row)]
    if how == "flip":
        entries.append((counts, group[row], _turned(target.counts)[outcome] * size + row))
    votes = sum_by(group[row], counts, 1 + int(group.max()))
    return Changes(target, _matrix(entries, len(votes), target.counts.shape), (votes > 0).astype(float), votes)


def _added(fit: Fit, by: str, pair: tuple[int, int]) -> Changes:
    """Return changes that add votes for the second of a pair, by annotators in proportion to the votes they cast."""
    if by != VOTE:
        raise ModelError(f"Votes are added one by one, not by {by!r}. Use by='vote', or how='drop' or 'flip'.")
    if fit.model.is_crossed:
        raise ModelError(
            f"Votes cannot be added to {fit.model.name!r}, whose strengths differ by slice: a further vote would need "
            "a slice. Use how='drop' or 'flip', or a model without slices (answers=False, --answers off)."
        )
    target, old = fit.target, fit.target.tally
    share = fit.cells.votes_by_annotator() / fit.cells.n_votes if target.n_annotators else np.ones(1)
    sides = [pair, pair[::-1]] if fit.model.position != "none" else [(min(pair), max(pair))]
    size, more = len(old.i), len(share) * len(sides)
    first, second = (np.repeat([side[end] for side in sides], len(share)) for end in (0, 1))
    i, j = np.append(old.i, first), np.append(old.j, second)
    k = np.append(old.k, np.tile(np.arange(len(share)), len(sides)))
    order = np.lexsort((j, i, k))  # that of a tally
    tally = Tally(
        i=i[order],
        j=j[order],
        k=k[order],
        counts=np.concatenate([old.counts, np.zeros((more, old.counts.shape[1]))])[order],
        features=np.column_stack([old.features, np.zeros((len(old.features), more))])[:, order],
        slices=np.column_stack([old.slices, np.zeros((len(old.slices), more), dtype=np.int64)])[:, order],
    )
    outcome = np.where(first == pair[0], LOSS, WIN)
    column = outcome * (size + more) + np.argsort(order)[size:]
    weights = np.tile(share, len(sides)) / len(sides)
    added = fit.target_of(tally)
    delta = _matrix([(weights, np.zeros(more, dtype=np.int64), column)], 1, added.counts.shape)
    return Changes(added, delta, np.array([np.ceil(target.n_votes)]), np.ones(1))


def _matrix(entries: list[tuple[Floats, Ints, Ints]], kinds: int, shape: tuple[int, ...]) -> csr_array:
    values, kind, column = (np.concatenate(part) for part in zip(*entries, strict=True))
    return csr_array((values, (kind, column)), shape=(kinds, math.prod(shape)))


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
        if refits > STRAIGHT:
            units = (low + high) // 2 if high_gap < 0 else min(2 * low, high - 1)
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
        between = path.narrowed(known) - path.narrowed(low)
        slope = (low_gap - known_gap) / between if between else 0.0  # where effects are lost to rounding
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
    """Return the mode after ``taken`` units of each kind, searched from a start or, if better, from the fit."""
    target = replace(changes.target, counts=changes.counts(taken))
    start = min(start, fit.point, key=target.value)
    gauge = Gauge.of_all(fit.laplace.shifts, target)
    found = minimise(target, start, gauge)
    if not found.converged and (target.is_proper or not runs_to_infinity(target, found.point)):
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
