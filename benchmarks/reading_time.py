"""Reading 1.67 million votes: CPU seconds beside a bare group-by of Polars.

``python benchmarks/reading_time.py [--old PATH]``; PATH is a checkout of 0.4 with an
environment of its own.  Reading and the group-by, on the same columns, take turns in one
process; each figure is the least of six.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measuring import markdown, python, run, write_page
from scale import ARENAS, simulate

CODE = """
import time
import polars as pl
import bayes_arena as ba
scan = pl.scan_csv if {path!r}.endswith("csv") else pl.scan_parquet
keys = {keys!r}
annotator = "judge" if "judge" in keys else False
least = [float("inf"), float("inf")]
for _ in range(6):
    start = time.process_time()
    ba.read_votes({path!r}, annotator=annotator)
    middle = time.process_time()
    scan({path!r}).group_by(keys).len().collect()
    times = middle - start, time.process_time() - middle
    least = [min(pair) for pair in zip(least, times)]
print(*least)
"""
KEYS = ("model_a", "model_b", "winner")
COLUMNS = {"without annotators": KEYS, "with annotators": (*KEYS, "judge")}


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path)
    old = parser.parse_args().old
    versions = {"now": sys.executable}
    if old:
        versions["0.4"] = str(old / ".venv" / "bin" / "python")
    arena = ARENAS["alike"]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        votes = simulate(arena)
        votes.write_csv(csv := str(Path(folder) / "votes.csv"))
        votes.write_parquet(parquet := str(Path(folder) / "votes.parquet"))
        for kind, path in (("CSV", csv), ("Parquet", parquet)):
            for name, keys in COLUMNS.items():
                cells = [f"{kind}, {name}"]
                for interpreter in versions.values():
                    code = CODE.format(path=path, keys=list(keys))
                    output = run(python(code, interpreter)).output
                    read, bare = map(float, output.split()[-2:])
                    cells += [f"{read:.2f}", f"{bare:.2f}", f"{read / bare:.2f}"]
                rows.append(cells)
                print(cells, file=sys.stderr, flush=True)
    header = ["file"]
    for version in versions:
        header += [f"{version}: read, CPU s", "group-by", "ratio"]
    text = (
        f"{arena.votes:,} votes on {arena.competitors} competitors by {arena.annotators:,} "
        "annotators; `read_votes`, and a group-by of Polars on the same columns.\n"
    )
    command = "python benchmarks/reading_time.py --old PATH"
    write_page(
        "reading_time", "Reading many votes", [text, markdown(header, rows)], command
    )


if __name__ == "__main__":
    main()
