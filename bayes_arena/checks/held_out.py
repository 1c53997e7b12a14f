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
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Floats, Ints
from bayes_arena.checks.predict import folded_outcomes, predict_rows
from bayes_arena.errors import ModelError, did_you_mean, require_seed
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.inference.predictive import Prediction
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import Model
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.read import votes_from
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

if TYPE_CHECKING:
    import pandas as pd

type Fitter = Callable[[Votes], Fit]
type Models = Sequence[str] | Mapping[str, str | Model | Fitter]

SCORES = ("log_score", "squared_error", "auc")


def held_out(
    votes: object,
    models: Models = ("davidson", "am-davidson"),
    *,
    by: str = "vote",
    splits: int = 10,
    share: float = 0.2,
    prior: str | Prior = "default",
    seed: int = 0,
    **columns: Any,
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
    by : str
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
    ModelError
        If the votes do not have what is to be left out, or a model leaves out ties.
    """
    require_seed(seed)
    votes = votes_from(votes, **columns)
    fitters = fitters_of(models, prior)
    values = np.empty((len(fitters), splits, len(SCORES)))
    for number, (rest, left_out) in enumerate(
        split_votes(votes, by, splits, share, seed)
    ):
        progress.show(f"Split {number + 1} of {splits}")
        for row, fitter in enumerate(fitters.values()):
            result = fitter(rest)
            require_all_outcomes(result.model, votes)
            prediction = predict_rows(result, left_out, with_ties=has_ties(votes))
            values[row, number] = scores_of(prediction, left_out)
    progress.clear()
    return dataframe(score_columns(list(fitters), values, share))


def fitters_of(models: Models, prior: str | Prior) -> dict[str, Fitter]:
    """Return by name the functions that fit the models."""
    if isinstance(models, str):
        models = (models,)
    if not isinstance(models, Mapping):
        models = {name: name for name in models}
    if not models:
        raise ModelError("There is no model to compare. Use models=('davidson', ...).")
    fitters: dict[str, Fitter] = {}
    for name, model in models.items():
        if isinstance(model, str | Model):
            fitters[name] = fitter_of(model, prior)
        else:
            fitters[name] = model
    return fitters


def fitter_of(model: str | Model, prior: str | Prior) -> Fitter:
    """Return the function that fits a model."""
    return lambda votes: fit(votes, model=model, prior=prior)


def split_votes(
    votes: Votes, by: str, splits: int, share: float, seed: int
) -> Iterator[tuple[Votes, Votes]]:
    """Yield random splits of the votes: the rest, and those left out.

    Raises
    ------
    ModelError
        If there is nothing to leave out, or nothing would be left.
    """
    if splits < 2:
        raise ModelError(f"Standard errors need at least two splits, not {splits}.")
    groups = None if by == "vote" else groups_of(votes, by)
    size = int(votes.n_votes) if groups is None else len(np.unique(groups))
    n_out = round(share * size) if 0 < share < 1 else 0
    if not 0 < n_out < size:
        raise ModelError(
            f"share={share} leaves out {n_out} of {size}. Choose one that leaves some "
            "on either side."
        )
    for child in np.random.SeedSequence(seed).spawn(splits):
        rng = np.random.default_rng(child)
        if groups is None:
            counts = draw_counts(votes.counts, share, rng)
        else:
            chosen = rng.permutation(np.unique(groups))[:n_out]
            counts = votes.counts * np.isin(groups, chosen)[:, None]
        yield without_empty(votes, votes.counts - counts), without_empty(votes, counts)


def groups_of(votes: Votes, by: str) -> Ints:
    """Return the annotator, or the level of a slice, of each row."""
    if by == "annotator":
        if not votes.n_annotators:
            raise ModelError("The votes carry no annotators to leave out.")
    elif by not in votes.slices:
        known = ["vote", "annotator", *votes.slices]
        raise ModelError(
            f"The votes have no slice {by!r} to leave out. Read its column with "
            f"slices=, or use by='vote'.{did_you_mean(by, known)}"
        )
    return votes.level(by)


def draw_counts(counts: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Return the counts of a random share of the votes, (rows, outcomes).

    Votes of a row and outcome are alike, so only their number is drawn.  Where votes
    have weights, all of a row and outcome are left out together.
    """
    if (counts == np.floor(counts)).all():
        flat = counts.ravel().astype(np.int64)
        n_out = round(share * flat.sum())
        drawn = rng.multivariate_hypergeometric(flat, n_out, method="marginals")
        return drawn.reshape(counts.shape).astype(float)
    return counts * (rng.random(counts.shape) < share)


def without_empty(votes: Votes, counts: Floats) -> Votes:
    """Return the rows that have votes, and the annotators who cast them."""
    rows = np.flatnonzero(counts.any(axis=1))
    subset = replace(votes, counts=counts).take(rows)
    if not votes.n_annotators:
        return subset
    present, codes = np.unique(subset.annotator, return_inverse=True)
    names = tuple(votes.annotators[k] for k in present)
    return replace(subset, annotators=names, annotator=codes)


def has_ties(votes: Votes) -> bool:
    """Whether one of the votes is a tie."""
    return bool(votes.counts[:, TIE].any())


def require_all_outcomes(model: Model, votes: Votes) -> None:
    """Refuse a model that does not see ties."""
    if model.ties == "drop" and has_ties(votes):
        raise ModelError(
            f"Model {model.name!r} leaves out ties, so what it predicts cannot be "
            "compared. Use ties='davidson' or ties='half'."
        )


def scores_of(prediction: Prediction, votes: Votes) -> tuple[float, float, float]:
    """Return log score, squared error and AUC of predictions of votes."""
    counts = votes.folded
    total = counts.sum()
    p = folded_outcomes(prediction.probabilities)
    logs = np.log(p, out=np.zeros_like(p), where=counts > 0)
    points = np.zeros(3)
    points[[FIRST, TIE]] = 1.0, 0.5
    squares = (prediction.score[:, None] - points) ** 2
    return (
        float((counts * logs).sum() / total),
        float((counts * squares).sum() / total),
        auc(prediction.score, counts[:, FIRST], counts[:, SECOND]),
    )


def auc(score: Floats, wins: Floats, losses: Floats) -> float:
    """Return how often a win has a higher score than a loss; equal ones count half."""
    values, row = np.unique(score, return_inverse=True)
    won = np.bincount(row, wins, len(values))
    lost = np.bincount(row, losses, len(values))
    n_pairs = won.sum() * lost.sum()
    if n_pairs == 0:
        raise ModelError(
            "AUC needs both wins and losses of the first side among the votes left "
            "out. Leave out more, with share=."
        )
    below = np.cumsum(lost) - lost / 2
    return float(won @ below / n_pairs)


def score_columns(names: list[str], values: Floats, share: float) -> Columns:
    """Return the table of scores (models, splits, scores), with standard errors."""
    n_splits = values.shape[1]
    correction = np.sqrt(1 / n_splits + share / (1 - share))
    columns: dict[str, Any] = {"model": names}
    for suffix, array in (("", values), ("_diff", values - values[0])):
        for number, score in enumerate(SCORES):
            of_split = array[:, :, number]
            columns[score + suffix] = of_split.mean(axis=1)
            errors = correction * of_split.std(axis=1, ddof=1)
            columns[score + suffix + "_se"] = errors
    return columns
