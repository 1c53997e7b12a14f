"""What follows from evidence and shares: the posterior of everybody's kind.

Whom somebody favours or hates is as likely one competitor as another, unless so many do that a share of its own makes
the votes much likelier, as where somebody pays for votes: the competitor is then an *aim*
(:mod:`bayes_arena.trust.mixture.aims`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from bayes_arena.arrays import Floats
from bayes_arena.trust.mixture.shares import FAVOUR, LARGEST, USUAL, mended
from bayes_arena.trust.mixture.suspicions import Suspicions

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
    together = np.vstack([value, favour])
    likelihood = np.exp(together - together.max(axis=0))
    for _ in range(EM_STEPS):
        scaled = shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), 1 - LARGEST)
        posterior = likelihood * np.append(scaled, 1.0)[:, None]
        posterior /= posterior.sum(axis=0)
        before, shares = shares, mended(posterior @ active)
        if np.abs(shares - before).max() < STANDS_STILL:
            break
    expected = np.exp(weighed - favour[suspicions.annotator]) * posterior[FAVOUR, suspicions.annotator]
    expected *= active[suspicions.annotator]
    own = USUAL[FAVOUR] / (2 * n) + np.bincount(suspicions.key, expected, 2 * n) / active.sum()
    found = _by_annotator(suspicions, suspicions.evidence.value + np.log(own[suspicions.key]), value.shape[1])
    left = np.log(shares[:FAVOUR] / shares[:FAVOUR].sum() * max(1 - own.sum(), NARROWEST))
    total = scipy.special.logsumexp(np.vstack([value + left[:, None], found]), axis=0)
    return Mixture(posterior, weighed, shares, float(total[active].sum()))


def _by_annotator(suspicions: Suspicions, weighed: Floats, size: int) -> Floats:
    """Log of the sum of the evidence of everybody's suspicions, shape (size,)."""
    favour = np.full(size, -np.inf)
    who, first = np.unique(suspicions.annotator, return_index=True)
    if len(who):
        favour[who] = np.logaddexp.reduceat(weighed, first)
    return favour
