"""The probability that an annotator is anomalous, and in what way.

An annotator's votes are anomalous in one of three ways. With net agreement D_k, consistency E_k and the side's pull S_k
of :mod:`bayes_arena.reliability.agreement`, the first of these that holds:

    the side decides     |S_k| > max(E_k, ONE_SIDED)
    they say little      E_k < TOLERANCE * median_j E_j
    they are reversed    D_k < -E_k / 2

The anomaly probability A_k is the share of posterior draws in which one of them holds, with the median taken draw by
draw: scale-free, and stable until nearly half of the annotators say little. Somebody with a ranking of their own says
much, and is not anomalous unless it is largely the common one turned round.
"""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.specification import Model
from bayes_arena.reliability.agreement import Agreement, draw_agreement
from bayes_arena.reliability.kinds import Kinds, kinds
from bayes_arena.reliability.own_rankings import own_rankings
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import wins_losses_ties

TOLERANCE = 0.2
"""Share of the median annotator's consistency below which votes say little. Of 0.1, 0.2 and 0.3 it found perturbed
annotators best (mean F1 .968, .976, .957 over LLMFAO twice and simulated arenas)."""
REVERSED = 0.5
"""Share of the consistency that is spent against the ranking, from which votes are reversed."""
ANOMALOUS = 0.5
"""Probability above which an annotator is more likely anomalous than not."""
WATCH = 0.1
"""Probability above which the votes do not clear an annotator."""
DOUBTED = 0.05
"""Probability of little or reversed votes above which it is asked whether an annotator has a ranking of their own."""
ONE_SIDED = 0.5
"""Pull above which the side decides: between equals, three votes in four go to one side (ties counting half)."""
ALWAYS = 0.9
"""Share of ties above which an annotator counts as always calling a tie."""


@dataclass(frozen=True, eq=False)
class Anomaly:
    """Probabilities of each way of being anomalous, of which one holds at a time, each of shape (M,).

    ``dissents`` (M,) is that of a ranking of one's own which is no anomaly, as far as such annotators were doubted, and
    ``own_consistency`` (M,) is E_k by that ranking.
    """

    one_sided: Floats
    little: Floats
    reversed: Floats
    dissents: Floats
    own_consistency: Floats

    @property
    def probability(self) -> Floats:
        """A_k."""
        return np.minimum(self.one_sided + self.little + self.reversed, 1.0)


class Tally:
    """Draws of agreement, of which only what the probabilities need is kept."""

    def __init__(self, count: int) -> None:
        self._signed, self._sided = np.empty((0, count), dtype=np.float32), np.empty((0, count), dtype=bool)

    def add(self, part: np.ndarray, agreement: Agreement) -> None:
        """Add the draws of some annotators."""
        if not len(self._signed):
            shape = len(agreement.net), self._signed.shape[1]
            self._signed, self._sided = np.empty(shape, dtype=np.float32), np.zeros(shape, dtype=bool)
        size = agreement.consistency
        self._signed[:, part] = np.where(agreement.net < -REVERSED * size, -size, size)
        if agreement.pull is not None:
            self._sided[:, part] = np.abs(agreement.pull) > np.maximum(size, ONE_SIDED)

    def anomaly(self, fit: Fit, of: Kinds | None) -> Anomaly:
        """Return the probabilities, given what kinds the annotators of the fit are."""
        counts, bar = np.zeros((3, self._signed.shape[1])), 0.0
        for signed, sided in zip(self._signed, self._sided, strict=True):
            size = np.abs(signed)
            usual = np.median(size)
            little = ~sided & (size < TOLERANCE * usual)
            counts += sided, little, ~sided & ~little & (signed < 0)
            bar += TOLERANCE * float(usual) / len(self._signed)
        one_sided, little, turned = counts / len(self._signed)
        if of is None:
            return Anomaly(one_sided, little, turned, np.zeros_like(little), np.zeros_like(little))
        own = own_rankings(fit, of, np.flatnonzero(little + turned > DOUBTED))
        says = (own.consistency > bar) & (own.net >= -REVERSED * own.consistency)
        dissents = np.where(says, own.probability, 0.0)
        return Anomaly(one_sided, (1 - dissents) * little, (1 - dissents) * turned, dissents, own.consistency)


_FOUND: WeakKeyDictionary[Fit, Anomaly] = WeakKeyDictionary()
"""What was found of a fit by its own draws, which take long where annotators are many."""


def anomaly(fit: Fit) -> Anomaly:
    """Return the probabilities of each way of being anomalous."""
    if fit not in _FOUND:
        tally, of = Tally(fit.cells.n_annotators), kinds(fit)
        for part, agreement in draw_agreement(fit, of):
            tally.add(part, agreement)
        remember(fit, tally.anomaly(fit, of))
    return _FOUND[fit]


def remember(fit: Fit, found: Anomaly) -> None:
    """Remember what was found of a fit by its own draws."""
    _FOUND[fit] = found


def ways(model: Model, cells: Cells, found: Anomaly) -> np.ndarray:
    """Return in what way each annotator is anomalous, or would be."""
    counts = np.column_stack([sum_by(cells.annotator, column, cells.n_annotators) for column in cells.counts.T])
    seen = model.seen_counts(counts)
    ties, votes = wins_losses_ties(seen.T)[2], seen.sum(axis=0)
    little = np.where(ties > ALWAYS * votes, "always ties", "guesses").astype(object)
    most = np.argmax([found.little, found.reversed, found.one_sided], axis=0)
    return np.choose(most, [little, "reversed", "one-sided"])
