"""Put small mistakes into a copy of the package, to see whether tests notice.

    uv run python benchmarks/mutation.py [--mutants 150] [--seed 0] [--rooms votes model]

A mutant flips a comparison, swaps an operator, moves a number by one, drops a ``not``, or
returns None.  It meets the tests of its room that pass its line, and is killed if one
fails, or takes ten minutes.  Those that survive are printed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import coverage
from measuring import DATA, ROOT

ROOMS = (
    "votes",
    "model",
    "inference",
    "fits",
    "boards",
    "people",
    "checks",
    "arena",
    "paper",
    "page",
    "cli",
)
WORKERS = 2
LONGEST = 600  # seconds that the tests of a mutant may take
COPIED = ("bayes_arena", "models", "tests", "pyproject.toml", "README.md", "docs")
SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add,
    ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip


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
    """Copy the tree into a folder."""
    for name in COPIED:
        source, target = ROOT / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc"))
        else:
            target.parent.mkdir(exist_ok=True, parents=True)
            shutil.copy(source, target)
    return folder


def run_tests(folder: Path, tests: list[str], *options: str) -> bool:
    """Run tests in a copy, and return whether they pass."""
    env = {**os.environ, "BAYES_ARENA_DATA": str(DATA), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTHONPATH": str(folder), "OPENBLAS_NUM_THREADS": "1"}
    plain = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header")
    command = (sys.executable, "-m", "pytest", *plain, *options, *tests)
    try:
        done = subprocess.run(
            command, cwd=folder, env=env, capture_output=True, timeout=LONGEST
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def tests_by_line(folder: Path, rooms: list[str]) -> dict[str, dict[int, list[str]]]:
    """Return which tests pass each line of each file, by the path within the tree."""
    passing = {}
    for room in rooms:
        options = ("--cov=bayes_arena", "--cov-context=test", "--cov-fail-under=0")
        if not run_tests(folder, [f"tests/{room}"], *options):
            raise SystemExit(f"The tests of {room} fail without a mutant.")
        data = coverage.CoverageData(str(folder / ".coverage"))
        data.read()
        for file in data.measured_files():
            path = str(Path(file).relative_to(folder))
            if path.startswith(f"bayes_arena/{room}/"):
                passing[path] = {
                    line: sorted({name.partition("|")[0] for name in names if name})
                    for line, names in data.contexts_by_lineno(file).items()
                }
    return passing


def survives(mutant: Mutant, original: Path, folder: Path, tests: list[str]) -> bool:
    """Whether no test notices a mutant."""
    write_mutant(mutant, original, folder)
    passed = run_tests(folder, tests or [f"tests/{mutant.room}"])
    shutil.copy(original / mutant.path, folder / mutant.path)
    return passed


def main() -> None:
    """Draw mutants, run the tests of each, and print who survives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as parent:
        original = copied(Path(parent) / "original")
        everything = [
            mutant
            for room in options.rooms
            for path in sorted((original / "bayes_arena" / room).rglob("*.py"))
            for mutant in mutants_of(original, path.relative_to(original), room)
        ]
        size = min(options.mutants, len(everything))
        drawn = random.Random(options.seed).sample(everything, size)
        folders: SimpleQueue[Path] = SimpleQueue()
        for number in range(WORKERS):
            folders.put(copied(Path(parent) / str(number)))
        first = folders.get()
        passing = tests_by_line(first, options.rooms)
        folders.put(first)

        def judge(mutant: Mutant) -> bool:
            folder = folders.get()
            tests = passing.get(str(mutant.path), {}).get(mutant.line, [])
            survived = survives(mutant, original, folder, tests)
            folders.put(folder)
            if survived:
                where = f"{mutant.path}:{mutant.line}"
                change = f"{json.dumps(mutant.old)} -> {json.dumps(mutant.new)}"
                print(f"survived: {where}: {change}", flush=True)
            return survived

        with ThreadPoolExecutor(WORKERS) as pool:
            survived = list(pool.map(judge, drawn))
    report(drawn, survived)


def report(drawn: list[Mutant], survived: list[bool]) -> None:
    """Print how many mutants of each room were killed."""
    total = Counter(mutant.room for mutant in drawn)
    alive = Counter(m.room for m, lives in zip(drawn, survived, strict=True) if lives)
    for room, count in total.items():
        print(f"{room:10} {count - alive[room]:4} of {count:4} killed")
    print(f"{'all':10} {len(drawn) - sum(survived):4} of {len(drawn):4} killed")


if __name__ == "__main__":
    main()
