"""The probability that an annotator is anomalous.

The net agreement of annotator k is

    D_k = mean over pairs of competitors of P(k votes for the better) - P(for the worse),

at k's own discrimination and propensity to tie, and without a side: 0 by chance, 1 for
who always votes with the others, negative for who votes against them.  Who always ties
has D near 0, whatever theta.  The probability of an anomaly is

    P(D_k < .4 median_j D_j),

over draws from the posterior, with the median taken draw by draw: no scale enters, and a
large minority of bad annotators does not move it.  Where the direction of the ranking is
open, it is the mean of this and of the probability under the reverse, -D.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import draw
from bayes_arena.fits.result import Fit
from bayes_arena.inference.direction import direction_is_open
from bayes_arena.model.effects import outcomes_of
from bayes_arena.model.likelihood import outcome_probabilities
from bayes_arena.model.spec import Model

SHARE = 0.4  # of the median agreement below which an annotator is anomalous
LEVEL = 0.95  # of intervals
MOST_DRAWS, FEWEST_DRAWS = 1_000, 200
MOST_VALUES = 5_000_000  # draws times annotators, beyond which there are fewer draws
MOST_STRENGTHS = 100  # quantiles of the strengths stand for more competitors
PAIRS = 1_000  # about as many pairs of these stand for all, where there are more
BINS = 12  # of these pairs by lead, each at its mean lead
VALUES_AT_ONCE = (
    100_000  # draws times annotators times bins, to fit a processor's cache
)


@dataclass(frozen=True, eq=False)
class Agreement:
    """The net agreement of annotators, and how likely each is anomalous.

    All are (annotators,): posterior mean and bounds of D, and the probability of an
    anomaly.  ``is_open``: whether the direction of the ranking is.
    """

    mean: Floats
    lower: Floats
    upper: Floats
    p_anomaly: Floats
    is_open: bool


def agreement_of(fit: Fit, seed: int = 0) -> Agreement:
    """Return how closely annotators follow the ranking.

    Parameters
    ----------
    fit : Fit
        Of a model with discrimination.
    seed : int
        Of the draws.
    """
    wanted = MOST_VALUES // fit.votes.n_annotators
    draws = draw(fit, min(max(wanted, FEWEST_DRAWS), MOST_DRAWS), seed)
    agreement = net_agreement(fit.model, draws)
    lower, upper = bounds(agreement)
    p_anomaly = share_below(agreement)
    is_open = direction_is_open(fit.posterior)
    if is_open:
        p_anomaly = (p_anomaly + share_below(-agreement)) / 2
    return Agreement(
        mean=agreement.mean(axis=0),
        lower=lower,
        upper=upper,
        p_anomaly=p_anomaly,
        is_open=is_open,
    )


def share_below(agreement: Floats) -> Floats:
    """Return how often D is far below the median annotator's, (annotators,)."""
    median = np.median(agreement, axis=1, keepdims=True)
    return np.asarray(np.mean(agreement < SHARE * median, axis=0))


def bounds(draws: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper bounds of draws (draws, annotators)."""
    tail = (1 - LEVEL) / 2
    lower, upper = np.quantile(draws, [tail, 1 - tail], axis=0)
    return lower, upper


def net_agreement(model: Model, draws: Mapping[str, Floats]) -> Floats:
    """Return draws of D, (draws, annotators), from draws of the parameters by effect."""
    outcomes = outcomes_of(model)
    leads, weights = binned_leads(draws["strength"])
    theta = draws["discrimination"]
    offsets = []
    for name in outcomes.offsets:
        offset = draws[name] + draws.get(f"{name}_by_annotator", 0.0)
        offsets.append(np.broadcast_to(offset, theta.shape))
    is_win, is_loss = outcomes.points == 1, outcomes.points == 0
    agreement = np.empty_like(theta)
    step = max(VALUES_AT_ONCE // leads.size, 1)
    for start in range(0, theta.shape[1], step):
        part = slice(start, start + step)
        eta = theta[:, part, None] * leads[:, None, :]  # (draws, annotators, bins)
        z = [eta]
        for offset in offsets:
            z.append(np.broadcast_to(offset[:, part, None], eta.shape))
        coordinates = np.stack(z).reshape(len(z), -1)
        p, _ = outcome_probabilities(outcomes.phi, coordinates)
        # Sums of the same numbers in the same order: of a guesser exactly 0.
        difference = p[is_win].sum(axis=0) - p[is_loss].sum(axis=0)
        agreement[:, part] = difference.reshape(eta.shape) @ weights
    return agreement


def binned_leads(strength: Floats) -> tuple[Floats, Floats]:
    """Return mean leads of bins of pairs, in every draw, and the bins' shares of pairs.

    Of many pairs, those some places apart in the ranking are taken, which goes round in a
    circle: so each competitor is in as many.

    Parameters
    ----------
    strength : ndarray, shape (draws, competitors)

    Returns
    -------
    leads : ndarray, shape (draws, bins)
    weights : ndarray, shape (bins,)
    """
    strength = np.sort(strength, axis=1)
    n = strength.shape[1]
    if n > MOST_STRENGTHS:  # quantiles of the strengths, in every draw
        strength = strength[:, (middles(MOST_STRENGTHS) * n).astype(int)]
        n = MOST_STRENGTHS
    first, second = np.triu_indices(n, k=1)
    if len(first) > PAIRS:
        distance = 1 + (middles(PAIRS // n) * (n // 2)).astype(int)
        first = np.tile(np.arange(n), len(distance))
        second = (first + np.repeat(distance, n)) % n
    leads = np.sort(np.abs(strength[:, first] - strength[:, second]), axis=1)
    starts = np.unique(np.arange(BINS) * len(first) // BINS)
    sizes = np.diff(np.append(starts, len(first)))
    return np.add.reduceat(leads, starts, axis=1) / sizes, sizes / len(first)


def middles(count: int) -> Floats:
    """Return the middles of so many equal parts of 0 to 1, (count,)."""
    return (np.arange(count) + 0.5) / count
