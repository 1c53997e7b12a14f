"""Davidson: Bradley-Terry with ties as an outcome, and an advantage of the competitor shown first.

With eta = r_i - r_j + b, i shown first,

    P(i wins) : P(j wins) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu.

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
JASA 65; the advantage as in Davidson & Beaver (1977), "On extending the Bradley-Terry model to incorporate within-pair
order effects", Biometrics 33.
"""

from __future__ import annotations

import pymc as pm
import pytensor.tensor as pt

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import logits_of_grades, one_row_a_vote, prior_for, shared
from bayes_arena.models.spreads import spread
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: str | Prior = "default") -> pm.Model:
    """Return the model: ``strength`` (competitor); the two numbers that all votes share; ``outcome`` (vote).

    These are ``tie_propensity_common``, the logarithm of nu, and, where the votes say who was shown first,
    ``position_common``, in logits. The spread ``strength_sd`` is sampled where the prior estimates it, and fixed
    otherwise. Where verdicts are graded there is also the emphasis, ``emphasis_common``, and from the third grade on
    ``grade_3_common`` and so on.
    """
    prior = prior_for(prior, cells, "davidson")
    votes = one_row_a_vote(cells, graded=True)
    with pm.Model(coords={"competitor": cells.competitors}) as model:
        i = pm.Data("i", votes.i, dims="vote")
        j = pm.Data("j", votes.j, dims="vote")
        voted = pm.Data("voted", votes.outcome, dims="vote")

        r_sd = spread("strength", prior)
        r = zero_sum("strength", r_sd, "competitor")
        eta = r[i] - r[j]
        log_nu = shared("tie_propensity_common", 1, prior)
        if cells.sided:
            eta = eta + shared("position_common", 0.5, prior)

        logits = [eta / 2, -eta / 2, pt.zeros_like(eta) + log_nu]
        if cells.grades > 1:
            emphasis = shared("emphasis_common", 1, prior)
            logits += logits_of_grades(eta, emphasis, cells.grades, prior)
        logits = pm.math.stack(logits, axis=1)
        pm.Categorical("outcome", logit_p=logits, observed=voted, dims="vote")
    return model
