"""The log-likelihood of every vote that a fit has seen, under every draw of its posterior.

Votes of the same cell and outcome are exchangeable, so the density is computed once for each of these columns, with
the number of votes that were cast there. Votes that the model leaves out (dropped ties or both-bad votes) have none.
Columns come in batches of annotators, so that memory stays bounded however many draws and votes there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import made_ready
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import draw, draw_in_parts, draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.inference.density import kernels
from bayes_arena.inference.density.tables import Tables, effects_of
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.outcomes.likelihood import Likelihood
from bayes_arena.threads import in_blocks
from bayes_arena.votes.cells import Cells

DRAWS = 1000
"""Draws from a Gaussian approximation; a sampled fit uses all it has."""
AT_ONCE = 4_000_000
"""Log-likelihoods in memory at once."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Votes of the same cell and outcome.

    Attributes
    ----------
    target : Objective
        The model of the votes cell by cell.
    cell, outcome : ndarray of int, shape (n_columns,)
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    seen : ndarray, shape (K, n_columns)
        One vote of each, as the model sees it.
    """

    target: Objective
    cell: Ints
    outcome: Ints
    votes: Floats
    seen: Floats

    @classmethod
    def of(cls, fit: Fit, cells: Cells | None = None) -> Columns:
        """Return the columns of the votes that were fitted, or of others with the same names."""
        cells = cells or fit.cells
        target = fit.target_of(cells.by_cell(fit.model.features, fit.model.slices))
        size = cells.counts.shape[1]
        cell, outcome = np.nonzero(cells.counts * fit.model.sees(size))
        seen = fit.model.seen_counts(np.eye(size)[outcome])
        return cls(target, cell, outcome, cells.counts[cell, outcome], seen)

    @property
    def annotator(self) -> Ints:
        """Whose votes they are; all zero if annotators have no parameters of their own."""
        k = self.target.tally.k[self.cell]
        return k if self.target.own else np.zeros_like(k)


def pointwise(fit: Fit, draws: Draws | None = None, cells: Cells | None = None) -> tuple[Floats, Floats]:
    """Return the log-likelihood of one vote of every column, under every draw.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.
    cells : Cells, optional
        Votes with the names of those that were fitted; by default these. Parameters of a slice that the fit has never
        seen are drawn from their prior.

    Returns
    -------
    log_likelihood : ndarray, shape (n_draws, n_columns)
        In nats. Columns are the outcomes cast in each cell, in order, without those that the model leaves out.
    votes : ndarray, shape (n_columns,)
        How often each was cast.
    """
    columns = Columns.of(fit, cells)
    if columns.target.has_unseen:
        return _with_unseen(columns, draws or draw(fit, size=DRAWS)), columns.votes
    values = np.empty((0, len(columns.cell)))
    for at, block in in_parts(fit, columns, draws=draws):
        if not len(values):
            values = np.empty((block.shape[1], len(columns.cell)))
        values[:, at] = block.T
    return values, columns.votes


def in_parts(
    fit: Fit,
    columns: Columns,
    *,
    draws: Draws | None = None,
    size: int = DRAWS,
    which: Ints | None = None,
    mirrored: bool = False,
) -> Iterator[tuple[Ints, Floats]]:
    """Compute what :func:`pointwise` does, in batches of columns.

    Parameters
    ----------
    fit : Fit
    columns : Columns
        Without slices that the fit has never seen.
    draws : Draws, optional
        Draws of the fit; by default new ones with seed 0.
    size : int
        Number of new draws, from a Gaussian approximation.
    which : ndarray of int, optional
        Only these columns.
    mirrored : bool
        Add the mirror image of every new draw about the estimate.

    Yields
    ------
    at : ndarray of int, shape (m,)
        Which columns.
    log_likelihood : ndarray, shape (m, n_draws)
        In nats; the same whatever the batches.
    """
    which = np.arange(len(columns.cell)) if which is None else which
    which = which[np.argsort(columns.annotator[which], kind="stable")]
    k, tables = columns.annotator[which], Tables.of(columns.target)
    for annotators, numbers in _draws_in_parts(fit, columns.target, draws, size, np.unique(k)):
        if mirrored and fit.samples is None:
            numbers = np.concatenate([numbers, 2 * _estimate(fit, columns.target, annotators) - numbers])
        first, last = np.searchsorted(k, [annotators[0], annotators[-1] + 1]).tolist()
        effects, step = effects_of(columns.target, len(annotators)), max(1, AT_ONCE // len(numbers))
        for start in range(first, last, step):
            at = which[start : min(start + step, last)]
            votes = tables.votes[:, columns.cell[at]]
            votes[2] = np.searchsorted(annotators, votes[2])
            features = np.ascontiguousarray(tables.features[:, columns.cell[at]])
            block = replace(tables, effects=effects, votes=votes, features=features)
            yield at, _log_likelihoods(columns.target.likelihood, block, columns.seen[:, at], numbers)


def _draws_in_parts(
    fit: Fit, target: Objective, draws: Draws | None, size: int, of: Ints
) -> Iterator[tuple[Ints, Floats]]:
    """Draw all parameters: in batches of annotators with columns; all at once with slices or given draws."""
    if draws is None and target.own and not target.slices:
        strength, common, parts = draw_in_parts(fit, size=size, of=of)
        for annotators, own in parts:
            yield annotators, _in_a_row(target, strength, own, np.zeros((len(own), 0)), common)
        return
    if draws is None:
        strength, common, own, slices = draw_parameters(fit, size=size)
    else:
        strength, common, own, slices = draws.strength, draws.common, draws.own, draws.slices
    yield np.arange(max(own.shape[1], 1)), _in_a_row(target, strength, own, slices, common)


def _in_a_row(target: Objective, strength: Floats, own: Floats, slices: Floats, common: Floats) -> Floats:
    """Put draws of all parameters in the order of :mod:`bayes_arena.inference.density.tables`."""
    deviations = own - [effect.mean for effect in target.own]
    return np.column_stack([strength, *np.moveaxis(deviations, 2, 0), slices, common])


def _estimate(fit: Fit, target: Objective, annotators: Ints) -> Floats:
    """Return the estimates, in the same order."""
    point = fit.point
    own = point.own[annotators] if target.own else point.own
    return _in_a_row(target, point.strength[None], own[None], point.slices[None], point.common[None])


def _log_likelihoods(likelihood: Likelihood, block: Tables, seen: Floats, draws: Floats) -> Floats:
    """Return the log-likelihood of one vote of every column, shape (n_columns, n_draws)."""
    values, seen = np.empty((seen.shape[1], len(draws))), np.ascontiguousarray(seen)
    if likelihood.loop is None:
        for s, numbers in enumerate(draws):
            values[:, s] = -likelihood.rows(seen, block.coordinates(numbers, likelihood)[2]).value
        return values
    kind = kernels.LOOPS[likelihood.loop]

    def fill(part: slice) -> None:
        votes, features, counts = (np.ascontiguousarray(one[:, part]) for one in (block.votes, block.features, seen))
        kernels.log_likelihoods(kind, draws, block.effects, block.slices, votes, features, counts, values[part])

    made_ready(kernels.log_likelihoods, lambda: fill(slice(0, 1)), "the likelihood of draws")
    in_blocks(fill, len(values), of=-(-len(values) // (os.cpu_count() or 1)))  # each block goes through all draws
    return values


def _with_unseen(columns: Columns, draws: Draws) -> Floats:
    """Compute :func:`pointwise` where some slices were never seen: their parameters are drawn from their prior."""
    rng, target = np.random.default_rng(0), columns.target
    values = np.empty((len(draws.strength), len(columns.cell)))
    for index, point in enumerate(draws.points()):
        coordinates = target.coordinates(point) + target.unseen(point, rng)
        values[index] = -target.likelihood.rows(columns.seen, coordinates[:, columns.cell]).value
    return values
