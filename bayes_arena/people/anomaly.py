"""The probability that an annotator is anomalous.

The net agreement of annotator k is

    D_k = mean over pairs of competitors of P(k votes for the better) - P(for the worse),

at k's own discrimination and propensity to tie, and without a side: 0 by chance, 1 for
who always votes with the others, negative for who votes against them. Who always ties has
D near 0, whatever theta. The probability of an anomaly is

    P(D_k < .4 median_j D_j),

over draws from the posterior, with the median taken draw by draw: no scale enters, and a
large minority of bad annotators does not move it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.fits.draws import draw
from bayes_arena.fits.result import Fit
from bayes_arena.model.effects import outcomes_of

DRAWS = 500
SHARE = 0.4  # of the median agreement below which an annotator is anomalous
LEADS = 24  # quantiles of the leads that stand for all pairs
VALUES_AT_ONCE = 100_000  # in a block of draws, annotators and leads


@dataclass(frozen=True, eq=False)
class Agreement:
    """Draws of the annotators' net agreement, (draws, annotators)."""

    draws: Floats

    @property
    def mean(self) -> Floats:
        """Mean agreement, (annotators,)."""
        return self.draws.mean(axis=0)

    def bounds(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return intervals of the agreement, each (annotators,)."""
        tail = (1 - level) / 2
        lower, upper = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        return lower, upper

    @property
    def p_anomaly(self) -> Floats:
        """Probability of an anomaly, (annotators,)."""
        median = np.median(self.draws, axis=1, keepdims=True)
        return np.mean(self.draws < SHARE * median, axis=0)


def agreement_of(fit: Fit, seed: int = 0) -> Agreement:
    """Return draws of the annotators' agreement.

    Parameters
    ----------
    fit : Fit
        Of a model with discrimination.
    seed : int
    """
    draws = draw(fit, DRAWS, seed)
    leads = lead_quantiles(draws["strength"])
    theta = draws["discrimination"]
    outcomes = outcomes_of(fit.model)
    offsets = []
    for name in outcomes.offsets:
        offset = draws[name] + draws.get(f"{name}_by_annotator", 0.0)
        offsets.append(np.broadcast_to(offset, theta.shape))
    points = 2 * outcomes.points - 1
    agreement = np.empty_like(theta)
    step = max(VALUES_AT_ONCE // (DRAWS * LEADS), 1)
    for start in range(0, theta.shape[1], step):
        subset = slice(start, start + step)
        eta = theta[:, subset, None] * leads[:, None, :]
        z = [eta, *(offset[:, subset, None] + 0 * eta for offset in offsets)]
        logits = np.tensordot(outcomes.phi, np.stack(z), 1)
        logits -= logits.max(axis=0)
        p = np.exp(logits, out=logits)
        net = np.tensordot(points, p, 1) / p.sum(axis=0)
        agreement[:, subset] = net.mean(axis=-1)
    return Agreement(agreement)


def lead_quantiles(strength: Floats) -> Floats:
    """Return quantiles of the leads over all pairs, in every draw, (draws, LEADS).

    Quantiles change smoothly with the strengths, as pairs picked by rank would not.
    """
    n = strength.shape[1]
    above, below = np.triu_indices(n, k=1)
    if len(above) > 20 * LEADS:
        # Every competitor with those so many places further round: each is as often in it.
        distances = np.unique(
            np.linspace(1, n // 2, max(20 * LEADS // n, 1)).astype(int)
        )
        above = np.tile(np.arange(n), len(distances))
        below = (above + np.repeat(distances, n)) % n
        strength = np.sort(strength, axis=1)
    leads = np.abs(strength[:, above] - strength[:, below])
    middle = (np.arange(LEADS) + 0.5) / LEADS
    return np.quantile(leads, middle, axis=1).T
