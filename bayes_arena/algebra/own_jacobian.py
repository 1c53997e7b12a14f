"""Derivatives of functions in the numbers of all annotators, never held all at once: (m, M, q) may be large."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.progress import report

AT_ONCE = 500_000
"""Derivatives that are made together."""


@dataclass(frozen=True, eq=False)
class OwnJacobian:
    """Jacobian in the annotators' numbers, (m, M, q), made in batches of annotators, or whole as an array.

    Attributes
    ----------
    shape : (int, int, int)
        Functions, annotators, and own numbers of each.
    of : callable
        Makes it for a ``slice`` of annotators, all functions, (n, m, q).
    rows : slice or ndarray
        Which of the functions.
    """

    shape: tuple[int, int, int]
    of: Callable[[slice], Floats]
    rows: Any = slice(None)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Self:
        chosen = np.arange(self.shape[0])[rows]
        kept = chosen if isinstance(self.rows, slice) else self.rows[chosen]
        return replace(self, shape=(len(chosen), *self.shape[1:]), rows=kept)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Floats:
        """Return the whole Jacobian."""
        whole = np.empty(self.shape)
        for part, some in self.blocks():
            whole[:, part] = some
        return whole if dtype is None else whole.astype(dtype)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield batches of annotators, and the derivatives in their numbers, (m, k, q)."""
        count = self.shape[1]
        step = max(1, AT_ONCE // max(self.shape[0] * self.shape[2], 1))
        try:
            for first in range(0, count, step):
                report("annotators in the intervals", first, count)
                part = slice(first, min(first + step, count))
                yield part, self.of(part)[self.rows]
        finally:
            report("")
