"""What votes can tell: what was read, what was left out, who met whom, sides and prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayes_arena.arrays import Array, Ints
from bayes_arena.errors import listing
from bayes_arena.votes.columns import words
from bayes_arena.votes.counting import FEATURE, SLICE
from bayes_arena.votes.opening import Opened
from bayes_arena.votes.options import Options
from bayes_arena.votes.read import read
from bayes_arena.votes.votes import FIRST, FIRST_CLEARLY, PROMPT, SECOND, TIE, Votes

FEW_VOTES = 10  # of an annotator, who is not judged below


@dataclass(frozen=True)
class Check:
    """What votes can tell; prints as lines, and ``as_dict`` is plain JSON.

    Attributes
    ----------
    n_votes : float
    n_competitors, n_annotators, n_prompts : int
        0 annotators or prompts where they are unknown.
    effective_prompts : float
        Kish's number of prompts: as many, voted on alike, would say as much.
    layout : str or None
        How the votes were written down; None if they were read before.
    columns : mapping of str to str
        The column of each role.
    dropped : mapping of str to int
        Votes left out, by reason.
    remarks : tuple of str
        What reading noticed.
    groups : tuple of tuple of str
        Competitors that are linked by votes, the largest group first.
    never_lost, never_won : tuple of str
        Competitors without a finite estimate under a flat prior.
    n_pairs, n_possible_pairs : int
        Pairs that met, and pairs that there are.
    least_votes, median_votes : float
        Of a competitor.
    annotators_with_few : int
        How many annotators have fewer than ten votes.
    first_wins : float or None
        Share of the decided votes won by who was shown first; None if sides are unknown.
    first_wins_z : float or None
        Its distance from one half in standard errors.
    ties, clear_wins : float
        Shares of the votes.
    slices, features : tuple of str
    """

    n_votes: float
    n_competitors: int
    n_annotators: int
    n_prompts: int
    effective_prompts: float
    layout: str | None
    columns: Mapping[str, str]
    dropped: Mapping[str, int]
    remarks: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    never_lost: tuple[str, ...]
    never_won: tuple[str, ...]
    n_pairs: int
    n_possible_pairs: int
    least_votes: float
    median_votes: float
    annotators_with_few: int
    first_wins: float | None
    first_wins_z: float | None
    ties: float
    clear_wins: float
    slices: tuple[str, ...]
    features: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts."""
        plain = asdict(self)
        return {
            name: [list(each) if isinstance(each, tuple) else each for each in value]
            if isinstance(value, tuple)
            else dict(value)
            if isinstance(value, Mapping)
            else value
            for name, value in plain.items()
        }

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield what was found, as labels and texts."""
        sizes = f"{self.n_votes:,g} on {self.n_competitors:,} competitors"
        yield (
            "votes",
            sizes
            + (f" by {self.n_annotators:,} annotators" if self.n_annotators else ""),
        )
        if self.layout is not None:
            roles = ", ".join(
                f"{column} is {role}" for role, column in self.columns.items()
            )
            yield "read as", f"{self.layout}: {roles}"
        for reason, n in self.dropped.items():
            yield "left out", f"{n:,}: {reason}"
        yield "pairs", f"{self.n_pairs:,} of {self.n_possible_pairs:,} met"
        yield "linked", self.linked
        yield "never lost", listing(self.never_lost) or "nobody"
        yield "never won", listing(self.never_won) or "nobody"
        yield (
            "votes each",
            f"{self.least_votes:,g} at least, {self.median_votes:,g} in the median",
        )
        yield "annotators", self.about_annotators
        yield "prompts", self.about_prompts
        yield "sides", self.about_sides
        yield "ties", f"{self.ties:.1%}"
        if self.clear_wins:
            yield (
                "grades",
                f"{self.clear_wins:.1%} are clear wins; models without grades= fold them",
            )
        if self.slices:
            yield "slices", listing(self.slices)
        if self.features:
            yield "features", listing(self.features)
        for remark in self.remarks:
            yield "remark", remark

    @property
    def linked(self) -> str:
        """Whether all competitors are linked by votes, in words."""
        if len(self.groups) == 1:
            return "all competitors, by votes"
        apart = [name for group in self.groups[1:] for name in group]
        return f"{len(self.groups)} groups that never met; apart from the largest: {listing(apart)}"

    @property
    def about_annotators(self) -> str:
        """How many annotators there are, in words."""
        if not self.n_annotators:
            return "unknown"
        few = f", {self.annotators_with_few:,} with fewer than {FEW_VOTES} votes"
        return f"{self.n_annotators:,}{few if self.annotators_with_few else ''}"

    @property
    def about_prompts(self) -> str:
        """How many prompts there are, in words."""
        if not self.n_prompts:
            return "unknown"
        return f"{self.n_prompts:,}, worth {self.effective_prompts:,.1f} that are voted on alike"

    @property
    def about_sides(self) -> str:
        """How often the first wins, in words."""
        if self.first_wins is None or self.first_wins_z is None:
            return "unknown, or nothing decided"
        return f"the first wins {self.first_wins:.1%} of the decided votes (z {self.first_wins_z:+.1f})"

    def __str__(self) -> str:
        """Return a line for each thing found."""
        lines = list(self.lines())
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def check(source: object, **columns: Any) -> Check:
    """Tell what was read, what was left out, and what the votes can tell.

    Parameters
    ----------
    source : Votes, or as for ``read_votes``
    **columns
        As for ``read_votes``.

    Returns
    -------
    Check
        Prints as lines.

    Raises
    ------
    VotesError
        If the votes cannot be read.
    """
    if isinstance(source, Votes):
        return check_of(source, None)
    return check_of(*read(source, Options(**columns)))


def check_of(votes: Votes, opened: Opened | None) -> Check:
    """Return what votes can tell."""
    won, lost, tied = records(votes)
    cast = votes.votes_by_competitor
    first, decided = sides(votes)
    n = votes.n_competitors
    few = (votes.votes_by_annotator < FEW_VOTES).sum() if votes.annotators else 0
    prompts = (
        np.bincount(votes.slices[PROMPT], votes.counts.sum(axis=1))
        if PROMPT in votes.slices
        else np.zeros(0)
    )
    totals = votes.counts.sum(axis=0)
    return Check(
        n_votes=votes.n_votes,
        n_competitors=n,
        n_annotators=votes.n_annotators,
        n_prompts=len(prompts),
        effective_prompts=float(prompts.sum() ** 2 / (prompts**2).sum()) if len(prompts) else 0.0,
        layout=None if opened is None else opened.layout.name,
        columns={} if opened is None else roles_in_words(opened),
        dropped=dict(votes.dropped),
        remarks=votes.remarks,
        groups=linked_groups(votes),
        never_lost=tuple(named(votes, (lost == 0) & (tied == 0))),
        never_won=tuple(named(votes, (won == 0) & (tied == 0))),
        n_pairs=len(np.unique(np.minimum(votes.i, votes.j) * n + np.maximum(votes.i, votes.j))),
        n_possible_pairs=n * (n - 1) // 2,
        least_votes=float(cast.min()),
        median_votes=float(np.median(cast)),
        annotators_with_few=int(few),
        first_wins=first / decided if decided and votes.sided else None,
        first_wins_z=(2 * first - decided) / math.sqrt(decided) if decided and votes.sided else None,
        ties=float(totals[TIE] / votes.n_votes),
        clear_wins=float(totals[FIRST_CLEARLY:].sum() / votes.n_votes),
        slices=tuple(name for name in votes.slices if name != PROMPT),
        features=tuple(votes.features),
    )  # fmt: skip


def roles_in_words(opened: Opened) -> dict[str, str]:
    """Return the column of each role, under the names of the options."""
    roles = {}
    for role, column in opened.roles.items():
        if role.startswith("prompt?"):
            continue
        name = role.removeprefix(SLICE).split(":")[
            0 if not role.startswith(FEATURE) else -1
        ]
        roles[name if name not in roles else f"{name} ({' '.join(words(column))})"] = (
            str(column)
        )
    return roles


def records(votes: Votes) -> tuple[Array, Array, Array]:
    """Return the wins, losses and ties of each competitor."""
    counts, n = votes.folded, votes.n_competitors
    first, second = counts[:, FIRST], counts[:, SECOND]
    won = np.bincount(votes.i, first, n) + np.bincount(votes.j, second, n)
    lost = np.bincount(votes.i, second, n) + np.bincount(votes.j, first, n)
    tied = np.bincount(votes.i, counts[:, TIE], n) + np.bincount(
        votes.j, counts[:, TIE], n
    )
    return won, lost, tied


def sides(votes: Votes) -> tuple[float, float]:
    """Return how many votes the first has won, and how many are decided."""
    counts = votes.folded
    return float(counts[:, FIRST].sum()), float(counts[:, [FIRST, SECOND]].sum())


def linked_groups(votes: Votes) -> tuple[tuple[str, ...], ...]:
    """Return the groups of competitors that votes link, the largest first."""
    group = np.arange(votes.n_competitors)
    while True:  # each takes the least number among those it met, until nothing changes
        least = group.copy()
        met = np.minimum(group[votes.i], group[votes.j])
        np.minimum.at(least, votes.i, met)
        np.minimum.at(least, votes.j, met)
        least = least[least]
        if (least == group).all():
            break
        group = least
    groups = [tuple(named(votes, group == number)) for number in np.unique(group)]
    return tuple(sorted(groups, key=len, reverse=True))


def named(votes: Votes, which: Array | Ints) -> list[str]:
    """Return the names of some competitors."""
    return [votes.competitors[k] for k in np.flatnonzero(which)]
