"""Pareto-smoothed importance sampling of votes left out one by one, or in groups.

The weights 1 / p(v | draw) of a vote v have a heavy tail. Their largest 3 sqrt(S) of S draws are replaced by quantiles
of the generalised Pareto distribution that fits them (Zhang & Stephens, 2009, with the prior of Vehtari et al., 2024),
whose shape k says whether the estimate can be trusted. ArviZ does the same column by column in Python.

Sources: Vehtari, A. et al. (2024), "Pareto smoothed importance sampling", JMLR 25. Zhang, J. & Stephens, M. A. (2009),
"A new and efficient estimation method for the generalized Pareto distribution", Technometrics 51.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.threads import in_blocks

AT_ONCE = 100
"""Columns that one thread takes at a time."""
EXPONENTIAL = 1e-15
"""Shape that stands for zero."""


def psis_loo(values: Floats, weight: Floats, efficiency: float) -> tuple[Floats, Floats]:
    """Estimate the leave-one-out density of one vote of every column, and its Pareto k.

    ``values`` (n_columns, n_draws) are log-likelihoods of one vote, ``weight`` is that of what is left out, one or a
    fraction, and ``efficiency`` the effective share of the draws.
    """
    elpd, pareto_k = np.empty(len(values)), np.empty(len(values))

    def fill(part: slice) -> None:
        some = values[part]
        least = some.min(axis=1, keepdims=True)
        log_weight = weight[part, None] * (least - some)
        pareto_k[part] = smooth(log_weight, efficiency)
        left = np.exp(log_weight + some - least).sum(axis=1)
        elpd[part] = least[:, 0] + np.log(left / np.exp(log_weight).sum(axis=1))

    in_blocks(fill, len(values), of=AT_ONCE)
    return elpd, pareto_k


def smooth(log_weight: Floats, efficiency: float) -> Floats:
    """Smooth log-weights (m, n_draws) in place, the largest of each row being 0, and return k of every row."""
    n_draws = log_weight.shape[1]
    tail = math.floor(3 * math.sqrt(n_draws / efficiency) if n_draws * efficiency > 225 else n_draws / 5)
    order = np.argpartition(log_weight, -tail - 1, axis=1)
    cut = np.take_along_axis(log_weight, order[:, -tail - 1, None], axis=1)
    at = order[:, -tail:]
    largest = np.take_along_axis(log_weight, at, axis=1)
    ascending = np.argsort(largest, axis=1)
    at, largest = np.take_along_axis(at, ascending, axis=1), np.take_along_axis(largest, ascending, axis=1)
    base = np.exp(cut)
    excess = np.exp(largest) - base
    differ = excess[:, -1] > 0  # else all draws agree
    k, sigma = np.zeros(len(log_weight)), np.zeros(len(log_weight))
    k[differ], sigma[differ] = _pareto(excess[differ])
    fits = differ & np.isfinite(k) & (sigma > 0)
    rest = np.log1p(-(np.arange(tail) + 0.5) / tail)
    shape = np.where(np.abs(k) < EXPONENTIAL, EXPONENTIAL, k)[fits, None]
    far = np.expm1(-shape * rest) / shape
    largest[fits] = np.minimum(np.log(base[fits] + sigma[fits, None] * far), 0.0)
    np.put_along_axis(log_weight, at, largest, axis=1)
    return k


def _pareto(y: Floats) -> tuple[Floats, Floats]:
    """Return shapes (infinite where none fits) and scales, (m,), of Pareto distributions of sorted tails y (m, n)."""
    n = y.shape[1]
    size, quartile = 30 + int(math.sqrt(n)), y[:, int(n / 4 + 0.5) - 1, None]
    with np.errstate(all="ignore"):  # where a quarter of the tail is alike
        b = (1.0 - np.sqrt(size / (np.arange(size) + 0.5))) / (3.0 * quartile) + 1.0 / y[:, -1:]
        shape = np.log1p(-b[:, :, None] * y[:, None]).mean(axis=2)
        density = n * (np.log(-b / shape) - shape - 1.0)
        density = np.exp(density - density.max(axis=1, keepdims=True))
        density[density < 10 * np.finfo(float).eps * density.sum(axis=1, keepdims=True)] = 0.0
        b = (density * b).sum(axis=1) / density.sum(axis=1)
        shape = np.log1p(-b[:, None] * y).mean(axis=1)
        sigma, shape = -shape / b, (n * shape + 5.0) / (n + 10.0)
    none = (quartile <= y[:, :1])[:, 0] | np.isnan(shape)
    return np.where(none, np.inf, shape), np.where(none, 0.0, sigma)
