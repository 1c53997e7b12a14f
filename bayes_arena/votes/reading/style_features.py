"""Style of answers: how long they are and how much markdown they have, as features of votes.

Length is counted in tokens where the metadata of a published arena set has them, else in characters, over all turns of
the assistant; headers, list items and bold passages are counted outside code blocks. With s_a and s_b a count of the
two answers the feature is

    x = (s_a - s_b) / (s_a + s_b),    0 where neither has any,    divided by the root mean square of x over votes,

so that 20 more tokens matter much at 20 and little at 500, and slopes are per standard deviation. Nothing is centred,
as it is arbitrary which answer is a and which is b.

Source: Li, Angelopoulos & Chiang (2024), "Does style matter? Disentangling style and substance in Chatbot Arena",
https://lmsys.org/blog/2024-08-28-style-control/.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import narwhals as nw
import polars as pl

from bayes_arena.errors import ColumnError, listing, printable
from bayes_arena.votes.layouts.columns import column_names
from bayes_arena.votes.sources.frames import Frame, comparable_columns, open_source, to_polars

METADATA = "conv_metadata"
"""Column of published arena sets with the counts of both answers."""
FEATURES = {
    "length": "sum_assistant_{}_tokens",
    "headers": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}
"""Features, and the fields of the metadata that have their counts."""
CODE = r"(?s)```.*?(?:```|\z)"
MARKDOWN = {
    "headers": r"(?m)^#{1,6}\s",
    "lists": r"(?m)^\s*(?:\d+\.|[-*+])\s",
    "bold": r"\*\*[^*\n]+\*\*|__[^_\n]+__",
}


def style_features(source: object, *, a: str = "conversation_a", b: str = "conversation_b") -> pl.DataFrame:
    """Add the style of the answers to votes, as features that a model can control for.

    Parameters
    ----------
    source : path, sequence of paths, or dataframe
        Votes, as for :func:`~bayes_arena.read_votes`, with the published column ``conv_metadata`` or with the answers.
    a, b : str
        Columns of the answers: texts, or conversations, lists of ``{"role": ..., "content": ...}``, as they are or as
        JSON. Ignored if there is ``conv_metadata``.

    Returns
    -------
    polars.DataFrame
        The other columns of the votes except nested ones, and ``length``, ``headers``, ``lists`` and ``bold``: the
        relative difference of the first answer to the second, in standard deviations
        (:mod:`bayes_arena.votes.reading.style_features`). Null where an answer is missing.

    Raises
    ------
    ColumnError
        If there are neither metadata nor answers, or a column already has the name of a feature.
    VotesError
        If the source cannot be read.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"model_a": ["x"], "model_b": ["y"], "winner": ["x"], "a": ["# Yes"], "b": ["No."]})
    >>> style_features(table, a="a", b="b").columns
    ['model_a', 'model_b', 'winner', 'length', 'headers', 'lists', 'bold']
    """
    frame = open_source(source)
    names = column_names(frame)
    if taken := [name for name in FEATURES if name in names]:
        raise ColumnError(
            f"The votes already have the columns {listing(map(repr, taken))}. Rename them, or read them as features."
        )
    if METADATA in names:
        counts = _of_metadata(_values(frame, METADATA))
    elif {a, b} <= set(names):
        counts = pl.concat([_of_texts(_values(frame, a), "a"), _of_texts(_values(frame, b), "b")], how="horizontal")
    else:
        raise ColumnError(
            f"There is neither {METADATA!r} nor {a!r} and {b!r}. The source has: {printable(', '.join(names))}. Name "
            "the columns of the answers with a= and b=."
        )
    differences = []
    for name in FEATURES:
        of_a, of_b = pl.col(f"{name}_a"), pl.col(f"{name}_b")
        either = (of_a + of_b).cast(pl.Float64)
        differences.append(pl.when(either > 0).then((of_a - of_b) / either).when(either == 0).then(0.0).alias(name))
    features = counts.cast(pl.Float64).select(differences)
    features = features.with_columns(pl.all() / pl.all().pow(2).mean().sqrt().replace(0.0, 1.0))
    others = [name for name in comparable_columns(frame) if name not in (a, b, METADATA)]
    return to_polars(frame.select(*others)).with_columns(features.get_columns())


def _values(frame: Frame, name: str) -> list[Any]:
    column = frame.select(name)
    if isinstance(column, nw.LazyFrame):
        column = column.collect()
    return column[name].to_list()


def _of_metadata(values: list[Any]) -> pl.DataFrame:
    """Return the counts of both answers in columns ``length_a, length_b, headers_a, ...``."""
    rows = [json.loads(value) if isinstance(value, str) else value for value in values]
    fields = {f"{name}_{side}": text.format(side) for name, text in FEATURES.items() for side in "ab"}
    try:
        return pl.DataFrame({name: [row and _total(row[field]) for row in rows] for name, field in fields.items()})
    except KeyError as error:
        raise ColumnError(f"The column {METADATA!r} has no {error} in some rows.") from None


def _total(count: Any) -> float | None:
    """Return a count, or the sum of the counts for each kind of element."""
    return sum(one or 0 for one in count.values()) if isinstance(count, Mapping) else count


def _of_texts(values: list[Any], side: str) -> pl.DataFrame:
    """Return the counts of one side's answers in columns ``length_a, headers_a, ...``."""
    text = pl.Series(f"length_{side}", [_said(value) for value in values], pl.String)
    plain = text.str.replace_all(CODE, "")
    found = [plain.str.count_matches(pattern).alias(f"{name}_{side}") for name, pattern in MARKDOWN.items()]
    return pl.DataFrame([text.str.len_chars(), *found])


def _said(value: Any) -> str | None:
    """Return what the assistant says in a conversation; any other text is the answer itself."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.startswith("[") else value
        except json.JSONDecodeError:
            return str(value)
    if value is None or isinstance(value, str):
        return value
    said = [turn["content"] for turn in value if isinstance(turn, Mapping) and turn.get("role") == "assistant"]
    parts = [one if isinstance(one, str) else "".join(part.get("text") or "" for part in one or ()) for one in said]
    return "\n\n".join(parts)
