"""How far perturbed annotators move a ranking (section 5.5, Figure 6).

Each method is compared with itself: the consistency of its ranking of the perturbed votes with its ranking of the votes
as they were. All methods see the same perturbed votes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ArenaWarning, ConvergenceError
from bayes_arena.fits.fitting import fit
from bayes_arena.paper.measures import consistency
from bayes_arena.paper.perturbation import KINDS, Kind, perturbations
from bayes_arena.ratings.online import shuffled_ratings
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.sequence import one_by_one

if TYPE_CHECKING:
    import pandas as pd

SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45)
ELO_SHUFFLES = 100
"""Shuffles whose mean is Elo's ranking; the paper uses 1,000."""

Method = Callable[[Cells], Floats]
"""Scores, shape (n_competitors,), from votes."""


def elo(cells: Cells) -> Floats:
    """Return the mean of online Elo over random orders of the votes."""
    return np.asarray(shuffled_ratings(one_by_one(cells), shuffles=ELO_SHUFFLES).mean(axis=0))


def fitted(model: str, prior: str) -> Method:
    """Return the method that ranks by the strengths r of a fit."""

    def method(cells: Cells) -> Floats:
        return fit(cells, model=model, prior=prior).strength

    return method


METHODS: Mapping[str, Method] = {
    "elo": elo,
    "m-elo": fitted("m-elo", "flat"),
    "am-elo": fitted("am-elo", "flat"),
    "am-elo, default prior": fitted("am-elo", "default"),
    "am-davidson": fitted("am-davidson", "default"),
}


def stability(
    cells: Cells,
    *,
    kinds: Sequence[Kind] = KINDS,
    shares: Sequence[float] = SHARES,
    seeds: Sequence[int] = range(5),
    methods: Mapping[str, Method] = METHODS,
) -> pd.DataFrame:
    """Return the consistency of every method's rankings with and without perturbed annotators.

    Parameters
    ----------
    cells : Cells
        Unweighted votes with annotators, without those who cast too few votes for perturbing to matter.
    kinds, shares, seeds : sequence
        Every combination is perturbed; see :func:`~bayes_arena.paper.perturbation.perturb`.
    methods : mapping of str to callable
        From cells to scores, by name.

    Returns
    -------
    pandas.DataFrame
        ``kind, share, seed, method, consistency, warned``: one row for every combination and method, none for a fit to
        perturbed votes that did not converge. ``warned`` says that the fit to the perturbed votes warned of an answer
        at infinity, or of a ranking whose direction the votes do not settle.
    """
    import pandas as pd

    original = {name: _quietly(method, cells)[0] for name, method in methods.items()}
    rows = []
    for kind, share, seed, perturbed, _ in perturbations(cells, kinds, shares, seeds):
        for name, method in methods.items():
            try:
                scores, warned = _quietly(method, perturbed)
            except ConvergenceError:
                continue
            rows.append((kind, share, seed, name, consistency(scores, original[name]), warned))
    return pd.DataFrame(rows, columns=["kind", "share", "seed", "method", "consistency", "warned"])


def _quietly(method: Method, cells: Cells) -> tuple[Floats, bool]:
    """Return the scores, and whether the method warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", ArenaWarning)
        scores = method(cells)
    return scores, bool(caught)
