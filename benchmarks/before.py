"""Whether fits that use neither grades nor times, criteria or groups are as fast as before there were any.

    git worktree add ../before 35e355eb^ && (cd ../before && uv sync --locked)
    uv run python benchmarks/before.py ../before > benchmarks/results/before.md

Every fit runs in a process of its own, in turn by the code before and the code now, after one of the same votes that is
not counted. Seconds are of the processor, over all threads, the smallest of ``--times``. The last columns leave
out what a default fit did not do before: looking for directions of disagreement, and for promoted competitors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from measuring import markdown

HERE = Path(__file__).parent.parent
DATA = Path(os.environ.get("BAYES_ARENA_DATA") or HERE.parent / "shared" / "data")
FIT = """
import sys, time, warnings
import bayes_arena as ba
warnings.simplefilter("ignore")
source, options = sys.argv[1], dict(one.split("=") for one in sys.argv[2:])
further = {"answers": False} if options.pop("answers", "") else {}
if options.pop("plain", ""):
    further |= {"dimensions": 0, "robust": False}
if source.isdigit():
    size = int(source)
    votes = ba.simulate(competitors=40, annotators=size // 50, votes=size, tie_spread=0.5, position_spread=0.2).votes
else:
    votes = source
cells = ba.read_votes(votes)
fit = lambda: ba.fit(cells, **further, **options)
fit()
start = time.process_time()
fit()
print(time.process_time() - start)
"""
CASES = {
    "LLMFAO, default": [str(DATA / "llmfao.csv")],
    "LLMFAO, default without answers": [str(DATA / "llmfao.csv"), "answers=no"],
    "MT-bench, people, default": [str(DATA / "mt_bench_human.csv")],
    "MT-bench, people, Bradley-Terry": [str(DATA / "mt_bench_human.csv"), "model=bradley-terry"],
    "100,000 votes of 2,000 annotators, default": ["100000"],
    "100,000 votes of 2,000 annotators, am-ELO's mode": ["100000", "model=am-elo", "method=map"],
}


def seconds(root: Path, case: list[str]) -> float:
    """Return the seconds of a fit by the code in a folder."""
    python = root / ".venv" / "bin" / "python"
    ran = subprocess.run([python, "-c", FIT, *case], cwd=root, capture_output=True, text=True, check=True)
    return float(ran.stdout)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("--times", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for name, case in CASES.items():
        ways = [(options.before.resolve(), case), (HERE, case), (HERE, [*case, "plain=yes"])]
        found = [[seconds(*way) for way in ways] for _ in range(options.times)]
        print(name, found, file=sys.stderr)
        before, now, plain = map(min, zip(*found, strict=True))
        rows.append([name, *(f"{one:.3f}" for one in (before, now)), f"{now / before:.2f}"])
        rows[-1] += [f"{plain:.3f}", f"{plain / before:.2f}"]
    print(markdown(["fit", "before", "now", "ratio", "the same work now", "ratio"], rows))


if __name__ == "__main__":
    main()
