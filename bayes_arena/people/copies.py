"""Accounts that cast the same votes: the same verdicts on the same items.

Where many see the same few items, some agree in all of them by chance.  So the chance that
somebody casts an annotator's very votes, which is their likelihood as fitted, times the
pairs of annotators who saw these items has to be below .05.
"""

from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.pointwise import row_log_densities
from bayes_arena.fits.result import Fit, outcome_counts, seen_votes
from bayes_arena.inference.predictive import rows_of
from bayes_arena.people.items import verdicts_by_item
from bayes_arena.votes.votes import MIN_VOTES, Votes, distinct_rows, summed_by, sums

type Ballot = tuple[bytes, bytes]  # the items that an annotator saw, and the verdicts

LARGEST_CHANCE = 0.05  # of as many votes alike among all who saw the same


def find_copies(fit: Fit) -> dict[int, int]:
    """Return who casts the votes of an earlier annotator again, and whose: codes."""
    ballots = ballots_of(fit.votes)
    chance = chance_of_votes(fit)
    n_votes = fit.votes.votes_by_annotator
    n_who_saw = Counter(items for items, _ in ballots)
    earliest: dict[Ballot, int] = {}
    copies = {}
    for k, ballot in enumerate(ballots):
        earlier = earliest.setdefault(ballot, k)
        n_pairs = comb(n_who_saw[ballot[0]], 2)
        is_chance = n_pairs * chance[k] >= LARGEST_CHANCE
        if earlier < k and n_votes[k] >= MIN_VOTES and not is_chance:
            copies[k] = earlier
    return copies


def ballots_of(votes: Votes) -> list[Ballot]:
    """Return what each annotator saw, and the verdicts."""
    verdicts, item = verdicts_by_item(votes)
    first, row = distinct_rows([votes.annotator, item])
    verdicts = summed_by(row, verdicts, len(first))
    ends = np.searchsorted(votes.annotator[first], np.arange(1, votes.n_annotators))
    return [
        (items.tobytes(), cast.tobytes())
        for items, cast in zip(
            np.split(item[first], ends), np.split(verdicts, ends), strict=True
        )
    ]


def chance_of_votes(fit: Fit) -> Floats:
    """Return the likelihood of the votes of each annotator, in their order, (annotators,)."""
    seen = seen_votes(fit)
    log_p = row_log_densities(rows_of(fit.posterior.design, seen), fit.posterior.mean)
    by_row = np.sum(outcome_counts(fit) * log_p, axis=1)
    return np.exp(sums(seen.annotator, by_row, fit.votes.n_annotators))
