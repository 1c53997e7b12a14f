"""Draw the picture of the README, the board of the built-in example.

uv run python docs/images/draw.py
"""

from io import BytesIO
from pathlib import Path

import matplotlib as mpl
from PIL import Image

import bayes_arena as ba

COLOURS = 64
"""Enough for what is drawn, at a third of the bytes."""


def main() -> None:
    """Fit the example, and write its board beside this file."""
    mpl.use("agg")
    result = ba.fit(ba.read_votes(ba.example_arena().votes))
    drawn = BytesIO()
    ba.plots.board(result).figure.savefig(drawn, dpi=150)
    picture = Image.open(drawn).convert("RGB").quantize(COLOURS)
    picture.save(Path(__file__).with_name("board.png"), optimize=True)


if __name__ == "__main__":
    main()
