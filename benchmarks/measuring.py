"""Time whole processes, and write the pages of docs/measured."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "docs" / "measured"
DATA = Path(os.environ.get("BAYES_ARENA_DATA", ROOT.parent / "shared" / "data"))


@dataclass(frozen=True)
class Cost:
    """What a process cost: CPU and wall seconds, and memory in GiB."""

    cpu: float
    wall: float
    memory: float
    output: str


def run(command: Sequence[str], check: bool = True) -> Cost:
    """Run a command in a process of its own, with bytecode, and return its cost."""
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    launcher = [sys.executable, str(Path(__file__).resolve()), *command]
    # Not in the checkout: Python would import the package from there.
    elsewhere = tempfile.gettempdir()
    result = subprocess.run(
        launcher, capture_output=True, text=True, env=env, cwd=elsewhere
    )
    if check and result.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{result.stderr[-2000:]}")
    cpu, wall, memory = map(float, result.stderr.splitlines()[-1].split())
    return Cost(cpu, wall, memory, result.stdout)


def least(command: Sequence[str], runs: int) -> Cost:
    """Return the cost of the cheapest of several runs."""
    return min((run(command) for _ in range(runs)), key=lambda cost: cost.cpu)


def measure_child(command: Sequence[str]) -> int:
    """Run a command, and print its CPU seconds, wall seconds and GiB on the last line."""
    import time

    start = time.perf_counter()
    process = subprocess.run(command, check=False)
    wall = time.perf_counter() - start
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = usage.ru_utime + usage.ru_stime
    sys.stdout.flush()
    print(f"\n{cpu} {wall} {usage.ru_maxrss / 2**20}", file=sys.stderr)
    return process.returncode


def python(code: str, interpreter: str = sys.executable) -> list[str]:
    """Return the command that runs some code."""
    return [interpreter, "-c", code]


def markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a Markdown table; the first column is text, the others are numbers."""
    rule = ["---"] + ["---:"] * (len(header) - 1)
    lines = [header, rule, *([str(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def write_page(name: str, title: str, parts: Sequence[str], command: str) -> None:
    """Write a page of docs/measured: a title, its parts, the command and the machine."""
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    end = f"Printed by `{command}` on {machine}.\n"
    page = "\n".join([f"# {title}\n", *parts, end])
    MEASURED.mkdir(parents=True, exist_ok=True)
    (MEASURED / f"{name}.md").write_text(page, encoding="utf-8")
    print(page)


if __name__ == "__main__":
    sys.exit(measure_child(sys.argv[1:]))
