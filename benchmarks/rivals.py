"""Defences that others published against rigged votes, written anew from their descriptions.

fisher       Chiang et al., "Chatbot Arena", ICML 2024 (arXiv 2403.04132), section 5.1: of every vote of a user the
             p-value (1 + #{h >= H}) / (1 + n) among the n historical votes h on the same pair (1 for the second
             competitor, 1/2 for a tie, 0 for the first), and at five votes chosen at random among the first hundred

                 M_j = -2 sum_{i <= j} ln p_i   against the chi-square of 2 j degrees of freedom at alpha / 5
user test    Min et al., ICML 2025 (arXiv 2501.17858), and their program: -2 sum ln p of 100 votes, p the historical
             share of the outcome on that pair, against 100 honest users drawn from these shares on the same battles;
             detected if fewer than 1 % of them are as surprising. Pairs on which an outcome never occurred are passed
             over. Where pairs have a dozen votes, raw shares are noise and most honest users are detected: it is also
             given shares by Davidson's model fitted to the history, without which it could not compete
filter       the same: a new vote is dropped if its loser was expected to win with more than .7 (.8), by Bradley-Terry
             strengths of the historical votes

History is what a platform does not have: the honest votes, known to be clean. An honest user's own votes are taken out
of it before they are judged; the filter sees nine tenths of the honest votes as history, the rest and the riggers' as
new. Votes of an account come in an order drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from rigging import DAVIDSON
from scipy.stats import chi2

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.votes.cells import single_votes, with_counts
from bayes_arena.votes.outcomes import LOSS, TIE, WIN

ALPHA, CHECKS, FIRST = 0.1, 5, 100
HONEST_USERS, LEVEL = 100, 0.01
NEW = 0.1
"""Share of the honest votes that are new to the filter, as theirs."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Votes one by one, sorted by account and at random within, with what history says of their pair.

    Attributes
    ----------
    i, j : ndarray of int, shape (n_votes,)
        The competitors.
    account, place : ndarray of int, shape (n_votes,)
        Who cast it, and as which of their votes, from 1.
    outcome : ndarray of int, shape (n_votes,)
        Index of the outcome.
    history : ndarray, shape (n_votes, 3)
        Historical wins, losses and ties of the pair.
    """

    i: Ints
    j: Ints
    account: Ints
    place: Ints
    outcome: Ints
    history: Floats


def judged(cells: ba.Cells, riggers: tuple[str, ...], seed: int) -> Judged:
    """Take all votes one by one, with the honest votes of all others on the same pair."""
    honest = ~np.isin(cells.annotators, riggers)
    tally = cells.tally(by_annotator=True)
    pair = tally.i * cells.n_competitors + tally.j
    own = tally.counts[:, :3] * honest[tally.k][:, None]
    every = np.column_stack([sum_by(pair, column, cells.n_competitors**2) for column in own.T])
    counts = tally.counts[:, :3].astype(np.int64)
    row, outcome = np.nonzero(counts)
    times = counts[row, outcome]
    row, outcome = np.repeat(row, times), np.repeat(outcome, times)
    order = np.lexsort((np.random.default_rng(seed).random(len(row)), tally.k[row]))
    row, outcome = row[order], outcome[order]
    account = tally.k[row]
    return Judged(tally.i[row], tally.j[row], account, _places(account), outcome, (every[pair] - own)[row])


def _places(account: Ints) -> Ints:
    """Place of every vote among those of its account, from 1."""
    first = np.searchsorted(account, account, side="left")
    return np.arange(1, len(account) + 1) - first


def fisher(cells: ba.Cells, riggers: tuple[str, ...], *, seed: int = 0) -> set[str]:
    """Name the anomalous users of Chatbot Arena's test, at alpha = .1."""
    votes = judged(cells, riggers, seed)
    n = votes.history.sum(axis=1)
    at_least = np.column_stack([n, votes.history[:, LOSS], votes.history[:, LOSS] + votes.history[:, TIE]])
    p = (1 + np.take_along_axis(at_least, votes.outcome[:, None], axis=1)[:, 0]) / (1 + n)
    total = np.cumsum(-2 * np.log(p))
    start = np.searchsorted(votes.account, votes.account, side="left")
    statistic = total - np.where(start > 0, total[start - 1], 0.0)
    rng = np.random.default_rng([seed, 1])
    checks = rng.permuted(np.tile(np.arange(1, FIRST + 1), (cells.n_annotators, 1)), axis=1)[:, :CHECKS]
    checked = (checks[votes.account] == votes.place[:, None]).any(axis=1)
    beyond = checked & (statistic >= chi2.isf(ALPHA / CHECKS, 2 * votes.place))
    return {cells.annotators[k] for k in np.unique(votes.account[beyond])}


def user_test(cells: ba.Cells, riggers: tuple[str, ...], *, fitted: bool, seed: int = 0) -> set[str]:
    """Name the users that Min et al. detect by up to a hundred votes each, shares of the pairs raw or fitted."""
    votes = judged(cells, riggers, seed)
    if fitted:
        share = _fitted_shares(cells, riggers, votes)
        usable = np.ones(len(share), dtype=bool)
    else:
        share = votes.history / np.maximum(votes.history.sum(axis=1, keepdims=True), 1)
        usable = (share > 0).all(axis=1)
    account, outcome = votes.account[usable], votes.outcome[usable]
    first = _places(account) <= FIRST
    account, outcome, share = account[first], outcome[first], share[usable][first]
    surprise = -2 * np.log(share)
    size, row = cells.n_annotators, np.arange(len(account))
    own = sum_by(account, surprise[row, outcome], size)
    rng = np.random.default_rng([seed, 2])
    upto = np.cumsum(share[:, :2], axis=1)
    as_surprising = np.zeros(size)
    for _ in range(HONEST_USERS):
        drawn = (rng.random((len(account), 1)) > upto).sum(axis=1)
        as_surprising += sum_by(account, surprise[row, drawn], size) > own
    tested = np.bincount(account, minlength=size) > 0
    return {cells.annotators[k] for k in np.flatnonzero(tested & (as_surprising / HONEST_USERS < LEVEL))}


def _fitted_shares(cells: ba.Cells, riggers: tuple[str, ...], votes: Judged) -> Floats:
    """Probabilities of a win, a loss and a tie by Davidson's model of the honest votes, shape (n_votes, 3)."""
    honest = cells.take(~np.isin(cells.annotators, riggers)[cells.annotator])
    fit = ba.fit(honest, model=DAVIDSON, method="map")
    eta = fit.strength[votes.i] - fit.strength[votes.j]
    log_p = davidson.LIKELIHOOD.log_probabilities(np.array([eta, np.full_like(eta, fit.point.common[0])]))
    return np.exp(log_p[:3].T)


def filtered(
    cells: ba.Cells, riggers: tuple[str, ...], thresholds: tuple[float, ...], *, seed: int = 0
) -> Iterator[ba.Cells]:
    """Yield the votes that pass the filter, for each threshold."""
    row, outcome = single_votes(cells)
    rigged = np.isin(cells.annotators, riggers)[cells.annotator[row]]
    new = rigged | (np.random.default_rng([seed, 3]).random(len(row)) < NEW)
    size = cells.counts.size

    def counts(kept: np.ndarray) -> Floats:
        place = row[kept] * cells.counts.shape[1] + outcome[kept]
        return np.bincount(place, minlength=size).reshape(cells.counts.shape).astype(float)

    board = ba.fit(with_counts(cells, counts(~new)), model="bradley-terry")
    strength = np.full(cells.n_competitors, np.nan)
    strength[[cells.competitors.index(name) for name in board.cells.competitors]] = board.strength
    win = 1 / (1 + np.exp(strength[cells.b[row]] - strength[cells.a[row]]))
    loser = np.select([outcome == WIN, outcome == LOSS], [1 - win, win], 0.0)
    for threshold in thresholds:
        yield with_counts(cells, counts(~(new & (loser > threshold))))
