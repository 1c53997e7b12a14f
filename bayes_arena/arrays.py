"""Arrays and columns: their types, sums over an index, and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Places = NDArray[np.signedinteger[Any]]
"""Places in an array, in 32 bits where there are many: reading them takes half as long."""
Columns = dict[str, Any]
"""Columns of a table, by name."""
type DataFrame = pd.DataFrame
"""The tables that functions return; an alias, evaluated only on request, as pandas is slow to import."""


def sum_by(index: Places, values: Floats, size: int) -> Floats:
    """Sum values by index, shape (size,); rows are added in their order."""
    return np.asarray(np.bincount(index, values, minlength=size), dtype=np.float64)


def present(codes: Places, size: int) -> tuple[Ints, Ints]:
    """Return the codes below ``size`` that occur, sorted, and the index of each code among them."""
    if size > codes.size:
        return np.unique(codes, return_inverse=True)
    occurs = np.bincount(codes.ravel(), minlength=size) > 0  # avoids a sort
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[codes]


def grouped(index: Places, size: int) -> tuple[Places, Ints]:
    """Return all places sorted by their index, as they come where it is equal, and where those of each index begin.

    The latter are of shape (size + 1,).
    """
    from scipy.sparse import csc_array  # slow to import

    kind = np.int32 if len(index) < np.iinfo(np.int32).max else np.int64
    every = np.arange(len(index) + 1, dtype=kind)
    columns: Any = every[:-1], index.astype(kind), every
    found = csc_array(columns, shape=(size, len(index))).tocsr()  # counts, does not sort
    return found.data, found.indptr.astype(np.int64)


def rows_of(columns: Mapping[str, np.ndarray | Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns, arrays or lists, as records of plain values."""
    lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def table_of(data: Any, columns: list[str] | None = None, /, **about: Any) -> DataFrame:
    """Return columns, or rows and the names of their columns, as a table whose ``attrs`` say what it is about."""
    from bayes_arena.table import Table  # pandas is slow to import

    table = Table(data, columns=columns)
    table.attrs.update(about)
    return table
