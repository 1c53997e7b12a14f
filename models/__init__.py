"""The models as PyMC programs: the same posterior that :func:`bayes_arena.fit` maximises or samples.

Dimensions are named ``competitor`` and ``annotator``. PyMC is imported when the first of these is used.

=================  ====================================================================
bradley_terry      Bradley-Terry, to be read, changed and sampled: one row per vote
m_elo              m-ELO, the same in Elo points
am_elo             am-ELO
am_elo_directions  am-ELO in several dimensions (multidimensional discrimination)
davidson           Davidson, with position effects
am_davidson        am-Davidson
per_vote           what these six share: the votes, and the likelihood of half wins
spreads            spreads of the prior, fixed or sampled
grid               ``build``: any model of the grid, on summed votes
_parts             its other parts
=================  ====================================================================
"""

from typing import Any

import lazy_loader

from bayes_arena.errors import compiler_folder
from bayes_arena.extras import require

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in __all__:
        require("PyMC models", "pymc")
    with compiler_folder():
        return _load(name)
