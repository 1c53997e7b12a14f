"""Point estimates: the posterior mode, or the paper's maximum-likelihood estimate when the prior is flat.

Bradley-Terry and m-ELO are concave and start from zero. am-ELO starts from the m-ELO strengths and theta = 1.
Under a flat prior theta runs **free**, and is divided by its mean afterwards (r multiplied by it): holding the
mean inside the objective puts a wall between the two halves of the space and hides the better optimum. Under a
Gaussian prior the mean is held at 1, as the prior says, and the free optimum serves as a second start whenever
some theta is negative.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bayes_arena.cells import Cells, Floats, Ints
from bayes_arena.checks import components, never_beaten_groups
from bayes_arena.errors import (
    IdentificationWarning,
    NoMaximumWarning,
    NotIdentifiedError,
    NoVotesError,
    listing,
)
from bayes_arena.laplace import Laplace, laplace_at
from bayes_arena.likelihood import Objective, Point, objective
from bayes_arena.newton import Gauge, Optimum, minimise
from bayes_arena.priors import Prior, resolve_prior
from bayes_arena.specification import Model, resolve_model

HUGE_ETA = 15.0
"""A predicted log-odds this large would take millions of votes to see: the estimate is on its way to infinity."""
START_RIDGE = Prior(strength=3.0, discrimination=3.0)
"""Scales of the ridge that keeps the free start of a Gaussian-prior fit finite."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model.

    Attributes
    ----------
    cells : Cells
        The votes.
    model : Model
    prior : Prior
    method : str
        ``"map"``.
    strength : ndarray, shape (n_competitors,)
        r in logits, sum zero (in each connected component under a flat prior).
    discrimination : ndarray, shape (n_annotators,)
        theta, mean 1; empty where the model fixes it at 1.
    loss : float
        Negative log-likelihood in nats, without the prior.
    gradient : float
        Largest coordinate of the gradient, per vote.
    iterations : int
        Newton steps.
    warnings : tuple of str
        What a reader of the result has to know.
    laplace : Laplace
        Gaussian approximation at the mode; under a flat prior the inverse Fisher information.
    """

    cells: Cells
    model: Model
    prior: Prior
    method: str
    strength: Floats
    discrimination: Floats
    loss: float
    gradient: float
    iterations: int
    warnings: tuple[str, ...]
    laplace: Laplace

    @property
    def mean_loss(self) -> float:
        """Negative log-likelihood per vote, in nats."""
        return self.loss / self.cells.n_votes

    @property
    def n_parameters(self) -> int:
        """Free parameters: n - 1 strengths, and M - 1 discriminations where the model has them."""
        return self.cells.n_competitors - 1 + max(len(self.discrimination) - 1, 0)

    @cached_property
    def discrimination_sd(self) -> Floats:
        """Standard deviations of theta, shape (n_annotators,)."""
        return np.sqrt(self.laplace.discrimination_variances())


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
    optimum, free = _best(target, cells, shifts)
    point = _normalise(optimum.point, shifts) if free else optimum.point
    at_infinity = _no_maximum(target, point, cells) if prior.is_flat else []
    messages = _disconnected(labels, prior)
    if not at_infinity:
        messages += _unsettled_direction(point)
    laplace = laplace_at(target, point, shifts)
    if laplace.singular and not at_infinity:
        raise NotIdentifiedError(
            "The votes do not determine the parameters: other values fit exactly as well, with another ranking "
            "(for instance when annotators hardly share a pair). Use a prior (prior='default') or model='m-elo'."
        )
    for text in messages:
        warnings.warn(text, IdentificationWarning, stacklevel=2)
    for text in at_infinity:
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
        warnings=(*messages, *at_infinity),
        laplace=laplace,
    )


def _best(target: Objective, cells: Cells, shifts: Floats) -> tuple[Optimum, bool]:
    """Return the best optimum found, and whether its scale is still free."""
    fixed = replace(target, tally=cells.pair_tally, n_annotators=0)
    still = Gauge(shifts, free_scale=False, hold_sum=True)
    zero = Point(np.zeros(target.n_competitors), np.zeros(0))
    concave = minimise(fixed, zero, still)
    if not target.n_annotators:
        return concave, False
    start = Point(concave.point.strength, np.ones(target.n_annotators))
    loose = Gauge(shifts, free_scale=True, hold_sum=False)
    if target.prior.is_flat:
        return minimise(target, start, loose), True
    best = minimise(target, start, still)
    if best.point.discrimination.min() < 0:
        ridge = replace(target, prior=START_RIDGE, center=0.0)
        free = minimise(ridge, start, replace(loose, free_scale=False)).point
        if abs(free.discrimination.mean()) > 0.1 * np.abs(free.discrimination).mean():
            other = minimise(target, _normalise(free, shifts), still)
            best = min(best, other, key=lambda optimum: optimum.value)
    return best, False


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


def _disconnected(labels: Ints, prior: Prior) -> list[str]:
    """Say so if some competitors were never compared, directly or through others."""
    count = len(np.unique(labels))
    if count == 1:
        return []
    how = "each is centred on its own" if np.isinf(prior.strength) else "only the prior relates them"
    return [
        f"The competitors fall into {count} groups that were never compared; {how}. "
        "Scores of different groups are not comparable; see `bayes-arena check`."
    ]


def _unsettled_direction(point: Point) -> list[str]:
    """Say so if the annotators do not settle which end of the ranking is up."""
    theta = point.discrimination
    if len(theta) < 2 or theta.std(ddof=1) < 0.5 * np.sqrt(len(theta)):
        return []
    return [
        "The direction of the ranking is not settled: the annotators' mean discrimination lies within two "
        "standard errors of zero, so the reversed ranking is a serious rival."
    ]


def _no_maximum(target: Objective, point: Point, cells: Cells) -> list[str]:
    """Name what runs to infinity under a flat prior."""
    remedy = "What is shown is where the fit stopped, not an estimate. Use prior='default'"
    if not target.n_annotators:
        groups = never_beaten_groups(cells)
        if not groups:
            return []
        return [
            "No finite maximum-likelihood estimate exists: without a loss or tie against the others "
            f"{'is' if len(groups[0]) == 1 else 'are'} {listing(groups[0])}. {remedy}."
        ]
    extreme = np.abs(target.linear_predictor(point)) > HUGE_ETA
    if not extreme.any():
        return []
    names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
    return [
        "No finite maximum-likelihood estimate exists: the discrimination of annotators who never contradict one "
        f"ranking runs to infinity ({listing(names)}). {remedy}, or leave out annotators with few votes (delta)."
    ]
