"""Votes of people: compar:IA, HelpSteer3, and the annotation tools Label Studio and Argilla."""

from __future__ import annotations

from typing import Any

import polars as pl

from bayes_arena.votes.layouts.item_scores import paired
from bayes_arena.votes.layouts.layout import each, is_true, number
from bayes_arena.votes.layouts.tables import pair_cell
from bayes_arena.votes.names import ITEM, PROMPT

SIDES = (("model_a", "model_b"), ("model_1", "model_2"), ("left_model", "right_model"), ("system_a", "system_b"))
"""Names of the fields of a task's data that hold the two systems."""
UNNAMED = "do not name the two systems; call them model_a and model_b there"


def comparia(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Name competitors and winner; "equal" is a tie, and a record without a choice is no vote."""
    chosen = pl.col("chosen_model_name")
    return votes.with_columns(
        model_a="model_a_name",
        model_b="model_b_name",
        winner=pl.when(is_true("both_equal")).then(pl.lit("tie")).otherwise(pl.when(chosen != "").then(chosen)),
    )


def helpsteer(votes: pl.LazyFrame) -> pl.LazyFrame:
    """Read preferences from -3, the first is much better, over 0, about the same, to 3; others are kept as written."""
    preference = pl.col("overall_preference")
    whole = number(preference)
    arrows = {0: "a=b"}
    for grade in (1, 2, 3):
        arrows |= {-grade: f"a{'>' * grade}b", grade: f"b{'>' * grade}a"}
    named = whole.replace_strict(arrows, default=None, return_dtype=pl.String)
    return pair_cell(votes).with_columns(winner=pl.coalesce(named, preference.cast(pl.String)))


def label_studio(tasks: pl.LazyFrame) -> pl.LazyFrame:
    """Write a vote for every answer to a Pairwise tag; the task's data name the two systems."""
    rows = []
    for task, data, annotated in each(tasks, "id", "data", "annotations"):
        sides = _sides(data)
        for annotation in annotated or []:
            who = annotation.get("completed_by")
            judge = (who.get("email") or who.get("id")) if isinstance(who, dict) else who
            for result in annotation.get("result") or []:
                if result.get("type") == "pairwise" and not annotation.get("was_cancelled"):
                    if not sides:
                        raise ValueError(f"the data of task {task} {UNNAMED}")
                    verdict = {"winner": result["value"]["selected"], "criterion": result.get("from_name")}
                    rows.append({**sides, **verdict, "judge": str(judge), PROMPT: str(task)})
    return _votes(rows, PROMPT)


def argilla(records: pl.LazyFrame) -> pl.LazyFrame:
    """Write a vote for every answer to a label question, and the pairs of every answer to a ranking question.

    Metadata name the two systems of a label question, and may name what is ranked: ``{"response_1": "alder"}``. If
    they do not name the two systems, labels are not votes.
    """
    votes, scores = [], []
    for record, metadata, responses in each(records, "id", "metadata", "responses"):
        names = metadata or {}
        sides = _sides(names)
        for question, answers in (responses or {}).items():
            for answer in answers:
                said = {"criterion": question, "judge": answer["user_id"], ITEM: record}
                if isinstance(answer["value"], list):
                    ranked = [str(names.get(one, one)) for one in answer["value"]]
                    scores += [said | {"system": one, "score": str(-place)} for place, one in enumerate(ranked)]
                elif sides and isinstance(answer["value"], str):
                    votes.append({**sides, "winner": answer["value"], **said})
    if not votes and not scores:
        raise ValueError(f"nothing is ranked, and the metadata {UNNAMED}")
    ranking = pl.LazyFrame(scores, dict.fromkeys(("criterion", "judge", ITEM, "system", "score"), pl.String))
    return pl.concat([_votes(votes, ITEM).with_columns(weight=1.0), paired(ranking)], how="diagonal")


def _sides(said: dict[str, Any]) -> dict[str, str]:
    """Return the two systems that a record names, if any."""
    found = next((pair for pair in SIDES if set(pair) <= set(said)), ())
    return {side: str(said[name]) for side, name in zip(("model_a", "model_b"), found, strict=False)}


def _votes(rows: list[dict[str, Any]], judged: str) -> pl.LazyFrame:
    names = ("model_a", "model_b", "winner", "criterion", "judge", judged)
    return pl.LazyFrame(rows, dict.fromkeys(names, pl.String))
