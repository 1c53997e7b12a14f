"""Small mistakes put into a copy of the package, and whether the tests of their folder notice.

    uv run python benchmarks/mutation.py [--mutants 50] [--seed 0] [--folders votes likelihood ...] [--seconds 300]
                                         [--quick]

Each is drawn at random: a comparison flipped, a number moved by one, an operator swapped, a ``not`` dropped, ``and``
for ``or``, or another value returned. The quick tests of the folder run first, those of files that name the module
before the others, then the slow ones unless ``--quick``. A mutant is killed if a test fails, survives if none does,
and is undetermined if the time was not enough; the difference is printed of those that are not killed.
"""

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
from pathlib import Path

from measuring import DATA

ROOT = Path(__file__).parents[1]
FOLDERS = ("votes", "likelihood", "inference", "fits", "ratings", "reliability", "decisions", "arena")
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def mutations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what a node may become."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        yield _with(node, ops=[OPERATORS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in OPERATORS:
        if not (isinstance(node, ast.BinOp) and ast.Constant in map(type, (node.left, node.right)) and _is_text(node)):
            yield _with(node, op=OPERATORS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield ast.Constant(node.value + 1)
        yield ast.Constant(node.value - 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        yield _with(node, value=ast.Constant(None))


def _with(node: ast.AST, **changed: object) -> ast.AST:
    other = copy.copy(node)
    for name, value in changed.items():
        setattr(other, name, value)
    return other


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in (node.left, node.right))


def places(path: Path) -> Iterator[tuple[Path, int, int, str, str]]:
    """Yield the mutations of a file: where in its bytes, and the text before and after."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    typed = {id(inner) for node in ast.walk(tree) for inner in _annotations(node)}
    for node in ast.walk(tree):
        if id(node) in typed or not hasattr(node, "lineno"):
            continue
        first, last = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        for other in mutations(node):
            new = ast.unparse(ast.fix_missing_locations(other))
            new = new if isinstance(node, ast.stmt) else f"({new})"
            yield path, first, last, text[first:last].decode(), new


def _annotations(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of types and of decorators, which do nothing, or do the same whenever a module is imported."""
    parts = [getattr(node, name, None) for name in ("annotation", "returns")] + getattr(node, "decorator_list", [])
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def tested(copied: Path, folder: str, seconds: float, marks: tuple[str, ...], module: str = "") -> str:
    """Run the tests of a folder, files that name a module first, and say what became of the mutant."""
    files = sorted(copied.glob(f"tests/{folder}/**/test_*.py"), key=lambda path: (module not in path.read_text(), path))
    names = [str(path.relative_to(copied)) for path in files]
    environment = os.environ | {
        "PYTHONPATH": str(copied),
        "PYTHONDONTWRITEBYTECODE": "1",
        "BAYES_ARENA_DATA": str(DATA),
    }
    end = time.monotonic() + seconds
    for mark in marks:
        order = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-m", mark, *names]
        try:
            left = max(end - time.monotonic(), 1)
            done = subprocess.run(order, cwd=copied, env=environment, capture_output=True, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            return "undetermined"
        if done.returncode in (1, 2):  # a test failed, or could not be imported
            return "killed"
        if done.returncode not in (0, 5):
            raise SystemExit(f"pytest ended with {done.returncode}: {done.stderr.decode()}")
    return "survived"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folders", nargs="*", default=list(FOLDERS))
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--quick", action="store_true", help="leave out the slow tests")
    options = parser.parse_args()
    marks = ("not slow",) if options.quick else ("not slow", "slow")
    rng, found = random.Random(options.seed), Counter[str]()
    with tempfile.TemporaryDirectory() as name:
        copied = Path(name)
        for part in ("bayes_arena", "tests", "benchmarks", "models", "docs", "pyproject.toml", "README.md"):
            source = ROOT / part
            if source.is_dir():
                shutil.copytree(source, copied / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copied / part)
        files = {one: sorted((copied / "bayes_arena" / one).rglob("*.py")) for one in options.folders}
        choices = {one: [place for path in paths for place in places(path)] for one, paths in files.items()}
        for folder in choices:
            if (done := tested(copied, folder, 4 * options.seconds, ("not slow",))) != "survived":
                raise SystemExit(f"Without a mutant the tests of {folder} do not pass: {done}.")
        for number in range(options.mutants):
            folder = options.folders[number % len(options.folders)]
            path, first, last, old, new = choices[folder].pop(rng.randrange(len(choices[folder])))
            whole = path.read_bytes()
            path.write_bytes(whole[:first] + new.encode() + whole[last:])
            became = tested(copied, folder, options.seconds, marks, path.stem)
            path.write_bytes(whole)
            found[became] += 1
            line = whole[:first].count(b"\n") + 1
            print(f"{number} {became}: {path.relative_to(copied)}:{line}: {old!r} -> {new!r}", flush=True)
            if became != "killed":
                print(f"    {whole.decode().splitlines()[line - 1].strip()}", flush=True)
    print(", ".join(f"{many} {became}" for became, many in sorted(found.items())), flush=True)


if __name__ == "__main__":
    main()
