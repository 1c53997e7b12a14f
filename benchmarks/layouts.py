"""Files of other tools, read without options: the layout that is recognised, and the tool's own count beside ours.

    uv run python benchmarks/layouts.py > benchmarks/results/layouts.md

The files are tiny, written by hand from the published formats; ``counts.json`` beside them has each tool's rule and
what it makes of the file: wins, losses and ties of every competitor, so that grades are folded. Weights that are not
counts are scaled, so of these layouts the shares are compared.
"""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import bayes_arena as ba
from bayes_arena.votes.layouts.registry import LAYOUTS
from bayes_arena.votes.outcomes import wins_losses_ties
from bayes_arena.votes.reading.opening import open_votes

GOLDEN = Path(__file__).parents[1] / "tests" / "votes" / "golden"


def counted(cells: ba.Cells) -> dict[str, list[float]]:
    """Return wins, losses and ties of every competitor."""
    table: dict[str, Any] = defaultdict(lambda: np.zeros(3))
    for a, b, wins, losses, ties in zip(cells.a, cells.b, *wins_losses_ties(cells.counts), strict=True):
        table[cells.competitors[a]] += wins, losses, ties
        table[cells.competitors[b]] += losses, wins, ties
    return {name: counts.tolist() for name, counts in table.items()}


def compared(name: str) -> dict[str, Any]:
    """Read the golden files of a layout without options, or with its name if no columns tell it."""
    golden = json.loads((GOLDEN / "counts.json").read_text())[name]
    path, named = str(GOLDEN / golden["file"]), golden.get("named", False)
    with warnings.catch_warnings(action="ignore"):
        cells = ba.read_votes(path, layout=name if named else None, grades="fold")
        layout = open_votes(path, {"layout": name if named else None, "grades": "fold"}).layout
    found = counted(cells)
    scale = sum(map(sum, golden["counts"].values())) / sum(map(sum, found.values()))
    scaled = {one: [scale * count for count in counts] for one, counts in found.items()}
    return {
        "detected": layout.name if layout else None,
        "votes": round(cells.n_votes * cells.design_effect, 9),
        "competitors": cells.n_competitors,
        "dropped": sum(cells.dropped.values()),
        "equal": scaled.keys() == golden["counts"].keys()
        and all(np.allclose(scaled[one], counts, rtol=1e-12) for one, counts in golden["counts"].items()),
        "as counts": scale == 1,
        "named": named,
        "rule": golden["rule"],
        "expected votes": golden["votes"],
    }


def main() -> None:
    print("Printed by `uv run python benchmarks/layouts.py`.\n")
    print("| layout | recognised without options | votes | competitors | left out | the tool's own count | its rule |")
    print("|---|---|---|---|---|---|---|")
    rows = {layout.name: compared(layout.name) for layout in LAYOUTS}
    for name, row in rows.items():
        told = f"with `--layout {name}`" if row["named"] else "yes"
        recognised = told if row["detected"] == name else f"no: {row['detected']}"
        equal = ("equal" if row["as counts"] else "equal shares") if row["equal"] else "differs"
        votes = f"{row['votes']:g}" + ("" if row["votes"] == row["expected votes"] else f" of {row['expected votes']}")
        found = f"{recognised} | {votes} | {row['competitors']} | {row['dropped']} | {equal}"
        print(f"| {name} | {found} | {row['rule']} |")
    right = [row for name, row in rows.items() if row["detected"] == name and row["equal"]]
    unaided = sum(not row["named"] for row in right)
    print(f"\n{len(right)} of {len(rows)} layouts count as their tool does, {unaided} of them read without options.")


if __name__ == "__main__":
    main()
