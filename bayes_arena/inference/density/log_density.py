"""Density and gradient of votes under a model, as a function of the sampler's coordinates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.compiled import made_ready
from bayes_arena.inference.density.coordinates import Coordinates
from bayes_arena.inference.density.tables import Tables
from bayes_arena.likelihood import loops

LogDensity = Callable[[Floats], tuple[float, Floats]]


def log_density(at: Coordinates) -> LogDensity:
    """Return the function from coordinates to the log-density there, up to a constant, and its gradient.

    It is compiled when it is first created on a machine, which takes seconds. A likelihood without compiled loops is
    evaluated by NumPy, between the compiled maps to the parameters and back.
    """
    target, prior = at.target, at.prior
    tables, counts = Tables.of(target), np.ascontiguousarray(target.counts)
    effects, slices, votes, features = tables.effects, tables.slices, tables.votes, tables.features
    walk = tables.walk
    loop, rows = target.likelihood.loop, target.likelihood.rows
    kind = loops.LOOPS[loop] if loop else None

    def compiled(x: Floats) -> tuple[float, Floats]:
        slope = np.empty(len(x))
        value = loops.density(x, kind, *prior, effects, slices, votes, walk, features, counts, slope)
        return value, slope

    def evaluated(x: Floats) -> tuple[float, Floats]:
        slope = np.empty(len(x))
        value, numbers = loops.place(x, *prior, slope)
        of_annotator, leads, z = tables.coordinates(loops.walk_of(numbers, walk), target.likelihood)
        terms = rows(target.counts, z)
        pulled = tables.back(numbers, of_annotator, leads, -terms.gradient, target.likelihood)
        loops.walk_back(pulled, walk)
        loops.place_back(x, numbers, pulled, *prior, slope)
        return value - float(terms.value.sum()), slope

    function, first = (evaluated, loops.back) if kind is None else (compiled, loops.density)
    made_ready(first, lambda: function(at.start), "the density that is sampled")
    return function
