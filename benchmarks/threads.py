"""Threads of BLAS: one against all, for 500 to 4,000 competitors.

``python benchmarks/threads.py`` on an idle machine.  Each fit and board by Davidson's model is
a process of its own, of votes on random pairs, 20 a competitor; CPU and wall seconds of the
second of two in it, and above 2,000 competitors of the first.
"""

from __future__ import annotations

from measuring import markdown, python, run, write_page

SIZES = (500, 1_000, 2_000, 3_000, 4_000)
FIT = """
import time
import numpy as np
import bayes_arena as ba
from bayes_arena import threads
threads.LARGE = {large}
n = {n}
rng = np.random.default_rng(n)
r = rng.normal(size=n)
i = rng.integers(n, size=10 * n)
j = (i + rng.integers(1, n, size=len(i))) % n
won = rng.random(len(i)) < 1 / (1 + np.exp(r[j] - r[i]))
records = dict(model_a=i.astype(str), model_b=j.astype(str),
               winner=np.where(won, "model_a", "model_b"))
votes = ba.read_votes(records)
for _ in range({runs}):
    wall, cpu = time.perf_counter(), time.process_time()
    ba.leaderboard(ba.fit(votes))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(cpu, wall)
"""
ONE, ALL = 10**9, 0  # matrices from which all threads are taken


def main() -> None:
    """Measure, and write the page."""
    rows = []
    for n in SIZES:
        one, many = seconds(n, ONE), seconds(n, ALL)
        ratios = [f"{many[0] / one[0]:.2f}", f"{many[1] / one[1]:.2f}"]
        rows.append([f"{n:,}", *(f"{x:.2f}" for x in (*one, *many)), *ratios])
        print(rows[-1], flush=True)
    header = ["competitors", "CPU s, one", "wall s, one", "CPU s, all", "wall s, all"]
    header += ["CPU, all / one", "wall, all / one"]
    text = "Fit and leaderboard by Davidson's model; 20 votes a competitor.\n"
    parts = [text, markdown(header, rows)]
    write_page("threads", "Threads of BLAS", parts, "python benchmarks/threads.py")


def seconds(n: int, large: int) -> tuple[float, float]:
    """Return CPU and wall seconds of a fit and its leaderboard."""
    runs = 2 if n <= 2_000 else 1
    output = run(python(FIT.format(n=n, large=large, runs=runs))).output
    cpu, wall = map(float, output.split()[-2:])
    return cpu, wall


if __name__ == "__main__":
    main()
