"""Shares of the kinds: ``USUAL`` before the votes are seen, worth ``PSEUDO`` annotators."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats

REGULAR, GUESSER, ADVERSARY, FAVOUR = range(4)
USUAL = np.array([0.935, 0.03, 0.03, 0.005])
PSEUDO = 2.0
LARGEST = 0.4
"""Share of guessers and adversaries together: beyond, nobody could be told from the rest."""


def kind_posterior(value: Floats, shares: Floats) -> Floats:
    """Probabilities of kinds, shape (kinds, M)."""
    likelihood = np.exp(value - value.max(axis=0)) * shares[:, None]
    return np.asarray(likelihood / likelihood.sum(axis=0))


def mended(expected: Floats) -> Floats:
    """Shares for expected numbers of annotators of each kind."""
    shares = (expected + PSEUDO * USUAL) / (expected.sum() + PSEUDO)
    shares[FAVOUR] = USUAL[FAVOUR]
    others = shares[GUESSER] + shares[ADVERSARY]
    shares[[GUESSER, ADVERSARY]] *= min(1.0, LARGEST / others)
    shares[REGULAR] = 1 - shares[GUESSER:].sum()
    return np.asarray(shares)
