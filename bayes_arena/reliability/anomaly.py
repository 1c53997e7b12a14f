"""Who is anomalous, and in what way: with what probability somebody hardly votes with the ranking.

The anomaly probability of annotator k is

    A_k = P(D_k < TOLERANCE * median_j D_j | votes),

with the net agreement D_k of :mod:`bayes_arena.reliability.agreement`: free of scale, and steady until nearly half of
them are anomalous. Where the fit is guarded, the probability is that of the kinds of annotators, who are regular,
guessers or adversaries (:mod:`bayes_arena.trust.mixture.agreement`): a model in which all scatter around a mean takes a
fifth of guessers for a wide scatter, and says too little of each. Else it is a share of the draws, the median taken
draw by draw. One whose votes the side decides need not be anomalous in this sense, because D_k leaves the side out:
they are looked at on their own, by the probability that the side's pull |S_k| exceeds both D_k and ``ONE_SIDED``. Nor
need one who favours or hates a competitor (:mod:`bayes_arena.trust`).
"""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Columns, Floats, Ints, sum_by
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.specification import Model
from bayes_arena.reliability.agreement import Agreement, draw_agreement
from bayes_arena.trust.mixture.agreement import low_agreement
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import TIE

TOLERANCE = 0.2
"""Share of the median annotator's net agreement that still counts as agreement. Of 0.1, 0.2 and 0.3 the one that found
most perturbed annotators (mean F1 .968, .976, .957 over LLMFAO twice and simulated arenas)."""
ANOMALOUS = 0.5
"""Probability above which an annotator is more likely anomalous than not."""
WATCH = 0.1
"""Probability above which the votes do not clear an annotator."""
ONE_SIDED = 0.5
"""Pull of the side that decides votes: between equals three votes in four go to one side (ties counting half)."""
CLEARLY = 0.95
"""Probability of D_k < 0 that makes disagreement adversarial."""
ALWAYS = 0.9
"""Share of ties beyond which an annotator always ties."""


def anomaly_probability(net: np.ndarray) -> Floats:
    """A_k of draws of the net agreement (n_draws, M), shape (M,)."""
    below = np.zeros(net.shape[1])
    for drawn in net:
        below += drawn < TOLERANCE * np.median(drawn)
    return below / len(net)


def places(fit: Fit) -> Ints:
    """Return the index of everybody among those who cast votes, in the order of the draws of what they do."""
    if fit.trust is None or (fit.cells is fit.trust.cells and not fit.suspects.names):
        return np.arange(fit.cells.n_annotators)
    known = {name: index for index, name in enumerate(fit.trust.cells.annotators)}
    return np.array([known[name] for name in (*fit.cells.annotators, *fit.suspects.names)], dtype=np.int64)


def everybody(fit: Fit) -> tuple[Cells, Ints]:
    """Return the votes as they were cast, their annotators in the order of the draws of what they do.

    Returns
    -------
    cells : Cells
    place : ndarray of int, shape (M,)
        Index of each in ``fit.trust.cells``, where there is one.
    """
    place = places(fit)
    if fit.trust is None or fit.trust.counted is fit.trust.cells:
        return fit.cells, place
    cast, names = fit.trust.cells, (*fit.cells.annotators, *fit.suspects.names)
    new = np.full(cast.n_annotators, -1)
    new[place] = np.arange(len(names))
    rows = new[cast.annotator] >= 0
    return cast.take(rows, annotators=names, annotator=new[cast.annotator[rows]]), place


def suspicion(fit: Fit) -> Floats:
    """Return the probability that somebody is anomalous, or favours or hates one competitor, shape (M,)."""
    known = by_kinds(fit, places(fit))
    if known is not None:
        return known[1]
    return anomaly_probability(np.concatenate([drawn.net for _, drawn in draw_agreement(fit)], axis=1))


def suspicion_in(columns: Columns, fit: Fit) -> Floats:
    """Return the same probability in the order of a table of annotators: by its draws, or by the kinds if it is."""
    cast, place = everybody(fit)
    known = by_kinds(fit, place)
    if known is None:
        return np.asarray(columns["anomaly_probability"])
    found = dict(zip(cast.annotators, known[1].tolist(), strict=True))
    return np.array([found[name] for name in columns["annotator"]])


def by_kinds(fit: Fit, place: Ints) -> tuple[Floats, Floats] | None:
    """A_k by the kinds of annotators, where they were looked for; and the probability of that or of favour."""
    if fit.trust is None or fit.trust.kinds is None:
        return None
    low, suspect = low_agreement(fit.trust.kinds, TOLERANCE)
    return low[place], np.maximum(suspect[place], fit.trust.favour[place])


def one_sided_probability(agreement: Agreement) -> Floats:
    """Probability that the side decides, shape (M,); zero where the model has no position effect per annotator."""
    if agreement.pull is None:
        return np.zeros(agreement.net.shape[1])
    return np.asarray((np.abs(agreement.pull) > np.maximum(agreement.net, ONE_SIDED)).mean(axis=0))


def ways(model: Model, cells: Cells, against: Floats, anomaly: Floats, one_sided: Floats) -> np.ndarray:
    """In what way every annotator is anomalous, or would be; ``against`` is the probability that D_k < 0."""
    counts = np.column_stack([sum_by(cells.annotator, column, cells.n_annotators) for column in cells.counts.T])
    seen = model.seen_counts(counts)
    ties, votes = seen[TIE:].sum(axis=0), seen.sum(axis=0)
    return np.select(
        [against > CLEARLY, one_sided > np.minimum(anomaly, ANOMALOUS), ties > ALWAYS * votes],
        ["adversarial", "one-sided", "always ties"],
        "uninformative",
    ).astype(object)
