"""Short versions of each table and figure: headings and formatted values, a few rows each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from bayes_arena.arrays import DataFrame
from bayes_arena.markup import percent
from bayes_arena.paper.case_study import PAPERS_CASE, RANGE, SHUFFLED
from bayes_arena.paper.measures import consistency
from bayes_arena.paper.tables import ERRORS, WITHIN

Short = dict[str, list[str]]
"""Heading to values as people read them."""
Tables = dict[str, DataFrame]
"""Numbers, by the name of their file."""
ROWS = 10
CHANCE = 1 - (RANGE[1] - RANGE[0])
FEW = 10
"""Decided votes between two models below which a majority of all but two is not significant (7 of 9: p = .18)."""
LARGEST_SHARE = 0.35
"""Larger shares of perturbed annotators are near one half, where no method can tell which half is right."""
NAMES = {"mse": "MSE", "auc": "AUC", "auc_ties": "AUC with ties", "log_score": "log score"}
PAPER = {
    "elo, paper": {"mse": (0.1238, 0.0031), "auc_ties": (0.7492, 0.0068)},
    "m-elo, paper": {"mse": (0.1234, 0.0029), "auc_ties": (0.7503, 0.0066)},
    "am-elo, paper": {"mse": (0.1208, 0.0034), "auc_ties": (0.7581, 0.0067)},
}
"""The paper's Table 2, on 4,321 votes of Chatbot Arena. It does not define its errors; its AUC ranks ties in the
middle, as the authors' program does."""


NOTE_FIGURE3 = (
    "The loss is that of the expected score, on the fitted votes, so that methods with and without ties compare."
)
NOTE_FIGURE5 = (
    "Descents by Adam at learning rate 0.1, as in the authors' program; the paper's text says gradient descent."
)


def table1(table: DataFrame) -> Short:
    """Return the statistics as in the paper."""
    values = [f"{value:.0f}" if float(value).is_integer() else f"{value:.2f}" for value in table["value"]]
    return {"statistic": list(table["statistic"]), "value": values}


def table2(table: DataFrame) -> Short:
    """Return scores, the paper's below ours, and differences to m-ELO, with a mark on those within their errors."""
    short: Short = {"method": [*table["method"], *PAPER]}
    for score, name in NAMES.items():
        ours = [_pm(*pair) for pair in zip(table[score], table[f"{score}_se"], strict=True)]
        short[name] = ours + [_pm(*row[score]) if score in row else "" for row in PAPER.values()]
    for score, name in NAMES.items():
        columns = (table[f"{score}_{what}"] for what in ("diff", "diff_se", "verdict"))
        short[f"{name} less m-elo's"] = [
            "" if verdict == "reference" else f"{_pm(diff, se, sign='+')} {verdict}"
            for diff, se, verdict in zip(*columns, strict=True)
        ] + [""] * len(PAPER)
    return short


def figure1(table: DataFrame) -> Short:
    """List the best by shuffled Elo, how far order moves them, and how many annotators rate them outside the range."""
    best = table[table["source"] == SHUFFLED].head(ROWS)
    outside = _outside(table).groupby("competitor")["outside"]
    count, of = outside.sum(), outside.size()
    return {
        "competitor": list(best["competitor"]),
        "Elo, mean of shuffles": _fixed(best["elo"], 1),
        "sd": _fixed(best["sd"], 1),
        "min … max": [f"{a:.1f} … {b:.1f}" for a, b in zip(best["min"], best["max"], strict=True)],
        "annotators outside": [f"{count[name]} of {of[name]}" for name in best["competitor"]],
    }


def _outside(table: DataFrame) -> DataFrame:
    """Return the annotators' rows of Figure 1, and whether each rating lies outside the range from all annotators."""
    single = table[table["source"] != SHUFFLED]
    return single.assign(outside=(single["elo"] < single["lower"]) | (single["elo"] > single["upper"]))


def figure3(table: DataFrame) -> Short:
    """Return the mean loss of each method, and how similar its ranking is to Elo's."""
    methods = list(table["method"].unique())
    score = {name: table.loc[table["method"] == name, "strength"].to_numpy() for name in methods}
    loss = [np.average(own["loss"], weights=own["votes"]) for own in (table[table["method"] == m] for m in methods)]
    return {
        "method": methods,
        "loss (nats a vote)": _fixed(loss, 4),
        "pairs of models ordered as by elo": [f"{consistency(score[name], score['elo']):.3f}" for name in methods],
    }


def figure4(table: DataFrame) -> Short:
    """Return who beat whom."""
    return {str(name): [str(value) for value in table[name].astype(object).fillna("")] for name in table}


def figure5(table: DataFrame) -> Short:
    """Return where each method ends."""
    last = table.groupby("method", sort=False).last().reset_index()
    return {
        "method": list(last["method"]),
        "epochs or steps": [str(value) for value in last["epoch"]],
        "mean loss": _fixed(last["loss"], 6),
        "consistency": _fixed(last["consistency"], 3),
    }


def figure6(table: DataFrame) -> Short:
    """Return consistency up to 35 % perturbed, and inconsistency as a ratio to that of m-ELO, where that has any."""
    within = table[table["share"] <= LARGEST_SHARE + 1e-9]
    methods = list(table["method"].unique())
    short: Short = {"method": methods}
    for kind, own in within.groupby("kind", sort=False):
        mean = own.groupby("method")["consistency"].mean()
        base = 1 - mean["m-elo"]
        ratio = {name: f"{(1 - mean[name]) / base:.2f}" if base > 0 else "–" for name in methods}
        short[f"{kind}, ≤ 35 % (ratio)"] = [f"{mean[name]:.3f} ({ratio[name]})" for name in methods]
    return short


def figure7(table: DataFrame) -> Short:
    """Return the mean F1 of each rule, by kind of perturbation and over all."""
    rules = list(table["rule"].unique())
    short: Short = {"rule": rules}
    for kind, own in table.groupby("kind", sort=False):
        mean = own.groupby("rule")["f1"].mean()
        short[f"F1, {kind}"] = [f"{mean[rule]:.3f}" for rule in rules]
    for column, name in (("f1", "F1"), ("precision", "precision"), ("recall", "recall")):
        mean = table.groupby("rule")[column].mean()
        short[f"{name}, all"] = [f"{mean[rule]:.3f}" for rule in rules]
    return short


def note_table2(numbers: Tables) -> str:
    """Say what the errors are, and name what lies within them."""
    table = numbers["table2"]
    within = [
        f"{name} of {method}"
        for score, name in NAMES.items()
        for method in table.loc[table[f"{score}_verdict"] == WITHIN, "method"]
    ]
    named = f" Here: {', '.join(within)}." if within else ""
    return (
        "Mean over splits ± corrected standard error; a difference to m-elo of at most "
        f"{ERRORS:g} of them lies within its error.{named} AUC leaves ties out; AUC with ties ranks them between wins "
        "and losses, as the authors' program does. Rows of the paper: its Table 2 as printed, on 4,321 votes of "
        "Chatbot Arena; it does not define its errors."
    )


def note_figure1(numbers: Tables) -> str:
    """Say what an annotator's rating compares with, and whether the votes can show a difference."""
    outside = _outside(numbers["fig1"])["outside"]
    can = "" if outside.mean() > CHANCE else "; these votes do not show that annotators differ"
    return (
        "Outside: the rating from an annotator's votes alone is outside the 95 % range of ratings from as many votes "
        f"by all on the same pairs. Of {len(outside)} ratings {percent(outside.mean(), '.1f')} are, by chance up to "
        f"{percent(CHANCE)} would be{can}."
    )


def note_figure4(numbers: Tables) -> str:
    """Say which case this is, and whether it shows anything."""
    table = numbers["fig4"].set_index("winner")
    three = list(table.index)[1:4]
    if set(three) == set(PAPERS_CASE):
        return "The paper's three models."
    wins = table.loc[three, [f"over {name}" for name in three]].to_numpy()
    met = [wins[i, j] + wins[j, i] for i, j in combinations(range(3), 2)]
    rank = table.loc[three, "rank_am-elo"]
    turned = sum(rank.iloc[i] > rank.iloc[j] for i, j in combinations(range(3), 2))
    sentences = [f"Not the paper's votes: {', '.join(three)} follow one another in Elo's ranking;"]
    sentences += [f"am-elo reverses {turned} of their three pairs." if turned else "am-elo keeps their order."]
    if min(met) < FEW:
        sentences.append(
            f"Decided votes between them: {', '.join(map(str, met))} by pair, too few to tell the three apart."
        )
    return " ".join(sentences)


def note_figure6(numbers: Tables) -> str:
    """Say which fits are missing."""
    return _missing(numbers["fig6"], "method")


def note_figure7(numbers: Tables) -> str:
    """Name the annotators who were suspect to begin with, and say which fits are missing."""
    names = list(numbers["fig7_left_out"]["annotator"])
    note = f"Left out as suspect by A or theta before any perturbation: {', '.join(names) or 'none'}."
    return " ".join(filter(None, [note, _missing(numbers["fig7"], "rule")]))


def _missing(table: DataFrame, by: str) -> str:
    runs = table.groupby(by, sort=False)["runs"].sum()
    fewer = [f"{runs.max() - count} of {name}" for name, count in runs.items() if count < runs.max()]
    return (
        f"Of {runs.max()} runs each, fits that did not converge and are left out: {', '.join(fewer)}." if fewer else ""
    )


def _pm(value: float, error: float, *, sign: str = "") -> str:
    return f"{value:{sign}.4f} ± {error:.4f}"


def _fixed(values: Iterable[float], digits: int) -> list[str]:
    return [f"{value:.{digits}f}" for value in values]
