"""Periods: when votes were cast, as the slice ``"time"`` of days, weeks, months, quarters or years.

A period is known by its name, ``2026-03-01``, ``2026-W09``, ``2026-03``, ``2026-Q1`` or ``2026``; names sort in the
order of time, and say which periods they are. Times in votes are dates and times as text (ISO 8601; without an offset
they are taken as UTC) or seconds or milliseconds since 1970.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import get_args

import numpy as np
import polars as pl

from bayes_arena.arrays import Ints
from bayes_arena.errors import ModelError, listing
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import TIME, Period

PERIODS: tuple[Period, ...] = get_args(Period)
NAMED: dict[Period, str] = {
    "day": r"(\d{4})-(\d\d)-(\d\d)",
    "week": r"(\d{4})-W(\d\d)",
    "month": r"(\d{4})-(\d\d)",
    "quarter": r"(\d{4})-Q(\d)",
    "year": r"(\d{4})",
}
MOST, VOTES = 60, 10
"""Most periods, and fewest votes per competitor and period, of the finest periods that are chosen."""
WRITTEN = r"^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?\s*(?:Z|UTC|([+-]\d\d:?\d\d))?)?)?)?$"
"""Year, month, day, hour with minute, second and offset of a time as text; a part of it will do."""
FIRST_SECOND, FIRST_MILLISECOND, LAST_MILLISECOND = 1e8, 1e11, 1e14
"""Numbers from the first are seconds since 1970 (from 1973 on), from the second milliseconds, up to the last."""
LATE = timedelta(days=1)
"""How far after now a time may be: clocks and time zones differ."""


def moments(text: pl.Expr) -> pl.Expr:
    """Return times as text, as moments in UTC; null where it is none."""
    number = text.cast(pl.Float64, strict=False)
    seconds = pl.when(number.is_between(FIRST_SECOND, FIRST_MILLISECOND)).then(number * 1e6)
    either = seconds.when(number.is_between(FIRST_MILLISECOND, LAST_MILLISECOND)).then(number * 1e3)
    groups = text.str.extract_groups(WRITTEN)
    part = {group: groups.struct.field(str(group)) for group in range(1, 7)}
    day = pl.format("{}-{}-{}", part[1], part[2].fill_null("01"), part[3].fill_null("01"))
    whole = pl.format("{}T{}{}", day, part[4].fill_null("00:00"), part[5].fill_null(":00"))
    dates = whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False, time_unit="us")
    east = pl.concat_str(part[6].str.slice(0, 3), part[6].str.slice(-2)).cast(pl.Int64, strict=False).fill_null(0)
    dates -= pl.duration(minutes=east.sign() * (east.abs() // 100 * 60 + east.abs() % 100))
    return pl.coalesce(either.round().cast(pl.Int64).cast(pl.Datetime("us")), dates)


def late() -> datetime:
    """Return the moment after which times lie in the future."""
    return datetime.now(UTC).replace(tzinfo=None) + LATE


def name_of(moment: pl.Expr, period: Period) -> pl.Expr:
    """Return the name of the period of a moment."""
    if period == "quarter":
        return pl.format("{}-Q{}", moment.dt.to_string("%Y"), moment.dt.quarter())
    form = {"day": "%Y-%m-%d", "week": "%G-W%V", "month": "%Y-%m", "year": "%Y"}[period]
    return moment.dt.to_string(form)


def chosen_period(moment: pl.Series, votes: float, competitors: int) -> Period:
    """Choose periods for votes cast at these moments: the finest with enough votes, and not too many periods."""
    days = moment.dt.date().unique().to_frame("t")
    counts = {period: days.select(name_of(pl.col("t"), period).n_unique()).item() for period in PERIODS}
    several = [period for period in PERIODS if counts[period] > 1]
    good = [one for one in several if counts[one] <= MOST and votes >= VOTES * competitors * counts[one]]
    few = [one for one in several if counts[one] <= MOST]
    return (good or few[-1:] or several[-1:] or ["day"])[0]


def period_of(names: Sequence[str]) -> Period | None:
    """Return the kind of periods of these names; None if they are not of one kind."""
    kinds = (kind for kind, form in NAMED.items() if all(re.fullmatch(form, name) for name in names))
    return next(kinds, None) if names else None


def are_times(names: Sequence[str]) -> bool:
    """Whether these are all names of periods, or times."""
    if period_of(names) is not None:
        return True
    found = pl.Series(names, dtype=pl.String).to_frame("t").select(moments(pl.col("t")))
    return bool(names) and not found.to_series().has_nulls()


def periods(names: Sequence[str]) -> Ints:
    """Return periods as numbers that count them, given their names."""
    kind = period_of(names)
    try:
        if kind is None:
            raise ValueError
        return np.array([_number(kind, re.fullmatch(NAMED[kind], name)) for name in names], dtype=np.int64)
    except ValueError:
        raise ModelError(
            f"Not periods of one kind in the slice {TIME!r}: {listing(map(repr, names))}. Read the column of the times "
            "with time=... (--time)."
        ) from None


def _number(kind: Period, found: re.Match[str] | None) -> int:
    """Count the periods of a kind up to the one whose name was found."""
    year, *rest = map(int, found.groups() if found else "0")
    if kind == "day":
        return date(year, *rest).toordinal()
    if kind == "week":
        return date.fromisocalendar(year, rest[0], 1).toordinal() // 7
    return year * {"month": 12, "quarter": 4, "year": 1}[kind] + (rest[0] - 1 if rest else 0)


def coded(names: Sequence[str], known: Sequence[str]) -> Ints:
    """Return periods as indices into those known; one that is not is the next later one, or so many after the last."""
    if period_of(names) != period_of(known):
        raise ModelError(
            f"The fit has {period_of(known)}s ({known[0]} to {known[-1]}), and the votes {listing(map(repr, names))}. "
            f"Read them with period={period_of(known)!r} (--period {period_of(known)})."
        )
    wanted, found = periods(names), periods(known)
    beyond = np.maximum(wanted - found[-1], 0)
    return np.where(beyond > 0, len(known) - 1 + beyond, np.searchsorted(found, wanted))


def require_periods(cells: Cells) -> Ints:
    """Return the periods of votes, as numbers; refuse votes of fewer than two."""
    if TIME not in cells.slices:
        raise ModelError(
            "Strengths that move need to know when votes were cast. Name the column of the times when reading them "
            "(time=..., --time)."
        )
    found = periods(cells.slice_names[TIME])
    if len(np.unique(cells.slices[TIME])) < 2:
        raise ModelError(
            f"All votes were cast in one period ({listing(cells.slice_names[TIME])}), so strengths cannot have moved. "
            "Read shorter ones (period=..., --period), or fit with drift=False."
        )
    return found
