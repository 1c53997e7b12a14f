"""m-ELO: P(i beats j) = 1 / (1 + exp(-C (R_i - R_j))) with C = ln 10 / 400, ratings R in Elo points, mean zero.

Bradley-Terry in the units of the paper, strengths r = C R in logits. A tie is half a win for each
(:func:`~bayes_arena.models.per_vote.half_wins`).

Source: Liu et al. (2025), "am-ELO", equation 2.
"""

from __future__ import annotations

import math

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import half_wins, one_row_a_vote, prior_for
from bayes_arena.models.spreads import spread
from bayes_arena.votes.cells import Cells

C = math.log(10) / 400
"""Logits per Elo point."""


def build(cells: Cells, prior: str | Prior = "default") -> pm.Model:
    """Return the model: ``rating`` (competitor) in Elo points, ``strength`` the same in logits, ``outcome`` (vote).

    The spread ``strength_sd`` is sampled where the prior estimates it, and fixed otherwise.
    """
    prior = prior_for(prior, cells, "m-elo")
    votes = one_row_a_vote(cells)
    with pm.Model(coords={"competitor": cells.competitors}) as model:
        i = pm.Data("i", votes.i, dims="vote")
        j = pm.Data("j", votes.j, dims="vote")
        voted = pm.Data("voted", votes.outcome, dims="vote")

        r_sd = spread("strength", prior)
        r = zero_sum("strength", r_sd, "competitor")
        rating = pm.Deterministic("rating", r / C, dims="competitor")

        half_wins("outcome", C * (rating[i] - rating[j]), observed=voted, dims="vote")
    return model
