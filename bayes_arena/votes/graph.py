"""The graph of comparisons: who can be compared with whom, and who was never beaten.

Scores are comparable only within a connected component. A finite maximum-likelihood estimate of Bradley-Terry exists
only if the competitors cannot be split into two groups such that nobody of the first ever lost or tied against the
second (Ford, 1957): the directed graph "j took something off i" must be strongly connected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayes_arena.arrays import Ints

if TYPE_CHECKING:
    from bayes_arena.votes.cells import Cells


def components(size: int, a: Ints, b: Ints) -> Ints:
    """Component of each of some competitors, given pairs (a, b) that were compared, shape (size,), largest first."""
    labels = _components(size, a, b, strong=False)
    order = np.argsort(-np.bincount(labels), kind="stable")
    return np.argsort(order)[labels]


def never_beaten_groups(cells: Cells, *, count_ties: bool = True) -> list[list[str]]:
    """Return the groups of competitors that took every point off all others, where the votes are connected.

    Parameters
    ----------
    cells : Cells
        Votes.
    count_ties : bool
        Whether a tie takes something off both sides.

    Returns
    -------
    list of list of str
        Empty if a finite maximum-likelihood estimate exists (Ford's condition). Otherwise the names in every
        strongly connected group that lost nothing to anybody outside it, though it was compared with them.
    """
    tally = cells.tally(by_annotator=False)
    i_wins, j_wins, ties = tally.counts[:, 0], tally.counts[:, 1], tally.counts[:, 2:].sum(axis=1) * count_ties
    i_scored, j_scored = i_wins + ties > 0, j_wins + ties > 0
    took = np.concatenate([tally.i[i_scored], tally.j[j_scored]])
    off = np.concatenate([tally.j[i_scored], tally.i[j_scored]])
    group = _components(cells.n_competitors, took, off, strong=True)
    outside = group[took] != group[off]
    beaten, met = set(group[off][outside]), set(group[took][outside])
    return [
        [name for name, label in zip(cells.competitors, group, strict=True) if label == winner]
        for winner in sorted(met - beaten)
    ]


def _components(size: int, source: Ints, target: Ints, *, strong: bool) -> Ints:
    graph = coo_array((np.ones(len(source)), (source, target)), shape=(size, size)).tocsr()
    return np.asarray(connected_components(graph, connection="strong" if strong else "weak")[1], dtype=np.int64)
