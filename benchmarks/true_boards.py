"""Boards that simulated arenas have, and how fits meet them."""

from __future__ import annotations

import numpy as np

import bayes_arena as ba
from bayes_arena.arrays import Floats
from bayes_arena.votes.outcomes import LOSS, WIN

PER_LOGIT = 400 / np.log(10)


def average_score(lead: Floats, tie: Floats) -> Floats:
    """Return the score of the first under Davidson's model, the average over annotators, shape (m,).

    ``lead`` has theta_k (r_i - r_j), shape (n_annotators, m), and ``tie`` ln nu_k.
    """
    win, lose, tied = np.exp(lead / 2), np.exp(-lead / 2), np.exp(tie)[:, None]
    return ((win + tied / 2) / (win + lose + tied)).mean(axis=0)


def projected(score: Floats, n: int) -> Floats:
    """Return r* in Elo points, mean zero: the Bradley-Terry projection of the scores of all pairs i < j of n."""
    i, j = np.triu_indices(n, 1)
    counts = np.zeros((len(i), 4))
    counts[:, WIN], counts[:, LOSS] = 1e4 * score, 1e4 * (1 - score)
    every = ba.Cells(tuple(f"m{one:03}" for one in range(n)), (), i, j, np.zeros_like(i), counts)
    found = PER_LOGIT * ba.fit(every, model="bradley-terry", prior="flat", method="map").strength
    return found - found.mean()


def measured(fit: ba.Fit, truth: Floats) -> tuple[Floats, Floats, Floats]:
    """Return errors in Elo points, and whether intervals at .95 and at .89 cover, by competitor."""
    inside = []
    for level in (0.95, 0.89):
        board = ba.leaderboard(fit, level=level).set_index("competitor").loc[list(fit.cells.competitors)]
        value = truth - truth.mean() + board["elo"].mean()
        inside.append(((board["lower"] <= value) & (value <= board["upper"])).to_numpy(float))
    return (board["elo"] - value).to_numpy(), inside[0], inside[1]
