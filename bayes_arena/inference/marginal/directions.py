"""How many directions the votes show in which annotators disagree: as many as raise the evidence."""

from __future__ import annotations

from dataclasses import replace

from bayes_arena.errors import ConvergenceError
from bayes_arena.inference.marginal.gaussian import Unpromising, nearest_gaussian
from bayes_arena.inference.mode.mode import Mode, Simpler
from bayes_arena.likelihood.presets import in_dimensions

MOST = 2
"""Directions that are looked for."""
FEWEST = 3
"""Competitors, and annotators, from which a direction differs from a spread of theta."""


def with_directions(mode: Mode) -> Mode:
    """Return the nearest Gaussian of the model with as many further directions as raise the evidence.

    Parameters
    ----------
    mode : Mode
        The nearest Gaussian of the model without them.

    Returns
    -------
    Mode
        Its problem has the reason.
    """
    cells, first, gained = mode.problem.cells, mode.problem.model.dimensions + 1, list[str]()
    if min(cells.n_competitors, cells.n_annotators) < FEWEST:
        return _because(mode, f"fewer than {FEWEST} competitors or annotators cannot show them")
    for count in range(first, MOST + 1):
        problem = replace(mode.problem, model=in_dimensions(mode.problem.model, count))
        try:
            found = nearest_gaussian(problem, mode, mode.free_energy)
        except Unpromising:
            break
        except ConvergenceError:
            mode = _left_out(mode, count)
            break
        if not found.free_energy < mode.free_energy:
            break
        gained.append(f"{mode.free_energy - found.free_energy:.1f}")
        mode = found
    return _because(mode, f"log evidence +{' and +'.join(gained)}" if gained else "none raises the evidence")


def with_directions_of(simpler: Simpler, mode: Mode) -> Mode:
    """Return the nearest Gaussian with answers and the directions found without them, if that raises the evidence.

    Parameters
    ----------
    simpler : Simpler
        What was found without answers, with its directions.
    mode : Mode
        The nearest Gaussian with answers, without directions.

    Returns
    -------
    Mode
        Its problem has the reason.
    """
    count = simpler.problem.model.dimensions
    found = dict(simpler.problem.reasons)["directions"]
    if not count:
        return _because(mode, found)
    problem = replace(mode.problem, model=in_dimensions(mode.problem.model, count))
    try:
        richer = nearest_gaussian(problem, mode, mode.free_energy, simpler)
    except Unpromising:
        return _because(mode, f"none beside answers; without answers {found}")
    except ConvergenceError:
        return _because(_left_out(mode, count), f"none beside answers; without answers {found}")
    gained = mode.free_energy - richer.free_energy
    if not gained > 0:
        return _because(mode, f"none beside answers; without answers {found}")
    return _because(richer, f"log evidence +{gained:.1f}; without answers {found.removeprefix('log evidence ')}")


def _left_out(mode: Mode, count: int) -> Mode:
    """Return the mode, and say that a direction was not found."""
    said = (
        f"The votes suggest {'a further' if count > 1 else 'a'} direction in which annotators disagree, but "
        f"the search for it did not converge, and it is left out. Sample a Model with dimensions={count} "
        "(method='nuts')."
    )
    return replace(mode, open_questions=(*mode.open_questions, said))


def _because(mode: Mode, why: str) -> Mode:
    """Return the mode with the reason for its directions."""
    return replace(mode, problem=mode.problem.because(directions=why))
