"""Bursts: windows of time in which a competitor won more, or less, than its strength explains.

Let e_v be the score of competitor c in vote v minus E = 1 / (1 + exp(r_j - r_i)), by the strengths on the board. With
the votes on c sorted by time, every window of 8, 16, 32 ... of them, up to half, has

    z = sum of e_v / sqrt(sum of E (1 - E)),

and the statistic of c is the largest |z| of its windows. Its distribution where time does not matter is simulated by
shifting the times of every account circularly by its own random amount: sessions, tastes and habits of an account are
preserved, and only the coincidence between accounts is destroyed. A Gumbel distribution with the mean and standard
deviation of ``SHIFTS`` such maxima gives the p-value of a competitor, which is multiplied by the number of competitors
(Bonferroni). Bursts are found one after the other, each without the votes of the previous ones, since votes for one
competitor are votes against others.

References: Kulldorff, M. (1997), "A spatial scan statistic", Communications in Statistics 26; Abrams, A. M., Kleinman,
K. & Kulldorff, M. (2010), "Gumbel based p-value approximations for spatial scan statistics", IJHG 9.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import polars as pl
from scipy.special import expit

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.errors import ModelError, VotesError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.outcomes import outcome_scores, whole_counts
from bayes_arena.votes.reading.read_votes import read_votes

SHORTEST = 8
"""Fewest votes in a window."""
STEPS = 4
"""Windows that start per window length."""
SHIFTS = 99
TINY = 1e-9


@held
def bursts(fit: Fit, votes: object, *, time: str = "tstamp", level: float = 0.05, seed: int = 0) -> DataFrame:
    """Find windows of time in which a competitor won more, or less, than the fit expects.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    votes : Cells, path, sequence of paths, or dataframe
        Votes with their time: cells that carry it as a slice, ``read_votes(..., slices=["tstamp"])``, or what
        :func:`~bayes_arena.read_votes` reads with this option alone.
    time : str
        Column or slice of the time: numbers in any unit, or dates and times as text (ISO 8601).
    level : float
        Probability of a false alarm where time does not matter, over all competitors.
    seed : int
        Seed of the random shifts.

    Returns
    -------
    pandas.DataFrame
        One row per burst, the clearest first: ``competitor``; ``start`` and ``end``, as numbers or dates; ``votes`` in
        it on the competitor, its ``score`` in them and the ``expected`` score; ``z``; ``p_value``, for all competitors
        together; ``accounts`` that cast them, and ``largest_share``, the share of the most active account (absent where
        annotators are unknown). Empty if there are no bursts.

    Raises
    ------
    ModelError
        If the level is not between 0 and 1, or the votes have a competitor that the fit does not know.
    VotesError
        If the votes cannot be read, or a time is neither a number nor a date.
    """
    return table_of(burst_columns(fit, votes, time=time, level=level, seed=seed), level=level, time=time, shifts=SHIFTS)


def burst_columns(fit: Fit, votes: object, *, time: str = "tstamp", level: float = 0.05, seed: int = 0) -> Columns:
    """Columns of :func:`bursts` (the command line prints them without importing pandas)."""
    require_level(level)
    cells = votes if isinstance(votes, Cells) else read_votes(votes, slices=[time], prompt=False, time=False)
    moments = _moments(cells, time)
    sides, rng, found = _Sides.of(fit, cells, moments), np.random.default_rng(seed), list[_Burst]()
    while (burst := sides.clearest(rng)).p_value <= level:
        found.append(burst)
        sides = sides.take(~np.isin(sides.row, burst.sides.row))
    windows = [burst.sides for burst in found]
    columns: Columns = {
        "competitor": np.array([cells.competitors[burst.competitor] for burst in found], dtype=object),
        "start": [moments.item(int(window.row[0])) for window in windows],
        "end": [moments.item(int(window.row[-1])) for window in windows],
        "votes": whole_counts(np.array([window.weight.sum() for window in windows])),
        "score": np.array([window.score.sum() for window in windows]),
        "expected": np.array([window.expected.sum() for window in windows]),
        "z": np.array([burst.z for burst in found]),
        "p_value": np.array([burst.p_value for burst in found]),
    }
    if cells.n_annotators:
        cast = [sum_by(window.account, window.weight, cells.n_annotators) for window in windows]
        columns["accounts"] = np.array([np.count_nonzero(votes) for votes in cast], dtype=np.int64)
        columns["largest_share"] = np.array([votes.max() / votes.sum() for votes in cast])
    return columns


def _moments(cells: Cells, time: str) -> pl.Series:
    """Return the time of every cell, as numbers or dates."""
    (codes,) = cells.slice_rows([time])
    text = pl.Series(time, cells.slice_names[time], dtype=pl.String)
    number = text.cast(pl.Float64, strict=False)
    number = number.set(~number.is_finite(), None)
    date = text.str.to_datetime(strict=False, time_unit="us", time_zone="UTC").dt.replace_time_zone(None)
    found = min(number, date, key=pl.Series.null_count)
    if found.null_count():
        bad = text.filter(found.is_null()).to_list()
        raise VotesError(
            f"Not a time in {time!r}: {listing(map(repr, bad))}. Use only numbers, or only dates (2024-05-31 12:00:00)."
        )
    return found.gather(pl.Series(codes))


@dataclass(frozen=True, eq=False)
class _Sides:
    """Every vote twice, once from each competitor's side; all arrays have shape (2 n_cells,).

    ``row`` is the cell; ``time`` runs from 0 at the first vote to 1 at the last; ``expected`` and ``variance`` are
    those of the score.
    """

    competitor: Ints
    account: Ints
    row: Ints
    time: Floats
    weight: Floats
    score: Floats
    expected: Floats
    variance: Floats

    @classmethod
    def of(cls, fit: Fit, cells: Cells, moments: pl.Series) -> _Sides:
        """Return the sides of all votes."""
        known = {name: index for index, name in enumerate(fit.cells.competitors)}
        unknown = [name for name in cells.competitors if name not in known]
        if unknown:
            raise ModelError(f"The fit has no competitor called {listing(map(repr, unknown))}. Refit with these votes.")
        strength = fit.board[[known[name] for name in cells.competitors]]
        weight, score = cells.counts.sum(axis=1), cells.counts @ outcome_scores(cells.counts.shape[1])
        p = expit(strength[cells.a] - strength[cells.b])
        row, time = np.arange(len(weight)), moments.cast(pl.Float64).to_numpy()
        return cls(
            competitor=np.concatenate([cells.a, cells.b]),
            account=np.tile(cells.annotator if cells.n_annotators else row, 2),
            row=np.tile(row, 2),
            time=np.tile((time - time.min()) / max(np.ptp(time), TINY), 2),
            weight=np.tile(weight, 2),
            score=np.concatenate([score, weight - score]),
            expected=np.concatenate([weight * p, weight * (1 - p)]),
            variance=np.tile(weight * p * (1 - p), 2),
        )

    def take(self, rows: Any) -> _Sides:
        """Return some rows, in the order given."""
        return _Sides(*(getattr(self, field.name)[rows] for field in fields(self)))

    def clearest(self, rng: np.random.Generator) -> _Burst:
        """Find the most significant window."""
        z, first, last = self.scan(self.time)
        by_chance = np.abs([self.scan(self.shifted(rng))[0] for _ in range(SHIFTS)])
        scale = np.maximum(by_chance.std(axis=0), TINY) * math.sqrt(6) / math.pi
        scanned = last > first
        excess = np.where(scanned, (np.abs(z) - by_chance.mean(axis=0)) / scale, -np.inf)
        c = int(np.argmax(excess))
        p = -math.expm1(-math.exp(-excess[c] - np.euler_gamma)) * int(scanned.sum()) if scanned.any() else 1.0
        rows = self.order(self.time)[first[c] : last[c]]
        return _Burst(c, self.take(rows), float(z[c]), min(p, 1.0))

    def order(self, time: Floats) -> Ints:
        """Return the order of the rows by competitor and time."""
        return np.asarray(np.lexsort((self.row, time, self.competitor)))

    def shifted(self, rng: np.random.Generator) -> Floats:
        """Return the times, those of each account shifted circularly by a random amount."""
        shift = rng.random(int(self.account.max()) + 1)
        return np.asarray((self.time + shift[self.account]) % 1.0)

    def scan(self, time: Floats) -> tuple[Floats, Ints, Ints]:
        """Return z of the clearest window of every competitor, its first row, and the one after its last.

        Rows are in the order of :meth:`order`; z is zero where there are too few votes for two windows.
        """
        order = self.order(time)
        size = np.bincount(self.competitor)
        begin = np.cumsum(size) - size
        score, variance = (
            np.append(0.0, np.cumsum(values[order])) for values in (self.score - self.expected, self.variance)
        )
        best, first, last = np.zeros(len(size)), begin.copy(), begin.copy()
        place = np.arange(len(order)) - np.repeat(begin, size)
        owner = np.repeat(np.arange(len(size)), size)
        length = SHORTEST
        while (size >= 2 * length).any():
            starts = np.flatnonzero((place % (length // STEPS) == 0) & (place + length <= size[owner]))
            starts = starts[size[owner[starts]] >= 2 * length]
            z = (score[starts + length] - score[starts]) / np.sqrt(variance[starts + length] - variance[starts])
            by_size = np.argsort(np.abs(z), kind="stable")  # the largest is written last
            c = owner[starts[by_size]]
            here, where = np.zeros(len(size)), np.zeros(len(size), dtype=np.int64)
            here[c], where[c] = z[by_size], starts[by_size]
            better = np.abs(here) > np.abs(best)
            best[better], first[better], last[better] = here[better], where[better], where[better] + length
            length *= 2
        return best, first, last


@dataclass(frozen=True, eq=False)
class _Burst:
    """A window of votes on a competitor, sorted by time."""

    competitor: int
    sides: _Sides
    z: float
    p_value: float
