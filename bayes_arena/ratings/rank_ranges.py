"""Rank ranges: the ranks that the votes leave open to every competitor, all of them at once.

A competitor i is shown to be better than j where the lead r*_i - r*_j is beyond chance. With d_ij its estimate, s_ij
its standard deviation, m ordered pairs and the ratios d_ij / s_ij in descending order, the k-th pair is told apart if
it and all before it satisfy

    d_ij / s_ij > z(1 - alpha / (m - k + 1)),      alpha = 1 - level,      z the quantile of the Gaussian,

so that, whatever the true strengths, *all* that is shown is true with probability ``level`` at least (Holm, 1979).
Hence all true ranks lie at once within

    rank_lower = 1 + number shown to be better,      rank_upper = n - number shown to be worse

(Mogstad et al., 2024, who call these simultaneous confidence sets for ranks). Competitors that may be the best are
those with ``rank_lower`` 1: nobody is shown to be better.

Where an interval has standard deviations s_i alone, not their covariances (all but the posterior's own, and that too
for 1500 competitors or more), i is shown to be better than j where their intervals are apart, at a width that holds for
all n of them at once:

    d_ij > c (s_i + s_j),      c the quantile of their distribution at (1 + level^(1/n)) / 2

(Šidák, 1967, for any correlation; the ranks by Klein, Wright & Wieczorek, 2020). That is the formula of Chatbot Arena,
whose intervals hold one by one only, with intervals that hold together.

Two that no path of votes connects are never told apart. Where the votes leave the direction of the ranking open with
probability p, the level is raised to level + p, and nobody is told apart where that reaches one.

References
----------
Holm (1979), Scandinavian Journal of Statistics 6; Šidák (1967), Journal of the American Statistical Association 62;
Klein, Wright & Wieczorek (2020), Journal of the Royal Statistical Society C 69; Mogstad, Romano, Shaikh & Wilhelm
(2024), "Inference for ranks with applications to mobility across neighbourhoods and academic achievement across
countries", Review of Economic Studies 91.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri, stdtrit

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import Summary


def rank_ranges(fit: Fit, covariance: Floats | None, summary: Summary, level: float) -> tuple[Ints, Ints]:
    """Return the lowest and the highest ranks that the votes leave open, all at once with probability ``level``.

    ``summary`` is of r* in logits, by the interval, and ``covariance`` that of r*, (n, n): without it only intervals
    count.
    """
    group, size = fit.cells.components, len(summary.value)
    level += fit.mirror_probability or 0.0
    if level >= 1:
        return np.ones(size, dtype=np.int64), np.full(size, size)
    if covariance is None:
        return ranges_of_intervals(summary, level, group)
    better = told_better(summary.value, covariance, level, group)
    return 1 + better.sum(axis=0), size - better.sum(axis=1)


def told_better(value: Floats, covariance: Floats, level: float, group: Ints) -> np.ndarray:
    """Return which competitors (rows) are shown to be better than which (columns), all pairs at once, (n, n).

    Competitors of different groups are not compared.
    """
    variance = covariance.diagonal()
    sd = np.sqrt(np.maximum(variance[:, None] + variance - 2 * covariance, np.finfo(float).tiny))
    compared = group[:, None] == group
    np.fill_diagonal(compared, val=False)
    ratio = np.where(compared, (value[:, None] - value) / sd, -np.inf)
    ordered, pairs = np.sort(ratio, axis=None)[::-1], int(compared.sum())
    enough = ordered[:pairs] > -ndtri((1 - level) / np.arange(pairs, 0, -1))
    told = pairs if enough.all() else int(enough.argmin())
    return ratio >= ordered[told - 1] if told else np.zeros_like(compared)


def ranges_of_intervals(summary: Summary, level: float, group: Ints) -> tuple[Ints, Ints]:
    """Return the lowest and highest ranks that intervals leave open, if all of them hold at once."""
    size = len(summary.value)
    tail = (1 + level ** (1 / size)) / 2
    half = (ndtri(tail) if np.isinf(summary.freedom) else stdtrit(summary.freedom, tail)) * summary.sd
    low, high = summary.value - half, summary.value + half
    lower, upper = np.ones(size, dtype=np.int64), np.full(size, size)
    for one in np.unique(group):
        mine = group == one
        lower[mine] += int(mine.sum()) - np.searchsorted(np.sort(low[mine]), high[mine], side="right")
        upper[mine] -= np.searchsorted(np.sort(high[mine]), low[mine], side="left")
    return lower, upper
