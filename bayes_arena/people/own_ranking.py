"""Whether an annotator who agrees with nobody votes by a ranking of one's own.

Of the votes of an annotator, let S be the sums by competitor of (score - mean score of the
first), positive for the first and negative for the second.  If the annotator throws a coin,
with shares of ties and of sides as they are, S has a covariance in proportion to L, the
Laplacian of the pairs that were seen.  Who follows the shared strengths r with any slope, of
either sign, has E[S] in proportion to L r.  What remains is

    T = S' L+ S - (r' S)^2 / (r' L r),

and a ranking of one's own makes it larger than coins do.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Array, Floats
from bayes_arena.model.constants import TINY
from bayes_arena.threads import threads_for
from bayes_arena.votes.votes import Votes

BOARDS = 199  # of coins


def chance_of_own_ranking(votes: Votes, strength: Floats, seed: int = 0) -> float:
    """Return the chance that the scores of one who throws a coin vary as much.

    Parameters
    ----------
    votes : Votes
        Of one annotator.
    strength : ndarray, shape (competitors,)
        Of the shared ranking.
    seed : int
        Of the coins.
    """
    rng = np.random.default_rng(seed)
    scores = np.vstack([votes.score_of_first, scores_of_coins(votes, rng)])
    with threads_for(votes.n_competitors):
        variation = variation_of(votes, scores, strength)
    return float(np.mean(variation >= variation[0]))


def scores_of_coins(votes: Votes, rng: np.random.Generator) -> Floats:
    """Draw sums of scores of the first by coins like the annotator, (boards, rows)."""
    counts = votes.folded
    cast = counts.sum(axis=1)
    whole = np.ceil(cast).astype(int)  # a fraction of a vote is one, of less weight
    thrown = rng.multinomial(
        whole, counts.sum(axis=0) / cast.sum(), (BOARDS, len(cast))
    )
    return thrown @ np.array([1.0, 0.0, 0.5]) * (cast / whole)


def variation_of(votes: Votes, scores: Floats, strength: Floats) -> Floats:
    """Return T of sums of scores of the first by row, (boards, rows)."""
    cast = votes.counts.sum(axis=1)
    deviation = scores - cast * scores.sum(axis=1, keepdims=True) / cast.sum()
    seen, code = np.unique(np.concatenate([votes.i, votes.j]), return_inverse=True)
    sign = signs_of(code, len(seen))
    S = deviation @ sign
    L = (sign.T * cast) @ sign
    r = strength[seen]
    own = np.sum((S @ np.linalg.pinv(L, hermitian=True)) * S, axis=1)
    return own - (S @ r) ** 2 / max(float(r @ L @ r), TINY)


def signs_of(code: Array, n: int) -> Floats:
    """Return 1 at each row's first of n competitors, and -1 at the second, (rows, n)."""
    n_rows = len(code) // 2
    row = np.tile(np.arange(n_rows), 2)
    sign = np.repeat([1.0, -1.0], n_rows)
    return csr_array((sign, (row, code)), shape=(n_rows, n)).toarray()
