"""What was asked of large arenas, what was measured, and how far that is from what the machine allows.

    uv run --group benchmark python benchmarks/scale.py [--rows alike sparse ...] [--into FOLDER]

Rows that are not named stay as the CSV file has them. The floor of a row is the time to do what cannot be left out,
once and by one thread: to move the bytes of the files, of the codes that they hold (four a value) and of the cells at
the speed of memory, and to take each exponential of the likelihood at one point. Iterations are not in it. Bandwidth
and exponentials are measured in the same run as the row.
"""

import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from measuring import Unfinished, digits, in_own_process, keep, markdown, parser, publish, timed
from scale_rows import (
    CROWD,
    LARGE,
    NODES,
    of_a_hundred_million,
    of_a_million_annotators,
    of_annotators_alike,
    of_boards,
    of_directions,
    of_leave_one_out,
    of_many_judged,
    of_nuts,
    of_one_vote_each,
    of_rank,
    of_sparse_graph,
    of_unused_annotators,
)


@dataclass(frozen=True)
class Row:
    """What was asked.

    Attributes
    ----------
    name, before, aim : str
        As the table says them; ``before`` is what version 0.1 was reported to do.
    floor : str
        What the floor counts.
    measure : callable
        Runs it; a dictionary with ``wall_s``, and ``said`` where there is more to say, ``bytes`` and ``exps``.
    """

    name: str
    before: str
    aim: str
    floor: str
    measure: Callable[[], Any]


INTEGRAL = f"cells; 2 exponentials a cell and each of {NODES} nodes"
ROWS = {
    "alike": Row(
        f"default fit, {LARGE:,} votes, 129 competitors, {CROWD:,} annotators all alike",
        "ConvergenceError after 200 steps",
        "5 s, 1 GiB",
        INTEGRAL,
        of_annotators_alike,
    ),
    "directions": Row(
        "default fit, 500,000 votes, 150 competitors, 3,000 annotators who disagree along two directions",
        "no directions",
        "none",
        INTEGRAL,
        of_directions,
    ),
    "one vote each": Row(
        "default fit, 200,000 votes, 40 competitors, one vote an annotator",
        "not measured",
        "none",
        INTEGRAL,
        of_one_vote_each,
    ),
    "million": Row(
        "10 million votes, 902,731 annotators: read, fit, `annotators`, `flag`",
        "reading 17 s and 2.5 GiB; the fit not finished after 400 s",
        "90 s, 3 GiB",
        f"file, codes, {INTEGRAL}",
        of_a_million_annotators,
    ),
    "unused": Row(
        f"m-ELO, {LARGE:,} votes, {CROWD:,} annotators of no use to it",
        "5.4 x bare Polars",
        "1.5 x bare within a process, 2 x as one",
        "file, codes",
        of_unused_annotators,
    ),
    "sparse": Row(
        "2,000 competitors, 20 opponents each, 1 million votes, m-ELO: fit, intervals",
        "fit 6.6 CPU s, intervals 2.1",
        "0.05 + 0.14 s; sds within 1 %",
        "cells; an exponential a cell",
        of_sparse_graph(2000),
    ),
    "sparser": Row(
        "the same, 10,000 competitors",
        "every n x n array 0.8 GB",
        "0.3 + 0.9 s, 0.26 GiB",
        "cells; an exponential a cell",
        of_sparse_graph(10_000),
    ),
    "judged": Row(
        "2,000 competitors, 20 opponents each, 100 annotators, 100,000 votes, am-Davidson, not robust: fit, intervals",
        "not measured",
        "sds within 1 %",
        "cells; 2 exponentials a cell",
        of_many_judged(2000),
    ),
    "more judged": Row(
        "the same, 10,000 competitors",
        "not measured",
        "sds within 1 %",
        "cells; 2 exponentials a cell",
        of_many_judged(10_000),
    ),
    "nuts": Row(
        "NUTS, LLMFAO, second process",
        "27.9 s of which 7.7 sampling",
        "1.5 x the sampling; first call ever 30 s",
        "2 exponentials a cell and gradient",
        of_nuts,
    ),
    "rank": Row(
        "`rank` on 9,000 votes, whole process", "1.8 s", "0.7 s", "a process that imports NumPy and Polars", of_rank
    ),
    "largest": Row(
        "100 million votes in Parquet, `rank --model m-elo`, whole process",
        "not measured",
        "under 1 GB, linear in votes",
        "file, codes",
        of_a_hundred_million,
    ),
    "loo": Row(
        f"leave-one-out of {LARGE:,} votes, {CROWD:,} annotators",
        "not measured",
        "10 s, 1 GB, 4,000 draws",
        "2 exponentials a kind of vote that is left out, and draw",
        of_leave_one_out,
    ),
    "boards": Row(
        "a thousand boards of 10 million votes", "a loop", "30 s", "file, codes; an exponential a cell", of_boards
    ),
}


SAID = (
    "The second column is what version 0.1 was reported to do, on two cores; it was not run for this page. One run a "
    "row: what is simulated, imported or compiled is done before the clock starts, but for whole processes, and a row "
    "that is not named in the command stands as an earlier run left it."
)


def rates() -> tuple[float, float]:
    """Return bytes moved and exponentials taken, a second, by one thread."""
    from numba import njit

    @njit(fastmath=True)
    def exponentials(x: np.ndarray) -> float:
        total = 0.0
        for value in x:
            total += np.exp(value)
        return total

    many, few = np.ones(2**26), np.linspace(-3, 3, 2**20)
    other = np.empty_like(many)
    exponentials(few)

    def best(work: Callable[[], object]) -> float:
        return min(timed(work)[1] for _ in range(7))

    return 2 * many.nbytes / best(lambda: np.copyto(other, many)), len(few) / best(lambda: exponentials(few))


def run(key: str) -> dict[str, Any]:
    """Measure a row, and its floor on the same machine; what goes wrong is said in its place."""
    print(ROWS[key].name, file=sys.stderr)
    try:
        found = ROWS[key].measure()
        speed = in_own_process(rates)
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        return {"row": key, "note": f"{type(error).__name__}: {error}"}
    for part in (found, speed):
        if isinstance(part, Unfinished):
            return {"row": key, "note": part.why}
    bandwidth, exps = speed
    floor = {"bytes_a_second": bandwidth, "exps_a_second": exps}
    if "floor_s" not in found:
        floor["floor_s"] = found["bytes"] / bandwidth + found["exps"] / exps
    return {"row": key, "note": None, "said": None, **found, **floor}


def table(runs: pl.DataFrame) -> str:
    """Return the table of what was asked, with what was measured."""
    by_row = {run["row"]: run for run in runs.iter_rows(named=True)}
    rows = []
    for key, row in ROWS.items():
        run = by_row.get(key)
        if run is None or run["note"]:
            rows.append([row.name, row.before, row.aim, run["note"] if run else "not run", "", "", ""])
            continue
        peak = f", {run['peak_mib'] / 2**10:.2f} GiB" if run.get("peak_mib") else ""
        said = f"; {run['said']}" if run["said"] else ""
        cpu = f", {digits(run['cpu_s'])} CPU s" if run.get("cpu_s") else ""
        measured = f"{digits(run['wall_s'])} s{cpu}{peak}{said}"
        times = digits(run["wall_s"] / run["floor_s"])
        rows.append([row.name, row.before, row.aim, measured, digits(run["floor_s"]), row.floor, times])
    return markdown(["", "version 0.1, as reported", "aim", "measured", "floor, s", "counts", "times the floor"], rows)


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--rows", nargs="+", choices=list(ROWS), default=list(ROWS))
    given = options.parse_args()
    for key in given.rows:
        runs = keep(given.into, "scale", [run(key)], by="row")
    parts = [SAID, table(runs)]
    if "bytes_a_second" in runs.columns:
        bandwidth, exps = runs.select(pl.col("bytes_a_second", "exps_a_second").median()).row(0)
        parts.append(
            f"A thread moves {bandwidth / 1e9:.1f} GB and takes {exps / 1e6:,.0f} million exponentials a second. Peak "
            "memory is that of the process, imports included."
        )
    publish(given.into, "scale", "Large arenas", parts)
    if failed := runs.filter(pl.col("row").is_in(given.rows)).drop_nulls("note")["row"].to_list():
        raise SystemExit(f"Not measured: {', '.join(failed)}")


if __name__ == "__main__":
    main()
