"""Whose votes count: campaigns, favourites and camps, found before a model of annotators could be captured by them.

1. Strengths in which no annotator's own numbers have a part (:mod:`bayes_arena.trust.strengths`).
2. Drips: votes of small accounts on a competitor that they push do not count (:mod:`bayes_arena.trust.drips`).
3. Blocs: while some annotators pull in one direction and are determined, they are left out. Where many pull both ways
   and are not, annotators form camps (:mod:`bayes_arena.trust.blocs`).
4. Kinds: who more likely than not favours or hates one competitor is left out; strengths and kinds are found in turns
   (:mod:`bayes_arena.trust.kinds`), from either side where many favour the same, and blocs are looked for once more.

Programs are not judged (``Cells.programs``): what they favour is a taste that the fit gives them, and whose votes count
shows among people.

Camps, and those left out casting ``TOO_MANY`` of the votes or more, end in nobody being judged: from votes alone the
two sides look the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import listing
from bayes_arena.likelihood.point import Point
from bayes_arena.trust.blocs import Residuals, Side, find_sides
from bayes_arena.trust.drips import SMALL, Drip, find_drips
from bayes_arena.trust.kinds import Kinds, find_kinds
from bayes_arena.trust.mixture.suspicions import AT_AIMS
from bayes_arena.trust.strengths import capped, devoted, strengths
from bayes_arena.votes.cells import LOSS, WIN, Cells

TOO_MANY, DOUBTFUL, OF_ONE_MIND = 0.4, 0.2, 0.9
"""Shares of the votes by those left out: where nobody can be judged, and where the likeliest reading may be the wrong
one. Of all such readings the one counts whose left out are of one mind: a crowd taken for a bloc is not."""
BROAD = 8.0
"""Effective number of competitors, or a third of all if that is less, from which a direction is not about a few."""
CAMPED, OPPOSED = 0.2, 0.25
"""Share of the votes by clear members of camps, from which annotators form camps, and how large the smaller camp is at
least, to the larger."""
FEWEST = 5
"""Annotators: of fewer nobody can be told from the rest, and everybody counts."""
ROUNDS, TURNS = 4, 3
STEADY = 0.02
"""Change of a probability that ends the turns."""


Found = tuple[Kinds, Point]
"""A reading of the votes: kinds, and the strengths without those who favour somebody."""


@dataclass(frozen=True)
class Campaign:
    """What annotators vote together for, or against.

    Attributes
    ----------
    competitor : int
        The one that their votes move most.
    down : bool
        Whether they move it down.
    """

    competitor: int
    down: bool


@dataclass(frozen=True, eq=False)
class Judgement:
    """Whose votes count, and why.

    Attributes
    ----------
    cells : Cells
        The votes as they were cast.
    kinds : Kinds or None
        What kind everybody is; None where nobody is judged.
    campaigns : tuple of Campaign
    drips : tuple of Drip
    campaign : ndarray of int, shape (n_annotators,)
        Which of the campaigns everybody belongs to; -1: none.
    membership : ndarray, shape (n_annotators,)
        Probability of belonging to one of the campaigns.
    unjudged : str
        Why nobody is judged; empty if they are.
    """

    cells: Cells
    kinds: Kinds | None
    campaigns: tuple[Campaign, ...]
    drips: tuple[Drip, ...]
    campaign: Ints
    membership: Floats
    unjudged: str

    @cached_property
    def favour(self) -> Floats:
        """Probability that somebody favours or hates one competitor, alone or in a campaign, shape (n_annotators,)."""
        alone = np.zeros_like(self.membership) if self.kinds is None else self.kinds.favour
        return np.where(_people(self.cells), np.maximum(alone, self.membership), 0.0)

    @cached_property
    def left_out(self) -> NDArray[np.bool_]:
        """Whose votes do not count, shape (n_annotators,)."""
        return np.asarray((self.favour > 0.5) & (not self.unjudged))

    @cached_property
    def counted(self) -> Cells:
        """The votes that count, of the same competitors; annotators without any are not among them."""
        rows = ~self.left_out[self.cells.annotator] & ~_dripped(self.cells, self.drips)
        if rows.all():
            return self.cells
        present = np.unique(self.cells.annotator[rows])
        place = np.zeros(self.cells.n_annotators, dtype=np.int64)
        place[present] = np.arange(len(present))
        names = tuple(self.cells.annotators[k] for k in present)
        programs = tuple(name for name in self.cells.programs if name in names)
        return self.cells.take(rows, annotators=names, annotator=place[self.cells.annotator[rows]], programs=programs)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Names of those whose votes do not count, the surest first."""
        order = np.argsort(-self.favour, kind="stable")
        return tuple(self.cells.annotators[k] for k in order if self.left_out[k])

    def aim(self, annotator: int) -> tuple[int, bool]:
        """Return whom somebody favours, or hates (True), if anybody."""
        alone = self.kinds is not None and self.kinds.favour[annotator] > 0.5
        if self.campaign[annotator] >= 0 and not alone:
            campaign = self.campaigns[self.campaign[annotator]]
            return campaign.competitor, campaign.down
        if self.kinds is None:
            return -1, False
        return int(self.kinds.competitor[annotator]), bool(self.kinds.hates[annotator])

    def favours(self, annotator: int) -> str:
        """Return the same in words: ``favours NAME``, ``hates NAME``, or nothing."""
        competitor, down = self.aim(annotator)
        return f"{_verb(1, down)} {self.cells.competitors[competitor]}" if competitor >= 0 else ""

    @cached_property
    def said(self) -> tuple[str, ...]:
        """What a reader of a ranking has to know."""
        if self.unjudged:
            programs = listing(self.cells.programs)
            return (self.unjudged + (f" Votes of {programs} count like those of people." if programs else ""),)
        said, cells = [], self.cells
        for (competitor, down), suspects in self._by_aim().items():
            votes = cells.votes_by_annotator()[suspects].sum()
            said.append(
                f"Left out: {votes:,.12g} votes of {_plural(len(suspects), 'annotator')} who "
                f"{_verb(len(suspects), down)} {cells.competitors[competitor]!r}: "
                f"{listing(cells.annotators[k] for k in suspects)}. To count them all the same: guard=False "
                "(--no-guard)."
            )
        said += [
            f"Left out: {drip.votes:,.12g} votes of {drip.accounts:,} small accounts (up to {SMALL} votes each) on "
            f"{cells.competitors[drip.competitor]!r}, which push it {'down' if drip.down else 'up'} against all others "
            f"(z {drip.z:.0f}). To count them all the same: guard=False (--no-guard)."
            for drip in self.drips
        ]
        if self.unseen:
            said.append(f"No vote on {listing(map(repr, self.unseen))} counts, so nothing is known of their strength.")
        return tuple(said)

    @property
    def unseen(self) -> tuple[str, ...]:
        """Names of competitors that votes were cast on, none of which counts."""
        cast, counted = (np.union1d(cells.a, cells.b) for cells in (self.cells, self.counted))
        return tuple(self.cells.competitors[c] for c in np.setdiff1d(cast, counted))

    def _by_aim(self) -> dict[tuple[int, bool], list[int]]:
        """Whose votes do not count, by whom they favour or hate."""
        found: dict[tuple[int, bool], list[int]] = {}
        for k in np.flatnonzero(self.left_out):
            found.setdefault(self.aim(int(k)), []).append(int(k))
        return found


def judge(cells: Cells) -> Judgement:
    """Find out whose votes count.

    Parameters
    ----------
    cells : Cells
        Votes with annotators.

    Returns
    -------
    Judgement

    Raises
    ------
    NoVotesError, ConvergenceError, NotIdentifiedError, TooLargeError
        As those of a fit.
    """
    votes = cells.votes_by_annotator() * _people(cells)
    membership, campaign, active = np.zeros(len(votes)), np.full(len(votes), -1), votes > 0
    if active.sum() < FEWEST:
        return Judgement(cells, None, (), (), campaign, membership, "")
    campaigns = list[Campaign]()
    readings: list[Found] = []
    unjudged = ""
    for _ in range(ROUNDS):
        trusted = active & (readings[0][0].favour <= 0.5) if readings else active
        drips = find_drips(cells, active)
        seen = cells.take(~_dripped(cells, drips))
        point = readings[0][1] if readings else strengths(seen, capped(seen) * active[seen.annotator])
        sides = find_sides(seen, point, trusted)
        if sides and sides[0].determined:
            campaign[sides[0].members] = len(campaigns)
            campaigns.append(_campaign(seen, sides[0], trusted))
            membership = np.maximum(membership, sides[0].probability)
            active, readings = active & ~sides[0].members, []
            if not active.any():
                break
            continue
        if sides and sides[0].breadth > min(BROAD, cells.n_competitors / 3) and _are_camps(sides):
            unjudged = _camps(sides)
        if unjudged or readings:
            break
        readings = _readings(seen, active, point)
    judged = Judgement(cells, None, tuple(campaigns), (), campaign, membership, unjudged)
    if unjudged:
        return judged
    readings = readings if readings or not active.any() else _readings(seen, active, point)
    judgements = [replace(judged, kinds=kinds, drips=drips) for kinds, _ in readings] or [judged]
    shares = [float(votes[one.left_out].sum() / votes.sum()) for one in judgements]
    best, share = judgements[0], shares[0]
    if share > DOUBTFUL and best.left_out.sum() >= FEWEST:  # fewer are no crowd
        rivals = [pair for pair in zip(judgements, shares, strict=True) if pair[1] > DOUBTFUL]
        best, share = max(rivals, key=lambda pair: _certainty(pair[0]))
        share = share if _certainty(best) > OF_ONE_MIND else max(share, TOO_MANY)
    return best if share < TOO_MANY else replace(best, kinds=None, drips=(), unjudged=_too_many(share, best))


def _certainty(judgement: Judgement) -> float:
    """Share of the decided votes on those whom the left out favour or hate that are as they want it.

    A bloc votes as one; a crowd that is taken for those who hate the bloc's competitor is of several minds.
    """
    cells, suspect = judgement.cells, judgement.left_out[judgement.cells.annotator]
    aims = [judgement.aim(k) for k in range(cells.n_annotators)]
    aim, down = np.array([one for one, _ in aims])[cells.annotator], np.array([two for _, two in aims])[cells.annotator]
    on = suspect & ((cells.a == aim) | (cells.b == aim))
    towards_a = np.where(cells.a == aim, ~down, down)
    wanted = np.where(towards_a, cells.counts[:, WIN], cells.counts[:, LOSS])[on].sum()
    return float(wanted / max(cells.counts[on][:, [WIN, LOSS]].sum(), 1.0))


def _people(cells: Cells) -> NDArray[np.bool_]:
    """Return who is no program, shape (n_annotators,)."""
    return ~np.isin(np.array(cells.annotators, dtype=object), cells.programs)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _verb(count: int, down: bool) -> str:
    verb = "hate" if down else "favour"
    return verb + "s" * (count == 1)


def _readings(cells: Cells, active: NDArray[np.bool_], point: Point) -> list[Found]:
    """Find kinds; where many favour a competitor, or meet it far too often, also from strengths without them.

    The likeliest reading comes first; before it one in which most of those favour somebody who vote on hardly anybody
    else, as what a competitor is worth is for those to say who meet others, too.

    A bloc for a competitor, seen from strengths that the bloc has made, is a crowd against it, and the other way round.
    The votes are likelier under the right reading, as long as the bloc is not too large: a crowd loses now and then.
    """
    readings = [_in_turns(cells, active, point)]
    fans = devoted(cells) & active
    starts = [~fans]
    for competitor, hates in readings[0][0].likely_aims:
        residuals = Residuals.of(cells, point)
        pull = residuals.score[:, competitor] / np.sqrt(residuals.variance[:, competitor] + 0.5)
        starts.append(~((pull if hates else -pull) > AT_AIMS))
    for others in (active & start for start in starts if (active & ~start).any()):
        if others.any():
            readings.append(_in_turns(cells, active, strengths(cells, capped(cells) * others[cells.annotator])))

    def order(found: Found) -> tuple[bool, float]:
        without_fans = fans.any() and float((found[0].favour[fans] > 0.5).mean()) > 0.5
        return not without_fans, -found[0].evidence

    return sorted(readings, key=order)


def _in_turns(cells: Cells, active: NDArray[np.bool_], point: Point) -> Found:
    """Find kinds at given strengths, and strengths without those who favour somebody, until neither moves."""
    weight = active.astype(float)
    for _ in range(TURNS):
        kinds = find_kinds(cells, point, active, weight)
        if not (active & (kinds.favour < 1)).any():
            break
        before, weight = weight, active * (1 - kinds.favour)
        point = strengths(cells, weight[cells.annotator], start=point)
        if np.abs(weight - before).max() < STEADY or not (kinds.favour[active] > 0.5).any():
            break
    return kinds, point


def _are_camps(sides: tuple[Side, Side]) -> bool:
    """Whether many pull one way, and not many fewer the other."""
    shares = [side.camped for side in sides]
    return sum(shares) > CAMPED and min(shares) > OPPOSED * max(shares)


def _dripped(cells: Cells, drips: tuple[Drip, ...]) -> NDArray[np.bool_]:
    """Which cells are of small accounts and on a competitor that they push, shape (n_cells,)."""
    on = np.isin(cells.a, [drip.competitor for drip in drips]) | np.isin(cells.b, [drip.competitor for drip in drips])
    return np.asarray(on & (cells.votes_by_annotator() <= SMALL)[cells.annotator])


def _campaign(cells: Cells, side: Side, active: NDArray[np.bool_]) -> Campaign:
    """Name the competitor that a campaign's votes move most."""
    everybody, others = (
        strengths(cells, chosen[cells.annotator].astype(float)).strength for chosen in (active, active & ~side.members)
    )
    moved = everybody - others
    aim = int(np.argmax(np.abs(moved)))
    return Campaign(aim, bool(moved[aim] < 0))


def _camps(sides: tuple[Side, Side]) -> str:
    return (
        f"The annotators form camps: those who clearly pull one way cast {sides[0].camped:.0%} of the votes, those who "
        f"pull the other way {sides[1].camped:.0%}. Votes alone do not tell which camp is right, so nobody is judged."
    )


def _too_many(share: float, judgement: Judgement) -> str:
    names, kinds = judgement.cells.competitors, judgement.kinds
    aims = [one.competitor for one in judgement.campaigns] + [one for one, _ in (kinds.aims if kinds else ())]
    about = f" ({listing(dict.fromkeys(names[one] for one in aims))})" if aims else ""
    return (
        f"Annotators who pull together{about} may have cast {share:.0%} of the votes. Where they cast so many, votes "
        "alone do not tell who is honest, so nobody is judged."
    )
