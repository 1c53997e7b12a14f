"""``held_out``: how well models predict votes that they have not seen.

Votes, or whole groups of them, are left out at random; every model is fitted to the
rest, and predicts those left out.  With W the score of the first side (1, 1/2, 0),

    log score       mean of ln P(win, tie or loss as voted), in nats;
    squared error   mean of (E[W] - W)^2;
    AUC             how often E[W] of a win is above that of a loss, ties left out.

Splits share most of their votes, so the variance s^2 of a score over n splits
understates the error of the mean.  Leaving out the share q, Nadeau & Bengio (2003,
Machine Learning 52) correct it to s^2 (1 / n + q / (1 - q)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Floats
from bayes_arena.checks.predict import folded_outcomes, predict_rows
from bayes_arena.errors import ModelError, require_seed, require_whole
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.inference.predictive import Prediction
from bayes_arena.model.priors import Prior, PriorName
from bayes_arena.model.spec import Model, Preset
from bayes_arena.reading.options import ReadOptions
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Use
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes, renumbered

if TYPE_CHECKING:
    import pandas as pd

type Fitter = Callable[[Votes], Fit]
type Models = Preset | Sequence[Preset] | Mapping[str, Preset | Model | Fitter]

SCORES = ("log_score", "squared_error", "auc")


def held_out(
    votes: object,
    models: Models = ("davidson", "am-davidson"),
    *,
    over: str = "vote",
    splits: int = 10,
    share: float = 0.2,
    prior: PriorName | Prior = "default",
    seed: int = 0,
    **columns: Unpack[ReadOptions],
) -> pd.DataFrame:
    """Compare models by how well they predict votes that were left out.

    Parameters
    ----------
    votes : Votes, path, dataframe or list of records
        What :func:`~bayes_arena.read_votes` reads, or has read.
    models : sequence of str, or mapping of str to str, Model or callable
        Presets; or by the name in the table, models as for :func:`~bayes_arena.fit`, or
        functions that return a :class:`~bayes_arena.Fit` of the votes.  Differences are
        against the first.
    over : str
        What is left out: "vote", "annotator", or a slice of the votes such as
        "prompt".  Single votes are on annotators and prompts that the models know.  A
        new annotator or prompt is drawn from those that the prior expects.
    splits : int
        Random splits, at least two.
    share : float
        Share of the votes, annotators or levels that a split leaves out.
    prior : str or Prior
        As for :func:`~bayes_arena.fit`.
    seed : int
        The same seed gives the same splits.
    **columns
        Options of :func:`~bayes_arena.read_votes`, where votes are still to be read.

    Returns
    -------
    pandas.DataFrame
        One row for each model: ``model``; ``log_score``, ``squared_error`` and ``auc``,
        means over splits, each with its standard error, ``..._se``; and the differences
        from the first model, ``..._diff`` and ``..._diff_se``.

    Raises
    ------
    VotesError
        If the votes do not have what is to be left out.
    ModelError
        If an option makes no sense, or a model leaves out ties.
    """
    require_seed(seed)
    require_whole(2, splits=splits)
    votes = votes_from(votes, **columns)
    fitters = fitters_of(models, prior)
    values = np.empty((len(fitters), splits, len(SCORES)))
    parts = random_splits(votes, over, splits, share, seed)
    for number, (rest, left_out) in enumerate(parts):
        progress.show(f"Split {number + 1} of {splits}")
        for row, fitter in enumerate(fitters.values()):
            result = fitter(rest)
            require_all_outcomes(result.model, votes)
            prediction = predict_rows(result, left_out, with_ties=has_ties(votes))
            values[row, number] = held_out_scores(prediction, left_out)
    progress.clear()
    scores = score_columns(SCORES, values, share)
    return dataframe({"model": list(fitters), **scores})


def fitters_of(models: Models, prior: PriorName | Prior) -> dict[str, Fitter]:
    """Return by name the functions that fit the models."""
    if isinstance(models, str):
        models = (models,)
    if not isinstance(models, Mapping):
        models = {name: name for name in models}
    if not models:
        raise ModelError(
            "There is no model to compare.", Use(models=("davidson", "am-davidson"))
        )
    fitters: dict[str, Fitter] = {}
    for name, model in models.items():
        if callable(model):
            fitters[name] = model
        else:
            fitters[name] = partial(fit, model=model, prior=prior)
    return fitters


def random_splits(
    votes: Votes, over: str, splits: int, share: float, seed: int
) -> Iterator[tuple[Votes, Votes]]:
    """Yield random splits of the votes: the rest, and those left out.

    Raises
    ------
    ModelError
        If nothing is left out, or nothing is left.
    """
    if not isinstance(share, Real) or not 0 < share < 1:
        text = " must lie between 0 and 1, such as 0.2."
        raise ModelError((Use(share=share), text))
    if over == "annotator":
        votes.require_annotators()
    level = None if over == "vote" else over
    for split_seed in np.random.SeedSequence(seed).generate_state(splits):
        rest, left_out = votes.split(1 - share, by=level, seed=int(split_seed))
        if not (len(rest) and len(left_out)):
            raise ModelError(
                (Use(share=share, over=over), " leaves no votes on one side.")
            )
        yield without_unseen(rest), left_out


def without_unseen(votes: Votes) -> Votes:
    """Return the votes without the names of annotators who cast none."""
    if not votes.n_annotators:
        return votes
    (codes,), names = renumbered([votes.annotator], votes.annotators)
    return replace(votes, annotator=codes, annotators=names)


def has_ties(votes: Votes) -> bool:
    """Whether one of the votes is a tie."""
    return bool(votes.counts[:, TIE].any())


def require_all_outcomes(model: Model, votes: Votes) -> None:
    """Refuse a model that does not see ties."""
    if model.ties == "drop" and has_ties(votes):
        raise ModelError(
            f"Model {model.name!r} leaves out ties, so what it predicts cannot be "
            "compared.",
            Use(ties="davidson"),
            Use(ties="half"),
        )


def held_out_scores(prediction: Prediction, votes: Votes) -> tuple[float, float, float]:
    """Return log score, squared error and AUC of predictions of votes."""
    counts = votes.folded
    p = folded_outcomes(prediction.probabilities)
    logs = np.log(p, out=np.zeros_like(p), where=counts > 0)
    return (
        float((counts * logs).sum() / counts.sum()),
        squared_error(prediction.score, counts),
        auc(prediction.score, counts[:, [FIRST, SECOND]]),
    )


def squared_error(score: Floats, counts: Floats) -> float:
    """Return the mean of (E[W] - W)^2 over votes, from E[W] and counts of the rows."""
    points = np.array([1.0, 0.0, 0.5])  # in the order of the counts
    squares = (score[:, None] - points) ** 2
    return float((counts * squares).sum() / counts.sum())


def auc(score: Floats, counts: Floats) -> float:
    """Return how often the better of two outcomes has the higher score.

    ``counts`` (rows, outcomes) are from the best outcome to the worst.  Equal scores
    count half.
    """
    values, row = np.unique(score, return_inverse=True)
    by_outcome = [np.bincount(row, count, len(values)) for count in counts.T]
    n_right = 0.0
    n_pairs = 0.0
    for better, worse in combinations(by_outcome, 2):
        # Of the worse votes, those with a lower score, and half of those with the same.
        n_right += float(better @ (np.cumsum(worse) - worse / 2))
        n_pairs += float(better.sum() * worse.sum())
    if n_pairs == 0:
        raise ModelError(
            (
                "AUC needs votes of different outcomes among those left out, both wins "
                "and losses of the first side.",
                (" Leave out more, with ", Use("share"), "."),
            )
        )
    return n_right / n_pairs


def score_columns(
    scores: Sequence[str], values: Floats, share: float, reference: int = 0
) -> Columns:
    """Return means over splits, and differences from a model, with standard errors.

    ``values`` are (models, splits, scores); ``reference`` is the number of that model.
    """
    n_splits = values.shape[1]
    # Splits share votes, so that means vary more than independent ones would.
    correction = np.sqrt(1 / n_splits + share / (1 - share))
    columns: dict[str, Any] = {}
    for suffix, array in (("", values), ("_diff", values - values[reference])):
        for number, score in enumerate(scores):
            of_split = array[:, :, number]
            columns[score + suffix] = of_split.mean(axis=1)
            errors = correction * of_split.std(axis=1, ddof=1)
            columns[score + suffix + "_se"] = errors
    return columns
