"""Everything a developer runs: ``uv run nox -l`` lists it, ``uv run nox -s quick`` runs one.

Sessions run in the environment that ``uv sync`` makes; ``lowest``, ``core`` and ``wheels``
make their own.  Words after ``--`` go on to the command.
"""

import os
import shutil
import sys
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "quick"]
PYTHON = (sys.executable, "-m")  # of the environment that nox is in
UV = os.environ.get("UV", "uv")  # set by ``uv run``: it need not be on the path
TYPED = """
import typing, bayes_arena
typing.assert_type(bayes_arena.rate("votes.csv").verdict, str)
"""
OTHER_PROCESSOR = {  # AVX2 and one core, for BLAS and for NumPy's own loops
    "OPENBLAS_CORETYPE": "Haswell",
    "OPENBLAS_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX",
}


@nox.session
def quick(session: nox.Session) -> None:
    """Run the quick tests, and name those that have become slow."""
    slowest = ("--durations=5", "--durations-min=0.5")
    session.run(*PYTHON, "pytest", "-m", "not slow", *slowest, *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests."""
    session.run(*PYTHON, "pytest", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run all tests and count the lines and branches that they pass."""
    session.run(*PYTHON, "pytest", "--cov", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, formatting, and that no room imports from a floor above it."""
    session.run(*PYTHON, "ruff", "check", ".")
    session.run(*PYTHON, "ruff", "format", "--check", ".")
    session.run("lint-imports", "--no-logo")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package, strictly."""
    session.run(*PYTHON, "mypy")


@nox.session
def processor(session: nox.Session) -> None:
    """Run all tests with the arithmetic of another processor."""
    session.run(*PYTHON, "pytest", *session.posargs, env=OTHER_PROCESSOR)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the quick tests with the oldest libraries that pyproject.toml allows."""
    folder = session.create_tmp()
    here = {"VIRTUAL_ENV": folder}
    session.run(UV, "venv", "--clear", "--python", find_python("3.12"), folder)
    oldest = ("--resolution", "lowest-direct", "--editable", ".[all]")
    session.run(UV, "pip", "install", "--python", folder, *oldest, "--group", "dev")
    old = ("-W", "default::DeprecationWarning")  # of libraries, about newer ones
    run = (UV, "run", "--active", "--no-sync", "pytest", "-m", "not slow")
    session.run(*run, *old, *session.posargs, env=here)


@nox.session
def core(session: nox.Session) -> None:
    """Install the core alone, and run the quick tests of the rooms that need no more."""
    folder = session.create_tmp()
    here = {"VIRTUAL_ENV": folder}
    session.run(UV, "venv", "--clear", folder)
    tools = ("hypothesis", "pyarrow", "pytest", "pytest-xdist")
    session.run(UV, "pip", "install", "--python", folder, "--editable", ".", *tools)
    rooms = ("model", "inference", "boards", "people", "checks", "arena", "cli")
    tests = [f"tests/{room}" for room in rooms]
    run = (UV, "run", "--active", "--no-sync", "pytest", "-m", "not slow")
    session.run(*run, *tests, *session.posargs, env=here)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build wheel and sdist; on every Python rate the example by each, and find its types."""
    dist = Path(session.create_tmp()).resolve() / "dist"
    session.run(UV, "build", "--out-dir", str(dist))
    for version in ("3.12", "3.13", "3.14"):
        for package in sorted(dist.glob("bayes_arena-*")):
            folder = str(dist.parent / f"{version}-{package.suffix[1:]}")
            session.run(UV, "venv", "--clear", "--python", find_python(version), folder)
            session.run(UV, "pip", "install", "--python", folder, str(package))
            session.run(f"{folder}/bin/bayes-arena", "rank", external=True)
            with session.chdir(folder):  # not the clone, of which mypy would read files
                there = (
                    "--config-file=",
                    "--python-executable",
                    f"{folder}/bin/python",
                )
                session.run(*PYTHON, "mypy", "--strict", *there, "-c", TYPED)


def find_python(version: str) -> str:
    """Return an interpreter of pyenv, or the name of one on the path."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(root.glob(f"versions/{version}.*/bin/python"))
    name = f"python{version}"
    return str(installed[-1]) if installed else shutil.which(name) or version


@nox.session
def spark(session: nox.Session) -> None:
    """Install Spark too, and run the tests of engines with it; it needs Java."""
    run = (UV, "run", "--extra", "spark", "pytest", "tests/votes/test_engines.py")
    session.run(*run, "-rs", *session.posargs)


@nox.session
def audit(session: nox.Session) -> None:
    """Look for known vulnerabilities in all packages of ``uv.lock``; asks osv.dev."""
    session.run(UV, "audit", "--locked")


@nox.session
def licences(session: nox.Session) -> None:
    """List the licences of an installation with all extras; none may be of the GPL."""
    isolated = ("--isolated", "--locked", "--no-default-groups", "--extra", "all")
    tool = ("--with", "pip-licenses==5.5.5", "pip-licenses", "--from", "mixed")
    strict = ("--partial-match", "--fail-on", "GPL;General Public License")
    session.run(UV, "run", "--quiet", *isolated, *tool, *strict)


@nox.session
def hooks(session: nox.Session) -> None:
    """Run on all files what pre-commit runs before a commit."""
    session.run(UV, "tool", "run", "pre-commit==4.7.0", "run", "--all-files")


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the workflows: their form, and whether they are safe; and the forms of issues."""
    check = (UV, "tool", "run", "check-jsonschema==0.39.0", "--builtin-schema")
    for schema, files in (
        ("vendor.github-workflows", "workflows/*.yml"),
        ("vendor.github-issue-forms", "ISSUE_TEMPLATE/*.yml"),
        ("vendor.dependabot", "dependabot.yml"),
    ):
        session.run(*check, schema, *sorted(map(str, Path(".github").glob(files))))
    session.run(UV, "tool", "run", "zizmor==1.32.0", "--offline", ".github")


@nox.session
def notebooks(session: nox.Session) -> None:
    """Run the notebooks, or those that are named, and keep what they print and draw."""
    session.run(sys.executable, "notebooks/execute.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the site anew in docs/_build/html; a warning is an error."""
    strict = ("--fail-on-warning", "--keep-going", "--fresh-env")
    run = (UV, "run", "--locked", "--group", "docs", "sphinx-build", "--jobs", "auto")
    session.run(*run, *strict, "docs", "docs/_build/html", *session.posargs)


@nox.session
def reference(session: nox.Session) -> None:
    """Write docs/api.md and docs/tables.md anew from docstrings and tables."""
    session.run(sys.executable, "docs/write_api.py")
    session.run(sys.executable, "docs/write_tables.py")


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Run the benchmark that is named first, ``scale`` say, with its options."""
    name, *options = session.posargs
    run = (UV, "run", "--group", "benchmark", "python", f"benchmarks/{name}.py")
    session.run(*run, *options)
