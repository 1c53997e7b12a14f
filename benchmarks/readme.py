"""Rewrite the blocks of README.md that show what the program prints.

    uv run python benchmarks/readme.py

Blocks stand between ``<!-- begin: NAME -->`` and ``<!-- end: NAME -->``. The blocks on speed, detection
and calibration are copied from ``benchmarks/results``, where the output of those benchmarks is kept, the
boards from notebooks 07 and 08.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def printed(*arguments: str, rows: int) -> str:
    command = [str(Path(sys.executable).parent / "bayes-arena"), *arguments]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    header = 5
    return "```text\n" + "\n".join(output.splitlines()[: header + rows]) + "\n```"


def blocks() -> dict[str, str]:
    return {
        "rank": printed("rank", rows=10),
        "annotators": printed("annotators", rows=5),
        "boards": kept("07_slices.ipynb", "07-09"),
        "bought": kept("08_trust.ipynb", "08-03"),
        "calibration": (ROOT / "benchmarks" / "results" / "calibration.md").read_text().strip(),
        "detection": chapter("detection.md", "In short"),
        "nuts": section("nuts.md", "LLMFAO"),
        "speed": (ROOT / "benchmarks" / "results" / "point_estimates.md").read_text().strip(),
    }


def kept(name: str, cell: str) -> str:
    """Return what a cell of a notebook has printed."""
    cells = json.loads((ROOT / "notebooks" / name).read_text())["cells"]
    return "".join(next(each for each in cells if each["id"] == cell)["outputs"][0]["text"]).strip()


def section(name: str, title: str) -> str:
    """Return one data set's table of a file of results."""
    text = (ROOT / "benchmarks" / "results" / name).read_text()
    return (
        next(part for part in re.split(r"\n(?=\S.*: Cells)", text) if part.startswith(title)).split("\n\n\n")[0].strip()
    )


def chapter(name: str, title: str) -> str:
    """Return what stands under a heading of a file of results."""
    text = (ROOT / "benchmarks" / "results" / name).read_text()
    return next(part for part in text.split("## ") if part.startswith(title)).split("\n", 1)[1].strip()


def fill(text: str, contents: dict[str, str]) -> str:
    for name, content in contents.items():
        pattern = rf"(<!-- begin: {name} -->\n).*?(<!-- end: {name} -->)"
        text, count = re.subn(
            pattern, lambda found, content=content: found[1] + content + "\n" + found[2], text, flags=re.S
        )
        if count != 1:
            raise SystemExit(f"README.md has no block {name!r}")
    return text


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(fill(readme.read_text(), blocks()))
