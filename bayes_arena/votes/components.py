"""Which competitors were compared, directly or through others."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

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
