"""Run the pages' code of other packages and ours, and write how far apart they are.

``python benchmarks/migration.py`` needs arena-rank, choix and evalica.  It runs the Python
blocks of docs/migration.md: each pair of theirs and ours makes ``scores``.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bayes_arena as ba

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
PIECE = re.compile(
    r"^## (?P<package>\S+)$|^```python\n(?P<code>.*?)^```$"
    r"|^Largest difference: (?P<result>[^\n]*)$",
    re.DOTALL | re.MULTILINE,
)
RESULT = re.compile(r"^Largest difference: .*$", re.MULTILINE)


def main() -> None:
    """Run the page, and write the differences into it."""
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        ba.example_arena().votes.to_csv("votes.csv", index=False)
        results = iter(differences(page))
        page = RESULT.sub(lambda _: next(results), page)
    PAGE.write_text(page, encoding="utf-8")


def differences(page: str) -> list[str]:
    """Return a line for each pair of blocks."""
    lines: list[str] = []
    package, theirs, ours = "", {}, {}
    blocks: list[str] = []
    for piece in PIECE.finditer(page):
        if piece["package"]:
            package, theirs, ours, blocks = piece["package"], {}, {}, []
        elif piece["code"]:
            blocks.append(piece["code"])
        else:
            lines.append(compare(package, blocks, theirs, ours))
            blocks = []
            print(lines[-1])
    return lines


def compare(
    package: str, blocks: list[str], theirs: dict[str, Any], ours: dict[str, Any]
) -> str:
    """Return how far apart the scores of two blocks are."""
    exec(blocks[0], theirs)
    exec(blocks[1], ours)
    apart = (theirs["scores"] - ours["scores"].loc[theirs["scores"].index]).abs().max()
    count = len(ours["scores"])
    return (
        f"Largest difference: {apart:.0e}, of {count} competitors "
        f"({package} {version(package)})."
    )


if __name__ == "__main__":
    main()
