"""How fast each method converges, and whether to one ranking (section 5.4, Figure 5).

From several random starts: the mean loss, and the consistency of the rankings, at each epoch of a descent by Adam, as
in the authors' program (the paper's text says gradient descent; see :mod:`bayes_arena.paper.descent`).
Without normalisation am-ELO ends in one of two rankings that are the reverse of each other; Newton's method needs a
handful of steps where descent needs thousands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.errors import ModelError, NotIdentifiedError
from bayes_arena.inference.mode.newton import Gauge, minimise
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import FLAT
from bayes_arena.paper.descent import EPOCHS, C, DescentModel, Normalisation, descend, loss_and_gradient, random_start
from bayes_arena.paper.measures import pairwise_consistency
from bayes_arena.progress import report
from bayes_arena.ratings.online import shuffled_ratings
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.sequence import one_by_one

if TYPE_CHECKING:
    import pandas as pd


def convergence(cells: Cells, *, starts: int = 5, epochs: int = EPOCHS, seed: int = 0) -> pd.DataFrame:
    """Return loss and consistency of rankings from random starts at each epoch (Figure 5), and by Newton and Elo.

    Parameters
    ----------
    cells : Cells
        Votes with annotators, all competitors connected by comparisons.
    starts : int
        Random starts, two or more.
    epochs : int
        Epochs of each descent.
    seed : int
        Seed of the first start; the others follow.

    Returns
    -------
    pandas.DataFrame
        ``method, epoch, loss, consistency``. ``m-elo``, ``am-elo`` (normalised in the objective) and ``am-elo without
        normalisation`` have a row for each epoch, 0 for the start: the mean loss per vote over the starts and the
        pairwise consistency of their rankings. ``newton m-elo`` and ``newton am-elo``, from the same starts, have one
        row, whose ``epoch`` is the largest number of steps taken. ``elo`` has one row: a single pass over the votes
        in as many random orders.

    Raises
    ------
    ModelError
        If there are fewer than two starts; and as for :func:`descend`.
    NotIdentifiedError
        If the comparisons are disconnected: groups have no common ranking.
    """
    import pandas as pd

    if starts < 2:
        raise ModelError(f"Consistency needs at least two starts, not {starts}.")
    if cells.components.max() > 0:
        raise NotIdentifiedError("Some competitors were never compared with the others. Rank the groups separately.")
    seeds = range(seed, seed + starts)
    tables = []
    variants: dict[str, tuple[DescentModel, Normalisation]] = {
        "m-elo": ("m-elo", "none"),
        "am-elo": ("am-elo", "objective"),
        "am-elo without normalisation": ("am-elo", "none"),
    }
    for method, (model, normalisation) in variants.items():
        runs = []
        for number, each in enumerate(seeds):
            report(f"random starts, {method}", number, starts)
            runs.append(descend(cells, model=model, normalisation=normalisation, epochs=epochs, seed=each))
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
    """Return the row of online Elo in random orders."""
    scores = shuffled_ratings(one_by_one(cells), shuffles=starts, seed=seed)
    target = objective(cells, PRESETS["m-elo"], FLAT)
    none = np.zeros(0)
    losses = [loss_and_gradient(target, row, none, normalised=False)[0] / target.n_votes for row in scores]
    return "elo", 1, float(np.mean(losses)), pairwise_consistency(scores)
