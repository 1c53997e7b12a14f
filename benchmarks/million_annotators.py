"""What an arena of many annotators costs: reading, the fit, and every table about them, by time and memory.

    uv run python benchmarks/million_annotators.py [--votes 10000000] [--annotators 902731] [--competitors 129]

Prints a Markdown table of two processes that read the same simulated votes: one with the default fit, which goes on to
all tables, and one with ``robust=False``. Peaks are of the whole process (Linux resets them between stages), the last
row of the table is of the first process from the first stage to the last. What is compiled is compiled before.
"""

import argparse
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from measuring import Clock, forget_peak, peak_mib, timed

import bayes_arena as ba

peaks = list[float]()


def measured[T](stage: str, work: Callable[[], T]) -> T:
    """Print a row of the table, and keep the peak."""
    forget_peak()
    result, wall, cpu = timed(work)
    peaks.append(peak_mib() / 2**10)
    print(f"| {stage} | {wall:.1f} | {cpu:.1f} | {peaks[-1]:.2f} |", flush=True)
    return result


def stages(path: Path, *, robust: bool) -> None:
    """Print the rows of one process."""
    warnings.simplefilter("ignore")
    warm_up = ba.read_votes(ba.simulate(annotators=300, votes=900, seed=1).votes)
    for table in (ba.annotators, ba.flag, ba.leaderboard):
        table(ba.fit(warm_up))
    clock = Clock()
    cells = measured("reading", lambda: ba.read_votes(path))
    if not robust:
        measured("fit, robust=False", lambda: ba.fit(cells, robust=False))
        return
    fit = measured("fit", lambda: ba.fit(cells))
    measured("annotators", lambda: ba.annotators(fit))
    measured("flag", lambda: ba.flag(fit))
    measured("leaderboard", lambda: ba.leaderboard(fit))
    wall, cpu = clock.lap().values()
    print(f"| altogether | {wall:.1f} | {cpu:.1f} | {max(peaks):.2f} |", flush=True)


def main() -> None:
    """Simulate the votes, and let two processes print their rows."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--votes", type=int, default=10_000_000)
    parser.add_argument("--annotators", type=int, default=902_731)
    parser.add_argument("--competitors", type=int, default=129)
    parser.add_argument("--file", type=Path, help="a Parquet file of votes in place of simulated ones")
    parser.add_argument("--process", choices=["robust", "alike"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.process:
        stages(given.file, robust=given.process == "robust")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder) / "votes.parquet"
        if given.file is None:
            made = {"competitors": given.competitors, "annotators": given.annotators, "votes": given.votes}
            ba.simulate(**made, tie_spread=0.8, position_spread=0.2, seed=7).votes.write_parquet(path)
        print(f"    uv run python {shlex.join(sys.argv)}\n")
        print("| stage | wall s | CPU s | peak GiB |\n|---|---:|---:|---:|", flush=True)
        for process in ("robust", "alike"):
            subprocess.run([sys.executable, __file__, "--file", path, "--process", process], check=True)


if __name__ == "__main__":
    main()
