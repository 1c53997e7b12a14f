"""How time and memory grow with votes, competitors and annotators, and by which power.

    uv run python benchmarks/growth.py [--curves votes competitors annotators] [--most 10000] [--into FOLDER]

Simulated votes in Parquet files (``simulated.py``), from file to leaderboard. Every point is a process of its own that
has fitted two small arenas before, so that nothing is compiled while the clock runs; points of less than two seconds
are measured up to four times, of which the first does not count. After a point that does not end in a minute, no
larger one of its curve is tried.
"""

import statistics
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import Clock, Unfinished, digits, in_own_process, keep, markdown, parser, peak_mib, publish
from simulated import fit_small_arenas, write_votes

import bayes_arena as ba

LIMIT, LAPS, SECONDS = 60.0, 4, 2.0
"""When a process is stopped; how often it measures, at most, and until it has taken how long."""
SIZES = {
    "votes": [10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 100_000_000],
    "competitors": [10, 30, 100, 300, 1000, 3000, 10_000],
    "annotators": [10, 100, 1000, 10_000, 100_000, 1_000_000],
}
PARTS = ["read", "fit", "leaderboard"]
SAID = (
    "Powers are fitted by least squares to the logarithms of the upper half of the sizes. `MiB` is the peak of the "
    "process, of which imports and what is compiled take some 200 to 300. A curve that is not named in the command "
    "stands as an earlier run left it."
)


@dataclass(frozen=True)
class Curve:
    """A fit, and what of the votes grows; the rest of them stays as it is."""

    grows: str
    name: str
    fit: dict[str, Any]
    votes: dict[str, int] = field(default_factory=dict)


DAVIDSON = ba.Model("Davidson", ties="davidson")
SPARSE = {"votes": 1_000_000, "opponents": 20}
CURVES = [
    Curve("votes", "m-ELO, 129 competitors", {"model": "m-elo"}),
    Curve("votes", "am-Davidson, 1,000 annotators, robust=False", {"robust": False}, {"annotators": 1000}),
    Curve("competitors", "m-ELO, 1 million votes, 20 opponents each", {"model": "m-elo"}, SPARSE),
    Curve("competitors", "Davidson, 1 million votes, 20 opponents each", {"model": DAVIDSON, "prior": "flat"}, SPARSE),
    Curve(
        "competitors",
        "am-Davidson, 100,000 votes, 20 opponents each, 100 annotators, robust=False",
        {"robust": False},
        {"votes": 100_000, "opponents": 20, "annotators": 100},
    ),
    Curve("annotators", "am-Davidson, 1 million votes, robust=False", {"robust": False}, {"votes": 1_000_000}),
    Curve("annotators", "am-Davidson, 1 million votes, robust=True", {"robust": True}, {"votes": 1_000_000}),
]


def write(folder: str, size: int, number: int) -> list[Path]:
    curve = CURVES[number]
    return write_votes(Path(folder), **curve.votes, **{curve.grows: size})


def measure(paths: list[Path], number: int) -> dict[str, Any]:
    """Time the parts of one point in this process."""
    options = CURVES[number].fit
    fit_small_arenas(**options)
    laps: list[dict[str, float]] = []
    while not laps or (len(laps) < LAPS and sum(lap["wall_s"] for lap in laps) < SECONDS):
        clock = Clock()
        cells = ba.read_votes(paths)
        parts = [clock.lap()]
        fit = ba.fit(cells, **options)
        parts.append(clock.lap())
        ba.leaderboard(fit)
        parts.append(clock.lap())
        of_parts = {f"{name}_{key}": part[key] for name, part in zip(PARTS, parts, strict=True) for key in part}
        laps.append({key: sum(part[key] for part in parts) for key in parts[0]} | of_parts)
    counted = laps[1:] or laps
    medians = {key: statistics.median(lap[key] for lap in counted) for key in laps[0]}
    return medians | {"laps": len(counted), "peak_mib": peak_mib(), "cells": len(cells.a)}


def draw(number: int, sizes: list[int]) -> list[dict[str, Any]]:
    """Measure a curve, from small to large."""
    curve, runs = CURVES[number], []
    for size in sizes:
        row = {"row": curve.grows, "what": curve.name, "size": size, "note": None}
        print(f"{curve.name}: {size:,} {curve.grows}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            paths = in_own_process(write, folder, size, number)
            found = paths if isinstance(paths, Unfinished) else in_own_process(measure, paths, number, limit=LIMIT)
        if isinstance(found, Unfinished):
            runs.append(row | {"note": found.why})
            break
        runs.append(row | found)
    return runs


def exponent(sizes: pl.Series, values: pl.Series) -> float:
    """Return the power by which values grow with sizes, by least squares on logarithms over the upper half of them."""
    half = max((len(sizes) + 1) // 2, 2)
    return float(np.polyfit(np.log(sizes.tail(half)), np.log(values.tail(half)), 1)[0])


def section(name: str, runs: pl.DataFrame) -> str:
    """Return the table of one curve and its exponents."""
    rows = []
    for run in runs.iter_rows(named=True):
        if run["wall_s"] is None:
            rows.append([f"{run['size']:,}", run["note"], *[""] * 6])
            continue
        parts = (digits(run[f"{part}_wall_s"]) for part in PARTS)
        totals = (digits(run["wall_s"]), *parts, digits(run["cpu_s"]), f"{run['peak_mib']:,.0f}", f"{run['cells']:,}")
        rows.append([f"{run['size']:,}", *totals])
    header = [str(runs["row"][0]), "s", *PARTS, "CPU s", "MiB", "cells"]
    page, done = f"## {name}\n\n{markdown(header, rows)}", runs.drop_nulls("wall_s")
    if len(done) < 2:
        return page
    powers = [exponent(done["size"], done[key]) for key in ("wall_s", "cpu_s", "peak_mib")]
    said = "Seconds grow with the power {:.2f}, CPU seconds with {:.2f}, memory with {:.2f}."
    return f"{page}\n\n{said.format(*powers)}"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--curves", nargs="+", choices=list(SIZES), default=list(SIZES))
    options.add_argument("--most", type=int, help="leave out larger sizes", default=max(SIZES["votes"]))
    given = options.parse_args()
    for number, curve in enumerate(CURVES):
        sizes = [size for size in SIZES[curve.grows] if size <= given.most]
        if curve.grows in given.curves and sizes:
            table = keep(given.into, "growth", draw(number, sizes), by="what")
    curves = [(curve.name, table.filter(pl.col("what") == curve.name)) for curve in CURVES]
    publish(given.into, "growth", "Growth", [SAID, *(section(name, own) for name, own in curves if len(own))])


if __name__ == "__main__":
    main()
