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
from bayes_arena.specification import Model

AGAINST = 0.1
"""Share of the discrimination against the ranking below which its direction is not in question."""
HUGE = 20.0
"""A log-odds this large would take hundreds of millions of votes to see; without a maximum Newton stops beyond it."""


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
    """Say so if the annotators do not settle which end of the ranking is up.

    Two signs together: a good part of the discrimination is spent against the ranking, and the mean over annotators
    lies within two standard errors of zero.
    """
    if len(theta) < 2:
        return []
    against = np.abs(theta[np.sign(theta) != np.sign(theta.mean())]).sum() / np.abs(theta).sum()
    if against < AGAINST or abs(theta.mean()) > 2 * theta.std(ddof=1) / np.sqrt(len(theta)):
        return []
    return [
        f"The direction of the ranking is not settled: {against:.0%} of the annotators' discrimination is against it "
        "and their mean lies within two standard errors of zero, so the reversed ranking is a serious rival."
    ]


def at_infinity(target: Objective, point: Point, cells: Cells, model: Model) -> list[str]:
    """Name what runs to infinity under a flat prior."""
    remedy = "What is shown is where the fit stopped, not an estimate. Use prior='default'"
    if model.discrimination == "fixed":
        groups = never_beaten_groups(cells, count_ties=model.ties != "drop")
        if groups:
            return [
                "No finite maximum-likelihood estimate exists: never beaten or tied by the other competitors: "
                f"{'; '.join(listing(group) for group in groups)}. {remedy}."
            ]
    extreme = (np.abs(target.coordinates(point)) > HUGE).any(axis=0)
    if not extreme.any():
        return []
    if not target.n_annotators:
        return [f"No finite maximum-likelihood estimate exists: a log-odds runs to infinity. {remedy}."]
    names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
    return [
        "No finite maximum-likelihood estimate exists: the numbers of annotators who never contradict one ranking, "
        f"never tie or always tie run to infinity ({listing(names)}). {remedy}, or leave out annotators with few "
        "votes (delta)."
    ]
