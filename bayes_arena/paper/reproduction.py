"""The paper end to end: every table and figure from one set of votes, as numbers (CSV) and as the paper shows them.

======  ================================================================  ===========
table1  statistics of the votes                                           tables
table2  prediction of held-out votes                                      tables
fig1    Elo by the order of the votes, and by annotator                   case_study
fig3    scores and losses of each model                                   case_study
fig4    three models that the methods order differently                   case_study
fig5    loss and consistency at each epoch                                convergence
fig6    consistency with perturbed annotators, and what becomes of theta  perturbation
fig7    detection of perturbed annotators                                 perturbation
======  ================================================================  ===========

Figure 2 is a drawing of the method. The paper's numbers come from votes of Chatbot Arena; on other votes the protocol
is the same and the numbers differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bayes_arena.arrays import DataFrame
from bayes_arena.extras import require
from bayes_arena.likelihood.simulation import Arena, simulate
from bayes_arena.markup import markdown_table
from bayes_arena.paper import case_study, figures, summaries, tables
from bayes_arena.paper.convergence import EPOCHS, convergence
from bayes_arena.paper.perturbation import SHARES, abilities, detections, stability, suspects
from bayes_arena.paper.summaries import Short, Tables
from bayes_arena.replacing import typed_faults, write_figure, written_beside
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.selection import drop_annotators
from bayes_arena.votes.sequence import VoteSequence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 160


@dataclass(frozen=True, eq=False)
class Material:
    """The votes, summed and in order, and numbers of repetitions; with the defaults everything takes minutes.

    Attributes
    ----------
    cells, sequence : Cells and VoteSequence
        The same votes.
    splits, shuffles : int
        Random splits of Table 2, and orders (or resamples) that Elo is taken over, as many as in the paper.
    starts, epochs : int
        Random starts of Figure 5, as in the paper, and their epochs (by Adam, as in the authors' program).
    runs, shares : int, and tuple of float
        Perturbations of each kind and share in Figures 6 and 7, and shares of annotators perturbed.
    """

    cells: Cells
    sequence: VoteSequence
    splits: int = 10
    shuffles: int = tables.SHUFFLES
    starts: int = 5
    epochs: int = EPOCHS
    runs: int = 5
    shares: tuple[float, ...] = SHARES


@dataclass(frozen=True)
class Target:
    """A table or figure of the paper.

    ``compute`` makes tables of numbers from the votes, ``summarise`` a short one from that of the target's name,
    ``draw`` a picture of all (None for a table, which is written as Markdown), and ``note`` tells the reader about
    them.
    """

    compute: Callable[[Material], Tables]
    summarise: Callable[[DataFrame], Short]
    draw: Callable[..., Figure] | None = None
    note: Callable[[Tables], str] = lambda numbers: ""


def twin() -> Arena:
    """Return an arena of the size of the paper's Table 1; annotators differ in how they tie and prefer a side."""
    return simulate(tie_spread=0.8, position_spread=0.3, seed=2025)


def reproduce(target: str, votes: Material, folder: Path) -> tuple[Short, str, list[Path]]:
    """Compute a table or figure, one of ``TARGETS``, and write it into a folder.

    Return a short table of headings and formatted values, a note for the reader, and the files written: the numbers as
    ``.csv``, tables as ``.md``, figures as ``.png`` and ``.pdf``.
    """
    chosen = TARGETS[target]
    if chosen.draw is not None:
        require("Figures", "matplotlib")
    numbers = chosen.compute(votes)
    with typed_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in numbers.items():
        files.append(folder / f"{name}.csv")
        with written_beside(files[-1]) as draft:
            table.to_csv(draft, index=False)
    short = chosen.summarise(numbers[target])
    if chosen.draw is None:
        files.append(folder / f"{target}.md")
        with written_beside(files[-1]) as draft:
            draft.write_text(markdown_table(short), encoding="utf-8")
    else:
        picture = chosen.draw(*numbers.values())
        for suffix, details in (("png", {"Software": None}), ("pdf", {"CreationDate": None})):
            files.append(folder / f"{target}.{suffix}")
            write_figure(picture, files[-1], dpi=DPI, metadata=details)
    return short, chosen.note(numbers), files


def _figure6(votes: Material) -> Tables:
    table = stability(votes.cells, shares=votes.shares, seeds=range(votes.runs))
    means = _means(table, ["kind", "share", "method"], ["consistency", "warned"])
    return {"fig6": means, "fig6_theta": abilities(votes.cells, shares=votes.shares)}


def _figure7(votes: Material) -> Tables:
    out = suspects(votes.cells)
    cells = drop_annotators(votes.cells, out["annotator"])
    table = detections(cells, shares=votes.shares, seeds=range(votes.runs))
    means = _means(table, ["kind", "share", "rule"], ["f1", "precision", "recall"])
    return {"fig7": means, "fig7_left_out": out}


def _means(table: DataFrame, by: list[str], columns: list[str]) -> DataFrame:
    groups = table.groupby(by, sort=False)
    means = groups.size().rename("runs").to_frame()
    for column in columns:
        means[column], means[f"{column}_se"] = groups[column].mean(), groups[column].sem()
    return means.reset_index()


TARGETS: Mapping[str, Target] = {
    "table1": Target(lambda of: {"table1": tables.table1(of.cells)}, summaries.table1),
    "table2": Target(
        lambda of: {"table2": tables.table2(of.cells, splits=of.splits, shuffles=of.shuffles)},
        summaries.table2,
        note=summaries.note_table2,
    ),
    "fig1": Target(
        lambda of: {"fig1": case_study.figure1(of.sequence, shuffles=of.shuffles)},
        summaries.figure1,
        figures.figure1,
        summaries.note_figure1,
    ),
    "fig3": Target(
        lambda of: {"fig3": case_study.figure3(of.cells, shuffles=of.shuffles)},
        summaries.figure3,
        figures.figure3,
        lambda numbers: summaries.NOTE_FIGURE3,
    ),
    "fig4": Target(
        lambda of: {"fig4": case_study.figure4(case_study.figure3(of.cells, shuffles=of.shuffles), of.cells)},
        summaries.figure4,
        figures.figure4,
        summaries.note_figure4,
    ),
    "fig5": Target(
        lambda of: {"fig5": convergence(of.cells, starts=of.starts, epochs=of.epochs)},
        summaries.figure5,
        figures.figure5,
        lambda numbers: summaries.NOTE_FIGURE5,
    ),
    "fig6": Target(_figure6, summaries.figure6, figures.figure6, summaries.note_figure6),
    "fig7": Target(_figure7, summaries.figure7, lambda table, _: figures.figure7(table), summaries.note_figure7),
}
