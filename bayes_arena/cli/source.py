"""What a command works on: votes, or a fit, from a file or the example."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bayes_arena.cli.options import Fitting, Reading
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.votes.votes import Votes

EXAMPLE = "example arena (simulated)"


@dataclass(frozen=True)
class Work:
    """A fit, with the name of its votes."""

    fit: Fit
    name: str

    @property
    def votes(self) -> Votes:
        """The votes."""
        return self.fit.votes


def name_of(source: str | None) -> str:
    """Return the name of a file of votes."""
    return EXAMPLE if source is None else Path(source).name


def fitted(
    source: str | None,
    reading: Reading,
    fitting: Fitting,
    seed: int = 0,
    slices: tuple[str, ...] = (),
) -> Work:
    """Return a saved fit, or fit the votes."""
    saved = saved_fit(source)
    if saved is not None:
        return Work(saved, name_of(source))
    needed = tuple(dict.fromkeys([*slices, *(fitting.strength_by or ())]))
    columns = {"features": tuple(fitting.style)} if fitting.style else {}
    votes = reading.votes(source, needed, **columns)
    return Work(fit(votes, **fitting.options(seed)), name_of(source))


def saved_fit(source: str | None) -> Fit | None:
    """Return the fit that a file holds, if it does."""
    if source is None:
        return None
    suffix = Path(source).suffix.lower()
    if suffix not in (".npz", ".nc"):
        return None
    from bayes_arena.fits.save import holds_fit, load

    return load(source) if holds_fit(source) else None
