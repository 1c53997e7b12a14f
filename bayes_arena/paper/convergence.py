"""How fast each method converges, and whether to one ranking (section 5.4, Figure 5).

What is minimised is -ln L of equations 2 and 5, with the log-odds

    m-ELO    C (R_i - R_j),  C = ln(10) / 400           am-ELO   theta_k (R_i - R_j),  sum theta = 1 (equation 7)

The paper's text says gradient descent with learning rate 0.1 for 2,000 epochs, each epoch on all votes. The authors'
program uses Adam (Kingma & Ba, 2015) at that rate, as is done here. Sum theta = 1 is kept as in that program: the
likelihood reads theta / sum theta. Where theta is free ("am-ELO w/o Norm"), (R, theta) and (-R, -theta) are equally
good. Algorithm 2 as printed divides theta by its sum after each step, which changes what the step has just improved.

The random start is Glorot's, R ~ U(-c, c) with c = sqrt(6 / (N + 1)) and theta likewise with M. Where theta is
normalised, the start is shifted to sum 1: from a sum near zero, theta / sum theta is enormous. Without normalisation
am-ELO ends in one of two rankings that are the reverse of each other; Newton's method needs a handful of steps where
descent needs thousands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bayes_arena.arrays import DataFrame, Floats
from bayes_arena.errors import ConvergenceError, ModelError, NotIdentifiedError
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.objective import Objective, objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT
from bayes_arena.paper.measures import pairwise_consistency
from bayes_arena.progress import report
from bayes_arena.ratings.online import shuffled_ratings
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.sequence import one_by_one

LEARNING_RATE, EPOCHS = 0.1, 2000
"""Section 5.2."""
C = math.log(10) / 400
"""The Elo scale: logits per point."""
FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Adam's decay rates and its guard against division by zero, as Kingma & Ba propose them."""
DescentModel = Literal["m-elo", "am-elo"]


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
    """Return the negative log-likelihood in nats, summed over votes, and its gradients by R (n,) and theta (M,).

    The target is m-ELO, for which theta is empty, or am-ELO under a flat prior; ``normalised``, its likelihood reads
    theta / sum theta.
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
    cells: Cells, *, model: DescentModel = "am-elo", normalised: bool = True, epochs: int = EPOCHS, seed: int = 0
) -> Descent:
    """Fit m-ELO, or am-ELO with theta ``normalised`` in its likelihood or free, by Adam from a random start.

    A descent that diverges is a ConvergenceError.
    """
    target = objective(cells, PRESETS[model], FLAT)
    size = cells.n_competitors
    x = np.concatenate(random_start(target, seed, normalised=normalised))
    first, second = np.zeros_like(x), np.zeros_like(x)
    loss, scores = np.empty(epochs + 1), np.empty((epochs + 1, size))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a divergence is reported below
        for epoch in range(epochs + 1):
            value, *gradients = loss_and_gradient(target, x[:size], x[size:], normalised=normalised)
            loss[epoch], scores[epoch] = value / target.n_votes, x[:size]
            gradient = np.concatenate(gradients)
            if not np.isfinite(value) or not np.isfinite(gradient @ gradient):
                raise ConvergenceError(f"Adam diverged at epoch {epoch} (start {seed}). Use fit(), which does not.")
            if epoch == epochs:
                break
            first = FIRST * first + (1 - FIRST) * gradient
            second = SECOND * second + (1 - SECOND) * gradient**2
            scale = np.sqrt(second / (1 - SECOND ** (epoch + 1))) + TINY
            x = x - LEARNING_RATE * (first / (1 - FIRST ** (epoch + 1)) / scale)
    theta = x[size:]
    return Descent(loss, scores, theta / theta.sum() if normalised else theta)


def random_start(target: Objective, seed: int, *, normalised: bool) -> tuple[Floats, Floats]:
    """Return random R and theta (empty for m-ELO), with sum theta = 1 if normalised."""
    rng = np.random.default_rng(seed)
    n, m = target.n_competitors, target.n_annotators
    scores = rng.uniform(-1, 1, n) * math.sqrt(6 / (n + 1))
    theta = rng.uniform(-1, 1, m) * math.sqrt(6 / (m + 1))
    return scores, theta + (1 - theta.sum()) / m if normalised and m else theta


def convergence(cells: Cells, *, starts: int = 5, epochs: int = EPOCHS, seed: int = 0) -> DataFrame:
    """Return loss and consistency of rankings from random starts at each epoch (Figure 5), and by Newton and Elo.

    Columns are ``method, epoch, loss, consistency``. ``m-elo``, ``am-elo`` (normalised in the objective) and ``am-elo
    without normalisation`` have a row for each epoch, 0 for the start: the mean loss per vote over the starts and the
    pairwise consistency of their rankings. ``newton m-elo`` and ``newton am-elo``, from the same starts, have one row,
    whose ``epoch`` is the largest number of steps taken. ``elo`` has one row: a single pass over the votes in as many
    random orders.
    """
    import pandas as pd

    if starts < 2:
        raise ModelError(f"Consistency needs at least two starts, not {starts}.")
    if cells.components.max() > 0:
        raise NotIdentifiedError("Some competitors were never compared with the others. Rank the groups separately.")
    seeds = range(seed, seed + starts)
    tables = []
    variants: dict[str, tuple[DescentModel, bool]] = {
        "m-elo": ("m-elo", False),
        "am-elo": ("am-elo", True),
        "am-elo without normalisation": ("am-elo", False),
    }
    for method, (model, normalised) in variants.items():
        runs = []
        for number, each in enumerate(seeds):
            report(f"random starts, {method}", number, starts)
            runs.append(descend(cells, model=model, normalised=normalised, epochs=epochs, seed=each))
        scores = np.array([run.scores for run in runs])
        columns = {
            "method": method,
            "epoch": np.arange(epochs + 1),
            "loss": np.mean([run.loss for run in runs], axis=0),
            "consistency": [pairwise_consistency(scores[:, epoch]) for epoch in range(epochs + 1)],
        }
        tables.append(pd.DataFrame(columns))
    report("")
    rows = [_newton(cells, model, seeds) for model in ("m-elo", "am-elo")]
    rows.append(_elo(cells, starts, seed))
    tables.append(pd.DataFrame(rows, columns=["method", "epoch", "loss", "consistency"]))
    return pd.concat(tables, ignore_index=True)


def _newton(cells: Cells, model: DescentModel, seeds: range) -> tuple[str, int, float, float]:
    """Return the row of Newton's method from the same starts, theta normalised at the end."""
    target = objective(cells, PRESETS[model], FLAT)
    n, free = cells.n_competitors, target.free_discrimination
    gauge = Gauge(np.full((n, 1), n**-0.5), free_scale=free, held=np.zeros(len(target.own), dtype=bool))
    found = []
    for seed in seeds:
        scores, theta = random_start(target, seed, normalised=False)
        start = Point(scores if free else C * scores, np.zeros(0), theta[:, None] if free else np.zeros((0, 0)))
        found.append(minimise(target, start, gauge))
    scores = np.array([one.point.strength * (one.point.own.sum() if free else 1.0) for one in found])
    loss = float(np.mean([one.value for one in found])) / target.n_votes
    return f"newton {model}", max(one.iterations for one in found), loss, pairwise_consistency(scores)


def _elo(cells: Cells, starts: int, seed: int) -> tuple[str, int, float, float]:
    scores = shuffled_ratings(one_by_one(cells), shuffles=starts, seed=seed)
    target = objective(cells, PRESETS["m-elo"], FLAT)
    none = np.zeros(0)
    losses = [loss_and_gradient(target, row, none, normalised=False)[0] / target.n_votes for row in scores]
    return "elo", 1, float(np.mean(losses)), pairwise_consistency(scores)
