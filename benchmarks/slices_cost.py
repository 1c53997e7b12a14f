"""What do slices cost? CPU seconds of fits, one thread.

    OMP_NUM_THREADS=1 uv run python benchmarks/slices_cost.py [--large] [--without FOLDER]

Data as in ``slices_heldout.py``. With ``--large`` also 100,000 simulated votes on 30,000 prompts by 200 annotators on
20 competitors: seconds of a Newton step, of the whole fit, and the peak of memory. ``--without`` names another
checkout, the one before slices, and compares fits without them: medians, this checkout and that one in turn.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from slices_boards import simulate
from slices_heldout import BASE, DATA, SETS, read

import bayes_arena as ba
from bayes_arena.votes.names import ANNOTATOR, PROMPT

LAPS = 5
LARGE = {"competitors": 20, "prompts": 30_000, "annotators": 200, "votes": 100_000}
ANSWERS = replace(BASE, strength_by=(PROMPT,), ties_by=(PROMPT,))
PLAIN = """
import sys, time, warnings
sys.path.insert(0, sys.argv[1])
import bayes_arena as ba
warnings.simplefilter("ignore")
folder, no_prompts = sys.argv[2], {"prompt": False} if sys.argv[3] == "new" else {}
cells = ba.read_votes(folder + "/llmfao.csv", **no_prompts)
for name, task in {
    "am-ELO flat, annotators of more than 50 votes": lambda: ba.fit(
        ba.keep_annotators(cells, more_than=50), model="am-elo", prior="flat"
    ),
    "am-davidson": lambda: ba.fit(cells.take(slice(None)), model="am-davidson"),
    "m-ELO flat": lambda: ba.fit(cells.take(slice(None)), model="m-elo", prior="flat"),
    "file to leaderboard, am-davidson": lambda: ba.leaderboard(
        ba.fit(ba.read_votes(folder + "/llmfao.csv", **no_prompts))
    ),
}.items():
    times = []
    for _ in range(8):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    print(name, min(times[2:]), sep="|")
"""


def seconds(task: Callable[[], ba.Fit]) -> tuple[float, ba.Fit]:
    """Return the median of the CPU seconds, and the fit; the first run warms up."""
    times = []
    for _ in range(LAPS + 1):
        start = time.process_time()
        fit = task()
        times.append(time.process_time() - start)
    return statistics.median(times[1:]), fit


def real() -> None:
    """Print the seconds of fits of real votes."""
    print("| | numbers of slices | CPU s | steps | CPU s a step |\n" + "|---" * 5 + "|")
    for title, (name, prompt) in SETS.items():
        cells = read(name, prompt)
        everything = replace(ANSWERS, strength_by=(PROMPT, ANNOTATOR), ties_by=(PROMPT, "competitor"))
        for what, model in {"am-davidson": BASE, "with answers": ANSWERS, "everything": everything}.items():
            spent, fit = seconds(lambda cells=cells, model=model: ba.fit(cells.take(slice(None)), model=model))
            steps = fit.mode.iterations
            print(f"| {title}, {what} | {len(fit.point.slices):,} | {spent:.2f} | {steps} | {spent / steps:.3f} |")


def large() -> None:
    """Print the seconds of a fit of many prompts with few votes each."""
    cells = simulate(0, **LARGE).cells
    print("\n" + ", ".join(f"{value:,} {key}" for key, value in LARGE.items()))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.process_time()
    fit = ba.fit(cells, model=ANSWERS)
    spent, steps = time.process_time() - start, fit.mode.iterations
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(fit.point.slices):,} numbers of slices: {spent:.1f} CPU s, {steps} steps, {spent / steps:.2f} a step;")
    print(f"peak {peak:,.0f} MB, {peak - before:,.0f} more than after reading; {fit.spreads}")


def without(folder: str) -> None:
    """Print how long fits without slices take, beside another checkout."""
    found: dict[str, list[list[float]]] = {}
    checkouts = {"new": str(Path(ba.__path__[0]).parent), "old": folder}
    for _ in range(LAPS - 2):
        for place, (kind, checkout) in enumerate(checkouts.items()):
            command = [sys.executable, "-c", PLAIN, checkout, str(DATA), kind]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            for line in answer.splitlines():
                name, value = line.split("|")
                found.setdefault(name, [[], []])[place].append(float(value))
    print("\n| without slices, CPU s | this checkout | the other | ratio |\n|---|---|---|---|")
    for name, (new, old) in found.items():
        ratio = statistics.median(new) / statistics.median(old)
        print(f"| {name} | {statistics.median(new):.4f} | {statistics.median(old):.4f} | {ratio:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--without", default="", metavar="FOLDER")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ba.ArenaWarning)
    if options.without:
        without(options.without)
    elif options.large:
        large()
    else:
        real()


if __name__ == "__main__":
    main()
