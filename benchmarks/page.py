"""The page by category: how often a mark is false, and what pages cost.

    python benchmarks/page.py [--arenas 40] [--only marks cost]

Simulated votes in categories, and LLMFAO and MT-bench where ``$BAYES_ARENA_DATA`` (else
``../shared/data``) has them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from measuring import DATA, least, markdown, write_page

import bayes_arena as ba

FIRST_SEED = 8_000  # seeds of other pages are below
MODEL = ba.Model("by category", "none", "davidson", strength_by=("category",))
LARGE = 0.5  # logits, from which a difference should be found
RUNS = 3


@dataclass(frozen=True)
class Kind:
    """A kind of arena; ``difference`` is in logits, up or down, in one cell of ten."""

    name: str
    competitors: int = 20
    votes: int = 4_000
    categories: int = 6
    difference: float = 0.0
    share: float = 0.1
    prompts: int = 0
    sizes: float = 100.0  # of categories: the lower, the more unequal


KINDS = (
    Kind("no differences"),
    Kind("the same, 500 votes", votes=500),
    Kind("the same, categories of unequal size", sizes=1.0),
    Kind("the same, 60 competitors, 12 categories", 60, 9_000, 12),
    Kind("the same, 60 prompts", prompts=60),
    Kind("the same, 24 prompts", prompts=24),
    Kind("one cell in ten differs by .7", difference=0.7),
    Kind("one cell in ten differs by 1.5", difference=1.5),
    Kind("the same, 60 prompts", difference=1.5, prompts=60),
    Kind("the same, 20,000 votes", votes=20_000, difference=1.5),
    Kind("every cell differs by .4", difference=0.4, share=1.0),
)


def draw(kind: Kind, seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return votes as columns, and by how much competitors are stronger by category.

    On a prompt, which has one category, competitors differ further, with sd .7.
    """
    rng = np.random.default_rng([seed, 43])
    n, size = kind.competitors, kind.votes
    r = rng.normal(0, 1, n)
    u = np.where(rng.random((kind.categories, n)) < kind.share, kind.difference, 0.0)
    u *= rng.choice([-1, 1], u.shape)
    i = rng.integers(n, size=size)
    j = (i + rng.integers(1, n, size=size)) % n
    shares = rng.dirichlet(np.full(kind.categories, kind.sizes))
    prompt = np.arange(size)
    taste = np.zeros((size, n))
    if kind.prompts:
        prompt = rng.integers(kind.prompts, size=size)
        taste = rng.normal(0, 0.7, (kind.prompts, n))
    category = rng.choice(kind.categories, len(taste), p=shares)[prompt]
    strength = r + u[category] + taste[prompt]
    lead = np.take_along_axis(strength, np.stack([i, j], axis=1), axis=1) @ [1, -1]
    weight = np.exp(lead[:, None] * [0.5, -0.5, 0.0]) * [1, 1, 0.6]
    weight /= weight.sum(axis=1, keepdims=True)
    outcome = (rng.random(size) > weight.cumsum(axis=1).T[:2]).sum(axis=0)
    columns = {
        "model_a": i,
        "model_b": j,
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "category": category,
    }
    if kind.prompts:
        columns["prompt"] = prompt
    return columns, true_gaps(u, category, i, j)


def true_gaps(u: np.ndarray, category: np.ndarray, i, j) -> np.ndarray:
    """Return how much stronger competitors are than over all votes, (categories, n).

    Relative to the mean of the competitors.
    """
    cast = np.zeros_like(u)
    np.add.at(cast, (category, i), 1)
    np.add.at(cast, (category, j), 1)
    gap = u - (cast * u).sum(axis=0) / cast.sum(axis=0)
    return gap - gap.mean(axis=1, keepdims=True)


def marks(arenas: int) -> Iterable[str]:
    """Return the table of marks, false and right."""
    rows = []
    for kind in KINDS:
        counts = [counted(*draw(kind, FIRST_SEED + seed)) for seed in range(arenas)]
        cells, marked, false, large, found = np.sum(counts, axis=0)
        wrong = np.mean([each[2] > 0 for each in counts])
        power = f"{found / large:.2f}" if large else ""
        numbers = [f"{x / arenas:.2f}" for x in (marked, false)]
        rows.append(
            [kind.name, f"{cells / arenas:.0f}", *numbers, f"{wrong:.2f}", power]
        )
        print(rows[-1], file=sys.stderr, flush=True)
    yield "## Marks\n"
    yield (
        f"20 competitors, 4,000 votes and six categories where nothing else is said; on a "
        f"prompt competitors differ with sd .7.  {arenas} arenas a row: cells of the matrix, "
        f"marked ones, and those marked falsely, which differ the other way or not at all; "
        f"arenas with a false mark; and of the cells that differ by "
        f"{LARGE:g} logits (87 Elo) and more the share that is marked rightly.\n"
    )
    header = [
        "arena",
        "cells",
        "marked",
        "falsely",
        "arenas with a false mark",
        "found",
    ]
    yield markdown(header, rows)


def counted(columns: dict[str, np.ndarray], truth: np.ndarray) -> tuple[int, ...]:
    """Return how many cells there are, marked, falsely so, large, and found."""
    votes = ba.read_votes(
        {name: x.tolist() for name, x in columns.items()}, slices="category"
    )
    table = ba.slice_gaps(ba.fit(votes, model=MODEL), "category")
    gap = truth[table["category"].astype(int), table["competitor"].astype(int)]
    is_marked = table["flagged"].to_numpy()
    is_right = is_marked & (np.sign(table["gap"]) == np.sign(gap))
    is_large = abs(gap) >= LARGE
    n_right = int(is_right.sum())
    return (
        len(table),
        int(is_marked.sum()),
        int(is_marked.sum()) - n_right,
        int(is_large.sum()),
        int((is_right & is_large).sum()),
    )


def cost(_: int) -> Iterable[str]:
    """Return the table of what pages cost."""
    rows = []
    program = [sys.executable, "-m", "bayes_arena", "report"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        large = folder / "large.csv"
        write_large(large)
        page = folder / "page.html"
        files = [("LLMFAO", DATA / "llmfao.csv", [])]
        files += [("MT-bench", DATA / "mt_bench_human.csv", [])]
        files += [("MT-bench by turn", DATA / "mt_bench_human.csv", ["--by", "turn"])]
        files += [("60 competitors, 50,000 votes, 400 annotators", large, [])]
        files += [("the same by 12 categories", large, ["--by", "category"])]
        for name, file, options in files:
            if file.is_file():
                command = [*program, str(file), *options, "-o", str(page)]
                seconds = least(command, RUNS).cpu
                size = page.stat().st_size / 1e6
                rows.append([name, f"{seconds:.1f}", f"{size:.2f}"])
                print(rows[-1], file=sys.stderr, flush=True)
    yield "## What pages cost\n"
    yield f"CPU seconds of the command, the least of {RUNS} runs, and megabytes of the page.\n"
    yield markdown(["page", "CPU seconds", "MB"], rows)


def write_large(path: Path) -> None:
    """Write 50,000 votes of 400 annotators on 60 competitors in 12 categories."""
    import pandas as pd

    columns, _ = draw(Kind("", 60, 50_000, 12, difference=1.0), FIRST_SEED)
    judges = np.random.default_rng(0).integers(400, size=50_000)
    frame = pd.DataFrame(columns | {"judge": judges})
    for name in ("model_a", "model_b", "category", "judge"):
        frame[name] = f"{name[:5]} " + frame[name].astype(str).str.zfill(3)
    frame.to_csv(path, index=False)


PARTS: dict[str, Callable[[int], Iterable[str]]] = {"marks": marks, "cost": cost}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--arenas", type=int, default=40)
    options = parser.parse_args()
    parts = [line for name in options.only for line in PARTS[name](options.arenas)]
    command = f"python benchmarks/page.py --arenas {options.arenas}"
    write_page("page", "The page", parts, command)


if __name__ == "__main__":
    main()
