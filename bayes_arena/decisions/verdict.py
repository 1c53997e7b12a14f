"""The verdict: one sentence about which competitor is the best.

"A leads" if P(A is best) is at least .95. Otherwise "the best is one of A, B, C": the smallest set that contains the
best with probability .99, if it is small: at most three competitors or a fifth of all, and never all of them.
Otherwise there are not enough votes to say. No sentence claims that competitors are equally good, which votes cannot
show.

Sets have probability .99 so that the sentence is wrong less than one time in twenty in every kind of arena, not only on
average over arenas drawn from the prior: where three lead by about the same, the smallest .95 set misses the best one
time in ten (``benchmarks/decisions.py``).

Where annotators cannot be judged, because they form camps or too many act together, the verdict is conditional: it
takes all votes at face value. Even then P(best) is too high where camps differ much: with camps of sd .8 it is .88 on
average, and the leader is the best in .77 of the arenas (``benchmarks/results/calibration_default.md``).
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths

LEADS, ONE_OF = 0.95, 0.99
"""Minimum probability of a leader, and of a set that contains the best."""
FEW, SHARE = 3, 5
"""A set has at most three competitors, or one in five of all."""


@held
def verdict(fit: Fit) -> str:
    """Say in one sentence which competitor is the best, as far as the votes settle it.

    Parameters
    ----------
    fit : Fit
        A fitted model.

    Returns
    -------
    str
        That one competitor leads (it is the best with probability .95 or more), that the best is one of a few (.99), or
        that there are not enough votes to say. Where annotators cannot be judged, the reason comes first, and the rest
        takes the votes at face value.

    Raises
    ------
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    Examples
    --------
    >>> verdict(fit(example_arena().votes))
    'model-18 leads (P(best) 1.00).'
    """
    return sentence(fit, best_probabilities(decision_strengths(fit)))


def sentence(fit: Fit, p_best: Floats) -> str:
    """Say which competitor is the best, from the probability of each, shape (n,)."""
    named = likely_best(p_best)
    board = " on " + " of ".join(fit.about.values()) if fit.about else ""
    if not len(named):
        likeliest = fit.cells.competitors[p_best.argmax()]
        said = (
            f"Not enough votes to say which is the best{board}: the likeliest is {likeliest} "
            f"(P(best) {p_best.max():.2f})."
        )
    else:
        *others, last = (fit.cells.competitors[place] for place in named)
        said = f"{last} leads{board} (P(best) {p_best[named].sum():.2f})."
        if others:
            said = f"The best{board} is one of {', '.join(others)} and {last} (P {p_best[named].sum():.2f})."
    return said


def likely_best(p_best: Floats, one_of: float = ONE_OF) -> Ints:
    """Return the leader, else the smallest set of competitors that contains the best; empty if it is too large.

    Parameters
    ----------
    p_best : ndarray, shape (n,)
        Probability that each competitor is the best.
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


def about(votes: float) -> str:
    """Format an estimated number of votes to two significant digits."""
    return f"{float(f'{votes:.1e}'):,.0f}"
