"""Weights of votes: those that are counts, those that are not, and scores as fractions of a vote.

A **frequency** w says that a row stands for w votes. An **importance** w says how much a vote matters, for instance how
many people it represents, and has no unit: if weights were taken as counts, doubling them would halve the variances.
Importance weights are scaled so that n votes have the total weight

    n_eff = (sum_v w_v)^2 / sum_v w_v^2,        w_v  ->  w_v sum w / sum w^2,        n / n_eff the design effect.

Estimates under a flat prior do not change. With weights independent of the outcomes, the scores of the votes have the
variance J = sum w^2 I while the Hessian is H = sum w I, so the sandwich is H^-1 J H^-1 = (sum w^2 / sum w) H^-1: the
inverse Hessian of the scaled weights.

The pairs that a choice of one among several becomes (:mod:`bayes_arena.votes.layouts.best_of_n`) have weights of
**information**, which are used unchanged; the number of pairs over the sum of their weights is the design effect.

A **score** s of a in [0, 1] is s wins and 1 - s losses of one vote: its loss, -s ln P(a) - (1 - s) ln P(b), is least in
expectation where P(a) is the mean score. A score of 1/2 is not a tie: in models in which a tie is an outcome, such as
``davidson``, it is half a win and half a loss, and with scores alone there are no ties. Where a tool has a score that
means "equal" (1.5 in AlpacaEval, .5 in JudgeArena), its layout reads that score as a tie. Scores vary less than votes
with the same mean, so intervals are conservative.

Source: Kish (1965), Survey Sampling.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import polars as pl

from bayes_arena.arrays import Floats
from bayes_arena.errors import VotesError, Weights
from bayes_arena.votes.outcomes import LOSS, WIN


def weighed(
    votes: pl.DataFrame, weights: Weights | Literal["information"], *, named: bool
) -> tuple[pl.DataFrame, float]:
    """Scale weights to effective votes, write scores as wins and losses, and return the design effect too.

    ``votes`` are those of :func:`~bayes_arena.votes.reading.validity.valid_votes`, and keep their columns; ``named``
    says whether there is a column of weights.
    """
    if weights not in (*get_args(Weights), "information"):
        raise VotesError(f"weights must be 'frequency' or 'importance', not {weights!r}.")
    design_effect = 1.0
    weight, n = votes["weight"].to_numpy(), votes["n"].to_numpy()
    if weights == "importance":
        if not named:
            raise VotesError("weights='importance' needs a column of weights. Name it: weight=... (--weight).")
        if "wins_a" in votes.columns:
            raise VotesError("Counts of wins are frequencies, and cannot be importance weights. Read single votes.")
        total, squares = _sum(weight * n), _sum(weight**2 * n)
        votes = votes.with_columns(pl.col("weight") * (total / squares))
        design_effect = float(n.sum()) * squares / total**2
    elif weights == "information":
        design_effect = float(n.sum()) / _sum(weight * n)
    if "score" in votes.columns:
        scored, score = votes.filter(pl.col("score").is_not_null()), pl.col("score").cast(pl.Float64)
        parts = [
            scored.with_columns(outcome=pl.lit(outcome, pl.Int8), weight=pl.col("weight") * part)
            for outcome, part in {WIN: score, LOSS: 1 - score}.items()
        ]
        votes = pl.concat([votes.filter(pl.col("score").is_null()), *parts]).filter(pl.col("weight") > 0)
    return votes, design_effect


def _sum(values: Floats) -> float:
    """Return a sum that does not depend on the order."""
    return math.fsum(np.sort(values))
