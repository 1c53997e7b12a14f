"""Which competitors were compared, directly or through others."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from bayes_arena.arrays import Ints
from bayes_arena.votes.votes import Votes


def components(votes: Votes) -> Ints:
    """Return the group of each competitor, (competitors,); no votes compare two groups."""
    n = votes.n_competitors
    graph = csr_array((np.ones(len(votes)), (votes.i, votes.j)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1])


def count_components(votes: Votes) -> int:
    """Return the number of groups of competitors that were never compared."""
    return int(components(votes).max()) + 1


def sides_follow_strength(votes: Votes) -> bool:
    """Whether an advantage of the first side is the same as some strengths.

    It is where competitors have heights s with s_i - s_j = 1 in every vote that shows i
    first: no votes can tell an advantage b from the strengths b s.
    """
    n = votes.n_competitors
    heights = np.full(n, np.nan)
    graph = csr_array((np.ones(len(votes)), (votes.i, votes.j)), shape=(n, n))
    shown = set(zip(votes.i.tolist(), votes.j.tolist(), strict=True))
    for start in range(n):
        if np.isfinite(heights[start]):
            continue  # reached from another start
        heights[start] = 0.0
        order, parents = breadth_first_order(graph, start, directed=False)
        for c in order[1:].tolist():
            parent = int(parents[c])
            heights[c] = heights[parent] + (-1 if (parent, c) in shown else 1)
    return bool(np.all(heights[votes.i] - heights[votes.j] == 1))
