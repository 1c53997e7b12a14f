"""What the votes leave open after a fit, in words.

Scores of groups that were never compared, and maximum-likelihood estimates that lie at infinity; for the direction of
the ranking see :mod:`bayes_arena.inference.mode.direction`.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.errors import listing
from bayes_arena.inference.mode.newton import HUGE, Optimum
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.checks import never_beaten_groups

NEGLIGIBLE = 30.0
"""Nats by which a mode with the reversed ranking may fall short before it is out of the question."""


def disconnected(problem: Problem) -> list[str]:
    """Say so if some competitors were never compared, directly or through others."""
    count = len(np.unique(problem.cells.components))
    if count == 1:
        return []
    how = "each is centred on its own" if np.isinf(problem.prior.strength) else "only the prior relates them"
    return [
        f"The competitors fall into {count} groups that were never compared; {how}. "
        "Scores of different groups are not comparable; see `bayes-arena check`."
    ]


def reversed_mode(best: Optimum, others: list[Optimum]) -> Optimum | None:
    """Return the best mode with the reversed ranking, if there is one that is not negligible."""
    rivals = [other for other in others if other.point.strength @ best.point.strength < 0]
    mirror = min(rivals, key=lambda one: one.value, default=None)
    return mirror if mirror and mirror.value < best.value + NEGLIGIBLE else None


def at_infinity(problem: Problem, optimum: Optimum) -> list[str]:
    """Name what runs to infinity where nothing holds it back."""
    target, cells = problem.objective, problem.cells
    extreme = (np.abs(target.coordinates(optimum.point)) > HUGE).any(axis=0)
    groups = never_beaten_groups(cells, count_ties=not target.likelihood.drops_ties)
    fixed = not target.free_discrimination
    if optimum.converged and not extreme.any() and not (fixed and groups):
        return []
    parts = [f"never beaten or tied by the other competitors: {listing(group)}" for group in groups]
    if target.n_annotators and extreme.any() and not (fixed and groups):
        names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
        parts.append(
            "annotators whose votes fit one ranking (of competitors, or of groups of them), or one kind of outcome, "
            f"without exception: {listing(names)}"
        )
    return [
        f"No finite maximum-likelihood estimate exists ({'; '.join(parts) or 'a log-odds runs to infinity'}). What is "
        "shown is where the fit stopped, not an estimate. Use prior='default'"
        + (", or leave out annotators with few votes (keep_annotators, --delta)." if target.n_annotators else ".")
    ]
