"""The bootstrap: the spread of an estimate over fits to votes resampled with replacement.

A resample has as many votes as the original, each drawn from it independently: a multinomial over the columns (row of
the tally, outcome). A whole weight w counts as w votes. A cluster bootstrap draws as many clusters as the original has,
each with all its votes; an annotator drawn twice has twice the votes and one set of parameters. The weight of every
annotator in r* (:mod:`bayes_arena.inference.projection`) is fixed at that in the original votes, as for the other
intervals, and so are spreads that ``method="marginal"`` estimated.

Source: Efron (1979), Annals of Statistics 7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np

from bayes_arena.errors import FitError, IdentificationWarning, ModelError, NotIdentifiedError, NoVotesError, warn
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.progress import report
from bayes_arena.ratings.intervals.contract import Interval, Quantity, Summary, equal_tailed, require_point_estimate
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells, with_counts
from bayes_arena.votes.groups import groups_of
from bayes_arena.votes.outcomes import whole_votes


@dataclass(frozen=True)
class Bootstrap(Interval):
    """Quantiles of fits to votes, or clusters of votes, drawn with replacement.

    For posterior modes (``method="map"``, or ``"marginal"`` by Laplace).

    Attributes
    ----------
    resamples : int
        Number of fits.
    seed : int
        The same seed gives the same draws.
    by : str, optional
        What votes of a cluster share: ``"annotator"``, or a slice of the votes such as ``"prompt"``. By default votes
        are drawn one by one.

    Raises
    ------
    ModelError
        If the number or seed is invalid.

    Examples
    --------
    >>> table = leaderboard(fit(example_arena().votes), interval=Bootstrap(resamples=5))
    >>> table.attrs["interval"]
    'bootstrap'

    References
    ----------
    Efron, B. (1979), "Bootstrap methods: another look at the jackknife", Annals of Statistics 7.
    """

    name: ClassVar[str] = "bootstrap"
    resamples: int = 200
    seed: int = 0
    by: str | None = None

    def __post_init__(self) -> None:
        if not all(isinstance(one, int) for one in (self.resamples, self.seed)) or self.resamples < 2 or self.seed < 0:
            raise ModelError(
                "A bootstrap needs at least two resamples and a seed of at least 0, not "
                f"{self.resamples!r} and {self.seed!r}."
            )

    def summarise(self, fit: Fit, quantity: Quantity, level: float) -> Summary:
        """Summarise functions of the parameters by the spread of their values over the fits."""
        drawn = quantity.drawn(refit(fit, self.resamples, self.seed, by=self.by))
        return Summary(quantity.value, drawn.std(axis=0, ddof=1), *equal_tailed(drawn, level))

    def sampled(self, fit: Fit) -> Fit:
        """Return the fit with the modes of the resamples as its draws."""
        return replace(fit, samples=refit(fit, self.resamples, self.seed, by=self.by))


def refit(fit: Fit, resamples: int, seed: int, *, by: str | None = None) -> Draws:
    """Fit the model to votes, or clusters ``by`` something, drawn with replacement.

    Every fit starts from the mode of the original votes, so that it keeps the direction of the ranking where theta is
    free. A draw is the estimate plus the difference between a resample's mode and that of all votes; resamples that
    have no mode, or no longer connect competitors, are left out with a warning.
    """
    require_point_estimate(fit, Bootstrap.name)
    whole = fit.point if fit.covariances is None else find_mode(fit.mode.problem, start=fit.point).point
    modes: list[Mode] = []
    lost: Counter[str] = Counter()
    with one_thread():
        drawn = _resampled(fit, seed) if by is None else _resampled_by(fit.cells, seed, by)
        for index, cells in enumerate(islice(drawn, resamples)):
            report("resamples", index, resamples)
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
    report("")
    if lost:
        reasons = ", ".join(f"{count} × {reason}" for reason, count in sorted(lost.items()))
        trouble = f"{lost.total()} of {resamples} resamples of the votes have no estimate ({reasons})"
        remedy = "Use prior='default', which always has one, or interval='sandwich'."
        if len(modes) <= resamples / 2:
            raise NotIdentifiedError(f"{trouble}: too many for a bootstrap. {remedy}")
        narrow = f"{trouble} and are left out; bootstrap intervals are therefore too narrow."
        warn(f"{narrow} {remedy}", IdentificationWarning)
    strength, common, own = (
        getattr(fit.point, name) + np.array([getattr(mode.point, name) for mode in modes]) - getattr(whole, name)
        for name in ("strength", "common", "own")
    )
    return Draws.of(fit.mode.problem, strength, common, own, on=fit.view)


def _resampled(fit: Fit, seed: int) -> Iterator[Cells]:
    """Yield resamples of the votes without end."""
    tally = fit.target.tally  # no finer than the model needs, so fewer columns than the cells have
    votes = whole_votes(tally.counts).ravel()
    rng = np.random.default_rng(seed)
    while True:
        counts = rng.multinomial(votes.sum(), votes / votes.sum()).reshape(tally.counts.shape)
        rows = counts.any(axis=1)
        yield replace(
            fit.cells,
            a=tally.i[rows],
            b=tally.j[rows],
            annotator=tally.k[rows],
            counts=counts[rows].astype(np.float64),
            features=dict(zip(fit.model.features, tally.features[:, rows], strict=True)),
            slices={},
            slice_names={},
        )


def _resampled_by(cells: Cells, seed: int, by: str) -> Iterator[Cells]:
    """Yield resamples of the clusters, each with all its votes, without end."""
    clusters = groups_of(cells, by)
    rng = np.random.default_rng(seed)
    while True:
        times = rng.multinomial(clusters.size, np.full(clusters.size, 1 / clusters.size))
        yield with_counts(cells, times[clusters.of_cell, None] * cells.counts)
