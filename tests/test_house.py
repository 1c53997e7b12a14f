"""What holds for the package as a whole: its names, what it imports, its floors."""

import ast
import subprocess
import sys
import tomllib
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


def test_a_name_means_one_thing_in_the_rooms_of_numbers():
    """Functions and classes of a module, from the model to the checks."""
    files = {}
    for room in ("model", "inference", "fits", "boards", "checks"):
        for path in (ROOT / "bayes_arena" / room).glob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    files.setdefault(node.name, []).append(f"{room}/{path.name}")
    assert not {name: where for name, where in files.items() if len(where) > 1}
