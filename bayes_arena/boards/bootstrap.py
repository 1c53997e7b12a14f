"""The bootstrap: the covariance of estimates from votes drawn with replacement.

A resample has as many votes as the original, or as many clusters, each with all its votes
(Efron, 1979, Annals of Statistics 7).  Estimated spreads are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import NotIdentifiedError
from bayes_arena.fits.result import Fit, seen_votes
from bayes_arena.inference.estimate import Estimate
from bayes_arena.inference.maximum import with_finite_estimate
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.sandwich import clusters_of, with_clusters
from bayes_arena.model.build import design_of_rows
from bayes_arena.model.design import Design
from bayes_arena.said import Use
from bayes_arena.threads import threads_for

RESAMPLES = 200


def bootstrap_covariance(
    fit: Fit, estimate: Estimate, cluster: Ints | None, seed: int
) -> tuple[Floats, int]:
    """Return the covariance over resamples, and how many of them had no estimate.

    Parameters
    ----------
    fit : Fit
    estimate : Estimate
    cluster : ndarray of int, shape (rows that the model sees,), optional
        Codes of the clusters to draw; by default votes are drawn.
    seed : int

    Raises
    ------
    NotIdentifiedError
        If half of the resamples have no estimate.
    """
    with threads_for(fit.posterior.design.layout.width):
        modes = modes_of_resamples(fit, cluster, np.random.default_rng(seed))
        n_lost = RESAMPLES - len(modes)
        if n_lost > RESAMPLES / 2:
            raise NotIdentifiedError(
                f"{n_lost} of {RESAMPLES} resamples of the votes have no finite estimate.",
                Use(prior="default"),
                Use(interval="sandwich"),
            )
        values = estimate.at(np.array(modes))
    return np.atleast_2d(np.cov(values, rowvar=False)), n_lost


def modes_of_resamples(
    fit: Fit, cluster: Ints | None, rng: np.random.Generator
) -> list[Floats]:
    """Return the modes of the resamples that have one, (parameters,) each."""
    modes = []
    for number, design in enumerate(resampled_designs(fit, cluster, rng)):
        if number % 20 == 0:
            progress.show(f"Resample {number} of {RESAMPLES}")
        x = mode_of_resample(fit, design)
        if x is not None:
            modes.append(x)
    progress.clear()
    return modes


def resampled_designs(
    fit: Fit, cluster: Ints | None, rng: np.random.Generator
) -> Iterator[Design]:
    """Yield designs of the same rows with the votes of a resample."""
    votes = seen_votes(fit)
    if cluster is not None:
        votes = with_clusters(votes, cluster)
    blocks = fit.posterior.design.blocks
    design = design_of_rows(votes, fit.model, fit.prior)
    design = design.with_spreads({block.effect.name: block.sd for block in blocks})
    counts = design.votes.counts
    shares = counts.ravel() / counts.sum()
    for _ in range(RESAMPLES):
        drawn: Array
        if cluster is None:
            drawn = rng.multinomial(round(counts.sum()), shares).reshape(counts.shape)
        else:
            codes = clusters_of(design.votes)
            n = int(codes.max()) + 1
            times = rng.multinomial(n, np.full(n, 1 / n))
            drawn = counts * times[codes, None]
        yield with_counts(design, drawn.astype(float))


def with_counts(design: Design, counts: Floats) -> Design:
    """Return a design of the same rows with other counts."""
    votes = replace(design.votes, counts=counts)
    by_outcome = design.outcomes.counts(votes)
    return replace(
        design,
        votes=votes,
        n_votes=by_outcome.sum(axis=1),
        statistic=np.ascontiguousarray((by_outcome @ design.phi).T),
    )


def mode_of_resample(fit: Fit, design: Design) -> Floats | None:
    """Return the mode of a resample, (parameters,), or None if there is none."""
    if fit.prior.is_flat and not with_finite_estimate(design.votes, fit.model).all():
        return None
    try:
        posterior = posterior_mode(design, fit.posterior.mean)
    except np.linalg.LinAlgError:
        return None
    return posterior.mean if posterior.converged else None
