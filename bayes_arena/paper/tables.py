"""Table 1, statistics of the votes, and Table 2, which method predicts votes best.

Table 2 follows the paper's protocol, random splits 80/20 by vote.  Scores are those of
:mod:`bayes_arena.checks.held_out`, but for AUC a tie ranks between a win and a loss, as
in the authors' program.
"""

from __future__ import annotations

import numpy as np

from bayes_arena import progress
from bayes_arena.checks.held_out import (
    auc,
    random_splits,
    score_columns,
    squared_error,
)
from bayes_arena.paper.methods import METHODS, run_method
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

SHARE = 0.2  # of the votes that a split leaves out
SCORES = ("mse", "auc")


def statistic_columns(votes: Votes) -> Columns:
    """Return Table 1: ``statistic, value``; pairs are all pairs, met or not."""
    n = votes.n_competitors
    n_votes = votes.n_votes
    statistics = {
        "annotators": votes.n_annotators,
        "models": n,
        "votes": n_votes,
        "votes per annotator": n_votes / votes.n_annotators,
        "votes per model": n_votes / n,
        "votes per model pair": n_votes / (n * (n - 1) / 2),
    }
    return {"statistic": list(statistics), "value": list(statistics.values())}


def prediction_columns(votes: Votes, splits: int, shuffles: int) -> Columns:
    """Return how well the methods predict votes that were left out.

    Columns are ``method``; ``mse`` and ``auc``, each with its standard error
    ``..._se``, and its difference from m-ELO, ``..._diff`` and ``..._diff_se``.
    """
    values = np.empty((len(METHODS), splits, len(SCORES)))
    parts = random_splits(votes, "vote", splits, SHARE, seed=0)
    for number, (rest, left_out) in enumerate(parts):
        counts = left_out.folded
        for row, name in enumerate(METHODS):
            progress.show(f"Split {number + 1} of {splits}: {name}")
            score = run_method(name, rest, shuffles).expected_score(left_out)
            values[row, number, 0] = squared_error(score, counts)
            values[row, number, 1] = auc(score, counts[:, [FIRST, TIE, SECOND]])
    progress.clear()
    reference = METHODS.index("m-elo")
    scores = score_columns(SCORES, values, SHARE, reference)
    return {"method": list(METHODS), **scores}
