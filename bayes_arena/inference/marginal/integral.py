"""The marginal likelihood, annotators integrated out, by Gauss-Hermite quadrature around each annotator's mode.

With r the strengths, c the common numbers, L_k the integral over the numbers of annotator k
(:mod:`bayes_arena.inference.marginal.kernels`) and the half-normal hyperpriors (scales s_p) as densities of ln sigma,

    F(r, c, ln sigma) = -sum_k ln L_k + |r|^2 / (2 sigma_r^2) + ... + sum_p (sigma_p^2 / (2 s_p^2) - ln sigma_p).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from time import monotonic
from typing import cast

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.compiled import made_ready
from bayes_arena.errors import ModelError
from bayes_arena.likelihood.algebra.sparse.border import Border
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import M
from bayes_arena.likelihood.priors import Prior, Spreads
from bayes_arena.progress import report

COARSE, FINE, FINEST = 3, 5, 9
"""Nodes per dimension on the way, at the end, and where that is not enough."""
MANY_ROWS = 20
"""Rows from which an annotator's posterior is so nearly Gaussian that the coarse grid serves."""
MANY = 10_000
"""Annotators from which a quarter of them show the way, before all are asked."""
NEVER = -300.0
"""Logarithm of a propensity that is as good as zero."""
BLOCKS = 16
"""Annotators are summed in so many blocks whatever the machine, so that the same votes give the same bits."""
LARGEST_BLOCK = 50_000_000
"""Rows times nodes of a block, a tenth of a second: Ctrl-C is heard in between. Where it takes more there are more."""
BESIDES = 1000
"""What else an annotator takes, in rows times nodes."""
PATIENCE = 2.0
"""Seconds after which progress is shown."""

type Sums = tuple[float, Floats, Floats]
"""A value, its gradient and its information."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """F at some strengths, common numbers and spreads, with its derivatives and the annotators' posterior moments.

    The head is (r, common), h numbers in logits; an annotator has q numbers, and so there are q spreads.

    Attributes
    ----------
    value : float
        F, in nats; infinite where the votes have no probability.
    gradient : ndarray, shape (h + q,)
        Of F by (r, common, ln sigma).
    information : ndarray, shape (h + q, h + q)
        Observed information: the Hessian of F by the same.
    mean : ndarray, shape (M, q)
        Posterior means of the annotators' numbers, given the head.
    covariance : ndarray, shape (M, q, q)
        Their posterior covariances, given the head.
    """

    value: float
    gradient: Floats
    information: Floats
    mean: Floats
    covariance: Floats

    @property
    def is_finite(self) -> bool:
        """Whether the votes have a probability here."""
        return math.isfinite(self.value) and bool(np.isfinite(self.information).all())


def stages(target: Objective) -> list[tuple[int, bool]]:
    """List nodes per dimension, and whether a quarter of the annotators is enough, on the way to the end."""
    rows = np.bincount(target.tally.k, minlength=target.n_annotators)
    way = [(COARSE, True)] if target.n_annotators > MANY else []
    if not way or (rows < MANY_ROWS).any():
        way.append((COARSE, False))
    return [*way, (FINE, False), (FINEST, False)]


class Integral:
    """F as a function of the head and the spreads; it remembers the annotators' modes, from which it goes on.

    Parameters
    ----------
    target : Objective
        The votes, by annotator.
    nodes : int
        Nodes per dimension: ``COARSE``, ``FINE`` or ``FINEST``.
    quarter : bool
        Whether a quarter of the annotators is enough.

    Attributes
    ----------
    border : Border, shape (h, M, q)
        At the last point evaluated, how the annotators' numbers move with the head: their covariances with the
        derivatives of the loss by it, times the inverse of their own. Empty on the coarse grid.

    Raises
    ------
    ModelError
        If there is no compiled loop for the likelihood, or for the effects.
    """

    def __init__(self, target: Objective, nodes: int, *, quarter: bool = False) -> None:
        from bayes_arena.inference.marginal import kernels

        loop, effects = target.likelihood.loop, (*target.common, *target.own)
        if loop is None or any(effect.basis == "feature" for effect in effects):
            what = "a feature" if loop is not None else f"ties={target.likelihood.name!r}"
            raise ModelError(
                f"Annotators have few votes each and would have to be integrated out, which {what} does not allow. "
                "Use method='nuts', or method='map' with spreads that you know."
            )
        self.integrate, self.kind, self.target = kernels.integrate, kernels.LOOPS[loop], target
        self.spreads = [effect.spread for effect in target.own]
        self.start = target.rows_of_annotators
        self.counts = np.ascontiguousarray(target.counts)
        self.entered = np.array([effect.coordinate for effect in target.common], dtype=np.int64)
        own = [-1 if effect.basis == "lead" else effect.coordinate for effect in target.own]
        self.own, self.means = np.array(own, dtype=np.int64), np.array([effect.mean for effect in target.own])
        self.modes = np.tile(self.means, (target.n_annotators, 1))
        self.grids = (*_grid(nodes, len(own)), *_grid(COARSE, len(own)), MANY_ROWS)
        self.border = self._border() if nodes >= FINE else Border.of(np.zeros((0, 0, len(own))))
        self.blocks = self._blocks()
        self.evaluations, self.began = 0, monotonic()
        if quarter:
            self.blocks = self.blocks[::4]

    def _blocks(self) -> list[tuple[int, int]]:
        """Divide the annotators into blocks of equal work."""
        rows = np.diff(self.start)
        work = np.cumsum(rows * np.where(rows < self.grids[4], len(self.grids[1]), len(self.grids[3])) + BESIDES)
        total = int(work[-1]) if len(work) else 0
        edges = np.searchsorted(work, np.linspace(0, total, max(BLOCKS, total // LARGEST_BLOCK) + 1)[1:-1])
        edges = np.concatenate([[0], edges, [len(rows)]])
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def _border(self) -> Border:
        """Return a border with room for what every annotator touches."""
        from bayes_arena.inference.marginal.kernels import met

        tally, n = self.target.tally, self.target.n_competitors
        touched = met(self.start, tally.i, tally.j, n) + len(self.entered)
        start = np.append(0, np.cumsum(touched))
        entries = np.empty(start[-1], dtype=np.int32), np.empty((start[-1], len(self.own)))
        return Border(n + len(self.entered), start, *entries)

    def spreads_of(self, prior: Prior) -> list[float]:
        """Spreads of the annotators' numbers under a prior."""
        return [prior.spread(name) for name in self.spreads]

    def __call__(self, head: Floats, prior: Prior) -> Evaluation:
        """Evaluate at strengths and common numbers under the spreads of a prior."""
        target, n, (count, q) = self.target, self.target.n_competitors, self.modes.shape
        sd = np.array(self.spreads_of(prior))
        base = np.array([float((self.own >= 0).all()), 0.0, 0.0, 0.0 if (self.entered == M).any() else NEVER])
        np.add.at(base, 1 + self.entered, head[n:])
        size = n + 3 + q
        mean, covariance = np.empty((count, q)), np.empty((count, q, q))
        border = self.border.start, self.border.column, self.border.value

        def block(edges: tuple[int, int]) -> Sums:
            gradient, information = np.zeros(size), np.zeros((size, size))
            value = self.integrate(
                self.kind, *edges, self.start, target.tally.i, target.tally.j, self.counts, head[:n], base,
                self.means, sd, self.own, self.grids, self.modes, gradient, information, mean, covariance,
                self.entered, *border,
            )  # fmt: skip
            return value, gradient, information

        made_ready(self.integrate, lambda: block((0, 0)), "the integrals over annotators")  # of nobody
        value, gradient, information = self._summed(block)
        kept = np.concatenate([np.arange(n), n + self.entered, n + 3 + np.arange(q)])
        gradient, information = gradient[kept], information[np.ix_(kept, kept)]
        information = information + information.T - np.diag(np.diag(information))
        center = np.concatenate([np.zeros(n), [effect.mean for effect in target.common]])
        precision = np.concatenate([np.full(n, prior.strength**-2), [effect.sd**-2 for effect in target.common]])
        hyper = cast(Spreads, prior.hyper)
        scale = np.array([hyper.spread(name) for name in self.spreads])
        value += 0.5 * float(precision @ (head - center) ** 2) + float(np.sum(0.5 * (sd / scale) ** 2 - np.log(sd)))
        gradient += np.concatenate([precision * (head - center), (sd / scale) ** 2 - 1])
        information[np.diag_indices(len(kept))] += np.concatenate([precision, 2 * (sd / scale) ** 2])
        return Evaluation(value, gradient, information, mean, covariance)

    def _summed(self, block: Callable[[tuple[int, int]], Sums]) -> Sums:
        """Sum the blocks, in their order, as they are done; say so of what takes long, and hear Ctrl-C between them."""
        self.evaluations += 1
        values, gradient, information = [], np.zeros(()), np.zeros(())
        with ThreadPoolExecutor(os.cpu_count()) as threads:
            try:
                for number, (value, by_one, by_two) in enumerate(threads.map(block, self.blocks)):
                    values.append(value)
                    gradient, information = gradient + by_one, information + by_two
                    if monotonic() - self.began > PATIENCE:
                        what = f"integrating over {self.target.n_annotators:,} annotators, step {self.evaluations}"
                        report(what, number, len(self.blocks))
            except BaseException:
                threads.shutdown(cancel_futures=True)
                raise
        return math.fsum(values), gradient, information


def _grid(size: int, dimensions: int) -> tuple[Floats, Floats]:
    """Gauss-Hermite nodes z (q, size^q), and ln(weight) + |z|^2 of each; some of no weight fill up the vectors."""
    z, weight = np.polynomial.hermite.hermgauss(size)
    from bayes_arena.inference.marginal import kernels

    nodes = np.array(list(product(z, repeat=dimensions)))
    log_weights = np.log(list(product(weight, repeat=dimensions))).sum(axis=1) + (nodes**2).sum(axis=1)
    room = -len(nodes) % kernels.LANES
    nodes, log_weights = np.pad(nodes.T, ((0, 0), (0, room))), np.pad(log_weights, (0, room), constant_values=-np.inf)
    return np.ascontiguousarray(nodes), log_weights
