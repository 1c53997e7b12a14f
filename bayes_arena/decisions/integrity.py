"""Whose votes each competitor's place rests on, and where votes are not those of one crowd.

:mod:`bayes_arena.promotion` says how such votes are found, and what they count. What it does not see: votes pushed by
less than tastes differ and spread over many annotators who vote on the competitor as often as others do; several
competitors promoted at once by the same many, and a camp with a ranking and a favourite of its own, which are
directions in which annotators disagree. These count as votes do. What they cost is told by
:func:`~bayes_arena.price`.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.decisions.price import price_columns
from bayes_arena.errors import ModelError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.promotion.promotions import Promotions
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.leaderboard import ranks
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import whole_counts
from bayes_arena.votes.records import records


@held
def integrity(fit: Fit, *, elo: EloScale | None = None) -> DataFrame:
    """Show whose votes each competitor's place rests on, those first where most votes do not count.

    Parameters
    ----------
    fit : Fit
        A fit that looked for votes that are not those of one crowd: the default where annotators are known, or
        ``robust=True``.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.

    Returns
    -------
    pandas.DataFrame
        ``competitor``; ``rank`` and ``elo``, as on the leaderboard; ``rank_alike`` and ``elo_alike``, where all votes
        count alike; ``contested``, another score that is nearly as likely (NaN where there is none); ``votes``, as
        cast, and how many of them are ``discounted``; ``accounts`` that cast them, ``largest_account`` and
        ``largest_share``, its share of them; ``named``, how many annotators promote or demote it on strict evidence;
        ``gain`` in nats and ``difference``, how far the votes on it are from those of one crowd (more than 6, or than 3
        in size, is too far; a gain below 1 may be an upper bound); ``plain_votes`` and ``soft_votes``, how many more
        would move it up one rank, in campaigns that nobody discounts (:func:`~bayes_arena.price`; NaN for the first).

    Raises
    ------
    ModelError
        If the fit did not look for such votes, or the anchor is not a competitor.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> table = ba.integrity(ba.fit(ba.example_arena().votes))
    >>> int(table["discounted"].sum())
    0
    """
    return table_of(integrity_columns(fit, elo=elo), **fit.about)


def integrity_columns(fit: Fit, *, elo: EloScale | None = None) -> Columns:
    """Columns of :func:`integrity` (the command line prints them without importing pandas)."""
    found, elo = require_promotions(fit), elo or EloScale()
    names, board = fit.cells.competitors, fit.board
    alike = board if found.cast is None else found.cast.board
    score = elo.points(board, names)
    second = np.where(found.apart == 0, np.nan, score + elo.points_per_logit * _slope(fit) * found.apart)
    votes, counting = (np.sum(records(cells), axis=0) for cells in (fit.cast, fit.cells))
    accounts, largest, share = _carried(fit.cast)
    who = found.promoters
    columns: Columns = {
        "competitor": np.array(names, dtype=object),
        "rank": ranks(board),
        "rank_alike": ranks(alike),
        "elo": score,
        "elo_alike": elo.points(alike, names),
        "contested": second,
        "votes": whole_counts(votes),
        "discounted": votes - counting,
        "accounts": accounts,
        "largest_account": np.array([fit.cells.annotators[k] for k in largest], dtype=object),
        "largest_share": share,
        "named": np.bincount(who.competitor[who.named], minlength=len(names)),
        "gain": np.maximum(found.alike, found.weighted),
        "difference": found.difference,
        **_prices(fit, elo),
    }
    order = np.lexsort((-columns["gain"], -columns["discounted"].round(6)))
    return {name: column[order] for name, column in columns.items()}


@held
def promoters(fit: Fit) -> DataFrame:
    """List who voted on competitors on which the votes are not those of one crowd, the clearest evidence first.

    Parameters
    ----------
    fit : Fit
        As for :func:`integrity`.

    Returns
    -------
    pandas.DataFrame
        ``annotator, competitor``; ``promotes``, or demotes; ``log_bayes``, the log Bayes factor of that in nats, and
        its ``probability``; ``votes`` on the competitor, ``meant``, those for it (against it), and how many are
        ``expected``; ``named``, whether the evidence is strict enough to name the annotator in public. Why they vote so
        the votes do not say.

    Raises
    ------
    ModelError
        If the fit did not look for such votes.
    """
    return table_of(promoter_columns(fit))


def promoter_columns(fit: Fit) -> Columns:
    """Columns of :func:`promoters`."""
    who, cells = require_promotions(fit).promoters, fit.cells
    order = np.argsort(-who.log_bayes, kind="stable")
    columns: Columns = {
        "annotator": np.array(cells.annotators, dtype=object)[who.annotator],
        "competitor": np.array(cells.competitors, dtype=object)[who.competitor],
        **{name: getattr(who, name) for name in ("promotes", "log_bayes", "probability")},
        **{name: whole_counts(getattr(who, name)) for name in ("votes", "meant")},
        "expected": who.expected,
        "named": who.named,
    }
    return {name: column[order] for name, column in columns.items()}


def require_promotions(fit: Fit) -> Promotions:
    """Return what was found of votes that are not those of one crowd; refuse a fit that did not look."""
    if fit.promotions is None:
        raise ModelError(
            "This fit counts all votes alike. Fit again with robust=True (--robust on); the votes must name their "
            "annotators (annotator=..., --annotator)."
        )
    return fit.promotions


def open_gates(fit: Fit) -> list[str]:
    """Return the names of competitors on which the votes are not those of one crowd."""
    found = fit.promotions
    return [] if found is None else [fit.cells.competitors[c] for c in found.is_open.nonzero()[0].tolist()]


def _prices(fit: Fit, elo: EloScale) -> Columns:
    """Return how many votes would move each competitor up one rank, in a plain campaign and in a soft one."""
    found = price_columns(fit, elo=elo)
    place = {name: row for row, name in enumerate(fit.cells.competitors)}
    moved = [place[name] for name in found["competitor"]]
    columns: Columns = {}
    for name in ("plain_votes", "soft_votes"):
        columns[name] = np.full(len(place), np.nan)
        columns[name][moved] = found[name]
    return columns


def _slope(fit: Fit) -> float:
    return float(np.polyfit(fit.strength, fit.board, 1)[0]) if np.ptp(fit.strength) > 0 else 1.0


def _carried(cells: Cells) -> tuple[Ints, Ints, Floats]:
    """Return accounts, largest account and its share of the votes on every competitor, each (n_competitors,)."""
    size, n = cells.n_annotators, cells.n_competitors
    cast = np.tile(cells.counts.sum(axis=1), 2)
    key, place = np.unique(
        np.concatenate([cells.a * size + cells.annotator, cells.b * size + cells.annotator]), return_inverse=True
    )
    met = sum_by(place, cast, len(key))
    competitor, annotator = np.divmod(key, size)
    votes = sum_by(competitor, met, n)
    largest, share = np.zeros(n, dtype=np.int64), np.zeros(n)
    order = np.argsort(met, kind="stable")  # the largest is written last
    largest[competitor[order]] = annotator[order]
    share[competitor[order]] = met[order] / votes[competitor[order]]
    return np.bincount(competitor, minlength=n), largest, share
