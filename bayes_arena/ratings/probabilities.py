"""Probabilities of ranks and wins: which competitor is best, which beats which, and which orders are not settled.

A win rate is the score that a competitor is expected to take in a vote, a tie counting 1/2, of those whom the board is
about: W of :mod:`bayes_arena.inference.average_vote`, averaged over annotators. It is as uncertain as logit W is by the
delta method; its posterior mean averages W over that Gaussian. A single annotator, the average or a new one, differs
from the average vote: where some always tie, say, everybody's votes are less clear than those of an annotator of
theta = 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, get_args

import numpy as np
from scipy.special import expit, logit

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, table_of
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.arguments import held
from bayes_arena.fits.draws import Draws, noise_of_unseen
from bayes_arena.fits.result import Fit
from bayes_arena.inference.average_vote import CERTAIN, average_votes, scattered
from bayes_arena.inference.curves import ties_of_pairs
from bayes_arena.inference.estimand import Over
from bayes_arena.inference.projected_draws import scores_of_draws
from bayes_arena.likelihood.outcomes.likelihood import T
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead, times
from bayes_arena.ratings.decision_draws import drawn_strengths, rank_shares
from bayes_arena.ratings.estimates import pair_indices, require_population
from bayes_arena.ratings.intervals.contract import Interval, Quantity, equal_tailed, require_level
from bayes_arena.ratings.intervals.names import IntervalName, drawn_by, resolve_interval
from bayes_arena.threads import one_thread

Annotator = Literal["average", "new"]
NODES = 21
"""Gauss-Hermite nodes for the posterior mean of a win rate."""
AT_ONCE = 2_000_000
"""Draws times pairs that are evaluated at once, which bounds the memory."""
DERIVATIVES = 20_000_000
"""Derivatives of scores that are held at once."""


@held
def rank_probabilities(
    fit: Fit,
    *,
    top: int = 3,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
) -> DataFrame:
    """Compute probabilities of being best and among the best, and expected ranks.

    The ranks that the votes leave open, all at once, are in :func:`~bayes_arena.leaderboard`.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    top : int
        k in "among the best k".
    interval : Interval or str
        Whose draws to use: those of the posterior, ``"laplace"``, or for posterior modes those of ``"sandwich"``,
        ``"clustered"`` (:class:`~bayes_arena.Clustered`) or ``"bootstrap"`` (:class:`~bayes_arena.Bootstrap`).
    draws : Draws, optional
        Draws to use instead of the interval's.
    over, slice
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, p_best, p_top, expected_rank``, best expected rank first.

    Raises
    ------
    ModelError
        If top is invalid, or the interval has no draws.
    """
    names = fit.cells.competitors
    if not 1 <= top <= len(names):
        raise ModelError(f"top must lie between 1 and the number of competitors, {len(names)}, not {top!r}.")
    fit = fit.on(over, slice)
    strength, about = drawn_strengths(interval, fit, draws)
    shares = rank_shares(strength)
    table = table_of(
        {
            "competitor": names,
            "p_best": shares[:, 0],
            "p_top": shares[:, :top].sum(axis=1),
            "expected_rank": shares @ np.arange(1, len(names) + 1),
        },
        **about,
    )
    return table.sort_values("expected_rank", kind="stable", ignore_index=True)


@held
def head_to_head(
    fit: Fit,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    annotator: Literal["average"] | None = None,
    level: float = 0.95,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
) -> DataFrame:
    """Compute the expected score of one competitor against another: the plug-in estimate and the posterior mean.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    pairs : sequence of (str, str), optional
        Pairs to compare; by default all of them, in the order of ``fit.cells.competitors``.
    annotator : {"average"}, optional
        Whose vote it is: by default that of those whom the board is about, averaged as the board averages them; or one
        by the average annotator (theta = 1, the common tie propensity). For one annotator by name: ``fit.of(name)``.
    level : float
        Coverage of the intervals.
    interval, draws, over, slice
        As for :func:`~bayes_arena.rank_probabilities`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, opponent, plug_in, lower, upper, mean``, of a vote without a position effect, a tie counting one
        half. ``plug_in`` is the score at the estimate (at the posterior mean of a sampled fit), for a single annotator
        as a formula such as P = 1 / (1 + exp(r_j - r_i)) gives it; ``lower`` and ``upper`` are bounds of the score;
        ``mean`` is the posterior predictive score: closer to 1/2, the more so the less certain the strengths are.

    Raises
    ------
    ModelError
        If a name is not a competitor, a pair names the same competitor twice, there is no pair, the level is invalid,
        or the annotator is not ``"average"``.
    NotIdentifiedError
        If, under a flat prior, two competitors were never compared, not even through others.
    """
    if annotator is not None:
        require_choice("annotator", annotator, ("average",))
    require_level(level)
    i, j = pair_indices(fit, pairs)
    fit = fit.on(over, slice)
    names = np.array(fit.cells.competitors, dtype=object)
    columns, about = score_columns(fit, i, j, annotator=annotator, level=level, interval=interval, draws=draws)
    return table_of({"competitor": names[i], "opponent": names[j], **columns}, level=level, **about)


def score_columns(
    fit: Fit,
    i: Ints,
    j: Ints,
    *,
    annotator: Annotator | None = None,
    level: float = 0.95,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
) -> tuple[Columns, dict[str, Any]]:
    """Return the columns of :func:`head_to_head` without the names, for pairs given by their indices, and ``attrs``."""
    one = annotator is not None or not fit.target.own  # without parameters of their own all annotators are the same
    if not one and draws is None and fit.samples is None:
        chosen = resolve_interval(interval, fit)
        parts = [
            _by_delta_method(fit, chosen, i[part], j[part], level)
            for part in _parts(len(i), _parameters(fit), DERIVATIVES)
        ]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return columns, {**chosen.about(fit), **fit.about}
    draws, about = drawn_by(interval, fit, draws, annotators=not one)
    means, mean, bounds = fit.means(draws), np.empty(len(i)), np.empty((2, len(i)))
    own = _drawn_annotators(fit, len(means)) if annotator == "new" else None
    for part in _parts(len(i), len(draws.strength)):
        if one:
            score = _expected_score(fit, means, draws.common, draws.slices, i[part], j[part], own)
        else:
            score = _average_score(fit, draws, i[part], j[part])
        mean[part], bounds[:, part] = score.mean(axis=0), equal_tailed(score, level)
    return {"plug_in": _plug_in(fit, draws, i, j, one=one), "lower": bounds[0], "upper": bounds[1], "mean": mean}, about


def _by_delta_method(fit: Fit, interval: Interval, i: Ints, j: Ints, level: float) -> Columns:
    """Return the columns of average votes, from the Gaussian approximation of their logits."""
    with one_thread():
        found = average_votes(fit.target, fit.point, fit.cells.votes_by_annotator(), fit.view, i, j)
        score = np.clip(found.score, CERTAIN, 1 - CERTAIN)
        moved = found.mapped(lambda some: some / (score * (1 - score))[:, None])
        unseen = moved.by_mean**2 @ fit.view.unseen
        quantity = Quantity(
            logit(score), moved.by_head, moved.own, lambda draws: logit(_average_score(fit, draws, i, j)), unseen
        )
        summary = interval.summarise(fit, quantity, level)
    x, chance = np.polynomial.hermite_e.hermegauss(NODES)
    mean = expit(summary.value[:, None] + summary.sd[:, None] * x) @ (chance / chance.sum())
    return {"plug_in": score, "lower": expit(summary.lower), "upper": expit(summary.upper), "mean": mean}


def _average_score(fit: Fit, draws: Draws, i: Ints, j: Ints) -> Floats:
    """Return the average vote of those the fit is about under every draw, shape (size, m)."""
    slices = draws.slices if draws.slices.size else np.zeros((len(draws.strength), 0))
    noisy = draws.strength + noise_of_unseen(fit.view, len(draws.strength))
    point = Point(noisy, draws.common, draws.own, slices)
    scores = scores_of_draws(fit.target, point, fit.cells.votes_by_annotator(), i, j, view=fit.view)
    parts = _parts(len(noisy), max(fit.target.n_annotators, 1) * len(i))
    return np.clip(np.concatenate([scores(part) for part in parts]), CERTAIN, 1 - CERTAIN)


def _plug_in(fit: Fit, draws: Draws, i: Ints, j: Ints, *, one: bool) -> Floats:
    """Return scores at the estimate, or at the mean of the draws of a sampled fit."""
    point = fit.point
    if fit.samples is not None:
        slices = draws.slices.mean(axis=0) if draws.slices.size else point.slices
        own = draws.own.mean(axis=0) if draws.own.size else point.own
        point = Point(draws.strength.mean(axis=0), draws.common.mean(axis=0), own, slices)
    if not one:
        votes = fit.cells.votes_by_annotator()
        parts = _parts(len(i), _parameters(fit), DERIVATIVES)
        found = [average_votes(fit.target, point, votes, fit.view, i[part], j[part]) for part in parts]
        return np.concatenate([one.score for one in found])
    strength = point.strength + fit.view.slices @ point.slices
    return np.asarray(_expected_score(fit, strength[None], point.common[None], point.slices[None], i, j)[0])


def _drawn_annotators(fit: Fit, size: int) -> list[Floats]:
    """Draw annotators from the population that the prior describes, each number of shape (size, 1)."""
    rng = np.random.default_rng(1)
    return [rng.normal(effect.mean, effect.sd, (size, 1)) for effect in fit.target.own]


@held
def win_probability(
    fit: Fit,
    *,
    annotator: Annotator | None = None,
    interval: Interval | IntervalName | None = None,
    draws: Draws | None = None,
    over: Over | None = None,
    slice: tuple[str, str] | None = None,
) -> DataFrame:
    """Compute the expected score of every competitor against every other in the next vote, a tie counting one half.

    It is averaged over the posterior, hence closer to 1/2 than the plug-in estimate; :func:`head_to_head` shows both.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    annotator : {"average", "new"}, optional
        Who casts the next vote: by default anybody of those whom the board is about, averaged as the board averages
        them; or one annotator, the average one, with theta = 1 and the common tie propensity, or a new one, drawn from
        the population that the prior describes. None has a position effect. For one by name: ``fit.of(name)``.
    interval, draws, over, slice
        As for :func:`~bayes_arena.rank_probabilities`.

    Returns
    -------
    pandas.DataFrame
        Square, rows against columns, both in the order of ``fit.cells.competitors``; the diagonal is 1/2, and an
        entry and its mirror image sum to one.

    Raises
    ------
    ModelError
        If ``annotator`` is neither, or ``"new"`` under a flat prior, which describes no population.
    NotIdentifiedError
        If, under a flat prior, two competitors were never compared, not even through others.
    """
    from bayes_arena.table import Table

    if annotator is not None:
        require_choice("annotator", annotator, get_args(Annotator))
    if annotator == "new":
        require_population(fit)
    i, j = pair_indices(fit, None)
    columns, about = score_columns(fit.on(over, slice), i, j, annotator=annotator, interval=interval, draws=draws)
    matrix = np.full((fit.cells.n_competitors, fit.cells.n_competitors), 0.5)
    matrix[i, j], matrix[j, i] = columns["mean"], 1 - columns["mean"]
    table = Table(matrix, index=list(fit.cells.competitors), columns=list(fit.cells.competitors))
    table.attrs.update(about)
    return table


def shares_ahead(strength: Floats) -> Floats:
    """Return the share of draws (n_draws, n) in which the row is ahead of the column, ties counting half, (n, n)."""
    return np.array([share_above(one - strength) for one in strength.T[:, :, None]])


def share_above(gap: Floats) -> Floats:
    """Return the share of draws (n_draws, m) in which a gap is above zero, zero counting half, shape (m,)."""
    return np.asarray(((gap > 0) + 0.5 * (gap == 0)).mean(axis=0))


def _parameters(fit: Fit) -> int:
    return len(fit.point.head) + fit.point.own.size


def _parts(count: int, numbers: int, at_once: int = AT_ONCE) -> Iterator[slice]:
    """Yield slices of pairs or draws, small enough that so many numbers of each fit in memory."""
    step = max(1, at_once // numbers)
    return (slice(first, min(first + step, count)) for first in range(0, count, step))


def _expected_score(
    fit: Fit,
    strength: Floats,
    common: Floats,
    slices: Floats,
    i: Ints,
    j: Ints,
    own: Sequence[Floats] | None = None,
) -> Floats:
    """Return the score of i against j without a position effect, shape (size, m), under draws of the parameters.

    The annotator has theta = 1 and the common tie propensity, or the draws ``own``, each of shape (size, 1). Scores are
    averaged over slices.
    """
    target = fit.view.of(fit.target, slices)
    numbers = [effect.mean for effect in target.own] if own is None else own
    leads, ties = lead(strength, i, j), ties_of_pairs(fit.target, fit.view, slices, i, j)
    along = [lead(slices[:, part], i, j) for part in fit.target.directions]
    score: Floats | float = 0.0
    for shift, tie, chance in scattered(fit.target, fit.view):
        z = target.predictor.coordinates([leads + shift, *along], common.T[:, :, None], numbers)
        if fit.target.slices and len(z) > T:
            z[T] += tie if ties is None else tie + ties
        score = score + times(chance, fit.target.likelihood.expected_score(z)[0])
    return np.asarray(score)
