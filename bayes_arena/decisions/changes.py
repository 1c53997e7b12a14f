"""Changes of votes, and their effect on the gap between two competitors.

A change consists of units: votes, or whole groups of votes. Units of the same kind are interchangeable, as identical
votes are, so a change is a number m_u of units of each kind u, and the new counts are linear in these numbers:

    counts' = counts + sum_u m_u delta_u,        delta_u = what one unit of kind u adds to the counts.

With s_v the gradient of a vote's negative log-likelihood at the mode, H the Hessian there and g the gradient of the
gap with respect to the parameters, one more vote moves the gap by -s_v' H^-1 g to first order, through every parameter
of the model, and one unit by the sum over delta_u.

Source: Broderick, Giordano & Meager, "An automatic finite-sample robustness metric", arXiv:2011.14999; for rankings
Huang, Shen, Wei & Broderick, arXiv:2508.11847.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.objective import Objective
from bayes_arena.ratings.intervals.robust import moves_of_rows, slopes_of_a_vote
from bayes_arena.votes.groups import groups_of
from bayes_arena.votes.outcomes import LOSS, WIN, turned, whole_votes
from bayes_arena.votes.tally import Tally

How = Literal["drop", "flip", "add"]
VOTE = "vote"


@dataclass(frozen=True, eq=False)
class Changes:
    """The units in which votes can be changed, by kind.

    Attributes
    ----------
    target : Objective
        The votes as the model sees them, in rows that are fine enough to tell the units apart.
    delta : sparse array, shape (n_kinds, K * n_rows)
        What one unit adds to the counts, outcome by outcome.
    available, votes : ndarray, shape (n_kinds,)
        Number of units of each kind, and votes in one unit.
    """

    target: Objective
    delta: csr_array
    available: Floats
    votes: Floats

    def effects(self, fit: Fit, head: Floats) -> Iterator[Floats]:
        """Yield, for one function after another, how far one unit of each kind moves it, shape (n_kinds,).

        The fit is at its mode; ``head`` has the functions' derivatives by strengths, common and slice parameters, (m,
        h).
        """
        one_vote = np.array([slopes_of_a_vote(fit, self.target, outcome) for outcome in range(len(self.target.counts))])
        for _, moves in moves_of_rows(fit, self.target, head, None):
            for function in range(moves.shape[2]):
                yield self.delta @ -np.einsum("ocr,cr->or", one_vote, moves[:, :, function]).ravel()

    def counts(self, taken: Floats) -> Floats:
        """Return the counts after ``taken`` units of each kind have been changed, shape (K, n_rows)."""
        return np.asarray(self.target.counts + (self.delta.T @ taken).reshape(self.target.counts.shape))


def changes(fit: Fit, by: str, how: How, pair: tuple[int, int]) -> Changes:
    """Return how the votes of a fit can be changed; the pair matters only where votes are added to it."""
    if how == "add":
        return _added(fit, by, pair)
    if by == VOTE:
        return _single_votes(fit, how)
    return _whole_groups(fit, by, how)


def _single_votes(fit: Fit, how: How) -> Changes:
    """Return changes that drop or reverse single votes; identical votes are of one kind."""
    target, size = fit.target, len(fit.target.tally.i)
    counts = whole_votes(target.counts)
    outcome, row = np.nonzero(counts) if how == "drop" else _decided(counts)
    kind, ones = np.arange(len(row)), np.ones(len(row))
    entries = [(-ones, kind, outcome * size + row)]
    if how == "flip":
        entries.append((ones, kind, _turned(counts)[outcome] * size + row))
    return Changes(target, _matrix(entries, len(row), counts.shape), counts[outcome, row].astype(float), ones)


def _decided(counts: Ints) -> tuple[Ints, Ints]:
    """Return outcome and row of the votes that have a winner."""
    outcome, row = np.nonzero(counts)
    decided = _turned(counts)[outcome] != outcome
    return outcome[decided], row[decided]


def _turned(counts: Floats | Ints) -> Ints:
    """Return the index of every outcome with the sides swapped."""
    return np.array(turned(len(counts)))


def _whole_groups(fit: Fit, by: str, how: How) -> Changes:
    """Return changes that drop or reverse all votes of an annotator or a slice."""
    groups_of(fit.cells, by)
    tally, group = fit.model.tally_by(fit.cells, by)
    target, size = fit.target_of(tally), len(tally.i)
    outcome, row = np.nonzero(target.counts)
    counts = target.counts[outcome, row]
    entries = [(-counts, group[row], outcome * size + row)]
    if how == "flip":
        entries.append((counts, group[row], _turned(target.counts)[outcome] * size + row))
    votes = sum_by(group[row], counts, 1 + int(group.max()))
    return Changes(target, _matrix(entries, len(votes), target.counts.shape), (votes > 0).astype(float), votes)


def _added(fit: Fit, by: str, pair: tuple[int, int]) -> Changes:
    """Return changes that add votes for the second of a pair, by annotators in proportion to the votes they cast."""
    if by != VOTE:
        raise ModelError(f"Votes are added one by one, not by {by!r}. Use by='vote', or how='drop' or 'flip'.")
    if fit.model.is_crossed:
        raise ModelError(
            f"Votes cannot be added to {fit.model.name!r}, whose strengths differ by slice: a further vote would need "
            "a slice. Use how='drop' or 'flip', or a model without slices (answers=False, --answers off)."
        )
    target, old = fit.target, fit.target.tally
    share = fit.cells.votes_by_annotator() / fit.cells.n_votes if target.n_annotators else np.ones(1)
    sides = [pair, pair[::-1]] if fit.model.position != "none" else [(min(pair), max(pair))]
    size, more = len(old.i), len(share) * len(sides)
    first, second = (np.repeat([side[end] for side in sides], len(share)) for end in (0, 1))
    i, j = np.append(old.i, first), np.append(old.j, second)
    k = np.append(old.k, np.tile(np.arange(len(share)), len(sides)))
    order = np.lexsort((j, i, k))  # that of a tally
    tally = Tally(
        i=i[order],
        j=j[order],
        k=k[order],
        counts=np.concatenate([old.counts, np.zeros((more, old.counts.shape[1]))])[order],
        features=np.column_stack([old.features, np.zeros((len(old.features), more))])[:, order],
        slices=np.column_stack([old.slices, np.zeros((len(old.slices), more), dtype=np.int64)])[:, order],
    )
    outcome = np.where(first == pair[0], LOSS, WIN)
    column = outcome * (size + more) + np.argsort(order)[size:]
    weights = np.tile(share, len(sides)) / len(sides)
    added = fit.target_of(tally)
    delta = _matrix([(weights, np.zeros(more, dtype=np.int64), column)], 1, added.counts.shape)
    return Changes(added, delta, np.array([np.ceil(target.n_votes)]), np.ones(1))


def _matrix(entries: list[tuple[Floats, Ints, Ints]], kinds: int, shape: tuple[int, ...]) -> csr_array:
    values, kind, column = (np.concatenate(part) for part in zip(*entries, strict=True))
    return csr_array((values, (kind, column)), shape=(kinds, math.prod(shape)))
