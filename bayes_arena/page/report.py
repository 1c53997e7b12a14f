"""``report``: the page of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.page.annotators import judged, pseudonymous
from bayes_arena.page.contents import contents
from bayes_arena.page.meta import read_meta
from bayes_arena.page.writing import framed, write_html
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.replacing import written_beside


@dataclass(frozen=True)
class Report:
    """A self-contained page of HTML: no network, no further files.

    Attributes
    ----------
    html : str
        The page. A notebook shows it in a frame.
    """

    html: str

    def save(self, path: str | Path) -> None:
        """Write the page to a file, replacing it if it exists.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        with written_beside(Path(path)) as draft:
            draft.write_text(self.html, encoding="utf-8")

    def __repr__(self) -> str:
        return f"Report({len(self.html.encode()) / 1000:.0f} kB; write it with .save('report.html'))"

    def _repr_html_(self) -> str:
        return framed(self.html)


@held
def report(
    fit: Fit,
    *,
    title: str = "Leaderboard",
    source: str = "",
    level: float = 0.95,
    elo: EloScale | None = None,
    meta: object = None,
    names: bool = False,
    notes: Sequence[str] = (),
    command: str = "",
) -> Report:
    """Make a page that shows a fit: which competitor is the best, how certain that is, and whose votes say so.

    Parameters
    ----------
    fit : Fit
        A fitted model; ``fit.on(...)`` for a ranking of one slice, or of these prompts alone.
    title : str
        Heading of the page.
    source : str
        Source of the votes, in words.
    level : float
        Coverage of the intervals, and probability from which something counts as settled.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.
    meta : path or dataframe, optional
        Further columns of the table: a file or dataframe with a column ``competitor``, ``model`` or ``name``. A column
        of numbers whose name contains ``price`` or ``cost`` is also compared with the scores.
    names : bool
        Name the annotators. By default they are numbered, the least reliable first; programs keep their names.
    notes : sequence of str
        Notes to show with the warnings of the fit.
    command : str
        Command that made the page; shown at its end.

    Returns
    -------
    Report
        ``report(fit).save("report.html")`` writes it. The same fit gives the same page, byte for byte.

    Raises
    ------
    ModelError
        If the level or the anchor is invalid.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.
    ColumnError
        If ``meta`` has no column of names, or more than one candidate.
    VotesError
        If ``meta`` cannot be read, or lists no competitor, or one of them twice.

    Examples
    --------
    >>> page = report(fit(example_arena().votes), title="Example")
    >>> page.html.startswith("<!doctype html>")
    True
    """
    require_level(level)
    known = read_meta(meta, fit.cells.competitors)
    people = judged(fit, level)
    if not names:
        fit, people = pseudonymous(fit, people)
    about = {"title": title, "source": source, "command": command, "named": names}
    return Report(
        write_html(contents(fit, people, level=level, elo=elo or EloScale(), meta=known, notes=notes), **about)
    )
