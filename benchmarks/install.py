"""What an installation takes, of the wheel and of the sdist, by uv and by pip, on every Python that is there.

    uv run nox -s wheels > benchmarks/results/install.md

Takes the interpreters. Builds both, installs each into a fresh environment, and runs commands there. MB are 10^6 bytes
of files, without bytecode and pip; CPU seconds are those of the user and the system, for which a busy machine takes
longer. The first start of `bayes-arena rank` compiles bytecode, unless pip has; the others are medians of five runs,
and the import is without what Python itself takes.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import Distribution, distributions
from pathlib import Path

from measuring import markdown

ROOT = Path(__file__).parents[1]
UV = os.environ.get("UV", "uv")
"""Set by ``uv run``: it need not be on the path."""
RUNS, LARGEST = 5, 10
USUAL = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
"""The surroundings of a user: Python finds what is installed, and keeps bytecode."""


def run(*command: str | Path) -> float:
    """Run a command away from the checkout, and return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([*map(str, command)], cwd="/", env=USUAL, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def installed(python: str, tool: str, what: str, folder: Path) -> dict[str, float]:
    """Install into a fresh environment, and return the packages there with their MB, without pip."""
    run(python, "-m", "venv", "--clear", folder)
    there = folder / "bin" / "python"
    by_uv = (UV, "pip", "install", "--quiet", "--link-mode", "copy", "--python", there)
    run(*(by_uv if tool == "uv" else (there, "-m", "pip", "install", "--quiet")), what)
    found = distributions(path=[str(path) for path in folder.glob("lib/*/site-packages")])
    return {each.name: megabytes(each) for each in found if each.name != "pip"}


def megabytes(package: Distribution) -> float:
    """Return how much of the disk the files of a package take."""
    files = [Path(str(package.locate_file(file))) for file in package.files or () if file.suffix != ".pyc"]
    return sum(file.stat().st_size for file in files) / 1e6


def seconds(*command: str | Path) -> float:
    """Return the median CPU seconds of a command."""
    return statistics.median(run(*command) for _ in range(RUNS))


def starts(folder: Path) -> list[float]:
    """Return the CPU seconds of the first start of ``rank``, of later ones, of ``--help`` and of the import alone."""
    command, python = folder / "bin" / "bayes-arena", folder / "bin" / "python"
    first = run(command, "rank")
    run(command, "annotators")
    bare, importing = seconds(python, "-c", ""), seconds(python, "-c", "import bayes_arena")
    return [first, seconds(command, "rank"), seconds(command, "--help"), importing - bare]


def main() -> None:
    """Print the page."""
    print("Printed by `uv run nox -s wheels`; `benchmarks/install.py` says what is measured.\n")
    heads = ["Python", "of", "by", "MB", "packages", "first `rank`, CPU s", "second", "`--help`", "import"]
    print(markdown(heads, []), flush=True)
    core = dict[str, float]()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([UV, "build", "--quiet", "--out-dir", folder / "dist"], cwd=ROOT, check=True)
        (wheel,), (sdist,) = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
        for python in sys.argv[1:]:
            asked = subprocess.run([python, "--version"], capture_output=True, text=True, check=True)
            version = asked.stdout.removeprefix("Python ").strip()
            for what, of, extra in (("wheel", wheel, ""), ("sdist", sdist, ""), ("wheel, all extras", wheel, "[all]")):
                for tool in ("uv", "pip"):
                    sizes = installed(python, tool, f"bayes-arena{extra} @ {of.as_uri()}", folder / "there")
                    core = core or sizes
                    row = [version, what, tool, f"{sum(sizes.values()):,.0f}", str(len(sizes))]
                    print(f"| {' | '.join(row + [f'{each:.2f}' for each in starts(folder / 'there')])} |", flush=True)
    print(f"\nThe {LARGEST} largest packages of the core:\n")
    largest = sorted(core.items(), key=lambda item: -item[1])[:LARGEST]
    print(markdown(["package", "MB"], [[name, f"{size:.1f}"] for name, size in largest]))


if __name__ == "__main__":
    main()
