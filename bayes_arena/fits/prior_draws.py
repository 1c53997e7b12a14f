"""Draws from a prior, for the competitors and annotators of some votes."""

from __future__ import annotations

from typing import cast

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.fits.draws import Draws
from bayes_arena.likelihood.priors import Spreads, degrees
from bayes_arena.likelihood.problem import Problem


def draw_prior(problem: Problem, *, size: int, seed: int) -> tuple[Draws, dict[str, Floats]]:
    """Draw parameters from the prior, for the competitors and annotators of some votes.

    Parameters
    ----------
    problem : Problem
        Its cells say who competes and who votes; outcomes are ignored. Its prior is proper; with ``hyper`` its spreads
        are drawn from their hyperpriors.
    size : int
        Number of draws.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    draws : Draws
    spreads : dict of str to ndarray, shape (size,)
        The spreads drawn, by the names of :class:`~bayes_arena.Prior`; empty where they are fixed.

    Raises
    ------
    ModelError
        If the prior is flat.
    """
    cells, prior, target = problem.cells, problem.prior, problem.objective
    if not target.is_proper:
        raise ModelError("Nothing can be drawn from a flat prior. Use prior='default'.")
    require_draws(size, seed)
    rng = np.random.default_rng(seed)
    known = zip(target.spreads, target.spread_values.tolist(), strict=True)
    spreads = {name: np.full(size, value) for name, value in known}
    estimated = [name for name in target.spreads if prior.estimates(name)]
    for name in estimated:
        spreads[name] = cast(Spreads, prior.hyper).spread(name) * np.sqrt(rng.chisquare(degrees(name), size))

    def zero_sum(count: int, sd: Floats) -> Floats:
        deviation = rng.normal(size=(size, count))
        return np.asarray((deviation - deviation.mean(axis=1, keepdims=True)) * sd[:, None])

    strength = zero_sum(cells.n_competitors, spreads["strength"])
    common = np.zeros((size, len(target.common)))
    for column, effect in enumerate(target.common):
        common[:, column] = rng.normal(effect.mean, effect.sd, size)
    own = np.zeros((size, target.n_annotators, len(target.own)))
    for column, effect in enumerate(target.own):
        own[:, :, column] = effect.mean + zero_sum(target.n_annotators, spreads[effect.spread] / effect.unit)
    slices = np.zeros((size, len(target.start().slices)))
    for effect, numbers in zip(target.slices, target.numbers_by_slice(slices), strict=True):
        sd, count = spreads[effect.spread], numbers.shape[1]
        numbers[:] = zero_sum(count, sd) if effect.is_held else rng.normal(size=(size, count)) * sd[:, None]
    slices = target.numbering.steps.summed(slices)
    drawn = {name: spreads[name] for name in estimated}
    return Draws.of(problem, strength, common, own, slices, drawn), drawn
