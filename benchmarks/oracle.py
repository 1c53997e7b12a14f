"""What nobody can beat: guessers and adversaries found by who knows all but who is what; and who is truly anomalous."""

from __future__ import annotations

import numpy as np
from crowds import Crowd, HonestArena
from scipy.special import logsumexp
from scipy.stats import norm

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.reliability.anomaly import ONE_SIDED, REVERSED, TOLERANCE
from bayes_arena.reliability.flagging import discoveries
from bayes_arena.votes.outcomes import TIE


def found_by_oracle(arena: HonestArena, crowd: Crowd, *, fdr: float = 0.05) -> dict[str, set[str]]:
    """Name the guessers and the adversaries that nobody could flag better, knowing all but who is what and theta."""
    theta = np.linspace(0.0, 1 + 4 * crowd.discrimination_sd, 81)
    density = norm.pdf(theta, 1, crowd.discrimination_sd) + norm.pdf(-theta, 1, crowd.discrimination_sd)
    cells, habits = arena.cells, arena.habits
    lead, k = arena.strength[cells.a] - arena.strength[cells.b], cells.annotator
    outcomes = np.arange(4) < TIE + 1

    def loglik(value: float) -> Floats:
        z = np.array([value * lead + habits.position[k], habits.log_tie_propensity[k]])
        log_p = davidson.LIKELIHOOD.log_probabilities(z)[outcomes]
        return np.bincount(k, (cells.counts[:, outcomes].T * log_p).sum(axis=0), cells.n_annotators)

    with np.errstate(divide="ignore"):
        shares = np.log([crowd.guessers, crowd.adversaries, 1 - crowd.guessers - crowd.adversaries])
    weight = np.log(density / density.sum())[:, None]
    kinds = np.array(
        [
            loglik(0.0),
            logsumexp(weight + [loglik(-value) for value in theta], axis=0),
            logsumexp(weight + [loglik(value) for value in theta], axis=0),
        ]
    )
    weighed = kinds + shares[:, None]
    probability = np.exp(weighed - logsumexp(weighed, axis=0))
    return {
        name: {cells.annotators[k] for k in discoveries(probability[place], fdr)}
        for place, name in enumerate(("guessers", "adversaries"))
    }


def anomalous(arena: HonestArena) -> set[str]:
    """Name the annotators whose true votes say little, are reversed, or are the side's."""
    net, consistency = arena.net_agreement(), arena.consistency()
    pull = davidson.net_score(np.array([arena.habits.position, arena.habits.log_tie_propensity]))
    bad = (consistency < TOLERANCE * np.median(consistency)) | (net < -REVERSED * consistency)
    bad |= np.abs(pull) > np.maximum(consistency, ONE_SIDED)
    return {arena.cells.annotators[k] for k in np.flatnonzero(bad)}
