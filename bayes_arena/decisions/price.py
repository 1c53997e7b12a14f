"""The price of a place: how many votes, by how many accounts, would move a competitor up.

No method can tell accounts that vote honestly but for a soft liking from honest ones. What can be said about them is
what a place costs. The price takes every account's votes to count; where some do not (:mod:`bayes_arena.promotion`),
the place costs more. It is that of a campaign with expected outcomes: chance makes some dearer, and some cheaper.
:mod:`bayes_arena.decisions.campaigns` says how it is computed, and ``benchmarks/price.py`` compares it with what
campaigns took.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arrays import Columns, Floats, Ints, table_of
from bayes_arena.decisions.campaigns import Board, campaign, scores
from bayes_arena.errors import ModelError, NotIdentifiedError, did_you_mean
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.progress import report
from bayes_arena.ratings.elo import EloScale
from bayes_arena.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

PUSH = 1.0
"""Of a soft campaign, in logits."""


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
) -> pd.DataFrame:
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
    """Return the votes that move each competitor to its place."""
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
