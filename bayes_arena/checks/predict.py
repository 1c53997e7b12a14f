"""``predict``: how votes will end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.result import Fit, require_fit
from bayes_arena.inference.predictive import Prediction
from bayes_arena.reading.pairs import read_pairs
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import Votes

if TYPE_CHECKING:
    import pandas as pd


def predict(fit: Fit, votes: object) -> pd.DataFrame:
    """Predict how votes will end.

    Parameters
    ----------
    fit : Fit
    votes : list of pairs, path, dataframe, list of records or Votes
        The votes, without winners: pairs such as ``("x", "y")``, the first shown first,
        or ``("x", "y", "annotator")``; or columns with the names that
        :func:`~bayes_arena.read_votes` knows.  An annotator or a level of a slice that
        is not given, or that the fit does not know, is drawn from those that the prior
        expects; under a flat prior it is an average one.

    Returns
    -------
    pandas.DataFrame
        One row for each given one: ``model_a``, ``model_b``, ``judge`` if given;
        ``p_model_a``, ``p_tie`` and ``p_model_b``, the probabilities of the outcomes;
        and ``score``, the expected score of the first, where a tie counts half.  If no
        fitted vote is a tie, ``p_tie`` is 0.

    Raises
    ------
    ModelError
        If the fit does not know a competitor.
    VotesError
        If the votes cannot be read.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> fit = ba.fit(ba.example_arena().votes)
    >>> table = ba.predict(fit, [("model-18", "model-01")])
    >>> bool(table["p_model_a"][0] > 0.5)
    True
    """
    require_fit(fit)
    return dataframe(predicted_columns(fit, given_votes(fit, votes)))


def predicted_columns(fit: Fit, votes: Votes) -> Columns:
    """Return the table of predictions, one row for each row of votes."""
    prediction = predict_rows(fit, votes)
    first, second, tie = folded_outcomes(prediction.probabilities).T
    names = np.array(votes.competitors, dtype=object)
    columns = {"model_a": names[votes.i], "model_b": names[votes.j]}
    if votes.annotators:
        judges = np.array([*votes.annotators, None], dtype=object)  # the last is nobody
        columns["judge"] = judges[votes.annotator]
    return {
        **columns,
        "p_model_a": first,
        "p_tie": tie,
        "p_model_b": second,
        "score": prediction.score,
    }


def predict_rows(
    fit: Fit, votes: Votes, *, with_ties: bool | None = None
) -> Prediction:
    """Predict a vote in each row, averaged over the posterior of a fit."""
    return fit.marginals.predict(votes, with_ties=with_ties)


def folded_outcomes(probabilities: Floats) -> Floats:
    """Return probabilities of win, loss and tie, grades put together, (rows, 3)."""
    folded = probabilities[:, :3].copy()
    if probabilities.shape[1] > 3:
        folded[:, :2] += probabilities[:, 3:]
    return folded


def given_votes(fit: Fit, votes: object) -> Votes:
    """Return given votes as rows without counts."""
    if isinstance(votes, Votes):
        return votes
    model = fit.model
    return read_pairs(votes, slices=model.strength_by, features=model.style)
