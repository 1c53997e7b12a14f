"""The graph of comparisons: who can be reached from whom. Scores are comparable only within a connected component."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayes_arena.arrays import Ints


def components(size: int, a: Ints, b: Ints) -> Ints:
    """Component of each of some competitors, given pairs (a, b) that were compared, shape (size,), largest first."""
    labels = group_labels(size, a, b, strong=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def group_labels(size: int, source: Ints, target: Ints, *, strong: bool) -> Ints:
    """Component of each competitor, joined by arrows whichever way they point, or (strongly) only both ways."""
    graph = coo_array((np.ones(len(source)), (source, target)), shape=(size, size)).tocsr()
    return np.asarray(connected_components(graph, connection="strong" if strong else "weak")[1], dtype=np.int64)
