"""Predictive checks: what a fitted model would have produced, and what a prior implies.

Under every draw of the posterior all votes are cast again, by the same annotators on
the same pairs, and what they show is compared with what is observed (Gelman, Meng &
Stern, 1996, Statistica Sinica 6).  The votes are used twice, to fit and to check, so
the check finds faults and does not certify a model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Unpack

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.boards.elo import ELO
from bayes_arena.checks.predict import folded_outcomes
from bayes_arena.checks.statistics import (
    FIRST_SIDE,
    TIES,
    UPSETS,
    Statistic,
    share_of_first,
    share_of_ties,
    share_of_upsets,
    statistics_of,
)
from bayes_arena.errors import ModelError, require_level, require_seed
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import OWN, ModelOptions
from bayes_arena.fits.result import Fit, require_fit, seen_votes
from bayes_arena.fits.tree import draw_prior
from bayes_arena.inference.predictive import outcomes_at, rows_of
from bayes_arena.inference.scale import board_strengths
from bayes_arena.model.design import Design
from bayes_arena.model.objective import row_coordinates
from bayes_arena.said import Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import TIE

if TYPE_CHECKING:
    import pandas as pd

REPLICATIONS = 400
PRIOR_DRAWS = 100
REVERSED = "annotators with theta below 0"


def predictive_check(
    fit: Fit, *, level: float = 0.95, draws: int = REPLICATIONS, seed: int = 0
) -> pd.DataFrame:
    """Compare what the votes show with what the fitted model would have produced.

    Parameters
    ----------
    fit : Fit
        Of a model with a probability of ties, if there are any.
    level : float
        Probability of the intervals.
    draws, seed : int
        Replications of all votes.

    Returns
    -------
    pandas.DataFrame
        One row for each ``statistic``: shares of ties, of wins of the first side, of
        upsets, the score of the top competitor; and the gaps of pairs, annotators,
        competitors and prompts from what is expected of them.  What was ``observed``;
        ``predicted``, with ``lower`` and ``upper``, between which replications lie
        with probability ``level``; and ``p``, the probability of a replication as far
        out, on either side, or for a gap as large.

    Raises
    ------
    ModelError
        If the model counts ties as half wins, or votes have fractional weights.
    """
    require_fit(fit)
    return dataframe(check_columns(fit, statistics_of(fit), level, draws, seed))


def check_columns(
    fit: Fit, statistics: list[Statistic], level: float, draws: int, seed: int
) -> Columns:
    """Return the table of predictive checks."""
    require_level(level)
    require_replicable(fit)
    counts = seen_votes(fit).folded
    # Gaps depend on the probabilities: what is observed is so under each draw, too.
    observed = np.empty((draws, len(statistics)))
    replicated = np.empty_like(observed)
    for draw, (votes, p) in enumerate(replications(fit, draws, seed)):
        observed[draw] = [statistic.value(counts, p) for statistic in statistics]
        replicated[draw] = [statistic.value(votes, p) for statistic in statistics]
    tail = (1 - level) / 2
    lower, upper = np.quantile(replicated, [tail, 1 - tail], axis=0)
    is_gap = np.array([statistic.is_gap for statistic in statistics])
    return {
        "statistic": [statistic.name for statistic in statistics],
        "observed": observed.mean(axis=0),
        "predicted": replicated.mean(axis=0),
        "lower": lower,
        "upper": upper,
        "p": p_values(observed, replicated, is_gap),
    }


def p_values(observed: Floats, replicated: Floats, is_gap: Array) -> Floats:
    """Return the probabilities of replications as far out, (statistics,)."""
    above = (replicated > observed).mean(axis=0)
    equal = (replicated == observed).mean(axis=0)
    tail = above + equal / 2
    return np.where(is_gap, tail, 2 * np.minimum(tail, 1 - tail))


def require_replicable(fit: Fit) -> None:
    """Refuse a fit whose votes cannot be cast again."""
    if fit.model.ties == "half" and fit.votes.counts[:, TIE].any():
        raise ModelError(
            f"Model {fit.model.name!r} counts ties as half wins, so it cannot predict "
            "them.",
            Use(model="davidson"),
            Use(ties="davidson"),
        )
    if fit.votes.has_fractions:
        raise ModelError(
            (
                "Votes with fractional weights cannot be cast again.",
                (" Check a fit of the votes without ", Use("weight"), "."),
            )
        )


def replications(fit: Fit, draws: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield for each draw replicated counts (rows, 3), and their probabilities."""
    votes = seen_votes(fit)
    n_votes = votes.counts.sum(axis=1).astype(np.int64)
    rows = rows_of(fit.posterior.design, votes)
    back = np.argsort(rows.order)
    rng = np.random.default_rng([seed, 1])
    for x in fit.marginals.draws(draws, seed):
        p = probabilities_at(rows.design, x)[back]
        yield rng.multinomial(n_votes, p).astype(float), p


def probabilities_at(design: Design, x: Floats) -> Floats:
    """Return the probabilities of win, loss and tie at parameters x, (rows, 3)."""
    z = row_coordinates(design, x)
    p = folded_outcomes(outcomes_at(z, design.outcomes, with_ties=False)[0])
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def prior_check(
    votes: object,
    *,
    draws: int = PRIOR_DRAWS,
    seed: int = 0,
    **options: Unpack[ModelOptions],
) -> pd.DataFrame:
    """Show what a prior implies for these votes, beside what they say.

    Parameters
    ----------
    votes : Fit, Votes, path, dataframe or list of records
        A fit, whose model and prior are checked; or votes.
    draws, seed : int
        Draws from the prior.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    pandas.DataFrame
        One row for each ``quantity``: its prior quantiles ``q05``, ``q50`` and ``q95``,
        and what the fit says, ``fitted``.  Elo points for scores, else shares.

    Raises
    ------
    ModelError
        If the prior is flat, or the fit is one of draws of your own.
    """
    require_seed(seed)
    fit = fitted(votes, **options)
    if fit.method == OWN:
        raise ModelError(
            "The prior of draws of your own is in your program, not in the fit. Sample it "
            "there, with pm.sample_prior_predictive."
        )
    if fit.prior.is_flat:
        raise ModelError(
            "A flat prior implies nothing.", Use(prior="default"), Use(prior="weak")
        )
    return dataframe(prior_columns(fit, draws, seed))


def prior_columns(fit: Fit, draws: int, seed: int) -> Columns:
    """Return the table of what a prior implies."""
    design = fit.posterior.design
    vectors, _ = draw_prior(fit, draws, seed)
    with threads_for(fit.votes.n_competitors):
        elo = ELO.points_per_logit * board_strengths(design, vectors)
    drawn = {
        "sd of Elo scores": elo.std(axis=1),
        "best less worst, Elo": np.ptp(elo, axis=1),
    }
    fitted_elo = ELO.points_per_logit * fit.marginals.board.value
    estimated = {
        "sd of Elo scores": fitted_elo.std(),
        "best less worst, Elo": np.ptp(fitted_elo),
        **vote_shares(design, fit.posterior.mean),
    }
    shares = [vote_shares(design, x) for x in vectors]
    for name in shares[0]:
        drawn[name] = np.array([share[name] for share in shares])
    if design.has("discrimination"):
        theta = 1 + vectors[:, design.indices(design.block("discrimination"))]
        drawn[REVERSED] = (theta < 0).mean(axis=1)
        estimated[REVERSED] = (fit.discrimination < 0).mean()
    q05, q50, q95 = np.quantile(list(drawn.values()), [0.05, 0.5, 0.95], axis=1)
    return {
        "quantity": list(drawn),
        "q05": q05,
        "q50": q50,
        "q95": q95,
        "fitted": [float(estimated[name]) for name in drawn],
    }


def vote_shares(design: Design, x: Floats) -> dict[str, float]:
    """Return expected shares of upsets, first sides and ties at parameters x."""
    votes = design.votes
    r = x[design.indices(design.block("strength"))]
    counts = design.n_votes[:, None] * probabilities_at(design, x)
    is_first_better = r[votes.i] >= r[votes.j]
    shares = {UPSETS: share_of_upsets(counts, is_first_better)}
    if design.has("position"):
        shares[FIRST_SIDE] = share_of_first(counts)
    if design.has("tie"):
        shares[TIES] = share_of_ties(counts)
    return shares
