"""Whether annotators share one ranking, as far as the boards can tell.

d is the gap between Davidson's board and am-Davidson's (boards/combined.py). Both are sums
of the moves of votes, so the covariance of d is that of differences of moves, whichever
model is right (Hausman, 1978, without efficiency). Then

    z = mean over competitors of d^2 / var(d),

and z times n^2 / sum(corr^2) is compared with chi-square of as many degrees
(Satterthwaite). Where boards differ, the exposure (people/table.py) tells the likelier
reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np
from scipy.special import chdtrc

from bayes_arena.arrays import Floats
from bayes_arena.boards.combined import gap_between
from bayes_arena.boards.elo import ELO
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.model.constants import TINY
from bayes_arena.people.doors import votes_of
from bayes_arena.people.table import exposure
from bayes_arena.reading.options import ReadOptions
from bayes_arena.said import Said, Use, sentence
from bayes_arena.tables import dataframe
from bayes_arena.votes.votes import MIN_VOTES

if TYPE_CHECKING:
    import pandas as pd

SURE = 0.01  # p-value below which boards differ by more than chance
RANDOM_EXPOSURE = 1.5  # up to which pairs were given out as if at random
LEAST_VARIANCE = 0.02  # of a difference, as a share of Davidson's


@dataclass(frozen=True, eq=False)
class SharedRanking:
    """The test of one ranking, and who would move.

    ``gap`` (competitors,) is am-Davidson's board less Davidson's in Elo, on the scale of the
    latter, and ``share`` how much of it is safe to go (boards/combined.py).
    """

    z: float
    p_value: float
    gap: Floats
    exposure: float
    share: float

    @property
    def reading(self) -> Said:
        """What it means, in a sentence."""
        if self.p_value >= SURE:
            return "The boards of equal and of weighed votes differ by no more than chance."
        if self.exposure <= RANDOM_EXPOSURE:
            return "Annotators disagree on the ranking; this board averages over them."
        text = "Annotators saw different competitors; "
        return (text, Use(model="am-davidson"), " accounts for this.")


def shared_ranking(votes: object, **columns: Unpack[ReadOptions]) -> pd.DataFrame:
    """Test whether annotators share one ranking.

    Parameters
    ----------
    votes : Fit, or votes
        With annotators.  Both boards are fitted.
    **columns
        Options of :func:`~bayes_arena.read_votes`.

    Returns
    -------
    DataFrame
        One row: z, p_value, largest_gap (Elo, between the two boards), exposure (1 where
        pairs were given out at random), reading.
    """
    source = votes_of(votes, **columns)
    plain = fit_model(source, model="davidson")
    weighted = fit_model(source, model="am-davidson")
    result = compare_boards(plain, weighted)
    return dataframe(
        {
            "z": [result.z],
            "p_value": [result.p_value],
            "largest_gap": [float(np.abs(result.gap).max())],
            "exposure": [result.exposure],
            "reading": [sentence(result.reading)],
        }
    )


def compare_boards(
    plain: Fit, weighted: Fit, min_votes: float = MIN_VOTES
) -> SharedRanking:
    """Return the test, from the fits of Davidson and of am-Davidson to the same votes."""
    gap = gap_between(plain, weighted, min_votes)
    covariance, n = gap.covariance, len(gap.value)
    variance_of_r = np.diag(plain.marginals.board.covariance)
    variance = np.maximum(np.diag(covariance), LEAST_VARIANCE * variance_of_r)
    z = float(np.mean(gap.value**2 / variance))
    sd = np.sqrt(np.maximum(np.diag(covariance), TINY))
    freedom = n**2 / float(np.sum((covariance / np.outer(sd, sd)) ** 2))
    p_value = float(chdtrc(freedom, z * freedom))
    return SharedRanking(
        z=z,
        p_value=p_value,
        gap=-ELO.points_per_logit * gap.value,
        exposure=exposure(plain.votes),
        share=gap.share,
    )
