"""``predict``: how votes will end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, VotesError, listing
from bayes_arena.fits.result import Fit
from bayes_arena.inference.predictive import Prediction
from bayes_arena.reading.columns import ANNOTATORS, PROMPTS, Header
from bayes_arena.reading.sources import open_source, to_polars
from bayes_arena.tables import Columns, dataframe
from bayes_arena.votes.votes import PROMPT, Votes

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


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
    return dataframe(prediction_columns(fit, given_votes(fit, votes)))


def prediction_columns(fit: Fit, votes: Votes) -> Columns:
    """Return the table of predictions, one row for each row of votes."""
    prediction = predict_rows(fit, votes)
    first, second, tie = folded_outcomes(prediction.probabilities).T
    names = np.array(votes.competitors, dtype=object)
    columns = {"model_a": names[votes.i], "model_b": names[votes.j]}
    if votes.annotators:
        columns["judge"] = np.array(votes.annotators, dtype=object)[votes.annotator]
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
    if isinstance(votes, Sequence) and not isinstance(votes, str):
        require_no_bare_names(votes)
        if is_pairs(votes):
            votes = pairs_as_columns(votes)
    table = to_polars(open_source(votes))
    header = Header.of(table.columns)
    sides = header.pair_of_competitors()
    if sides is None:
        raise VotesError(
            "There is no pair of columns such as model_a and model_b; the columns are "
            f"{listing(header.names)}."
        )
    competitors, codes = coded(table, *sides)
    i, j = np.split(codes, 2)
    require_two_competitors(competitors, i, j)
    rows = Votes(
        competitors,
        annotators=(),
        i=i,
        j=j,
        annotator=np.zeros(len(i), np.intp),
        counts=np.zeros((len(i), 3)),
        features={name: feature(table, name) for name in fit.model.style},
    )
    rows = with_judge(rows, table, header.first(ANNOTATORS, sides))
    return with_slices(rows, fit, table, header)


def require_two_competitors(competitors: Sequence[str], i: Ints, j: Ints) -> None:
    """Refuse votes on a competitor and itself."""
    if (i == j).any():
        names = [competitors[c] for c in np.unique(i[i == j])]
        raise VotesError(
            f"A vote is on two competitors, not on {listing(map(repr, names))} and "
            "itself."
        )


def with_judge(rows: Votes, table: pl.DataFrame, column: str | None) -> Votes:
    """Return the rows with the annotators of a column, if there is one."""
    if column is None:
        return rows
    annotators, annotator = coded(table, column)
    return replace(rows, annotators=annotators, annotator=annotator)


def with_slices(rows: Votes, fit: Fit, table: pl.DataFrame, header: Header) -> Votes:
    """Return the rows with the slices that the model reads, as far as given."""
    slices = {}
    levels = {}
    for by in fit.model.strength_by:
        known = (by, *PROMPTS) if by == PROMPT else (by,)
        column = by if by in header.names else header.first(known)
        if column is not None:
            levels[by], slices[by] = coded(table, column)
    return replace(rows, slices=slices, levels=levels)


def require_no_bare_names(votes: Sequence[Any]) -> None:
    """Refuse a pair of names that is not in a list."""
    names = [name for name in votes if isinstance(name, str)]
    if names:
        pair = tuple(names) if len(names) in (2, 3) else ("x", "y")
        raise VotesError(f"Pairs stand in a list, also a single one: [{pair!r}].")


def is_pairs(votes: Sequence[Any]) -> bool:
    """Whether votes are a list of pairs of names, each perhaps with its annotator."""
    return len(votes) > 0 and all(isinstance(pair, tuple | list) for pair in votes)


def pairs_as_columns(pairs: Sequence[Sequence[object]]) -> dict[str, list[str]]:
    """Return pairs as columns."""
    sizes = {len(pair) for pair in pairs}
    if sizes not in ({2}, {3}):
        raise VotesError(
            "A pair names two competitors, and perhaps an annotator, as in "
            "[('x', 'y')]; and all pairs alike."
        )
    names = ("model_a", "model_b", "judge")[: sizes.pop()]
    columns = {}
    for position, name in enumerate(names):
        columns[name] = [str(pair[position]) for pair in pairs]
    return columns


def coded(table: pl.DataFrame, *columns: str) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct names in some columns, and the codes, column after column."""
    names = [str(name) for column in columns for name in table[column]]
    distinct, codes = np.unique(np.array(names, dtype=object), return_inverse=True)
    return tuple(distinct), codes


def feature(table: pl.DataFrame, name: str) -> Floats:
    """Return a column of numbers."""
    if name not in table.columns:
        raise ModelError(
            f"The fit reads the feature {name!r}, first minus second. Add a column of "
            "this name."
        )
    return table[name].cast(float).to_numpy()
