"""The options that the commands share, each declared once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayes_arena.cli.output import Format


class ModelName(StrEnum):
    """Models."""

    bradley_terry = "bradley-terry"
    m_elo = "m-elo"
    am_elo = "am-elo"
    am_davidson = "am-davidson"


class TiesName(StrEnum):
    """Treatments of ties."""

    half = "half"
    davidson = "davidson"
    rao_kupper = "rao-kupper"
    drop = "drop"


class MethodName(StrEnum):
    """Routes to a result."""

    map = "map"
    marginal = "marginal"
    nuts = "nuts"


class PriorName(StrEnum):
    """Priors."""

    flat = "flat"
    default = "default"


class IntervalMethod(StrEnum):
    """Kinds of interval."""

    laplace = "laplace"
    profile = "profile"
    sandwich = "sandwich"
    clustered = "clustered"
    bootstrap = "bootstrap"


class OnInvalid(StrEnum):
    """What happens to invalid votes."""

    error = "raise"
    drop = "drop"


VOTES, MODEL, SCALE, OUTPUT = "Votes", "Model", "Scale", "Output"
Files = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        help="Votes as CSV, Parquet or JSONL, or hf:OWNER/NAME, a data set on the Hugging Face hub. "
        "Without a file: a built-in simulated example arena.",
        show_default=False,
    ),
]
ColumnA = Annotated[str | None, typer.Option("--a", help="Column of the first competitor.", rich_help_panel=VOTES)]
ColumnB = Annotated[str | None, typer.Option("--b", help="Column of the second competitor.", rich_help_panel=VOTES)]
Winner = Annotated[str | None, typer.Option(help="Column of the winner.", rich_help_panel=VOTES)]
Annotator = Annotated[str | None, typer.Option(help="Column of the annotator.", rich_help_panel=VOTES)]
NoAnnotator = Annotated[bool, typer.Option("--no-annotator", help="Ignore who voted.", rich_help_panel=VOTES)]
Weight = Annotated[str | None, typer.Option(help="Column of weights.", rich_help_panel=VOTES)]
Outcome = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=OUTCOME",
        help="What a further winner label means: model_a, model_b, tie or both_bad. Repeatable.",
        rich_help_panel=VOTES,
    ),
]
Invalid = Annotated[
    OnInvalid,
    typer.Option("--on-invalid", help="Stop at invalid votes, or drop them.", rich_help_panel=VOTES),
]
Dedupe = Annotated[
    bool,
    typer.Option(
        "--dedupe",
        help="Leave out repeats: files of the same content, and rows that are equal in every column.",
        rich_help_panel=VOTES,
    ),
]
NormaliseNames = Annotated[
    bool,
    typer.Option(
        "--normalise-names",
        help="Take names for the same that differ in outer spaces or in their Unicode form (NFC).",
        rich_help_panel=VOTES,
    ),
]
Delta = Annotated[
    int | None,
    typer.Option(min=0, help="Keep annotators with more than this many votes.", rich_help_panel=VOTES),
]
ModelOption = Annotated[
    ModelName | None,
    typer.Option(
        help="Default: am-davidson where annotators are known (am-elo if the prior is flat), else bradley-terry.",
        rich_help_panel=MODEL,
    ),
]
MethodOption = Annotated[
    MethodName | None,
    typer.Option(
        help="map: posterior mode at fixed spreads. marginal: spreads estimated (default where annotators are pooled). "
        "nuts: the whole posterior, sampled.",
        rich_help_panel=MODEL,
    ),
]
TiesOption = Annotated[
    TiesName | None,
    typer.Option(help="Treat ties alike in all models, so that they can be compared.", rich_help_panel=MODEL),
]
Seed = Annotated[int, typer.Option(help="Seed of nuts and the bootstrap.", rich_help_panel=MODEL)]
PriorOption = Annotated[
    PriorName,
    typer.Option(help="flat: the paper's maximum likelihood. default: weak Gaussian.", rich_help_panel=MODEL),
]
SigmaStrength = Annotated[
    float | None,
    typer.Option(help="Prior sd of strengths, in logits.", rich_help_panel=MODEL, show_default=False),
]
SigmaDiscrimination = Annotated[
    float | None, typer.Option(help="Prior sd of theta around 1.", rich_help_panel=MODEL, show_default=False)
]
Level = Annotated[float, typer.Option("--interval", help="Coverage of the intervals.", rich_help_panel=MODEL)]
Method = Annotated[
    IntervalMethod,
    typer.Option(
        "--interval-method",
        help="profile: profile likelihood, theta = 1 only. With --method map also sandwich: votes vary as they do, not "
        "as the likelihood says. clustered: the same by annotator; for prompts name their column as --annotator and "
        "take --model bradley-terry. bootstrap: refits to resampled votes.",
        rich_help_panel=MODEL,
    ),
]
Resamples = Annotated[int, typer.Option(min=2, help="Refits of the bootstrap.", rich_help_panel=MODEL)]
Fdr = Annotated[
    float | None,
    typer.Option(help="Flag annotators at this Bayesian false discovery rate, 0.05 say.", rich_help_panel=MODEL),
]
Init = Annotated[float, typer.Option(help="Mean score.", rich_help_panel=SCALE)]
Scale = Annotated[float, typer.Option(help="Points that mean odds of BASE to 1.", rich_help_panel=SCALE)]
Base = Annotated[float, typer.Option(help="Odds that SCALE points stand for.", rich_help_panel=SCALE)]
Anchor = Annotated[
    str | None,
    typer.Option(metavar="NAME=SCORE", help="Shift all scores so that NAME has SCORE.", rich_help_panel=SCALE),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="Default: by the name of the output file, else table. safe-csv: CSV in which an apostrophe stands before "
        "text that begins with = + - @, so that no spreadsheet takes a name for a formula.",
        rich_help_panel=OUTPUT,
    ),
]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="File to write.", rich_help_panel=OUTPUT)]
