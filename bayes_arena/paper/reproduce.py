"""``reproduce``: tables and figures of the paper, from any votes.

======  ===============================================================================
table1  statistics of the votes
table2  prediction of votes that were left out
fig1    Elo by the order of the votes, and by annotator
fig3    scores and losses of the methods
fig4    three models that the methods order differently
fig5    loss and consistency at each epoch of gradient descent
fig6    rankings with perturbed annotators, and what becomes of their theta
fig7    detection of perturbed annotators
======  ===============================================================================

Figure 2 is a drawing of the method.  The paper's votes are those of Chatbot Arena; on
other votes the protocol is the same and the numbers differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from bayes_arena.errors import ModelError
from bayes_arena.paper import figures, tables
from bayes_arena.paper.descent import EPOCHS
from bayes_arena.paper.methods import SHUFFLES
from bayes_arena.paper.summaries import SUMMARIES, note_of
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

TARGETS = tuple(SUMMARIES)
SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45)  # of the annotators
DELTA = 50  # annotators with this many votes or fewer are left out (section 5.1)


@dataclass(frozen=True)
class Effort:
    """Numbers of repetitions; the defaults are the paper's where it names one."""

    splits: int = 10
    shuffles: int = SHUFFLES
    epochs: int = EPOCHS
    shares: tuple[float, ...] = SHARES
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)


@dataclass(frozen=True, eq=False)
class Reproduction:
    """A table or figure of the paper.

    Attributes
    ----------
    name : str
        "table1", "table2", "fig1", "fig3", ..., "fig7".
    votes : Votes
        Of annotators with enough votes.
    tables : dict of str to dataframe
        All numbers, by name.
    summary : dict of str to list
        A few rows for a screen: ours, and where the paper prints numbers, the paper's.
    note : str
        What the numbers are, and how the votes differ from the paper's.

    Methods
    -------
    draw
    """

    name: str
    votes: Votes
    tables: Mapping[str, pd.DataFrame]
    summary: Columns
    note: str

    def draw(self) -> Figure:
        """Return a picture of a figure, by matplotlib.

        Raises
        ------
        ModelError
            If it is a table.
        MissingPackageError
            If matplotlib is not installed.
        """
        from bayes_arena.paper.drawing import drawn_target

        return drawn_target(self.name, self.tables)

    def __str__(self) -> str:
        """Return the summary and the note as text."""
        table = dataframe(self.summary).to_string(index=False)
        return f"{table}\n{self.note}".rstrip()


def reproduce(
    name: str,
    votes: object,
    *,
    delta: float = DELTA,
    effort: Effort | None = None,
    **columns: Unpack[ReadOptions],
) -> Reproduction:
    """Compute a table or figure of the paper from any votes.

    Each takes less than two minutes on 7,393 votes, and shows its progress.

    Parameters
    ----------
    name : {"table1", "table2", "fig1", "fig3", "fig4", "fig5", "fig6", "fig7"}
    votes : Votes, path, dataframe or list of records
        What :func:`~bayes_arena.read_votes` reads, or has read; with annotators.
    delta : float
        Annotators with this many votes or fewer are left out.
    effort : Effort, optional
        Numbers of repetitions.
    **columns
        Options of :func:`~bayes_arena.read_votes`, where votes are still to be read.

    Returns
    -------
    Reproduction

    Raises
    ------
    ModelError
        If there is no such table or figure.
    VotesError
        If the votes have no annotators, or none with enough votes.
    FitError
        If a method has no finite estimate.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> print(ba.paper.reproduce("table1", ba.example_arena().votes))
               statistic   ours  paper
              annotators     42     42
                  models     20     20
                   votes   4321   4321
     votes per annotator 102.88 102.88
         votes per model 216.05 216.05
    votes per model pair  22.74  22.74
    """
    if name not in TARGETS:
        raise ModelError(
            f"{name!r} is none of the tables and figures that are computed from votes: "
            f"{', '.join(TARGETS)}."
        )
    votes = votes_from(votes, **columns)
    votes.require_annotators()
    votes = votes.keep(more_than=delta).collapse(annotators=True)
    numbers = {}
    for table, of_table in compute(name, votes, effort or Effort()).items():
        numbers[table] = dataframe(of_table)
    summary = SUMMARIES[name](numbers[name])
    return Reproduction(name, votes, numbers, summary, note_of(name, numbers))


def compute(name: str, votes: Votes, effort: Effort) -> dict[str, Columns]:
    """Return the numbers of a table or figure, by table."""
    shares = effort.shares
    seeds = effort.seeds
    match name:
        case "table1":
            return {name: tables.statistic_columns(votes)}
        case "table2":
            splits = effort.splits
            return {name: tables.prediction_columns(votes, splits, effort.shuffles)}
        case "fig1":
            return {name: figures.order_columns(votes, effort.shuffles)}
        case "fig3":
            return {name: figures.loss_columns(votes, effort.shuffles)}
        case "fig4":
            return {name: figures.case_columns(votes, effort.shuffles)}
        case "fig5":
            return {name: figures.descent_columns(votes, effort.epochs)}
        case "fig6":
            stable, theta = figures.stability_columns(votes, shares, seeds)
            return {name: stable, "fig6_theta": theta}
        case "fig7":
            # Who is anomalous to begin with would count as a false alarm when found.
            anomalous = figures.suspects(votes)
            rest = votes.drop(annotators=anomalous)
            detected = figures.detection_columns(rest, shares, seeds)
            return {name: detected, "fig7_left_out": {"annotator": list(anomalous)}}
    raise ValueError(f"Nothing computes {name!r}.")
