"""Numbers that walk: their prior is that of the steps between them.

The numbers of an effect of slices are independent, u_m ~ N(0, sd^2), or a random walk over periods. A walk goes back
from now: with m' the next later number of the same competitor (zero, which is now, after the last), and g_m the periods
between the two,

    (u_m - u_m') / sqrt(g_m) ~ N(0, sd^2), independently,

and for numbers that do not walk the same holds with u_m' = 0 and g_m = 1. So D u, the steps, are what has the spread
sd, and the precision of the numbers is D'D / sd^2: the identity, or tridiagonal for every competitor. Periods without
votes on a competitor need no numbers: a walk watched at some moments is one whose steps have the variance of the gaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps between numbers; along the last axis, all of shape (..., s).

    Attributes
    ----------
    after : ndarray of int, shape (s,)
        Place of the number that each is a step away from, always a later one; -1 for zero.
    gap : ndarray, shape (s,)
        The periods between the two, 1 for numbers that do not walk.
    chain : ndarray of int, shape (s,)
        Which walk a number belongs to.
    """

    after: Ints
    gap: Floats
    chain: Ints

    @classmethod
    def of(cls, keys: list[Ints], walks: list[bool], n_competitors: int, times: Ints) -> Steps:
        """Return those of all effects, given their keys (slice times n, plus competitor) and the periods of slices.

        The last period is now, and has no numbers.
        """
        after, gap, chain, first = [], [], [], 0
        for of_effect, walk in zip(keys, walks, strict=True):
            size = len(of_effect)
            after.append(np.full(size, -1))
            gap.append(np.ones(size))
            chain.append(first + np.arange(size))
            if walk:
                code, competitor = np.divmod(of_effect, n_competitors)
                order = np.lexsort((code, competitor))
                same = np.append(competitor[order][1:] == competitor[order][:-1], False)[:size]
                after[-1][order[:-1][same[:-1]]] = first + order[1:][same[:-1]]
                following = np.append(times[code[order]][1:], 0)[:size]
                gap[-1][order] = np.where(same, following, times[-1]) - times[code[order]]
                chain[-1] = -1 - competitor
            first += size
        ints = (np.concatenate([np.zeros(0, dtype=np.int64), *part]) for part in (after, chain))
        return cls(next(ints), np.concatenate([np.zeros(0), *gap]), next(ints))

    @cached_property
    def linked(self) -> NDArray[np.bool_]:
        """Whether a number's step is to another number."""
        return self.after >= 0

    @property
    def walk(self) -> bool:
        """Whether there is any walk."""
        return bool(self.linked.any() or (self.gap != 1).any())

    def between(self, numbers: Floats) -> Floats:
        """Return D u."""
        if not self.walk:
            return numbers
        later = np.where(self.linked, numbers[..., self.after], 0.0)
        return np.asarray((numbers - later) / np.sqrt(self.gap))

    def back(self, slopes: Floats) -> Floats:
        """Return D' g: slopes by the steps, as slopes by the numbers."""
        if not self.walk:
            return slopes
        scaled = slopes / np.sqrt(self.gap)
        found = scaled.copy()
        found[..., self.after[self.linked]] -= scaled[..., self.linked]  # every number follows at most one
        return np.asarray(found)

    def summed(self, steps: Floats) -> Floats:
        """Return the numbers of steps, the inverse of :meth:`between`."""
        if not self.walk:
            return steps
        order = np.lexsort((-np.arange(len(self.gap)), self.chain))
        total = np.cumsum((steps * np.sqrt(self.gap))[..., order], axis=-1)
        new = np.flatnonzero(np.append(True, np.diff(self.chain[order]) != 0))
        before = np.concatenate([np.zeros_like(total[..., :1]), total[..., new[1:] - 1]], axis=-1)
        found = np.empty_like(total)
        found[..., order] = total - np.repeat(before, np.diff(np.append(new, len(order))), axis=-1)
        return found

    def pairs(self, first: int) -> tuple[Ints, Ints]:
        """Return the places of numbers that follow others, and of these, if that of the first of all is ``first``."""
        return first + self.after[self.linked], first + np.flatnonzero(self.linked)

    def precision(self, by_number: Floats) -> tuple[Floats, Floats]:
        """Return D' diag(p) D for precisions p of the steps: its diagonal, and its values at :meth:`pairs`."""
        values = by_number / self.gap
        diagonal = values + sum_by(self.after[self.linked], values[self.linked], len(values))
        return diagonal, -values[self.linked]
