"""How many directions the votes show in which annotators disagree: as many as raise the evidence."""

from __future__ import annotations

from dataclasses import replace

from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.gaussian import Unpromising, nearest_gaussian
from bayes_arena.inference.mode.mode import Mode

MOST = 2
"""Directions that are looked for."""
NOT_FOUND = (
    "The votes suggest {ordinal} direction in which annotators disagree, but the search for it did not converge, and "
    "it is left out. Sample the posterior of a Model with dimensions={dimensions} (method='nuts')."
)


def with_directions(mode: Mode) -> Mode:
    """Return the nearest Gaussian of the model with as many directions as raise the evidence.

    Parameters
    ----------
    mode : Mode
        The nearest Gaussian of the model without directions.
    """
    for dimensions in range(1, MOST + 1):
        problem = replace(mode.problem, model=replace(mode.problem.model, dimensions=dimensions))
        try:
            found = nearest_gaussian(problem, mode, mode.free_energy)
        except Unpromising:
            return mode
        except ConvergenceError:
            ordinal = "a" if dimensions == 1 else "a further"
            said = NOT_FOUND.format(ordinal=ordinal, dimensions=dimensions)
            return replace(mode, open_questions=(*mode.open_questions, said))
        if not found.free_energy < mode.free_energy:
            return mode
        mode = found
    return mode
