"""What the votes leave open after a fit, in words.

Three things: scores of groups that were never compared, the direction of the ranking when annotators contradict
each other, and maximum-likelihood estimates that lie at infinity.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import never_beaten_groups
from bayes_arena.errors import listing
from bayes_arena.likelihood import Objective
from bayes_arena.newton import HUGE, Optimum
from bayes_arena.priors import Prior
from bayes_arena.specification import Model

AGAINST = 0.1
"""Share of the discrimination against the ranking below which its direction is not in question."""
RIVAL = 0.01
"""Posterior probability from which the reversed ranking is a serious rival: low, because the Laplace evidence is
too sure of itself (of simulated rankings with a probability of .01 to .1 of being reversed a quarter were)."""
NEGLIGIBLE = 30.0
"""Nats by which a mode with the reversed ranking may fall short before it is out of the question."""


def disconnected(labels: Ints, prior: Prior) -> list[str]:
    """Say so if some competitors were never compared, directly or through others."""
    count = len(np.unique(labels))
    if count == 1:
        return []
    how = "each is centred on its own" if np.isinf(prior.strength) else "only the prior relates them"
    return [
        f"The competitors fall into {count} groups that were never compared; {how}. "
        "Scores of different groups are not comparable; see `bayes-arena check`."
    ]


UNSETTLED = (
    "The direction of the ranking is not settled: {reason}, so the reversed ranking is a serious rival. Look at the "
    "annotators first (`bayes-arena annotators`)."
)


def unsettled_by_votes(theta: Floats) -> list[str]:
    """Say so if, under a flat prior, the annotators do not settle which end of the ranking is up.

    Two signs together: a good part of the discrimination is spent against the ranking, and the mean over annotators
    lies within two standard errors of zero.
    """
    if len(theta) < 2:
        return []
    against = _share_against(theta)
    if against < AGAINST or abs(theta.mean()) > 2 * theta.std(ddof=1) / np.sqrt(len(theta)):
        return []
    reason = (
        f"{against:.0%} of the annotators' discrimination is against it and their mean lies within two standard errors "
        "of zero"
    )
    return [UNSETTLED.format(reason=reason)]


def unsettled_by_mirror(probability: float | None) -> list[str]:
    """Say so if, under a proper prior, the reversed ranking has a probability that cannot be neglected."""
    if probability is None or probability < RIVAL:
        return []
    return [UNSETTLED.format(reason=f"the reversed ranking has a posterior probability of {probability:.2f}")]


def reversed_mode(best: Optimum, others: list[Optimum]) -> Optimum | None:
    """Return the best mode with the reversed ranking, if there is one that is not negligible."""
    rivals = [other for other in others if other.point.strength @ best.point.strength < 0]
    mirror = min(rivals, key=lambda one: one.value, default=None)
    return mirror if mirror and mirror.value < best.value + NEGLIGIBLE else None


def _share_against(theta: Floats) -> float:
    """Share of the discrimination that has not the sign of the mean."""
    return float(np.abs(theta[np.sign(theta) != np.sign(theta.mean())]).sum() / np.abs(theta).sum())


def at_infinity(target: Objective, optimum: Optimum, cells: Cells, model: Model) -> list[str]:
    """Name what runs to infinity where nothing holds it back."""
    extreme = (np.abs(target.coordinates(optimum.point)) > HUGE).any(axis=0)
    groups = never_beaten_groups(cells, count_ties=model.ties != "drop")
    fixed = model.discrimination == "fixed"
    if optimum.converged and not extreme.any() and not (fixed and groups):
        return []
    parts = [f"never beaten or tied by the other competitors: {listing(group)}" for group in groups]
    if target.n_annotators and extreme.any() and not (fixed and groups):
        names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
        parts.append(
            f"annotators whose votes fit one ranking, or one kind of outcome, without exception: {listing(names)}"
        )
    return [
        f"No finite maximum-likelihood estimate exists ({'; '.join(parts) or 'a log-odds runs to infinity'}). What is "
        "shown is where the fit stopped, not an estimate. Use prior='default'"
        + (", or leave out annotators with few votes (delta)." if target.n_annotators else ".")
    ]
