"""Which number belongs to which slice.

Every slice that votes were cast in has numbers of its own: of each competitor seen there (an answer), or a single one.
All numbers of a model are the head (strengths, common numbers, numbers of slices) and the own numbers of every
annotator, in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from bayes_arena.arrays import Ints
from bayes_arena.likelihood.algebra.elimination import Elimination, eliminate_largest, entries_of_rows
from bayes_arena.likelihood.predictor import Effect
from bayes_arena.votes.cells import NO_PROGRAM
from bayes_arena.votes.names import ANNOTATOR, COMPETITOR, PROGRAM
from bayes_arena.votes.tally import Tally


@dataclass(frozen=True, eq=False)
class Numbering:
    """The numbers of a model with slices.

    Attributes
    ----------
    tally : Tally
        The votes that the numbers are of.
    n_competitors, n_annotators : int
        n, M.
    common, own, slices : tuple of Effect
        The effects of the model by level.
    keys : tuple of ndarray of int
        Of every effect of slices: slice (times n, plus competitor) of each of its numbers, sorted.
    """

    tally: Tally
    n_competitors: int
    n_annotators: int
    common: tuple[Effect, ...]
    own: tuple[Effect, ...]
    slices: tuple[Effect, ...]
    keys: tuple[Ints, ...]

    @cached_property
    def parts(self) -> tuple[slice, ...]:
        """Where the numbers of every effect are among those of all slices."""
        ends = np.cumsum([0, *map(len, self.keys)]).tolist()
        return tuple(slice(first, last) for first, last in pairwise(ends))

    @property
    def n_slices(self) -> int:
        """Numbers of all slices."""
        return sum(map(len, self.keys))

    @property
    def n_head(self) -> int:
        """Strengths, common numbers and numbers of slices."""
        return self.n_competitors + len(self.common) + self.n_slices

    def places(self, tally: Tally) -> list[list[Ints]]:
        """Return where the numbers of every row are, effect by effect, one array or one of each competitor.

        Places count over all slices; -1 where the votes that were fitted have no such slice.
        """
        return self._places if tally is self.tally else self._find_places(tally)

    @cached_property
    def _places(self) -> list[list[Ints]]:
        """Those of the votes that were fitted: found once, however many objectives share the numbers."""
        return self._find_places(self.tally)

    def _find_places(self, tally: Tally) -> list[list[Ints]]:
        found = []
        for effect, keys, part in zip(self.slices, self.keys, self.parts, strict=True):
            places = []
            for wanted in keys_of_rows(effect, tally, self.n_competitors):
                at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
                known = keys[at] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
                places.append(np.where(known, part.start + at, -1))
            found.append(places)
        return found

    @cached_property
    def columns(self) -> list[Ints]:
        """Place of every entry of the rows in (head, own), each of shape (n_rows,), in the order of the entries."""
        return entries_of_rows(self)[0]

    @cached_property
    def elimination(self) -> Elimination:
        """The order of elimination of these numbers.

        Raises
        ------
        TooLargeError
            If too many are left.
        """
        return eliminate_largest(self)


def number(tally: Tally, n_competitors: int, n_annotators: int, effects: tuple[tuple[Effect, ...], ...]) -> Numbering:
    """Give numbers to the slices of some votes; ``effects`` are the common, the annotators' own and the slices'."""
    common, own, slices = effects
    keys = []
    for effect in slices:
        rows = [*keys_of_rows(effect, tally, n_competitors), *([np.arange(n_competitors)] * (effect.by == COMPETITOR))]
        keys.append(np.unique(np.concatenate(rows)))
    return Numbering(tally, n_competitors, n_annotators, common, own, slices, tuple(keys))


def keys_of_rows(effect: Effect, tally: Tally, n_competitors: int) -> list[Ints]:
    """Return the keys of the numbers of every row, of one, or of both competitors; negative for an unknown slice.

    Votes of people meet no program's taste: both their entries are the same number, whichever, and cancel.
    """
    if effect.by == COMPETITOR:
        return [tally.i, tally.j]
    code = tally.k if effect.by == ANNOTATOR else tally.slices[effect.feature]
    if effect.basis == "one":
        return [code]
    keys = [np.where(code < 0, -1, code * n_competitors + one) for one in (tally.i, tally.j)]
    return [np.where(code == NO_PROGRAM, 0, key) for key in keys] if effect.by == PROGRAM else keys


def label_of(effect: Effect) -> str:
    """Return what the dimension of the numbers of slices is called in a PyMC program and its draws."""
    return f"{effect.by}_of_{'competitor' if effect.basis == 'difference' else 'ties'}"
