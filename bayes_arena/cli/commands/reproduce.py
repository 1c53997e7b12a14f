"""``reproduce``: the paper's tables and figures on any votes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayes_arena.cli.app import app, collected_warnings
from bayes_arena.cli.options import KEPT, OUTPUT, VOTES
from bayes_arena.errors import printable
from bayes_arena.text_table import print_aligned
from bayes_arena.votes.sizes import sizes

if TYPE_CHECKING:
    from bayes_arena.paper.reproduction import Material


TargetName = StrEnum("TargetName", ["table1", "table2", "fig1", "fig3", "fig4", "fig5", "fig6", "fig7", "all"])
"""Tables and figures of the paper."""


@app.command(rich_help_panel=KEPT)
def reproduce(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.", rich_help_panel=OUTPUT)],
    targets: Annotated[
        list[TargetName] | None,
        typer.Argument(
            metavar="TARGET", help=f"What to reproduce, one or several: {', '.join(TargetName)}. Default: all."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Votes with annotators; hf:OWNER/NAME for a data set on the Hugging Face hub, for instance "
            "hf:lmsys/chatbot_arena_conversations, the paper's. Without it: simulated votes of the size of the "
            "paper's Table 1.",
            show_default=False,
            rich_help_panel=VOTES,
        ),
    ] = None,
    delta: Annotated[
        int,
        typer.Option(
            min=0, help="Keep annotators with more than this many votes; the paper's filter.", rich_help_panel=VOTES
        ),
    ] = 50,
) -> None:
    """Reproduce the paper's tables and figures: numbers as CSV, pictures as PNG and PDF. Together they take minutes."""
    from bayes_arena.paper.reproduction import TARGETS, reproduce as write_target

    with collected_warnings():
        votes = _read(data, delta)
    size = sizes(votes.cells)
    name = "simulated twin of the paper's Table 1" if data is None else data
    print(
        f"{name}, annotators with more than {delta} votes: {size['n_votes']:,} votes, {size['n_competitors']} models, "
        f"{size['n_annotators']} annotators"
    )
    asked = targets or [TargetName.all]
    for chosen in TARGETS if TargetName.all in asked else dict.fromkeys(asked):
        with collected_warnings(one_of_a_kind=True):
            short, note, files = write_target(chosen, votes, output)
        lines = [f"{chosen}: {', '.join(map(str, files))}", *note.split("\n")]
        print("\n" + "\n".join(printable(line) for line in lines if line))
        print_aligned(short, "")


def _read(data: str | None, delta: int) -> Material:
    """Read the votes twice, summed and in order, or simulate them."""
    from bayes_arena.paper.reproduction import Material, twin
    from bayes_arena.votes.reading.read_votes import read_sequence, read_votes
    from bayes_arena.votes.selection import keep_annotators

    source: object = twin().votes if data is None else data
    return Material(
        keep_annotators(read_votes(source, prompt=False, time=False), more_than=delta),
        keep_annotators(read_sequence(source), more_than=delta),
    )
