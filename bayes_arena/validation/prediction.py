"""The prediction of votes that a fit has not seen.

A vote of annotator k, shown i first, ends in a win, a loss or a tie with probabilities

    P(o) = E[ P(o | eta, t, m) ],        eta = theta_k (r_i - r_j) + b_k,

the expectation over the posterior where the prior is proper; under a flat prior, where the posterior may be improper,
the prediction is the plug-in estimate (:func:`~bayes_arena.head_to_head` shows both). With half wins a tie is not an
outcome: their likelihood P^W (1 - P)^(1 - W), normalised over W = 0, 1/2 and 1, is Davidson's with nu = 1, by which
ties are scored; the expected score remains P. Every score counts a both-bad vote as a tie.

Ratings without a fit, such as online Elo's, predict with theta = 1 and no position effect, and ties as above.

An annotator that the fit does not know is drawn from the population that the prior describes; under a flat prior,
which describes none, it votes like the average annotator (theta = 1), as under the paper's filter of annotators. The
effects of a new slice, such as a new prompt, are integrated out as well, not set to zero, which would be overconfident.
So are the steps of strengths that move, to periods after the last of the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from bayes_arena.arrays import Columns, Floats, Ints, sum_by, table_of
from bayes_arena.errors import ColumnError, ModelError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.outcomes import davidson, half
from bayes_arena.likelihood.outcomes.likelihood import Likelihood
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import lead
from bayes_arena.ratings.estimates import require_compared, require_population
from bayes_arena.ratings.intervals.contract import half_width
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.layouts.columns import ANNOTATORS, PAIRS, sole
from bayes_arena.votes.names import PROGRAM, TIME
from bayes_arena.votes.outcomes import OUTCOMES, by_result
from bayes_arena.votes.periods import coded
from bayes_arena.votes.tally import Tally

DRAWS = 500
"""Draws over which a prediction is averaged; a sampled fit uses all it has."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Strengths without a fit, such as those of online Elo: names of competitors, and r in logits, (n_competitors,)."""

    competitors: tuple[str, ...]
    strength: Floats


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predicted distribution of a vote in each cell: expected score of the competitor shown first, (n_cells,).

    ``log_p`` are the log-probabilities that it wins, loses and ties, (3, n_cells).
    """

    score: Floats
    log_p: Floats


@held
def predict(fit: Fit, votes: object, *, draws: int = DRAWS, seed: int = 0) -> Any:
    """Predict how votes will end, in the posterior mean.

    Parameters
    ----------
    fit : Fit
        A fitted model that sees every vote (neither ties nor both-bad votes dropped).
    votes : dataframe, or sequence of (str, str) or (str, str, str)
        The votes, without winners: a dataframe of any engine with the competitors in ``model_a``, shown first, and
        ``model_b`` (or other usual names), the annotator, if known, in ``judge`` (or another usual name), and slices
        and features in columns of the names that the fit has for them; or pairs, each perhaps with its annotator. An
        annotator, prompt or other slice that is not given, or that the fit does not know, is a new one, averaged over
        those that there may be; the time is the last of the fit.
    draws : int
        Draws from a Gaussian approximation; a sampled fit uses all it has.
    seed : int
        The same seed gives the same prediction.

    Returns
    -------
    dataframe
        With the same rows: the competitors and the annotator as given, ``p_a``,
        ``p_tie`` and ``p_b``, the probabilities that the first wins, of a tie (or both bad), and that the second wins,
        and ``score``, the expected score of the first, a tie counting one half.

    Raises
    ------
    ColumnError
        If there are no columns of competitors, or of a feature that the fit reads.
    ModelError
        If the fit does not know a competitor, it leaves out some outcomes, or a pair is no pair.
    NotIdentifiedError
        If, under a flat prior, the fit has not compared a pair, even through others.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> found = ba.fit(ba.example_arena().votes).predict([("model-18", "model-01")])
    >>> bool(found["p_a"][0] > 0.5)
    True
    """
    frame = _as_frame(votes)
    names = list(frame.columns)
    a, b = sole(
        [pair for pair in PAIRS if set(pair) <= set(names)], names, "pair of competitors", "one of these", PAIRS
    )
    judges = [name for name in ANNOTATORS if name in names]
    judge = [sole(judges, names, "annotator", "one of these", ANNOTATORS)] if judges else []
    found = predict_cells(fit, _as_cells(fit, frame, a, b, *judge), draws=draws, seed=seed)
    win, loss, tie = np.exp(found.log_p)
    given = {name: frame[name].to_list() for name in (a, b, *judge)}
    return table_of(given | {"p_a": win, "p_tie": tie, "p_b": loss, "score": found.score})


def _as_frame(votes: object) -> Any:
    frame: Any = nw.from_native(votes, pass_through=True)
    frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    if isinstance(frame, nw.DataFrame):
        return frame
    import pandas as pd

    rows = [tuple(row) for row in votes] if isinstance(votes, Sequence) and not isinstance(votes, str) else []
    if not rows or len({len(row) for row in rows}) != 1 or len(rows[0]) not in (2, 3):
        raise ModelError(
            "Votes to predict are a dataframe with model_a and model_b, or pairs such as [('x', 'y')], each perhaps "
            f"with its annotator, not {votes!r:.60}."
        )
    return nw.from_native(pd.DataFrame(rows, columns=["model_a", "model_b", "judge"][: len(rows[0])]))


def _as_cells(fit: Fit, frame: Any, a: str, b: str, judge: str | None = None) -> Cells:
    """Return a cell without counts for every row of a dataframe."""

    def coded_names(names: list[object]) -> tuple[tuple[str, ...], Ints]:
        known, codes = np.unique(np.array(["" if name is None else str(name) for name in names]), return_inverse=True)
        return tuple(map(str, known)), codes.astype(np.int64)

    count = len(frame)
    if same := [name for name, other in zip(frame[a].to_list(), frame[b].to_list(), strict=True) if name == other]:
        raise ModelError(f"A vote is on two different competitors, not on {listing(map(repr, same))} and itself.")
    competitors, sides = coded_names([*frame[a].to_list(), *frame[b].to_list()])
    annotators, annotator = coded_names(frame[judge].to_list()) if judge else ((), np.zeros(count, dtype=np.int64))
    slices, slice_names = {}, {}
    for name in fit.model.slices:
        if name != PROGRAM:
            last = fit.mode.problem.slice_names[name][-1] if name == TIME else ""
            texts = frame[name].to_list() if name in frame.columns else [last] * count
            slice_names[name], slices[name] = coded_names(texts)
    if lacking := [name for name in fit.model.features if name not in frame.columns]:
        raise ColumnError(f"The fit reads {listing(map(repr, lacking))}. Add columns of these names.")
    return Cells(
        competitors,
        annotators,
        sides[:count],
        sides[count:],
        annotator,
        np.zeros((count, fit.cells.counts.shape[1])),
        features={name: frame[name].to_numpy().astype(float) for name in fit.model.features},
        slices=slices,
        slice_names=slice_names,
        programs=tuple(name for name in annotators if name in fit.cells.programs),
    )


def predict_cells(
    fit: Fit | Ratings, cells: Cells, *, new: bool = False, draws: int = DRAWS, seed: int = 0
) -> Prediction:
    """Predict a vote in each cell, as :func:`predict` does of rows; ratings ignore annotators.

    Competitors and annotators are matched by name, and counts are ignored. With ``new`` every annotator is drawn from
    the population, which a flat prior does not describe.
    """
    if isinstance(fit, Ratings):
        i, j = _pairs(fit.competitors, cells)
        eta = lead(fit.strength, i, j)[None, :]
        return Prediction(half.LIKELIHOOD.expected_score(eta)[0], _log_win_loss_tie(half.LIKELIHOOD, eta))
    if not fit.model.sees(len(OUTCOMES)).all():
        raise ModelError(
            f"Model {fit.model.name!r} leaves out ties or both-bad votes, so its predictions cannot be compared "
            "with those of others. Use ties='davidson' and both_bad='tie'."
        )
    if new:
        require_population(fit)
    rows = _rows(fit, cells, new=new)
    target = fit.target_of(rows)
    score, log_p, size = np.zeros(len(rows.i)), np.full((3, len(rows.i)), -np.inf), 0
    rng, unseen = np.random.default_rng([seed, 3]), target.has_unseen
    for point in _points(fit, draws, seed):
        coordinates = target.coordinates(point)
        if unseen:
            coordinates += target.unseen(point, rng)
        score += target.likelihood.expected_score(coordinates)[0]
        log_p = np.logaddexp(log_p, _log_win_loss_tie(target.likelihood, coordinates))
        size += 1
    return Prediction(score / size, log_p - math.log(size))


def grouped(
    predicted: Floats, variance: Floats, observed: Floats, votes: Floats, *, size: int, level: float
) -> Columns:
    """Divide cells of votes into at most ``size`` groups of similar predictions, with about equal numbers of votes.

    The predictions and their variances are of one vote, what was observed is its sum over the votes of a cell. The
    columns are means over the votes of a group, ``predicted, observed``, ``lower, upper``, between which observed means
    lie with probability ``level`` if the predictions are right, and the number of ``votes``.
    """
    order = np.argsort(predicted, kind="stable")
    before = votes[order].cumsum() - votes[order] / 2
    _, group = np.unique((size * before / votes.sum()).astype(np.int64), return_inverse=True)
    n, mean, seen, spread = (
        sum_by(group, values[order], group.max() + 1)
        for values in (votes, votes * predicted, observed, votes * variance)
    )
    mean, reach = mean / n, half_width(level) * np.sqrt(spread) / n
    return {"predicted": mean, "observed": seen / n, "lower": mean - reach, "upper": mean + reach, "votes": n}


def _log_win_loss_tie(likelihood: Likelihood, coordinates: Floats) -> Floats:
    """Return log-probabilities of win, loss and tie, grades folded, a both-bad vote being a tie, shape (3, n_cells)."""
    if likelihood.half_wins:
        likelihood, coordinates = davidson.LIKELIHOOD, np.vstack([coordinates, np.zeros_like(coordinates)])
    log_p = likelihood.log_probabilities(coordinates)
    return np.array([np.logaddexp.reduce(log_p[outcomes]) for outcomes in by_result(len(log_p))])


def _points(fit: Fit, draws: int, seed: int) -> Iterator[Point]:
    """Yield points of the posterior, or the estimate; after the annotators comes an unknown one."""
    target = fit.target
    mean = np.array([effect.mean for effect in target.own])
    if not target.is_proper:
        yield Point(fit.point.strength, fit.point.common, np.vstack([fit.point.own, mean]))
        return
    strength, common, own, slices = draw_parameters(fit, size=draws, seed=seed)
    population = np.random.default_rng([seed, 1]).normal(
        mean, [effect.sd for effect in target.own], (len(own), len(target.own))
    )
    for index in range(len(own)):
        yield Point(strength[index], common[index], np.vstack([own[index], population[index]]), slices[index])


def _rows(fit: Fit, cells: Cells, *, new: bool) -> Tally:
    """Return the cells with the indices of a fit; an unknown annotator comes after all others."""
    i, j = _pairs(fit.cells.competitors, cells)
    if math.isinf(fit.target.strength_sd):
        require_compared(fit, i, j)
    place = {name: index for index, name in enumerate(fit.cells.annotators)}
    stranger = fit.target.n_annotators
    index = np.array([place.get(name, stranger) for name in cells.annotators], dtype=np.int64)
    known = stranger > 0 and not new and len(index) > 0
    k = index[cells.annotator] if known else np.full(len(i), stranger)
    slices = cells.slice_rows(fit.model.slices)
    fitted, here = fit.mode.problem.slice_names, {**cells.slice_names, PROGRAM: cells.programs}
    for name, codes in zip(fit.model.slices, slices, strict=True):
        if name == TIME and fit.model.drift:
            codes[:] = coded(here[name], fitted[name])[codes]
            continue
        places = {one: index for index, one in enumerate(fitted[name])}
        named = codes >= 0  # votes of people have no program
        codes[named] = np.array([places.get(one, -1) for one in here[name]], dtype=np.int64)[codes[named]]
    return Tally(i, j, k, cells.counts, cells.feature_rows(fit.model.features), slices)


def _pairs(known: tuple[str, ...], cells: Cells) -> tuple[Ints, Ints]:
    place = {name: index for index, name in enumerate(known)}
    index = np.array([place.get(name, -1) for name in cells.competitors], dtype=np.int64)
    i, j = index[cells.a], index[cells.b]
    unknown = np.unique(np.concatenate([cells.a[i < 0], cells.b[j < 0]]))
    if len(unknown):
        raise ModelError(
            f"The fit does not know {listing(cells.competitors[row] for row in unknown)}. Refit with their votes."
        )
    return i, j
