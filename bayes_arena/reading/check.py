"""What votes can tell: what was read and left out, who met whom, sides and prompts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Unpack

import numpy as np

from bayes_arena.arrays import Array
from bayes_arena.errors import listing, plural
from bayes_arena.reading.opening import Opened
from bayes_arena.reading.options import ReadOptions, options_from
from bayes_arena.reading.read import read
from bayes_arena.reading.roles import SINGLE
from bayes_arena.said import PYTHON, Call, Note, Surface, sentence
from bayes_arena.votes.components import components
from bayes_arena.votes.votes import (
    FIRST,
    FIRST_CLEARLY,
    MIN_VOTES,
    PROMPT,
    SECOND,
    TIE,
    Votes,
    kish,
    sums,
)


@dataclass(frozen=True)
class Check:
    """What votes can tell; prints as lines, and ``as_dict`` is plain JSON.

    Attributes
    ----------
    n_votes : float
    n_competitors, n_annotators, n_prompts : int
        0 annotators or prompts where they are unknown.
    effective_prompts : float
        Kish's number: so many prompts, with equal numbers of votes, would say as much.
    layout : str or None
        How the votes were written down; None if they were read before.
    columns : dict of str to str
        The column of each role.
    how : dict of str to str
        Why a column was taken for a competitor's or the result, where values decided.
    dropped : dict of str to int
        Votes left out, by reason.
    remarks : list of Note
        What reading noticed.
    groups : list of list of str
        Competitors that are linked by votes, the largest group first.
    never_lost, never_won : list of str
        Competitors without a finite estimate under a flat prior; ties count as both.
    n_pairs, n_possible_pairs : int
        Pairs that met, and pairs that there are.
    least_votes, median_votes : float
        Of a competitor.
    annotators_with_few : int
        Annotators with fewer than ten votes.
    first_wins, first_wins_z : float or None
        Share of the decided votes won by who was shown first, and its distance from one
        half in standard errors; None if sides are unknown, or tell no more than the pairs.
    ties, clear_wins : float
        Shares of the votes.
    slices, features : list of str

    Methods
    -------
    as_dict
    """

    n_votes: float
    n_competitors: int
    n_annotators: int
    n_prompts: int
    effective_prompts: float
    layout: str | None
    columns: dict[str, str]
    how: dict[str, str]
    dropped: dict[str, int]
    remarks: list[Note]
    groups: list[list[str]]
    never_lost: list[str]
    never_won: list[str]
    n_pairs: int
    n_possible_pairs: int
    least_votes: float
    median_votes: float
    annotators_with_few: int
    first_wins: float | None
    first_wins_z: float | None
    ties: float
    clear_wins: float
    slices: list[str]
    features: list[str]

    def as_dict(self, surface: Surface = PYTHON) -> dict[str, Any]:
        """Return everything as numbers, texts, lists and dicts."""
        remarks = [note.row(surface) for note in self.remarks]
        return asdict(replace(self, remarks=[])) | {"remarks": remarks}

    def __str__(self) -> str:
        """Return a line for each thing found, in the words of Python."""
        return self.spelled(PYTHON)

    def spelled(self, surface: Surface) -> str:
        """Return a line for each thing found, in the words of a surface."""
        lines = [*reading_lines(self), *graph_lines(self)]
        lines += voter_lines(self, surface)
        lines += [("remark", note.spelled(surface)) for note in self.remarks]
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def check(source: object, **columns: Unpack[ReadOptions]) -> Check:
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
    return check_of(*read(source, options_from(columns), most_searched=math.inf))


def check_of(votes: Votes, opened: Opened | None) -> Check:
    """Return what votes can tell."""
    won, lost, tied = wins_losses_ties(votes)
    cast, n = votes.votes_by_competitor, votes.n_competitors
    few = votes.votes_by_annotator < MIN_VOTES if votes.annotators else np.zeros(0)
    prompts = votes.votes_by_level(PROMPT) if PROMPT in votes.slices else np.zeros(0)
    first, second, ties = votes.folded.sum(axis=0)
    both_ways = np.intersect1d(votes.i * n + votes.j, votes.j * n + votes.i).size > 0
    is_known = votes.sided and both_ways and first + second > 0
    z = (first - second) / math.sqrt(first + second) if is_known else None
    clear = votes.counts[:, FIRST_CLEARLY:].sum()
    return Check(
        n_votes=votes.n_votes,
        n_competitors=n,
        n_annotators=votes.n_annotators,
        n_prompts=len(prompts),
        effective_prompts=kish(prompts),
        layout=None if opened is None else opened.layout.name,
        columns={} if opened is None else columns_by_role(opened),
        how={} if opened is None else dict(opened.roles.how),
        dropped=dict(votes.dropped),
        remarks=list(votes.remarks),
        groups=linked_groups(votes),
        never_lost=names_where(votes, lost + tied == 0),
        never_won=names_where(votes, won + tied == 0),
        n_pairs=len(np.unique(votes.pair_code)),
        n_possible_pairs=n * (n - 1) // 2,
        least_votes=float(cast.min()),
        median_votes=float(np.median(cast)),
        annotators_with_few=int(few.sum()),
        first_wins=float(first / (first + second)) if is_known else None,
        first_wins_z=z,
        ties=float(ties / votes.counts.sum()),
        clear_wins=float(clear / votes.counts.sum()),
        slices=[name for name in votes.slices if name != PROMPT],
        features=list(votes.features),
    )


def columns_by_role(opened: Opened) -> dict[str, str]:
    """Return the columns in use by role."""
    roles = opened.roles
    columns = {role: getattr(roles, role) for role in SINGLE}
    for part in (roles.results, roles.fields, roles.each, roles.slices):
        columns.update(part)
    columns |= {name: ", ".join(parts) for name, parts in roles.features.items()}
    return {role: str(c) for role, c in columns.items() if c is not None}


def wins_losses_ties(votes: Votes) -> tuple[Array, Array, Array]:
    """Return the wins, losses and ties of each competitor."""
    counts, n = votes.folded, votes.n_competitors
    as_first = [sums(votes.i, column, n) for column in counts.T]
    as_second = [sums(votes.j, column, n) for column in counts.T]
    won = as_first[FIRST] + as_second[SECOND]
    lost = as_first[SECOND] + as_second[FIRST]
    return won, lost, as_first[TIE] + as_second[TIE]


def linked_groups(votes: Votes) -> list[list[str]]:
    """Return the groups of competitors that votes link, the largest first."""
    group = components(votes)
    groups = [names_where(votes, group == number) for number in np.unique(group)]
    return sorted(groups, key=len, reverse=True)


def names_where(votes: Votes, which: Array) -> list[str]:
    """Return the names of some competitors."""
    return [votes.competitors[k] for k in np.flatnonzero(which)]


def reading_lines(summary: Check) -> Iterator[tuple[str, str]]:
    """Yield lines on what was read and left out."""
    n = summary.n_annotators
    by = f" by {plural(n, 'annotator')}" if n else ""
    yield (
        "votes",
        f"{summary.n_votes:,.12g} on {summary.n_competitors:,} competitors{by}",
    )
    if summary.layout is not None:
        roles = ", ".join(
            f"{column} is {role}" for role, column in summary.columns.items()
        )
        yield "read as", f"{summary.layout}: {roles}"
    for column, reason in summary.how.items():
        yield "found", f"{column!r}: {reason}"
    yield "slices", listing(summary.slices) or "none"
    yield "features", listing(summary.features) or "none"


def graph_lines(summary: Check) -> Iterator[tuple[str, str]]:
    """Yield lines on who met whom, and who has a finite estimate."""
    yield "pairs", f"{summary.n_pairs:,} of {summary.n_possible_pairs:,} met"
    apart = [name for group in summary.groups[1:] for name in group]
    text = f"{len(summary.groups)} groups that never met; apart from the largest: "
    yield "linked", text + listing(apart) if apart else "all competitors, by votes"
    yield "never lost", listing(summary.never_lost) or "nobody"
    yield "never won", listing(summary.never_won) or "nobody"
    least, median = summary.least_votes, summary.median_votes
    yield "votes each", f"{least:,.12g} at least, {median:,.12g} in the median"


def voter_lines(summary: Check, surface: Surface) -> Iterator[tuple[str, str]]:
    """Yield lines on annotators, prompts, sides, ties and grades."""
    few = f", {summary.annotators_with_few:,} with fewer than {MIN_VOTES} votes"
    text = f"{summary.n_annotators:,}{few if summary.annotators_with_few else ''}"
    yield "annotators", text if summary.n_annotators else "unknown"
    worth = f"worth {summary.effective_prompts:,.1f} with equal numbers of votes"
    text = f"{summary.n_prompts:,}, {worth}"
    yield "prompts", text if summary.n_prompts else "unknown"
    if summary.first_wins is None or summary.first_wins_z is None:
        yield "sides", "unknown, or no pair was shown both ways"
    else:
        text = f"the first wins {summary.first_wins:.1%} of the decided votes"
        yield "sides", f"{text} (z {summary.first_wins_z:+.1f})"
    yield "ties", f"{summary.ties:.1%}"
    if summary.clear_wins:
        uses = ("; ", Call("Model", grades=True), " uses them")
        said = (f"{summary.clear_wins:.1%} clear wins", uses)
        yield "grades", sentence(said, surface=surface)
