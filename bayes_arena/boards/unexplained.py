"""Pairs that no ranking explains: their score departs from the ranking's beyond chance.

With e the mean of the scores expected of a pair's m votes, and S the sum of their
residuals, they tell as much as

    M = m^2 e (1 - e) / Var(S)

independent ones that win or lose: their gradient in the gap b_i - b_j is M S / m, their
information M e (1 - e).  A ranking says what they should be by all other votes, so the gap
is taken back by the Newton step that they made it go.  Scores are bounded by Hoeffding's
inequality (surprise.py), averaged over what is left open of the gap.

Where prompts repeat, votes of a pair on one prompt go together.  By the residuals of cells
(pair and prompt) of several votes of variance v, their covariances are omega^2 v^2.

Where competitors have strengths by a slice no pair is tested: what a ranking lets expect
of its votes depends on the levels that they are at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from bayes_arena.arrays import Array, Floats, Ints, positions_of
from bayes_arena.boards.clusters import prompt_clusters
from bayes_arena.boards.surprise import (
    FALSE_RATE,
    LEAST_VOTES,
    discoveries,
    tail_bounds,
)
from bayes_arena.errors import plural
from bayes_arena.fits.result import Fit, estimable
from bayes_arena.fits.scores import ScoreSums, scores_of
from bayes_arena.model.constants import TINY
from bayes_arena.said import Call, Note
from bayes_arena.votes.votes import Votes, sums

LONGEST_SHIFT = 3.0  # logits by which a pair's own votes may have moved its gap
LEAST_LEFT = 0.05  # of the precision of a gap, without the pair's own votes
LARGEST_VARIANCE = 2.0  # of a gap that only these votes determine


@dataclass(frozen=True, eq=False)
class PairScores:
    """Pairs that were voted on, and how surprising their scores are.

    All are (pairs,).  ``code`` is that of :attr:`~bayes_arena.Votes.pair_code`, sorted, and
    scores are those of the competitor of the lower code.  ``p_value`` is nan of pairs with
    fewer than five votes, and of models with slices; ``flagged`` says which are discoveries.
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
    variance = variance_of_scores(fit, rows, scores)
    tested = of_pairs.n >= (np.inf if fit.model.strength_by else LEAST_VOTES)
    p_value = np.full(len(code), np.nan)
    p_value[tested] = chances(
        of_pairs.taken(tested), variance[tested], variance_of_gaps(fit, code[tested])
    )
    flagged = np.zeros(len(code), bool)
    flagged[tested] = discoveries(p_value[tested], FALSE_RATE)
    return PairScores(codes_of_all(fit, code), of_pairs, p_value, flagged)


def chances(pairs: ScoreSums, variance: Floats, gap_variance: Floats) -> Floats:
    """Return the two-sided p-values of pairs, (pairs,).

    Parameters
    ----------
    pairs : ScoreSums
    variance, gap_variance : ndarray, shape (pairs,)
        Var(S), and the posterior variance of the gap.
    """
    expected = np.clip(pairs.expected / pairs.n, TINY, 1 - TINY)
    slope = expected * (1 - expected)
    votes = pairs.n**2 * slope / np.maximum(variance, TINY)
    score = pairs.won / pairs.n
    left = np.maximum(1 / gap_variance - votes * slope, LEAST_LEFT / gap_variance)
    own = votes * (score - expected) / left
    shift = -np.clip(own, -LONGEST_SHIFT, LONGEST_SHIFT)
    sd = np.sqrt(np.minimum(1 / left, LARGEST_VARIANCE))

    def expected_at(further: Floats) -> Floats:
        return expit(logit(expected) + shift + further)

    high, low = tail_bounds(score, votes, expected_at, sd)
    return np.minimum(2 * np.minimum(high, low), 1.0)


def variance_of_scores(fit: Fit, rows: Votes, scores: ScoreSums) -> Floats:
    """Return Var(S) of each pair, (pairs,), given the rows and their scores.

    A prompt moves all votes of a pair on it by one effect, of variance omega2 in logits: in
    a cell, a pair and a prompt, Var(S) = V + omega2 V^2 (1 - 1/m) for m votes of variance V
    in all.  omega2 is estimated by moments: the sum of S^2 - V over that of its factor.
    """
    codes, pair = np.unique(rows.pair_code, return_inverse=True)
    alone = sums(pair, scores.variance, len(codes))
    prompt = prompt_clusters(fit, rows)
    if prompt is None:
        return alone
    cell = pair * (int(prompt.max()) + 1) + prompt
    first = np.unique(cell, return_index=True)[1]
    cells = scores.summed(cell)
    # Of the m^2 products of residuals m (m - 1) are of two votes.
    together = cells.variance**2 * np.maximum(1 - 1 / cells.n, 0.0)
    excess = np.sum((cells.residual**2 - cells.variance)[together > 0])
    omega2 = max(excess / max(together.sum(), TINY), 0.0)
    return alone + omega2 * sums(pair[first], together, len(codes))


def variance_of_gaps(fit: Fit, code: Ints) -> Floats:
    """Return the posterior variance of the gap of each pair, (pairs,)."""
    covariance = fit.marginals.board.covariance
    i, j = np.divmod(code, len(covariance))
    variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
    return np.maximum(variance, TINY)


def codes_of_all(fit: Fit, code: Ints) -> Ints:
    """Return codes of pairs of the competitors with an estimate as those of all."""
    everyone = np.flatnonzero(estimable(fit))
    i, j = np.divmod(code, len(everyone))
    return everyone[i] * fit.votes.n_competitors + everyone[j]


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
