"""What the votes leave open after a fit, and what the model leaves out, in words.

Scores of groups that were never compared, and maximum-likelihood estimates that lie at infinity; for the direction of
the ranking see :mod:`bayes_arena.inference.mode.direction`.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.arrays import sum_by
from bayes_arena.errors import listing
from bayes_arena.inference.mode.newton import HUGE, Optimum
from bayes_arena.likelihood.presets import one_side_wins
from bayes_arena.likelihood.problem import Problem
from bayes_arena.markup import percent
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.records import never_beaten_groups

SIDED, SURE = 0.05, 4.0
"""Excess over one half of a side's share of the decided votes, and its standard errors, from which sides matter."""
NEGLIGIBLE = 30.0
"""Nats by which a mode with the reversed ranking may fall short before it is disregarded."""


def disconnected(problem: Problem) -> list[str]:
    """Report competitors that were never compared, directly or through others."""
    count = len(np.unique(problem.cells.components))
    if count == 1:
        return []
    how = "each is centred on its own" if np.isinf(problem.prior.strength) else "only the prior relates them"
    return [
        f"The competitors fall into {count} groups that were never compared; {how}. "
        "Scores of different groups are not comparable; see `bayes-arena check`."
    ]


def sides_left_out(problem: Problem) -> list[str]:
    """Report that competitors win more on one side than on the other, if the model ignores sides.

    For a pair, f and g are the shares of its decided votes won by the competitor shown first, when one and when the
    other is first; without an effect of sides f + g = 1. Pairs have Mantel-Haenszel weights.
    """
    model, cells = problem.model, problem.cells
    if model.position != "none" or not cells.sided or one_side_wins(cells):
        return []
    tally = cells.tally(by_annotator=False, by_side=True)
    turned, n = tally.i > tally.j, cells.n_competitors
    pair = np.unique(np.where(turned, tally.j * n + tally.i, tally.i * n + tally.j), return_inverse=True)[1]
    wins, losses, _ = wins_losses_ties(tally.counts)
    size, decided = int(pair.max(initial=-1)) + 1, wins + losses
    votes, first = (
        np.array([sum_by(pair, values * way, size) for way in (~turned, turned)]) for values in (decided, wins)
    )
    both = (votes > 0).all(axis=0)
    votes, first = votes[:, both], first[:, both]
    weight = votes.prod(axis=0) / votes.sum(axis=0)
    share = (first[0] + votes[1] - first[1]) / votes.sum(axis=0)
    excess = float(weight @ ((first / votes).sum(axis=0) - 1))
    error = math.sqrt(weight @ (share * (1 - share)))
    if not both.any() or abs(excess) < max(SURE * error, 2 * SIDED * weight.sum()):
        return []
    side, of_side = "first" if excess > 0 else "second", 0.5 + 0.5 * abs(excess) / weight.sum()
    return [
        f"Sides matter, but {model.name} ignores them: in pairs shown both ways the {side} won {percent(of_side)} of "
        "the decided votes. Use model='davidson' or 'am-davidson', or a Model with position='common'."
    ]


def reversed_mode(best: Optimum, others: list[Optimum]) -> Optimum | None:
    """Return the best mode with the reversed ranking, if there is one that is not negligible."""
    rivals = [other for other in others if other.point.strength @ best.point.strength < 0]
    mirror = min(rivals, key=lambda one: one.value, default=None)
    return mirror if mirror and mirror.value < best.value + NEGLIGIBLE else None


def at_infinity(problem: Problem, optimum: Optimum) -> list[str]:
    """Name what has no finite maximum-likelihood estimate."""
    target, cells = problem.objective, problem.cells
    extreme = (np.abs(target.coordinates(optimum.point)) > HUGE).any(axis=0)
    groups = never_beaten_groups(cells, count_ties=not target.likelihood.drops_ties)
    fixed = not target.free_discrimination
    if optimum.converged and not extreme.any() and not (fixed and groups):
        return []
    parts = [f"never beaten or tied by the other competitors: {listing(group)}" for group in groups]
    if target.n_annotators and extreme.any() and not (fixed and groups):
        names = [cells.annotators[k] for k in np.unique(target.tally.k[extreme])]
        parts.append(
            "annotators whose votes fit one ranking (of competitors, or of groups of them), or one kind of outcome, "
            f"without exception: {listing(names)}"
        )
    return [
        f"No finite maximum-likelihood estimate exists ({'; '.join(parts) or 'a log-odds runs to infinity'}). What is "
        "shown is where the fit stopped, not an estimate. Use prior='default'"
        + (", or leave out annotators with few votes (keep_annotators, --delta)." if target.n_annotators else ".")
    ]
