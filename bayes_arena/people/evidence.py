"""What speaks for and against annotators: counts, agreement, sides and favourites."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Array, Floats
from bayes_arena.fits.result import Fit
from bayes_arena.people.anomaly import Agreement, agreement_of
from bayes_arena.people.favourites import Favourites
from bayes_arena.people.sides import side_scores, votes_for_one_side
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the table of annotators is made of.

    Attributes
    ----------
    counts : ndarray, shape (annotators, 3)
        Wins of the first, of the second, and ties.
    agreement : Agreement
        0 of those who vote for one side and nothing else.
    side_share, side_score : ndarray, shape (annotators,)
        Share of the decided votes for the first, nan without any; and its z.
    favourites : Favourites, optional
    clearest_pair : mapping of int to int
        Of each annotator who has a favourite, the row of the clearest in ``favourites``.
    """

    counts: Floats
    agreement: Agreement
    side_share: Floats
    side_score: Floats
    favourites: Favourites | None
    clearest_pair: Mapping[int, int]

    @property
    def n_votes(self) -> Floats:
        """Votes of each annotator, (annotators,)."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def tie_share(self) -> Floats:
        """Share of ties of each annotator, (annotators,)."""
        return share(self.counts[:, TIE], self.n_votes)


def evidence_of(fit: Fit, favourites: Favourites | None, seed: int) -> Evidence:
    """Return what speaks for and against the annotators of a fit with discrimination."""
    counts = counts_by_annotator(fit.votes)
    side_share = share(counts[:, FIRST], counts[:, FIRST] + counts[:, SECOND])
    side_score = side_scores(fit)
    is_one_sided = votes_for_one_side(side_score, side_share)
    return Evidence(
        counts=counts,
        agreement=with_chance_of(is_one_sided, agreement_of(fit, seed)),
        side_share=side_share,
        side_score=side_score,
        favourites=favourites,
        clearest_pair=clearest_pairs(favourites),
    )


def counts_by_annotator(votes: Votes) -> Floats:
    """Return wins of the first, of the second and ties of each annotator, (annotators, 3)."""
    counts = np.zeros((votes.n_annotators, 3))
    for outcome in (FIRST, SECOND, TIE):
        column = votes.folded[:, outcome]
        counts[:, outcome] = np.bincount(votes.annotator, column, votes.n_annotators)
    return counts


def share(part: Floats, total: Floats) -> Floats:
    """Return shares, nan of nothing."""
    return np.divide(part, total, out=np.full(len(part), np.nan), where=total > 0)


def with_chance_of(is_one_sided: Array, agreement: Agreement) -> Agreement:
    """Return the agreement, 0 of who votes for one side: by chance, and an anomaly."""
    return replace(
        agreement,
        mean=np.where(is_one_sided, 0.0, agreement.mean),
        lower=np.where(is_one_sided, 0.0, agreement.lower),
        upper=np.where(is_one_sided, 0.0, agreement.upper),
        p_anomaly=np.where(is_one_sided, 1.0, agreement.p_anomaly),
    )


def clearest_pairs(favourites: Favourites | None) -> dict[int, int]:
    """Return the clearest favourite of each annotator who has one: a row of the pairs."""
    clearest: dict[int, int] = {}
    if favourites is None:
        return clearest
    named = np.flatnonzero(favourites.is_for | favourites.is_against)
    for pair in named[np.argsort(favourites.p_value[named], kind="stable")]:
        clearest.setdefault(int(favourites.table.annotator[pair]), int(pair))
    return clearest
