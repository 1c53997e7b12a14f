"""Opening a source: its layout found, records rewritten to votes, rows filtered, columns recognised."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

import narwhals as nw
import polars as pl

from bayes_arena.errors import (
    LONGEST_VALUE,
    ColumnError,
    LayoutWarning,
    OnInvalid,
    VotesError,
    Weights,
    shortened,
    warn,
)
from bayes_arena.votes.layouts.columns import column_names, recognise_roles, select_roles
from bayes_arena.votes.layouts.layout import FILE, Layout
from bayes_arena.votes.layouts.registry import BY_NAME, is_win_matrix, named_layout, nearly, recognised_layout
from bayes_arena.votes.names import Period
from bayes_arena.votes.reading.covariates import FeatureColumns, SliceColumns
from bayes_arena.votes.reading.decoding import Grades, cut, require_grades
from bayes_arena.votes.sources.frames import Frame, files_of, in_polars, open_source
from bayes_arena.votes.sources.where import kept_where

Role = Literal["a", "b", "winner", "score", "annotator", "weight"]
ROW = "row of the source"
"""Column of the row numbers of records, for quoting votes."""
CELLS = {"model_a", "model_b", "wins_a", "wins_b", "ties"}
"""Columns of votes that are counted already."""
COUNTED = "counted from 0"
ROLES: tuple[Role, ...] = get_args(Role)
"""Options that name columns."""


class ReadOptions(TypedDict, total=False):
    """Options of :func:`~bayes_arena.read_votes`, for functions that pass them on."""

    a: str | None
    b: str | None
    winner: str | None
    score: str | None
    annotator: str | Literal[False] | None
    weight: str | Literal[False] | None
    weights: Weights
    prompt: str | Sequence[str] | Literal[False] | None
    time: str | Literal[False] | None
    period: Period | None
    slices: SliceColumns
    features: FeatureColumns
    outcomes: Mapping[str, str] | None
    on_invalid: OnInvalid
    where: str | None
    dedupe: bool
    normalise: bool
    programs: str | Collection[str]
    layout: str | None
    grades: Grades


KINDS: Mapping[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("a", "b", "winner", "score", "where", "layout"), ("a string", (str,))),
    **dict.fromkeys(("annotator", "weight", "time"), ("a string or False", (str,))),
    **dict.fromkeys(("prompt", "slices", "features", "programs"), ("a string or several strings", (str, Collection))),
    "outcomes": ("a mapping of labels to outcomes", (Mapping,)),
}
"""Types of options besides None: in words, and as classes."""
DENIED = ("annotator", "weight", "prompt", "time")
"""Options that may be False: the column is ignored."""


def require_options(reading: ReadOptions) -> None:
    """Raise a :class:`VotesError` for options of the wrong type."""
    for name, value in reading.items():
        words, kinds = KINDS.get(name, ("", (object,)))
        if value is None or (value is False and name in DENIED):
            continue
        if name == "grades":
            require_grades(value)
            continue
        inside = value if isinstance(value, Collection) and not isinstance(value, str) else ()
        if not isinstance(value, kinds) or not all(isinstance(each, str) for each in inside):
            raise VotesError(f"{name} must be {words}, not {shortened(repr(value), LONGEST_VALUE)}.")


@dataclass(frozen=True)
class OpenedVotes:
    """A source of votes.

    Attributes
    ----------
    source : narwhals frame
        As it was given.
    frame : narwhals frame
        The votes, filtered: the source itself or, if a layout rewrites its records, the votes in Polars.
    columns : dict of str to str
        Role to column, from :func:`~bayes_arena.votes.layouts.columns.recognise_roles`.
    layout : Layout or None
        The layout, if it has a name.
    where : str or None
        The condition by which rows were filtered.
    weights : {"frequency", "importance", "information"} or None
        Meaning of the layout's weights, None if there are none or ``weight`` names a column.
    """

    source: Frame
    frame: Frame
    columns: dict[str, str]
    layout: Layout | None
    where: str | None
    weights: Weights | Literal["information"] | None

    @property
    def sided(self) -> bool:
        """Whether the votes say who was shown first."""
        known = bool({"winner", "winner_a", "score"} & self.columns.keys())
        return known and (self.layout is None or self.layout.sided)

    @property
    def unjudged(self) -> bool:
        """Whether records without a verdict are ignored, as the layout's own tool does."""
        return self.layout is not None and self.layout.unjudged

    @property
    def ordered(self) -> bool:
        """Whether rows have an order, so that they can be numbered; in most engines they do not."""
        engine = self.frame.implementation
        return isinstance(self.frame, nw.DataFrame) or engine.is_polars() or engine.is_duckdb() or engine.is_dask()

    @property
    def slices(self) -> dict[str, tuple[str, ...]]:
        """Columns that the layout reads as slices, by name."""
        names = self.layout.slices if self.layout is not None else ()
        return {name: (name,) for name in names if name in column_names(self.frame)}

    def rows(self, columns: Mapping[str, str]) -> tuple[pl.LazyFrame, str]:
        """Return the columns under the names of their roles, with a ``row`` number, and how rows are counted."""
        if self.layout is not None and self.layout.rewritten is not None:
            records = in_polars(self.source).with_row_index(ROW).select(pl.exclude(ROW), ROW)
            numbered: Frame = nw.from_native(self.layout.write(records))
            if ROW in column_names(numbered):
                return in_polars(select_roles(kept_where(numbered, self.where), {"row": ROW, **columns})), COUNTED
        counted = COUNTED if self.where is None else f"of those kept by where=, {COUNTED}"
        return in_polars(select_roles(self.frame, columns)).with_row_index("row"), counted


def open_votes(source: object, reading: ReadOptions, *, id: str | None = None) -> OpenedVotes:
    """Open a source of votes with the options of :func:`~bayes_arena.read_votes`.

    ``id`` is the column of the votes' ids. It warns of a layout that was recognised rather than named.
    """
    winner, score = reading.get("winner"), reading.get("score")
    if winner is not None and score is not None:
        raise ColumnError(f"A vote has a winner or a score: give winner={winner!r} or score={score!r}, not both.")
    frame = open_source(source, dedupe=reading.get("dedupe", False))
    names, where = column_names(frame), reading.get("where")
    untold = not any(reading.get(role) is not None for role in ("a", "b", "winner", "score"))
    if name := reading.get("layout"):
        named = named_layout(name, names)
        return _as_laid_out(_with_files(source, frame, named), named, reading, id)
    if untold and (layout := recognised_layout(names)) is not None:
        return _told(_as_laid_out(_with_files(source, frame, layout), layout, reading, id))
    try:
        return _as_laid_out(frame, None, reading, id)
    except ColumnError as error:
        if untold and where is None and is_win_matrix(frame):
            return _told(_as_laid_out(frame, BY_NAME["win-matrix"], reading, id))
        counted = " These are the columns of cells: read them with read_cells." if CELLS.issubset(names) else ""
        raise ColumnError(f"{error}{counted or (nearly(names) if untold else '')}") from None


def _told(opened: OpenedVotes) -> OpenedVotes:
    """Warn of the layout that was recognised, unless its columns are read as they are."""
    if (layout := opened.layout) is not None and (layout.rewritten or layout.options):
        text = (
            f"Read as {layout.name}: {layout.about}. Silence this with layout={layout.name!r} (--layout {layout.name})."
        )
        warn(text, LayoutWarning)
    return opened


def _with_files(source: object, frame: Frame, layout: Layout) -> Frame:
    """Add a column of the files that records come from, if the layout needs it."""
    paths = files_of(source) if layout.by_file else []
    parts = [in_polars(open_source(path)).with_columns(pl.lit(str(path)).alias(FILE)) for path in paths]
    return nw.from_native(pl.concat(parts, how="diagonal")) if parts else frame


def _as_laid_out(source: Frame, layout: Layout | None, reading: ReadOptions, id: str | None) -> OpenedVotes:
    """Rewrite records, filter rows and recognise columns."""
    options = dict(layout.options) if layout is not None else {}
    frame, where = source, reading.get("where")
    if layout is not None and layout.rewritten is not None:
        frame = nw.from_native(layout.write(in_polars(source)))
        if layout.otherwise and in_polars(frame).head(1).collect().is_empty():
            return _as_laid_out(source, BY_NAME[layout.otherwise], reading, id)
        options = {"a": "model_a", "b": "model_b", "winner": "winner", **options}
        if layout.grade_weights and reading.get("grades") != "fold" and reading.get("weight") is None:
            frame = frame.drop("weight")
        options |= {"weight": "weight"} if "weight" in column_names(frame) else {}
    frame = kept_where(cut(frame, reading.get("grades", "keep")), where)
    given = {role: reading.get(role) for role in ROLES}
    roles = options | {role: value for role, value in given.items() if value is not None}
    columns = recognise_roles(frame, id=id, **{role: roles.get(role) for role in ROLES})
    brought = layout if "weight" in options and reading.get("weight") is None else None
    return OpenedVotes(source, frame, columns, layout, where, brought.weights if brought else None)
