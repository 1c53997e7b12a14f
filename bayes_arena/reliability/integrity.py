"""Whose votes each competitor's rank rests on, and what would have to be true for it to be honest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Columns, Floats, Ints, sum_by
from bayes_arena.errors import ModelError
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.problem import Problem
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.leaderboard import ranks
from bayes_arena.reliability.anomaly import ANOMALOUS
from bayes_arena.reliability.favours import Aims
from bayes_arena.reliability.suspect_groups import suspect_groups
from bayes_arena.threads import one_thread
from bayes_arena.trust.judgement import SMALL, Judgement
from bayes_arena.trust.judging import FEWEST
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.search.drips import Established
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import whole_counts

if TYPE_CHECKING:
    import pandas as pd


@held
def integrity(fit: Fit, *, elo: EloScale | None = None) -> pd.DataFrame:
    """Show whose votes each competitor's rank rests on, the most doubtful first.

    Parameters
    ----------
    fit : Fit
        A guarded fit, which judged whose votes count: the default where annotators are known, or ``guard=True``.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.

    Returns
    -------
    pandas.DataFrame
        ``competitor``; ``rank_without`` and ``elo_without``, without the votes of suspects (accounts more likely than
        not to favour or hate one competitor, and small accounts that push one), ``rank_with`` and ``elo_with``, with
        all votes: one pair is that of the leaderboard (``attrs["leaderboard"]``: ``"without"``, or ``"with"`` where
        annotators cannot be judged), the other differs from it by what the suspects' votes change in the Bradley-Terry
        model; ``votes`` and ``accounts``, as cast, ``largest_account`` and ``largest_share``, its share of these votes;
        ``favoured_by`` and ``hated_by``, how many suspects favour or hate it, ``suspect_votes``, theirs on it and those
        of small accounts that do not count; ``favour_probability``, the largest probability that an account favours or
        hates it; ``small_accounts`` that voted on it, of up to ten votes each and not suspect, and ``small_votes``,
        theirs; ``small_z`` and ``small_shift``, how clearly, and by how many Elo points, they rate it above the other
        accounts (absent where these cast too few votes for a comparison); ``log10_chance``, an upper bound on the
        decimal logarithm of the probability of its suspects' votes by chance, and ``honest_only_if``, in words, what
        would have to be true (empty where no annotator is suspect). ``attrs["unjudged"]`` says why annotators cannot be
        judged, if so.

    Raises
    ------
    ModelError
        If the fit was not guarded, or the anchor is not a competitor.
    """
    import pandas as pd

    table = pd.DataFrame(integrity_columns(fit, elo=elo))
    trust = require_trust(fit)
    table.attrs.update(leaderboard="with" if trust.unjudged else "without", unjudged=unjudged(trust), **fit.about)
    return table


def integrity_columns(fit: Fit, *, elo: EloScale | None = None) -> Columns:
    """Columns of :func:`integrity` (the command line prints them without importing pandas)."""
    trust, elo = require_trust(fit), elo or EloScale()
    cells, aims = trust.cells, Aims.of(trust, ANOMALOUS)
    names, size = cells.competitors, cells.n_competitors
    on_board = board_strength(fit)
    others = cells.take(aims.competitor[cells.annotator] < 0) if trust.unjudged else trust.counted
    moved = _plain(cells) - _plain(others) if len(others.a) < len(cells.a) else np.zeros(size)
    with_all, without = (on_board, on_board - moved) if trust.unjudged else (on_board + moved, on_board)
    groups = suspect_groups(trust, aims, others)
    at = [[group for group in groups if group.competitor == c] for c in range(size)]
    votes, accounts, largest, share = _carried(cells)
    small = (cells.votes_by_annotator() <= SMALL) & (aims.competitor < 0)
    of_small = cells.take(small[cells.annotator])
    small_votes, small_accounts, _, _ = _carried(of_small)
    columns: Columns = {
        "competitor": np.array(names, dtype=object),
        "rank_without": ranks(without),
        "elo_without": elo.points(without, names),
        "rank_with": ranks(with_all),
        "elo_with": elo.points(with_all, names),
        "votes": whole_counts(votes),
        "accounts": accounts,
        "largest_account": np.array([cells.annotators[k] for k in largest], dtype=object),
        "largest_share": share,
        "favoured_by": np.bincount(aims.competitor[(aims.competitor >= 0) & ~aims.hates], minlength=size),
        "hated_by": np.bincount(aims.competitor[(aims.competitor >= 0) & aims.hates], minlength=size),
        "suspect_votes": whole_counts(np.array([math.fsum(group.votes for group in some) for some in at])),
        "favour_probability": _surest(trust, size),
        "small_accounts": small_accounts,
        "small_votes": whole_counts(small_votes),
    }
    established = Established.of(Ballots.of(cells), aims.competitor < 0)
    if established is not None:
        columns["small_z"], shift = _compared(established, of_small, [drip.competitor for drip in trust.drips])
        columns["small_shift"] = elo.points_per_logit * shift
    columns["log10_chance"] = np.array([math.fsum(group.log10_chance for group in some) for some in at])
    said = ["; and ".join(group.said(judged=not trust.unjudged) for group in some) for some in at]
    columns["honest_only_if"] = np.array(said, dtype=object)
    order = np.lexsort((-share, -columns["favour_probability"], columns["log10_chance"]))
    return {name: column[order] for name, column in columns.items()}


def require_trust(fit: Fit) -> Judgement:
    """Return the judgement of whose votes count.

    Raises
    ------
    ModelError
        If the fit was not guarded.
    """
    if fit.trust is None:
        raise ModelError(
            "This fit was not guarded: it counts all votes alike. Fit again with guard=True; the votes must name "
            "their annotators (annotator=..., --annotator)."
        )
    return fit.trust


def unjudged(trust: Judgement) -> str:
    """Say why annotators cannot be judged; empty if they can."""
    if trust.cells.n_annotators < FEWEST:
        return f"With fewer than {FEWEST} annotators, none can be told from the rest, so none is judged."
    return trust.unjudged


def board_strength(fit: Fit) -> Floats:
    """Return the strengths on the scale of the leaderboard, r*, in logits, shape (n_competitors,)."""
    if fit.samples is not None:
        return np.asarray(fit.samples.elo_strength.mean(axis=0))
    with one_thread():
        return project(fit.target, fit.point, fit.cells.votes_by_annotator(), fit.view).strength


def _compared(established: Established, small: Cells, pushed: list[int]) -> tuple[Floats, Floats]:
    """Compare small accounts with the others; competitors not pushed, without the votes on those pushed."""
    on = np.isin(small.a, pushed) | np.isin(small.b, pushed)
    apart = np.isin(np.arange(small.n_competitors), pushed)
    both = zip(*(established.compare(Ballots.of(some)) for some in (small, small.take(~on))), strict=True)
    z, shift = (np.where(apart, with_all, without) for with_all, without in both)
    return z, shift


def _carried(cells: Cells) -> tuple[Floats, Ints, Ints, Floats]:
    """Return votes, accounts, largest account and its share for every competitor, each of shape (n_competitors,)."""
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
    return votes, np.bincount(competitor, minlength=n), largest, share


def _surest(trust: Judgement, n: int) -> Floats:
    """Return the largest probability that an account favours or hates each competitor, shape (n_competitors,)."""
    aims = Aims.of(trust, 0.0)
    aimed = aims.competitor >= 0
    surest = np.zeros(n)
    np.maximum.at(surest, aims.competitor[aimed], trust.favour[aimed])
    return surest


def _plain(cells: Cells) -> Floats:
    """Return the strengths under the Bradley-Terry model."""
    return find_mode(Problem.of(cells, "bradley-terry", "default"), thorough=False).point.strength
