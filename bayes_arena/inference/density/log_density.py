"""Density and gradient of votes under a model, as a function of the sampler's coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.compiled import made_ready
from bayes_arena.inference.density import kernels
from bayes_arena.inference.density.coordinates import Coordinates
from bayes_arena.inference.density.tables import Tables

LogDensity = Callable[[Floats], tuple[float, Floats]]


def log_density(at: Coordinates) -> LogDensity:
    """Return the function from coordinates to the log-density there, up to a constant, and its gradient.

    It is compiled when it is first created on a machine, which takes seconds. A likelihood without compiled loops is
    evaluated by NumPy, between the compiled maps to the parameters and back.
    """
    target, prior = at.target, at.prior
    tables, counts = Tables.of(target), np.ascontiguousarray(target.counts)
    effects, slices, votes, features = tables.effects, tables.slices, tables.votes, tables.features
    loop, rows = target.likelihood.loop, target.likelihood.rows
    kind = kernels.LOOPS[loop] if loop else None

    def compiled(x: Floats) -> tuple[float, Floats]:
        slope = np.empty(len(x))
        value = kernels.density(x, kind, *prior, effects, slices, votes, features, counts, slope)
        return value, slope

    def evaluated(x: Floats) -> tuple[float, Floats]:
        slope = np.empty(len(x))
        value, numbers = kernels.place(x, *prior, slope)
        of_annotator, bad, leads, eta, tie, where = kernels.coordinates(numbers, effects, slices, votes, features)
        z = np.array([eta, tie[where], np.full(len(eta), bad)])[: target.likelihood.n_coordinates]
        terms = rows(target.counts, z)
        by = np.zeros((3, len(eta)))
        by[: len(z)] = -terms.gradient
        pulled = kernels.back(numbers, of_annotator, leads, by[0], by[1], by[2].sum(), effects, slices, votes, features)
        kernels.place_back(x, numbers, pulled, *prior, slope)
        return value - float(terms.value.sum()), slope

    function, first = (evaluated, kernels.back) if kind is None else (compiled, kernels.density)
    made_ready(first, lambda: function(at.start), "the density that is sampled")
    return function
