"""The same numbers by other packages and by this one.

    uv run --group benchmark --with crowd-kit --with plotly --with pytz --with fschat python benchmarks/migration.py

It runs the pages of ``docs/migration`` on the votes of the example arena: their ``{code-block} python`` and our
``python`` apart. Where a page has a table of this script, it compares the ``scores`` that both have made so far. What
it prints is kept in ``benchmarks/results/migration.md``.
"""

import contextlib
import re
import sys
import tempfile
import types
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import bayes_arena as ba

PAGES = Path(__file__).parents[1] / "docs" / "migration"
PIECE = re.compile(
    r"^(?P<kind>```\{code-block\} python|```python|<!-- setup)\n(?P<code>.*?)^(?:```|-->)$"
    r"|^<!-- begin: \S+/migration.md#(?P<title>.*?) -->$",
    re.S | re.M,
)
OTHERWISE = {"fastchat": "fschat"}
"""Packages of another name than their page."""


def without_pytorch() -> None:
    """Spare FastChat's analysis its registry of models, which imports PyTorch and has no part in the numbers."""
    package, registry = types.ModuleType("fastchat.model"), types.ModuleType("fastchat.model.model_registry")
    registry.get_model_info = None
    sys.modules |= {"fastchat.model": package, "fastchat.model.model_registry": registry}


def compared(title: str, package: str, theirs: pd.Series, ours: pd.Series) -> str:
    ours = ours.loc[theirs.index]
    shown = ours.sort_values(ascending=False).index
    digits = 3 if ours.abs().max() > 100 else 5
    lines = [f"## {title}", "", "| | theirs | ours |", "|---|---:|---:|"]
    lines += [f"| {name} | {theirs[name]:.{digits}f} | {ours[name]:.{digits}f} |" for name in [*shown[:3], shown[-1]]]
    apart = float((theirs - ours).abs().max())
    return "\n".join(
        [*lines, "", f"Largest difference, of {len(ours)} competitors: {apart:.1g}. {package} {version(package)}.", ""]
    )


if __name__ == "__main__":
    without_pytorch()
    print(f"# The same numbers\n\n{(__doc__ or '').splitlines()[2]}\n")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        ba.example_arena().votes.write_csv("votes.csv")
        for page in sorted(PAGES.glob("*.md")):
            theirs, ours = {}, {}
            for piece in PIECE.finditer(page.read_text(encoding="utf-8")):
                if piece["code"]:
                    exec(piece["code"], theirs if "{" in piece["kind"] else ours)
                else:
                    package = OTHERWISE.get(page.stem, page.stem)
                    print(compared(piece["title"], package, theirs["scores"], ours["scores"]))
