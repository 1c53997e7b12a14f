"""What a layout is: the columns that identify it, what its records become, and what its tool means by them.

Records become votes with the columns ``model_a, model_b, winner`` and, where there are any, ``score`` (of the first),
``judge`` (the annotator) and ``weight``; their other columns (``category``, ``language``, ids) stay, for ``prompt=``,
``slices=`` and ``where=`` to name.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from bayes_arena.errors import VotesError, Weights

LONGEST = 60
FILE = "file of the source"
"""Column of the file that a record came from, for layouts that name systems by it."""


@dataclass(frozen=True, eq=False)
class Layout:
    """The way in which a tool records votes.

    Attributes
    ----------
    name : str
        Its name in ``layout=`` and ``--layout``.
    about : str
        Which records these are, and what a vote is among them.
    columns : frozenset of str
        Columns that it always has; it is recognised by them.
    rewritten : callable, optional
        From the source to votes, lazily in Polars. None if its columns are read as they are, in any engine.
    options : mapping
        Defaults for options of :func:`~bayes_arena.read_votes`.
    slices : tuple of str
        Columns that are read as slices where present.
    without : frozenset of str
        Columns that it never has; a source with one of them has another layout.
    also : callable, optional
        A further condition on the names of the columns.
    weights : {"frequency", "importance", "information"}
        What its column ``weight`` means; ``"information"`` for the weights of pairs that stem from one choice.
    grade_weights : bool
        Whether its ``weight`` stands for grades that its verdicts name, too, and counts only if these are folded.
    sided : bool
        Whether ``model_a`` was shown first.
    unjudged : bool
        Whether it has records without a verdict, which its tool leaves out too.
    by_file : bool
        Whether the names of files identify what was scored; the records then get a column ``FILE``.
    otherwise : str, optional
        Layout with the same columns to use instead if the records hold no vote of this one.
    """

    name: str
    about: str
    columns: frozenset[str]
    rewritten: Callable[[pl.LazyFrame], pl.LazyFrame] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    slices: tuple[str, ...] = ()
    without: frozenset[str] = frozenset()
    also: Callable[[Collection[str]], bool] | None = None
    weights: Weights | Literal["information"] = "frequency"
    grade_weights: bool = False
    sided: bool = True
    unjudged: bool = False
    by_file: bool = False
    otherwise: str | None = None

    def fits(self, names: Collection[str]) -> bool:
        """Whether a source with columns of these names has this layout."""
        known = self.columns.issubset(names) and self.without.isdisjoint(names)
        return known and (self.also is None or self.also(names))

    def write(self, records: pl.LazyFrame) -> pl.LazyFrame:
        """Rewrite records that are not read as they are."""
        if self.rewritten is None:
            return records
        try:
            return self.rewritten(records)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise VotesError(
                f"The records do not fit the layout {self.name} ({self.about}): {error}. Correct them, or write one "
                "vote per row: model_a, model_b, winner."
            ) from error


def nested(records: pl.LazyFrame, name: str, kind: pl.DataType) -> pl.Expr:
    """Return a column of lists or structs, which text formats hold as JSON."""
    is_text = records.collect_schema()[name] == pl.String
    return pl.col(name).str.json_decode(kind) if is_text else pl.col(name)


def each(records: pl.LazyFrame, *names: str) -> Iterator[list[Any]]:
    """Iterate over records whose values nest too deeply for columns; an absent column is None."""
    present = [name for name in names if name in records.collect_schema().names()]
    for row in records.select(present).collect().iter_rows(named=True):
        yield [_parsed(row.get(name)) for name in names]


def _parsed(value: Any) -> Any:
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise ValueError(f"{textwrap.shorten(value, LONGEST)!r} is not JSON") from None


def number(column: str | pl.Expr) -> pl.Expr:
    """Return a column as numbers: null where it is missing, NaN where it is something else."""
    text = (pl.col(column) if isinstance(column, str) else column).cast(pl.String).str.strip_chars().str.to_lowercase()
    parsed = text.cast(pl.Float64, strict=False).fill_null(float("nan"))
    return pl.when(text.is_in(["", "nan", "none", "null"]).not_()).then(parsed)


def is_true(name: str) -> pl.Expr:
    """Whether a column of booleans, or of their text, is true."""
    return pl.col(name).cast(pl.String).str.to_lowercase().is_in(["true", "1"]).fill_null(False)
