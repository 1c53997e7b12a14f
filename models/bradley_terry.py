"""Bradley-Terry: P(i beats j) = 1 / (1 + exp(-(r_i - r_j))), strengths r in logits with sum zero.

A tie is half a win for each (:func:`~bayes_arena.models.per_vote.half_wins`).

Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs", Biometrika 39.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import half_wins, one_row_a_vote, prior_for
from bayes_arena.models.spreads import spread
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: str | Prior = "default") -> pm.Model:
    """Return the model: ``strength`` (competitor) in logits, ``outcome`` (vote).

    The spread ``strength_sd`` is sampled where the prior estimates it, and fixed otherwise.
    """
    prior = prior_for(prior, cells, "bradley-terry")
    votes = one_row_a_vote(cells)
    with pm.Model(coords={"competitor": cells.competitors}) as model:
        i = pm.Data("i", votes.i, dims="vote")
        j = pm.Data("j", votes.j, dims="vote")
        voted = pm.Data("voted", votes.outcome, dims="vote")

        r_sd = spread("strength", prior)
        r = zero_sum("strength", r_sd, "competitor")

        half_wins("outcome", r[i] - r[j], observed=voted, dims="vote")
    return model
