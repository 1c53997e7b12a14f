"""Draw the pictures of the README and of the docs: every plot of simulated arenas, few competitors or many.

uv run python docs/images/draw.py
"""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
from matplotlib.axes import Axes
from PIL import Image

import bayes_arena as ba

COLOURS = 256
"""Enough for what is drawn, at half of the bytes."""
ROUNDS = 5
SIZES = {5: (12, 600), 20: (42, 4_000), 59: (120, 9_000), 129: (200, 40_000)}
"""Competitors, and the annotators and votes of their arena; one annotator in ten votes against the ranking."""


def main() -> None:
    """Fit the arenas, and write the pictures beside this file."""
    mpl.use("agg")
    write("board", ba.plots.board(ba.fit(ba.read_votes(ba.example_arena().votes))), dpi=150)
    for size, (annotators, votes) in SIZES.items():
        made = ba.simulate(competitors=size, annotators=annotators, votes=votes, anomalous=annotators // 10, seed=1)
        for name, draw in plots(made.votes):
            write(f"{name}-{size}", draw(), dpi=90)


def plots(votes: pl.DataFrame) -> Iterator[tuple[str, Callable[[], Axes]]]:
    """Return every plot of an arena, with its name."""
    fit = ba.fit(ba.read_votes(votes))
    drawn = np.random.default_rng(0).lognormal(0, 1.5, fit.cells.n_competitors)
    costs = dict(zip(fit.cells.competitors, drawn, strict=True))
    for plot in (ba.plots.board, ba.plots.ranks, ba.plots.wins, ba.plots.annotators, ba.plots.calibration):
        yield plot.__name__, lambda plot=plot: plot(fit)
    yield "cost", lambda: ba.plots.cost(fit, costs)
    yield "rounds", lambda: ba.plots.rounds(history(votes))


def history(votes: pl.DataFrame) -> pd.DataFrame:
    """Return the scores after every fifth of the votes."""
    step = len(votes) // ROUNDS
    boards = [
        ba.leaderboard(ba.fit(ba.read_votes(votes[: step * number]), method="map")) for number in range(1, ROUNDS + 1)
    ]
    table = pd.concat([board.assign(round=number) for number, board in enumerate(boards, 1)], ignore_index=True)
    table.attrs["level"] = boards[0].attrs["level"]
    return table


def write(name: str, ax: Axes, dpi: int) -> None:
    """Write a picture as a small PNG file."""
    drawn = BytesIO()
    ax.figure.savefig(drawn, dpi=dpi)
    plt.close("all")
    Image.open(drawn).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE).save(
        Path(__file__).with_name(f"{name}.png"), optimize=True
    )


if __name__ == "__main__":
    main()
