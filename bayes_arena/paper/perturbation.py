"""Annotators made anomalous on purpose (section 5.5): how far they move rankings, and who finds them (Figures 6 and 7).

=======  =====================================================================================================
random   a win becomes a tie or a win of the other competitor, each with probability 1/2; ties stay
equal    every vote becomes a tie
flip     a win becomes a win of the other competitor; ties stay
mixed    each vote is treated by one of the three, each with probability 1/3
=======  =====================================================================================================

The paper has three outcomes. A both-bad vote is not a win: random and flip leave it as it is, as they leave a tie;
equal makes it a tie. Counts of cells are drawn as if each vote had been drawn: whole votes, none lost.

Each method is compared with itself: the consistency of its ranking of the perturbed votes with its ranking of the votes
as they were. All methods see the same perturbed votes.

The paper flags annotators whose theta of am-ELO (sum 1) is not above epsilon = 0 or 0.005. Its rules are compared with
two of this package, read from am-davidson: the anomaly probability A_k > 1/2, and the largest set whose mean 1 - A_k is
at most 0.05. An annotator who looks anomalous before any perturbation would count as a false alarm whenever found.
Leaving out only the suspects of one rule would spare that rule its own false alarms, so Figure 7 leaves out the
suspects of either, A_k >= 0.2 or theta_k <= 0.005.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Literal, get_args

import numpy as np

from bayes_arena.arrays import DataFrame, Floats, Ints
from bayes_arena.errors import ArenaWarning, ConvergenceError, ModelError, require_choice
from bayes_arena.fits.fitting import fit
from bayes_arena.fits.result import Fit
from bayes_arena.paper.measures import consistency, detection
from bayes_arena.progress import report
from bayes_arena.ratings.online import shuffled_ratings
from bayes_arena.reliability.annotators import annotators
from bayes_arena.reliability.anomaly import ANOMALOUS
from bayes_arena.reliability.flagging import flag, flag_by_theta
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import TIE, by_result, turned, whole_votes
from bayes_arena.votes.sequence import one_by_one

Kind = Literal["random", "equal", "flip", "mixed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.35, 0.40, 0.45)
ELO_SHUFFLES = 100
"""Shuffles whose mean is Elo's ranking; the paper uses 1,000."""
Method = Callable[[Cells], Floats]
"""Scores, shape (n_competitors,), from votes."""
EPSILONS = (0.0, 0.005)
"""The paper's thresholds of theta, on the scale of sum 1."""
SUSPECT_EPSILON = max(EPSILONS)
"""Largest theta of a suspect."""
SUSPECT, FDR = 0.2, 0.05
"""Least A_k of a suspect; expected share of false alarms among the flagged."""


def perturb(cells: Cells, kind: Kind, share: float, seed: int) -> tuple[Cells, tuple[str, ...]]:
    """Perturb a random share of the annotators; return the cells with other counts, and who they are.

    The share is rounded to a whole number of annotators (halves up); the paper stays below 0.5, where most annotate
    normally. The same seed gives the same annotators whatever the kind, and the same votes. Those of the others are
    unchanged, bit for bit.
    """
    require_choice("kind", kind, KINDS)
    if not 0 <= share <= 1 or seed < 0:
        raise ModelError(f"Give a share between 0 and 1, and a seed that is not negative, not {share!r} and {seed!r}.")
    if not cells.n_annotators:
        raise ModelError("The votes carry no annotators, so none can be perturbed.")
    votes = whole_votes(cells.counts)
    rng = np.random.default_rng(seed)
    size = math.floor(share * cells.n_annotators + 0.5)
    chosen = np.sort(rng.choice(cells.n_annotators, size, replace=False))
    rows = np.isin(cells.annotator, chosen)
    counts = cells.counts.copy()
    counts[rows] = _changed(votes[rows], kind, rng)
    return replace(cells, counts=counts), tuple(cells.annotators[index] for index in chosen)


def perturbations(
    cells: Cells, kinds: Sequence[Kind], shares: Sequence[float], seeds: Sequence[int]
) -> Iterator[tuple[Kind, float, int, Cells, tuple[str, ...]]]:
    """Yield every combination, with what :func:`perturb` returns: the cells, and the perturbed annotators."""
    combinations = list(product(kinds, shares, seeds))
    for number, (kind, share, seed) in enumerate(combinations):
        report("perturbations", number, len(combinations))
        yield kind, share, seed, *perturb(cells, kind, share, seed)
    report("")


def _changed(counts: Ints, kind: Kind, rng: np.random.Generator) -> Ints:
    """Return perturbed counts of cells, shape (n_cells, K)."""
    if kind == "mixed":
        parts = rng.multinomial(counts, [1 / 3] * 3)
        kinds: tuple[Kind, ...] = ("random", "equal", "flip")
        return np.asarray(sum(_changed(parts[..., index], each, rng) for index, each in enumerate(kinds)))
    if kind == "equal":
        changed = np.zeros_like(counts)
        changed[:, TIE] = counts.sum(axis=1)
        return changed
    wins, losses, _ = by_result(counts.shape[1])
    tied = np.zeros_like(counts)
    if kind == "random":
        tied[:, wins + losses] = rng.binomial(counts[:, wins + losses], 0.5)
    changed = (counts - tied)[:, turned(counts.shape[1])]
    changed[:, TIE] += tied.sum(axis=1)
    return np.asarray(changed)


def elo(cells: Cells) -> Floats:
    """Return the mean of online Elo over random orders of the votes."""
    return np.asarray(shuffled_ratings(one_by_one(cells), shuffles=ELO_SHUFFLES).mean(axis=0))


def fitted(cells: Cells, model: str, prior: str) -> Floats:
    """Return the strengths r of a fit."""
    return fit(cells, model=model, prior=prior).strength


METHODS: Mapping[str, Method] = {
    "elo": elo,
    "m-elo": partial(fitted, model="m-elo", prior="flat"),
    "am-elo": partial(fitted, model="am-elo", prior="flat"),
    "am-elo, default prior": partial(fitted, model="am-elo", prior="default"),
    "am-davidson": partial(fitted, model="am-davidson", prior="default"),
}


def stability(
    cells: Cells,
    *,
    kinds: Sequence[Kind] = KINDS,
    shares: Sequence[float] = SHARES,
    seeds: Sequence[int] = range(5),
    methods: Mapping[str, Method] = METHODS,
) -> DataFrame:
    """Return the consistency of every method's rankings with and without perturbed annotators.

    Votes are of annotators who cast enough for perturbing to matter; every combination of kind, share and seed is
    perturbed. Columns are ``kind, share, seed, method, consistency, warned``, with no row for a fit to perturbed votes
    that did not converge. ``warned`` says that this fit warned of an answer at infinity, or of a ranking whose
    direction the votes do not settle.
    """
    import pandas as pd

    original = {name: _quietly(method, cells)[0] for name, method in methods.items()}
    rows = []
    for kind, share, seed, perturbed, _ in perturbations(cells, kinds, shares, seeds):
        for name, method in methods.items():
            try:
                scores, warned = _quietly(method, perturbed)
            except ConvergenceError:
                continue
            rows.append((kind, share, seed, name, consistency(scores, original[name]), warned))
    return pd.DataFrame(rows, columns=["kind", "share", "seed", "method", "consistency", "warned"])


def _quietly(method: Method, cells: Cells) -> tuple[Floats, bool]:
    """Return the scores, and whether the method warned."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", ArenaWarning)
        scores = method(cells)
    return scores, bool(caught)


def abilities(
    cells: Cells, *, kinds: Sequence[Kind] = KINDS, shares: Sequence[float] = SHARES, seed: int = 0
) -> DataFrame:
    """Estimate theta of every annotator by the paper's am-ELO while more and more of them are perturbed.

    Columns are ``kind, share, annotator, theta, perturbed``; theta is on the paper's scale (sum 1).
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


def suspects(cells: Cells) -> DataFrame:
    """Find the annotators who look anomalous before any perturbation.

    Columns are ``annotator, anomaly_probability, theta`` (of the paper's am-ELO, sum 1), ``by_anomaly, by_theta``: one
    row for each annotator that either of them suspects, by name, and which of them does.
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
) -> DataFrame:
    """Score every rule by how well it finds the perturbed annotators, among votes without the :func:`suspects`.

    Columns are ``kind, share, seed, rule, f1, precision, recall, flagged``; there are no rows for the rules of a fit
    that did not converge.
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
