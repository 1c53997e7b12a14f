"""The fits of many boards, by what the votes of each have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bayes_arena.errors import ArenaError
from bayes_arena.fits.result import Fit

Names = tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Boards(Mapping[Names, Fit]):
    """Fits by the names of their slices: ``boards["coding", "German"]``.

    Attributes
    ----------
    by : tuple of str
        The slices: the votes of a board agree in all of them.
    fits : mapping of tuple of str to Fit
        What the mapping maps: names, one for each of ``by``, to fits, sorted by the names.
    failed : mapping of tuple of str to ArenaError
        The boards that could not be fitted, and why.
    """

    by: tuple[str, ...]
    fits: Mapping[Names, Fit]
    failed: Mapping[Names, ArenaError]

    def __getitem__(self, names: Names) -> Fit:
        if names in self.fits:
            return self.fits[names]
        if names in self.failed:
            raise KeyError(f"{' · '.join(names)} could not be fitted: {self.failed[names]}")
        raise KeyError(f"There is no board {names!r}. Boards are named by tuples of names, one for each of {self.by}.")

    def __iter__(self) -> Iterator[Names]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    def __repr__(self) -> str:
        failed = f", {len(self.failed):,} not fitted" if self.failed else ""
        return f"Boards({' · '.join(self.by)}: {len(self.fits):,} fitted{failed})"
