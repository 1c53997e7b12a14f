"""m-ELO: the first competitor wins with probability 1 / (1 + exp(-C (R_i - R_j))).

It is Bradley-Terry in Elo points, R = r / C with C = ln 10 / 400.  A tie is half a win for
each.

Source: Liu et al. (2025), "am-ELO: A stable framework for arena-based LLM evaluation",
equation 2.
"""

from __future__ import annotations

import numpy as np
import pymc as pm

from bayes_arena.models import Prior, data, observe, zero_sum

C = np.log(10) / 400  # logits in an Elo point


def build(votes: object, prior: str | Prior = "default") -> pm.Model:
    """Return the program of m-ELO.

    Parameters
    ----------
    votes : Votes, path, dataframe, or Data
    prior : {"default", "weak", "flat"} or Prior

    Returns
    -------
    pymc.Model
        ``rating`` (competitor) R in Elo points with mean zero, ``strength`` the same in
        logits, its spread ``strength_sd``, and ``votes``.
    """
    rows = data(votes, annotators=False)
    with pm.Model(coords=rows.coords) as model:
        r = zero_sum("strength", prior, "competitor", rows.information)
        R = pm.Deterministic("rating", r / C, dims="competitor")
        eta = C * (R[rows.first] - R[rows.second])[rows.pair]
        observe([eta / 2, -eta / 2], rows.half_wins)
    return model
