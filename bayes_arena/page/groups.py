"""The two groups of annotators on the page: who they are, and what they prefer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayes_arena.people.groups import FOUND_HERE, Groups
from bayes_arena.tables import Columns, Row, records

EACH_END = 8  # competitors shown at either end, where there are more
MOST_MEMBERS = 20  # that are named


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Two groups of annotators, and how differently they see the competitors.

    Attributes
    ----------
    sentence, caution : str
    members : tuple of str
        The smaller group.
    n_others : int
        Size of the larger one.
    rows : list of dict
        competitor, gap (by how many Elo the smaller group ranks it higher than the larger
        one does), lower and upper; the largest first.
    n_left_out : int
        Competitors between these.
    """

    sentence: str
    caution: str
    members: tuple[str, ...]
    n_others: int
    rows: list[Row]
    n_left_out: int

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of all intervals, with 0 between them."""
        low = min(row["lower"] for row in self.rows)
        high = max(row["upper"] for row in self.rows)
        return min(low, 0.0), max(high, 0.0)

    @property
    def named(self) -> Sequence[str]:
        """The first members, and how many there are more."""
        n_more = len(self.members) - MOST_MEMBERS
        more = [f"{n_more:,} more"] if n_more > 0 else []
        return [*self.members[:MOST_MEMBERS], *more]


def two_groups(groups: Groups, sentence: str, gaps: Columns) -> TwoGroups:
    """Return what the page shows of two groups and of the gaps between their boards."""
    rows = records(gaps)
    n_left_out = max(len(rows) - 2 * EACH_END, 0)
    if n_left_out:
        rows = rows[:EACH_END] + rows[-EACH_END:]
    return TwoGroups(
        sentence=sentence,
        caution=FOUND_HERE,
        members=groups.members,
        n_others=len(groups.columns["annotator"]) - len(groups.members),
        rows=rows,
        n_left_out=n_left_out,
    )
