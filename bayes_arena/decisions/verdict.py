"""What may be said aloud: one sentence about who is the best.

"A leads" where P(A is best) is at least .95. Else "the best is one of A, B, C": the smallest set that has the best in
it with probability .99, if it is small: at most three competitors or a fifth of all, and never all of them. Else that
there are not enough votes to say. No sentence says that competitors are equally good: votes cannot show it.

A set takes .99 so that sentences are wrong less than one time in twenty in arenas of every kind, and not only on
average over arenas like the prior's: of three who lead nearly alike, the smallest set of .95 leaves out the best one
time in ten (``benchmarks/decisions.py``).

Where nobody is judged, since annotators form camps or too many pull together, nobody is said to lead: what follows is
what the votes say if all of them are taken at face value. Even then P(best) is too high where camps differ much: the
leader is the best in .77 of the arenas and .88 is said, with camps of sd .8
(``benchmarks/results/calibration_default.md``).
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths

LEADS, ONE_OF = 0.95, 0.99
"""Probability from which one competitor leads, and from which the best is one of a set."""
FACE_VALUE = "Taking all votes at face value:"
"""The condition of what is said where nobody is judged."""
FEW, SHARE = 3, 5
"""A set that is named has at most three competitors, or one in five of all."""


@held
def verdict(fit: Fit) -> str:
    """Say in one sentence who is the best, as far as the votes tell.

    Parameters
    ----------
    fit : Fit
        A fitted model.

    Returns
    -------
    str
        That one competitor leads (it is the best with a probability of at least .95), of which few the best is one
        (.99), or that there are not enough votes to say. Where nobody is judged, this comes first, with the reason, and
        the rest is said of votes that are taken at face value.

    Raises
    ------
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    Examples
    --------
    >>> verdict(fit(example_arena().votes))
    'model-18 leads (P(best) 1.00).'
    """
    return said_first(fit) + sentence(fit, best_probabilities(decision_strengths(fit)))


def sentence(fit: Fit, p_best: Floats) -> str:
    """Say who is the best, from the probability of each competitor to be (n,)."""
    named = likely_best(p_best)
    board = " on " + " of ".join(fit.about.values()) if fit.about else ""
    if not len(named):
        likeliest = fit.cells.competitors[p_best.argmax()]
        said = (
            f"Not enough votes to say which is the best{board}: likeliest is {likeliest} (P(best) {p_best.max():.2f})."
        )
    else:
        *others, last = (fit.cells.competitors[place] for place in named)
        said = f"{last} leads{board} (P(best) {p_best[named].sum():.2f})."
        if others:
            said = f"The best{board} is one of {', '.join(others)} and {last} (P {p_best[named].sum():.2f})."
    return said


def likely_best(p_best: Floats, one_of: float = ONE_OF) -> Ints:
    """Return the leader, else the smallest set of competitors that has the best in it; nobody if it is too large.

    Parameters
    ----------
    p_best : ndarray, shape (n,)
        Probability of each competitor to be the best.
    one_of : float
        Probability that the best is in the set.

    Returns
    -------
    ndarray of int
        Their indices, the most likely first.
    """
    n = len(p_best)
    order = np.argsort(-p_best, kind="stable")
    if p_best[order[0]] >= LEADS:
        return order[:1]
    size = 1 + int(np.searchsorted(np.cumsum(p_best[order]), one_of - 1e-12))
    return order[: size if size <= min(max(FEW, n // SHARE), n - 1) else 0]


def said_first(fit: Fit) -> str:
    """Return why nobody is judged, and on which condition the rest holds, with a space at its end; mostly empty."""
    return f"{fit.trust.unjudged} {FACE_VALUE} " if fit.trust is not None and fit.trust.unjudged else ""


def about(votes: float) -> str:
    """Write an estimated number of votes: two digits say what it is worth."""
    return f"{float(f'{votes:.1e}'):,.0f}"
