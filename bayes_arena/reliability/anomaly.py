"""The probability that an annotator is anomalous (hardly votes with the ranking), and in what way.

The anomaly probability of annotator k is

    A_k = P(D_k < TOLERANCE * median_j D_j | votes),

with the net agreement D_k of :mod:`bayes_arena.reliability.agreement`: scale-free, and stable until nearly half of
the annotators are anomalous. In a guarded fit it is computed from a mixture of regular annotators, guessers and
adversaries (:mod:`bayes_arena.trust.mixture.agreement`): a model in which all annotators scatter around one mean
mistakes a fifth of guessers for wide scatter, and understates A_k for each. Otherwise it is a share of the draws, with
the median taken draw by draw. An annotator whose votes the side decides need not be anomalous in this sense, because
D_k leaves the side out: one-sidedness is the probability that the side's pull |S_k| exceeds both D_k and ``ONE_SIDED``.
Nor need an annotator who favours or hates a competitor (:mod:`bayes_arena.trust`).
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
"""Share of the median annotator's net agreement below which an annotator is anomalous. Of 0.1, 0.2 and 0.3 it found
perturbed annotators best (mean F1 .968, .976, .957 over LLMFAO twice and simulated arenas)."""
ANOMALOUS = 0.5
"""Probability above which an annotator is more likely anomalous than not."""
WATCH = 0.1
"""Probability above which the votes do not clear an annotator."""
ONE_SIDED = 0.5
"""Pull above which the side decides: between equals, three votes in four go to one side (ties counting half)."""
CLEARLY = 0.95
"""Probability of D_k < 0 above which disagreement is adversarial."""
ALWAYS = 0.9
"""Share of ties above which an annotator counts as always calling a tie."""


def anomaly_probability(net: np.ndarray) -> Floats:
    """Return A_k from draws of the net agreement (n_draws, M), shape (M,)."""
    below = np.zeros(net.shape[1])
    for drawn in net:
        below += drawn < TOLERANCE * np.median(drawn)
    return below / len(net)


def places(fit: Fit) -> Ints:
    """Return the index of each annotator among those who cast votes, in the order of the draws of agreement."""
    if fit.trust is None or (fit.cells is fit.trust.cells and not fit.suspects.names):
        return np.arange(fit.cells.n_annotators)
    known = {name: index for index, name in enumerate(fit.trust.cells.annotators)}
    return np.array([known[name] for name in (*fit.cells.annotators, *fit.suspects.names)], dtype=np.int64)


def votes_as_cast(fit: Fit) -> tuple[Cells, Ints]:
    """Return all votes as cast, with annotators in the order of the draws of agreement.

    Returns
    -------
    cells : Cells
    place : ndarray of int, shape (M,)
        Index of each annotator in ``fit.trust.cells``, where the fit has it.
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
    """Return the probability that an annotator is anomalous, or favours or hates one competitor, shape (M,)."""
    known = by_kinds(fit, places(fit))
    if known is not None:
        return known[1]
    return anomaly_probability(np.concatenate([drawn.net for _, drawn in draw_agreement(fit)], axis=1))


def suspicion_in(columns: Columns, fit: Fit) -> Floats:
    """Return :func:`suspicion` in the order of a table of annotators; without kinds, the table's A_k."""
    cast, place = votes_as_cast(fit)
    known = by_kinds(fit, place)
    if known is None:
        return np.asarray(columns["anomaly_probability"])
    found = dict(zip(cast.annotators, known[1].tolist(), strict=True))
    return np.array([found[name] for name in columns["annotator"]])


def by_kinds(fit: Fit, place: Ints) -> tuple[Floats, Floats] | None:
    """Return A_k by the mixture of kinds, and the probability of that or of favouring a competitor; None without it."""
    if fit.trust is None or fit.trust.kinds is None:
        return None
    low, suspect = low_agreement(fit.trust.kinds, TOLERANCE)
    return low[place], np.maximum(suspect[place], fit.trust.favour[place])


def one_sided_probability(agreement: Agreement) -> Floats:
    """Return the probability that the side decides, shape (M,); zero without a position effect per annotator."""
    if agreement.pull is None:
        return np.zeros(agreement.net.shape[1])
    return np.asarray((np.abs(agreement.pull) > np.maximum(agreement.net, ONE_SIDED)).mean(axis=0))


def ways(model: Model, cells: Cells, against: Floats, anomaly: Floats, one_sided: Floats) -> np.ndarray:
    """Return in what way each annotator is anomalous, or would be; ``against`` is the probability that D_k < 0."""
    counts = np.column_stack([sum_by(cells.annotator, column, cells.n_annotators) for column in cells.counts.T])
    seen = model.seen_counts(counts)
    ties, votes = seen[TIE:].sum(axis=0), seen.sum(axis=0)
    return np.select(
        [against > CLEARLY, one_sided > np.minimum(anomaly, ANOMALOUS), ties > ALWAYS * votes],
        ["adversarial", "one-sided", "always ties"],
        "uninformative",
    ).astype(object)
