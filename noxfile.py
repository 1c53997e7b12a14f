"""Everything a developer runs: ``uv run nox -l`` lists it, ``uv run nox -s quick`` runs one; words after ``--`` go on.

Sessions run in the environment that ``uv sync`` makes; only ``lowest`` has one of its own.
"""

import os
import sys

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "quick"]
PYTHON = (sys.executable, "-m")
"""Of the environment that nox is in."""
UV = os.environ.get("UV", "uv")
"""Set by ``uv run``: it need not be on the path."""


@nox.session
def quick(session: nox.Session) -> None:
    """Run the quick tests, and name those that have become slow."""
    session.run(*PYTHON, "pytest", "-m", "not slow", "--durations=5", "--durations-min=0.5", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests."""
    session.run(*PYTHON, "pytest", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Run all tests and count the lines and branches that they pass; there is a floor."""
    session.run(*PYTHON, "pytest", "--cov", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and the order of imports."""
    session.run(*PYTHON, "ruff", "check", ".")
    session.run(*PYTHON, "ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package, strictly."""
    session.run(*PYTHON, "mypy")


@nox.session
def floors(session: nox.Session) -> None:
    """Check that no folder imports from a floor above it, and that every map is true."""
    session.run(*PYTHON, "pytest", "tests/test_house.py", *session.posargs)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the quick tests with the oldest libraries that pyproject.toml allows."""
    folder = session.create_tmp()
    here, old = {"VIRTUAL_ENV": folder}, ("-W", "default::DeprecationWarning")  # of libraries by newer ones
    session.run(UV, "venv", "--clear", "--python", "3.12", folder)  # some have no wheels for later ones
    session.run(UV, "pip", "install", "--resolution", "lowest-direct", "--editable", ".", "--group", "dev", env=here)
    session.run(UV, "run", "--active", "--no-sync", "pytest", "-m", "not slow", *old, *session.posargs, env=here)


@nox.session
def notebooks(session: nox.Session) -> None:
    """Run the notebooks, or those that are named, and keep what they print and draw."""
    session.run(sys.executable, "notebooks/execute.py", *session.posargs)


@nox.session
def readme(session: nox.Session) -> None:
    """Print anew what README.md and the pages of docs, or those that are named, show of a run."""
    session.run(sys.executable, "benchmarks/readme.py", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build; a warning is an error, and nothing is fetched."""
    session.run(*PYTHON, "sphinx", "-W", "--keep-going", "-n", "docs", "docs/_build", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Run the benchmark that is named first, ``calibration`` say, with its options."""
    name, *options = session.posargs or session.error("Name a file of benchmarks/: nox -s benchmarks -- calibration")
    session.run(UV, "run", "--group", "benchmark", "python", f"benchmarks/{name}.py", *options)
