"""The best of several outputs, as pairs of the chosen one with each of the others.

A choice among k that follows Luce's axiom picks i with probability p_i / sum p, so among the pairs (chosen, other) the
wins of i over j are those of Bradley-Terry. They are not independent. Let all be equally strong. Taken as independent
votes, the k - 1 pairs have the information H = 1/2 on any contrast of the k (each pair occurs with probability 2 / k
and has the information 1/4, and the Laplacian of all pairs has the eigenvalue k), while the score of the contrast has
the variance J = k / 4. Weights

    w = H / J = 2 / k        each: 1 for a pair, .4 among five

give the information J^-1 H^2 = 1 / k of the choice itself, so none of it is lost.

Sources: Luce (1959), Individual Choice Behavior; Godambe (1960), Ann. Math. Statist. 31.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from itertools import combinations
from typing import Any

import polars as pl

from bayes_arena.votes.layouts.layout import each
from bayes_arena.votes.sources.text_files import as_json

CANDIDATES = "_candidates"
"""Suffix of the columns of LangWatch that list the candidates compared."""
NO_WINNER = ("", "no_verdict", "unresolved", None)
BEST = ("select-best", "max-score")
"""Assertions of promptfoo that pass for one output of several."""
SIDE_A, SIDE_B, VERDICT = ("contestant_a", "model_a", "a"), ("contestant_b", "model_b", "b"), ("winner", "verdict")
"""Possible names for the sides and verdict of a comparison in a score's metadata: Inspect does not fix them."""


def one_of_n(records: pl.LazyFrame) -> pl.LazyFrame:
    """Write a choice from ``contestants``, names or records with a ``name``, as pairs."""
    others = [name for name in records.collect_schema().names() if name not in ("contestants", "winner")]
    rows = []
    for contestants, winner, *kept in each(records, "contestants", "winner", *others):
        if not isinstance(contestants, list):
            raise TypeError(f"contestants must be a list, not {contestants!r}")
        names = [one["name"] if isinstance(one, dict) else one for one in contestants]
        said = {name: as_json(value) for name, value in zip(others, kept, strict=True)}
        rows += [said | pair for pair in pairs(names, winner)]
    return _frame(rows)


def pairs(names: list[str], winner: str | None) -> list[dict[str, Any]]:
    """Pair the winner of several with each of the others; a tie gives all pairs, which together weigh as a choice."""
    k = max(len(names), 1)
    if winner is None or winner in names:
        first = winner or next(iter(names), None)
        verdict = winner and "model_a"
        met = [(first, name) for name in names if name != first]
        return [{"model_a": a, "model_b": b, "winner": verdict, "weight": 2 / k} for a, b in met]
    met = list(combinations(names, 2))
    return [{"model_a": a, "model_b": b, "winner": winner, "weight": 4 / k**2} for a, b in met]


def has_candidates(names: Collection[str]) -> bool:
    """Whether there are columns of candidates and of winners."""
    return bool(_compared(names))


def langwatch(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Read the comparisons of LangWatch's CSV; one without a winner, or unresolved, has no verdict."""
    compared = _compared(rows.collect_schema().names())
    columns = [f"{name}{ending}" for name in compared for ending in (CANDIDATES, "_winner")]
    found = []
    for index, *told in each(rows, "index", *columns):
        for name, candidates, winner in zip(compared, told[::2], told[1::2], strict=True):
            verdict = None if winner in NO_WINNER else winner
            kept = {"item": index, "criterion": name}
            found += [kept | pair for pair in pairs((candidates or "").split(", "), verdict) if candidates]
    return _frame(found)


def _compared(names: Collection[str]) -> list[str]:
    compared = [name.removesuffix(CANDIDATES) for name in names if name.endswith(CANDIDATES)]
    return [name for name in compared if f"{name}_winner" in names]


def open_webui(feedback: pl.LazyFrame) -> pl.LazyFrame:
    """Pair a rated answer with its siblings: a good rating beats all of them, a bad one loses to them."""
    rows = []
    for user, data, meta in each(feedback, "user_id", "data", "meta"):
        one, others = data.get("model_id"), data.get("sibling_model_ids") or []
        names = [one, *(name for name in others if name != one)]
        said = {"judge": user, "chat": (meta or {}).get("chat_id")}
        won = {"1": "model_a", "-1": "model_b"}.get(str(data.get("rating")))
        rows += [said | pair | {"winner": won} for pair in pairs(names, one)]
    return _frame(rows)


def promptfoo(records: pl.LazyFrame) -> pl.LazyFrame:
    """Read the assertions that pass for the best output of a test case, from whole evaluations or lines of results."""
    choices: dict[tuple[Any, ...], dict[str, bool]] = defaultdict(dict)
    for evaluation, whole in enumerate(_results(records)):
        several = len({_prompt_name(result) for result in whole}) > 1
        for result in whole:
            name = _output_name(result, several)
            for part in (result.get("gradingResult") or {}).get("componentResults") or []:
                assertion = part.get("assertion") or {}
                if assertion.get("type") in BEST:
                    case = evaluation, result.get("testIdx"), str(assertion.get("value") or assertion["type"])
                    choices[case][name] = bool(part.get("pass"))
    rows = []
    for (evaluation, case, criterion), passed in choices.items():
        best = [name for name, chosen in passed.items() if chosen]
        kept = {"prompt": f"{evaluation}/{case}", "criterion": criterion}
        rows += [kept | pair for pair in pairs(list(passed), best[0] if len(best) == 1 else None)]
    return _frame(rows)


def _results(records: pl.LazyFrame) -> list[list[dict[str, Any]]]:
    """Return the results of every evaluation; lines of results are one together."""
    if "results" in records.collect_schema().names():
        whole = (results for (results,) in each(records, "results"))
        return [results["results"] if isinstance(results, dict) else results for results in whole]
    names = ("testIdx", "promptIdx", "provider", "prompt", "gradingResult")
    return [[dict(zip(names, row, strict=True)) for row in each(records, *names)]]


def _output_name(result: dict[str, Any], several: bool) -> str:
    """Name the source of an output: its provider, and its prompt where there are several."""
    provider = result.get("provider")
    name = (provider.get("label") or provider.get("id")) if isinstance(provider, dict) else provider
    return f"{name} | {_prompt_name(result)}" if several else str(name)


def _prompt_name(result: dict[str, Any]) -> Any:
    """Name the prompt of an output; ``promptIdx`` numbers the pairs of provider and prompt, not the prompts."""
    prompt = result.get("prompt") or {}
    return prompt.get("label") or prompt.get("raw")


def inspect(records: pl.LazyFrame) -> pl.LazyFrame:
    """Read the comparisons that scorers keep in the metadata of scores, from logs or a dataframe of samples."""
    names = records.collect_schema().names()
    scored = [name for name in names if name.startswith("score_") and name.endswith("_metadata")]
    samples: list[tuple[Any, Any, list[Any]]] = []
    if "samples" in names:
        for (log,) in each(records, "samples"):
            for sample in log or []:
                scores = (sample.get("scores") or {}).values()
                samples.append((sample.get("id"), sample.get("epoch"), [score.get("metadata") for score in scores]))
    else:
        samples += [(sample, epoch, found) for sample, epoch, *found in each(records, "id", "epoch", *scored)]
    return _frame(
        [
            {
                "prompt": sample,
                "epoch": epoch,
                "model_a": _first(comparison, SIDE_A),
                "model_b": _first(comparison, SIDE_B),
                "winner": _verdict(comparison),
                "judge": comparison.get("judge"),
            }
            for sample, epoch, found in samples
            for metadata in found
            for comparison in (metadata or {}).get("comparisons") or []
        ]
    )


def _verdict(comparison: dict[str, Any]) -> str | None:
    """Return the winner's name or label: A and B are sides unless they are names of competitors."""
    winner: str | None = _first(comparison, VERDICT)
    sides = {"A": "model_a", "B": "model_b"}
    named = winner in (_first(comparison, SIDE_A), _first(comparison, SIDE_B))
    return winner if named or winner is None else sides.get(winner, winner)


def _first(record: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _frame(rows: list[dict[str, Any]]) -> pl.LazyFrame:
    """Return rows as a frame with competitors and winner; other columns that are empty throughout are left out."""
    least = {"model_a": pl.String, "model_b": pl.String, "winner": pl.String}
    table = pl.DataFrame(rows, infer_schema_length=None, strict=False) if rows else pl.DataFrame(schema=least)
    return table.select(column for column in table if column.name in least or column.null_count() < len(column)).lazy()
