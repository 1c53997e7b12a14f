"""Run the pages' code of other packages and ours, and write how far apart they are.

``uv run --group benchmark --with fschat --with plotly --with pytz python
benchmarks/migration.py`` runs docs/migration.md.  In each section it runs blocks of theirs
and of ours in turn; both make ``scores``.  What R prints is a block of text.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import types
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

import bayes_arena as ba

PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
PIECE = re.compile(
    r"^## (?P<package>\S+)$"
    r"|^Save this as `(?P<file>[^`]+)`:\n\n```text\n(?P<content>.*?)^```$"
    r"|^```(?P<language>python|text)\n(?P<code>.*?)^```$"
    r"|^(?P<result>Largest difference[^:\n]*):[^\n]*$",
    re.DOTALL | re.MULTILINE,
)
RESULT = re.compile(r"^Largest difference[^:\n]*:.*$", re.MULTILINE)
PRINTED = re.compile(r"^(?P<name>.+?):?\s+(?P<number>-?\d[\d.]*)", re.MULTILINE)
DISTRIBUTION = {"FastChat": "fschat"}


def main() -> None:
    """Run the page, and write the differences into it."""
    without_pytorch()
    page = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_votes()
        results = iter(differences(page))
    PAGE.write_text(RESULT.sub(lambda _: next(results), page), encoding="utf-8")


def without_pytorch() -> None:
    """Spare FastChat's analysis its registry of models, which imports PyTorch."""
    registry: Any = types.ModuleType("fastchat.model.model_registry")
    registry.get_model_info = None  # has no part in the numbers
    sys.modules["fastchat.model"] = types.ModuleType("fastchat.model")
    sys.modules["fastchat.model.model_registry"] = registry


def write_votes() -> None:
    """Write the example's votes, and those without ties as crowd-kit takes them."""
    votes = ba.example_arena().votes
    votes.to_csv("votes.csv", index=False)
    decided = votes[votes["winner"] != "tie"]
    is_first = decided["winner"] == "model_a"
    columns = {"judge": "worker", "model_a": "left", "model_b": "right"}
    labels = decided.rename(columns=columns)
    labels["label"] = labels["left"].where(is_first, labels["right"])
    labels[[*columns.values(), "label"]].to_csv("labels.csv", index=False)


def differences(page: str) -> list[str]:
    """Return a line for each pair of blocks."""
    lines: list[str] = []
    names: dict[str, dict[str, Any]] = {}  # of theirs and of ours
    for package, kind, text in pieces(page):
        if kind == "begin":
            names = {"theirs": {}, "ours": {}}
            for side in names.values():
                exec(text, side)
        elif kind == "printed":
            names["theirs"]["scores"] = printed(text)
        elif kind == "result":
            scores = names["theirs"]["scores"], names["ours"]["scores"]
            lines.append(f"{text}: {difference(package, *scores)}")
            print(lines[-1])
        else:
            exec(text, names[kind])
    return lines


def pieces(page: str) -> Iterator[tuple[str, str, str]]:
    """Yield packages with what stands in their sections; files are written.

    The kinds are "begin" (a section, with the block that all begin with), "theirs",
    "printed" (theirs, by R), "ours" and "result".
    """
    package, begin = "", ""
    side = "theirs"
    for piece in PIECE.finditer(page):
        if piece["package"]:
            package, side = piece["package"], "theirs"
            yield package, "begin", begin
        elif piece["file"]:
            Path(piece["file"]).write_text(piece["content"], encoding="utf-8")
        elif piece["code"] and not package:
            begin = piece["code"]
        elif piece["code"]:
            yield (
                package,
                "printed" if piece["language"] == "text" else side,
                piece["code"],
            )
            side = "ours"
        else:
            yield package, "result", piece["result"]
            side = "theirs"  # whose block may stand alone: ours is as before


def printed(text: str) -> pd.Series:
    """Return the numbers that R printed, by name."""
    rows = PRINTED.finditer(text)
    return pd.Series({row["name"]: float(row["number"]) for row in rows})


def difference(package: str, theirs: pd.Series, ours: pd.Series) -> str:
    """Return how far apart the scores of two blocks are."""
    apart = float((theirs - ours.loc[theirs.index]).abs().max())
    source = "as R prints them"
    if package != "BradleyTerry2":
        distribution = DISTRIBUTION.get(package, package)
        source = f"{package} {version(distribution)}"
    return f"{apart:.0e}, of {len(theirs)} numbers ({source})."


if __name__ == "__main__":
    main()
