"""The models as PyMC programs: what ``fit(method="nuts")`` samples, to read and to change.

``build(votes)`` of each program returns a ``pm.Model`` whose variables have the names of
the effects, with the dimensions ``competitor`` and ``annotator``.

================  ==================================================================
bradley_terry     Bradley-Terry: all votes have equal weight, a tie is half a win
m_elo             the same in Elo points, as the paper has it
am_elo            a discrimination for each annotator
davidson          ties as an outcome, and an advantage of the first side
am_davidson       both, each annotator with a discrimination, ties and sides
any_model         any :class:`~bayes_arena.Model`: slices, style, graded wins
================  ==================================================================

What they share is public, too: ``data`` (votes as arrays), ``normal``, ``zero_sum`` and
``shared`` (parameters), ``Prior`` and ``Spread``, and ``observe`` (the outcomes).
"""

from importlib.util import find_spec

import lazy_loader

from bayes_arena.errors import MissingPackageError

if find_spec("pymc") is None:
    raise MissingPackageError(
        "The models as programs need PyMC. Install it with: "
        "pip install 'bayes-arena[posterior]'"
    )

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
