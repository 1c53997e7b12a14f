"""Print anew what the README and the pages of docs show of a run.

A block begins with ``$ uv run bayes-arena ...`` or ``$ bayes-arena ...``; a last line of "…"
stands for the lines that are left out.  Files of votes are those of ``$BAYES_ARENA_DATA``.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("BAYES_ARENA_DATA", ROOT.parent / "shared" / "data"))
BLOCK = re.compile(r"```console\n\$ (?P<command>[^\n]*)\n(?P<output>.*?)```", re.DOTALL)
# A file that the page tells the reader to save.
FILE = re.compile(
    r"Save this as `(?P<name>[^`]+)`:\n\n```text\n(?P<content>.*?)```", re.DOTALL
)
PROGRAM = re.compile(r"^(uv run )?bayes-arena\b")


def refreshed(text: str) -> str:
    """Return a page with the output of its commands as it is now."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file in DATA.glob("*"):  # of pages that show the example none is needed
            (folder / file.name).symlink_to(file)
        write_files(text, folder)
        return BLOCK.sub(lambda block: run_block(block, folder), text)


def write_files(text: str, folder: Path) -> None:
    """Write the files that a page tells the reader to save."""
    for file in FILE.finditer(text):
        (folder / file["name"]).write_text(file["content"], encoding="utf-8")


def run_block(block: re.Match[str], folder: Path) -> str:
    """Return a block with its output anew."""
    command, output = block["command"], block["output"]
    lines = run_command(command, folder).splitlines()
    shown = output.splitlines()
    if shown and shown[-1] == "…":
        lines = [*lines[: len(shown) - 1], "…"]
    body = "\n".join(line.rstrip() for line in lines)
    return f"```console\n$ {command}\n{body}\n```"


def run_command(command: str, folder: Path) -> str:
    """Return what a command prints in a folder, with a line of 100 characters."""
    words = shlex.split(PROGRAM.sub("", command))
    program = [sys.executable, "-m", "bayes_arena", *words]
    env = {**os.environ, "COLUMNS": "100"}
    result = subprocess.run(
        program, cwd=folder, env=env, capture_output=True, text=True
    )
    return result.stdout


def pages() -> list[Path]:
    """Return the pages with blocks."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [file for file in files if BLOCK.search(file.read_text(encoding="utf-8"))]


if __name__ == "__main__":
    for page in pages():
        text = page.read_text(encoding="utf-8")
        page.write_text(refreshed(text), encoding="utf-8")
        print(page)
