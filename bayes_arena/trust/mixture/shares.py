"""Shares of the kinds and of the aims, which make the votes likeliest, and the posterior of everybody's kind.

Before the votes are seen the shares are ``USUAL``, worth ``PSEUDO`` annotators. Whom somebody favours or hates is as
likely one competitor as another, unless so many do that a share of its own makes the votes ``OPENS`` nats likelier, as
where somebody pays for votes: the competitor is then an *aim*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from bayes_arena.arrays import Floats
from bayes_arena.trust.mixture.suspicions import Suspicions

REGULAR, GUESSER, ADVERSARY, FAVOUR = range(4)
USUAL = np.array([0.935, 0.03, 0.03, 0.005])
PSEUDO = 2.0
LARGEST = 0.4
"""Share of guessers and adversaries together: beyond, nobody could be told from the rest."""
OPENS, LIKELY = 16.0, 5.0
"""Honest arenas reach 6, and 15 where annotators' own tastes have a standard deviation of .8 logits."""
OWN_SHARES = np.array([0.005, 0.01, 0.02, 0.05, 0.1, 0.2])
"""Shares that an aim may have."""
BELOW = 0.5
"""Bayes factor that stands for those who do not stand out."""
NARROWEST = 0.05
EM_STEPS, STANDS_STILL = 100, 1e-4


@dataclass(frozen=True, eq=False)
class Mixture:
    """The kinds' shares and what follows from them.

    Attributes
    ----------
    posterior : ndarray, shape (4, M)
        Probabilities of the kinds.
    weighed : ndarray, shape (S,)
        Log evidence of each suspicion, with its share.
    shares : ndarray, shape (4,)
    evidence : float
        Log-likelihood of the votes of the active, each competitor with a share as large as is expected.
    """

    posterior: Floats
    weighed: Floats
    shares: Floats
    evidence: float


def mix(
    value: Floats, suspicions: Suspicions, aims: dict[int, float], shares: Floats, active: NDArray[np.bool_], n: int
) -> Mixture:
    """Find the shares that make the votes likeliest, given those of the aims."""
    own = np.full(2 * n, USUAL[FAVOUR] / (2 * n))
    own[list(aims)] = list(aims.values())
    weighed = suspicions.value + np.log(own[suspicions.key])
    favour = _by_annotator(suspicions, weighed, value.shape[1])
    for _ in range(EM_STEPS):
        scaled = shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), 1 - LARGEST)
        together = np.vstack([value + np.log(scaled)[:, None], favour])
        posterior = np.exp(together - logsumexp(together, axis=0))
        before, shares = shares, mended(posterior[:, active].sum(axis=1))
        if np.abs(shares - before).max() < STANDS_STILL:
            break
    expected = np.exp(weighed - favour[suspicions.annotator]) * posterior[FAVOUR, suspicions.annotator]
    expected *= active[suspicions.annotator]
    own = USUAL[FAVOUR] / (2 * n) + np.bincount(suspicions.key, expected, 2 * n) / active.sum()
    found = _by_annotator(suspicions, suspicions.evidence.value + np.log(own[suspicions.key]), value.shape[1])
    left = np.log(shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), NARROWEST))
    total = logsumexp(np.vstack([value + left[:, None], found]), axis=0)
    return Mixture(posterior, weighed, shares, float(total[active].sum()))


def _by_annotator(suspicions: Suspicions, weighed: Floats, size: int) -> Floats:
    """Log of the sum of the evidence of everybody's suspicions, shape (size,)."""
    favour = np.full(size, -np.inf)
    who, first = np.unique(suspicions.annotator, return_index=True)
    if len(who):
        favour[who] = np.logaddexp.reduceat(weighed, first)
    return favour


def find_aims(
    value: Floats, shares: Floats, suspicions: Suspicions, unsure: NDArray[np.bool_], met: Floats
) -> dict[int, tuple[float, float]]:
    """Return likely aims: the own share that makes the votes likeliest, and by how many nats.

    ``met`` counts who voted on each competitor. Those of whom one is sure anyway say nothing of the others.
    """
    rest = logsumexp(value + np.log(shares[:FAVOUR])[:, None], axis=0)
    log_factor = suspicions.value - rest[suspicions.annotator]
    seen = unsure[suspicions.annotator]
    key = suspicions.key[seen]
    gains = np.logaddexp(np.log1p(-OWN_SHARES)[:, None], np.log(OWN_SHARES)[:, None] + log_factor[seen])
    size = 2 * len(met)
    gain = np.array([np.bincount(key, one, size) for one in gains], dtype=np.float64)
    unseen = np.maximum(np.repeat(met, 2) - np.bincount(key, minlength=size), 0.0)
    gain += np.log1p(OWN_SHARES * (BELOW - 1))[:, None] * unseen
    best, most = gain.argmax(axis=0), gain.max(axis=0)
    return {int(one): (float(OWN_SHARES[best[one]]), float(most[one])) for one in np.flatnonzero(most > LIKELY)}


def kind_posterior(value: Floats, shares: Floats) -> Floats:
    """Probabilities of kinds, shape (kinds, M)."""
    weighed = value + np.log(shares)[:, None]
    return np.asarray(np.exp(weighed - logsumexp(weighed, axis=0)))


def mended(expected: Floats) -> Floats:
    """Shares for expected numbers of annotators of each kind."""
    shares = (expected + PSEUDO * USUAL) / (expected.sum() + PSEUDO)
    shares[FAVOUR] = USUAL[FAVOUR]
    others = shares[GUESSER] + shares[ADVERSARY]
    shares[[GUESSER, ADVERSARY]] *= min(1.0, LARGEST / others)
    shares[REGULAR] = 1 - shares[GUESSER:].sum()
    return np.asarray(shares)
