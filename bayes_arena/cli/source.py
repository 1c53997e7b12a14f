"""What a command works on: votes, or a fit, from a file or the example."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from bayes_arena.cli.options import STDIN, Fitting, Reading
from bayes_arena.cli.terminal import written
from bayes_arena.errors import ModelError, listing, warn
from bayes_arena.fits.fit import fit
from bayes_arena.fits.result import Fit
from bayes_arena.people.groups import GROUP, groups
from bayes_arena.rating.rating import rate
from bayes_arena.votes.votes import PROMPT, Votes

EXAMPLE = "example arena (simulated)"


def name_of(sources: Sequence[str] | None) -> str:
    """Return the name of the files of votes."""
    if not sources:
        return EXAMPLE
    if STDIN in sources:
        return "standard input"
    name = Path(sources[0]).name
    return name if len(sources) == 1 else f"{name} and {len(sources) - 1} more"


def files_in_words(sources: Sequence[str] | None) -> str:
    """Return the files as words of a command, each after a space."""
    return "".join(f" {shlex.quote(source)}" for source in sources or ())


def fit_of_sources(
    sources: Sequence[str] | None,
    reading: Reading,
    fitting: Fitting,
    without: str | Collection[str] | None = None,
    by: str | None = None,
    slices: Sequence[str] = (),
) -> Fit:
    """Return a saved fit, or fit the votes, with strengths by a further slice.

    The votes of the annotators ``without`` are left out.  Further ``slices`` are read.
    """
    result = saved_fit(sources)
    if result is None:
        if by is not None:
            fitting = replace(fitting, strength_by=[*(fitting.strength_by or ()), by])
        votes = votes_of(sources, reading, fitting, slices)
        result = fit(votes, **fitting.options())
    else:
        require_defaults(reading, fitting)
    return result if without is None else rate(result, without=without).fit


def votes_of(
    sources: Sequence[str] | None,
    reading: Reading,
    fitting: Fitting,
    further_slices: Sequence[str] = (),
) -> Votes:
    """Return the votes with the slices and features that a model needs, and others."""
    slices = (*(fitting.strength_by or ()), *further_slices)
    reading = reading.with_slices(
        [name for name in slices if name not in (PROMPT, GROUP)]
    )
    further = {"features": fitting.features} if fitting.style else {}
    votes = reading.votes(sources, **further)
    if GROUP in slices and GROUP not in votes.slices:
        return groups(votes, seed=fitting.seed).label(votes)
    return votes


def is_saved_fit(sources: Sequence[str] | None) -> bool:
    """Whether a file holds a fit."""
    if not sources or Path(sources[0]).suffix.lower() not in (".npz", ".nc"):
        return False
    from bayes_arena.fits.save import holds_fit

    return holds_fit(sources[0])


def saved_fit(sources: Sequence[str] | None) -> Fit | None:
    """Return the fit that a file holds, if it does, and repeat its warnings."""
    if not sources or not is_saved_fit(sources):
        return None
    from bayes_arena.fits.save import load

    result = load(sources[0])
    for note in result.warnings:
        warn(note)
    return result


def require_defaults(*groups: Reading | Fitting) -> None:
    """Refuse options that a saved fit would not heed."""
    given = [option for group in groups for option in group.given]
    names = [written(name, ...) for name, _ in given if name != "seed"]
    if names:
        raise ModelError(
            f"A saved fit has its own votes and model: {listing(names)} would have no "
            "effect. Give the votes, or no such options."
        )
