"""How certain numbers are: a covariance, and the distribution around it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from bayes_arena.arrays import Floats
from bayes_arena.model.constants import TINY
from bayes_arena.said import Note
from bayes_arena.votes.votes import PROMPT

MANY_CLUSTERS = 20  # of which it is not their number that makes them few
NORMAL = 1.96  # half the width of a normal interval at .95, in standard deviations


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How certain some numbers are.

    Attributes
    ----------
    name : str
        The kind of interval.
    covariance : ndarray, shape (m, m)
    df : float
        Degrees of freedom of Student's t; infinite for the normal distribution.
    cluster : str, optional
        What votes of a cluster share.
    n_clusters : int
        Number of clusters; 0 without.
    are_few : bool
        Whether these are too few to tell how clusters differ.
    notes : tuple of Note
        What intervals do not allow for.
    samples : ndarray, shape (samples, m), optional
        Samples of NUTS, whose quantiles are the bounds.
    """

    name: str
    covariance: Floats
    df: float = np.inf
    cluster: str | None = None
    n_clusters: int = 0
    are_few: bool = False
    notes: tuple[Note, ...] = ()
    samples: Floats | None = None

    @property
    def sd(self) -> Floats:
        """Standard deviations, (m,)."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))

    @property
    def allowance(self) -> tuple[Note, ...]:
        """What intervals allow for; nothing without clusters."""
        if self.cluster is None:
            return ()
        clusters = in_plural(self.cluster)
        text = f"Intervals allow for new {clusters} like these."
        if self.are_few:
            n = self.n_clusters
            few = (
                f"{n} {clusters} are few"
                if n < MANY_CLUSTERS
                else (f"Few of the {n} {clusters} have most of the votes")
            )
            text = f"{few}: how new ones differ they cannot tell."
        return (Note("allowance", text),)

    def bounds(self, value: Floats, level: float) -> tuple[Floats, Floats]:
        """Return the lower and upper bounds of numbers (m,) at a level."""
        if self.samples is not None:
            tail = (1 - level) / 2
            lower, upper = np.quantile(self.samples, [tail, 1 - tail], axis=0)
            return lower, upper
        width = half_width(level, self.df) * self.sd
        return value - width, value + width

    def p_above_zero(self, value: Floats) -> Floats:
        """Return the probabilities that numbers (m,) are above zero."""
        if self.samples is not None:
            return (self.samples > 0).mean(axis=0)
        z = value / np.maximum(self.sd, TINY)
        return np.asarray(stdtr(self.df, z) if np.isfinite(self.df) else ndtr(z))


def in_plural(cluster: str) -> str:
    """Return what clusters are called: prompts, annotators, or levels of a slice."""
    return f"{cluster}s" if cluster in (PROMPT, "annotator") else f"levels of {cluster}"


def half_width(level: float, df: float = np.inf) -> float:
    """Return half the width of an interval at a level, in standard deviations.

    It is a quantile of Student's t, or of the normal distribution.
    """
    p = (1 + level) / 2
    return float(stdtrit(df, p) if np.isfinite(df) else ndtri(p))
