"""Records of the competitors: how often each won, lost and tied, and who was never beaten."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import LOSS, TIE, WIN, wins_losses_ties
from bayes_arena.votes.tally import AT_ONCE


def records(cells: Cells) -> tuple[Floats, Floats, Floats]:
    """Return the wins, losses and ties (both-bad included) of every competitor, each of shape (n_competitors,)."""
    shown = np.zeros((2, cells.n_competitors, cells.counts.shape[1]))
    for start in range(0, len(cells.a), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        for sums, competitor in zip(shown, (cells.a[part], cells.b[part]), strict=True):
            for outcome, counts in enumerate(cells.counts[part].T):
                sums[:, outcome] += sum_by(competitor, counts, cells.n_competitors)
    as_a, as_b = map(wins_losses_ties, shown)
    return as_a[WIN] + as_b[LOSS], as_a[LOSS] + as_b[WIN], as_a[TIE] + as_b[TIE]


def never_beaten_groups(cells: Cells, *, count_ties: bool = True) -> list[list[str]]:
    """Return the groups of competitors that never lost a point to the competitors outside the group.

    A finite maximum-likelihood estimate of Bradley-Terry exists only if there are none (Ford, 1957): the directed graph
    with an arrow from i to j where i won a point against j must be strongly connected.

    Parameters
    ----------
    cells : Cells
        Votes.
    count_ties : bool
        Whether a tie counts as points for both sides.

    Returns
    -------
    list of list of str
        Empty if a finite maximum-likelihood estimate exists (Ford's condition). Otherwise the names in every strongly
        connected group that was compared with competitors outside it and lost no point to them.
    """
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    tally = cells.tally(by_annotator=False)
    i_wins, j_wins, ties = wins_losses_ties(tally.counts)
    i_scored, j_scored = i_wins + count_ties * ties > 0, j_wins + count_ties * ties > 0
    scorer = np.concatenate([tally.i[i_scored], tally.j[j_scored]])
    conceder = np.concatenate([tally.j[i_scored], tally.i[j_scored]])
    arrows = coo_array((np.ones(len(scorer)), (scorer, conceder)), shape=(cells.n_competitors, cells.n_competitors))
    group = connected_components(arrows.tocsr(), connection="strong")[1]
    outside = group[scorer] != group[conceder]
    beaten, met = set(group[conceder][outside]), set(group[scorer][outside])
    return [
        [name for name, label in zip(cells.competitors, group, strict=True) if label == winner]
        for winner in sorted(met - beaten)
    ]
