"""The graph of comparisons: who can be reached from whom. Scores are comparable only within a connected component."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Ints


def components(size: int, a: Ints, b: Ints) -> Ints:
    """Component of each of some competitors, given pairs (a, b) that were compared, shape (size,), largest first."""
    least, first = np.arange(size), np.full(size, -1)  # competitor of the component: in the end the first there is
    while (first != least).any():
        first, least = least, least.copy()
        np.minimum.at(least, first[a], first[b])
        np.minimum.at(least, first[b], first[a])
        least = least[least]
    labels = np.unique(first, return_inverse=True)[1]
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def strong_components(size: int, source: Ints, target: Ints) -> Ints:
    """Component of each competitor, joined where arrows lead from one to another and back."""
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(source)), (source, target)), shape=(size, size)).tocsr()
    return np.asarray(connected_components(graph, connection="strong")[1], dtype=np.int64)
