"""Prediction for groups nobody has seen, annotators or prompts say: grouped cross-validation.

The groups are dealt into folds. All votes of the groups of a fold are left out, the models are fitted to the others,
and every vote left out is predicted as that of something new. An annotator is then drawn from the population that the
fit describes (theta ~ Normal(1, sd), and so on for the tie propensity and the position effect), averaged over draws: a
vote at a time, the other votes of the same group teach nothing. This says what a model is worth to the next annotator,
or on the next prompt; :mod:`bayes_arena.validation.heldout` says what it is worth to those already known.

Each vote is left out once. With S_g the sum of a score over the n_g votes of group g, N votes and G groups, the mean is
sum S_g / N and its standard error, votes of one group being alike,

    se = sqrt( G / (G - 1) sum_g (S_g - n_g mean)^2 ) / N.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.errors import ModelError, require_draws
from bayes_arena.progress import report
from bayes_arena.validation.heldout import Fitter, judged, require_models, vote_scores
from bayes_arena.validation.prediction import predict
from bayes_arena.votes.groups import divide, groups_of, plural
from bayes_arena.votes.names import ANNOTATOR
from bayes_arena.votes.reading.read_votes import as_cells

if TYPE_CHECKING:
    import pandas as pd

SCORES = ("mse", "log_score")


def kfold(
    cells: object,
    models: Mapping[str, Fitter],
    *,
    over: str,
    folds: int = 10,
    seed: int = 0,
    reference: str | None = None,
) -> pd.DataFrame:
    """Compare models by how well they predict annotators, prompts or other groups that they have not seen.

    Parameters
    ----------
    cells : Cells, path or dataframe
        Votes, or what :func:`~bayes_arena.read_votes` reads without options.
    models : mapping of str to callable
        What to fit, by name: functions of the training votes that return a :class:`~bayes_arena.Fit`, as for
        :func:`~bayes_arena.held_out`.
    over : str
        What votes of a group share: ``"annotator"``, or a slice of the votes, ``"prompt"`` say.
    folds : int
        Two or more; as many as there are groups leaves out one at a time.
    seed : int
        The same seed gives the same folds.
    reference : str, optional
        The model that differences are taken against; the first by default.

    Returns
    -------
    pandas.DataFrame
        One row a model, in the order given: ``name``; ``mse, log_score``, means over votes, each followed by its
        standard error ``..._se``, clustered by group; then the same less the reference's, ``..._diff`` and
        ``..._diff_se``. ``attrs`` says over what was split, and the ``question`` that this answers.

    Raises
    ------
    ModelError
        If there is nothing to compare, the votes do not carry the groups or too few of them, a model leaves out some
        outcomes, or it has annotators' numbers under a flat prior, which describes no population to predict one from.
    NotIdentifiedError
        If, under a flat prior, the training votes say nothing of a pair that is left out.
    """
    reference = require_models(models, reference)
    cells = as_cells(cells)
    groups = groups_of(cells, over)
    if not 2 <= folds <= groups.size:
        raise ModelError(f"folds lies between 2 and the number of {plural(over)}, {groups.size}; not {folds!r}.")
    require_draws(folds, seed)
    fold = np.random.default_rng(seed).permutation(groups.size) % folds
    sums = np.zeros((len(models), len(SCORES), groups.size))
    for number in range(folds):
        inside = (fold[groups.of_cell] == number) & cells.counts.any(axis=1)
        train, left_out = divide(cells, cells.counts * inside[:, None])
        for row, (name, fitter) in enumerate(models.items()):
            report(f"folds, {name}", number, folds)
            prediction = predict(fitter(train), left_out, new=over == ANNOTATOR)
            squares, logs, votes = vote_scores(prediction, left_out.counts)
            for column, values in enumerate((squares, logs)):
                sums[row, column] += sum_by(groups.of_cell[inside], (votes * values).sum(axis=0), groups.size)
    report("")
    votes = sum_by(groups.of_cell, cells.counts.sum(axis=1), groups.size)
    columns: dict[str, object] = {"name": list(models)}
    for suffix, array in (("", sums), ("_diff", sums - sums[list(models).index(reference)])):
        for column, score in enumerate(SCORES):
            mean, se = clustered(array[:, column], votes)
            columns[score + suffix], columns[score + suffix + "_se"] = mean, se
    return judged(columns, cells, over)


def clustered(sums: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Mean per vote and its standard error clustered by group, from sums (..., G) over their votes (G,)."""
    mean = sums.sum(axis=-1) / votes.sum()
    residuals = sums - mean[..., None] * votes
    size = len(votes)
    return mean, np.sqrt(size / (size - 1) * (residuals**2).sum(axis=-1)) / votes.sum()
