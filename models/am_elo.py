"""am-ELO: P(i beats j | k) = 1 / (1 + exp(-theta_k (r_i - r_j))), theta of mean 1 and of any sign.

A tie is half a win for each (:func:`~bayes_arena.models.per_vote.half_wins`). The paper's scale is sum theta = 1:
theta / M and R = M r.

``pm.find_MAP`` of the program with ``prior="flat"`` is the paper's estimate, that of ``ba.fit(votes, model="am-elo",
prior="flat")``. With the default prior it is the joint mode of numbers and spreads. :func:`bayes_arena.fit`
integrates the numbers out before it estimates the spreads, and differs by several Elo points (``own-model.md``).

Source: Liu et al. (2025), "am-ELO", equations 4, 5 and 7.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import deviations, half_wins, one_row_a_vote, prior_for
from bayes_arena.models.spreads import spread
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: str | Prior = "default") -> pm.Model:
    """Return the model: ``strength`` (competitor) in logits, ``discrimination`` (annotator), ``outcome`` (vote).

    The spreads ``strength_sd`` and ``discrimination_sd`` are sampled where the prior estimates them, and fixed
    otherwise.
    """
    prior = prior_for(prior, cells, "am-elo")
    votes = one_row_a_vote(cells)
    with pm.Model(coords={"competitor": cells.competitors, "annotator": cells.annotators}) as model:
        i = pm.Data("i", votes.i, dims="vote")
        j = pm.Data("j", votes.j, dims="vote")
        k = pm.Data("k", votes.k, dims="vote")
        voted = pm.Data("voted", votes.outcome, dims="vote")

        r_sd = spread("strength", prior)
        r = zero_sum("strength", r_sd, "competitor")

        theta_sd = spread("discrimination", prior)
        own = deviations("discrimination", theta_sd, "annotator")
        theta = pm.Deterministic("discrimination", 1 + own, dims="annotator")

        half_wins("outcome", theta[k] * (r[i] - r[j]), observed=voted, dims="vote")
    return model
