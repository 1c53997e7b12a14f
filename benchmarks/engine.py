"""The engine: CPU seconds beside version 0.3, files that a fit enters, invariances.

``python benchmarks/engine.py [--old PATH]``; PATH is a checkout of version 0.3 with an
environment of its own.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from arenas import REGIMES, draw_arena
from measuring import DATA, markdown, python, run, write_page

import bayes_arena as ba
from bayes_arena.votes.votes import FIRST, SECOND, Votes

NOW = """
import time
import bayes_arena as ba
by = {by!r}
votes = ba.read_votes({path!r}, prompt={prompt!r})
model = {model!r}
if by:
    terms = dict(discrimination="annotator", ties="davidson", position="annotator")
    model = ba.Model(tie_propensity="annotator", strength_by=(by,), **terms)
for _ in range(3):
    start = time.process_time()
    ba.leaderboard(ba.fit(votes, model=model), interval="posterior")
    seconds = time.process_time() - start
print(seconds)
"""
OLD = """
import time, warnings
import bayes_arena as ba
warnings.simplefilter("ignore")
by = {by!r}
votes = ba.read_votes({path!r}, prompt={prompt!r})
model = {model!r}
if by:
    terms = dict(discrimination="annotator", ties="davidson", position="annotator")
    slices = dict(strength_by=(by,), ties_by=(by,))
    model = ba.Model("prompts", tie_propensity="annotator", **terms, **slices)
options = dict(robust=False, dimensions=0, answers=False, method="marginal")
for _ in range(3):
    start = time.process_time()
    ba.leaderboard(ba.fit(votes, model=model, **options), interval="laplace")
    seconds = time.process_time() - start
print(seconds)
"""
WALK = """
import sys
import bayes_arena as ba
votes = ba.read_votes({path!r})
ba.leaderboard(ba.fit(votes))
entered, calls = set(), set()
def trace(frame, event, arg):
    if event == "call" and "bayes_arena" in frame.f_code.co_filename:
        entered.add(frame.f_code.co_filename)
        calls.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
sys.setprofile(trace)
ba.leaderboard(ba.fit(votes))
sys.setprofile(None)
print(len(entered), len(calls))
"""
CASES = (
    ("LLMFAO, Davidson", "llmfao.csv", "davidson", False, None),
    ("LLMFAO, am-Davidson", "llmfao.csv", "am-davidson", False, None),
    ("LLMFAO, am-Davidson by prompt", "llmfao.csv", "am-davidson", "prompt", "prompt"),
    ("MT-bench, Davidson", "mt_bench_human.csv", "davidson", False, None),
    ("MT-bench, am-Davidson", "mt_bench_human.csv", "am-davidson", False, None),
)


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--old", type=Path)
    options = parser.parse_args()
    rows = [case_row(*case, old=options.old) for case in CASES]
    header = ["fit and leaderboard", "CPU s"]
    if options.old:
        header += ["0.3", "0.3 / now"]
    walk = run(python(WALK.format(path=str(DATA / "llmfao.csv")))).output.split()
    parts = [
        "In one process after a first call, with the model's own intervals.\n",
        markdown(header, rows),
        f"A default fit and leaderboard of LLMFAO enter {walk[0]} files and "
        f"{walk[1]} functions of the package.\n",
        invariances(300),
    ]
    write_page("engine", "The engine", parts, "python benchmarks/engine.py --old PATH")


def case_row(
    name: str,
    file: str,
    model: str,
    prompt: str | bool,
    by: str | None,
    old: Path | None,
) -> list[object]:
    """Return a row of the table of CPU seconds."""
    settings = {"path": str(DATA / file), "model": model, "prompt": prompt, "by": by}
    now = float(run(python(NOW.format(**settings))).output.split()[-1])
    if old is None:
        return [name, f"{now:.3f}"]
    interpreter = str(old / ".venv" / "bin" / "python")
    then = float(run(python(OLD.format(**settings), interpreter)).output.split()[-1])
    return [name, f"{now:.3f}", f"{then:.3f}", f"{then / now:.1f}"]


def invariances(count: int) -> str:
    """Return the largest moves of boards by order, names and sides, in Elo."""
    moves = {"order of votes": 0.0, "names": 0.0, "sides of all votes": 0.0}
    names = list(REGIMES)
    for seed in range(count):
        people, _ = REGIMES[names[seed % len(names)]]
        votes = draw_arena(people, 600, seed).votes
        rng = np.random.default_rng(seed)
        for model in ("davidson", "am-davidson"):
            elo = board(votes, model)
            shuffled = votes.take(rng.permutation(len(votes)))
            moves["order of votes"] = worse(
                moves["order of votes"], elo, shuffled, model
            )
            order = rng.permutation(votes.n_competitors)
            renamed = replace(votes, i=order[votes.i], j=order[votes.j])
            moved = np.abs(board(renamed, model)[order] - elo).max()
            moves["names"] = max(moves["names"], moved)
            counts = votes.counts[:, [SECOND, FIRST, 2]]
            swapped = replace(votes, i=votes.j, j=votes.i, counts=counts)
            move = worse(moves["sides of all votes"], elo, swapped, model)
            moves["sides of all votes"] = move
        if seed % 50 == 49:
            print(seed + 1, moves, file=sys.stderr, flush=True)
    rows = [[name, f"{move:.0e}"] for name, move in moves.items()]
    text = f"Largest move of a score over {count} arenas of 600 votes, both models.\n\n"
    return text + markdown(["changed", "Elo"], rows)


def worse(former: float, elo: np.ndarray, votes: Votes, model: str) -> float:
    """Return the largest move so far."""
    return max(former, float(np.abs(board(votes, model) - elo).max()))


def board(votes: Votes, model: str) -> np.ndarray:
    """Return the scores of a board."""
    return ba.fit(votes, model=model).marginals.board.value


if __name__ == "__main__":
    main()
