"""Prior predictive checks, on scales that readers know.

A prior on logits is hard to judge; it is easier to judge whether the best of twenty competitors leads the worst by 700
Elo points, or one annotator in forty votes against the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, table_of
from bayes_arena.fits.arguments import held
from bayes_arena.fits.prior_draws import draw_prior
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.ratings.elo import EloScale
from bayes_arena.votes.outcomes import wins_losses_ties

if TYPE_CHECKING:
    import pandas as pd


@held
def prior_check(
    cells: object,
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    elo: EloScale | None = None,
    size: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Show what a prior implies, beside what was observed.

    Parameters
    ----------
    cells : Cells, path, sequence of paths, or dataframe
        Votes, or what :func:`~bayes_arena.read_votes` reads without options. Their competitors, annotators and pairs
        are those for which the prior is drawn.
    model, prior : optional
        As for :func:`bayes_arena.fit`.
    elo : EloScale, optional
        Elo scale.
    size : int
        Draws.
    seed : int
        The same seed gives the same table.

    Returns
    -------
    pandas.DataFrame
        One row per ``quantity`` with its prior quantiles ``q05, q50, q95`` and, where the votes show it directly, its
        value ``observed``: the standard deviation of the Elo scores and the lead of the best over the worst (points);
        the shares of ties, and of decided votes won by the first side; the share of annotators with theta < 0.

    Raises
    ------
    ModelError
        If the model or prior is unknown, or the prior is flat.
    """
    problem = Problem.of(cells, model, prior)
    chosen, target = problem.model, problem.objective
    scale = elo or EloScale()
    draws, _ = draw_prior(problem, size=size, seed=seed)
    points = scale.points_per_logit * draws.elo_strength
    rows: dict[str, tuple[Floats, float]] = {
        "sd of Elo scores": (points.std(axis=1, ddof=1), np.nan),
        "best minus worst, Elo": (np.ptp(points, axis=1), np.nan),
    }
    votes = target.counts.sum(axis=0)
    won, tied = np.empty(size), np.empty(size)
    for index, point in enumerate(draws.points()):
        p = np.exp(chosen.likelihood.log_probabilities(target.coordinates(point)))
        p_win, p_loss, p_tie = wins_losses_ties(p.T)
        won[index] = votes @ p_win / (votes @ (p_win + p_loss))
        tied[index] = votes @ p_tie / votes.sum()
    wins, losses, ties = map(float, wins_losses_ties(target.counts.sum(axis=1)))
    if chosen.position != "none":
        rows["first side's share of decided votes"] = (won, wins / max(wins + losses, 1.0))
    if chosen.has_tie_outcome:
        rows["share of ties"] = (tied, ties / votes.sum())
    if target.free_discrimination:
        rows["share of annotators with theta < 0"] = ((draws.own[:, :, THETA] < 0).mean(axis=1), np.nan)
    table = table_of(
        [
            {"quantity": name, **dict(zip(("q05", "q50", "q95"), np.quantile(values, [0.05, 0.5, 0.95]), strict=True))}
            for name, (values, _) in rows.items()
        ]
    )
    return table.assign(observed=[seen for _, seen in rows.values()])
