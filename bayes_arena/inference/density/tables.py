"""Effects and votes of a model as tables of numbers, for the compiled loops.

All parameters of a model form one vector: the strengths, the annotators' parameters effect by effect (their deviations
from what they share, or from a mean theta of one), those of slices, and what annotators share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.inference.density import kernels
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import M, T


@dataclass(frozen=True, eq=False)
class Tables:
    """Effects and votes of a model, for the loops of :mod:`bayes_arena.inference.density.kernels`.

    Attributes
    ----------
    effects : ndarray of int, shape (e, 3)
        What each effect of annotators adds to, where its parameters start, and for how many annotators; 0 if it is
        shared.
    slices : ndarray of int, shape (s, 3)
        What each effect of slices adds to, and the rows of ``votes`` with its places; 0 for no second one.
    votes : ndarray of int, shape (3 + p, n_rows)
        Competitors, annotator and places of the slices' parameters.
    features : ndarray, shape (f, n_rows)
    """

    effects: Ints
    slices: Ints
    votes: Ints
    features: Floats

    @classmethod
    def of(cls, target: Objective) -> Tables:
        """Return the tables of a model."""
        slices, at = [], 3
        for effect, places in zip(target.slices, target.places, strict=True):
            what = kernels.FACTORS + effect.dimension if effect.basis == "difference" else kernels.TIES
            slices.append((what, at, at + 1 if places[1:] else 0))
            at += len(places)
        tally, first = target.tally, target.n_competitors + target.n_annotators * len(target.own)
        k = tally.k if target.own else np.zeros_like(tally.k)
        numbers = [first + place for places in target.places for place in places]
        return cls(
            effects_of(target, target.n_annotators),
            np.array(slices, dtype=np.int64).reshape(-1, 3),
            np.array([tally.i, tally.j, k, *numbers], dtype=np.int32),
            np.ascontiguousarray(tally.features, dtype=np.float64),
        )


def effects_of(target: Objective, count: int) -> Ints:
    """Return ``Tables.effects`` for the parameters of ``count`` annotators."""
    own = [(effect, target.n_competitors + row * count, count) for row, effect in enumerate(target.own)]
    first = target.n_competitors + count * len(target.own) + (target.numbering.n_slices if target.numbering else 0)
    common = [(effect, first + row, 0) for row, effect in enumerate(target.common)]
    places, rows, slopes = {M: kernels.BAD, T: kernels.TIES}, [], kernels.FACTORS + 1 + target.predictor.dimensions
    for effect, start, annotators in (*own, *common):
        what = places.get(effect.coordinate, kernels.POSITION)
        what = {"lead": kernels.FACTORS + effect.dimension, "feature": slopes + effect.feature}.get(effect.basis, what)
        rows.append((what, start, annotators))
    return np.array(rows, dtype=np.int64).reshape(-1, 3)
