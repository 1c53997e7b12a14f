"""A few rows of each table and figure, the paper's printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.paper.figures import ALL_VOTES, PAPER_CASE
from bayes_arena.paper.measures import consistency
from bayes_arena.paper.perturb import KINDS
from bayes_arena.tables import Columns

if TYPE_CHECKING:
    import pandas as pd

ROWS = 10
LARGEST_SHARE = (
    0.35  # above it no method can tell which half of the annotators is right
)
# Table 1, in the order of our statistics.
PAPER_STATISTICS = (42, 20, 4321, 102.88, 216.05, 22.74)
# Table 2: MSE and AUC, each with the error that the paper prints.
PAPER_PREDICTION = {
    "elo": ("0.1238 ± 0.0031", "0.7492 ± 0.0068"),
    "m-elo": ("0.1234 ± 0.0029", "0.7503 ± 0.0066"),
    "am-elo": ("0.1208 ± 0.0034", "0.7581 ± 0.0067"),
}
# Figure 4: how often the model of a row beat that of a column.
PAPER_WINS = (
    ("Better", 0, 207, 148, 28, 0),
    ("koala-13b", 46, 0, 10, 5, 147),
    ("vicuna-7b", 46, 9, 0, 2, 66),
    ("gpt-13b", 11, 0, 0, 0, 13),
    ("Worse", 0, 60, 42, 11, 0),
)
# Figure 5: where the consistency of five rankings ends; the text gives .4.
PAPER_CONSISTENCY = {
    "m-elo": "1",
    "am-elo": "1",
    "am-elo without normalisation": "0.4",
}
PAPER_RATIO = "0.30"  # inconsistency of am-ELO to that of m-ELO (section 5.5)
PAPER_F1 = {"theta <= 0": "0.90", "theta <= 0.005": "0.95"}  # section 5.5

NOTES = {
    "table2": (
        "Means over random splits 80/20, with errors corrected for what splits share; "
        "the paper does not define its errors. AUC ranks a tie between win and loss."
    ),
    "fig1": (
        "Elo over random orders of all votes, and how far apart single annotators' "
        "votes put a model. The paper prints no numbers."
    ),
    "fig3": (
        "Loss of the expected score on the fitted votes. The paper prints no numbers; "
        "in its text m-elo's loss is near elo's and am-elo's well below."
    ),
    "fig5": (
        "Descents by Adam at learning rate 0.1, as in the authors' program, from five "
        "starts; the text says gradient descent. Adam may end above the least loss, "
        "which is that of fig3. Two of five rankings one way and three the other have "
        "consistency 0.4."
    ),
    "fig6": (
        f"Means over shares up to {LARGEST_SHARE:.0%} of the annotators; in brackets "
        "the inconsistency as a ratio to m-elo's. The paper's is for all but equal."
    ),
}


def table1(table: pd.DataFrame) -> Columns:
    """Return the statistics beside the paper's."""
    ours = [f"{value:.2f}".removesuffix(".00") for value in table["value"]]
    paper = [str(value) for value in PAPER_STATISTICS]
    return {"statistic": table["statistic"].tolist(), "ours": ours, "paper": paper}


def table2(table: pd.DataFrame) -> Columns:
    """Return MSE and AUC beside the paper's, and the differences from m-ELO."""
    methods = table["method"].tolist()
    summary: dict[str, Any] = {"method": methods}
    for position, name in enumerate(("mse", "auc")):
        title = name.upper()
        paper = [PAPER_PREDICTION.get(method, ("", ""))[position] for method in methods]
        summary[title] = plus_minus(table[name], table[f"{name}_se"])
        summary[f"{title}, paper"] = paper
        difference = table[f"{name}_diff"]
        summary[f"{title} less m-elo's"] = plus_minus(
            difference, table[f"{name}_diff_se"]
        )
    return summary


def fig1(table: pd.DataFrame) -> Columns:
    """Return the best by shuffled Elo, and the range of single annotators."""
    best = table[table["source"] == ALL_VOTES].head(ROWS)
    single = table[table["source"] != ALL_VOTES].groupby("competitor")["elo"]
    names = best["competitor"].tolist()
    return {
        "competitor": names,
        "Elo": fixed(best["elo"], 1),
        "sd over orders": fixed(best["sd"], 1),
        "min": fixed(best["min"], 1),
        "max": fixed(best["max"], 1),
        "lowest annotator": fixed(single.min().loc[names], 1),
        "highest annotator": fixed(single.max().loc[names], 1),
    }


def fig3(table: pd.DataFrame) -> Columns:
    """Return the mean loss of each method, and how much its ranking is that of Elo."""
    methods = list(table["method"].unique())
    elo = table[table["method"] == "elo"]["strength"].to_numpy()
    loss = []
    alike = []
    for name in methods:
        part = table[table["method"] == name]
        loss.append(np.average(part["loss"], weights=part["votes"]))
        alike.append(consistency(part["strength"].to_numpy(), elo))
    return {
        "method": methods,
        "loss per vote": fixed(loss, 4),
        "pairs ordered as by elo": fixed(alike, 3),
    }


def fig4(table: pd.DataFrame) -> Columns:
    """Return who beat whom, above the paper's numbers."""
    names = table["winner"].tolist()
    summary: dict[str, Any] = {
        "votes": ["these"] * len(names) + ["paper"] * len(PAPER_WINS),
        "winner": names + [row[0] for row in PAPER_WINS],
    }
    losers = ("over Better", "over first", "over second", "over third", "over Worse")
    for position, title in enumerate(losers):
        ours = table[f"over {names[position]}"].tolist()
        summary[title] = ours + [row[position + 1] for row in PAPER_WINS]
    return summary


def fig5(table: pd.DataFrame) -> Columns:
    """Return where each descent ends."""
    last = table.groupby("method", sort=False).last()
    methods = list(last.index)
    return {
        "method": methods,
        "epochs": last["epoch"].tolist(),
        "loss per vote": fixed(last["loss"], 6),
        "consistency": fixed(last["consistency"], 3),
        "consistency, paper": [PAPER_CONSISTENCY.get(name, "") for name in methods],
    }


def fig6(table: pd.DataFrame) -> Columns:
    """Return mean consistency, and inconsistency as a ratio to that of m-ELO."""
    # Shares are decimal fractions: the largest may be above its number by rounding.
    table = table[table["share"] <= LARGEST_SHARE + 1e-9]
    methods = list(table["method"].unique())
    summary: dict[str, Any] = {"method": methods}
    for kind in table["kind"].unique():
        part = table[table["kind"] == kind]
        mean = part.groupby("method")["consistency"].mean()
        # Where m-ELO is quite consistent, the ratio is enormous rather than undefined.
        ratio = (1 - mean) / max(1 - mean["m-elo"], 1e-12)
        cells = []
        for name in methods:
            cells.append(f"{mean[name]:.3f} ({ratio[name]:.2f})")
        summary[kind] = cells
    paper = [PAPER_RATIO if name == "am-elo" else "" for name in methods]
    return {**summary, "ratio, paper": paper}


def fig7(table: pd.DataFrame) -> Columns:
    """Return the mean F1 of each rule, by kind of perturbation and over all."""
    rules = list(table["rule"].unique())
    summary: dict[str, Any] = {"rule": rules}
    for kind in KINDS:
        mean = table[table["kind"] == kind].groupby("rule")["f1"].mean()
        summary[f"F1, {kind}"] = fixed(mean.loc[rules], 3)
    titles = {"f1": "F1", "precision": "precision", "recall": "recall"}
    for score, title in titles.items():
        mean = table.groupby("rule")[score].mean()
        summary[f"{title}, all"] = fixed(mean.loc[rules], 3)
    return {**summary, "F1, paper": [PAPER_F1[rule] for rule in rules]}


SUMMARIES: Mapping[str, Callable[[pd.DataFrame], Columns]] = {
    "table1": table1,
    "table2": table2,
    "fig1": fig1,
    "fig3": fig3,
    "fig4": fig4,
    "fig5": fig5,
    "fig6": fig6,
    "fig7": fig7,
}


def note_of(name: str, numbers: Mapping[str, pd.DataFrame]) -> str:
    """Say what the numbers of a table or figure are."""
    table = numbers[name]
    match name:
        case "fig4":
            return which_models(table["winner"].tolist()[1:4])
        case "fig6":
            return NOTES[name] + missing_fits(table, "method")
        case "fig7":
            names = ", ".join(numbers["fig7_left_out"]["annotator"]) or "nobody"
            note = f"Left out, as theta is low before any perturbation: {names}."
            return note + missing_fits(table, "rule")
    return NOTES.get(name, "")


def which_models(three: list[str]) -> str:
    """Say which models Figure 4 is about."""
    if set(three) == set(PAPER_CASE):
        return "The paper's three models; gpt-13b is gpt4all-13b-snoozy."
    return (
        f"Not the paper's votes: {', '.join(three)} follow one another in Elo's "
        "ranking; no three such models have more pairs that met, nor of these more that "
        "am-elo turns round."
    )


def missing_fits(table: pd.DataFrame, by: str) -> str:
    """Say how many fits had no finite estimate, after a space; or nothing."""
    count = table.groupby(by).size()
    fewer = count[count < count.max()]
    if not len(fewer):
        return ""
    missing = [f"{count.max() - n} of {name}" for name, n in fewer.items()]
    return f" Without a finite estimate, and left out: {', '.join(missing)}."


def plus_minus(values: Any, errors: Any) -> list[str]:
    """Return values with their errors as text."""
    pairs = zip(values, errors, strict=True)
    return [f"{value:.4f} ± {error:.4f}" for value, error in pairs]


def fixed(values: Any, digits: int) -> list[str]:
    """Return numbers as text."""
    return [f"{value:.{digits}f}" for value in values]
