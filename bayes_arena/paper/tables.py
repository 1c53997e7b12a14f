"""Table 1, statistics of the votes, and Table 2, which method predicts votes best.

Table 2 follows the paper's protocol, random splits 80/20 by vote.  Scores of a method,
over the votes left out, are the mean of (E[W] - W)^2, and AUC: over pairs of votes of
different outcomes, how often the better one has the higher E[W].  A tie ranks between a
win and a loss, as in the authors' program.  Methods see the same splits, so that
differences from m-ELO are taken split by split; their errors are corrected for what
splits share (Nadeau & Bengio, 2003).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Floats
from bayes_arena.checks.held_out import random_splits
from bayes_arena.errors import ModelError
from bayes_arena.paper.methods import METHODS, SHUFFLES, run_method
from bayes_arena.tables import Columns
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

SHARE = 0.2  # of the votes that a split leaves out
SCORES = ("mse", "auc")
REFERENCE = "m-elo"


def statistic_columns(votes: Votes) -> Columns:
    """Return Table 1: ``statistic, value``; pairs are all pairs, met or not."""
    n, n_votes = votes.n_competitors, votes.n_votes
    statistics = {
        "annotators": votes.n_annotators,
        "models": n,
        "votes": n_votes,
        "votes per annotator": n_votes / votes.n_annotators,
        "votes per model": n_votes / n,
        "votes per model pair": n_votes / (n * (n - 1) / 2),
    }
    names, values = list(statistics), list(statistics.values())
    return {"statistic": names, "value": values}


def prediction_columns(
    votes: Votes,
    splits: int,
    methods: tuple[str, ...] = METHODS,
    shuffles: int = SHUFFLES,
) -> Columns:
    """Return how well the methods predict votes that were left out.

    Columns are ``method``; ``mse`` and ``auc``, each with its standard error
    ``..._se``, and its difference from m-ELO, ``..._diff`` and ``..._diff_se``.
    """
    values = np.empty((len(methods), splits, len(SCORES)))
    for number, (rest, left_out) in enumerate(
        random_splits(votes, "vote", splits, SHARE, seed=0)
    ):
        for row, name in enumerate(methods):
            progress.show(f"Split {number + 1} of {splits}: {name}")
            method = run_method(name, rest, shuffles)
            score = method.expected_score(left_out)
            error = squared_error(score, left_out)
            values[row, number] = error, auc(score, left_out)
    progress.clear()
    correction = np.sqrt(1 / splits + SHARE / (1 - SHARE))
    columns: dict[str, Any] = {"method": list(methods)}
    differences = values - values[methods.index(REFERENCE)]
    for suffix, array in (("", values), ("_diff", differences)):
        for k, name in enumerate(SCORES):
            columns[name + suffix] = array[:, :, k].mean(axis=1)
            spread = array[:, :, k].std(axis=1, ddof=1)
            columns[f"{name}{suffix}_se"] = correction * spread
    return columns


def squared_error(score: Floats, votes: Votes) -> float:
    """Return the mean of (E[W] - W)^2 over votes."""
    counts = votes.folded
    points = np.zeros(3)
    points[[FIRST, TIE]] = 1.0, 0.5
    squares = (score[:, None] - points) ** 2
    return float((counts * squares).sum() / counts.sum())


def auc(score: Floats, votes: Votes) -> float:
    """Return how often the better of two outcomes has the higher score."""
    values, row = np.unique(score, return_inverse=True)
    by_outcome = []
    for outcome in (FIRST, TIE, SECOND):
        count = votes.folded[:, outcome]
        by_outcome.append(np.bincount(row, count, len(values)))
    n_right, n_pairs = 0.0, 0.0
    for better, worse in combinations(by_outcome, 2):
        n_right += float(better @ (np.cumsum(worse) - worse / 2))
        n_pairs += float(better.sum() * worse.sum())
    if n_pairs == 0:
        raise ModelError("AUC needs votes of different outcomes among those left out.")
    return n_right / n_pairs
