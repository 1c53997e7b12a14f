"""Finding the annotators that were perturbed (section 5.5, lower half of Figure 6, and Figure 7).

The paper flags annotators whose theta of am-ELO (sum 1) is not above epsilon = 0 or 0.005. Its rules are compared with
two of this package, read from am-davidson: the anomaly probability A_k > 1/2, and the largest set whose mean 1 - A_k is
at most 0.05.

An annotator who looks anomalous before any perturbation would count as a false alarm whenever found. Leaving out only
the suspects of one rule would spare that rule its own false alarms, so Figure 7 leaves out the suspects of either,
A_k >= 0.2 or theta_k <= 0.005.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_arena.errors import ArenaWarning, ConvergenceError
from bayes_arena.fits.fitting import fit
from bayes_arena.fits.result import Fit
from bayes_arena.paper.measures import detection
from bayes_arena.paper.perturbation import KINDS, Kind, perturbations
from bayes_arena.paper.stability import SHARES
from bayes_arena.reliability.annotators import annotators
from bayes_arena.reliability.anomaly import ANOMALOUS
from bayes_arena.reliability.flagging import flag, flag_by_theta
from bayes_arena.votes.cells import Cells

if TYPE_CHECKING:
    import pandas as pd

EPSILONS = (0.0, 0.005)
"""The paper's thresholds of theta, on the scale of sum 1."""
SUSPECT_EPSILON = max(EPSILONS)
"""Largest theta of a suspect."""
SUSPECT, FDR = 0.2, 0.05
"""Least A_k of a suspect; expected share of false alarms among the flagged."""


def abilities(
    cells: Cells, *, kinds: Sequence[Kind] = KINDS, shares: Sequence[float] = SHARES, seed: int = 0
) -> pd.DataFrame:
    """Estimate theta of every annotator by the paper's am-ELO while more and more of them are perturbed.

    Parameters
    ----------
    cells : Cells
        Unweighted votes with annotators.
    kinds, shares : sequence
        Every combination is perturbed once; see :func:`~bayes_arena.paper.perturbation.perturb`.
    seed : int
        Seed of the perturbation.

    Returns
    -------
    pandas.DataFrame
        ``kind, share, annotator, theta, perturbed``; theta on the paper's scale (sum 1).
    """
    import pandas as pd

    tables = []
    for kind, share, _, perturbed, who in perturbations(cells, kinds, shares, [seed]):
        columns = {
            "kind": kind,
            "share": share,
            "annotator": np.array(cells.annotators, dtype=object),
            "theta": _paper(perturbed).discrimination / cells.n_annotators,
            "perturbed": [name in who for name in cells.annotators],
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def suspects(cells: Cells) -> pd.DataFrame:
    """Find the annotators who look anomalous before any perturbation.

    Returns
    -------
    pandas.DataFrame
        ``annotator, anomaly_probability, theta`` (of the paper's am-ELO, sum 1), ``by_anomaly, by_theta``: one row for
        each annotator that either of them suspects, by name, and which of them does.
    """
    paper = _paper(cells)
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        pooled = fit(cells, model="am-davidson")
    table = annotators(pooled).set_index("annotator")[["anomaly_probability"]].loc[list(cells.annotators)]
    table["theta"] = paper.discrimination / cells.n_annotators
    table["by_anomaly"] = table["anomaly_probability"] >= SUSPECT
    table["by_theta"] = table.index.isin(flag_by_theta(paper, epsilon=SUSPECT_EPSILON))
    return table[table["by_anomaly"] | table["by_theta"]].sort_index().reset_index()


def detections(
    cells: Cells, *, kinds: Sequence[Kind] = KINDS, shares: Sequence[float] = SHARES, seeds: Sequence[int] = range(5)
) -> pd.DataFrame:
    """Score every rule by how well it finds the perturbed annotators.

    Parameters
    ----------
    cells : Cells
        Unweighted votes with annotators, without the :func:`suspects`.
    kinds, shares, seeds : sequence
        Every combination is perturbed; see :func:`~bayes_arena.paper.perturbation.perturb`.

    Returns
    -------
    pandas.DataFrame
        ``kind, share, seed, rule, f1, precision, recall, flagged``; no rows for the rules of a fit that did not
        converge.
    """
    import pandas as pd

    rows = []
    for kind, share, seed, perturbed, who in perturbations(cells, kinds, shares, seeds):
        for rule, found in flagged_by(perturbed).items():
            score = detection(found, who)
            rows.append((kind, share, seed, rule, score.f1, score.precision, score.recall, len(found)))
    columns = ["kind", "share", "seed", "rule", "f1", "precision", "recall", "flagged"]
    return pd.DataFrame(rows, columns=columns)


def flagged_by(cells: Cells) -> dict[str, tuple[str, ...]]:
    """Return the annotators that each rule flags; the rules of am-davidson are absent if it does not converge."""
    paper = _paper(cells)
    rules = {f"theta <= {epsilon:g}": flag_by_theta(paper, epsilon=epsilon) for epsilon in EPSILONS}
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        try:
            pooled = fit(cells, model="am-davidson", robust=False)
        except ConvergenceError:
            return rules
    verdict, rate = f"A > {ANOMALOUS:g}", f"FDR {FDR:g}"
    table = annotators(pooled)
    return rules | {
        verdict: tuple(table.loc[table["anomaly_probability"] > ANOMALOUS, "annotator"]),
        rate: flag(pooled, fdr=FDR),
    }


def _paper(cells: Cells) -> Fit:
    """Fit the paper's am-ELO; warnings of an answer at infinity are expected here."""
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        return fit(cells, model="am-elo", prior="flat")
