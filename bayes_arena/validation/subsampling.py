"""Leave-one-out for many votes, of which only a sample is left out.

The density of every column is approximated from few draws, to second order in the effect of its vote,

    ln p(v | others) = -ln E 1/p(v)  ~  E l - Var l / 2,      p_loo ~ Var l      (l = ln p(v) under a draw),

with antithetic draws, mirrored about the estimate, which removes the first-order Monte Carlo error. For a simple random
sample of the columns the density is computed as usual, and the mean difference corrects the sum: an unbiased estimate,
whatever the approximation, with a known standard error (Magnusson et al., 2019, "Bayesian
leave-one-out cross-validation for large data", ICML).
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.pointwise import Columns, in_parts
from bayes_arena.fits.result import Fit
from bayes_arena.progress import report

FEW = 100
"""Draws for the approximation, each with its mirror image; a sampled fit gives twice as many."""
SEED = 0
"""Seed of the sample: fits of the same votes are compared on the same one."""


def sample_columns(count: int, size: int) -> Ints:
    """Return a simple random sample of columns, in order."""
    return np.sort(np.random.default_rng(SEED).choice(count, size, replace=False))


def approximate(fit: Fit, columns: Columns) -> tuple[Floats, Floats]:
    """Approximate the leave-one-out density of a vote of every column, and its contribution to p_loo.

    Returns
    -------
    elpd, p : ndarray, shape (n_columns,)
    """
    elpd, p, done = np.empty(len(columns.cell)), np.empty(len(columns.cell)), 0
    for at, values in in_parts(fit, columns, size=FEW, mirrored=True):
        some = values[:, :: max(1, values.shape[1] // (2 * FEW))]
        p[at] = some.var(axis=1)
        elpd[at] = some.mean(axis=1) - 0.5 * p[at]
        done += len(at)
        report("kinds of votes approximated", done, len(columns.cell))
    report("")
    return elpd, p
