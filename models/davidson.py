"""Davidson: ties are an outcome, and the first side may have an advantage b.

With eta = r_i - r_j + b,

    P(first) : P(second) : P(tie) = exp(eta / 2) : exp(-eta / 2) : exp(t).

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65; b after Davidson & Beaver (1977), Biometrics 33.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.models import Prior, data, normal, observe, zero_sum


def build(votes: object, prior: str | Prior = "default") -> pm.Model:
    """Return the program of Davidson.

    Parameters
    ----------
    votes : Votes, path, dataframe, or Data
    prior : {"default", "weak", "flat"} or Prior

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) r in logits and its spread ``strength_sd``;
        ``position`` b, if some pair was shown both ways; ``tie`` t, if there are ties;
        and ``votes``.
    """
    rows = data(votes, annotators=False)
    with pm.Model(coords=rows.coords) as model:
        r = zero_sum("strength", prior, "competitor", rows.information)
        eta = (r[rows.first] - r[rows.second])[rows.pair]
        if rows.has_sides:
            eta = eta + normal("position", prior)
        logits = [eta / 2, -eta / 2]
        if rows.has_ties:
            logits.append(normal("tie", prior))
        observe(logits, rows.folded[:, : len(logits)])
    return model
