"""Put small mistakes into a copy of the package, to see whether tests notice.

    uv run python benchmarks/mutation.py [--mutants 150] [--seed 0] [--minutes 120]
                                         [--rooms votes model]

A mutant flips a comparison, swaps an operator, moves a number by one, drops a ``not``, or
returns None.  Mutants are drawn from all rooms alike.  Each meets the tests of its room that
pass its line, and is killed if one fails, or takes ten minutes.  Those that survive are
printed; those whose turn does not come within the minutes are counted.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import coverage
from measuring import DATA, ROOT

WORKERS = 2
LONGEST = 600  # seconds that the tests of a mutant may take
MEASURING = 3_600  # seconds that all tests of a room may take
GROUND = "ground"  # modules that are in no folder
ELSEWHERE = ("test_docs.py", "test_notebooks.py")  # of no room
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


def files_of(room: str, original: Path) -> list[Path]:
    """Return the modules of a room, as paths within the tree."""
    package = original / "bayes_arena"
    inside = package.glob("*.py") if room == GROUND else (package / room).rglob("*.py")
    # That of models is a link, and coverage knows where it leads.
    return sorted(path.resolve().relative_to(original.resolve()) for path in inside)


def tests_of(room: str, original: Path) -> list[str]:
    """Return the tests of a room, as paths within the tree."""
    if room != GROUND:
        return [f"tests/{room}"]
    files = sorted((original / "tests").glob("test_*.py"))
    return [f"tests/{file.name}" for file in files if file.name not in ELSEWHERE]


def all_rooms() -> list[str]:
    """Return the rooms of the package, and the ground."""
    folders = (ROOT / "bayes_arena").glob("*/__init__.py")
    return [*sorted(file.parent.name for file in folders), GROUND]


@dataclass(frozen=True)
class Mutant:
    """A file of a room, a node of it by its number in a walk, and what it becomes."""

    room: str
    path: Path
    number: int
    line: int
    old: str
    new: str


def mutated(node: ast.AST) -> ast.AST | None:
    """Return what a node becomes, if it is one that can be mutated."""
    other = copy.copy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPPED:
        other.ops = [SWAPPED[type(node.ops[0])](), *node.ops[1:]]
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPPED:
        other.op = SWAPPED[type(node.op)]()
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        return node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        other.value = node.value + 1
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        other.value = not node.value
    elif isinstance(node, ast.Return) and node.value is not None:
        other.value = ast.Constant(None)
    else:
        return None
    return other


def mutants_of(original: Path, path: Path, room: str) -> Iterator[Mutant]:
    """Yield the mutants of a file: one for every node of a function that can be mutated."""
    tree = ast.parse((original / path).read_text())
    inside = {
        id(node)
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef)
        for statement in function.body
        for node in ast.walk(statement)
    }
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in inside and (other := mutated(node)) is not None:
            old, new = ast.unparse(node), ast.unparse(ast.fix_missing_locations(other))
            yield Mutant(room, path, number, node.lineno, old, new)


def write_mutant(mutant: Mutant, original: Path, folder: Path) -> None:
    """Write the file of a mutant into a copy of the tree."""
    tree = ast.parse((original / mutant.path).read_text())
    target = list(ast.walk(tree))[mutant.number]

    class Swap(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return mutated(node) if node is target else self.generic_visit(node)

    text = ast.unparse(ast.fix_missing_locations(Swap().visit(tree)))
    (folder / mutant.path).write_text(text)


def copied(folder: Path) -> Path:
    """Copy what git knows of the tree into a folder."""
    names = subprocess.check_output(("git", "ls-files"), cwd=ROOT, text=True)
    for name in names.splitlines():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(ROOT / name, folder / name, follow_symlinks=False)
    return folder


def passes(
    folder: Path, tests: list[str], *options: str, seconds: float = LONGEST
) -> bool:
    """Run tests in a copy, and return whether they pass in time."""
    env = {**os.environ, "BAYES_ARENA_DATA": str(DATA), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    plain = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header")
    command = (sys.executable, "-m", "pytest", *plain, *options, *tests)
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def tests_by_line(room: str, folder: Path) -> dict[str, dict[int, list[str]]]:
    """Return which tests of a room pass each line of each of its files."""
    options = ("--cov", "--cov-context=test", "--cov-fail-under=0")
    tests = tests_of(room, folder)
    if not passes(folder, tests, *options, seconds=MEASURING):
        raise SystemExit(f"The tests of {room} fail without a mutant.")
    data = coverage.CoverageData(str(folder / ".coverage"))
    data.read()
    passing = {}
    for path in files_of(room, folder):
        contexts = data.contexts_by_lineno(str(folder.resolve() / path))
        passing[str(path)] = {
            line: sorted({name.partition("|")[0] for name in names if name})
            for line, names in contexts.items()
        }
    return passing


class Copies:
    """Copies of the tree, each of which one thread uses at a time."""

    def __init__(self, parent: Path) -> None:
        self.free: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            self.free.put(copied(parent / str(number)))

    @contextmanager
    def one(self) -> Iterator[Path]:
        """Yield a copy that nobody uses."""
        folder = self.free.get()
        try:
            yield folder
        finally:
            self.free.put(folder)


def is_killed(mutant: Mutant, original: Path, folder: Path, tests: list[str]) -> bool:
    """Whether a test notices a mutant."""
    write_mutant(mutant, original, folder)
    killed = not passes(folder, tests or tests_of(mutant.room, folder))
    shutil.copy(original / mutant.path, folder / mutant.path)
    return killed


def judged(drawn: list[Mutant], parent: Path, deadline: float) -> list[bool | None]:
    """Return whether each mutant is killed; None of those whose turn did not come."""
    original, copies = parent / "original", Copies(parent)

    def measure(room: str) -> dict[str, dict[int, list[str]]]:
        with copies.one() as folder:
            return tests_by_line(room, folder)

    def judge(mutant: Mutant) -> bool | None:
        if time.monotonic() > deadline:
            return None
        with copies.one() as folder:
            tests = passing[str(mutant.path)].get(mutant.line, [])
            killed = is_killed(mutant, original, folder, tests)
        if not killed:
            where = f"{mutant.path}:{mutant.line}"
            print(f"{where}: {mutant.old!r} -> {mutant.new!r}", flush=True)
        return killed

    with ThreadPoolExecutor(WORKERS) as pool:
        passing = {}
        for lines in pool.map(measure, sorted({mutant.room for mutant in drawn})):
            passing |= lines
        return list(pool.map(judge, drawn))


def main() -> None:
    """Draw mutants, run the tests of each, and print who survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--rooms", nargs="+", default=all_rooms())
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    with tempfile.TemporaryDirectory() as parent:
        original = copied(Path(parent) / "original")
        everything = [
            mutant
            for room in options.rooms
            for path in files_of(room, original)
            for mutant in mutants_of(original, path, room)
        ]
        size = min(options.mutants, len(everything))
        drawn = random.Random(options.seed).sample(everything, size)
        report(drawn, judged(drawn, Path(parent), deadline))


def report(drawn: list[Mutant], killed: list[bool | None]) -> None:
    """Print how many mutants of each room were killed, of those whose turn came."""
    turns = [(m.room, k) for m, k in zip(drawn, killed, strict=True) if k is not None]
    total = Counter(room for room, _ in turns)
    dead = Counter(room for room, is_dead in turns if is_dead)
    for room in sorted(total):
        print(f"{room:10} {dead[room]:4} of {total[room]:4} killed")
    print(f"{'all':10} {dead.total():4} of {total.total():4} killed")
    print(f"{len(drawn) - len(turns)} were not tried.")


if __name__ == "__main__":
    main()
