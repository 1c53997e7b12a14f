"""am-Davidson: am-ELO with ties as an outcome and position effects.

With eta = theta_k (r_i - r_j) + b_k, i shown first,

    P(i wins) : P(j wins) : P(tie) = exp(eta / 2) : exp(-eta / 2) : nu_k,

every annotator with a discrimination theta_k, a tie propensity nu_k and a position effect b_k, all three pooled.

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired comparison experiments",
JASA 65; the annotators' numbers after Liu et al. (2025).
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.likelihood.priors import Prior
from bayes_arena.models._parts import zero_sum
from bayes_arena.models.per_vote import deviations, logits_of_grades, one_row_a_vote, prior_for, shared
from bayes_arena.models.spreads import spread
from bayes_arena.votes.cells import Cells


def build(cells: Cells, prior: str | Prior = "default") -> pm.Model:
    """Return the model: ``strength`` (competitor); three numbers of every annotator; ``outcome`` (vote).

    These are ``discrimination``, ``log_tie_propensity`` and, where the votes say who was shown first, ``position``, all
    but the first in logits. The spreads ``strength_sd``, ``discrimination_sd``, ``tie_spread`` and ``position_spread``
    are sampled where the prior estimates them, and fixed otherwise. Where verdicts are graded, annotators also have an
    ``emphasis``, with ``emphasis_spread``, and from the third grade on all share ``grade_3_common`` and so on.
    """
    prior = prior_for(prior, cells, "am-davidson")
    votes = one_row_a_vote(cells, graded=True)
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
        eta = theta[k] * (r[i] - r[j])

        nu_sd = spread("tie_spread", prior)
        common = shared("tie_propensity_common", 1, prior)
        own = deviations("tie_propensity", nu_sd, "annotator")
        log_nu = pm.Deterministic("log_tie_propensity", common + own, dims="annotator")

        if cells.sided:
            b_sd = spread("position_spread", prior)
            common = shared("position_common", 0.5, prior)
            own = deviations("position", b_sd, "annotator")
            b = pm.Deterministic("position", common + own, dims="annotator")
            eta = eta + b[k]

        logits = [eta / 2, -eta / 2, log_nu[k]]
        if cells.grades > 1:
            x_sd = spread("emphasis_spread", prior)
            common = shared("emphasis_common", 1, prior)
            own = deviations("emphasis", x_sd, "annotator")
            emphasis = pm.Deterministic("emphasis", common + own, dims="annotator")
            logits += logits_of_grades(eta, emphasis[k], cells.grades, prior)
        logits = pm.math.stack(logits, axis=1)
        pm.Categorical("outcome", logit_p=logits, observed=voted, dims="vote")
    return model
