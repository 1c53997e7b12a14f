"""Style of answers, as features: how long they are and how much markdown they have.

Length is in tokens where the metadata of a published arena set has them, else in
characters, over all turns of the assistant; headers, list items and bold passages are
counted outside code.  With s_a and s_b a count of the two answers, the feature is

    x = (s_a - s_b) / (s_a + s_b),    0 where neither has any,

divided by the root mean square of x over the votes, so that slopes are per standard
deviation.

Source: Li, Angelopoulos and Chiang (2024), "Does style matter? Disentangling style and
substance in Chatbot Arena".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from bayes_arena.errors import VotesError, listing
from bayes_arena.reading.sources import (
    in_polars,
    is_nested,
    open_source,
    readable,
    to_polars,
)
from bayes_arena.reading.values import parsed

METADATA = "conv_metadata"  # column of published arena sets with counts of both answers
FIELDS = {
    "length": "sum_assistant_{}_tokens",
    "headers": "header_count_{}",
    "lists": "list_count_{}",
    "bold": "bold_count_{}",
}
CODE = r"(?s)```.*?(?:```|\z)"
MARKDOWN = {
    "headers": r"(?m)^#{1,6}\s",
    "lists": r"(?m)^\s*(?:\d+\.|[-*+])\s",
    "bold": r"\*\*[^*\n]+\*\*|__[^_\n]+__",
}


def style_features(
    source: object, *, a: str = "conversation_a", b: str = "conversation_b"
) -> pl.DataFrame:
    """Add the style of the answers to votes, as features that a model can control for.

    Parameters
    ----------
    source : path, dataframe or records
        Votes, as for ``read_votes``, with the published column ``conv_metadata`` or with
        the answers.
    a, b : str
        Columns of the answers: texts or conversations, as lists or JSON.

    Returns
    -------
    polars.DataFrame
        The votes without nested columns, and ``length``, ``headers``, ``lists`` and
        ``bold``: what the first answer has more than the second, in standard deviations;
        null where an answer is missing.  Read them with ``features=``.

    Raises
    ------
    VotesError
        If there are neither metadata nor answers, or a column has the name of a feature.
    """
    with readable(source):
        frame = open_source(source)
        schema = frame.collect_schema()
        if taken := [name for name in FIELDS if name in schema]:
            raise VotesError(
                f"The votes have columns named {listing(taken)} already. Rename them."
            )
        if METADATA in schema:
            counts = counts_of_metadata(
                in_polars(frame.select(METADATA)).collect()[METADATA]
            )
        elif a in schema and b in schema:
            texts = in_polars(frame.select(a, b)).collect()
            counts = pl.concat(
                [counts_of_texts(texts[a], "a"), counts_of_texts(texts[b], "b")],
                how="horizontal",
            )
        else:
            raise VotesError(
                f"There is neither {METADATA!r} nor {a!r} and {b!r}. Name the answers with a= "
                f"and b=. The columns are {listing(schema)}."
            )
        others = [
            n for n in schema if not is_nested(schema[n]) and n not in (a, b, METADATA)
        ]
        votes = to_polars(frame.select(*others))
    features = differences(counts)
    return votes.with_columns(features.get_columns()) if others else features


def differences(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the relative differences of counts, in standard deviations."""
    columns = []
    for name in FIELDS:
        first, second = (pl.col(f"{name}_{side}").cast(pl.Float64) for side in "ab")
        total = first + second
        relative = (
            pl.when(total > 0).then((first - second) / total).when(total == 0).then(0.0)
        )
        columns.append(relative.alias(name))
    return counts.select(columns).with_columns(
        pl.all() / pl.all().pow(2).mean().sqrt().replace(0.0, 1.0)
    )


def counts_of_metadata(values: Iterable[Any]) -> pl.DataFrame:
    """Return the published counts of both answers: ``length_a, length_b, headers_a, ...``."""
    rows = [parsed(value) for value in values]
    if not all(row is None or isinstance(row, Mapping) for row in rows):
        raise VotesError(f"The column {METADATA!r} does not hold objects.")
    fields = {
        f"{name}_{side}": field.format(side)
        for name, field in FIELDS.items()
        for side in "ab"
    }
    columns = {
        name: [None if row is None else total(row.get(field)) for row in rows]
        for name, field in fields.items()
    }
    return pl.DataFrame(columns, dict.fromkeys(columns, pl.Float64))


def total(count: Any) -> float | None:
    """Return a count, or the sum of the counts of each kind of element."""
    if isinstance(count, Mapping):
        return float(sum(each or 0 for each in count.values()))
    return None if count is None else float(count)


def counts_of_texts(values: Iterable[Any], side: str) -> pl.DataFrame:
    """Return the counts of one side's answers: ``length_a, headers_a, ...``."""
    text = pl.Series(f"length_{side}", [answer(value) for value in values], pl.String)
    plain = text.str.replace_all(CODE, "")
    marks = [
        plain.str.count_matches(p).alias(f"{name}_{side}")
        for name, p in MARKDOWN.items()
    ]
    return pl.DataFrame([text.str.len_chars(), *marks])


def answer(value: Any) -> str | None:
    """Return what the assistant says in a conversation; other text is the answer itself."""
    value = parsed(value)
    if value is None or isinstance(value, str):
        return value
    turns = [value] if isinstance(value, Mapping) else value
    texts = []
    for turn in turns:
        if isinstance(turn, Mapping) and turn.get("role") == "assistant":
            texts.append(text_of_content(turn.get("content") or ""))
    return "\n\n".join(texts)


def text_of_content(content: Any) -> str:
    """Return the text of a message: a text, or a list of texts and of parts with one."""
    if isinstance(content, str):
        return content
    texts = []
    for part in content:
        texts.append(part if isinstance(part, str) else part.get("text") or "")
    return "".join(texts)
