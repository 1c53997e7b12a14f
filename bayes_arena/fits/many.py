"""Many boards at once: ``fit_many`` fits one for every category, language or week, with any joblib backend."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from time import monotonic
from typing import Any, Unpack

from bayes_arena.errors import ArenaError, FailedBoardsWarning, listing, warn
from bayes_arena.fits.fitting import Route, solve
from bayes_arena.fits.plan import Asked, distinct, planned
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.progress import report
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import ANNOTATOR, PROMPT
from bayes_arena.votes.reading.read_votes import read_votes
from bayes_arena.votes.selection import split

Names = tuple[str, ...]
Told = tuple[Names, type[Warning], str]
"""A board, and the class and text of one of its warnings."""
PATIENCE = 2.0
"""Seconds before progress is shown."""


@dataclass(frozen=True, eq=False, repr=False)
class Boards(Mapping[Names, Fit]):
    """Fits by the names of their slices: ``boards["coding", "German"]``.

    Attributes
    ----------
    by : tuple of str
        The slices: all votes of a board agree in each of them.
    fits : mapping of tuple of str to Fit
        The fits by their names, one name for each of ``by``, in the order of the names.
    failed : mapping of tuple of str to ArenaError
        The boards that could not be fitted, and why.
    """

    by: tuple[str, ...]
    fits: Mapping[Names, Fit]
    failed: Mapping[Names, ArenaError]

    def __getitem__(self, names: Names) -> Fit:
        if names in self.fits:
            return self.fits[names]
        if names in self.failed:
            raise KeyError(f"{' · '.join(names)} could not be fitted: {self.failed[names]}")
        raise KeyError(f"There is no board {names!r}. Boards are named by tuples of names, one for each of {self.by}.")

    def __iter__(self) -> Iterator[Names]:
        return iter(self.fits)

    def __len__(self) -> int:
        return len(self.fits)

    def __repr__(self) -> str:
        failed = f", {len(self.failed):,} not fitted" if self.failed else ""
        return f"Boards({' · '.join(self.by)}: {len(self.fits):,} fitted{failed})"


def fit_many(
    votes: object,
    by: str | Sequence[str],
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    **route: Unpack[Route],
) -> Boards:
    """Fit a model to the votes of every category, or every combination of language and week: one board each.

    The votes are read and counted once. Each board is, bit for bit, the fit that :func:`~bayes_arena.fit` finds for its
    votes alone. Boards are fitted one after the other unless joblib is configured otherwise:
    ``with joblib.parallel_config(n_jobs=4):`` uses four processes, and ``parallel_config("dask")``, ``"ray"`` or
    ``"spark"`` a cluster whose joblib backend is registered. Small boards without annotators take milliseconds each,
    less than it takes to start a process.

    Parameters
    ----------
    votes : Cells, path, sequence of paths, or dataframe
        Votes, from :func:`~bayes_arena.read_votes` with these slices, or what it reads without further options.
    by : str or sequence of str
        Slices, or columns of votes not yet read: each combination of their values that has votes gives a board.
        ``"annotator"`` gives a board for each annotator, ``"prompt"`` one for each prompt.
    model, prior
        As for :func:`~bayes_arena.fit`. Defaults are chosen for each board separately.
    **route
        ``method, answers, dimensions, drift, groups, robust, keep, drop, draws, tune, sampler, seed`` of
        :func:`~bayes_arena.fit`, the same for all.

    Returns
    -------
    Boards
        The fits by their names, one for each of ``by``; ``failed`` has the errors of the boards that could not be
        fitted. :func:`~bayes_arena.leaderboards` puts all into one table.

    Warns
    -----
    FailedBoardsWarning
        If boards could not be fitted, with their errors.
    ArenaWarning
        Warnings of the fits: each kind once, with the number of boards and the first of them. The warnings of a single
        fit are in its ``warnings``.

    Raises
    ------
    ArenaError
        The error of the first board if none can be fitted; or if the votes cannot be read or split.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> boards = ba.fit_many(ba.example_arena().votes, "annotator", model="m-elo")
    >>> boards
    Boards(annotator: 42 fitted)
    >>> boards[("annotator-01",)].model.name
    'm-elo'
    """
    kinds = (by,) if isinstance(by, str) else tuple(by)
    if not isinstance(votes, Cells):
        named = distinct((*kinds, *distinct(route.get("groups", ()))))
        votes = read_votes(votes, slices=[kind for kind in named if kind not in (ANNOTATOR, PROMPT)])
    problems, failed, told = _posed(split(votes, kinds), model, prior)
    of = len(problems) + len(failed)
    results = _solved(problems, not isinstance(model, Model), route)
    fits = {names: result for names, result in results.items() if isinstance(result, Fit)}
    failed |= {names: result for names, result in results.items() if isinstance(result, ArenaError)}
    warn_of_failures(failed, of)
    warn_of_boards([*told, *((names, *note) for names, fit in fits.items() for note in fit.notes)], of)
    return Boards(kinds, fits, dict(sorted(failed.items())))


def _posed(
    parts: Mapping[Names, Cells], model: str | Model | None, prior: str | Prior
) -> tuple[dict[Names, Problem], dict[Names, ArenaError], list[Told]]:
    """Set up the problem of every board; return the problems, the errors of the others, and the warnings."""
    problems, failed, told = dict[Names, Problem](), dict[Names, ArenaError](), list[Told]()
    for names, cells in parts.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                problems[names] = Problem.of(cells, model, prior)
            except ArenaError as error:
                failed[names] = error.with_traceback(None)
        told += [(names, warning.category, str(warning.message)) for warning in caught]
    return problems, failed, told


def _solved(problems: Mapping[Names, Problem], preset: bool, route: Route) -> dict[Names, Fit | ArenaError]:
    """Solve every problem with joblib, and report progress."""
    from joblib import Parallel, delayed

    started = monotonic()

    class Boardwise(Parallel):
        def print_progress(self) -> None:
            """Report how many are done; joblib calls this after every batch, whatever its backend."""
            if monotonic() > started + PATIENCE:
                report("boards", self.n_completed_tasks, len(problems))

    task = delayed(_fit_or_error)  # type: ignore[no-untyped-call]
    try:
        results = Boardwise()(task(problem, preset, route) for problem in problems.values())  # type: ignore[no-untyped-call]
    finally:
        report("")
    return dict(zip(problems, results, strict=True))


def _fit_or_error(problem: Problem, preset: bool, route: Route) -> Fit | ArenaError:
    """Fit one board; return its error if it fails."""
    try:
        asked: Any = {name: value for name, value in route.items() if name in Asked.__annotations__}
        sampling: Any = {name: value for name, value in route.items() if name not in asked}
        return solve(planned(problem, preset=preset, **asked), **sampling)
    except ArenaError as error:
        return error.with_traceback(None)  # a traceback would keep all that was computed


def warn_of_boards(told: Iterable[Told], of: int) -> None:
    """Issue one warning of each kind, with the number of boards and the text of the first."""
    kind = itemgetter(1)
    for category, alike in groupby(sorted(told, key=lambda one: kind(one).__name__), kind):
        (first, _, text), *others = alike
        boards = {first, *(names for names, *_ in others)}
        text = f"{len(boards):,} of {of:,} boards, the first of them {' · '.join(first)}: {text}"
        warn(text, category)


def warn_of_failures(failed: Mapping[Names, ArenaError], of: int) -> None:
    """Warn of the boards that could not be fitted, and say why.

    Raises
    ------
    ArenaError
        The error of the first board if none could be fitted.
    """
    if not failed:
        return
    if len(failed) == of:
        names, error = next(iter(failed.items()))
        others = f"all {of:,} failed" if of > 1 else "it was the only one"
        error.add_note(f"That was the board {' · '.join(names)}; {others}.")
        raise error
    listed = [f"{' · '.join(names)} ({error})" for names, error in failed.items()]
    warn(
        f"{len(failed):,} of {of:,} boards {'is' if len(failed) == 1 else 'are'} missing: {listing(listed)}. "
        "The others are not affected.",
        FailedBoardsWarning,
    )
