"""Small mistakes put into a copy of the package, and whether the tests of their folder notice.

    uv run python benchmarks/mutation.py [--mutants 50] [--seed 0] [--folders votes likelihood ...] [--seconds 60]
                                         [--quick] [--only 3 17 ...] [--tests tests/fits/test_plan.py ...]

Each is drawn at random: a comparison flipped, a number moved by one, an operator swapped, a ``not`` dropped, ``and``
for ``or``, or another value returned. A mutant is killed if a test fails, survives if none does, and is undetermined
if the processor time was not enough; the line is printed of those that are not killed, and a table at the end.

The tests of every folder are run once without a mutant, to see which of them pass which lines, and how long they take.
A mutant then meets the tests that pass its statement, the quickest first. Only where a fixture passes it, or an import,
the others follow: what these compute all tests may use. Each mutant has a process of its own,
forked from one that has imported what tests need, except the package.
"""

import ast
import compileall
import copy
import importlib
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

import coverage
import pytest
from measuring import DATA, options_of

ROOT = Path(__file__).parents[1]
FOLDERS = ("votes", "likelihood", "inference", "fits", "ratings", "reliability", "decisions", "arena")
COMPILED = "vectorised"
"""The decorator of functions of which it is not seen which lines run."""
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


@dataclass(frozen=True)
class Mutant:
    """A mutation of a file of the copy: where in its bytes, the lines of its statement, and the text before and after.

    There are no lines where the statement runs when the module is imported, or is compiled.
    """

    path: Path
    first: int
    last: int
    lines: range
    old: str
    new: str


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


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of a file."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(text)
    idle = {id(inner) for node in ast.walk(tree) for inner in _idle(node)}
    lines = {id(inner): found for node in ast.walk(tree) for inner, found in _within(node)}
    later = {id(inner) for node in ast.walk(tree) for inner in _run_later(node)}
    for node in ast.walk(tree):
        if id(node) in idle or not hasattr(node, "lineno"):
            continue
        first, last = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        for other in mutations(node):
            new = ast.unparse(ast.fix_missing_locations(other))
            new = new if isinstance(node, ast.stmt) else f"({new})"
            of = lines[id(node)] if id(node) in later else range(0)
            yield Mutant(path, first, last, of, text[first:last].decode(), new)


def _idle(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what changes nothing: types and decorators, and whether equal lengths, or keys of a type, have to be."""
    parts = [getattr(node, name, None) for name in ("annotation", "returns")] + getattr(node, "decorator_list", [])
    parts += [node.value] if isinstance(node, ast.keyword) and node.arg in ("strict", "total") else []
    for part in parts:
        if part is not None:
            yield from ast.walk(part)


def _within(node: ast.AST) -> Iterator[tuple[ast.AST, range]]:
    """Yield the nodes of a statement, and its lines, which end where a block begins; inner ones come later."""
    if isinstance(node, ast.stmt):
        block = getattr(node, "body", [])
        lines = range(node.lineno, max(block[0].lineno if block else node.end_lineno + 1, node.lineno + 1))
        yield from ((inner, lines) for inner in ast.walk(node))


def _run_later(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can be seen to run when a function is called: not what is compiled."""
    if isinstance(node, ast.FunctionDef) and COMPILED not in map(ast.unparse, node.decorator_list):
        yield from (inner for statement in node.body for inner in ast.walk(statement))


@dataclass
class Watching:
    """Notes which tests pass which lines, in which phase, and how long they take; a plugin of pytest."""

    measured: coverage.Coverage

    def __post_init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the seconds."""
        self.seconds[report.nodeid] += report.duration

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Note who uses fixtures."""
        self.measured.switch_context(f"{item.nodeid}|setup")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Note who runs."""
        self.measured.switch_context(item.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note that it has run."""
        self.measured.switch_context(f"{item.nodeid}|setup")


@dataclass
class Choosing:
    """Leaves the tests that are asked for, in that order; a plugin of pytest."""

    names: list[str]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose."""
        place = {name: number for number, name in enumerate(self.names)}
        items[:] = sorted((one for one in items if one.nodeid in place), key=lambda one: place[one.nodeid])


@dataclass(frozen=True)
class Seen:
    """What tests did without a mutant: their seconds, and who passed each line of each file."""

    seconds: dict[str, float]
    passed: dict[str, dict[int, list[str]]]

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that may notice a mutant, the likeliest and quickest first."""
        lines = self.passed.get(str(mutant.path), {})
        who = {name for line in mutant.lines or lines for name in lines.get(line, ())}
        direct = who & set(self.seconds)
        others = set(self.seconds) - direct if who - direct or not mutant.lines else set()
        return [name for some in (direct, others) for name in sorted(some, key=lambda name: self.seconds[name])]


def _run(copied: Path, orders: list[str], plugin: object) -> int:
    os.chdir(copied)
    sys.path[0] = str(copied)
    os.environ |= {"PYTHONPATH": str(copied), "BAYES_ARENA_DATA": str(DATA)}
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    ignored = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
    return int(pytest.main(["-q", "-n0", "-p", "no:cacheprovider", "-W", ignored, *orders], plugins=[plugin]))


def _watched(copied: Path, paths: list[str], mark: str, sender: Any) -> None:
    """Run tests without a mutant, and send what is seen, and the modules that were imported."""
    measured = coverage.Coverage(data_file=None, source=[str(copied / "bayes_arena")], config_file=False)
    watching = Watching(measured)
    measured.start()
    code = _run(copied, ["-m", mark, *paths], watching)
    measured.stop()
    data = measured.get_data()
    passed = {path: data.contexts_by_lineno(path) for path in data.measured_files()}
    ours = {name for name, module in sys.modules.items() if str(copied) in str(getattr(module, "__file__", ""))}
    sender.send((code, dict(watching.seconds), passed, [name for name in sys.modules if name not in ours]))


def _asked(copied: Path, names: list[str], seconds: float) -> None:
    """Run tests against the copy as it is, and end the process with what pytest says."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    files = dict.fromkeys(name.split("::")[0] for name in names)
    os._exit(PYTEST + _run(copied, ["-x", *files], Choosing(names)))


def watched(copied: Path, paths: list[str], mark: str) -> Seen:
    """Return what tests do without a mutant, and import what they need."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    process = FORK.Process(target=_watched, args=(copied, paths, mark, sender))
    process.start()
    sender.close()
    code, seconds, passed, modules = receiver.recv()
    process.join()
    if code:
        raise SystemExit(f"Without a mutant the tests of {', '.join(paths)} do not pass: pytest ended with {code}.")
    with warnings.catch_warnings(action="ignore"):
        for name in modules:
            with suppress(Exception):
                importlib.import_module(name)
    if "bayes_arena" in sys.modules:
        raise SystemExit("The package was imported by something else than its tests.")
    if tested(copied, sorted(seconds, key=lambda name: seconds[name])[:3], 60) != "survived":
        raise SystemExit(f"In a process that is forked, the tests of {', '.join(paths)} do not pass.")
    return Seen(seconds, passed)


def tested(copied: Path, names: list[str], seconds: float) -> str:
    """Run tests against the copy as it is, and say what became of the mutant."""
    if not names:
        return "survived"
    process = FORK.Process(target=_asked, args=(copied, names, seconds))
    process.start()
    process.join(60 * seconds)  # it may wait forever, using no processor
    process.kill()
    process.join()
    if process.exitcode < PYTEST and process.exitcode not in UNFINISHED:
        raise SystemExit(f"The process of a mutant ended with {process.exitcode}.")
    return "undetermined" if process.exitcode < 0 else "survived" if process.exitcode == PYTEST else "killed"


FORK: Any = multiprocessing.get_context("fork")
PYTEST = 100
"""Added to the exit codes of pytest, which are zero if no test failed."""
UNFINISHED = (-9, -24)
"""Exit codes of a process that was killed, or used its processor time up."""


def copy_to(copied: Path) -> None:
    """Copy the package and its tests, compiled so that only what changes is compiled again."""
    for part in ("bayes_arena", "tests", "benchmarks", "models", "docs", "pyproject.toml", "README.md"):
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, copied / part, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, copied / part)
    for part in ("bayes_arena", "benchmarks"):
        compileall.compile_dir(copied / part, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def table(found: dict[str, Counter[str]]) -> str:
    """Return how many of each folder were killed, in Markdown."""
    kinds = ("killed", "survived", "undetermined")
    total: Counter[str] = sum(found.values(), Counter())
    rows = [(name, *(str(many[kind]) for kind in kinds)) for name, many in (*found.items(), ("all", total))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (("folder", *kinds), ("---", *["---:"] * 3), *rows))


def main() -> None:
    parser = options_of(__doc__, mutants=50, seed=0)
    parser.add_argument("--folders", nargs="*", default=list(FOLDERS))
    parser.add_argument("--seconds", type=float, default=60, help="of the processor, for one mutant")
    parser.add_argument("--quick", action="store_true", help="leave out the slow tests")
    parser.add_argument("--tests", nargs="*", help="in place of the folder's: files, slow tests and all, for survivors")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the mutants to run, of those that are drawn")
    options = parser.parse_args()
    rng, found = random.Random(options.seed), {folder: Counter[str]() for folder in options.folders}
    with tempfile.TemporaryDirectory() as name:
        copied = Path(name)
        copy_to(copied)
        files = {one: sorted((copied / "bayes_arena" / one).rglob("*.py")) for one in options.folders}
        choices = {one: [mutant for path in paths for mutant in mutants(path)] for one, paths in files.items()}
        drawn = []
        for number in range(options.mutants):
            folder = options.folders[number % len(options.folders)]
            drawn.append((number, folder, choices[folder].pop(rng.randrange(len(choices[folder])))))
        drawn = [one for one in drawn if options.only is None or one[0] in options.only]
        seen: dict[str, Seen] = {}
        try:
            for number, folder, mutant in drawn:
                if folder not in seen:
                    paths = options.tests or [f"tests/{folder}"]
                    seen[folder] = watched(copied, paths, "not slow" if options.quick else "slow or not slow")
                names, start = seen[folder].tests(mutant), time.monotonic()
                whole = mutant.path.read_bytes()
                mutant.path.write_bytes(whole[: mutant.first] + mutant.new.encode() + whole[mutant.last :])
                became = tested(copied, names, options.seconds)
                mutant.path.write_bytes(whole)
                found[folder][became] += 1
                line = whole[: mutant.first].count(b"\n") + 1
                where, seconds = mutant.path.relative_to(copied), time.monotonic() - start
                print(f"{number} {became}: {where}:{line}: {mutant.old!r} -> {mutant.new!r}", end="", flush=True)
                print(f" ({len(names)} tests, {seconds:.1f} s)", flush=True)
                if became != "killed":
                    print(f"    {whole.decode().splitlines()[line - 1].strip()}", flush=True)
        finally:
            print(table(found), flush=True)


if __name__ == "__main__":
    main()
