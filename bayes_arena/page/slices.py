"""Categories on the page: a matrix of competitors by level of a slice, and a board each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bayes_arena.boards.elo import EloScale
from bayes_arena.boards.leaderboard import leaderboard_columns
from bayes_arena.boards.standing import Standing
from bayes_arena.boards.verdict import probability, the_best
from bayes_arena.page.board import axis_ends, board_rows
from bayes_arena.tables import Columns, Row, records

LIKELY = 0.95  # probability of a difference from which the likeliest is named


@dataclass(frozen=True, eq=False)
class LevelBoard:
    """The board of a level of a slice.

    Attributes
    ----------
    name : str
    n_votes : float
    sentence : str
        Who is the best there.
    rows : dict of str to dict
        By competitor, the best first: the board, and ``mark``, "more" or "less" for who
        surely is stronger or weaker there than over all votes.
    """

    name: str
    n_votes: float
    sentence: str
    rows: dict[str, Row]


@dataclass(frozen=True, eq=False)
class Sliced:
    """A slice, the boards of its levels, and the likeliest gap, a sentence."""

    by: str
    boards: list[LevelBoard]
    likeliest: str

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the intervals of all boards, which have one axis."""
        return axis_ends([row for board in self.boards for row in board.rows.values()])

    @property
    def has_marks(self) -> bool:
        """Whether anybody surely is stronger or weaker anywhere."""
        rows = (row for board in self.boards for row in board.rows.values())
        return any(row["mark"] for row in rows)


def sliced(
    by: str, standings: Mapping[str, Standing], gaps: Columns, elo: EloScale
) -> Sliced:
    """Return what the page shows of a slice.

    Parameters
    ----------
    by : str
    standings : mapping of str to Standing
        By level.
    gaps : columns
        Of :func:`~bayes_arena.slice_gaps`.
    elo : EloScale
    """
    marks = {}
    for row in records(gaps):
        if row["flagged"]:
            marks[row[by], row["competitor"]] = "more" if row["gap"] > 0 else "less"
    boards = []
    for name, standing in standings.items():
        rows = {}
        for row in board_rows(leaderboard_columns(standing, elo=elo), ()):
            competitor = row["competitor"]
            rows[competitor] = row | {"mark": marks.get((name, competitor), "")}
        votes = standing.votes.n_votes
        boards.append(LevelBoard(name, votes, the_best(standing), rows))
    return Sliced(by, boards, likeliest_gap(by, gaps))


def likeliest_gap(by: str, gaps: Columns) -> str:
    """Say whose gap to all votes is the likeliest one; nothing where none is likely."""
    rows = records(gaps)
    if not rows:
        return ""
    row = max(rows, key=lambda row: abs(row["p_above"] - 0.5))
    p = max(row["p_above"], 1 - row["p_above"])
    if p < LIKELY:
        return ""
    way = "stronger" if row["gap"] > 0 else "weaker"
    return (
        f"The likeliest of {len(rows):,} differences: {row['competitor']} is "
        f"{abs(row['gap']):.0f} Elo {way} in {row[by]} ({probability(p)} taken alone)."
    )
