"""Many competitors, and boards of many levels: CPU seconds, beside version 0.4's.

``python benchmarks/large.py [--old PATH] [--only CASE ...]``; PATH is a checkout of 0.4
with an environment of its own.  Its threads of BLAS spin, the more so beside other work: here
it has one.  Every figure of now is the least of two processes, on as many threads as the
program takes; of above 2,000 competitors, and of 0.4, it is that of one.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from measuring import Cost, markdown, python, run, write_page

BOARD = """
import time
import bayes_arena as ba
votes = ba.read_votes({path!r})
wall, cpu = time.perf_counter(), time.process_time()
ba.leaderboard(ba.fit(votes))
print(time.process_time() - cpu, time.perf_counter() - wall)
"""
COMMAND = (
    "import sys; from bayes_arena.cli.app import app; sys.argv[1:] = {args!r}; app()"
)
LARGEST = 2_000  # competitors up to which the least of two runs is taken
SPREAD = 1.2  # of the strengths, in logits
LEVELS, TEAMS, WHOLE = 190, 330, 3  # levels, competitors, and levels that all play at


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path)
    parser.add_argument("--only", nargs="+", choices=CASES, default=[*CASES])
    given = parser.parse_args()
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only:
            path = str(Path(folder) / "votes.csv")
            measure, votes, n = CASES[name]
            votes().write_csv(path)
            cpu, wall = least(measure, path, None, runs=2 if n <= LARGEST else 1)
            cells = [name, f"{cpu:.1f}", f"{wall:.1f}"]
            if given.old:
                of_old, _ = least(measure, path, given.old, runs=1)
                cells += [f"{of_old:.1f}", f"{cpu / of_old:.2f}"]
            rows.append(cells)
            write(rows)  # after each case, as some take long


def write(rows: list[list[str]]) -> None:
    """Write the page."""
    header = ["what", "CPU s", "wall s", "0.4 on one thread: CPU s", "now / 0.4"]
    table = markdown(header[: len(rows[0])], rows)
    text = (
        "Votes on random pairs, 13 a competitor; strengths of spread "
        f"{SPREAD}.  `boards --by` has {LEVELS} levels of 47 to 9,000 votes, of which {WHOLE} "
        f"see all {TEAMS} competitors and the others 16.  Fit and board are without imports "
        "and reading.\n"
    )
    write_page(
        "large",
        "Many competitors, and many levels",
        [text, table],
        "python benchmarks/large.py --old PATH",
    )


type Measure = Callable[[str, Path | None], tuple[float, float]]


def least(
    measure: Measure, path: str, old: Path | None, runs: int
) -> tuple[float, float]:
    """Return CPU and wall seconds of the cheapest of several runs."""
    return min(measure(path, old) for _ in range(runs))


def code_in(old: Path | None, code: str) -> list[str]:
    """Return the command that runs some code here, or in a checkout on one thread."""
    if old is None:
        return python(code)
    interpreter = str(old / ".venv" / "bin" / "python")
    return ["env", "OPENBLAS_NUM_THREADS=1", *python(code, interpreter)]


def fit_and_board(path: str, old: Path | None) -> tuple[float, float]:
    """Return CPU and wall seconds of a fit and its leaderboard."""
    output = run(code_in(old, BOARD.format(path=path))).output
    cpu, wall = map(float, output.split()[-2:])
    return cpu, wall


def command(*args: str) -> Measure:
    """Return what measures a command, as a whole process."""

    def measure(path: str, old: Path | None) -> tuple[float, float]:
        code = COMMAND.format(args=[args[0], path, *args[1:]])
        cost: Cost = run(code_in(old, code))
        return cost.cpu, cost.wall

    return measure


def simulate(n: int, n_votes: int, n_annotators: int = 0) -> pl.DataFrame:
    """Return votes on random pairs, of annotators in turn."""
    rng = np.random.default_rng(n)
    strength = rng.normal(0, SPREAD, n)
    first = rng.integers(n, size=n_votes)
    second = (first + rng.integers(1, n, size=n_votes)) % n
    wins = rng.random(n_votes) < 1 / (1 + np.exp(strength[second] - strength[first]))
    names = np.array([f"m{number:05d}" for number in range(n)])
    votes = {
        "winner": names[np.where(wins, first, second)],
        "loser": names[np.where(wins, second, first)],
    }
    if n_annotators:
        votes["judge"] = np.array([f"j{k % n_annotators}" for k in range(n_votes)])
    return pl.DataFrame(votes)


def simulate_levels() -> pl.DataFrame:
    """Return games of tournaments, of which most see few of the teams."""
    rng = np.random.default_rng(0)
    strength = rng.normal(size=TEAMS)
    parts = []
    for level in range(LEVELS):
        field = rng.permutation(TEAMS)[: TEAMS if level < WHOLE else 16]
        n_games = 9_000 // (level + 1)
        first = rng.integers(len(field), size=n_games)
        second = (first + rng.integers(1, len(field), size=n_games)) % len(field)
        a, b = field[first], field[second]
        wins = rng.random(n_games) < 1 / (1 + np.exp(strength[b] - strength[a]))
        parts.append(
            pl.DataFrame(
                {
                    "home_team": [f"t{team:03d}" for team in a],
                    "away_team": [f"t{team:03d}" for team in b],
                    "home_score": wins.astype(int),
                    "away_score": 1 - wins,
                    "tournament": [f"cup {level:03d}"] * n_games,
                }
            )
        )
    return pl.concat(parts)


CASES: dict[str, tuple[Measure, Callable[[], pl.DataFrame], int]] = {
    "fit and board, 1,000 competitors": (
        fit_and_board, lambda: simulate(1_000, 13_000), 1_000,
    ),
    "fit and board, 2,000": (fit_and_board, lambda: simulate(2_000, 26_000), 2_000),
    "rank, 2,000": (command("rank"), lambda: simulate(2_000, 26_000), 2_000),
    "rank, 2,000 by 39 annotators": (
        command("rank"), lambda: simulate(2_000, 26_000, 39), 2_000,
    ),
    "boards of 190 levels": (
        command("boards", "--by", "tournament"), simulate_levels, TEAMS,
    ),
    "fit and board, 9,150": (
        fit_and_board, lambda: simulate(9_150, 118_950), 9_150,
    ),
}  # fmt: skip

if __name__ == "__main__":
    main()
