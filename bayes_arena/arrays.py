"""Arrays and columns: their types, and sums over an index."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Columns = dict[str, Any]
"""Columns of a table, by name."""


def sum_by(index: NDArray[np.signedinteger[Any]], values: Floats, size: int) -> Floats:
    """Sum values by index, shape (size,); rows are added in their order."""
    return np.asarray(np.bincount(index, values, minlength=size), dtype=np.float64)
