"""The paper's tables: statistics of the votes (Table 1), and which method predicts them best (Table 2).

Table 2 is the paper's protocol, repeated random splits 80/20 by vote, with what a reader needs to judge a difference:
it is taken split by split against m-ELO, with Nadeau & Bengio's standard error, and one of at most two standard errors
lies "within its error".

=========================  ==========================================================================================
``elo``                    online Elo, the mean over shuffles: what the paper's text says
``elo, bootstrap``         online Elo, the median over resamples with replacement: what the authors' program does
``m-elo``                  maximum likelihood
``am-elo``                 maximum likelihood, as the paper runs it: annotators with 50 votes or fewer in all the
                           votes, where there are any, are left out of the fit and predicted like the average one
``am-elo, default prior``  annotators are drawn from a population that is estimated from the votes
``am-davidson``            the default model, with a tie propensity and a position effect of each annotator as well
=========================  ==========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import DataFrame, Floats
from bayes_arena.fits.fitting import fit
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.online import bootstrapped_elo, shuffled_ratings
from bayes_arena.validation.cross_validation import Fitter, held_out
from bayes_arena.validation.prediction import Ratings
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.reading.checks import FEW_VOTES
from bayes_arena.votes.selection import keep_annotators, select_annotators
from bayes_arena.votes.sequence import one_by_one

if TYPE_CHECKING:
    from bayes_arena.fits.result import Fit

SHUFFLES = 1000
"""Random orders or resamples that Elo is taken over (section 5.2)."""
ERRORS = 2.0
"""A difference of at most this many standard errors lies within its error."""
WITHIN = "within its error"


def table1(cells: Cells) -> DataFrame:
    """Count the votes as the paper's Table 1 does: ``statistic, value``.

    Pairs are all pairs of competitors, met or not, as in the paper; ``share of pairs met`` and ``share of ties``
    (both-bad votes among them) are ours.
    """
    import pandas as pd

    n, votes = cells.n_competitors, cells.n_votes
    low, high = np.minimum(cells.a, cells.b), np.maximum(cells.a, cells.b)
    pairs = n * (n - 1) // 2
    rows = [
        ("annotators", cells.n_annotators),
        ("models", n),
        ("votes", votes),
        ("votes per annotator", votes / cells.n_annotators),
        ("votes per model", votes / n),
        ("votes per model pair", votes / pairs),
        ("share of pairs met", len(np.unique(low * n + high)) / pairs),
        ("share of ties", wins_losses_ties(cells.counts)[2].sum() / votes),
    ]
    return pd.DataFrame(rows, columns=["statistic", "value"])


def candidates(cells: Cells, *, shuffles: int = SHUFFLES) -> Mapping[str, Fitter]:
    """Return the methods that Table 2 compares, by name: functions of (some of) the votes.

    All votes determine the annotators that the paper's filter keeps; Elo is taken over ``shuffles`` orders, or
    resamples.
    """
    many = keep_annotators(cells, more_than=FEW_VOTES).annotators

    def am_elo(train: Cells) -> Fit:
        kept = np.isin(train.annotators, many) & (train.votes_by_annotator() > 0)
        return fit(select_annotators(train, kept), model="am-elo", prior="flat")

    return {
        "elo": partial(mean_elo, shuffles=shuffles),
        "elo, bootstrap": partial(median_elo, resamples=shuffles),
        "m-elo": partial(fit, model="m-elo", prior="flat"),
        "am-elo": am_elo,
        "am-elo, default prior": partial(fit, model="am-elo"),
        "am-davidson": partial(fit, model="am-davidson"),
    }


def mean_elo(cells: Cells, *, shuffles: int = SHUFFLES) -> Ratings:
    """Return the mean of online Elo over random orders of the votes, in logits."""
    return Ratings(cells.competitors, elo_draws(cells, shuffles).mean(axis=0))


def elo_draws(cells: Cells, shuffles: int) -> Floats:
    """Return online Elo in random orders of the votes, in logits, shape (shuffles, n_competitors)."""
    return _logits(shuffled_ratings(one_by_one(cells), shuffles=shuffles))


def median_elo(cells: Cells, *, resamples: int = SHUFFLES) -> Ratings:
    """Return the median of online Elo over votes drawn with replacement, in logits."""
    table = bootstrapped_elo(one_by_one(cells), resamples=resamples).set_index("competitor")
    return Ratings(cells.competitors, _logits(table["median"].loc[list(cells.competitors)].to_numpy()))


def _logits(points: Floats) -> Floats:
    scale = EloScale()
    return np.asarray((points - scale.init) / scale.points_per_logit)


def table2(cells: Cells, *, splits: int = 10, shuffles: int = SHUFFLES) -> DataFrame:
    """Compare the methods by how well they predict held-out votes (the paper's Table 2).

    Columns are ``method``, and those of :func:`~bayes_arena.held_out` with m-ELO as the reference; each ``..._diff_se``
    is followed by ``..._verdict``: ``better`` or ``worse`` than m-ELO, ``within its error``, or ``reference``.
    """
    methods = candidates(cells, shuffles=shuffles)
    table = held_out(cells, methods, splits=splits, reference="m-elo").rename(columns={"name": "method"})
    for score, sign in (("mse", -1), ("auc", 1), ("auc_ties", 1), ("log_score", 1)):
        gain, error = sign * table[f"{score}_diff"], table[f"{score}_diff_se"]
        verdict = np.where(gain > 0, "better", "worse").astype(object)
        verdict[gain.abs() <= ERRORS * error] = WITHIN
        verdict[table["method"] == "m-elo"] = "reference"
        table.insert(list(table.columns).index(f"{score}_diff_se") + 1, f"{score}_verdict", verdict)
    return table
