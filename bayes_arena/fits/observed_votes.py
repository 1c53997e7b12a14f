"""Whether draws were sampled on the votes that are given with them.

A tree says what was observed: the counts by row and outcome that a program observed by
:func:`bayes_arena.models.observe`, or the outcome of each vote, from ``to_datatree``.  Their
sums by outcome are held against those of the votes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, join_words
from bayes_arena.fits.result import Fit, outcome_counts
from bayes_arena.said import Use
from bayes_arena.votes.votes import FIRST_CLEARLY, SECOND_CLEARLY, TIE

if TYPE_CHECKING:
    from xarray import Dataset, DataTree

COLUMNS = ("model_a", "model_b")  # the first outcomes of a program


def require_same_votes(tree: DataTree, fit: Fit) -> None:
    """Raise an error if a tree says that other votes were observed than a fit saw."""
    if "observed_data" not in tree.children:
        return
    observed = observed_sums(tree["observed_data"].to_dataset())
    if observed is None:
        return
    given = outcome_counts(fit).sum(axis=0)
    has_ties = len(observed) > TIE
    observed, given = of_outcomes(observed, has_ties), of_outcomes(given, has_ties)
    if not np.allclose(observed, given):
        raise ModelError(
            (
                f"The draws were sampled on other votes: on {in_words(observed)}, and the "
                f"model {fit.model.name!r} sees {in_words(given)}. Pass the votes that "
                "were sampled on, or name the model of your draws with ",
                Use("model"),
                ".",
            )
        )


def observed_sums(observed: Dataset) -> Floats | None:
    """Return how often each outcome was observed, (outcomes,); None if that is not told."""
    total = None
    for name, values in observed.data_vars.items():
        if name == "outcome" and values.dims == ("vote",):
            codes = values.to_numpy()
            return np.bincount(codes, minlength=SECOND_CLEARLY + 1).astype(float)
        if values.dims[1:] == ("outcome",):
            labels = tuple(map(str, values["outcome"].to_numpy()[: len(COLUMNS)]))
            if labels == COLUMNS:
                sums = values.to_numpy().sum(axis=0)
                total = sums if total is None else total + sums
    return total


def of_outcomes(sums: Floats, has_ties: bool) -> Floats:
    """Return wins of the first, of the second and ties; or ties as half wins of either."""
    wins = sums[:TIE].astype(float)
    if len(sums) > FIRST_CLEARLY:
        wins = wins + sums[FIRST_CLEARLY:]
    ties = sums[TIE] if len(sums) > TIE else 0.0
    return np.append(wins, ties) if has_ties else wins + ties / 2


def in_words(sums: Floats) -> str:
    """Return wins of either side, and ties where they are counted, in words."""
    words = [f"{x:,.1f}".removesuffix(".0") for x in sums]
    kinds = ("wins of the first", "of the second", "ties")
    return join_words([f"{n} {kind}" for n, kind in zip(words, kinds, strict=False)])
