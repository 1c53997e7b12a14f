"""How far sweeps are from the end, and how long their steps are.

Sweeps ignore that S responds to m, so they approach a fixed point geometrically; the ratio of successive steps gives
the distance that remains, which is at most the last step where steps turn back. Where a step, in standard deviations,
undoes much of the one before, the next are half as long, separately for the spreads and for m, and S moves by the same
share as m: for an outcome that is all but certain S and E[d2U] oscillate, as a wider S covers more of the curve, and so
is narrower next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from bayes_arena.arrays import Floats

NEAR = np.array([0.01, 0.05, 0.02])
"""Largest estimated distance from convergence, in standard deviations: of a strength or common number, of a number of a
slice, and of ln sigma."""
RATES = 0.3, 0.98
"""Range of the ratio of a step's length to that of the one before."""
TAKEN_BACK, FASTER = 0.5, (1.2, 1.1)
"""Share of the previous step that a step may undo before steps are halved, and factors by which they grow otherwise:
those of m, and those of the spreads, which S follows only gradually."""
NOTHING = 1e-8
"""Square of a step relative to that of the next one, below which it was rounding alone: the first one from a mode."""
SETTLING = 60
"""Sweeps after which steps that turn by a right angle or more become shorter and shorter, so that a search that goes
back and forth ends, or calms."""


@dataclass(frozen=True, eq=False)
class Pace:
    """What the last sweep would move, in standard deviations, and what of it is taken.

    Attributes
    ----------
    moves : tuple of ndarray
        Whole steps of strengths and common numbers, of numbers of slices, and of ln sigma.
    steps, distance : ndarray, shape (3,)
        The largest of each, and how far each kind is from where it ends.
    lengths : tuple of float
        Shares of the steps of m, and of the spreads, that are taken.
    """

    moves: tuple[Floats, ...]
    steps: Floats
    distance: Floats
    lengths: tuple[float, ...]

    @classmethod
    def before(cls, sizes: Sequence[int]) -> Self:
        """Return what holds before the first sweep, given how many numbers of each kind there are."""
        nowhere = np.full(len(sizes), np.inf)
        return cls(tuple(np.zeros(size) for size in sizes), nowhere, nowhere, (1.0, 1.0))

    def after(self, moves: tuple[Floats, ...], count: int) -> Self:
        """Return what holds after the next sweep, the ``count``-th."""
        steps = np.array([np.abs(move).max(initial=0.0) for move in moves])
        rate = np.clip(steps / np.maximum(self.steps, 1e-12), *RATES)
        onward = np.array([move @ last > 0 for move, last in zip(moves, self.moves, strict=True)])
        both = ((np.concatenate(one[:2]), one[2]) for one in (moves, self.moves))
        lengths = list[float]()
        for before, faster, move, last in zip(self.lengths, FASTER, *both, strict=True):
            length = length_of_step(before, faster, move, last)
            lengths.append(length if move @ last > 0 else min(length, SETTLING / count))
        return type(self)(
            moves=moves,
            steps=steps,
            distance=np.where(onward, steps * rate / (1 - rate), steps),
            lengths=tuple(lengths),
        )


def length_of_step(length: float, faster: float, move: Floats, last: Floats) -> float:
    """Return the share of a step to take, halved where it undoes much of the one before, unless that was rounding."""
    undoes = move @ last < -TAKEN_BACK * (last @ last) and last @ last > NOTHING * (move @ move)
    return 0.5 * length if undoes else min(faster * length, 1.0)
