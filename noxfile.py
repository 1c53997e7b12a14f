"""Everything a developer runs: ``uv run nox -l`` lists it, ``uv run nox -s quick`` runs one; words after ``--`` go on.

Sessions run in the environment that ``uv sync`` makes; ``lowest``, ``core`` and ``wheels`` make their own.
"""

import os
import shutil
import sys
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "types", "quick"]
PYTHON = (sys.executable, "-m")
"""Of the environment that nox is in."""
UV = os.environ.get("UV", "uv")
"""Set by ``uv run``: it need not be on the path."""
SPEED = ("peers", "epochs", "nuts", "growth", "scale")
"""Benchmarks that write CSV files and pages of ``benchmarks/results`` anew: about forty minutes."""
PROCESSORS = {
    "haswell": (
        {"OPENBLAS_CORETYPE": "Haswell", "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"},
        "2",
        ("AVX512", "X86_V4"),
    ),
    "prescott": ({"OPENBLAS_CORETYPE": "Prescott", "NUMBA_CPU_NAME": "generic"}, "1", ("",)),
}
"""What BLAS and numba take the processor for, the cores, and what NumPy does without: all that it can, by ``""``."""


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
    """Check that no folder imports from a floor above it, no files in circles, and that every map is true."""
    session.run(*PYTHON, "pytest", "tests/test_house.py", *session.posargs)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the quick tests with the oldest libraries that pyproject.toml allows."""
    folder = session.create_tmp()
    here, old = {"VIRTUAL_ENV": folder}, ("-W", "default::DeprecationWarning")  # of libraries by newer ones
    oldest = _python("3.12") or "3.12"  # some have no wheels for later ones
    session.run(UV, "venv", "--clear", "--python", oldest, folder)
    session.run(
        UV, "pip", "install", "--resolution", "lowest-direct", "--editable", ".[all]", "--group", "dev", env=here
    )
    session.run(UV, "run", "--active", "--no-sync", "pytest", "-m", "not slow", *old, *session.posargs, env=here)


@nox.session
def core(session: nox.Session) -> None:
    """Install the core alone, and run the quick tests of what it does."""
    folder = session.create_tmp()
    here = {"VIRTUAL_ENV": folder}
    session.run(UV, "venv", "--clear", folder)
    tools = ("duckdb", "hypothesis", "pyarrow", "pytest", "pytest-xdist")  # the tests write votes with two of them
    session.run(UV, "pip", "install", "--editable", ".", *tools, env=here)
    folders = ("votes", "likelihood", "inference", "promotion", "ratings", "decisions", "reliability", "validation")
    tests = [f"tests/{name}" for name in folders]
    session.run(UV, "run", "--active", "--no-sync", "pytest", "-m", "not slow", *tests, *session.posargs, env=here)


@nox.session
@nox.parametrize("processor", list(PROCESSORS), ids=list(PROCESSORS))
def processors(session: nox.Session, processor: str) -> None:
    """Run all tests with the arithmetic of other x86 processors: haswell with AVX2, prescott with SSE3 and one core."""
    import numpy as np

    settings, cores, without = PROCESSORS[processor]
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    here = settings | dict.fromkeys(("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "PYTHON_CPU_COUNT"), cores)
    here["NPY_DISABLE_CPU_FEATURES"] = " ".join(name for name in found if name.startswith(without))
    here["NUMBA_CACHE_DIR"] = str(Path(session.create_tmp()).resolve())
    session.run(*PYTHON, "pytest", "-n", str(os.cpu_count()), *session.posargs, env=here)


@nox.session
def gate(session: nox.Session) -> None:
    """Ask the gate about simulated votes of a judge, by its command: a better model, a worse one, and an equal one."""
    folder = Path(session.create_tmp()).resolve()
    votes, two = str(folder / "votes.csv"), ("--between", "new", "base", "--program", "judge", "--no-prompt")
    for lead, asked, code in (
        ("100", ("better",), 0),
        ("100", ("not-worse", "--margin", "20"), 0),
        ("-100", ("not-worse", "--margin", "20"), 1),
        ("0", ("better",), 4),
    ):
        session.run(sys.executable, "benchmarks/gate.py", "--write", votes, "--leads", lead, silent=True)
        session.run(*PYTHON, "bayes_arena", "pairs", votes, *two, "--require", *asked, success_codes=[code])


@nox.session
def spark(session: nox.Session) -> None:
    """Install Spark too, and run the tests of engines with it; it needs Java."""
    session.run(UV, "run", "--extra", "spark", "pytest", "tests/votes/test_engines.py", "-rs", *session.posargs)


@nox.session
def wheels(session: nox.Session) -> None:
    """Build wheel and sdist, install and run them by uv and by pip on every Python that is there; print the cost."""
    found = {version: _python(version) for version in ("3.12", "3.13", "3.14")}
    for version in (version for version, python in found.items() if python is None):
        session.warn(f"There is no Python {version} here.")
    session.run(sys.executable, "benchmarks/install.py", *filter(None, found.values()))


def _python(version: str) -> str | None:
    """Return an interpreter of pyenv, or the one on the path."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


@nox.session
def audit(session: nox.Session) -> None:
    """Look for known vulnerabilities in all packages of ``uv.lock``; asks osv.dev."""
    session.run(UV, "audit", "--locked")


@nox.session
def licences(session: nox.Session) -> None:
    """List the licences of all that an installation with all extras brings; none may be of the GPL family."""
    brings = ("--isolated", "--locked", "--no-default-groups", "--extra", "all", "--with", "pip-licenses==5.5.5")
    told = ("--from", "mixed", "--order", "license", "--partial-match", "--fail-on", "GPL;General Public License")
    session.run(UV, "run", "--quiet", *brings, "pip-licenses", *told, *session.posargs)


@nox.session
def workflows(session: nox.Session) -> None:
    """Check the workflows: their form, and whether they are safe."""
    files = sorted(map(str, Path(".github", "workflows").glob("*.yml")))
    schema = ("check-jsonschema==0.39.0", "--builtin-schema", "vendor.github-workflows")
    session.run(UV, "tool", "run", *schema, *files)
    session.run(UV, "tool", "run", "zizmor==1.32.0", "--offline", *files, ".pre-commit-config.yaml")


@nox.session
def intervals(session: nox.Session) -> None:
    """Print how often intervals hold the truth: truths from the prior, and every simulated arena; ``-- 10`` of each."""
    failed = []
    for script, option in (("sbc", "--replicates"), ("regimes", "--arenas")):
        size = [option, *session.posargs] if session.posargs else []
        try:
            session.run(sys.executable, f"benchmarks/{script}.py", *size)
        except CommandFailed:  # its table says where; the next one is printed all the same
            failed.append(script)
    if failed:
        session.error(f"Failed: {', '.join(failed)}")


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
    """Build the documentation into docs/_build/html; a warning is an error, and nothing is fetched."""
    session.run(*PYTHON, "sphinx", "-W", "--keep-going", "-n", "docs", "docs/_build/html", *session.posargs)


@nox.session
def benchmarks(session: nox.Session) -> None:
    """Run the benchmark that is named first, ``calibration`` say, with its options; else all of the page on speed."""
    name, *options = session.posargs or [""]
    failed = []
    for script in [name] if name else SPEED:
        try:
            session.run(UV, "run", "--group", "benchmark", "python", f"benchmarks/{script}.py", *options)
        except CommandFailed:  # its page says what; the next ones are measured all the same
            failed.append(script)
    if failed:
        session.error(f"Failed: {', '.join(failed)}")
