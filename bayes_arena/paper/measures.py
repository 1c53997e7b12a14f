"""How alike two rankings are, and how well annotators were detected.

Consistency of rankings x and y: the share of pairs of competitors that both put in the same order, sign(x_i - x_j) =
sign(y_i - y_j). 1 for the same ranking, 0 for the reverse, about 1/2 for unrelated ones (Liu et al., 2025, section 5.4;
(C(2,2) + C(3,2)) / C(5,2) = 0.4 when two of five rankings are one way and three the other).

Detection: precision TP / (TP + FP), recall TP / (TP + FN) and F1 = 2 TP / (2 TP + FP + FN). Precision is 1
where no annotator is flagged, and recall is 1 where there is none to find.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError


@dataclass(frozen=True)
class Detection:
    """How well a set of flagged annotators matches the true one."""

    precision: float
    recall: float
    f1: float


def consistency(x: Floats, y: Floats) -> float:
    """Return the share of pairs of competitors that two sets of scores order alike; a tie is an order of its own."""
    if len(x) != len(y):
        raise ModelError(f"Rankings of the same competitors must have the same length, not {len(x)} and {len(y)}.")
    return pairwise_consistency(np.array([x, y]))


def pairwise_consistency(scores: Floats) -> float:
    """Return the mean consistency over all pairs of several rankings, given by finite scores (n_rankings, n)."""
    if scores.ndim != 2 or min(scores.shape) < 2 or not np.isfinite(scores).all():
        raise ModelError(
            "Consistency needs finite scores of at least two competitors in at least two rankings; "
            f"these have shape {scores.shape}."
        )
    runs, size = scores.shape
    i, j = np.triu_indices(size, k=1)
    above, below = scores[:, i] > scores[:, j], scores[:, i] < scores[:, j]
    agreeing = 0  # pairs of rankings that say the same, over all pairs of competitors
    for votes in (above.sum(axis=0), below.sum(axis=0), runs - above.sum(axis=0) - below.sum(axis=0)):
        agreeing += int(np.sum(votes * (votes - 1) // 2))
    return float(agreeing / (len(i) * (runs * (runs - 1) // 2)))


def detection(flagged: Iterable[str], true: Iterable[str]) -> Detection:
    """Return precision, recall and F1 of flagged annotators against the truly anomalous ones."""
    flagged, true = set(flagged), set(true)
    hits = len(flagged & true)
    return Detection(
        precision=hits / len(flagged) if flagged else 1.0,
        recall=hits / len(true) if true else 1.0,
        f1=2 * hits / (len(flagged) + len(true)) if flagged or true else 1.0,
    )
