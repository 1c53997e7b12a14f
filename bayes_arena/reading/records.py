"""Records of arenas, judges and annotation tools, as one vote a row.

==============  =====================================================================
arena-hard      github.com/lmarena/arena-hard-auto, gen_judgment.py: the baseline is A in
                the first game and B in the second; v0.1 does not name the baseline
alpaca-eval     github.com/tatsu-lab/alpaca_eval, README: preference 1 to 2, 1.5 a draw
mt-bench        github.com/lm-sys/FastChat, llm_judge/gen_judgment.py
judge-arena     github.com/OpenEuroLLM/JudgeArena: the preference for B, 0 to 1
comparia        the data sets of compar:IA on the Hugging Face hub
open-webui      github.com/open-webui/open-webui, routers/evaluations.py: a rating of 1
                beats all siblings, one of -1 loses to them
label-studio    labelstud.io/tags/pairwise
argilla         docs.argilla.io, records: answers by question
promptfoo       promptfoo.dev, the JSON of ``eval``: the assertion select-best passes for the
                chosen output of a test
nested-ranks    Nectar (berkeley-nest), UltraFeedback (openbmb): a list of models a prompt,
                each with its rank or score
==============  =====================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from bayes_arena.errors import VotesError, shortened
from bayes_arena.reading.roles import RECORD, ROW, Roles
from bayes_arena.reading.tables import Written, pairs_of_ranks, weighed_by
from bayes_arena.reading.values import as_text, number, parsed
from bayes_arena.said import Note

SIDES = (
    ("model_a", "model_b"), ("model_1", "model_2"), ("model1", "model2"),
    ("left_model", "right_model"), ("system_a", "system_b"), ("a", "b"),
)  # fmt: skip


def parsed_rows(table: pl.DataFrame, *nested: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table with the nested columns parsed."""
    for row in table.iter_rows(named=True):
        yield row | {name: parsed(row.get(name)) for name in nested}


def votes_like(rows: list[dict[str, Any]], like: pl.DataFrame) -> pl.DataFrame:
    """Return rows as a table whose other columns keep their types."""
    if not rows:
        raise VotesError("The records hold no vote. Check that they are complete.")
    kinds: dict[str, Any] = {name: like.schema.get(name, pl.String) for name in rows[0]}
    kinds |= {
        name: pl.String for name in ("a", "b", "winner", "annotator") if name in kinds
    }
    kinds |= {"pair_weight": pl.Float64} if "pair_weight" in kinds else {}
    return pl.DataFrame(rows, kinds, strict=False)


def as_object(value: Any, name: str) -> Mapping[str, Any]:
    """Return an object in a record; nothing is an empty one."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        shown = shortened(repr(value), 60)
        raise VotesError(f"In a record {name} is {shown}, not an object.")
    return value


def as_objects(value: Any, name: str) -> list[Mapping[str, Any]]:
    """Return a list of objects in a record; nothing is an empty one."""
    if value is not None and not isinstance(value, list):
        shown = shortened(repr(value), 60)
        raise VotesError(f"In a record {name} is {shown}, not a list.")
    return [as_object(each, name) for each in value or []]


def arena_hard(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the games of records: the baseline is A in the first, and B in the second.

    As in the tool, a record counts only if all of its games have a verdict.
    """
    votes, n_unjudged = [], 0
    for row in parsed_rows(table, "winner"):
        games = row["winner"] if isinstance(row["winner"], list) else [row["winner"]]
        scores = [
            game.get("score") if isinstance(game, Mapping) else game for game in games
        ]
        if not all(isinstance(score, str) and score for score in scores):
            n_unjudged += 1
            continue
        as_shown = row | {"a": row["b"], "b": row["a"]}
        for game, score in enumerate(scores):
            votes.append((row if game % 2 else as_shown) | {"winner": score})
    return Written(
        votes_like(votes, table),
        left_out(n_unjudged, "one of their games has no verdict"),
    )


def left_out(n_records: int, reason: str) -> tuple[Note, ...]:
    """Say how many records were left out, if any, and why."""
    said = f"{n_records} records were left out, since {reason}."
    return (Note("left_out", said),) if n_records else ()


def mt_bench(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the two games of a pair: in the second, the second model is shown first.

    As in the tool, a record counts only if neither game ended in an error.
    """
    table = table.with_columns(pl.col("winner", "winner_2").cast(pl.String))
    is_error = pl.any_horizontal(pl.col("winner", "winner_2") == "error")
    judged = table.filter(~is_error.fill_null(False))
    notes = left_out(len(table) - len(judged), "one of their games is an error")
    if "annotator" in table.columns:
        judged = judged.with_columns(annotator=first_of_lists(judged["annotator"]))
    sides = {"model_1": "model_a", "model_2": "model_b"}
    turned = {"model_1": "model_b", "model_2": "model_a"}
    first = judged.with_columns(pl.col("winner").replace(sides))
    second = judged.with_columns(
        a=pl.col("b"), b=pl.col("a"), winner=pl.col("winner_2").replace(turned)
    )
    return Written(pl.concat([first, second]).drop("winner_2"), notes)


def first_of_lists(column: pl.Series) -> pl.Series:
    """Return the first entry of lists, which may be JSON: a judge and its prompt."""
    values = [parsed(value) for value in column.to_list()]
    firsts = [
        value[0] if isinstance(value, list) and value else value for value in values
    ]
    return pl.Series(
        column.name, [None if v is None else str(v) for v in firsts], pl.String
    )


def preferences_as_counts(table: pl.DataFrame, low: float, high: float) -> pl.DataFrame:
    """Write preferences from low, for a, to high, for b, as parts of a vote; half is a tie."""
    share = pl.col("share")
    table = table.with_columns(share=(number("winner") - low) / (high - low))
    wrong = table.filter(~share.is_between(0, 1))
    if len(wrong):
        shown = shortened(repr(wrong["winner"][0]))
        raise VotesError(
            f"The preference {shown} is not a number from {low:g} to {high:g}."
        )
    is_tie = share == 0.5
    votes = table.with_columns(
        wins_a=pl.when(~is_tie).then(1 - share).otherwise(0.0),
        wins_b=pl.when(~is_tie).then(share).otherwise(0.0),
        ties=pl.when(is_tie).then(1.0).otherwise(0.0),
    )
    return votes.drop("winner", "share")


def alpaca_eval(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Read preferences from 1, for the first output, to 2; 1.5 (formerly 0) is a draw."""
    value = number("winner")
    table = table.with_columns(winner=pl.when(value == 0).then(1.5).otherwise(value))
    return Written(preferences_as_counts(table, 1, 2))


def judge_arena(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Read preferences from 0, for A, to 1, for B; labels stay labels."""
    values = table.select(number("winner")).to_series()
    if len(values) and values.is_nan().all():
        return Written(table)
    return Written(preferences_as_counts(table, 0, 1))


def comparia(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Name the winner; "equal" is a tie, and a record without a choice is no vote."""
    is_equal = pl.col("winner_2").cast(pl.String).str.to_lowercase()
    winner = (
        pl.when(is_equal.is_in(["true", "1"]))
        .then(pl.lit("tie"))
        .otherwise(pl.col("winner").cast(pl.String))
    )
    return Written(table.with_columns(winner=winner).drop("winner_2"))


def open_webui(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Pair a rated answer with its siblings: a good rating beats all, a bad one loses.

    A choice among k has the information of k - 1 pairs that weigh 2 / k each.
    """
    votes = []
    for row in parsed_rows(table, "data"):
        data = as_object(row["data"], "data")
        model, siblings = data.get("model_id"), data.get("sibling_model_ids")
        winner = {"1": "model_a", "-1": "model_b"}.get(str(data.get("rating")))
        if not (winner and isinstance(model, str) and isinstance(siblings, list)):
            continue
        others = [name for name in siblings if isinstance(name, str) and name != model]
        vote = carried_columns(row, roles) | {
            "annotator": row.get("user id"),
            "a": model,
        }
        vote |= {"winner": winner, "pair_weight": 2 / (len(others) + 1)}
        votes += [vote | {"b": other} for other in others]
    return Written(weighed_by(votes_like(votes, table)))


def label_studio(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write a vote for every answer to a Pairwise tag; the task's data name the two."""
    votes = []
    for row in parsed_rows(table, "data", "annotations"):
        sides = sides_of(as_object(row["data"], "data"))
        for annotation in as_objects(row["annotations"], "annotations"):
            if annotation.get("was_cancelled"):
                continue
            judge = who_completed(annotation.get("completed_by"))
            for result in as_objects(annotation.get("result"), "result"):
                if result.get("type") != "pairwise":
                    continue
                if sides is None:
                    raise VotesError(no_names_error(row[ROW], "data"))
                value = as_object(result.get("value"), "value")
                vote = {"a": sides[0], "b": sides[1], "annotator": judge}
                vote |= {"winner": as_text(value.get("selected"))}
                votes.append(
                    carried_columns(row, roles) | {RECORD: str(row[ROW])} | vote
                )
    return Written(votes_like(votes, table))


def who_completed(who: Any) -> str | None:
    """Return who annotated a task: an email address or a number."""
    if isinstance(who, Mapping):
        who = who.get("email") or who.get("id")
    return as_text(who)


def argilla(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the answers to label questions, and the pairs of answers to ranking questions.

    Metadata name the two systems of a label, and may name what is ranked.
    """
    votes: list[dict[str, Any]] = []
    ranks: list[dict[str, Any]] = []
    rest: list[dict[str, Any]] = []
    for row in parsed_rows(table, "metadata", "responses"):
        names = as_object(row["metadata"], "metadata")
        sides = sides_of(names)
        for question, judge, value in answers_of(row["responses"]):
            carried = carried_columns(row, roles) | {
                "annotator": judge,
                RECORD: str(row[ROW]),
            }
            if isinstance(value, list):
                ranking = f"{row[ROW]} {question} {judge}"
                rest.append(carried | {"ranking": ranking})
                ranks += ranks_of(value, names, ranking)
            elif isinstance(value, str) and sides:
                votes.append(carried | {"a": sides[0], "b": sides[1], "winner": value})
    parts = [Written(votes_like(votes, table))] if votes else []
    if ranks:
        pairs = pl.DataFrame(ranks, dict.fromkeys(ranks[0], pl.String))
        parts.append(pairs_of_ranks(pairs, votes_like(rest, table), unranked_last))
    if not parts:
        raise VotesError(f"Nothing is ranked, and {no_names_error(0, 'metadata')}")
    whole = pl.concat([part.table for part in parts], how="diagonal_relaxed")
    if ranks:
        whole = whole.with_columns(pl.col("weight").fill_null(1.0))
    return Written(whole, parts[-1].notes)


def promptfoo(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write that the output that select-best chose beats each other of its test.

    A choice among k has the information of k - 1 pairs that weigh 2 / k each.  A test of
    which none or several were chosen has no verdict.
    """
    tests: dict[str, list[dict[str, Any]]] = {}
    for row in parsed_rows(table, "provider", "gradingResult"):
        tests.setdefault(str(row["testIdx"]), []).append(row)
    votes, n_undecided = [], 0
    for test, rows in tests.items():
        compared = [row for row in rows if is_best(row) is not None]
        chosen = [row for row in compared if is_best(row)]
        if len(chosen) != 1:
            n_undecided += bool(compared)
            continue
        vote = carried_columns(chosen[0], roles) | {RECORD: test, "winner": "model_a"}
        vote |= {"a": provider_of(chosen[0]), "pair_weight": 2 / len(compared)}
        others = [provider_of(row) for row in compared if row is not chosen[0]]
        votes += [vote | {"b": other} for other in others]
    notes = left_out(n_undecided, "select-best chose none of their outputs, or several")
    return Written(weighed_by(votes_like(votes, table)), notes)


def is_best(row: Mapping[str, Any]) -> bool | None:
    """Whether select-best chose an output; None if it was not asked."""
    graded = as_object(row["gradingResult"], "gradingResult")
    for part in as_objects(graded.get("componentResults"), "componentResults"):
        assertion = as_object(part.get("assertion"), "assertion")
        if assertion.get("type") == "select-best":
            return bool(part.get("pass"))
    return None


def provider_of(row: Mapping[str, Any]) -> str | None:
    """Return the label of a provider, or its identifier."""
    provider = row["provider"]
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    return as_text(provider)


def nested_ranks(table: pl.DataFrame, roles: Roles, unranked_last: bool) -> Written:
    """Write the pairs of rankings that are a list a record."""
    (name, key), (kind, value) = roles.keys.items()
    ranks, rest = [], []
    for row in parsed_rows(table, "competitors"):
        ranking = str(row[ROW])
        rest.append(carried_columns(row, roles) | {"ranking": ranking, RECORD: ranking})
        for each in as_objects(row["competitors"], "the list"):
            texts = as_text(each.get(key)), as_text(each.get(value))
            ranks.append({"ranking": ranking, name: texts[0], kind: texts[1]})
    names = ("ranking", name, kind)
    pairs = pl.DataFrame(ranks, dict.fromkeys(names, pl.String))
    return pairs_of_ranks(pairs, votes_like(rest, table), unranked_last)


def answers_of(responses: Any) -> Iterator[tuple[str, str | None, Any]]:
    """Yield the questions of a record, who answered each, and the answer."""
    for question, answers in as_object(responses, "responses").items():
        for answer in as_objects(answers, question):
            yield question, as_text(answer.get("user_id")), answer.get("value")


def ranks_of(
    ranked: list[Any], names: Mapping[str, Any], ranking: str
) -> list[dict[str, Any]]:
    """Return the ranks of what is ranked, by name, the best first."""
    return [
        {
            "ranking": ranking,
            "a": as_text(names.get(str(answer), answer)),
            "rank": str(rank),
        }
        for rank, answer in enumerate(ranked, 1)
    ]


def carried_columns(row: Mapping[str, Any], roles: Roles) -> dict[str, Any]:
    """Return the columns of a record that its votes carry."""
    return {name: value for name, value in row.items() if name not in roles.fields}


def sides_of(data: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the two competitors that a record names, if it does."""
    for a, b in SIDES:
        first, second = as_text(data.get(a)), as_text(data.get(b))
        if first is not None and second is not None:
            return first, second
    return None


def no_names_error(row: int, field: str) -> str:
    """Say that a record does not name its competitors."""
    return (
        f"the {field} of record {row} do not name the two competitors. Call them model_a and "
        "model_b there."
    )
