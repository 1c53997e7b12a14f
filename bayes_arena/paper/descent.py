"""m-ELO and am-ELO by gradient descent (Liu et al., 2025, Algorithm 2; Figure 5).

What is minimised is -ln L of equations 2 and 5, with the log-odds of a win

    m-ELO    C (R_i - R_j),  C = ln(10) / 400;        am-ELO    theta_k (R_i - R_j).

The text says gradient descent with learning rate 0.1 for 2,000 epochs, each on all
votes.  The authors' program uses Adam (Kingma & Ba, 2015) at this rate, and so does
this module.  The sum of theta is held at 1 as in that program: the likelihood reads
theta / sum(theta). Without normalisation (R, theta) and (-R, -theta) are equally good,
and a descent ends in one ranking or in its reverse.

A random start is Glorot's: R ~ Uniform(-c, c) with c = sqrt(6 / (N + 1)), and theta
likewise with M.  Where theta is normalised, the start is shifted to sum 1, since from a
sum near zero theta / sum(theta) would be enormous.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import FitError, ModelError, require_choice, require_seed
from bayes_arena.said import Call, joined
from bayes_arena.votes.votes import NO_ANNOTATORS, Votes

type DescentModel = Literal["m-elo", "am-elo"]

LEARNING_RATE = 0.1  # section 5.2
EPOCHS = 2000  # section 5.2
C = math.log(10) / 400  # logits per point of Elo
DECAY, SQUARE_DECAY = 0.9, 0.999  # of Adam's averages of gradients and of their squares
TINY = 1e-8  # keeps Adam from dividing by zero
MODELS = ("m-elo", "am-elo")


@dataclass(frozen=True, eq=False)
class Descent:
    """A descent, epoch by epoch.

    Attributes
    ----------
    loss : ndarray, shape (epochs + 1,)
        Negative log-likelihood per vote, in nats, at the start and after each epoch.
    scores : ndarray, shape (epochs + 1, competitors)
        R: of m-ELO in Elo points around 0, of am-ELO on the scale that theta gives.
    theta : ndarray, shape (annotators,)
        At the end, of sum one if normalised; empty for m-ELO.
    """

    loss: Floats
    scores: Floats
    theta: Floats


@dataclass(frozen=True)
class Likelihood:
    """The likelihood of m-ELO (no annotators) or am-ELO, of rows of votes.

    ``n`` (rows,) are the votes of a row, and ``score`` (rows,) the sum of their W.
    """

    i: Ints
    j: Ints
    annotator: Ints
    n: Floats
    score: Floats
    n_competitors: int
    n_annotators: int
    normalised: bool

    def loss_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Return -ln L in nats, and its gradient in R and theta (equation 6)."""
        R = x[: self.n_competitors]
        raw = x[self.n_competitors :]
        total = raw.sum() if self.normalised else 1.0
        theta = raw[self.annotator] / total if self.n_annotators else C
        lead = R[self.i] - R[self.j]
        eta = theta * lead
        loss = self.n @ np.logaddexp(0, eta) - self.score @ eta
        residual = self.n * expit(eta) - self.score
        by_R = np.bincount(self.i, theta * residual, self.n_competitors)
        by_R -= np.bincount(self.j, theta * residual, self.n_competitors)
        by_theta = self.gradient_in_theta(raw, total, lead * residual)
        return float(loss), np.concatenate([by_R, by_theta])

    def gradient_in_theta(self, raw: Floats, total: float, by_row: Floats) -> Floats:
        """Return the gradient in theta before it is normalised; none for m-ELO."""
        if not self.n_annotators:
            return np.zeros(0)
        by_theta = np.bincount(self.annotator, by_row, len(raw)) / total
        if not self.normalised:
            return by_theta
        # The chain rule through raw / sum(raw): every raw theta moves the sum.
        return by_theta - by_theta @ raw / total


@dataclass(frozen=True)
class AdamState:
    """Where a descent stands: parameters, and averages of its gradients and their squares."""

    x: Floats
    mean: Floats
    square: Floats


def likelihood_of(votes: Votes, model: str, normalised: bool) -> Likelihood:
    """Return the likelihood of a model."""
    has_theta = model == "am-elo"
    rows = votes.collapse(annotators=has_theta)
    return Likelihood(
        i=rows.i,
        j=rows.j,
        annotator=rows.annotator,
        n=rows.counts.sum(axis=1),
        score=rows.score_of_first,
        n_competitors=rows.n_competitors,
        n_annotators=rows.n_annotators,
        normalised=normalised and has_theta,
    )


def descend(
    votes: Votes,
    model: DescentModel = "am-elo",
    *,
    normalised: bool = True,
    epochs: int = EPOCHS,
    seed: int = 0,
) -> Descent:
    """Fit m-ELO or am-ELO by Adam from a random start.

    Parameters
    ----------
    votes : Votes
        For am-ELO, with annotators.
    model : {"m-elo", "am-elo"}
    normalised : bool
        Whether the likelihood of am-ELO reads theta / sum(theta).
    epochs : int
    seed : int
        Of the random start.

    Returns
    -------
    Descent

    Raises
    ------
    ModelError
        If an option is impossible, or annotators are unknown.
    FitError
        If the descent diverges.
    """
    require_choice("model", model, MODELS)
    require_seed(seed)
    if model == "am-elo":
        if not votes.n_annotators:
            raise ModelError(joined("am-ELO needs annotators. ", NO_ANNOTATORS))
        votes = votes.known("annotator")
    likelihood = likelihood_of(votes, model, normalised)
    n = likelihood.n_competitors
    x = random_start(likelihood, seed)
    state = AdamState(x, np.zeros_like(x), np.zeros_like(x))
    loss = np.empty(epochs + 1)
    scores = np.empty((epochs + 1, n))
    for epoch in range(epochs + 1):
        total, gradient = likelihood.loss_and_gradient(state.x)
        require_finite_loss(total, gradient, seed, epoch)
        loss[epoch] = total / likelihood.n.sum()
        scores[epoch] = state.x[:n]
        if epoch < epochs:
            state = adam_step(state, gradient, epoch)
    theta = state.x[n:]
    if likelihood.normalised:
        theta = theta / theta.sum()
    return Descent(loss, scores, theta)


def require_finite_loss(loss: float, gradient: Floats, seed: int, epoch: int) -> None:
    """Raise a FitError if a descent has diverged."""
    if not np.isfinite(loss) or not np.isfinite(gradient).all():
        raise FitError(
            f"The descent from start {seed} diverged at epoch {epoch}. A fit does not "
            "descend by gradients.",
            Call("fit"),
        )


def adam_step(state: AdamState, gradient: Floats, epoch: int) -> AdamState:
    """Return the state after one more step of Adam."""
    mean = DECAY * state.mean + (1 - DECAY) * gradient
    square = SQUARE_DECAY * state.square + (1 - SQUARE_DECAY) * gradient**2
    # Both averages start at zero, and are rid of this bias.
    direction = mean / (1 - DECAY ** (epoch + 1))
    size = np.sqrt(square / (1 - SQUARE_DECAY ** (epoch + 1))) + TINY
    return AdamState(state.x - LEARNING_RATE * direction / size, mean, square)


def random_start(likelihood: Likelihood, seed: int) -> Floats:
    """Return random R and theta, (competitors + annotators,)."""
    rng = np.random.default_rng(seed)
    n = likelihood.n_competitors
    m = likelihood.n_annotators
    R = rng.uniform(-1, 1, n) * math.sqrt(6 / (n + 1))
    theta = rng.uniform(-1, 1, m) * math.sqrt(6 / (m + 1))
    if likelihood.normalised:
        theta += (1 - theta.sum()) / m
    return np.concatenate([R, theta])
