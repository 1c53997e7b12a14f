"""Predictive checks: what a prior implies, and whether the fitted model would have produced such votes.

A prior on logits is hard to judge; it is easier to judge whether the best of twenty competitors leads the worst by 700
Elo points, or one annotator in forty votes against the others.

Under every draw of the posterior all votes are cast again, by the same annotators on the same pairs, and the
observed rate is compared with the replicated ones. With T the number of wins, or ties, in a group of votes,

    tail = P(T_rep > T_obs) + P(T_rep = T_obs) / 2,

is near 0 or 1 where the model would hardly have produced what was observed. The data are used twice, to fit and to
check, so tails of what the model fits closely concentrate around 1/2: the check can find faults, not certify a model.

With half wins the likelihood is of wins and losses only, so no ties are drawn, as in :mod:`bayes_arena.models`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.arguments import held
from bayes_arena.fits.posterior_draws import draw_parameters, require_proper
from bayes_arena.fits.prior_draws import draw_prior
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA, lead
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.ratings.probabilities import share_above
from bayes_arena.votes.outcomes import TIE, whole_counts, whole_votes, wins_losses_ties
from bayes_arena.votes.tally import Tally

By = Literal["pair", "competitor", "annotator"]
DRAWS = 1000
"""Replications from a Gaussian approximation; a sampled fit gives one from every draw it has."""


@held
def replicate(fit: Fit, *, draws: int = DRAWS, seed: int = 0) -> Ints:
    """Cast all votes again under draws of the posterior.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior.
    draws : int
        Draws from a Gaussian approximation; a sampled fit uses all it has.
    seed : int
        The same seed gives the same votes.

    Returns
    -------
    ndarray of int, shape (n_draws, n_rows, 4)
        Wins of i, wins of j, ties and both-bad votes in the rows of ``fit.target.tally``, each row with as many votes
        as the model sees there. Half wins and dropped ties draw no tie.

    Raises
    ------
    ModelError
        If the prior is flat, or votes are weighted by fractions.
    """
    return np.array(list(_replications(fit, fit.target.tally, draws, seed)))


@held
def predictive_check(fit: Fit, by: By = "pair", *, level: float = 0.89, draws: int = DRAWS, seed: int = 0) -> DataFrame:
    """Compare the rates of wins and ties in groups of votes with those that the model predicts.

    Parameters
    ----------
    fit : Fit
        A fitted model with a proper prior.
    by : {"pair", "competitor", "annotator"}
        What the votes are grouped by.
    level : float
        Predictive probability of the intervals.
    draws, seed : int
        As for :func:`replicate`; only one replication of all votes is in memory at a time.

    Returns
    -------
    pandas.DataFrame
        The group (``competitor, opponent``, or ``competitor``, or ``annotator``); ``statistic``; ``votes`` that the
        model sees; the rate ``observed``; ``predicted``, its predictive mean, with ``lower`` and ``upper``; ``tail``,
        P(T_rep > T_obs) + P(T_rep = T_obs) / 2. Each group has a row ``"win"``, the rate of votes for the competitor
        (for an annotator: for whichever of the two the fit rates higher), and, where the model has ties, a row
        ``"tie"``, both-bad votes included.

    Raises
    ------
    ModelError
        If the grouping or level is invalid, the annotators are unknown, the prior is flat, votes are weighted by
        fractions, or a likelihood of half wins was fitted to votes with ties.

    References
    ----------
    Gelman, A., Meng, X.-L. & Stern, H. (1996), "Posterior predictive assessment of model fitness via realized
    discrepancies", Statistica Sinica 6.
    """
    import pandas as pd

    require_level(level)
    if fit.model.likelihood.half_wins and fit.target.counts[TIE].any():
        raise ModelError(
            f"Model {fit.model.name!r} counts ties as half wins and draws none, so rates of votes with ties cannot be "
            "checked. Use ties='davidson'."
        )
    tally = _rows(fit, by)
    names, groups = _group(fit, tally, by)
    statistics = ("win", "tie") if fit.model.has_tie_outcome else ("win",)
    counts = fit.model.seen_counts(tally.counts).T
    votes = sum_by(groups.index, counts[groups.row].sum(axis=1), groups.size)
    observed = groups.wins_and_ties(counts)
    replications = _replications(fit, tally, draws, seed)
    replicated = np.array([groups.wins_and_ties(once.astype(np.float64)) for once in replications])
    tail = share_above(replicated - observed)
    lower, upper = equal_tailed(replicated, level, discrete=True)
    seen = votes > 0
    tables = []
    for row, statistic in enumerate(statistics):
        numbers = {
            "observed": observed[row],
            "predicted": replicated[:, row].mean(axis=0, dtype=np.float64),
            "lower": lower[row],
            "upper": upper[row],
        }
        columns = {
            **{name: np.array(column, dtype=object)[seen] for name, column in names.items()},
            "statistic": statistic,
            "votes": whole_counts(votes[seen]),
            **{name: values[seen] / votes[seen] for name, values in numbers.items()},
            "tail": tail[row][seen],
        }
        tables.append(table_of(columns))
    return pd.concat(tables, ignore_index=True)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Which rows of votes belong to which group, and whose wins count there.

    Row ``row`` belongs to group ``index``, where wins of i (side 0) or of j (side 1) are counted.
    """

    index: Ints
    row: Ints
    side: Ints
    size: int

    def wins_and_ties(self, counts: Floats) -> Floats:
        """Sum counts (n_rows, K) over groups, shape (2, size)."""
        *decided, tied = wins_losses_ties(counts)
        wins, ties = np.array(decided)[self.side, self.row], tied[self.row]
        return np.array([sum_by(self.index, wins, self.size), sum_by(self.index, ties, self.size)])


def _rows(fit: Fit, by: str) -> Tally:
    """Return the votes, tallied as the model distinguishes them."""
    require_choice("by", by, get_args(By))
    if by == "annotator" and not fit.cells.n_annotators:
        raise ModelError("The votes carry no annotators, so none can be checked. Use by='competitor' or by='pair'.")
    by_annotator = by == "annotator" or fit.model.needs_annotators
    return fit.model.tally(fit.cells, by_annotator=by_annotator)


def _group(fit: Fit, tally: Tally, by: str) -> tuple[Mapping[str, Sequence[str]], _Groups]:
    """Return the names of the groups, and their rows."""
    names, n, row = fit.cells.competitors, fit.cells.n_competitors, np.arange(len(tally.i))
    if by == "annotator":
        side = (lead(fit.strength, tally.i, tally.j) < 0).astype(np.int64)
        return {"annotator": fit.cells.annotators}, _Groups(tally.k, row, side, fit.cells.n_annotators)
    if by == "competitor":
        index, side = np.append(tally.i, tally.j), np.repeat([0, 1], len(row))
        return {"competitor": names}, _Groups(index, np.append(row, row), side, n)
    first, second = np.minimum(tally.i, tally.j), np.maximum(tally.i, tally.j)
    pairs, index = np.unique(first * n + second, return_inverse=True)
    who = {"competitor": [names[pair // n] for pair in pairs], "opponent": [names[pair % n] for pair in pairs]}
    return who, _Groups(index, row, (tally.i > tally.j).astype(np.int64), len(pairs))


def _replications(fit: Fit, tally: Tally, draws: int, seed: int) -> Iterator[Ints]:
    """Yield replicated counts (n_rows, K), one for each draw of the posterior."""
    require_proper(fit, "A predictive check")
    target = fit.target_of(tally)
    votes = whole_votes(fit.model.seen_counts(tally.counts).sum(axis=0))
    rng = np.random.default_rng([seed, 1])
    for point in map(Point, *draw_parameters(fit, size=draws, seed=seed)):
        yield rng.multinomial(votes, np.exp(target.likelihood.log_probabilities(target.coordinates(point))).T)


@held
def prior_check(
    cells: object,
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    elo: EloScale | None = None,
    size: int = 1000,
    seed: int = 0,
) -> DataFrame:
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
    quantiles = np.array([np.quantile(values, [0.05, 0.5, 0.95]) for values, _ in rows.values()]).T
    columns = {"quantity": list(rows), **dict(zip(("q05", "q50", "q95"), quantiles, strict=True))}
    return table_of({**columns, "observed": [seen for _, seen in rows.values()]})
