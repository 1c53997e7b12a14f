"""Whether scores depend on the prior: those under a weak prior beside them.

Where competitors meet only their neighbours, as in a chain or a league, a prior that pulls
strengths together shortens the whole ranking, and its intervals do not show it.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.boards.elo import ELO
from bayes_arena.boards.standing import have_rank, ranked_board
from bayes_arena.boards.uncertainty import NORMAL
from bayes_arena.errors import FitError
from bayes_arena.fits.fit import find_posterior
from bayes_arena.fits.result import Fit, fitted_votes
from bayes_arena.inference.scale import board_strengths
from bayes_arena.model.priors import PRIORS
from bayes_arena.said import Note, Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import MIN_VOTES

MOST_COMPETITORS = 2_000  # above, a second fit takes too long
LARGEST_MOVE = 2.0  # half-widths of the interval, above which it is said


def prior_sensitivity(fit: Fit, *, min_votes: float = MIN_VOTES) -> Note | None:
    """Return a warning if scores depend on the prior, else None.

    Models without theta, slices or style are also fitted with ``prior="weak"``.

    Parameters
    ----------
    fit : Fit
    min_votes : float
        Competitors with fewer votes may move as they like.
    """
    if not is_judged(fit):
        return None
    votes, prior = fitted_votes(fit), PRIORS["weak"]
    try:
        weak = find_posterior(votes, fit.model, prior, "gaussian")
    except FitError:  # votes of one kind: their scores are the prior's, and wide
        return None
    cast = votes.votes_by_competitor
    board = ranked_board(fit, min_votes)
    with threads_for(votes.n_competitors):
        (under_weak,) = board_strengths(weak.design, weak.mean[None])
    under_weak -= under_weak[have_rank(cast, min_votes)].mean()
    move = under_weak - board.value
    ratio = np.abs(move) / (NORMAL * board.sd)
    ratio[cast < min_votes] = 0.0
    moved = np.argsort(-ratio)[: int((ratio > LARGEST_MOVE).sum())]
    if not len(moved):
        return None
    first, *others = [repr(votes.competitors[c]) for c in moved]
    largest = ELO.points_per_logit * abs(move[moved[0]])
    moves = f" {first} would move by {largest:.0f} Elo"
    also = f", and {len(others)} more by more than their intervals allow"
    moves += f"{also if others else ''}."
    text = ("Scores depend on the prior: under ", Use(prior="weak"), moves)
    return Note("prior", text)


def doubts(fit: Fit, min_votes: float = MIN_VOTES) -> tuple[Note, ...]:
    """Return what makes a board doubtful: a fit's warnings, and scores of the prior."""
    note = prior_sensitivity(fit, min_votes=min_votes)
    return fit.warnings if note is None else (*fit.warnings, note)


def is_judged(fit: Fit) -> bool:
    """Whether the second fit is asked for."""
    model = fit.model
    return (
        len(fit.strength) <= MOST_COMPETITORS
        and fit.method == "gaussian"
        and fit.prior == PRIORS["default"]
        and model.discrimination == "none"
        and not model.needs_annotators
        and not model.strength_by
        and not model.style
    )
