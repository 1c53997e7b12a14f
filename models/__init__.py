"""The models as PyMC programs, one likelihood a file.

Every file has ``build(cells, prior) -> pm.Model``, the same posterior that :func:`bayes_arena.fit` maximises:
same likelihood, same prior object, named dimensions ``competitor`` and ``annotator``. ``build`` below finds the
file by the name of the model. Importing this package imports PyMC.
"""

from __future__ import annotations

from collections.abc import Callable

import pymc as pm

from bayes_arena.cells import Cells
from bayes_arena.models import am_elo, bradley_terry, m_elo
from bayes_arena.priors import Prior, resolve_prior
from bayes_arena.specification import resolve_model

__all__ = ["BUILDERS", "build"]

BUILDERS: dict[str, Callable[[Cells, Prior], pm.Model]] = {
    "bradley-terry": bradley_terry.build,
    "m-elo": m_elo.build,
    "am-elo": am_elo.build,
}


def build(cells: Cells, *, model: str | None = None, prior: str | Prior = "default") -> pm.Model:
    """Build the PyMC model of a preset.

    Parameters
    ----------
    cells : Cells
        Votes.
    model : str, optional
        Name of the model; the same default as :func:`bayes_arena.fit`.
    prior : str or Prior
        Prior, by name or as an object.

    Returns
    -------
    pymc.Model

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the model needs annotators and there are none.
    """
    chosen = resolve_model(model, annotators_known=cells.n_annotators > 0)
    return BUILDERS[chosen.name](cells, resolve_prior(prior))
