"""Consistency of rankings, and detection of annotators: known answers."""

import numpy as np
import pytest

from bayes_arena.errors import ModelError
from bayes_arena.paper import consistency, detection

X = np.array([3.0, 2.0, 1.0, 0.0])


def test_consistency_counts_pairs_ordered_alike():
    assert consistency(X, 10 * X + 7) == 1
    assert consistency(X, -X) == 0
    assert consistency(X, np.array([2.0, 3.0, 1.0, 0.0])) == 5 / 6
    tied = np.array([3.0, 2.0, 2.0, 0.0])  # is no order of the two
    assert consistency(X, tied) == 5 / 6
    assert consistency(tied, tied) == 1


def test_two_rankings_one_way_and_three_the_other_are_the_papers_point_four():
    assert consistency(X, -X, X, -X, X) == pytest.approx(0.4)


@pytest.mark.parametrize(
    "rankings",
    [(X,), (X, X[:3]), (X[:1], X[:1]), (X, np.array([1, 2, 3, np.nan]))],
)
def test_consistency_needs_two_finite_rankings(rankings):
    with pytest.raises(ModelError, match="Consistency needs"):
        consistency(*rankings)


@pytest.mark.parametrize(
    ("flagged", "anomalous", "precision", "recall", "f1"),
    [
        ("abc", "bcde", 2 / 3, 1 / 2, 4 / 7),
        ("ab", "ab", 1, 1, 1),
        ("", "", 1, 1, 1),
        ("", "a", 1, 0, 0),
        ("a", "", 0, 1, 0),
    ],
)
def test_detection(flagged, anomalous, precision, recall, f1):
    scores = detection(list(flagged), list(anomalous))
    assert scores.precision == precision
    assert scores.recall == recall
    assert scores.f1 == pytest.approx(f1)
