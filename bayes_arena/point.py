"""Point estimates: the posterior mode, or the paper's maximum-likelihood estimate when the prior is flat.

Bradley-Terry and m-ELO are concave and start from zero. am-ELO starts from the m-ELO strengths and theta = 1.
Under a flat prior theta runs **free**, and is divided by its mean afterwards (r multiplied by it): holding the
mean inside the objective puts a wall between the two halves of the space and hides the better optimum. Under a
Gaussian prior the mean is held at 1, as the prior says, and the free optimum serves as a second start whenever
some theta is small or negative.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import components
from bayes_arena.errors import IdentificationWarning, NoMaximumWarning, NotIdentifiedError, NoVotesError
from bayes_arena.identification import at_infinity, disconnected, unsettled_direction
from bayes_arena.laplace import laplace_at
from bayes_arena.likelihood import Objective, Point, objective
from bayes_arena.newton import Gauge, Optimum, minimise
from bayes_arena.priors import Prior, resolve_prior
from bayes_arena.result import Fit
from bayes_arena.specification import Model, resolve_model

DOUBTFUL = 0.5
"""An annotator with less discrimination than this may stand for a second optimum: the free one is tried too."""
START_RIDGE = Prior(strength=3.0, discrimination=3.0)
"""Scales of the ridge that keeps the free start of a Gaussian-prior fit finite."""


def fit(cells: Cells, *, model: str | Model | None = None, prior: str | Prior = "default") -> Fit:
    """Fit a model to votes.

    Parameters
    ----------
    cells : Cells
        Votes, from :func:`~bayes_arena.read_votes`.
    model : str or Model, optional
        ``"bradley-terry"``, ``"m-elo"`` or ``"am-elo"``. Default: ``"am-elo"`` where annotators are known,
        ``"bradley-terry"`` otherwise.
    prior : str or Prior
        ``"flat"`` gives the paper's maximum-likelihood estimate, ``"default"`` weak Gaussian priors.

    Returns
    -------
    Fit

    Warns
    -----
    NoMaximumWarning
        Under a flat prior, if the estimate lies at infinity.
    IdentificationWarning
        If the comparisons are disconnected, or the annotators do not settle which end of the ranking is up.

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the model needs annotators and there are none.
    ConvergenceError
        If the gradient does not vanish.
    NotIdentifiedError
        If the votes do not determine the parameters.

    References
    ----------
    Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, equations 2 to 7.
    """
    model = resolve_model(model, annotators_known=cells.n_annotators > 0)
    prior = resolve_prior(prior)
    if cells.n_competitors < 2:
        raise NoVotesError("Rating takes at least two competitors.")
    labels = components(cells)
    shifts = _indicators(labels if np.isinf(prior.strength) else np.zeros_like(labels))
    target = objective(cells, model, prior)
    optimum, point, unshrunk = _search(target, cells, shifts)
    infinite = at_infinity(target, point, cells) if prior.is_flat else []
    messages = disconnected(labels, prior)
    if not infinite:
        messages += unsettled_direction(unshrunk)
    laplace = laplace_at(target, point, shifts)
    if laplace.singular and not infinite:
        raise NotIdentifiedError(
            "The votes do not determine the parameters: other values fit exactly as well, with another ranking "
            "(for instance when annotators hardly share a pair). Use a prior (prior='default') or model='m-elo'."
        )
    for text in messages:
        warnings.warn(text, IdentificationWarning, stacklevel=2)
    for text in infinite:
        warnings.warn(text, NoMaximumWarning, stacklevel=2)
    return Fit(
        cells=cells,
        model=model,
        prior=prior,
        method="map",
        strength=point.strength,
        discrimination=point.discrimination,
        loss=target.loss(point),
        gradient=optimum.gradient,
        iterations=optimum.iterations,
        warnings=(*messages, *infinite),
        laplace=laplace,
    )


def _search(target: Objective, cells: Cells, shifts: Floats) -> tuple[Optimum, Point, Floats]:
    """Return the best optimum found, its normalised point, and discriminations that no prior shrinks.

    The last serve to judge the direction of the ranking; they are empty where it is not in question.
    """
    nothing = np.zeros(0)
    fixed = replace(target, tally=cells.pair_tally, n_annotators=0)
    held = Gauge(shifts, free_scale=False, hold_sum=True)
    concave = minimise(fixed, Point(np.zeros(target.n_competitors), nothing), held)
    if not target.n_annotators:
        return concave, concave.point, nothing
    start = Point(concave.point.strength, np.ones(target.n_annotators))
    if target.prior.is_flat:
        best = minimise(target, start, Gauge(shifts, free_scale=True, hold_sum=False))
        return best, _normalise(best.point, shifts), best.point.discrimination
    best = minimise(target, start, held)
    if best.point.discrimination.min() > DOUBTFUL:
        return best, best.point, nothing
    ridge = replace(target, prior=START_RIDGE, center=0.0)
    free = minimise(ridge, start, replace(held, hold_sum=False)).point
    if abs(free.discrimination.mean()) > 0.1 * np.abs(free.discrimination).mean():
        other = minimise(target, _normalise(free, shifts), held)
        best = min(best, other, key=lambda optimum: optimum.value)
    return best, best.point, free.discrimination


def _indicators(labels: Ints) -> Floats:
    """Orthonormal indicator vectors of components, shape (n, c)."""
    indicator = (labels[:, None] == np.unique(labels)).astype(float)
    return np.asarray(indicator / np.sqrt(indicator.sum(axis=0)))


def _normalise(point: Point, shifts: Floats) -> Point:
    """Scale to mean theta = 1 and shift to sum r = 0, which changes no prediction."""
    mean = float(point.discrimination.mean())
    if abs(mean) < 1e-6 * np.abs(point.discrimination).mean():
        raise NotIdentifiedError(
            "The annotators' discriminations sum to zero: as many contradict the ranking as support it, so neither "
            "its direction nor its scale is determined. Use model='m-elo', or look at the annotators first."
        )
    strength = point.strength * mean
    return Point(strength - shifts @ (shifts.T @ strength), point.discrimination / mean)
