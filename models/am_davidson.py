"""am-Davidson: each annotator has a discrimination, a propensity to tie, and a favoured side.

With eta = theta_k (r_i - r_j) + b + b_k for annotator k,

    P(first) : P(second) : P(tie) = exp(eta / 2) : exp(-eta / 2) : exp(t + t_k).

The discriminations theta have mean 1 and may be negative; b_k and t_k sum to zero.

Source: Davidson (1970), "On extending the Bradley-Terry model to accommodate ties in paired
comparison experiments", JASA 65; theta after Liu et al. (2025), "am-ELO".
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.models import Prior, data, observe, shared, zero_sum


def build(votes: object, prior: str | Prior = "default") -> pm.Model:
    """Return the program of am-Davidson.

    Parameters
    ----------
    votes : Votes, path, dataframe, or Data
    prior : {"default", "weak", "flat"} or Prior

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) r in logits; ``discrimination`` (annotator) theta;
        ``position`` b and ``position_by_annotator`` b_k, if some pair was shown both ways;
        ``tie`` t and ``tie_by_annotator`` t_k, if there are ties; a spread ``..._sd`` of
        each; and ``votes``.
    """
    rows = data(votes)
    with pm.Model(coords=rows.coords) as model:
        r = zero_sum("strength", prior, "competitor", rows.information)
        theta = zero_sum("discrimination", prior, "annotator", rows.information, mean=1)
        lead = (r[rows.first] - r[rows.second])[rows.pair]
        eta = theta[rows.annotator] * lead
        if rows.has_sides:
            b_k = zero_sum(
                "position_by_annotator", prior, "annotator", rows.information
            )
            b = shared("position", prior, (rows.share * b_k).sum())
            eta = eta + (b + b_k)[rows.annotator]
        logits = [eta / 2, -eta / 2]
        if rows.has_ties:
            t_k = zero_sum("tie_by_annotator", prior, "annotator", rows.information)
            t = shared("tie", prior, (rows.share * t_k).sum())
            logits.append((t + t_k, rows.annotator))
        observe(logits, rows.folded[:, : len(logits)])
    return model
