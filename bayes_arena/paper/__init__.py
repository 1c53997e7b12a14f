"""The experiments of the am-ELO paper (Liu et al., ICML 2025).

:func:`reproduce` computes every table and figure from any votes, with the
paper's numbers beside.  The parts are here, too: the four perturbations of annotators,
the gradient descents, and how rankings and detections are scored.
"""

from bayes_arena.paper.descent import Descent, descend
from bayes_arena.paper.measures import Detection, consistency, detection
from bayes_arena.paper.perturb import KINDS, perturb
from bayes_arena.paper.reproduce import TARGETS, Reproduction, reproduce

__all__ = [
    "KINDS",
    "TARGETS",
    "Descent",
    "Detection",
    "Reproduction",
    "consistency",
    "descend",
    "detection",
    "perturb",
    "reproduce",
]
