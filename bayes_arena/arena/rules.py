"""The rules of the Stable Arena: who takes part in a round, and whom it judges (Algorithm 3 of the am-ELO paper).

One round, with S the stored votes and delta_k the number of votes of annotator k:

1. S' = votes of the annotators who are not excluded and have delta_k > delta; the others wait for more votes.
2. Strengths R and discriminations theta are fitted to S' and published.
3. Annotators with theta_k <= epsilon, on the paper's scale (sum_k theta_k = 1), are warned, or excluded from later
   rounds. Their votes stay stored, so that they can be readmitted; the next round then judges them again.

With ``prior="flat", delta=50, exclude="exclude"`` this is the paper's algorithm. By default no annotator has to wait,
since the pooled model copes with annotators of few votes, and annotators are only warned. Where targeted promotion is
detected before the fit (:mod:`bayes_arena.trust`), step 2 leaves out the votes of annotators who favour or hate one
competitor, and step 3 flags these annotators.

Source: Liu et al., "am-ELO", ICML 2025, section 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from bayes_arena.arena.rounds import Decision
from bayes_arena.arrays import Columns
from bayes_arena.fits.result import Fit
from bayes_arena.reliability.flagging import discoveries, flag_by_theta
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.selection import drop_annotators, keep_annotators

Policy = Literal["warn", "exclude"]
DECISIONS: Mapping[Policy, Decision] = {"warn": "warned", "exclude": "excluded"}


def taking_part(cells: Cells, excluded: tuple[str, ...], delta: float) -> Cells:
    """Return the votes of the annotators who are not excluded and have more than ``delta`` votes."""
    if excluded:
        cells = drop_annotators(cells, excluded)
    if delta > 0:
        cells = keep_annotators(cells, more_than=delta)
    return cells


def left_out(fit: Fit) -> dict[str, str]:
    """Return the annotators whose votes are left out as they favour or hate one competitor, and why."""
    trust = fit.trust
    if trust is None:
        return {}
    who = {trust.cells.annotators[k]: k for k in np.flatnonzero(trust.left_out).tolist()}
    return {name: f"{trust.favours(k)}, probability {trust.favour[k]:.3f}" for name, k in who.items()}


def flagged_by_theta(fit: Fit, epsilon: float) -> dict[str, str]:
    """Return the annotators with too little discrimination, or whose votes are left out, and why."""
    if not fit.target.free_discrimination:
        return left_out(fit)
    reason = f"theta (sum 1) not above {epsilon:g}"
    return dict.fromkeys(flag_by_theta(fit, epsilon=epsilon), reason) | left_out(fit)


def flagged_at_fdr(fit: Fit, abilities: Columns, fdr: float) -> dict[str, str]:
    """Return the annotators flagged at a false discovery rate, as by :func:`~bayes_arena.flag`, and why."""
    if not fit.target.own:
        return {}
    anomaly = np.asarray(abilities["anomaly_probability"])
    return {
        str(abilities["annotator"][k]): f"anomaly probability {anomaly[k]:.3f}, false discovery rate {fdr:g}"
        for k in discoveries(anomaly, fdr)
    }
