"""What holds for the package as a whole: its names, what it imports, its floors."""

import ast
import re
import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import bayes_arena as ba

ROOT = Path(__file__).parents[1]
LINK = ROOT / "bayes_arena" / "models"  # a file where git makes no links: on Windows
HEAVY = (
    "pymc",
    "pytensor",
    "arviz",
    "matplotlib",
    "pandas",
    "scipy.stats",
    "scipy.optimize",
    "scipy.interpolate",
)


def read(name):
    """Return a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def trees():
    """Return the syntax tree of every file of the package, by the name of the module."""
    found = {}
    folders = {
        "bayes_arena": ROOT / "bayes_arena",
        "bayes_arena.models": ROOT / "models",
    }
    for package, folder in folders.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            name = ".".join([package, *parts]).removesuffix(".__init__")
            found[name] = ast.parse(path.read_text(encoding="utf-8"))
    return found


TREES = trees()


def imported_by(code):
    """Return which of the heavy libraries some code imports, in a process of its own."""
    check = f"import sys; print([m for m in {HEAVY} if m in sys.modules])"
    command = [sys.executable, "-c", f"{code}\n{check}"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.splitlines()[-1]


def test_every_public_name_exists_and_says_what_it_is():
    for name in ba.__all__:
        value = getattr(ba, name)
        assert name == "__version__" or value.__doc__, name


def test_few_public_names():
    assert len(set(ba.__all__) - {"__version__"}) <= 57


def test_importing_the_package_imports_no_heavy_library():
    assert imported_by("import bayes_arena") == "[]"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "annotators", "pairs", "next"])
def test_quick_commands_import_no_heavy_library(command):
    code = (
        "from bayes_arena.cli.app import app\n"
        f"app(['{command}'], standalone_mode=False)"
    )
    assert imported_by(code) == "[]"


def test_a_wheel_has_every_room():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    rooms = {path.parent for path in (ROOT / "bayes_arena").glob("**/__init__.py")}
    names = {".".join(room.relative_to(ROOT).parts) for room in rooms}
    packages = settings["tool"]["setuptools"]["packages"]
    assert set(packages) == names | {"bayes_arena.models"}


@pytest.mark.slow
@pytest.mark.skipif(not LINK.is_dir(), reason="tools that read files need the link")
def test_nobody_imports_from_a_floor_above():
    program = Path(sys.executable).with_name("lint-imports")
    command = [str(program), "--no-logo"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.slow
def test_no_files_import_each_other():
    """Not even through others, or inside functions."""
    imports = {name: imports_of(tree) for name, tree in TREES.items()}
    assert set(TopologicalSorter(imports).static_order()) == set(TREES)


def imports_of(tree):
    """Return the files that a file imports, but for types."""
    found = set()
    for node in without_types(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                file = f"{node.module}.{name.name}"
                found.add(file if file in TREES else node.module)
    return found & set(TREES)


def without_types(node):
    """Yield the nodes of a tree outside of ``if TYPE_CHECKING``."""
    for child in ast.iter_child_nodes(node):
        is_typing = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(
            child.test
        )
        if not is_typing:
            yield child
            yield from without_types(child)


def test_sessions_that_workflows_name_exist():
    sessions = set(re.findall(r"@nox\.session\ndef (\w+)", read("noxfile.py")))
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"nox -s (\w+)", text))
        for matrix in re.findall(r"session: \[(.*)\]", text):
            named |= set(matrix.split(", "))
        assert named <= sessions, path.name
        for name in re.findall(r"nox -s benchmarks -- (\w+)", text):
            assert (ROOT / "benchmarks" / f"{name}.py").exists()


@pytest.mark.slow
def test_benchmarks_find_what_they_import():
    folder = ROOT / "benchmarks"
    names = ", ".join(sorted(path.stem for path in folder.glob("*.py")))
    run = [sys.executable, "-c", f"import {names}"]
    done = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_name_means_one_thing_in_the_rooms_of_numbers():
    """Functions and classes of a module, from the model to the checks."""
    rooms = ("model", "inference", "fits", "boards", "checks")
    files = {}
    for file, tree in TREES.items():
        if any(file.startswith(f"bayes_arena.{room}.") for room in rooms):
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    files.setdefault(node.name, []).append(file)
    assert not {name: where for name, where in files.items() if len(where) > 1}
