"""The spread of an estimate by fitting it again to votes drawn with replacement.

A resample has as many votes as there are, each an independent draw from them: a multinomial over the columns (row of
the tally, outcome). A whole weight w counts as w votes. The share of every annotator in r*
(:mod:`bayes_arena.inference.projection`) is held at that of the votes as they are, as for the other intervals.

Source: Efron (1979), Annals of Statistics 7.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bayes_arena.errors import FitError, IdentificationWarning, ModelError, NotIdentifiedError, NoVotesError
from bayes_arena.fits.result import Draws, Fit
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.progress import report
from bayes_arena.ratings.intervals.contract import (
    Interval,
    Quantity,
    Summary,
    equal_tailed,
    require_point_estimate,
)
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells, whole_votes


@dataclass(frozen=True)
class Bootstrap(Interval):
    """Quantiles of fits to votes drawn with replacement.

    Attributes
    ----------
    resamples : int
        How many fits.
    seed : int
        The same seed gives the same draws.

    Raises
    ------
    ModelError
        If the number or seed is not possible.

    References
    ----------
    Efron, B. (1979), "Bootstrap methods: another look at the jackknife", Annals of Statistics 7.
    """

    name: ClassVar[str] = "bootstrap"
    resamples: int = 200
    seed: int = 0

    def __post_init__(self) -> None:
        if not all(isinstance(one, int) for one in (self.resamples, self.seed)) or self.resamples < 2 or self.seed < 0:
            raise ModelError(
                "A bootstrap takes two resamples or more and a seed of 0 or more, not "
                f"{self.resamples!r} and {self.seed!r}."
            )

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Estimate functions of the parameters, with the spread of their values in the fits."""
        drawn = quantity.drawn(refit(fit, self.resamples, self.seed))
        return Summary(quantity.value, drawn.std(axis=0, ddof=1), *equal_tailed(drawn, level))

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit with the modes of the resamples as its draws."""
        return replace(fit, samples=refit(fit, self.resamples, self.seed))


def refit(fit: Fit, resamples: int, seed: int) -> Draws:
    """Fit the model to votes drawn with replacement.

    Every fit starts from the mode of the votes as they are, so where theta is free it stays on that side of the
    ranking.

    Parameters
    ----------
    fit : Fit
        A posterior mode (``method="map"``).
    resamples : int
        How many times.
    seed : int
        The same seed gives the same draws.

    Returns
    -------
    Draws
        The mode of every resample that has one.

    Warns
    -----
    IdentificationWarning
        If resamples have no finite estimate, or lose the connection between competitors, and are left out.

    Raises
    ------
    ModelError
        If the fit is not a mode, or votes are weighted by fractions.
    NotIdentifiedError
        If the estimate lies at infinity, or most resamples have no estimate.
    """
    require_point_estimate(fit, Bootstrap.name)
    modes: list[Mode] = []
    lost: Counter[str] = Counter()
    with one_thread():
        for cells in _resampled(fit, resamples, seed):
            try:
                mode = find_mode(replace(fit.mode.problem, cells=cells), start=fit.point)
            except (FitError, NoVotesError) as error:
                lost[type(error).__name__] += 1
                continue
            if mode.at_infinity:
                lost["no finite estimate"] += 1
            elif mode.laplace.shifts.shape != fit.laplace.shifts.shape:
                lost["competitors no longer connected"] += 1
            else:
                modes.append(mode)
    if lost:
        reasons = ", ".join(f"{count} × {reason}" for reason, count in sorted(lost.items()))
        trouble = f"{lost.total()} of {resamples} resamples of the votes have no estimate ({reasons})"
        remedy = "Use prior='default', which always has one, or interval='sandwich'."
        if len(modes) <= resamples / 2:
            raise NotIdentifiedError(f"{trouble}: too many for a bootstrap. {remedy}")
        warnings.warn(
            f"{trouble} and are left out: bootstrap intervals are too narrow. {remedy}",
            IdentificationWarning,
            stacklevel=2,
        )
    strength, common, own = (
        np.array([getattr(mode.point, name) for mode in modes]) for name in ("strength", "common", "own")
    )
    return Draws.of(fit.mode.problem, strength, common, own)


def _resampled(fit: Fit, resamples: int, seed: int) -> Iterator[Cells]:
    """As many votes as there are, drawn with replacement, again and again."""
    tally = fit.target.tally  # no finer than the model needs, so fewer columns than the cells have
    votes = whole_votes(tally.counts).ravel()
    rng = np.random.default_rng(seed)
    for index in range(resamples):
        report("resamples", index, resamples)
        counts = rng.multinomial(votes.sum(), votes / votes.sum()).reshape(tally.counts.shape)
        rows = counts.any(axis=1)
        yield replace(
            fit.cells,
            a=tally.i[rows],
            b=tally.j[rows],
            annotator=tally.k[rows],
            counts=counts[rows].astype(np.float64),
            features=dict(zip(fit.model.features, tally.features[:, rows], strict=True)),
        )
    report("")
