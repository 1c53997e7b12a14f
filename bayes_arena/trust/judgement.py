"""Whose votes count, and what a reader of a ranking has to know of it: what :mod:`bayes_arena.trust.judging` finds.

Programs are not judged (``Cells.programs``): what they favour is a taste that the fit gives them, and whose votes count
shows among people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import listing
from bayes_arena.trust.kinds import Kinds
from bayes_arena.votes.cells import Cells

SMALL = 10
"""Votes of a small account, at most."""


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


@dataclass(frozen=True)
class Drip:
    """A competitor that small accounts push.

    Attributes
    ----------
    competitor : int
    down : bool
        Whether they push it down.
    z : float
    accounts : int
        Small accounts with a vote on it.
    votes : float
        Theirs on it.
    """

    competitor: int
    down: bool
    z: float
    accounts: int
    votes: float


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
    def votes(self) -> Floats:
        """Votes of every annotator; of programs, who are not judged, none; shape (n_annotators,)."""
        return self.cells.votes_by_annotator() * self.cells.human

    @cached_property
    def favour(self) -> Floats:
        """Probability that somebody favours or hates one competitor, alone or in a campaign, shape (n_annotators,)."""
        alone = np.zeros_like(self.membership) if self.kinds is None else self.kinds.favour
        return np.where(self.cells.human, np.maximum(alone, self.membership), 0.0)

    @cached_property
    def left_out(self) -> NDArray[np.bool_]:
        """Whose votes do not count, shape (n_annotators,)."""
        return np.asarray((self.favour > 0.5) & (not self.unjudged))

    @property
    def share_left_out(self) -> float:
        """Share of people's votes that those cast whose votes do not count."""
        return float(self.votes[self.left_out].sum() / self.votes.sum())

    @cached_property
    def counted(self) -> Cells:
        """The votes that count, of the same competitors; annotators without any are not among them."""
        of_account = self.cells.votes_by_annotator()[self.cells.annotator]
        rows = ~self.left_out[self.cells.annotator] & ~dripped(self.drips, self.cells.a, self.cells.b, of_account)
        if rows.all():
            return self.cells
        present = np.unique(self.cells.annotator[rows])
        place = np.zeros(self.cells.n_annotators, dtype=np.int64)
        place[present] = np.arange(len(present))
        names = tuple(self.cells.annotators[k] for k in present)
        programs = tuple(name for name in self.cells.programs if name in names)
        return self.cells.take(rows, annotators=names, annotator=place[self.cells.annotator[rows]], programs=programs)

    def with_campaign(self, campaign: Campaign, members: NDArray[np.bool_], probability: Floats) -> Judgement:
        """Return the judgement with one more campaign, its members and the probabilities of belonging to it."""
        return replace(
            self,
            campaigns=(*self.campaigns, campaign),
            campaign=np.where(members, len(self.campaigns), self.campaign),
            membership=np.maximum(self.membership, probability),
        )

    @property
    def suspects(self) -> tuple[str, ...]:
        """Names of those whose votes do not count, the surest first."""
        order = np.argsort(-self.favour, kind="stable")
        return tuple(self.cells.annotators[k] for k in order if self.left_out[k])

    @cached_property
    def aims(self) -> tuple[Ints, NDArray[np.bool_]]:
        """Whom everybody favours, -1 for nobody, and who hates that competitor, each of shape (n_annotators,)."""
        competitor, hates = np.full_like(self.campaign, -1), np.zeros(len(self.campaign), dtype=bool)
        in_campaign = self.campaign >= 0
        if self.kinds is not None:
            competitor, hates = self.kinds.competitor.copy(), self.kinds.hates.copy()
            in_campaign &= ~(self.kinds.favour > 0.5)
        for number, campaign in enumerate(self.campaigns):
            members = in_campaign & (self.campaign == number)
            competitor[members], hates[members] = campaign.competitor, campaign.down
        return competitor, hates

    def aim(self, annotator: int) -> tuple[int, bool]:
        """Return whom somebody favours, or hates (True), if anybody."""
        competitor, hates = self.aims
        return int(competitor[annotator]), bool(hates[annotator])

    def favours(self, annotator: int) -> str:
        """Return the same in words: ``favours NAME``, ``hates NAME``, or nothing."""
        competitor, down = self.aim(annotator)
        return f"{_verb(1, down)} {self.cells.competitors[competitor]}" if competitor >= 0 else ""

    @property
    def words(self) -> NDArray[np.object_]:
        """Those words for everybody, shape (n_annotators,)."""
        (competitor, hates), names = self.aims, self.cells.competitors
        words = np.array([*(f"{_verb(1, down)} {name}" for down in (False, True) for name in names), ""], dtype=object)
        return np.asarray(words.take(np.where(competitor < 0, -1, competitor + len(names) * hates)))

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
        cast, counted = np.zeros((2, self.cells.n_competitors), dtype=bool)
        for met, cells in ((cast, self.cells), (counted, self.counted)):
            met[cells.a] = met[cells.b] = True
        return tuple(self.cells.competitors[c] for c in np.flatnonzero(cast & ~counted))

    def _by_aim(self) -> dict[tuple[int, bool], list[int]]:
        """Whose votes do not count, by whom they favour or hate."""
        found: dict[tuple[int, bool], list[int]] = {}
        for k in np.flatnonzero(self.left_out):
            found.setdefault(self.aim(int(k)), []).append(int(k))
        return found


def dripped(drips: tuple[Drip, ...], a: Ints, b: Ints, votes: Floats) -> NDArray[np.bool_]:
    """Return which rows are of small accounts and on a competitor that they push, shape (n_rows,).

    ``votes`` is how many their annotators cast.
    """
    pushed = [drip.competitor for drip in drips]
    return np.asarray((np.isin(a, pushed) | np.isin(b, pushed)) & (votes <= SMALL))


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def _verb(count: int, down: bool) -> str:
    verb = "hate" if down else "favour"
    return verb + "s" * (count == 1)
