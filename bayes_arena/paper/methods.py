"""The methods that the paper compares, and two of this package.

===========  ===========================================================================
elo          online Elo, the mean over random orders
m-elo        maximum likelihood
am-elo       maximum likelihood, with a discrimination of each annotator
davidson     this package's default: all votes have equal weight
am-davidson  this package's model of annotators
===========  ===========================================================================
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from bayes_arena.arrays import Floats
from bayes_arena.boards.elo import ELO
from bayes_arena.boards.online import online
from bayes_arena.checks.predict import predict_rows
from bayes_arena.errors import ArenaWarning, FitError, listing
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.model.priors import PriorName
from bayes_arena.model.spec import PRESETS
from bayes_arena.said import Call
from bayes_arena.votes.singles import one_by_one
from bayes_arena.votes.votes import Votes

SHUFFLES = 1000  # orders over which Elo is averaged (section 5.2)
PRIORS: dict[str, PriorName] = {
    "m-elo": "flat",
    "am-elo": "flat",
    "davidson": "default",
    "am-davidson": "default",
}
PAPER_METHODS = ("elo", "m-elo", "am-elo")
METHODS = (*PAPER_METHODS, "davidson", "am-davidson")


@dataclass(frozen=True, eq=False)
class Ratings:
    """Competitors rated by a method.

    Attributes
    ----------
    strength : ndarray, shape (competitors,)
        In logits.
    expected_score : callable
        E[W] of the first side in each row of votes, from these.
    """

    strength: Floats
    expected_score: Callable[[Votes], Floats]


def run_method(name: str, votes: Votes, shuffles: int) -> Ratings:
    """Rate the competitors by one of the methods; ``shuffles`` are the orders of Elo.

    Raises
    ------
    FitError
        If the method has no finite estimate.
    """
    if name == "elo":
        runs = online(one_by_one(votes)).shuffled(shuffles, seed=0)
        r = (runs.mean(axis=0) - ELO.init) / ELO.points_per_logit
        return Ratings(r, lambda rows: expit(r[rows.i] - r[rows.j]))
    result = quiet_fit(name, votes)
    is_lost = np.isnan(result.strength)
    if is_lost.any():
        lost = [votes.competitors[i] for i in np.flatnonzero(is_lost)]
        raise FitError(
            f"{name} has no finite estimate of {listing(map(repr, lost))}.",
            Call("votes.drop", competitors=tuple(lost)),
        )
    return Ratings(result.strength, lambda rows: predict_rows(result, rows).score)


def quiet_fit(name: str, votes: Votes) -> Fit:
    """Fit one of the methods, without warnings."""
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        return fit(votes, model=PRESETS[name], prior=PRIORS[name])
