"""Options: the picture that a command draws beside its answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, cast

from typer import Option

from bayes_arena.cli.options import OUTPUT
from bayes_arena.errors import ArenaWarning, OutputError, listing
from bayes_arena.extras import require
from bayes_arena.replacing import written_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
DOTS = 200
"""Dots per inch of a PNG."""


@dataclass(frozen=True)
class Picture:
    """File for a picture of the answer; the suffix of its name must be known, and Matplotlib installed."""

    panel: ClassVar[str] = OUTPUT
    plot: Annotated[
        Path | None,
        Option("--plot", metavar="FILE", help="Also draw the answer: PNG, SVG or PDF, by the name of the file."),
    ] = None

    def __post_init__(self) -> None:
        if self.plot is None:
            return
        if self.plot.suffix.lower() not in SUFFIXES:
            known = listing(f"*{suffix}" for suffix in SUFFIXES)
            raise OutputError(f"No picture format known for {self.plot.name!r}. Name it {known}.")
        require("Plots", "matplotlib")

    @contextmanager
    def beside(self, drawn: Callable[[], Axes]) -> Iterator[None]:
        """Draw the picture, if asked for, after the answer is written, so that the answer does not depend on it.

        Warnings appear only in the answer; characters that the font lacks are drawn as boxes.
        """
        try:
            yield
        finally:
            if self.plot is not None:
                _save(drawn, self.plot)


def _save(drawn: Callable[[], Axes], path: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    with warnings.catch_warnings(action="ignore", category=ArenaWarning):
        warnings.filterwarnings("ignore", message="Glyph .* missing from font", category=UserWarning)
        figure = cast("Figure", drawn().figure)
        with written_beside(path) as draft:
            figure.savefig(draft, dpi=DOTS)
