"""am-ELO in several dimensions: annotators differ in what they look for, not only in how sharply they discriminate.

    P(i beats j | k) = 1 / (1 + exp(-eta)),        eta = theta_k (r_i - r_j) + sum_l v_kl (w_li - w_lj),

theta of mean 1, and loadings v_kl ~ Normal(0, 1) of mean zero, so that r is what annotators share. Along direction l
competitor i has the position w_li. This is multidimensional discrimination: item response theory with (theta_k, v_k)
as the discrimination of annotator k. A tie is half a win for each
(:func:`~bayes_arena.models.per_vote.half_wins`).

Votes are as probable under (-w_l, -v_l), and with the directions in another order. The spreads of w fall with l, which
fixes the order and, as they differ, the axes. The sign is fixed in what is reported: direction l is turned so that the
position of a reference is positive. To bound what is sampled would trap chains where that position is near zero.

Source: Liu et al. (2025), "am-ELO", equation 5, for one dimension; Reckase (2009), "Multidimensional Item Response
Theory", for several.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pymc as pm

from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import deviations, half_wins, one_row_a_vote, prior_for
from bayes_arena.models.spreads import falling, spread
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: str | Prior = "default", dimensions: int = 1, reference: str | None = None) -> pm.Model:
    """Return the model: that of am-ELO, with ``direction_l`` (competitor) and ``loading_l`` (annotator).

    Positions are in logits, and l = 1, ..., ``dimensions``. The spreads ``strength_sd``, ``discrimination_sd`` and
    ``direction_sd`` (direction) are sampled where the prior estimates them, and fixed otherwise. The ``reference`` is a
    competitor, by default the one in most votes. Name one on which annotators disagree: where its position is near
    zero, draws of either sign remain.
    """
    prior = prior_for(prior, cells, replace(PRESETS["am-elo"], dimensions=dimensions))
    votes = one_row_a_vote(cells)
    names = [f"direction_{one}" for one in range(1, 1 + dimensions)]
    at = int(np.bincount([*votes.i, *votes.j]).argmax()) if reference is None else cells.competitors.index(reference)
    coords = {"competitor": cells.competitors, "annotator": cells.annotators, "direction": names}
    with pm.Model(coords=coords) as model:
        i = pm.Data("i", votes.i, dims="vote")
        j = pm.Data("j", votes.j, dims="vote")
        k = pm.Data("k", votes.k, dims="vote")
        voted = pm.Data("voted", votes.outcome, dims="vote")

        r_sd = spread("strength", prior)
        r = zero_sum("strength", r_sd, "competitor")

        theta_sd = spread("discrimination", prior)
        own = deviations("discrimination", theta_sd, "annotator")
        theta = pm.Deterministic("discrimination", 1 + own, dims="annotator")

        w_sd = falling("direction_sd", names, prior)
        w = w_sd[:, None] * pm.Normal("direction_unit", dims=("direction", "competitor"))
        v = pm.ZeroSumNormal("loading_unit", dims=("direction", "annotator"))

        side = pm.math.switch(w[:, at] < 0, -1.0, 1.0)
        for row, name in enumerate(names):
            pm.Deterministic(name, side[row] * w[row], dims="competitor")
            pm.Deterministic(name.replace("direction", "loading"), side[row] * v[row], dims="annotator")

        eta = theta[k] * (r[i] - r[j]) + (v[:, k] * (w[:, i] - w[:, j])).sum(axis=0)
        half_wins("outcome", eta, observed=voted, dims="vote")
    return model
