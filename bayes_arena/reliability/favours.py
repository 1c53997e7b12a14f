"""How an annotator favours or hates a competitor: votes on it, how often they meet it, and votes elsewhere.

This describes annotators that the fit suspects (:mod:`bayes_arena.trust`) and is not evidence by itself: annotators
choose what they vote on, and arenas do not offer all pairs equally often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.trust.judgement import Judgement
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.records import records


@dataclass(frozen=True, eq=False)
class Aims:
    """The competitor that each annotator favours or hates.

    Attributes
    ----------
    competitor : ndarray of int, shape (n_annotators,)
        -1 for annotators without one.
    hates : ndarray of bool, shape (n_annotators,)
    """

    competitor: Ints
    hates: NDArray[np.bool_]

    @classmethod
    def of(cls, trust: Judgement, above: float) -> Aims:
        """Return the aims whose probability exceeds a threshold."""
        (competitor, hates), likely = trust.aims, trust.favour > above
        return cls(np.where(likely, competitor, -1), likely & hates)

    def on(self, cells: Cells) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which cells are on the aim of their annotator, and whether the aim was shown first."""
        aim = self.competitor[cells.annotator]
        return (cells.a == aim) | (cells.b == aim), cells.a == aim


def sentences(trust: Judgement, above: float) -> list[str]:
    """Describe how annotators favour or hate a competitor, where the probability of that exceeds a threshold.

    Returns
    -------
    list of str
        In the order of the annotators: ``"votes for it 106 of 110 times; meets it 2.1 times as often as others; ties
        elsewhere 40%"``. Empty for the others.
    """
    aims, cells = Aims.of(trust, above), trust.cells
    size, said = cells.n_annotators, [""] * cells.n_annotators
    if (aims.competitor < 0).all():
        return said
    theirs = cells.take(np.flatnonzero((aims.competitor >= 0)[cells.annotator]))
    (on, first), votes = aims.on(theirs), theirs.counts.sum(axis=1)
    a_wins, b_wins, ties = wins_losses_ties(theirs.counts)
    as_meant = np.where(first ^ aims.hates[theirs.annotator], a_wins, b_wins)
    cast, met = cells.votes_by_annotator(), sum_by(theirs.annotator, votes * on, size)
    meant, tied = sum_by(theirs.annotator, as_meant * on, size), sum_by(theirs.annotator, ties * ~on, size)
    usual = _met_by_others(cells, aims, cast, met)
    for k in np.flatnonzero(aims.competitor >= 0):
        way = "against" if aims.hates[k] else "for"
        parts = [f"votes {way} it {meant[k]:,.12g} of {met[k]:,.12g} times"]
        if usual[k] > 0:
            times = met[k] / cast[k] / usual[k]
            parts.append(f"meets it {times:.1f} times as often as others")
        else:
            parts.append("no other annotator meets it")
        elsewhere = cast[k] - met[k]
        parts.append(f"ties elsewhere {tied[k] / elsewhere:.0%}" if elsewhere > 0 else "votes on nothing else")
        said[k] = "; ".join(parts)
    return said


def _met_by_others(cells: Cells, aims: Aims, cast: Floats, met: Floats) -> Floats:
    """Return the share of the others' votes that are on each annotator's competitor, shape (n_annotators,)."""
    on_it = np.sum(records(cells), axis=0)
    others = cast.sum() - cast
    return np.asarray((on_it[aims.competitor] - met) / np.maximum(others, 1.0))
