"""Boards that simulated arenas have, and how fits meet them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

import bayes_arena as ba
from bayes_arena.arrays import DataFrame, Floats
from bayes_arena.votes.outcomes import LOSS, WIN

PER_LOGIT = 400 / np.log(10)
Met = tuple[Floats, Floats, Floats]
"""What :func:`measured` returns."""


def average_score(lead: Floats, tie: Floats) -> Floats:
    """Return the score of the first under Davidson's model, the average over annotators, shape (m,).

    ``lead`` has theta_k (r_i - r_j), shape (n_annotators, m), and ``tie`` ln nu_k.
    """
    win, lose, tied = np.exp(lead / 2), np.exp(-lead / 2), np.exp(tie)[:, None]
    return ((win + tied / 2) / (win + lose + tied)).mean(axis=0)


def strength_of(score: Floats, n: int) -> Floats:
    """Return r* in logits, mean zero: the Bradley-Terry projection of the scores of all pairs i < j of n."""
    i, j = np.triu_indices(n, 1)
    counts = np.zeros((len(i), 4))
    counts[:, WIN], counts[:, LOSS] = 1e4 * score, 1e4 * (1 - score)
    every = ba.Cells(tuple(f"m{one:03}" for one in range(n)), (), i, j, np.zeros_like(i), counts)
    found = ba.fit(every, model="bradley-terry", prior="flat", method="map").strength
    return found - found.mean()


def projected(score: Floats, n: int) -> Floats:
    """Return the same in Elo points."""
    return PER_LOGIT * strength_of(score, n)


def by_name(fit: ba.Fit, **options: Any) -> DataFrame:
    """Return the leaderboard in the order of the competitors' names, which are its index."""
    return ba.leaderboard(fit, **options).set_index("competitor").loc[list(fit.cells.competitors)]


def scores(fit: ba.Fit) -> tuple[Floats, Floats]:
    """Return Elo scores and their standard deviations, by competitor."""
    board = by_name(fit, level=0.95)
    return board["elo"].to_numpy(), ((board["upper"] - board["lower"]) / (2 * NormalDist().inv_cdf(0.975))).to_numpy()


def measured(fit: ba.Fit, truth: Floats) -> Met:
    """Return errors in Elo points, and whether intervals at .95 and at .89 cover, by competitor."""
    inside = []
    for level in (0.95, 0.89):
        board = by_name(fit, level=level)
        value = truth - truth.mean() + board["elo"].mean()
        inside.append(((board["lower"] <= value) & (value <= board["upper"])).to_numpy(float))
    return (board["elo"] - value).to_numpy(), inside[0], inside[1]


@dataclass
class Boards:
    """Boards over arenas: mean square errors and widths in Elo points, and shares of competitors inside intervals."""

    error: list[float] = field(default_factory=list)
    covered: list[float] = field(default_factory=list)
    width: list[float] = field(default_factory=list)

    def add(self, board: DataFrame, truth: Floats) -> None:
        """Compare a board by name with the truth, in logits of mean zero."""
        truth, middle = PER_LOGIT * truth, board["elo"].mean()
        lower, upper = board["lower"] - middle, board["upper"] - middle
        self.error.append(float(((board["elo"] - middle - truth) ** 2).mean()))
        self.covered.append(float(((lower <= truth) & (truth <= upper)).mean()))
        self.width.append(float((upper - lower).mean()))

    @property
    def rmse(self) -> float:
        """Root of the mean square error."""
        return float(np.sqrt(np.mean(self.error)))

    @property
    def coverage(self) -> str:
        """Mean coverage with its standard error."""
        return with_error(self.covered)


def in_short(arenas: Sequence[Met]) -> str:
    """Return cells of a table: the root mean square error, and how often intervals at .95 and at .89 cover."""
    error, wide, narrow = (np.array(one) for one in zip(*arenas, strict=True))
    return f"{np.sqrt(np.mean(error**2)):.1f} | {wide.mean():.3f} | {narrow.mean():.3f}"


def with_error(arenas: Sequence[float] | Floats) -> str:
    """Return a mean over arenas and its standard error."""
    error = np.std(arenas, ddof=1) / np.sqrt(len(arenas)) if len(arenas) > 1 else np.nan
    return f"{np.mean(arenas):.3f} ({error:.3f})"


def inside(z: Floats, levels: Sequence[float]) -> list[str]:
    """Return the share of errors in standard deviations, (arenas, m), inside each level, and their rms."""
    bounds = [NormalDist().inv_cdf(0.5 + level / 2) for level in levels]
    return [*(with_error((np.abs(z) < bound).mean(axis=1)) for bound in bounds), f"{np.sqrt((z**2).mean()):.2f}"]
