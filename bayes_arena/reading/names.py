"""Names as codes: spaces, Unicode forms and JSON around a name make no other name."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import polars as pl

from bayes_arena.arrays import Ints
from bayes_arena.errors import VotesError, did_you_mean, shortened
from bayes_arena.reading.values import parsed, text_of
from bayes_arena.said import Use

# Keys of JSON objects under which their name is looked for.
NAME_KEYS = ("name", "model", "model_name", "label", "title", "id")


def code(
    columns: Sequence[pl.Series], clean: Callable[[str], str] = str.strip
) -> tuple[tuple[str, ...], list[Ints], int]:
    """Return the names in some columns, sorted, and the code of each row; -1 is missing.

    Returns
    -------
    names : tuple of str
        After ``clean``, which strips spaces at the ends.
    codes : list of ndarray
        One for each column.
    n_merged : int
        How many names were written in several ways.
    """
    texts = [text_of(column) for column in columns]
    if any(text.dtype != pl.Categorical for text in texts):
        texts = [text.cast(pl.String) for text in texts]
    together = pl.concat(texts).cast(pl.Categorical)
    kinds = together.unique().drop_nulls()
    written = kinds.cast(pl.String).to_list()
    cleaned = [clean(name) for name in written]
    names = sorted(set(cleaned) - {""})
    rank = {name: code for code, name in enumerate(names)}
    physical = kinds.to_physical().to_numpy()
    size = int(physical.max(initial=0)) + 2
    code_of = np.full(size, -1, np.intp)  # the last is for missing names
    code_of[physical] = [rank.get(name, -1) for name in cleaned]
    codes = code_of[together.to_physical().cast(pl.Int64).fill_null(-1).to_numpy()]
    ends = np.cumsum([len(text) for text in texts])[:-1]
    n_merged = len([name for name in cleaned if name]) - len(names)
    return tuple(names), np.split(codes, ends), n_merged


def renamed(
    names: Sequence[str], columns: Sequence[Ints], new_names: Mapping[str, str]
) -> tuple[tuple[str, ...], list[Ints]]:
    """Return the names that competitors get, sorted, and their codes in each column."""
    if not new_names:
        return tuple(names), list(columns)
    for name in new_names:
        if name not in names:
            raise VotesError(
                (
                    f"No competitor is called {name!r}, which ",
                    Use("names"),
                    f" renames.{did_you_mean(name, names)}",
                )
            )
    given = [new_names.get(name, name) for name in names]
    kept = sorted(set(given))
    code_of = {name: code for code, name in enumerate(kept)}
    codes = np.array([*(code_of[name] for name in given), -1])  # the last is missing
    return tuple(kept), [codes[column] for column in columns]


def clean_name(text: str) -> str:
    """Return a name without spaces at its ends, in Unicode form NFC; of an object its name."""
    text = text.strip()
    if text[:1] in ("{", "["):
        text = name_in_json(text)
    return text if text.isascii() else unicodedata.normalize("NFC", text).strip()


def name_in_json(text: str) -> str:
    """Return the name in a JSON object or a list of one; other text stays as it is."""
    value = parsed(text)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        keys = [*NAME_KEYS, *(key for key in value if str(key).endswith("_name"))]
        value = next((value[key] for key in keys if value.get(key) is not None), value)
    if isinstance(value, dict | list):
        raise VotesError(
            f"A name is given as {shortened(text, 60)}, and none of {', '.join(NAME_KEYS)} "
            "is in it. Write names as text."
        )
    return str(value).strip()
