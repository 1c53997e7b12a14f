"""Draws from the posterior, whatever route it came by.

Tables that need more than a mean and a standard deviation read draws. A fit by ``"nuts"`` carries them; one by
``"map"`` or ``"marginal"`` draws from its Gaussian approximation on the plane of the constraints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.inference.views import View
from bayes_arena.likelihood.algebra.factor import CrossedFactor
from bayes_arena.likelihood.algebra.sparse.eliminated import DRAWN_AT_ONCE
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.priors import spread_label
from bayes_arena.likelihood.problem import Problem

if TYPE_CHECKING:
    from xarray import DataTree

    from bayes_arena.fits.result import Fit

DEFAULT_DRAWS, FEWEST_DRAWS = 4000, 500
LARGEST = 100_000_000
"""Numbers drawn by default: where slices have so many that 4000 draws are more, there are fewer draws."""
LARGEST_BOARD = 20_000_000
"""The same of competitors where they are many."""

UNSEEN = 11
"""Seed of the numbers of slices that no vote is about."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of all parameters of a model.

    Attributes
    ----------
    strength : ndarray, shape (n_draws, n_competitors)
        r in logits.
    elo_strength : ndarray, shape (n_draws, n_competitors)
        r*, on the scale that all models share, in logits.
    common : ndarray, shape (n_draws, c)
        What annotators have in common.
    own : ndarray, shape (n_draws, n_annotators, q)
        The annotators' numbers.
    slices : ndarray, shape (n_draws, s)
        The numbers of slices.
    """

    strength: Floats
    elo_strength: Floats
    common: Floats
    own: Floats
    slices: Floats = field(default_factory=partial(np.zeros, (0, 0)))

    @classmethod
    def of(
        cls,
        problem: Problem,
        strength: Floats,
        common: Floats,
        own: Floats,
        slices: Floats | None = None,
        spreads: Mapping[str, Floats] | None = None,
        on: View | None = None,
    ) -> Draws:
        """Return draws of the parameters of a problem with their r*, under its spreads or draws of some of them."""
        votes, target = problem.cells.votes_by_annotator(), problem.objective
        drawn = np.tile(target.spread_values, (len(strength), 1))
        for name, values in (spreads or {}).items():
            drawn[:, target.spreads.index(name)] = values
        projected = project_draws(target, strength, common, own, votes, slices, drawn if spreads else None, on)
        return cls(strength, projected, common, own, np.zeros((len(strength), 0)) if slices is None else slices)

    def points(self) -> Iterator[Point]:
        """Iterate over the draws as points in parameter space."""
        slices = self.slices if len(self.slices) else np.zeros((len(self.strength), 0))
        return map(Point, self.strength, self.common, self.own, slices)


def viewed(
    problem: Problem, center: Point, on: View, strength: Floats, common: Floats, own: Floats, slices: Floats
) -> Draws:
    """Return draws with the Elo scale's r* on some slices, to first order around a point."""
    projection = project(problem.objective, center, problem.cells.votes_by_annotator(), on)
    head = np.column_stack([strength, common, slices]) - center.head
    noise = noise_of_unseen(on, len(head)) if on.unseen.any() else None
    shift = projection.moved(head, own - center.own, noise)
    return Draws(strength, projection.strength + shift, common, own, slices)


def noise_of_unseen(on: View, size: int) -> Floats:
    """Draw what numbers of slices that no vote is about add to the strengths, shape (size, n)."""
    return np.asarray(np.random.default_rng(UNSEEN).normal(size=(size, len(on.unseen))) * np.sqrt(on.unseen))


def draws_of_spreads(tree: DataTree, target: Objective) -> dict[str, Floats]:
    """Read the draws of the spreads that were sampled, each of shape (n_draws,), by the names of ``Prior``."""
    posterior, labels = tree["posterior"], {name: spread_label(name) for name in target.spreads}
    return {name: np.ravel(posterior[label].to_numpy()) for name, label in labels.items() if label in posterior}


def require_proper(fit: Fit, what: str) -> None:
    """Refuse what is made of draws where a spread of the prior is infinite."""
    if not fit.target.is_proper:
        raise ModelError(f"{what} needs draws from a posterior, which a flat prior lacks. Use prior='default'.")


@held
def draw(fit: Fit, *, size: int | None = None, seed: int = 0) -> Draws:
    """Draw from the posterior of a fit.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    size : int, optional
        Number of draws from a Gaussian approximation, 4000 by default (no fewer than 500 where slices have so many
        numbers that 4000 draws would be more than 100 million, or competitors that they would be more than 20 million);
        a sampled fit returns all it has.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
    """
    if fit.samples is not None:
        return fit.samples
    if size is None:
        size = _usual_size(fit)
    return with_elo(fit, *draw_parameters(fit, size=size, seed=seed))


def _usual_size(fit: Fit) -> int:
    """Return how many draws are made of a fit where nobody says."""
    most = min(LARGEST // max(len(fit.point.slices), 1), LARGEST_BOARD // len(fit.strength))
    return max(FEWEST_DRAWS, min(DEFAULT_DRAWS, most))


def draw_without_annotators(fit: Fit, *, size: int | None = None) -> Draws:
    """Return the strengths and common numbers that :func:`draw` does; where slices or samples allow it, only these.

    What is about the average annotator needs no more, and annotators are many: their numbers, and with them r*, are
    left empty.
    """
    if fit.samples is not None or fit.target.slices:
        return draw(fit, size=size)
    strength, common, _ = draw_in_parts(fit, size=size or _usual_size(fit))
    return Draws(strength, strength[:, :0], common, np.zeros((len(strength), 0, 0)))


def with_elo(fit: Fit, strength: Floats, common: Floats, own: Floats, slices: Floats | None = None) -> Draws:
    """Add the Elo scale's r* to draws of the parameters, to first order around the estimate."""
    slices = np.tile(fit.point.slices, (len(strength), 1)) if slices is None else slices
    return viewed(fit.mode.problem, fit.point, fit.view, strength, common, own, slices)


def draw_parameters(fit: Fit, *, size: int = DEFAULT_DRAWS, seed: int = 0) -> tuple[Floats, Floats, Floats, Floats]:
    """Draw strengths, common, annotators' and slices' numbers, as :func:`draw` does, without the Elo scale's r*."""
    if fit.samples is None and isinstance(fit.laplace.factor, CrossedFactor):
        require_draws(size, seed)
        n, c = fit.cells.n_competitors, fit.cells.n_competitors + len(fit.point.common)
        head, own = fit.laplace.factor.draw(np.random.default_rng(seed), size)
        strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
        common, slices = fit.point.common + head[:, n:c], fit.point.slices + head[:, c:]
        return fit.strength + strength, common, fit.point.own + own, slices
    strength, common, parts = draw_in_parts(fit, size=size, seed=seed)
    own = np.empty((len(strength), *fit.point.own.shape))
    for part, drawn in parts:
        own[:, part] = drawn
    slices = np.zeros((len(strength), 0)) if fit.samples is None else fit.samples.slices
    return strength, common, own, slices


def draw_in_parts(
    fit: Fit, *, size: int, seed: int = 0, of: Ints | None = None
) -> tuple[Floats, Floats, Iterator[tuple[Ints, Floats]]]:
    """Draw from the posterior as :func:`draw_parameters` does, some annotators at a time.

    Parameters
    ----------
    fit : Fit
    size, seed : int
    of : ndarray of int, optional
        Only these annotators, in order. Without it the draws are those of :func:`draw_parameters`, with it others.

    Returns
    -------
    strength, common : ndarray, shapes (size, n_competitors) and (size, c)
    parts : iterator
        Which annotators, and draws of their numbers (size, m, q).
    """
    if fit.samples is not None or isinstance(fit.laplace.factor, CrossedFactor):
        one = fit.samples
        if one is None:
            strength, common, own, _ = draw_parameters(fit, size=size, seed=seed)
        else:
            strength, common, own = one.strength, one.common, one.own
        step = max(1, DRAWN_AT_ONCE // len(strength))
        chosen = np.arange(own.shape[1]) if of is None else of
        some = [chosen[first : first + step] for first in range(0, len(chosen), step)]
        return strength, common, ((part, own[:, part]) for part in some)
    require_draws(size, seed)
    n, factor, rng = fit.cells.n_competitors, fit.laplace.factor, np.random.default_rng(seed)
    head = factor.draw_head(rng, size)
    parts = ((part, fit.point.own[part] + own) for part, own in factor.draw_tail(rng, head, of=of))
    strength = head[:, :n] - (head[:, :n] @ fit.laplace.shifts) @ fit.laplace.shifts.T
    return fit.strength + strength, fit.point.common + head[:, n:], parts
