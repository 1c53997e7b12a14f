"""Effects and votes of a model as tables of numbers, for the compiled loops.

All parameters of a model form one vector: the strengths, the annotators' parameters effect by effect (their deviations
from what they share, or from a mean theta of one), those of slices, and what annotators share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.likelihood import loops
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import Likelihood, M, T


@dataclass(frozen=True, eq=False)
class Tables:
    """Effects and votes of a model, for the loops of :mod:`bayes_arena.likelihood.loops`.

    Attributes
    ----------
    effects : ndarray of int, shape (e, 3)
        What each effect of annotators adds to, where its parameters start, and for how many annotators; 0 if it is
        shared.
    slices : ndarray of int, shape (s, 3)
        What each effect of slices adds to, and the rows of ``votes`` with its places; 0 for no second one.
    votes : ndarray of int, shape (3 + p, n_rows)
        Competitors, annotator and places of the slices' parameters.
    walk : ndarray, shape (s, 3)
        Of parameters that walk: the place, that of the one after (-1 for none), and the root of the periods between.
    features : ndarray, shape (f, n_rows)
    """

    effects: Ints
    slices: Ints
    votes: Ints
    walk: Floats
    features: Floats

    @classmethod
    def of(cls, target: Objective) -> Tables:
        """Return the tables of a model."""
        slices, at = [], 3
        for effect, places in zip(target.slices, target.places, strict=True):
            what = {"difference": loops.FACTORS + effect.dimension, "lead": loops.SHARPER}.get(effect.basis, loops.TIES)
            slices.append((what, at, at + 1 if places[1:] else 0))
            at += len(places)
        tally, first = target.tally, target.n_competitors + target.n_annotators * len(target.own)
        k = tally.k if target.own else np.zeros_like(tally.k)
        numbers = [first + place for places in target.places for place in places]
        return cls(
            effects_of(target, target.n_annotators),
            np.array(slices, dtype=np.int64).reshape(-1, 3),
            np.array([tally.i, tally.j, k, *numbers], dtype=np.int32),
            _walk(target, first),
            np.ascontiguousarray(tally.features, dtype=np.float64),
        )

    def coordinates(self, numbers: Floats, likelihood: Likelihood) -> tuple[Floats, Floats, Floats]:
        """Return annotators' parameters, the leads, and all coordinates of every row, (n_coordinates, n_rows)."""
        of_annotator, bad, leads, eta, tie, at = loops.coordinates(
            numbers, self.effects, self.slices, self.votes, self.features
        )
        z = np.zeros((likelihood.n_coordinates, len(eta)))
        z[: likelihood.emphasis] = np.array([eta, tie[at], np.full(len(eta), bad)])[: likelihood.emphasis]
        for coordinate, where in self._grades(likelihood):
            z[coordinate] += numbers[where]
        return of_annotator, leads, z

    def back(self, numbers: Floats, of_annotator: Floats, leads: Floats, by: Floats, likelihood: Likelihood) -> Floats:
        """Take slopes of the rows by their coordinates (n_coordinates, n_rows) back to the parameters."""
        three = np.zeros((3, by.shape[1]))
        three[: likelihood.emphasis] = by[: likelihood.emphasis]
        by_number: Floats = loops.back(
            numbers, of_annotator, leads, three[0], three[1], three[2].sum(),
            self.effects, self.slices, self.votes, self.features,
        )  # fmt: skip
        for coordinate, where in self._grades(likelihood):
            by_number += sum_by(where, by[coordinate], len(numbers))
        return by_number

    def _grades(self, likelihood: Likelihood) -> Iterator[tuple[int, Ints]]:
        """Yield the coordinates of further grades, and for every row the place of a parameter that enters each."""
        for what, start, own in self.effects:
            if what < loops.BAD:
                yield (
                    likelihood.emphasis + loops.BAD - 1 - what,
                    start + (self.votes[2] if own else 0 * self.votes[2]),
                )


def _walk(target: Objective, first: int) -> Floats:
    """Return ``Tables.walk``, given where the parameters of slices start."""
    steps = target.numbering.steps
    if not steps.walk:
        return np.zeros((0, 3))
    parts = zip(target.slices, target.numbering.parts, strict=True)
    at = np.concatenate([np.arange(part.start, part.stop) for effect, part in parts if effect.walks])
    after = np.where(steps.linked[at], first + steps.after[at], -1)
    return np.column_stack([first + at, after, np.sqrt(steps.gap[at])])


def effects_of(target: Objective, count: int) -> Ints:
    """Return ``Tables.effects`` for the parameters of ``count`` annotators."""
    own = [(effect, target.n_competitors + row * count, count) for row, effect in enumerate(target.own)]
    first = target.n_competitors + count * len(target.own) + target.numbering.n_slices
    common = [(effect, first + row, 0) for row, effect in enumerate(target.common)]
    places, rows, slopes = {M: loops.BAD, T: loops.TIES}, [], loops.FACTORS + 1 + target.predictor.dimensions
    emphasis = target.likelihood.emphasis
    for effect, start, annotators in (*own, *common):
        what = places.get(effect.coordinate, loops.POSITION)
        if effect.coordinate >= emphasis:
            what = loops.BAD - 1 - (effect.coordinate - emphasis)
        what = {"lead": loops.FACTORS + effect.dimension, "feature": slopes + effect.feature}.get(effect.basis, what)
        rows.append((what, start, annotators))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
