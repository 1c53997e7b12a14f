"""What the votes leave open after a fit, in words.

Three things: scores of groups that were never compared, the direction of the ranking when annotators contradict
each other, and maximum-likelihood estimates that lie at infinity.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import never_beaten_groups
from bayes_arena.errors import listing
from bayes_arena.likelihood import Objective, Point
from bayes_arena.priors import Prior

HUGE_ETA = 15.0
"""A predicted log-odds this large would take millions of votes to see: the estimate is on its way to infinity."""


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


def unsettled_direction(theta: Floats) -> list[str]:
    """Say so if the mean discrimination is within two standard errors of zero."""
    if len(theta) < 2 or abs(theta.mean()) > 2 * theta.std(ddof=1) / np.sqrt(len(theta)):
        return []
    return [
        "The direction of the ranking is not settled: the annotators' mean discrimination lies within two "
        "standard errors of zero, so the reversed ranking is a serious rival."
    ]


def at_infinity(target: Objective, point: Point, cells: Cells) -> list[str]:
    """Name what runs to infinity under a flat prior."""
    remedy = "What is shown is where the fit stopped, not an estimate. Use prior='default'"
    if not target.n_annotators:
        groups = never_beaten_groups(cells)
        if not groups:
            return []
        return [
            "No finite maximum-likelihood estimate exists: never beaten or tied by the other competitors: "
            f"{'; '.join(listing(group) for group in groups)}. {remedy}."
        ]
    extreme = np.abs(target.linear_predictor(point)) > HUGE_ETA
    if not extreme.any():
        return []
    names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
    return [
        "No finite maximum-likelihood estimate exists: the discrimination of annotators who never contradict one "
        f"ranking runs to infinity ({listing(names)}). {remedy}, or leave out annotators with few votes (delta)."
    ]
