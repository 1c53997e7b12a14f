"""The tables that functions return: data frames that print what comes first whole.

Pandas prints a frame that is too wide or too long without its middle, where the score or the third in rank may stand.
"""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any

import pandas as pd

from bayes_arena.text_table import aligned

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST, HEAD = 60, 20
"""Most rows that are all printed, and how many of more."""


class Table(pd.DataFrame):
    """A data frame that prints its first rows, and as many of its first columns as there is room for.

    Where Pandas would print everything, it does. Else numbers have four significant digits, and what is not
    shown is named.
    """

    @property
    def _constructor(self) -> Callable[..., Table]:
        return Table

    def __repr__(self) -> str:
        text, n = super().__repr__(), len(self)
        if self.columns.nlevels > 1 or (n <= LONGEST and "..." not in text.partition("\n")[0].split()):
            return text
        head = self.head(HEAD) if n > LONGEST else self
        if not isinstance(self.index, pd.RangeIndex):
            head = head.reset_index(names=None if any(self.index.names) else "")
        shown = {str(name): _written(column) for name, column in head.items()}
        text = aligned(shown, "", [*shown][:0:-1], shutil.get_terminal_size().columns).strip("\n")
        return text + (f"\n... and {n - HEAD:,} more rows" if n > LONGEST else "")


def _written(column: pd.Series[Any]) -> list[str]:
    """Write the values of a column; of numbers, the largest has four significant digits."""
    values = column.astype(object).where(column.notna(), "").tolist()
    sizes = [abs(value) for value in values if isinstance(value, float) and 0 < abs(value) < math.inf]
    decimals = max(1, 3 - math.floor(math.log10(max(sizes)))) if sizes else 1
    return [f"{value:.{decimals}f}" if isinstance(value, float) else str(value) for value in values]
