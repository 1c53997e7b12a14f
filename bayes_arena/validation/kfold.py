"""Prediction for annotators nobody has seen: grouped cross-validation.

The annotators are dealt into folds. All votes of the annotators of a fold are left out, the models are fitted to the
others, and every vote left out is predicted as that of somebody new, drawn from the population that the fit describes
(theta ~ Normal(1, sd), and so on for the tie propensity and the position effect), averaged over draws: a vote at a
time, the other votes of the same annotator teach nothing. This says what a model is worth to the next annotator;
:mod:`bayes_arena.validation.heldout` says what it is worth to those already known.

Each vote is left out once. With S_k the sum of a score over the n_k votes of annotator k, N votes and M annotators,
the mean is sum S_k / N and its standard error, votes of one annotator being alike,

    se = sqrt( M / (M - 1) sum_k (S_k - n_k mean)^2 ) / N.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.progress import report
from bayes_arena.validation.heldout import Fitter, require_models, vote_scores
from bayes_arena.validation.prediction import predict
from bayes_arena.votes.cells import with_counts
from bayes_arena.votes.reading.table import as_cells

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("mse", "log_score")


def kfold_annotators(
    cells: object,
    models: Mapping[str, Fitter],
    *,
    folds: int = 10,
    seed: int = 0,
    reference: str | None = None,
) -> pd.DataFrame:
    """Compare models by how well they predict annotators they have not seen.

    Parameters
    ----------
    cells : Cells, path or dataframe
        Votes with annotators, or what :func:`~bayes_arena.read_votes` reads without options.
    models : mapping of str to callable
        What to fit, by name: functions of the training votes that return a :class:`~bayes_arena.Fit`, as for
        :func:`~bayes_arena.held_out`.
    folds : int
        Groups of annotators, two or more; as many as annotators leaves out one at a time.
    seed : int
        The same seed gives the same folds.
    reference : str, optional
        The model that differences are taken against; the first by default.

    Returns
    -------
    pandas.DataFrame
        One row a model, in the order given: ``name``; ``mse, log_score``, means over votes, each followed by its
        standard error ``..._se``, clustered by annotator; then the same less the reference's, ``..._diff`` and
        ``..._diff_se``.

    Raises
    ------
    ModelError
        If there is nothing to compare, the annotators are unknown or too few, a model leaves out some outcomes, or it
        has annotators' numbers under a flat prior, which describes no population.
    NotIdentifiedError
        If, under a flat prior, the training votes say nothing of a pair that is left out.
    """
    import pandas as pd

    reference = require_models(models, reference)
    cells = as_cells(cells)
    if not 2 <= folds <= cells.n_annotators:
        raise ModelError(f"folds lies between 2 and the number of annotators, {cells.n_annotators}; not {folds!r}.")
    size = cells.n_annotators
    require_draws(folds, seed)
    fold = np.random.default_rng(seed).permutation(size) % folds
    sums = np.zeros((len(models), len(SCORES), size))
    for number in range(folds):
        inside = (fold[cells.annotator] == number)[:, None]
        train, left_out = with_counts(cells, cells.counts * ~inside), with_counts(cells, cells.counts * inside)
        for row, (name, fitter) in enumerate(models.items()):
            report(f"folds, {name}", number, folds)
            squares, logs, votes = vote_scores(predict(fitter(train), left_out, new=True), left_out.counts)
            for column, values in enumerate((squares, logs)):
                sums[row, column] += sum_by(left_out.annotator, (votes * values).sum(axis=0), size)
    report("")
    votes = cells.votes_by_annotator()
    columns: dict[str, object] = {"name": list(models)}
    for suffix, array in (("", sums), ("_diff", sums - sums[list(models).index(reference)])):
        for column, score in enumerate(SCORES):
            mean, se = clustered(array[:, column], votes)
            columns[score + suffix], columns[score + suffix + "_se"] = mean, se
    return pd.DataFrame(columns)


def clustered(sums: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Mean per vote and its standard error clustered by annotator, from sums (..., M) over their votes (M,)."""
    mean = sums.sum(axis=-1) / votes.sum()
    residuals = sums - mean[..., None] * votes
    size = len(votes)
    return mean, np.sqrt(size / (size - 1) * (residuals**2).sum(axis=-1)) / votes.sum()
