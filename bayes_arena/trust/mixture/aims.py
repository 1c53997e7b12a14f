"""Aims: competitors whom so many favour, or hate, that a share of their own makes the votes likelier.

With a share s of those who voted on competitor c, the votes are likelier by the factor

    prod over those who voted on c of (1 - s + s B_k),        B_k = P(votes | favours c) / P(votes | does not).

Where nobody favours c, the mean of B_k is 1: the few whose votes on c surprise have a large one, and it is the others,
each a little below 1, who speak against it. So B_k of the others must not be guessed: in a large arena honest votes
against the odds are many, and its best and its worst competitor would be aims. Of those who do not stand out B_k is
found at the numbers that they have as somebody regular.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.trust.classes import FAVOUR, POSITION, THETA, TIE
from bayes_arena.trust.mixture.crowd import Crowd
from bayes_arena.trust.mixture.shares import FAVOUR as FAVOURS
from bayes_arena.trust.mixture.suspicions import Suspicions
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.votes.outcomes import LOSS, WIN

OPENS, LIKELY = 12.0, 5.0
"""Nats by which the votes are likelier where an aim gets a share of its own, and where it may come to that. Honest
arenas reach 4, and 10 where annotators' own tastes have a standard deviation of .8 logits."""
OWN_SHARES = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
"""Shares that an aim may have."""
BELOW = 0.5
"""B_k of those who do not stand out, at a first glance that says of which competitors it is worth finding."""
LEVELS = (np.arange(8) + 0.5) / 8
PULLS = FAVOUR * np.sqrt(scipy.special.chdtri(3, 1 - LEVELS))
"""Quantiles of the density of w."""


def find_aims(
    ballots: Ballots, crowd: Crowd, shares: Floats, suspicions: Suspicions, unsure: NDArray[np.bool_]
) -> dict[int, tuple[float, float]]:
    """Return likely aims: the own share that makes the votes likeliest, and by how many nats.

    Parameters
    ----------
    ballots : Ballots
        Votes.
    crowd : Crowd
        Annotators, as if they favoured nobody.
    shares : ndarray, shape (4,)
        Of the kinds.
    suspicions : Suspicions
        Of those who stand out.
    unsure : ndarray of bool, shape (n_annotators,)
        Who is asked: those of whom one is sure anyway say nothing of the others.
    """
    rest = scipy.special.logsumexp(crowd.value + np.log(shares[:FAVOURS])[:, None], axis=0)
    asked = unsure[suspicions.annotator]
    key, size = suspicions.key[asked], 2 * ballots.n_competitors
    each = _gains((suspicions.value - rest[suspicions.annotator])[asked])
    gain = np.array([np.bincount(key, one, size) for one in each], dtype=np.float64)
    meetings = ballots.meetings
    met = np.bincount(meetings.competitor, unsure[meetings.annotator], ballots.n_competitors)
    others = np.repeat(met, 2) - np.bincount(key, minlength=size)
    found = {}
    for one in np.flatnonzero((gain + _gains(np.log(BELOW))[:, None] * others).max(axis=0) > LIKELY):
        silent = unsure.copy()
        silent[suspicions.annotator[suspicions.key == one]] = False
        quiet = _log_factors(ballots, crowd, suspicions.taste, int(one), silent, rest)
        whole = gain[:, one] + _gains(quiet).sum(axis=1)
        if whole.max() > LIKELY:
            found[int(one)] = float(OWN_SHARES[whole.argmax()]), float(whole.max())
    return found


def _gains(log_factor: Floats) -> Floats:
    """Log of 1 - s + s B for every share s, shape (shares, ...)."""
    s = OWN_SHARES.reshape(-1, *[1] * np.ndim(log_factor))
    return np.asarray(np.logaddexp(np.log1p(-s), np.log(s) + log_factor))


def _log_factors(
    ballots: Ballots, crowd: Crowd, taste: float, key: int, who: NDArray[np.bool_], rest: Floats
) -> Floats:
    """Log of B of those who voted on a competitor, of some annotators."""
    competitor, sign = key // 2, -1.0 if key % 2 else 1.0
    rows = np.flatnonzero(ballots.on(competitor) & who[ballots.k])
    voters, place = np.unique(ballots.k[rows], return_inverse=True)
    own = crowd.regular.numbers[ballots.k[rows]].T
    eta = own[THETA] * crowd.rows.lead[rows] + own[POSITION]
    t = crowd.habits.population.log_tie_propensity + own[TIE]
    side = np.where(ballots.i[rows] == competitor, sign, -sign)
    votes, net = ballots.votes[rows], ballots.counts[WIN, rows] - ballots.counts[LOSS, rows]
    now = _log_total(eta, t)

    def mean_ratio(pulls: Floats) -> Floats:
        """Log of the mean ratio of the likelihoods with and without a pull."""
        ratios = []
        for w in pulls:
            ratio = 0.5 * net * w * side - votes * (_log_total(eta + w * side, t) - now)
            ratios.append(np.bincount(place, ratio, len(voters)))
        return np.asarray(scipy.special.logsumexp(ratios, axis=0) - np.log(len(pulls)))

    by_taste = mean_ratio(taste * scipy.special.ndtri(LEVELS)) if taste else 0.0
    return np.asarray(mean_ratio(PULLS) - by_taste + crowd.regular.value[voters] - rest[voters])


def _log_total(eta: Floats, t: Floats) -> Floats:
    """Log of exp(eta / 2) + exp(-eta / 2) + exp(t)."""
    far = np.abs(eta)
    return np.asarray(0.5 * far + np.log1p(np.exp(-far) + np.exp(t - 0.5 * far)))
