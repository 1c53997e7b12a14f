"""Cross-validation: prediction of votes left out by repeated random splits (``held_out``) or by folds (``kfold``).

``held_out``: each split leaves out a random share q of the votes (or prompts, or annotators); every model is fitted to
the rest and predicts the votes left out. With W the outcome of a vote (1, 1/2, 0) for the competitor shown first, and
E[W] its prediction,

    mse         mean of (E[W] - W)^2 over the votes left out
    auc         over decided votes: P(E[W] of a win > E[W] of a loss), equal predictions counting one half (the
                Mann-Whitney statistic); ties have no side and are left out
    auc_ties    the same over all votes, a tie ranking between a win and a loss: what the authors' program calls AUC
    log_score   mean of ln P(win, tie or loss as voted), in nats

The training votes of different splits overlap, so the variance s^2 of a score (or of a difference, taken split by
split) over n splits understates the error of its mean; Nadeau & Bengio's correction is se = s sqrt(1/n + q / (1 - q)).

``kfold``: the groups, annotators or prompts for instance, are divided into folds. All votes of the groups of a fold are
left out, the models are fitted to the others, and every vote left out is predicted as one of a new group. A new
annotator is drawn from the population that the fit describes (theta ~ Normal(1, sd), and so on for the tie propensity
and the position effect), averaged over draws, one vote at a time: nothing is learnt from other votes of the same group.
This measures how well a model predicts the next annotator, or the next prompt; ``held_out`` without groups measures how
well it predicts those already known.

In ``kfold`` each vote is left out once. With S_g the sum of a score over the n_g votes of group g, N votes and G
groups, the mean is sum S_g / N and its standard error, clustered by group,

    se = sqrt( G / (G - 1) sum_g (S_g - n_g mean)^2 ) / N.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, sum_by, table_of
from bayes_arena.errors import ModelError, require_draws, warnings_about
from bayes_arena.fits.arguments import held
from bayes_arena.fits.fitting import fit
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.specification import Model
from bayes_arena.progress import report
from bayes_arena.validation.prediction import Prediction, Ratings, predict_cells
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.groups import divide, groups_of, plural, question, warn_of_shared
from bayes_arena.votes.names import ANNOTATOR
from bayes_arena.votes.outcomes import OUTCOME_SCORES, TIE, wins_losses_ties
from bayes_arena.votes.reading.read_votes import as_cells

SCORES, GROUP_SCORES = ("mse", "auc", "auc_ties", "log_score"), ("mse", "log_score")
"""Scores of ``held_out``, and of ``kfold``."""
Fitter = Callable[[Cells], Fit | Ratings]
Models = Mapping[str, str | Model | Fitter]
"""What to fit, by the name in the table."""


@held
def held_out(
    cells: object,
    models: Models,
    *,
    over: str | None = None,
    splits: int = 10,
    test: float = 0.2,
    seed: int = 0,
    reference: str | None = None,
) -> DataFrame:
    """Compare models by how well they predict votes left out at random, one by one or group by group.

    Parameters
    ----------
    cells : Cells, path or dataframe
        Votes, or what :func:`~bayes_arena.read_votes` reads without options.
    models : mapping of str to str, Model or callable
        What to fit, by the name in the table: a model as for :func:`~bayes_arena.fit`, or a function of the training
        votes that returns a :class:`~bayes_arena.Fit`, for instance ``functools.partial(fit, model="am-elo",
        prior="flat")``, or bare :class:`~bayes_arena.validation.prediction.Ratings`, such as online Elo's. A function
        may leave annotators out (``keep_annotators``); :mod:`bayes_arena.validation.prediction` says how their votes
        are then predicted.
    over : str, optional
        Leave out whole groups: ``"annotator"``, or a slice of the votes such as ``"prompt"``. Annotators left out are
        then predicted as new ones, as by :func:`~bayes_arena.kfold`. By default votes are left out one by one, and the
        models know the annotators and prompts that they predict.
    splits : int
        Number of random splits, at least two.
    test : float
        Share of the votes, or groups, that a split leaves out. A vote of weight w counts as w votes, as in the
        likelihood: if votes are left out one by one, parts of a vote that weighs more than 1 can be on both sides.
    seed : int
        The same seed gives the same splits, in whatever order the votes were read.
    reference : str, optional
        The model that differences are taken against; the first by default.

    Returns
    -------
    pandas.DataFrame
        One row per model, in the order given: ``name``; ``mse, auc, auc_ties, log_score``, means over splits, each
        followed by its standard error ``..._se``; then the differences from the reference, ``..._diff`` and
        ``..._diff_se``. ``attrs`` has what was left out (``over``), and the ``question`` that this answers.

    Warns
    -----
    DependentVotesWarning
        If votes share prompts or rankings and are left out one by one.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes do not carry the groups, an option is invalid, or a model leaves out
        some outcomes.
    NotIdentifiedError
        If, under a flat prior, the training votes say nothing about an annotator or pair that is left out.

    References
    ----------
    Nadeau, C. & Bengio, Y. (2003), "Inference for the generalization error", Machine Learning 52. Liu et al. (2025),
    section 5.2 and Table 2.
    """
    fitters, reference = require_models(models, reference)
    cells = as_cells(cells)
    if splits < 2:
        raise ModelError(f"Standard errors need at least two splits, not {splits!r}.")
    if over is None:
        warn_of_shared(cells)
        parts = split_votes(cells, splits=splits, test=test, seed=seed)
    else:
        parts = split_groups(cells, over, splits=splits, test=test, seed=seed)
    values = np.empty((len(models), splits, len(SCORES)))
    for index, (train, left_out) in enumerate(parts):
        for row, (name, fitter) in enumerate(fitters.items()):
            report(f"splits, {name}", index, splits)
            with warnings_about(name):
                prediction = predict_cells(fitter(train), left_out, new=over == ANNOTATOR)
            values[row, index] = scores(prediction, left_out.counts)
    report("")
    differences = values - values[list(models).index(reference)]
    factor = math.sqrt(1 / splits + test / (1 - test))
    columns: dict[str, object] = {"name": list(models)}
    for suffix, array in (("", values), ("_diff", differences)):
        for number, score in enumerate(SCORES):
            columns[score + suffix] = array[:, :, number].mean(axis=1)
            columns[score + suffix + "_se"] = factor * array[:, :, number].std(axis=1, ddof=1)
    return judged(columns, cells, over)


def judged(columns: Any, cells: Cells, over: str | None) -> DataFrame:
    """Return scores as a table whose ``attrs`` say what was left out, and which question this answers."""
    return table_of(columns, over=over or "vote", question=question(cells, over))


def require_models(models: Models, reference: str | None) -> tuple[dict[str, Fitter], str]:
    """Return functions that fit the models, and the reference, by default the first; refuse an unknown one."""
    if not models:
        raise ModelError("There is no model to fit.")
    reference = next(iter(models)) if reference is None else reference
    if reference not in models:
        raise ModelError(f"The reference {reference!r} is not one of the models: {', '.join(models)}.")
    fitters = {name: one if callable(one) else partial(fit, model=one) for name, one in models.items()}
    return fitters, reference


def split_votes(cells: Cells, *, splits: int, test: float, seed: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield random splits of the votes into (kept, left out).

    Votes of one cell and outcome are exchangeable, so a split draws only how many of them are left out (multivariate
    hypergeometric): equivalent to permuting all votes, at a cost proportional to the cells. A vote of weight w counts
    as w votes: a summed weight c is floor(c) votes and one more with the remaining weight, left out as a whole.
    """
    require_draws(splits, seed, "split")
    whole = np.floor(cells.counts)
    rest = cells.counts - whole
    fractions = np.nonzero(rest)
    votes = np.concatenate([whole.ravel(), np.ones(len(fractions[0]))]).astype(np.int64)
    size = round(test * votes.sum()) if 0 < test < 1 else 0
    if not 0 < size < votes.sum():
        raise ModelError(f"The share left out must leave some of {votes.sum()} votes on each side, not {test!r}.")
    for child in np.random.SeedSequence(seed).spawn(splits):
        drawn = np.random.default_rng(child).multivariate_hypergeometric(votes, size, method="marginals")
        left_out = drawn[: whole.size].reshape(whole.shape).astype(np.float64)
        left_out[fractions] += drawn[whole.size :] * rest[fractions]
        yield divide(cells, left_out)


def split_groups(cells: Cells, over: str, *, splits: int, test: float, seed: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield random splits of the groups into (kept, left out), with all their votes."""
    require_draws(splits, seed, "split")
    groups = groups_of(cells, over)
    size = round(test * groups.size) if 0 < test < 1 else 0
    if not 0 < size < groups.size:
        raise ModelError(
            f"The share left out must leave some of {groups.size} {plural(over)} on each side, not {test!r}."
        )
    ways = math.comb(groups.size, size)
    if ways < splits:
        raise ModelError(
            f"{groups.size} {plural(over)}, {size} of them left out, can be split in {ways} ways, not {splits}. Leave "
            f"each out once: kfold(cells, models, over={over!r}, folds={groups.size})."
        )
    for child in np.random.SeedSequence(seed).spawn(splits):
        inside = np.isin(groups.of_cell, np.random.default_rng(child).permutation(groups.size)[:size])
        yield divide(cells, cells.counts * inside[:, None])


def scores(prediction: Prediction, counts: Floats) -> tuple[float, float, float, float]:
    """Score a prediction of cells against the votes cast there (n_cells, K): the values of ``SCORES``."""
    squares, logs, votes = vote_scores(prediction, counts)
    wins, losses, ties = votes
    total = votes.sum()
    return (
        float((votes * squares).sum() / total),
        auc(prediction.score, wins, losses),
        auc(prediction.score, wins, ties, losses),
        float((votes * logs).sum() / total),
    )


def vote_scores(prediction: Prediction, counts: Floats) -> tuple[Floats, Floats, Floats]:
    """Return squared error, log score and number of votes by outcome and cell, each of shape (3, n_cells)."""
    votes = np.vstack(wins_losses_ties(counts))
    logs = np.where(votes > 0, prediction.log_p, 0.0)
    return (prediction.score - OUTCOME_SCORES[: TIE + 1, None]) ** 2, logs, votes


def auc(score: Floats, *outcomes: Floats) -> float:
    """Return the share of pairs of votes of different outcomes in which the better one has the higher score.

    Equal scores count one half. ``outcomes`` are numbers of votes by cell, the best outcome first.
    """
    values, row = np.unique(score, return_inverse=True)
    votes = [sum_by(row, each, len(values)) for each in outcomes]
    right = pairs = 0.0
    for better, worse in combinations(votes, 2):
        right += float(better @ (np.cumsum(worse) - 0.5 * worse))
        pairs += float(better.sum() * worse.sum())
    if not pairs:
        raise ModelError("An AUC needs both wins and losses of the competitors shown first. Leave out more votes.")
    return float(right / pairs)


@held
def kfold(
    cells: object,
    models: Models,
    *,
    over: str,
    folds: int = 10,
    seed: int = 0,
    reference: str | None = None,
) -> DataFrame:
    """Compare models by how well they predict votes of annotators, prompts or other groups that they have not seen.

    Parameters
    ----------
    cells : Cells, path or dataframe
        Votes, or what :func:`~bayes_arena.read_votes` reads without options.
    models : mapping of str to str, Model or callable
        What to fit, by the name in the table, as for :func:`~bayes_arena.held_out`.
    over : str
        What votes of a group share: ``"annotator"``, or a slice of the votes such as ``"prompt"``.
    folds : int
        At least two; with as many folds as groups, one group is left out at a time.
    seed : int
        The same seed gives the same folds.
    reference : str, optional
        The model that differences are taken against; the first by default.

    Returns
    -------
    pandas.DataFrame
        One row per model, in the order given: ``name``; ``mse, log_score``, means over votes, each followed by its
        standard error ``..._se``, clustered by group; then the differences from the reference, ``..._diff`` and
        ``..._diff_se``. ``attrs`` has what was left out (``over``), and the ``question`` that this answers.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes do not carry the groups or too few of them, a model leaves out some
        outcomes, or it has parameters of annotators under a flat prior, which describes no population of them.
    NotIdentifiedError
        If, under a flat prior, the training votes say nothing about a pair that is left out.
    """
    fitters, reference = require_models(models, reference)
    cells = as_cells(cells)
    groups = groups_of(cells, over)
    if not 2 <= folds <= groups.size:
        raise ModelError(f"folds must be between 2 and the number of {plural(over)}, {groups.size}, not {folds!r}.")
    require_draws(folds, seed, "fold")
    fold = np.random.default_rng(seed).permutation(groups.size) % folds
    sums = np.zeros((len(models), len(GROUP_SCORES), groups.size))
    for number in range(folds):
        inside = (fold[groups.of_cell] == number) & cells.counts.any(axis=1)
        train, left_out = divide(cells, cells.counts * inside[:, None])
        for row, (name, fitter) in enumerate(fitters.items()):
            report(f"folds, {name}", number, folds)
            with warnings_about(name):
                prediction = predict_cells(fitter(train), left_out, new=over == ANNOTATOR)
            squares, logs, votes = vote_scores(prediction, left_out.counts)
            for column, values in enumerate((squares, logs)):
                sums[row, column] += sum_by(groups.of_cell[inside], (votes * values).sum(axis=0), groups.size)
    report("")
    votes = sum_by(groups.of_cell, cells.counts.sum(axis=1), groups.size)
    columns: dict[str, object] = {"name": list(models)}
    for suffix, array in (("", sums), ("_diff", sums - sums[list(models).index(reference)])):
        for column, score in enumerate(GROUP_SCORES):
            mean, se = clustered(array[:, column], votes)
            columns[score + suffix], columns[score + suffix + "_se"] = mean, se
    return judged(columns, cells, over)


def clustered(sums: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Return the mean per vote and its standard error clustered by group, from sums (..., G) over votes (G,)."""
    mean = sums.sum(axis=-1) / votes.sum()
    residuals = sums - mean[..., None] * votes
    size = len(votes)
    return mean, np.sqrt(size / (size - 1) * (residuals**2).sum(axis=-1)) / votes.sum()
