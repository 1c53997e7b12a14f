"""How often annotators agree on the same answers.

An item is a pair of competitors, on one prompt where prompts are known; a verdict is for one, for the other, or a tie
(including both-bad votes). The agreement of two sides is the mean over items of the probability that two verdicts
drawn from them, by different annotators, are the same. Cohen's kappa is the agreement beyond chance,

    kappa = (p - e) / (1 - e),        e = t t' + (1 - t) (1 - t') / 2,

t and t' being the two sides' shares of ties on these items: the order within a pair is arbitrary, so by chance each
competitor gets half of the votes that are not ties.

References
----------
Cohen, J. (1960), "A coefficient of agreement for nominal scales", Educational and Psychological Measurement 20.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.tally import Tally

TIES = 2
"""Index of ties among the verdicts: first, second, tie."""


@dataclass(frozen=True)
class Concordance:
    """How often two sides agree, over the items on which both voted; kappa is None where all votes are ties."""

    agreement: float
    kappa: float | None
    items: int


def between(cells: Cells, judge: str, others: Collection[str]) -> Concordance | None:
    """Return how often a judge and others agree; None if they have no item in common."""
    tally, item = _items(cells)
    one, other = (_verdicts(tally, item, np.isin(tally.k, _places(cells, side))) for side in ([judge], others))
    one, other = _in_common(one, other)
    return _concordance((one * other).sum(axis=1), one, other)


def among(cells: Cells, annotators: Collection[str]) -> Concordance | None:
    """Return how often two different annotators agree; None if no item has votes of two."""
    tally, item = _items(cells)
    inside = np.isin(tally.k, _places(cells, annotators))
    own, where = np.stack(wins_losses_ties(tally.counts[inside]), axis=1), item[inside]
    both = _verdicts(tally, item, inside)
    votes = both.sum(axis=1)
    same = (both**2).sum(axis=1) - sum_by(where, (own**2).sum(axis=1), len(both))  # a row: one annotator and item
    pairs = votes**2 - sum_by(where, own.sum(axis=1) ** 2, len(both))
    common = pairs > 0
    shares = both[common] / votes[common, None]
    return _concordance(same[common] / pairs[common], shares, shares)


def across_orders(cells: Cells, judge: str | None = None) -> tuple[float | None, int]:
    """Return how often a verdict is the same in the other order, and the number of items judged in both orders.

    Verdicts are those of one judge, or of all annotators, whose items are counted separately.
    """
    if not cells.sided:
        return None, 0
    tally, item = _items(cells, by_side=True)
    item = np.unique(tally.k * (item.max() + 1) + item, return_inverse=True)[1]
    first = tally.i < tally.j
    by_judge = np.full(len(tally.k), True) if judge is None else np.isin(tally.k, _places(cells, [judge]))
    straight, turned = _in_common(*(_verdicts(tally, item, by_judge & rows) for rows in (first, ~first)))
    return (float((straight * turned).sum(axis=1).mean()) if len(straight) else None), len(straight)


def _items(cells: Cells, *, by_side: bool = False) -> tuple[Tally, Ints]:
    """Sum the votes by annotator and item, and return the item of every row, shape (n_rows,)."""
    slices = [PROMPT] if PROMPT in cells.slices else []
    tally = cells.tally(by_annotator=True, by_side=by_side, slices=slices)
    pair = np.minimum(tally.i, tally.j) * cells.n_competitors + np.maximum(tally.i, tally.j)
    prompt = tally.slices[0] if slices else np.zeros_like(pair)
    return tally, np.unique(prompt * cells.n_competitors**2 + pair, return_inverse=True)[1]


def _places(cells: Cells, names: Collection[str]) -> list[int]:
    return [place for place, name in enumerate(cells.annotators) if name in names]


def _verdicts(tally: Tally, item: Ints, rows: np.ndarray) -> Floats:
    """Count the verdicts of some rows, for the competitor that sorts first, the other, and ties, (n_items, 3)."""
    wins, losses, ties = wins_losses_ties(tally.counts[rows])
    turned = (tally.i > tally.j)[rows]
    verdicts = np.where(turned, losses, wins), np.where(turned, wins, losses), ties
    return np.stack([sum_by(item[rows], one, int(item.max()) + 1) for one in verdicts], axis=1)


def _in_common(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the shares of verdicts of two sides on the items on which both voted, each (m, 3)."""
    both = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0)
    one, other = one[both], other[both]
    return one / one.sum(axis=1, keepdims=True), other / other.sum(axis=1, keepdims=True)


def _concordance(same: Floats, one: Floats, other: Floats) -> Concordance | None:
    if not len(same):
        return None
    agreement, ties, others = float(same.mean()), one[:, TIES].mean(), other[:, TIES].mean()
    chance = ties * others + (1 - ties) * (1 - others) / 2
    kappa = float((agreement - chance) / (1 - chance)) if chance < 1 else None
    return Concordance(agreement, kappa, len(same))
