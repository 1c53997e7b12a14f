"""Annotators who pull in one direction, found in what plain strengths leave unexplained.

With expected scores E under Davidson's model and theta = 1, annotator k's residual on competitor c is

    Z_kc = sum over k's votes on c of (score of c - E) / sqrt(information + 1/2),

less what a theta of k's own would explain. Tastes that annotators do not share leave it without a common direction:
signs turned at random, entry by entry, keep all sizes and destroy what is shared, which gives the distribution of the
largest singular value where there is no bloc (signflip parallel analysis). Where the largest is clearly larger, each
annotator's score is their residual along the direction that the others have, in units of the rest of it: Student's t
if they have no part in it.

What stands out is a campaign, or a camp: people who differ in what they like. A campaign is determined: its members
agree with a ranking made of the others' votes hardly less than always, while people also disagree with those of their
own mind, and call ties.

Reference: Hong, D., Sheng, Y. & Dobriban, E. (2020), "Selecting the number of components in PCA via random signs",
arXiv 2012.02985. Benjamini, Y. & Hochberg, Y. (1995), JRSS B 57.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.judgement import Campaign
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.plain.strengths import strengths
from bayes_arena.trust.search.pulls import Pulls
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

FLIPS, FEWEST_FLIPS = 20, 4
"""Random signs, and after how many a direction may already be given up."""
SHARED = 5.0
"""Standard deviations of the largest singular value under random signs beyond which a direction is shared."""
FEWEST, LEAST_COMPETITORS = 10, 4
"""Annotators and competitors: of fewer, chance alone gives a direction, or there is hardly another one."""
FOLDS = 10
RATE = 0.01
"""False discovery rate of members."""
FLOOR = 0.3
"""Least variance of a residual per degree of freedom: of somebody with hardly a vote."""
LEAST_FREEDOM = 20
"""Degrees of freedom of the rest of a residual at least: arenas of fewer competitors borrow from the median annotator,
as nobody could be told by a handful alone."""
DETERMINED = 0.5
"""Share of the disagreement that people have with those of their own mind, below which votes are determined."""
BROAD = 8.0
"""Effective number of competitors, or a third of all if that is less, from which a direction is not about a few."""
CAMPED, OPPOSED = 0.2, 0.25
"""Share of the votes by clear members of camps, from which annotators form camps, and how large the smaller camp is at
least, to the larger."""


@dataclass(frozen=True, eq=False)
class Side:
    """Those who pull one way along a direction.

    Attributes
    ----------
    doubt : ndarray, shape (n_annotators,)
        Least false discovery rate at which somebody is a member.
    share : float
        Of the votes that are theirs.
    camped : float
        The same without adversaries, who do not differ in what they like: they vote against the ranking.
    pull : ndarray, shape (n_competitors,)
        Direction, towards whom it is.
    determined : bool
        Whether it is a campaign.
    """

    doubt: Floats
    share: float
    camped: float
    pull: Floats
    determined: bool

    @property
    def members(self) -> NDArray[np.bool_]:
        """Who belongs to it, shape (n_annotators,)."""
        return np.asarray(self.doubt <= RATE)

    @property
    def probability(self) -> Floats:
        """Of belonging to it: of members alone, shape (n_annotators,)."""
        return np.where(self.members, 1 - self.doubt, 0.0)

    @property
    def breadth(self) -> float:
        """Effective number of competitors that are pulled at."""
        return float(1 / (self.pull**4).sum())


def find_sides(ballots: Ballots, point: Point, active: NDArray[np.bool_]) -> tuple[Side, Side] | None:
    """Find a direction in which annotators pull together, and who pulls which way.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    point : Point
        Strengths.
    active : ndarray of bool, shape (n_annotators,)
        Whose votes to look at.

    Returns
    -------
    (Side, Side) or None
        The side with the clearer campaign, or the more votes, first; None where no direction is shared.
    """
    n = ballots.n_competitors
    if active.sum() < FEWEST or n < LEAST_COMPETITORS:
        return None
    pulls, rng = Pulls.of(ballots, point, active), np.random.default_rng(0)
    if not _is_shared(pulls, rng):
        return None
    direction, seen = pulls.top()[1], np.diff(pulls.first)
    freedom, borrowed = np.maximum(seen - 3, 1), max(LEAST_FREEDOM - (n - 3), 0)
    upwards = scipy.special.stdtr(freedom + borrowed, -_scores(pulls, direction, freedom, borrowed, rng))
    share = ballots.by_annotator / ballots.by_annotator.sum()
    adverse = pulls.agreed + pulls.clear**2 < -2 * pulls.clear
    rest, sides = active.copy(), []
    for p, sign in ((upwards, 1.0), (1 - upwards, -1.0)):
        doubt = np.ones(len(share))
        doubt[active] = _discovery_rates(np.clip(p[active], 0, 1))
        rest &= doubt > RATE
        theirs, camped = (float(share[who].sum()) for who in (doubt <= RATE, (doubt <= RATE) & ~adverse))
        sides.append(Side(doubt, theirs, camped, sign * direction, determined=False))
    usual = disagreement(ballots, rest)
    found = [replace(side, determined=disagreement(ballots, side.members) < DETERMINED * usual) for side in sides]
    first, second = sorted(found, key=lambda side: (side.determined, side.share), reverse=True)
    return first, second


def campaign_of(ballots: Ballots, side: Side, active: NDArray[np.bool_]) -> Campaign:
    """Return what a side that is determined votes for, or against: the competitor that its votes move most."""
    everybody, others = (
        strengths(ballots, chosen[ballots.k].astype(float)).strength for chosen in (active, active & ~side.members)
    )
    moved = everybody - others
    aim = int(np.argmax(np.abs(moved)))
    return Campaign(aim, bool(moved[aim] < 0))


def camps(sides: tuple[Side, Side]) -> str:
    """Say why nobody is judged where many pull one way, and not many fewer the other; empty where it is not so."""
    first, second = (side.camped for side in sides)
    if sides[0].breadth <= min(BROAD, len(sides[0].pull) / 3):
        return ""
    if first + second <= CAMPED or min(first, second) <= OPPOSED * max(first, second):
        return ""
    return (
        f"The annotators form camps: those who clearly pull one way cast {first:.0%} of the votes, those who pull the "
        f"other way {second:.0%}. Votes alone do not tell which camp is right, so nobody is judged."
    )


def _is_shared(pulls: Pulls, rng: np.random.Generator) -> bool:
    """Whether the largest singular value of the residuals is beyond those under random signs."""
    largest, by_chance = pulls.top()[0], list[float]()
    for flips in range(1, FLIPS + 1):
        by_chance.append(pulls.with_random_signs(rng).top()[0])
        if flips >= FEWEST_FLIPS and largest <= np.mean(by_chance):
            return False
    return bool(largest > np.mean(by_chance) + SHARED * np.std(by_chance))


def _scores(pulls: Pulls, direction: Floats, freedom: Ints, borrowed: int, rng: np.random.Generator) -> Floats:
    """Everybody's residual along the direction that others have, in units of the rest of it, shape (n_annotators,)."""
    size = len(freedom)
    fold = rng.permutation(size) % min(FOLDS, size)
    along, whole = np.zeros(size), pulls.squares()
    for one, others in enumerate(pulls.tops_without(fold)):
        mine = fold == one
        along[mine] = pulls.along(others * np.sign(others @ direction))[mine]
    rest = np.maximum(whole - along**2, 0.0)
    usual = np.median((rest / freedom)[whole > 0])
    across = (rest + borrowed * usual) / (freedom + borrowed)
    return np.asarray(along / np.sqrt(np.maximum(across, FLOOR)))


def _discovery_rates(p: Floats) -> Floats:
    """Least false discovery rate at which each of some p values is a discovery (Benjamini and Hochberg)."""
    order = np.argsort(p)
    rates = p[order] * (len(p) / np.arange(1, len(p) + 1))
    doubt = np.empty(len(p))
    doubt[order] = np.minimum.accumulate(rates[::-1])[::-1]
    return np.minimum(doubt, 1.0)


def disagreement(ballots: Ballots, members: NDArray[np.bool_]) -> float:
    """Share of the decided votes of each half of a group against the ranking made of the other half's; ties count half.

    1/2 where there are fewer than two members.
    """
    who = np.flatnonzero(members)
    if len(who) < 2:
        return 0.5
    half = np.zeros(len(members), dtype=np.int64)
    half[who[::2]], half[who[1::2]] = 1, 2
    against = total = 0.0
    for made_of in (1, 2):
        point = strengths(ballots, (half == made_of)[ballots.k].astype(float))
        asked = ballots.take((half == 3 - made_of)[ballots.k])
        lead = point.strength[asked.i] - point.strength[asked.j]
        wins, losses, ties = asked.counts[[WIN, LOSS, TIE]]
        against += float((wins * (lead < 0) + losses * (lead > 0) + 0.5 * ties).sum())
        total += float(asked.votes.sum())
    return against / total
