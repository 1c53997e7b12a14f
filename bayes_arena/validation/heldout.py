"""Prediction of held-out votes: repeated random splits, of votes or of whole groups of them.

Each split leaves out a random share q of the votes (or of the prompts, of the annotators); every model is fitted to the
others and predicts these. With W the outcome of a vote (1, 1/2, 0) for the competitor shown first, and E[W] its
prediction,

    mse         mean of (E[W] - W)^2 over the votes left out
    auc         over decided votes: P(E[W] of a win > E[W] of a loss), equal predictions counting one half (the
                Mann-Whitney statistic); ties have no side and are left out
    auc_ties    the same over all votes, a tie ranking between a win and a loss: what the authors' program calls AUC
    log_score   mean of ln P(win, tie or loss as voted), in nats

Splits overlap in what they train on, so the variance s^2 of a score (or of a difference, taken split by split) over n
splits understates the error of its mean; Nadeau & Bengio's correction is se = s sqrt(1/n + q / (1 - q)).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.fits.result import Fit
from bayes_arena.progress import report
from bayes_arena.validation.prediction import Prediction, Ratings, predict
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.groups import divide, groups_of, plural, question, warn_of_shared
from bayes_arena.votes.names import ANNOTATOR
from bayes_arena.votes.outcomes import OUTCOME_SCORES, TIE, wins_losses_ties
from bayes_arena.votes.reading.read_votes import as_cells

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("mse", "auc", "auc_ties", "log_score")
Fitter = Callable[[Cells], Fit | Ratings]


def held_out(
    cells: object,
    models: Mapping[str, Fitter],
    *,
    over: str | None = None,
    splits: int = 10,
    test: float = 0.2,
    seed: int = 0,
    reference: str | None = None,
) -> pd.DataFrame:
    """Compare models by how well they predict votes left out at random, one by one or group by group.

    Parameters
    ----------
    cells : Cells, path or dataframe
        Votes, or what :func:`~bayes_arena.read_votes` reads without options.
    models : mapping of str to callable
        What to fit, by name: functions of the training votes that return a :class:`~bayes_arena.Fit`, for instance
        ``functools.partial(fit, model="am-elo", prior="flat")``, or bare
        :class:`~bayes_arena.validation.prediction.Ratings`, such as online Elo's. A function may leave annotators out
        (``keep_annotators``); see :mod:`bayes_arena.validation.prediction` for what is then expected of them.
    over : str, optional
        Leave out whole groups: ``"annotator"``, or a slice of the votes, ``"prompt"`` say. Then all annotators left out
        are somebody new, as for :func:`~bayes_arena.kfold`. By default votes are left out one by one, and the models
        know the annotators and prompts that they predict.
    splits : int
        Random splits, two or more.
    test : float
        Share of the votes, or groups, that a split leaves out. A weight is how many votes a vote counts for, as in the
        likelihood: where votes are left out one by one, parts of one that weighs more than 1 can come to lie on both
        sides.
    seed : int
        The same seed gives the same splits, in whatever order the votes were read.
    reference : str, optional
        The model that differences are taken against; the first by default.

    Returns
    -------
    pandas.DataFrame
        One row a model, in the order given: ``name``; ``mse, auc, auc_ties, log_score``, means over splits, each
        followed by its standard error ``..._se``; then the same less the reference's, ``..._diff`` and ``..._diff_se``.
        ``attrs`` says over what was split, and the ``question`` that this answers.

    Warns
    -----
    DependentVotesWarning
        If votes share prompts or rankings and are left out one by one.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes do not carry the groups, an option is not possible, or a model leaves
        out some outcomes.
    NotIdentifiedError
        If, under a flat prior, the training votes say nothing of an annotator or pair that is left out.

    References
    ----------
    Nadeau, C. & Bengio, Y. (2003), "Inference for the generalization error", Machine Learning 52. Liu et al. (2025),
    section 5.2 and Table 2.
    """
    reference = require_models(models, reference)
    cells = as_cells(cells)
    if splits < 2:
        raise ModelError(f"Standard errors take two splits or more, not {splits!r}.")
    if over is None:
        warn_of_shared(cells)
        parts = split_votes(cells, splits=splits, test=test, seed=seed)
    else:
        parts = split_groups(cells, over, splits=splits, test=test, seed=seed)
    values = np.empty((len(models), splits, len(SCORES)))
    for index, (train, left_out) in enumerate(parts):
        for row, fitter in enumerate(models.values()):
            report(f"splits, {list(models)[row]}", index, splits)
            prediction = predict(fitter(train), left_out, new=over == ANNOTATOR)
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


def judged(columns: Any, cells: Cells, over: str | None) -> pd.DataFrame:
    """Return scores as a table that says over what votes were left out, and which question that answers."""
    import pandas as pd

    table = pd.DataFrame(columns)
    table.attrs.update(over=over or "vote", question=question(cells, over))
    return table


def require_models(models: Mapping[str, Fitter], reference: str | None) -> str:
    """Return the name of the reference, the first model by default; refuse one that is not there."""
    if not models:
        raise ModelError("There is no model to fit.")
    reference = next(iter(models)) if reference is None else reference
    if reference not in models:
        raise ModelError(f"The reference {reference!r} is none of the models: {', '.join(models)}.")
    return reference


def split_votes(cells: Cells, *, splits: int, test: float, seed: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield random splits of the votes into (kept, left out).

    Votes of one cell and outcome are exchangeable, so a split draws only how many of them are left out
    (multivariate hypergeometric): a permutation of all votes, at the price of the cells. A weight is how many votes a
    vote counts for: a summed weight c is floor(c) votes and one more that weighs the rest, which is left out whole.

    Raises
    ------
    ModelError
        If a side of the split is empty.
    """
    require_draws(splits, seed)
    whole = np.floor(cells.counts)
    rest = cells.counts - whole
    fractions = np.nonzero(rest)
    votes = np.concatenate([whole.ravel(), np.ones(len(fractions[0]))]).astype(np.int64)
    size = round(test * votes.sum()) if 0 < test < 1 else 0
    if not 0 < size < votes.sum():
        raise ModelError(f"The share left out must leave votes on both sides of {votes.sum()}; not {test!r}.")
    for child in np.random.SeedSequence(seed).spawn(splits):
        drawn = np.random.default_rng(child).multivariate_hypergeometric(votes, size, method="marginals")
        left_out = drawn[: whole.size].reshape(whole.shape).astype(np.float64)
        left_out[fractions] += drawn[whole.size :] * rest[fractions]
        yield divide(cells, left_out)


def split_groups(cells: Cells, over: str, *, splits: int, test: float, seed: int) -> Iterator[tuple[Cells, Cells]]:
    """Yield random splits of the groups into (kept, left out), with all their votes.

    Raises
    ------
    ModelError
        If the votes do not carry the groups, a side of the split is empty, or there are fewer different splits than
        are asked for.
    """
    require_draws(splits, seed)
    groups = groups_of(cells, over)
    size = round(test * groups.size) if 0 < test < 1 else 0
    if not 0 < size < groups.size:
        raise ModelError(f"The share left out must leave {plural(over)} on both sides of {groups.size}; not {test!r}.")
    ways = math.comb(groups.size, size)
    if ways < splits:
        raise ModelError(
            f"{groups.size} {plural(over)}, {size} of them left out, can be split in {ways} ways, not {splits}. Leave "
            f"out each once: kfold(cells, models, over={over!r}, folds={groups.size})."
        )
    for child in np.random.SeedSequence(seed).spawn(splits):
        inside = np.isin(groups.of_cell, np.random.default_rng(child).permutation(groups.size)[:size])
        yield divide(cells, cells.counts * inside[:, None])


def scores(prediction: Prediction, counts: Floats) -> tuple[float, float, float, float]:
    """Score a prediction of cells against the votes cast there (n_cells, 4): the values of ``SCORES``."""
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
    """Squared error, log score and number of the votes of every outcome and cell, each of shape (3, n_cells)."""
    votes = np.vstack(wins_losses_ties(counts))
    logs = np.where(votes > 0, prediction.log_p, 0.0)
    return (prediction.score - OUTCOME_SCORES[: TIE + 1, None]) ** 2, logs, votes


def auc(score: Floats, *outcomes: Floats) -> float:
    """Return the share of pairs of votes of different outcomes in which the better one has the higher score.

    Equal scores count one half.

    Parameters
    ----------
    score : ndarray, shape (n_cells,)
        Prediction of a cell.
    *outcomes : ndarray, shape (n_cells,)
        Its votes, the best outcome first: wins and losses, or wins, ties and losses.

    Raises
    ------
    ModelError
        If there are no votes of different outcomes.
    """
    values, row = np.unique(score, return_inverse=True)
    votes = [sum_by(row, each, len(values)) for each in outcomes]
    right = pairs = 0.0
    for better, worse in combinations(votes, 2):
        right += float(better @ (np.cumsum(worse) - 0.5 * worse))
        pairs += float(better.sum() * worse.sum())
    if not pairs:
        raise ModelError("An AUC takes wins and losses of the competitors shown first. Leave out more votes.")
    return float(right / pairs)
