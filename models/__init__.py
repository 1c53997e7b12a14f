"""The models as PyMC programs: the same posterior that :func:`bayes_arena.fit` maximises, ready for sampling.

``build`` composes any model of the grid; the other files write down the presets, one likelihood a file. Dimensions are
named ``competitor`` and ``annotator``. Importing this package imports PyMC.
"""

from bayes_arena.errors import compiler_folder

with compiler_folder():
    from bayes_arena.models.grid import build

__all__ = ["build"]
