"""The price of a place: how many votes, by how many accounts, would move a competitor up.

No method can tell accounts that vote honestly but for a soft liking from honest ones. What can be said about them is
what a place costs. The price takes every account's votes to count; where some do not (:mod:`bayes_arena.promotion`),
the place costs more. It is that of a campaign with expected outcomes: chance makes some dearer, and some cheaper.

Accounts cast N votes. A share f of them is on their competitor c, with opponent o in proportion p_o to how often votes
show it; the others are on the pairs without c, as often as everybody's, and honest. By default f is the share of
everybody's votes that show c. On c accounts vote honestly but for a push of z logits, added to the coordinate eta of c
(:mod:`bayes_arena.likelihood.predictor`). An infinite push is a plain campaign: a win whenever c is shown.

The board has strengths e on the scale that all models share (:mod:`bayes_arena.inference.projection`), where
P_ij(x) = 1 / (1 + exp(x_j - x_i)) is the score that i is expected to take from j. It moves to the x where scores
balance again: with n_ij votes so far and d_i the i-th unit vector, x minimises the convex function with the gradient

    sum_ij a_ij (P_ij(x) - P_ij(e)) (d_i - d_j) + h (x - e) + N f omega sum_o p_o (P_co(x) - w_co) (d_c - d_o),
    a_ij = n_ij + N (1 - f) n_ij / sum of n without c    (n_ij for pairs with c).

- w_co, the score that accounts give c, is P_co(e) with a push on this scale: by how much z moves the log odds of the
  score that annotators give on average, as a function of the lead.
- omega is what a vote of a new account counts. Scores are balanced with weights theta_k, so that a new account, with
  theta near the mean 1, pulls by (w - P), and a lead that moves by delta is held by E theta^2 delta of everybody's
  votes where the expected score has moved by E theta delta: omega = E theta / E theta^2, averaged over votes and the
  posterior. It is 1 where theta is fixed.
- h = omega / (kappa s^2) is the prior's, with s the spread of strengths in the model and e = kappa r, by least squares.

For Bradley-Terry this is a refit with the expected votes, at fixed spreads. For other models it stands for one, without
new numbers of annotators and without slices. The gap to a competitor ahead falls with N, ever more slowly, so Newton's
method in N, from 0 on, finds the price from below; its first step is the linear influence of a vote, which promises too
much. ``benchmarks/price.py`` compares both with refits, and prices with what campaigns took.

Source of the linear influence: Broderick, Giordano & Meager, arXiv:2011.14999; of the campaigns: Min et al.,
arXiv:2501.17858.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, table_of
from bayes_arena.errors import ModelError, NotIdentifiedError, did_you_mean
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.curves import around, shares
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.progress import report
from bayes_arena.ratings.elo import EloScale
from bayes_arena.threads import one_thread

MOST = 10.0
"""Multiple of the votes cast up to which a price is looked for."""
CLOSE = 1e-8
"""Accuracy of strengths and gaps, in logits."""
SAME = 1e-9
"""Difference of strengths, in logits, that is rounding."""
LONGEST_STEP = 1.0
"""Furthest that one step of Newton's method moves a strength, in logits."""
LEADS = 65
"""Leads at which the effect of a push is evaluated; between them it is interpolated."""
STEPS = 200
"""Most steps: there are as many as logits that the longest way has, and a handful more."""
PUSH = 1.0
"""Of a soft campaign, in logits."""


@dataclass(frozen=True, eq=False)
class Board:
    """Strengths e that everybody's votes balance, (n,) in logits.

    ``votes`` are those on every pair, (n, n), symmetric; ``weight`` is omega, what a vote of a new account counts, and
    ``precision`` h, of the prior.
    """

    strength: Floats
    votes: Floats
    weight: float
    precision: float

    @classmethod
    def of(cls, fit: Fit) -> Board:
        """Return the board of a fit, with the votes that its model sees."""
        target, n, by_annotator = fit.target, fit.cells.n_competitors, fit.cells.votes_by_annotator()
        strength = fit.board
        votes = np.zeros((n, n))
        np.add.at(votes, (target.tally.i, target.tally.j), target.counts.sum(axis=0))
        weight = 1.0
        if target.free_discrimination:
            theta, share = fit.discrimination, shares(target, by_annotator, fit.view)
            variance = 0.0 if fit.view.annotators is None else fit.view.annotators[:, THETA, THETA]
            weight = float(share @ theta / (share @ (theta**2 + variance)))
        apart = np.abs(fit.strength).max() > SAME
        kappa = float(strength @ fit.strength / (fit.strength @ fit.strength)) if apart else 1.0
        return cls(strength, votes + votes.T, weight, weight / (kappa * target.strength_sd**2))

    @cached_property
    def shown(self) -> Floats:
        """Votes that show each competitor, shape (n,)."""
        return np.asarray(self.votes.sum(axis=0))

    @property
    def n_votes(self) -> float:
        """Votes on all pairs."""
        return float(self.shown.sum()) / 2


@dataclass(frozen=True, eq=False)
class Campaign:
    """Votes cast to lift one competitor c, on the ``board`` before them.

    ``focus`` is f, the share of the votes that are on c, and ``score`` w_co, (n,), that which they give c against
    others.
    """

    board: Board
    competitor: int
    focus: float
    score: Floats

    @cached_property
    def opponents(self) -> Floats:
        """What one vote, on c or not, counts against each opponent of c, shape (n,)."""
        shown = self.board.shown.copy()
        shown[self.competitor] = 0.0
        return np.asarray(self.board.weight * self.focus * shown / shown.sum())

    @cached_property
    def elsewhere(self) -> Floats:
        """Share of each pair without c in a vote, shape (n, n), symmetric."""
        votes = self.board.votes.copy()
        votes[self.competitor] = votes[:, self.competitor] = 0.0
        return (1 - self.focus) * votes / (votes.sum() / 2 or 1.0)

    def moved(self, votes: float, start: Floats) -> tuple[Floats, Floats]:
        """Return the strengths after N votes, any positive number, and by how much one more moves them."""
        board, c, x = self.board, self.competitor, start
        weight = board.votes + votes * self.elsewhere
        before = expit(board.strength[:, None] - board.strength)
        for _ in range(STEPS):
            p = expit(x[:, None] - x)
            excess = p - before
            one_vote = _on_one(c, self.opponents * (p[c] - self.score)) + (self.elsewhere * excess).sum(axis=1)
            all_others = (board.votes * excess).sum(axis=1) + board.precision * (x - board.strength)
            information = weight * p * (1 - p)
            information[c] += votes * self.opponents * p[c] * (1 - p[c])
            information[:, c] = information[c]
            hessian = np.diag(information.sum(axis=1) + board.precision) - information + 1 / len(x)
            step, by_vote = np.linalg.solve(hessian, -np.column_stack([all_others + votes * one_vote, one_vote])).T
            longest = float(np.abs(step).max())
            x = x + step * min(1.0, LONGEST_STEP / max(longest, CLOSE))
            if longest < CLOSE:
                break
        return x, by_vote

    def price(self, place: int) -> float:
        """Return how many votes move the competitor up to a place, from 1; infinity above ``MOST`` times those cast."""
        votes, x, most = 0.0, self.board.strength, MOST * self.board.n_votes
        while votes <= most:
            x, by_vote = self.moved(votes, x)
            others = np.delete(np.arange(len(x)), self.competitor)
            rival = others[np.argsort(-x[others], kind="stable")[place - 1]]
            gap = x[rival] - x[self.competitor]
            if gap <= CLOSE:
                return votes
            closing = by_vote[self.competitor] - by_vote[rival]
            if closing <= 0:
                break
            votes += gap / closing
        return math.inf


def _on_one(c: int, score: Floats) -> Floats:
    """Return the gradient of votes on c from its excess score in each of them."""
    gradient = -score
    gradient[c] = score.sum() - score[c]
    return gradient


def campaign(board: Board, competitor: int, score: Floats, focus: float | None) -> Campaign:
    """Return the campaign for a competitor (its index), with scores from :func:`scores`.

    ``focus`` is the share of the accounts' votes on it; by default it is as large as that of everybody's.
    """
    natural = float(board.shown[competitor] / board.n_votes)
    only_it = natural >= 1 - CLOSE  # nothing else is ever shown
    return Campaign(board, competitor, natural if focus is None or only_it else focus, score[competitor])


def scores(fit: Fit, board: Board, push: float) -> Floats:
    """Return the score (n, n) that accounts give each competitor against every other if they push it by z logits."""
    n = len(board.strength)
    if math.isinf(push):
        return np.ones((n, n))
    target = fit.view.of(fit.target, fit.point.slices)
    strength = fit.point.strength + fit.view.slices @ fit.point.slices
    reach = float(np.ptp(strength))
    leads = np.linspace(-reach, reach, LEADS)
    share, found = shares(target, fit.cells.votes_by_annotator(), fit.view), np.zeros((2, LEADS))
    for own, weight in around(target, fit.point.own, fit.view, slice(None)):
        everybody = leads[:, None] + np.zeros(len(share))
        z = target.predictor.coordinates([everybody] + [0.0] * target.predictor.dimensions, fit.point.common, own.T)
        for row, by in enumerate((0.0, push)):
            z[ETA] += by
            found[row] += weight * (target.likelihood.expected_score(z)[0] @ share)
    before, after = logit(np.clip(found, CLOSE, 1 - CLOSE))
    moved = np.interp(strength[:, None] - strength, leads, after - before)
    return np.asarray(expit(board.strength[:, None] - board.strength + moved))


@held
def price(
    fit: Fit,
    competitors: Sequence[str] | None = None,
    *,
    place: int | None = None,
    push: float = PUSH,
    account_votes: float | None = None,
    focus: float | None = None,
    elo: EloScale | None = None,
) -> DataFrame:
    """Count the votes, and the accounts, that would move competitors up by one rank, or to a given place.

    In a plain campaign accounts vote for the competitor whenever it is shown. In a soft one they vote as others do, but
    with a push towards it. Votes on others are honest, and opponents come in proportion to how often they are shown.

    Parameters
    ----------
    fit : Fit
        A fitted model, by any method. Votes count as they do in it.
    competitors : sequence of str, optional
        Whom to move up; by default all that rank below the place.
    place : int, optional
        The rank to reach, from 1; by default the next one up.
    push : float
        Of the soft campaign, in logits: added to the log odds of every vote in which the competitor takes part.
    account_votes : float, optional
        Votes that each account casts, on all competitors; by default as many as annotators cast on average.
    focus : float, optional
        Share of an account's votes that are on the competitor, 1 for accounts that vote on nothing else; by default as
        often as it is shown to everybody.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.

    Returns
    -------
    pandas.DataFrame
        ``rank, competitor, elo, opponent, elo_gap``, in the order of ranks: the opponent holds the place now, and
        ``elo_gap`` Elo points are between the two. Then, for the plain campaign and likewise with ``soft_`` for the
        soft one, ``plain_votes``, all votes that the accounts cast; ``plain_share``, their number as a share of the
        votes cast so far; and, where annotators are known or ``account_votes`` is given, ``plain_accounts``. Infinity
        where no such campaign reaches the place, or none of up to ten times the votes cast so far.

    Raises
    ------
    ModelError
        If a name is not a competitor or ranks at or above the place, there is no such place, the push or the number of
        votes is not positive, or the focus is not a share.
    NotIdentifiedError
        If there is no finite estimate, or some competitors were never compared, not even through others, and no prior
        relates them.

    References
    ----------
    Min, R. et al. (2025), "Improving Your Model Ranking on Chatbot Arena by Vote Rigging", ICML, arXiv:2501.17858.

    Examples
    --------
    >>> table = price(fit(example_arena().votes), place=1)
    >>> table.loc[0, ["competitor", "opponent"]].tolist()
    ['model-20', 'model-18']
    """
    columns = price_columns(
        fit, competitors, place=place, push=push, account_votes=account_votes, focus=focus, elo=elo or EloScale()
    )
    return table_of(columns, place=place, push=push, account_votes=votes_of_an_account(fit, account_votes), focus=focus)


def price_columns(
    fit: Fit,
    competitors: Sequence[str] | None = None,
    *,
    place: int | None = None,
    push: float = PUSH,
    account_votes: float | None = None,
    focus: float | None = None,
    elo: EloScale,
) -> Columns:
    """Columns of :func:`price` (the command line prints them without importing pandas)."""
    _require_options(place, push, account_votes, focus, fit.cells.n_competitors)
    _require_finite(fit)
    names = np.array(fit.cells.competitors, dtype=object)
    with one_thread():
        board = Board.of(fit)
        order = np.argsort(-board.strength, kind="stable")
        ranks = _ranks_to_move(fit, order, competitors, place)
        places = ranks - 1 if place is None else np.full(len(ranks), place)
        moved, held_by = order[ranks - 1], order[places - 1]
        score = elo.points(board.strength, fit.cells.competitors)
        columns: Columns = {
            "rank": ranks,
            "competitor": names[moved],
            "elo": score[moved],
            "opponent": names[held_by],
            "elo_gap": score[held_by] - score[moved],
        }
        each = votes_of_an_account(fit, account_votes)
        for kind, by in (("plain", math.inf), ("soft", push)):
            votes = _prices(board, moved, places, scores(fit, board, by), focus)
            columns[f"{kind}_votes"] = _whole(votes)
            columns[f"{kind}_share"] = _whole(votes) / board.n_votes
            if each is not None:
                columns[f"{kind}_accounts"] = _whole(votes / each)
    return columns


def votes_of_an_account(fit: Fit, account_votes: float | None) -> float | None:
    """Return how many votes each account casts; None where that is not given and annotators are not known."""
    if account_votes is not None or not fit.cells.n_annotators:
        return account_votes
    return fit.cells.n_votes / fit.cells.n_annotators


def _prices(board: Board, moved: Ints, places: Ints, score: Floats, focus: float | None) -> Floats:
    votes = np.empty(len(moved))
    for row, (competitor, place) in enumerate(zip(moved.tolist(), places.tolist(), strict=True)):
        report(f"competitor {row + 1} of {len(moved)}", row, len(moved))
        votes[row] = campaign(board, competitor, score, focus).price(place)
    report("")
    return votes


def _whole(number: Floats) -> Floats:
    """Return the next whole number, at least one."""
    return np.asarray(np.maximum(np.ceil(number), 1.0))


def _ranks_to_move(fit: Fit, order: Ints, competitors: Sequence[str] | None, place: int | None) -> Ints:
    """Return the ranks, from 1, of the competitors that are moved."""
    names, best = fit.cells.competitors, 1 if place is None else place
    if competitors is None:
        return np.arange(best + 1, len(names) + 1)
    if isinstance(competitors, str):
        raise ModelError(f"competitors must be a sequence of names, not one: competitors=[{competitors!r}].")
    found = []
    for name in dict.fromkeys(competitors):
        if name not in names:
            raise ModelError(f"{name!r} is not a competitor.{did_you_mean(name, names)}")
        found.append(1 + int(np.flatnonzero(order == names.index(name))[0]))
        if found[-1] <= best:
            raise ModelError(f"{name!r} is number {found[-1]} already. Name competitors that rank below place {best}.")
    return np.array(sorted(found), dtype=np.int64)


def _require_options(
    place: int | None, push: float, account_votes: float | None, focus: float | None, n_competitors: int
) -> None:
    if place is not None and not (isinstance(place, int | np.integer) and 1 <= place < n_competitors):
        raise ModelError(f"place must be a rank from 1 to {n_competitors - 1}, not {place!r}.")
    if not 0 < push < math.inf:
        raise ModelError(f"push must be a positive number of logits, not {push!r}.")
    if account_votes is not None and not 0 < account_votes < math.inf:
        raise ModelError(f"account_votes must be a positive number of votes, not {account_votes!r}.")
    if focus is not None and not 0 < focus <= 1:
        raise ModelError(f"focus must be a share of an account's votes, above 0 and at most 1, not {focus!r}.")


def _require_finite(fit: Fit) -> None:
    if fit.mode.at_infinity:
        raise NotIdentifiedError(f"There is no finite estimate that votes could move. {fit.mode.at_infinity[0]}")
    if np.isinf(fit.target.strength_sd) and fit.cells.components.any():
        raise NotIdentifiedError(
            "Some competitors were never compared, not even through others, so that nobody is ahead of them. Rate them "
            "separately, or use prior='default'."
        )
