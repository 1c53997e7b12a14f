"""m-ELO and am-ELO by gradient descent (section 4.3): by Adam, as the authors' program, or plain, as the text says.

What is minimised is -ln L of equations 2 and 5, with the log-odds

    m-ELO    C (R_i - R_j),  C = ln(10) / 400           am-ELO   theta_k (R_i - R_j),  sum theta = 1 (equation 7)

The paper's text says gradient descent with learning rate 0.1 for 2,000 epochs, each epoch on all votes. The authors'
program uses Adam (Kingma & Ba, 2015) at that rate, as is the default here: plain steps along ln L leave m-ELO, whose
scores are in Elo points, far from its optimum, and diverge on am-ELO without normalisation. Sum theta = 1 is kept in
one of three ways:

=============  ================================================================================================
``none``       theta is free ("am-ELO w/o Norm"): (R, theta) and (-R, -theta) are equally good
``objective``  the likelihood reads theta / sum theta: what the authors' program does
``step``       theta is divided by its sum after each step: Algorithm 2 as printed. The division changes what
               the step has just improved; some starts never recover, or overflow
=============  ================================================================================================

The random start is Glorot's, R ~ U(-c, c) with c = sqrt(6 / (N + 1)) and theta likewise with M. Where theta is
normalised, the start is shifted to sum 1: from a sum near zero, theta / sum theta is enormous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ConvergenceError, ModelError, require_choice
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT
from bayes_arena.votes.cells import Cells

LEARNING_RATE, EPOCHS = 0.1, 2000
"""Section 5.2."""
C = math.log(10) / 400
"""The Elo scale: logits per point."""
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Adam's decay rates and its guard against division by zero, as Kingma & Ba propose them."""

DescentModel = Literal["m-elo", "am-elo"]
Normalisation = Literal["none", "objective", "step"]
Optimiser = Literal["adam", "gradient"]


@dataclass(frozen=True, eq=False)
class Descent:
    """A run of :func:`descend`.

    Attributes
    ----------
    loss : ndarray, shape (epochs + 1,)
        Negative log-likelihood per vote, in nats, at the start and after each epoch.
    scores : ndarray, shape (epochs + 1, n_competitors)
        R: of m-ELO in Elo points around 0, of am-ELO on the scale that sum theta = 1 gives (or none).
    discrimination : ndarray, shape (n_annotators,)
        Theta at the end, as the likelihood reads it; empty for m-ELO.
    """

    loss: Floats
    scores: Floats
    discrimination: Floats


def loss_and_gradient(
    target: Objective, scores: Floats, theta: Floats, *, normalised: bool
) -> tuple[float, Floats, Floats]:
    """Return the negative log-likelihood and its gradient in the paper's parameters.

    Parameters
    ----------
    target : Objective
        Of m-ELO or am-ELO under a flat prior.
    scores, theta : ndarray, shapes (n,) and (M,)
        R and theta; theta is empty for m-ELO.
    normalised : bool
        Whether the likelihood reads theta / sum theta.

    Returns
    -------
    loss : float
        In nats, summed over votes.
    by_scores, by_theta : ndarray, shapes (n,) and (M,)
    """
    if not target.free_discrimination:
        point = Point(C * scores, np.zeros(0), np.zeros((0, 0)))
        value, gradient, _ = value_and_derivatives(target, point)
        return value, C * gradient.strength, np.zeros(0)
    total = theta.sum() if normalised else 1.0
    point = Point(scores, np.zeros(0), (theta / total)[:, None])
    value, gradient, _ = value_and_derivatives(target, point)
    by_theta = gradient.own[:, THETA] / total
    if normalised:
        by_theta = by_theta - by_theta @ theta / total
    return value, gradient.strength, by_theta


def descend(
    cells: Cells,
    *,
    model: DescentModel = "am-elo",
    normalisation: Normalisation = "objective",
    optimiser: Optimiser = "adam",
    learning_rate: float = LEARNING_RATE,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> Descent:
    """Fit m-ELO or am-ELO by Adam, or by plain gradient descent, from a random start.

    Parameters
    ----------
    cells : Cells
        Votes, for am-ELO with annotators.
    model : {"m-elo", "am-elo"}
    normalisation : {"objective", "step", "none"}
        How sum theta = 1 is kept; ignored for m-ELO. See the module's table.
    optimiser : {"adam", "gradient"}
        Adam, or the plain steps of Algorithm 2: R + alpha d ln L / d R.
    learning_rate : float
        Alpha.
    epochs : int
        Steps, each on all votes.
    seed : int
        The same seed gives the same start.

    Returns
    -------
    Descent

    Raises
    ------
    ModelError
        If an argument is unknown or invalid, or the model needs annotators and there are none.
    ConvergenceError
        If the descent diverges.
    """
    _require(cells, model, normalisation, optimiser, learning_rate, epochs, seed)
    target = objective(cells, PRESETS[model], FLAT)
    size, inside = cells.n_competitors, normalisation == "objective"
    x = np.concatenate(random_start(target, seed, normalised=normalisation != "none"))
    first, second = np.zeros_like(x), np.zeros_like(x)
    loss, scores = np.empty(epochs + 1), np.empty((epochs + 1, size))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a divergence is reported below
        for epoch in range(epochs + 1):
            value, *gradients = loss_and_gradient(target, x[:size], x[size:], normalised=inside)
            loss[epoch], scores[epoch] = value / target.n_votes, x[:size]
            gradient = np.concatenate(gradients)
            if not np.isfinite(value) or not np.isfinite(gradient @ gradient):
                raise ConvergenceError(
                    f"Gradient descent diverged at epoch {epoch} (start {seed}). Use a smaller learning rate, "
                    "normalisation='objective', or fit(), which needs neither."
                )
            if epoch == epochs:
                break
            if optimiser == "adam":
                first = FIRST * first + (1 - FIRST) * gradient
                second = SECOND * second + (1 - SECOND) * gradient**2
                scale = np.sqrt(second / (1 - SECOND ** (epoch + 1))) + TINY
                gradient = first / (1 - FIRST ** (epoch + 1)) / scale
            x = x - learning_rate * gradient
            if normalisation == "step":
                x[size:] /= x[size:].sum()
    theta = x[size:]
    return Descent(loss, scores, theta / theta.sum() if inside else theta)


def random_start(target: Objective, seed: int, *, normalised: bool) -> tuple[Floats, Floats]:
    """Return random R and theta (empty for m-ELO), with sum theta = 1 if normalised."""
    rng = np.random.default_rng(seed)
    n, m = target.n_competitors, target.n_annotators
    scores = rng.uniform(-1, 1, n) * math.sqrt(6 / (n + 1))
    theta = rng.uniform(-1, 1, m) * math.sqrt(6 / (m + 1))
    return scores, theta + (1 - theta.sum()) / m if normalised and m else theta


def _require(
    cells: Cells, model: str, normalisation: str, optimiser: str, learning_rate: float, epochs: int, seed: int
) -> None:
    require_choice("model", model, get_args(DescentModel))
    require_choice("normalisation", normalisation, get_args(Normalisation))
    require_choice("optimiser", optimiser, get_args(Optimiser))
    if model == "am-elo" and not cells.n_annotators:
        raise ModelError("am-ELO needs to know who cast each vote, and the votes carry no annotators.")
    if not 0 < learning_rate < math.inf or epochs < 1 or seed < 0:
        raise ModelError(
            "Gradient descent needs a positive learning rate, at least one epoch and a seed that is not negative, "
            f"not {learning_rate!r}, {epochs!r} and {seed!r}."
        )
