"""Pairs that no ranking explains: their score departs from the ranking's beyond chance.

A ranking says what a pair's votes should be by all other votes.  So the gap b_i - b_j is
taken back by the Newton step that these m votes made it go: with e the mean of their scores
expected at the fit, v that of their variances and S the sum of their residuals, m votes have
the gradient S e (1 - e) / v and the information m (e (1 - e))^2 / v in the gap.  Scores are
bounded by Hoeffding's inequality (surprise.py), averaged over what is left open of the gap.

Where prompts repeat, votes of a pair on the same prompt go together.  Residuals of cells
(pair and prompt) of several votes show by how much: their covariances have the mean
omega^2 v^2, and m votes count as m V / Var(S), V the variance of independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayes_arena.arrays import Array, Floats, Ints, positions_of
from bayes_arena.boards.estimate import board_estimate
from bayes_arena.boards.intervals import (
    FEWEST_CLUSTERS,
    cluster_codes,
    repeating_prompts,
)
from bayes_arena.boards.surprise import (
    FALSE_RATE,
    LEAST_VOTES,
    discoveries,
    tail_bounds,
)
from bayes_arena.errors import plural
from bayes_arena.fits.result import Fit
from bayes_arena.fits.scores import ScoreSums, scores_of
from bayes_arena.model.constants import TINY
from bayes_arena.said import Call, Note
from bayes_arena.votes.votes import PROMPT, Votes, sums

LONGEST_SHIFT = 3.0  # logits by which a pair's own votes may have moved its gap
LEAST_LEFT = 0.05  # of the precision of a gap, without the pair's own votes
LARGEST_VARIANCE = 2.0  # of a gap that only these votes determine


@dataclass(frozen=True, eq=False)
class PairScores:
    """Pairs that were voted on, and how surprising their scores are.

    All are (pairs,).  ``code`` is that of :attr:`~bayes_arena.Votes.pair_code`, sorted, and
    scores are those of the competitor of the lower code.  ``p_value`` is nan of pairs with
    fewer than five votes; ``flagged`` says which are discoveries.
    """

    code: Ints
    scores: ScoreSums
    p_value: Floats
    flagged: Array

    def columns(self, code: Ints, is_turned: Array) -> dict[str, Array]:
        """Return what is to be said of pairs, whether voted on or not, (m,).

        ``is_turned`` of those whose first competitor has the higher code.
        """
        row = positions_of(self.code, code)
        met = row >= 0
        scores = self.scores.taken(row).turned(is_turned)
        return {
            "points": np.where(met, scores.won, 0.0),
            "expected": np.where(met, scores.expected, 0.0),
            "p_unexplained": np.where(met, self.p_value[row], np.nan),
            "flagged": met & self.flagged[row],
        }


def pair_scores(fit: Fit) -> PairScores:
    """Return the pairs that a fit saw, and which of them no ranking explains."""
    rows, scores = scores_of(fit)
    code = np.unique(rows.pair_code)
    scores = scores.turned(rows.i > rows.j)
    of_pairs = scores.summed(rows.pair_code)
    p_value = np.full(len(code), np.nan)
    tested = of_pairs.n >= LEAST_VOTES
    votes = of_pairs.n * independence(fit, rows, scores)
    gap_variance = variance_of_gaps(fit, code)
    p_value[tested] = chances(
        of_pairs.taken(tested), votes[tested], gap_variance[tested]
    )
    flagged = np.zeros(len(code), bool)
    flagged[tested] = discoveries(p_value[tested], FALSE_RATE)
    return PairScores(codes_of_all(fit, code), of_pairs, p_value, flagged)


def chances(pairs: ScoreSums, votes: Floats, gap_variance: Floats) -> Floats:
    """Return the two-sided p-values of pairs, (pairs,), whose votes count as so many."""
    expected = np.clip(pairs.expected / pairs.n, TINY, 1 - TINY)
    slope = expected * (1 - expected)  # of the score in the gap
    variance = np.maximum(pairs.variance / pairs.n, TINY)
    full = 1 / gap_variance
    own = votes * slope**2 / variance
    left = np.maximum(full - own, LEAST_LEFT * full)
    pull = votes * pairs.residual / pairs.n * slope / variance
    shift = np.clip(-pull / left, -LONGEST_SHIFT, LONGEST_SHIFT)
    sd = np.sqrt(np.minimum(1 / left, LARGEST_VARIANCE))

    def expected_at(further: Floats) -> Floats:
        return expit(logit(expected) + shift + further)

    high, low = tail_bounds(pairs.won / pairs.n, votes, expected_at, sd)
    return np.minimum(2 * np.minimum(high, low), 1.0)


def independence(fit: Fit, rows: Votes, scores: ScoreSums) -> Floats:
    """Return V / Var(S) of each pair, (pairs,); 1 where prompts do not repeat."""
    pair = np.unique(rows.pair_code, return_inverse=True)[1]
    n_pairs = int(pair.max()) + 1
    if (repeating_prompts(fit) or 0.0) < FEWEST_CLUSTERS:
        return np.ones(n_pairs)
    prompt = cluster_codes(rows, PROMPT)
    cell = pair * (int(prompt.max()) + 1) + prompt
    first = np.unique(cell, return_index=True)[1]
    cells = scores.summed(cell)
    # m votes of a cell have m (m - 1) covariances of omega^2 v^2.
    together = cells.variance**2 * np.maximum(1 - 1 / cells.n, 0.0)
    excess = np.sum((cells.residual**2 - cells.variance)[together > 0])
    omega2 = max(excess / max(together.sum(), TINY), 0.0)
    alone = sums(pair[first], cells.variance, n_pairs)
    return alone / np.maximum(
        alone + omega2 * sums(pair[first], together, n_pairs), TINY
    )


def variance_of_gaps(fit: Fit, code: Ints) -> Floats:
    """Return the posterior variance of the gap of each pair, (pairs,)."""
    covariance = board_estimate(fit).covariance
    i, j = np.divmod(code, len(covariance))
    variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    return np.maximum(variance, TINY)


def codes_of_all(fit: Fit, code: Ints) -> Ints:
    """Return codes of pairs of the competitors with an estimate as those of all."""
    everyone = np.flatnonzero(fit.estimable)
    i, j = np.divmod(code, len(everyone))
    return everyone[i] * len(fit.estimable) + everyone[j]


def no_ranking_explains(fit: Fit) -> tuple[Note, ...]:
    """Say which result of a pair is the most surprising, if any is not explained."""
    found = pair_scores(fit)
    flagged = np.flatnonzero(found.flagged)
    if not len(flagged):
        return ()
    clearest = flagged[[np.argmin(found.p_value[flagged])]]
    scores = found.scores.taken(clearest)
    is_turned = scores.residual < 0
    scores = scores.turned(is_turned)
    names = fit.votes.competitors
    codes = np.divmod(int(found.code[clearest[0]]), len(names))
    winner, loser = (names[c] for c in (codes[::-1] if is_turned[0] else codes))
    others = plural(len(flagged) - 1, "other pair")
    nor = f", nor the results of {others}" if len(flagged) > 1 else ""
    text = (
        f"{winner} scores {scores.won[0]:,.12g} of {scores.n[0]:,.12g} against {loser} "
        f"({scores.expected[0]:,.0f} expected): no ranking explains that{nor}."
    )
    return (Note("pairs", text, more=Call("pairs")),)
