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

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from bayes_arena.arrays import Floats, Ints
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.judgement import Campaign
from bayes_arena.trust.search.residuals import Residuals
from bayes_arena.trust.strengths import DAVIDSON, strengths
from bayes_arena.votes.cells import LOSS, TIE, WIN, Cells

FLIPS = 20
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


def find_sides(cells: Cells, point: Point, active: NDArray[np.bool_]) -> tuple[Side, Side] | None:
    """Find a direction in which annotators pull together, and who pulls which way.

    Parameters
    ----------
    cells : Cells
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
    if active.sum() < FEWEST or cells.n_competitors < LEAST_COMPETITORS:
        return None
    residuals, rng = Residuals.of(cells, point), np.random.default_rng(0)
    seen = (residuals.variance > 0) & active[:, None]
    unit = 1 / np.sqrt(residuals.variance + 0.5)
    known = [_unit_rows(np.where(seen, 1 / unit, 0.0))]  # residuals of a vote sum to zero
    by_theta = np.where(seen, residuals.by_theta * unit, 0.0)
    known.append(_unit_rows(_without(by_theta, known)))
    z = _without(np.where(seen, residuals.score * unit, 0.0), known)
    if not _is_shared(z, known, rng):
        return None
    direction, freedom = np.linalg.eigh(z.T @ z)[1][:, -1], np.maximum(seen.sum(axis=1) - 3, 1)
    borrowed = max(LEAST_FREEDOM - (cells.n_competitors - 3), 0)
    upwards = stdtr(freedom + borrowed, -_scores(z, direction, freedom, borrowed, rng))
    votes = cells.votes_by_annotator()
    share, clear = votes / votes.sum(), np.linalg.norm(by_theta, axis=1)  # of theta: 1 / its standard error
    adverse = (np.where(seen, residuals.score * unit, 0.0) * by_theta).sum(axis=1) + clear**2 < -2 * clear
    rest, sides = active.copy(), []
    for p, sign in ((upwards, 1.0), (1 - upwards, -1.0)):
        doubt = np.ones(len(z))
        doubt[active] = _discovery_rates(np.clip(p[active], 0, 1))
        rest &= doubt > RATE
        theirs, camped = (float(share[who].sum()) for who in (doubt <= RATE, (doubt <= RATE) & ~adverse))
        sides.append(Side(doubt, theirs, camped, sign * direction, determined=False))
    usual = disagreement(cells, rest)
    found = [replace(side, determined=disagreement(cells, side.members) < DETERMINED * usual) for side in sides]
    first, second = sorted(found, key=lambda side: (side.determined, side.share), reverse=True)
    return first, second


def campaign_of(cells: Cells, side: Side, active: NDArray[np.bool_]) -> Campaign:
    """Return what a side that is determined votes for, or against: the competitor that its votes move most."""
    everybody, others = (
        strengths(cells, chosen[cells.annotator].astype(float)).strength for chosen in (active, active & ~side.members)
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


def _is_shared(z: Floats, known: list[Floats], rng: np.random.Generator) -> bool:
    """Whether the largest singular value of the residuals is beyond those under random signs."""
    size = np.linalg.norm(z, axis=1, keepdims=True)
    by_chance = []
    for _ in range(FLIPS):
        flipped = _unit_rows(_without(z * rng.choice([-1.0, 1.0], z.shape), known)) * size
        by_chance.append(math.sqrt(np.linalg.eigvalsh(flipped.T @ flipped)[-1]))
    return bool(math.sqrt(np.linalg.eigvalsh(z.T @ z)[-1]) > np.mean(by_chance) + SHARED * np.std(by_chance))


def _scores(z: Floats, direction: Floats, freedom: Ints, borrowed: int, rng: np.random.Generator) -> Floats:
    """Everybody's residual along the direction that others have, in units of the rest of it, shape (n_annotators,)."""
    gram, along, rest = z.T @ z, np.zeros(len(z)), np.zeros(len(z))
    folds = rng.permutation(len(z)) % min(FOLDS, len(z))
    for fold in np.unique(folds):
        mine = folds == fold
        others = np.linalg.eigh(gram - z[mine].T @ z[mine])[1][:, -1]
        along[mine] = z[mine] @ (others * np.sign(others @ direction))
        rest[mine] = np.maximum((z[mine] ** 2).sum(axis=1) - along[mine] ** 2, 0.0)
    usual = np.median((rest / freedom)[(z != 0).any(axis=1)])
    across = (rest + borrowed * usual) / (freedom + borrowed)
    return np.asarray(along / np.sqrt(np.maximum(across, FLOOR)))


def _discovery_rates(p: Floats) -> Floats:
    """Least false discovery rate at which each of some p values is a discovery (Benjamini and Hochberg)."""
    order = np.argsort(p)
    rates = p[order] * (len(p) / np.arange(1, len(p) + 1))
    doubt = np.empty(len(p))
    doubt[order] = np.minimum.accumulate(rates[::-1])[::-1]
    return np.minimum(doubt, 1.0)


def _without(rows: Floats, known: list[Floats]) -> Floats:
    """Return rows without their parts along orthonormal rows."""
    for one in known:
        rows = rows - (rows * one).sum(axis=1, keepdims=True) * one
    return rows


def _unit_rows(rows: Floats) -> Floats:
    """Return rows of length one, or zero."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.where(size > 1e-9, rows / np.maximum(size, 1e-9), 0.0)


def disagreement(cells: Cells, members: NDArray[np.bool_]) -> float:
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
        point = strengths(cells, (half == made_of)[cells.annotator].astype(float))
        asked = (half == 3 - made_of)[cells.annotator]
        lead = (point.strength[cells.a] - point.strength[cells.b])[asked]
        seen = DAVIDSON.seen_counts(cells.counts[asked])
        against += float((seen[WIN] * (lead < 0) + seen[LOSS] * (lead > 0) + 0.5 * seen[TIE]).sum())
        total += float(seen.sum())
    return against / total
