"""The log-likelihood of every vote that a fit has seen, under every draw of its posterior.

Votes of the same cell and outcome are exchangeable, so the density is computed once for each of these columns, with
the number of votes that were cast there. Votes that the model leaves out (dropped ties or both-bad votes) have none.
Columns come in batches of annotators, so that memory stays bounded however many draws and votes there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.posterior_draws import draw, draw_in_parts, draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.threads import in_blocks
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.tally import Tally

DRAWS = 1000
"""Draws from a Gaussian approximation; a sampled fit uses all it has."""
AT_ONCE = 4_000_000
"""Log-likelihoods in memory at once."""
BLOCK = 20_000
"""Log-likelihoods computed together, so that they fit into the cache."""


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
    k = columns.annotator[which]
    for annotators, numbers in _draws_in_parts(fit, columns.target, draws, size, np.unique(k)):
        if mirrored and fit.samples is None:
            numbers = numbers.mirrored(fit.point, annotators)
        first, last = np.searchsorted(k, [annotators[0], annotators[-1] + 1]).tolist()
        step = max(1, AT_ONCE // len(numbers.strength))
        for start in range(first, last, step):
            at = which[start : min(start + step, last)]
            yield at, _log_likelihoods(_rows_of(columns, at, annotators), columns.seen[:, at], numbers)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Draws of all parameters, those of annotators of some of them; shapes as in :class:`Draws`."""

    strength: Floats
    common: Floats
    own: Floats
    slices: Floats

    def mirrored(self, center: Point, annotators: Ints) -> _Numbers:
        """Return the draws, followed by their mirror images about the estimates."""
        own = center.own[annotators] if self.own.shape[2] else center.own
        pairs = zip((center.strength, center.common, own, center.slices), astuple(self), strict=True)
        return _Numbers(*(np.concatenate([drawn, 2 * estimate - drawn]) for estimate, drawn in pairs))

    def points(self, part: slice) -> Iterator[Point]:
        """Iterate over some draws as points in parameter space."""
        return map(Point, self.strength[part], self.common[part], self.own[part], self.slices[part])


def _draws_in_parts(
    fit: Fit, target: Objective, draws: Draws | None, size: int, of: Ints
) -> Iterator[tuple[Ints, _Numbers]]:
    """Draw all parameters: in batches of annotators with columns; all at once with slices or given draws."""
    if draws is None and target.own and not target.slices:
        strength, common, parts = draw_in_parts(fit, size=size, of=of)
        for annotators, own in parts:
            yield annotators, _Numbers(strength, common, own, np.zeros((len(own), 0)))
        return
    if draws is None:
        strength, common, own, slices = draw_parameters(fit, size=size)
    else:
        strength, common, own, slices = draws.strength, draws.common, draws.own, draws.slices
    slices = slices if len(slices) else np.zeros((len(strength), 0))
    yield np.arange(max(own.shape[1], 1)), _Numbers(strength, common, own, slices)


def _rows_of(columns: Columns, at: Ints, annotators: Ints) -> Objective:
    """Return the model of the cells of some columns, cast by some of the annotators."""
    target, tally, cell = columns.target, columns.target.tally, columns.cell[at]
    k = np.searchsorted(annotators, columns.annotator[at])
    features, slices = tally.features[:, cell], tally.slices[:, cell]
    rows = Tally(tally.i[cell], tally.j[cell], k, tally.counts[cell], features, slices)
    return replace(target, tally=rows, counts=columns.seen[:, at])


def _log_likelihoods(target: Objective, seen: Floats, draws: _Numbers) -> Floats:
    """Return the log-likelihood of one vote of every column, shape (n_columns, n_draws)."""
    values = np.empty((seen.shape[1], len(draws.strength)))
    target.places  # found before there are threads  # noqa: B018

    def fill(part: slice) -> None:
        if target.slices:
            for s, point in enumerate(draws.points(part), part.start):
                values[:, s] = target.likelihood.log_likelihood(seen, target.coordinates(point))
            return
        step = max(1, BLOCK // max(len(values), 1))
        for first in range(part.start, part.stop, step):
            some = slice(first, min(first + step, part.stop))
            leads, own = [target.leads(draws.strength[some])], target.own_numbers(draws.own[some])
            z = target.predictor.coordinates(leads, draws.common[some].T[..., None], own, target.tally.features)
            values[:, some] = target.likelihood.log_likelihood(seen, z).T

    in_blocks(fill, len(draws.strength), of=-(-len(draws.strength) // (os.cpu_count() or 1)))
    return values


def _with_unseen(columns: Columns, draws: Draws) -> Floats:
    """Compute :func:`pointwise` where some slices were never seen: their parameters are drawn from their prior."""
    rng, target = np.random.default_rng(0), columns.target
    values = np.empty((len(draws.strength), len(columns.cell)))
    for index, point in enumerate(draws.points()):
        coordinates = target.coordinates(point) + target.unseen(point, rng)
        values[index] = target.likelihood.log_likelihood(columns.seen, coordinates[:, columns.cell])
    return values
