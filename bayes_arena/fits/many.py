"""Fits of many sets of votes: one for each level of a slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from bayes_arena.errors import ArenaError, ModelError, did_you_mean, warn
from bayes_arena.fits.fit import fit
from bayes_arena.fits.options import OPTIONS, FitOptions, apart
from bayes_arena.fits.result import Fit, subset_competitors
from bayes_arena.reading.options import require_options
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Note, joined
from bayes_arena.votes.votes import NO_SLICE, Votes


def fit_many(
    votes: object, by: str, *, jobs: int = 1, **options: Unpack[FitOptions]
) -> dict[str, Fit]:
    """Fit a model to the votes of each level of a slice, each apart.

    Parameters
    ----------
    votes : Votes, path or dataframe
        What :func:`~bayes_arena.read_votes` reads, or has read with this slice.
    by : str
        The slice: "category", "month".
    jobs : int
        Processes, of joblib.
    **options
        Those of :func:`~bayes_arena.fit`.

    Returns
    -------
    dict of str to Fit
        By level.  Levels that cannot be fitted are missing, with a warning.

    Raises
    ------
    ModelError
        If the votes have no such slice.
    """
    if not isinstance(votes, Votes):
        require_options(options, OPTIONS)
        columns, options = apart(options)
        columns.setdefault("slices", (by,))
        votes = votes_from(votes, **columns)
    require_slice_of(votes, by)
    levels = votes.levels[by]
    subsets = [level_votes(votes, by, code) for code in range(len(levels))]
    fits = {}
    for name, result in zip(levels, try_fits(subsets, options, jobs), strict=True):
        if isinstance(result, Fit):
            fits[name] = result
        else:
            text = (f"{by} {name!r} has no board: ", result.text)
            warn(Note("no_board", text, result.remedies))
    return fits


def require_slice_of(votes: Votes, by: str) -> None:
    """Raise an error unless votes have a slice."""
    if by not in votes.slices:
        hint = did_you_mean(by, votes.slices)
        raise ModelError(joined(f"The votes have no slice {by!r}.{hint} ", NO_SLICE))


def try_fits(
    subsets: Sequence[Votes], options: FitOptions, jobs: int
) -> list[Fit | ArenaError]:
    """Return the fit of each set of votes, or the error that it ended with."""
    if jobs == 1:
        return [try_fit(subset, options) for subset in subsets]
    from joblib import Parallel, delayed

    fit_later = delayed(try_fit)  # type: ignore[no-untyped-call]
    parallel = Parallel(n_jobs=jobs)  # type: ignore[no-untyped-call]
    return list(parallel(fit_later(subset, options) for subset in subsets))


def level_votes(votes: Votes, by: str, level: int) -> Votes:
    """Return the votes of one level of a slice, on the competitors seen there."""
    rows = votes.take(np.flatnonzero(votes.slices[by] == level))
    seen = np.zeros(votes.n_competitors, bool)
    seen[rows.i] = True
    seen[rows.j] = True
    return subset_competitors(rows, seen)


def try_fit(votes: Votes, options: FitOptions) -> Fit | ArenaError:
    """Return the fit of some votes, or the error that it ended with."""
    try:
        return fit(votes, **options)
    except ArenaError as error:
        return error
