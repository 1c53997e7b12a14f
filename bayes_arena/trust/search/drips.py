"""Small accounts against the rest: votes for one competitor that come in drops.

Somebody with three votes cannot be judged, but two hundred of them can. At the strengths that established accounts
give, all votes of small accounts on competitor c together have

    z_c = (sum of score of c - E) / sqrt(I_c + I_c^2 / J_c),

I_c the information in them, J_c that of the established accounts on c, whose strength is an estimate too. Where z_c is
beyond chance on few competitors, the votes of small accounts on these do not count; where it is so on more,
small accounts are other people, not a campaign. They are looked for one after the other, as votes for one competitor
are votes against others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.judgement import SMALL, Drip
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.plain.residuals import Residuals
from bayes_arena.trust.plain.strengths import capped, strengths

LEAST = 0.2
"""Share of the votes that established accounts have at least: fewer are no measure for the rest."""
BEYOND = 5.0
"""z beyond chance: 6e-7, for the competitors of any arena."""
FEW = 2
"""Competitors of a campaign, at most; a tenth of all where that is more."""
LEAST_INFORMATION = 1.0
"""J_c, five votes or so, below which established accounts do not say how strong a competitor is."""
TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Established:
    """What established accounts say of the competitors: the measure for small ones.

    Attributes
    ----------
    point : Point
        Strengths.
    information : ndarray, shape (n_competitors,)
        J_c.
    """

    point: Point
    information: Floats

    @classmethod
    def of(cls, ballots: Ballots, active: NDArray[np.bool_]) -> Established | None:
        """Measure by the votes of the active; None where these have no small accounts, or few votes of others."""
        votes = ballots.by_annotator
        small, large = active & (votes <= SMALL), active & (votes > SMALL)
        if not small.any() or votes[large].sum() < LEAST * votes[active].sum():
            return None
        point = strengths(ballots, capped(ballots) * large[ballots.k])
        variance = Residuals.of(ballots, point).variance * large[ballots.k]
        return cls(point, ballots.by_competitor(variance, variance))

    def compare(self, ballots: Ballots) -> tuple[Floats, Floats]:
        """Compare others' votes with them.

        Returns
        -------
        z : ndarray, shape (n_competitors,)
            z_c.
        shift : ndarray, shape (n_competitors,)
            By how many logits others rate c higher: (sum of score of c - E) / I_c; zero where they do not rate it.
        """
        residuals = Residuals.of(ballots, self.point)
        score = ballots.by_competitor(residuals.score, -residuals.score)
        information = ballots.by_competitor(residuals.variance, residuals.variance)
        variance = information + information**2 / np.maximum(self.information, TINY)
        return score / np.sqrt(np.maximum(variance, TINY)), score / np.maximum(information, TINY)


def find_drips(ballots: Ballots, active: NDArray[np.bool_]) -> tuple[Drip, ...]:
    """Find competitors that small accounts push.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    active : ndarray of bool, shape (n_annotators,)
        Whose votes to look at.

    Returns
    -------
    tuple of Drip
        The largest first.
    """
    established = Established.of(ballots, active)
    if established is None:
        return ()
    known = established.information > LEAST_INFORMATION
    of_small = (active & (ballots.by_annotator <= SMALL))[ballots.k]
    left = ballots.take(of_small & known[ballots.i] & known[ballots.j])
    found: list[Drip] = []
    for _ in range(max(FEW, ballots.n_competitors // 10) + 1):
        z, _ = established.compare(left)
        c = int(np.argmax(np.abs(z)))
        if abs(z[c]) < BEYOND:
            return tuple(found)
        on = left.on(c)
        accounts = len(np.unique(left.k[on]))
        found.append(Drip(c, bool(z[c] < 0), float(z[c]), accounts, float(left.votes[on].sum())))
        left = left.take(~on)
    return ()
