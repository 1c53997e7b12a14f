"""How alike rankings are, and how well annotators were detected.

Consistency of rankings x and y: the share of pairs of competitors that both put in the
same order, sign(x_i - x_j) = sign(y_i - y_j).  It is 1 for the same ranking, 0 for its
reverse, and about 1/2 for unrelated ones (Liu et al., 2025, section 5.4).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError


def consistency(*rankings: Floats) -> float:
    """Return the mean consistency of all pairs of rankings.

    The consistency of two is the share of pairs of competitors that both put in the
    same order, ties being an order: 1 for the same ranking, 0 for its reverse, and about
    1/2 for unrelated ones (Liu et al., 2025, section 5.4).

    Parameters
    ----------
    *rankings : ndarray, shape (competitors,)
        Scores of the same competitors, two sets of them or more.

    Returns
    -------
    float

    Raises
    ------
    ModelError
        Unless there are finite scores of the same competitors in every ranking.
    """
    sizes = {len(scores) for scores in rankings}
    if len(rankings) < 2 or len(sizes) > 1 or max(sizes) < 2:
        raise ModelError(
            "Consistency needs two rankings or more, of two competitors or more; not "
            f"{len(rankings)} of {', '.join(map(str, sorted(sizes)))}."
        )
    scores = np.array(rankings, dtype=float)
    if not np.isfinite(scores).all():
        raise ModelError(
            "Consistency needs finite scores. Leave out those that are not."
        )
    i, j = np.triu_indices(scores.shape[1], k=1)
    order = np.sign(scores[:, i] - scores[:, j])
    # Of the rankings that order a pair alike, any two agree on it.
    agreeing = 0
    for sign in (-1, 0, 1):
        count = (order == sign).sum(axis=0)
        agreeing += int((count * (count - 1) // 2).sum())
    n_runs = len(rankings)
    return agreeing / (len(i) * (n_runs * (n_runs - 1) // 2))


@dataclass(frozen=True)
class Detection:
    """Precision, recall and F1 of a set of flagged annotators.

    Attributes
    ----------
    precision : float
        Share of the flagged that are anomalous.
    recall : float
        Share of the anomalous that are flagged.
    f1 : float
        Harmonic mean of the two.
    """

    precision: float
    recall: float
    f1: float


def detection(flagged: Collection[str], anomalous: Collection[str]) -> Detection:
    """Compare flagged annotators with those who are anomalous.

    Precision is 1 where nobody is flagged, and recall where nobody is anomalous.

    Parameters
    ----------
    flagged, anomalous : collection of str
        Names.

    Returns
    -------
    Detection
    """
    n_hits = len(set(flagged) & set(anomalous))
    n_flagged = len(set(flagged))
    n_anomalous = len(set(anomalous))
    n_named = n_flagged + n_anomalous
    return Detection(
        precision=n_hits / n_flagged if n_flagged else 1.0,
        recall=n_hits / n_anomalous if n_anomalous else 1.0,
        f1=2 * n_hits / n_named if n_named else 1.0,
    )
