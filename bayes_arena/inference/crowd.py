"""Whose votes a ranking is about, and how much each annotator counts in their average.

Annotator k cast w_k votes, of which the share s_k belongs to the crowd. In its average k has the weight

    a_k = s_k min(w_k, L),

with L the largest number at which no account of the crowd counts more than ``cap`` of the whole, or twice as much as
the average account, if that is more: in a crowd of a few somebody has to. In a crowd that stands for a population these
are weighed so that every group has its share (:mod:`bayes_arena.inference.population`).

The middle of a crowd is, for every pair of competitors, the mean of what its annotators expect without the fifth of the
weight that expects least and the fifth that expects most: a trimmed mean. A camp below a fifth of the votes hardly
moves it, however sure of itself it is.

Source of the trimmed mean: Huber & Ronchetti, "Robust Statistics", 2009, section 3.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.inference.population import Stratum, raked

CAP = 0.05
"""Largest share of an account in the average."""
TWICE = 2.0
"""How many times as much as the average account anybody may count in a crowd of a few."""
TRIMMED = 0.2
"""Share of the weight that is left out at either end."""
ROUNDING = 1e-9
"""Share of the average that counts as none, and distance of expected votes that counts as none."""
EVERYBODY, MIDDLE = "everybody", "the middle"


@dataclass(frozen=True)
class Crowd:
    """Annotators, and how their votes are averaged.

    Attributes
    ----------
    parts : tuple of float or None
        Share of every annotator's votes that belongs to the crowd; None for all votes.
    cap : float
        Largest share of an account in the average, between 0 and 1.
    middle : bool
        Whether the ranking is about the middle of the votes, not their average.
    strata : tuple of Stratum
        Groups of annotators, and their shares in the population that the crowd stands for.
    """

    parts: tuple[float, ...] | None = None
    cap: float = CAP
    middle: bool = False
    strata: tuple[Stratum, ...] = ()

    def votes(self, cast: Floats) -> Floats:
        """Return the votes that belong to the crowd, shape (M,), of those that every annotator cast."""
        return cast if self.parts is None else np.asarray(cast * np.array(self.parts))

    def shares(self, cast: Floats) -> Floats:
        """Return every annotator's share in the average, shape (M,), from the votes that they cast."""
        part = np.where(cast > 0, 1.0 if self.parts is None else np.array(self.parts), 0.0)
        part /= part.max()
        votes = part * cast
        cap = max(self.cap, TWICE / part.sum())
        if votes.max() > cap * votes.sum():
            votes = part * np.minimum(cast, _level(part, cast, cap))
        votes = raked(votes, self.strata)
        return np.asarray(votes / votes.sum())

    def effective_votes(self, cast: Floats) -> float:
        """Return how many votes that count alike say as much: 1 / sum_k a_k^2 / w_k (Kish, 1965)."""
        share, some = self.shares(cast), cast > 0
        return float(1 / np.sum(share[some] ** 2 / cast[some]))


def _level(part: Floats, cast: Floats, cap: float) -> float:
    """Return the L with L = cap sum_k s_k min(w_k, L), by the number of accounts above it; at least the smallest w."""
    part, cast = part[part > 0], cast[part > 0]
    order = np.argsort(-cast, kind="stable")
    part, cast = part[order], cast[order]
    room = 1 - cap * np.cumsum(part)
    below = part @ cast - np.cumsum(part * cast)
    level = cap * below / np.where(room > ROUNDING, room, np.inf)
    found = level[(room > ROUNDING) & (level >= np.append(cast[1:], 0.0))]
    return max(float(cast[-1]), float(found[0])) if len(found) else float(cast[-1])


def kept(values: Floats, weights: Floats) -> Floats:
    """Return the weights of the middle of values, rows of (P, K) with weights of sum one: those of its mean.

    Of equal values at an end of the middle the same share of each counts, whoever comes first.
    """
    order = np.argsort(values, axis=1, kind="stable")
    ordered, rising = (np.take_along_axis(one, order, axis=1) for one in (weights, values))
    up_to = np.cumsum(ordered, axis=1)
    inside = np.clip(up_to, TRIMMED, 1 - TRIMMED) - np.clip(up_to - ordered, TRIMMED, 1 - TRIMMED)
    alike = np.cumsum(np.diff(rising, axis=1, prepend=-np.inf) > ROUNDING) - 1
    within, whole = (sum_by(alike, one.ravel(), alike[-1] + 1) for one in (inside, ordered))
    share = np.divide(within, whole, out=np.zeros_like(whole), where=whole > 0)
    found = np.empty_like(inside)
    np.put_along_axis(found, order, ordered * share[alike].reshape(ordered.shape), axis=1)
    return np.asarray(found / found.sum(axis=1, keepdims=True))
