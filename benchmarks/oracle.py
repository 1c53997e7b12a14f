"""What nobody can beat: riggers found by the likelihood ratio with everything known; and who is honest, but of no use.

Known are the target, the strategy, how many riggers there are, the true strengths and every account's own habits. The
posterior probability that account k rigs, with n_r riggers among n_h honest accounts, is

    P_k = 1 / (1 + (n_h / n_r) exp(-L_k)),        L_k = sum over its votes of ln q / p,

q and p the probabilities of the battle and the vote under the strategy and of an honest vote; flagged is the largest
set whose mean 1 - P_k is at most the false discovery rate.
"""

from __future__ import annotations

import numpy as np
from crowds import Crowd, HonestArena
from rigging import SLIPPED_IN, Rigged, Strategy, influence
from scipy.special import expit, logsumexp
from scipy.stats import norm

from bayes_arena.arrays import Floats
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.reliability.anomaly import ONE_SIDED, REVERSED, TOLERANCE
from bayes_arena.reliability.flagging import discoveries
from bayes_arena.votes.cells import single_votes
from bayes_arena.votes.outcomes import LOSS, TIE, WIN


def log_ratios(arena: HonestArena, rigged: Rigged, strategy: Strategy) -> Floats:
    """L_k of every account of the rigged votes, shape (n_annotators,)."""
    cells, honest_accounts = rigged.cells, arena.cells.n_annotators
    row, outcome = single_votes(cells)
    a, b, k = cells.a[row], cells.b[row], cells.annotator[row]
    theta, log_nu, position = (
        np.concatenate([getattr(arena.habits, name), getattr(rigged.habits, name)])
        for name in ("discrimination", "log_tie_propensity", "position")
    )
    leads = arena.strength[a] - arena.strength[b]
    known = k < honest_accounts  # names of riggers come last
    leads[known] += arena.taste[k[known], a[known]] - arena.taste[k[known], b[known]]
    log_p = davidson.LIKELIHOOD.log_probabilities(np.array([theta[k] * leads + position[k], log_nu[k]]))
    honest = log_p[outcome, np.arange(len(row))]

    aims = [cells.competitors.index(name) for name in rigged.targets]
    on_a, on_b = np.isin(a, aims), np.isin(b, aims)
    for_a, for_b = (LOSS, WIN) if strategy == "hate" else (WIN, LOSS)
    as_wanted = outcome == np.select([on_a & on_b, on_a], [TIE, for_a], for_b)
    on = on_a | on_b
    offered = np.isin(arena.cells.a, aims) | np.isin(arena.cells.b, aims)
    share = arena.cells.counts[offered].sum() / arena.cells.n_votes

    never = np.full(len(row), -np.inf)
    bent = np.where(as_wanted, 0.0, never)
    if strategy == "t-random":
        rigging = np.where(on, bent, -np.log(3))
    elif strategy == "t-tie":
        rigging = np.where(on, bent, np.where(outcome == TIE, 0.0, never))
    elif strategy in ("t-abstain", "hate", "two-targets"):
        rigging = np.where(on, bent - np.log(share), never)
    elif strategy == "t-normal":
        rigging = np.where(on, bent, honest)
    elif strategy == "t-normal50":
        rigging = np.where(on, bent + np.log((0.5 + 0.5 * share) / share), honest + np.log(0.5))
    elif strategy == "copycat":
        slipped = np.where(on & as_wanted, SLIPPED_IN / share, 0.0)
        rigging = np.log(slipped + (1 - SLIPPED_IN) * np.exp(honest))
    else:
        g = influence(arena.cells, aims[0])
        rigging = np.where(outcome == np.where(g[a] > g[b], WIN, LOSS), 0.0, never)
    return np.bincount(k, rigging - honest, minlength=cells.n_annotators)


def flagged_by_oracle(arena: HonestArena, rigged: Rigged, strategy: Strategy, *, fdr: float = 0.05) -> set[str]:
    """Name the accounts that nobody could flag better at a false discovery rate."""
    odds = len(rigged.riggers) / arena.cells.n_annotators
    probability = expit(log_ratios(arena, rigged, strategy) + np.log(odds))
    return {rigged.cells.annotators[k] for k in discoveries(probability, fdr)}


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
