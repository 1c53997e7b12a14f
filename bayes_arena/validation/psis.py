"""Pareto-smoothed importance sampling of votes left out one by one, compiled.

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
from bayes_arena.compiled import made_ready, vectorised
from bayes_arena.threads import in_blocks

AT_ONCE = 100
"""Columns that one thread takes at a time."""


def psis_loo(values: Floats, weight: Floats, efficiency: float) -> tuple[Floats, Floats]:
    """Estimate the leave-one-out density of one vote of every column.

    Parameters
    ----------
    values : ndarray, shape (n_columns, n_draws)
        Log-likelihood of one vote of every column under every draw.
    weight : ndarray, shape (n_columns,)
        Weight of what is left out, one or a fraction.
    efficiency : float
        Effective share of the draws.

    Returns
    -------
    elpd, pareto_k : ndarray, shape (n_columns,)
    """
    n_draws = values.shape[1]
    tail = math.floor(3 * math.sqrt(n_draws / efficiency) if n_draws * efficiency > 225 else n_draws / 5)
    elpd, pareto_k = np.empty(len(values)), np.empty(len(values))

    def fill(part: slice) -> None:
        smooth(values[part], weight[part], tail, elpd[part], pareto_k[part])

    made_ready(smooth, lambda: fill(slice(0, 0)), "the smoothing of weights")
    in_blocks(fill, len(values), of=AT_ONCE)
    return elpd, pareto_k


@vectorised
def smooth(values, weight, tail, elpd, pareto_k):  # type: ignore[no-untyped-def]
    """Write ``elpd`` and ``pareto_k`` of every column; ``tail`` is the number of draws in the tail."""
    n_draws = values.shape[1]
    log_weight, largest = np.empty(n_draws), np.empty(tail)
    for column in range(len(values)):
        value, least = values[column], values[column].min()
        for s in range(n_draws):
            log_weight[s] = -weight[column] * (value[s] - least)
        cut = np.partition(log_weight, n_draws - tail - 1)[n_draws - tail - 1]
        where = _largest(log_weight, cut, tail)
        base = math.exp(cut)
        for q in range(tail):
            largest[q] = math.exp(log_weight[where[q]]) - base
        if largest[tail - 1] > 0.0:
            k, sigma = _pareto(largest)
            pareto_k[column] = k
            if k < np.inf and sigma > 0.0:
                for q in range(tail):
                    rest = math.log1p(-(q + 0.5) / tail)
                    far = -rest if abs(k) < 1e-15 else math.expm1(-k * rest) / k
                    log_weight[where[q]] = min(math.log(base + sigma * far), 0.0)
        else:  # all draws agree
            pareto_k[column] = 0.0
        total, left = 0.0, 0.0
        for s in range(n_draws):
            of_draw = math.exp(log_weight[s])
            total += of_draw
            left += of_draw * math.exp(value[s] - least) if weight[column] < 1.0 else 0.0
        if weight[column] >= 1.0:  # weight times density is one, except in the tail
            left = float(n_draws - tail)
            for q in range(tail):
                left += math.exp(log_weight[where[q]] + value[where[q]] - least)
        elpd[column] = least + math.log(left / total)


@vectorised
def _largest(x, cut, count):  # type: ignore[no-untyped-def]
    """Return where the largest ``count`` of x are, in ascending order; ``cut`` is the next largest value."""
    where, found = np.empty(count, np.int64), 0
    for s in range(len(x)):
        if x[s] > cut:
            where[found], found = s, found + 1
    for s in range(len(x)):  # ties with the cut
        if found == count:
            break
        if x[s] == cut:
            where[found], found = s, found + 1
    return where[np.argsort(x[where])]


@vectorised
def _pareto(y):  # type: ignore[no-untyped-def]
    """Return shape and scale of the generalised Pareto distribution of a sorted tail; infinite shape if none fits."""
    n = len(y)
    size, quartile = 30 + int(math.sqrt(n)), y[int(n / 4 + 0.5) - 1]
    if quartile <= y[0]:
        return np.inf, 0.0
    b, density = np.empty(size), np.empty(size)
    for p in range(size):
        b[p] = (1.0 - math.sqrt(size / (p + 0.5))) / (3.0 * quartile) + 1.0 / y[n - 1]
        shape = _mean_log(b[p], y)
        density[p] = n * (math.log(-b[p] / shape) - shape - 1.0)
    top, total, mean = density.max(), 0.0, 0.0
    for p in range(size):
        density[p] = math.exp(density[p] - top)
        total += density[p]
    kept = 0.0
    for p in range(size):
        if density[p] >= 10 * 2.220446049250313e-16 * total:
            kept += density[p]
            mean += density[p] * b[p]
    mean /= kept
    shape = _mean_log(mean, y)
    sigma = -shape / mean
    shape = (n * shape + 5.0) / (n + 10.0)
    return (shape, sigma) if shape == shape else (np.inf, 0.0)


@vectorised
def _mean_log(b, y):  # type: ignore[no-untyped-def]
    """Return the mean of ln(1 - b y), taking the logarithm of eight factors at once."""
    total, product = 0.0, 1.0
    for q in range(len(y)):
        product *= 1.0 - b * y[q]
        if q % 8 == 7:
            total += math.log(product)
            product = 1.0
    return (total + math.log(product)) / len(y)
