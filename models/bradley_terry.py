"""Bradley-Terry: the first competitor wins with probability 1 / (1 + exp(-(r_i - r_j))).

A tie is half a win for each.  All votes have equal weight.

Source: Bradley & Terry (1952), "Rank analysis of incomplete block designs", Biometrika 39.
"""

from __future__ import annotations

import pymc as pm

from bayes_arena.models import Prior, data, observe, zero_sum


def build(votes: object, prior: str | Prior = "default") -> pm.Model:
    """Return the program of Bradley-Terry.

    Parameters
    ----------
    votes : Votes, path, dataframe, or Data
    prior : {"default", "weak", "flat"} or Prior

    Returns
    -------
    pymc.Model
        ``strength`` (competitor) r in logits, its spread ``strength_sd``, and ``votes``.
    """
    rows = data(votes, annotators=False)
    with pm.Model(coords=rows.coords) as model:
        r = zero_sum("strength", prior, "competitor", rows.information)
        eta = (r[rows.first] - r[rows.second])[rows.pair]
        observe([eta / 2, -eta / 2], rows.half_wins)
    return model
