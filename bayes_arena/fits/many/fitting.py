"""``fit_many``: one reading of the votes, and a fit of every board among them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Unpack

from bayes_arena.errors import ArenaError
from bayes_arena.fits.fitting import Route, solve
from bayes_arena.fits.many.boards import Boards, Names
from bayes_arena.fits.many.telling import Told, warn_of_boards, warn_of_failures
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.progress import report
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.merge_split import split
from bayes_arena.votes.names import ANNOTATOR, PROMPT
from bayes_arena.votes.reading.read_votes import read_votes

PATIENCE = 2.0
"""Seconds of silence before progress is shown."""


def fit_many(
    votes: object,
    by: str | Sequence[str],
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    **route: Unpack[Route],
) -> Boards:
    """Fit a model to the votes of every category, every language in every week, or whatever else they have in common.

    The votes are read and counted once. Each board is the fit, bit for bit, that :func:`~bayes_arena.fit` finds for
    its votes alone. Boards are fitted one after the other unless joblib is told otherwise: in
    ``with joblib.parallel_config(n_jobs=4):`` by four processes, and in ``parallel_config("dask")``, ``"ray"`` or
    ``"spark"`` by a cluster whose joblib backend is registered. Small boards without annotators take milliseconds
    each, less than it takes to start a process.

    Parameters
    ----------
    votes : Cells, path, sequence of paths, or dataframe
        Votes, from :func:`~bayes_arena.read_votes` with these slices, or what it reads without further options.
    by : str or sequence of str
        Slices, or columns of what is not read yet: a board for each combination of their names that has votes.
        ``"annotator"`` makes a board of everybody's votes, ``"prompt"`` one of every prompt.
    model, prior
        As for :func:`~bayes_arena.fit`. A default is chosen for each board.
    **route
        ``method, answers, guard, draws, tune, sampler, seed`` of :func:`~bayes_arena.fit`, the same for all.

    Returns
    -------
    Boards
        The fits by their names, one for each of ``by``; ``failed`` has the boards without a fit, and their errors.
        :func:`~bayes_arena.leaderboards` makes one table of all.

    Warns
    -----
    FailedBoardsWarning
        If boards could not be fitted, with their errors.
    ArenaWarning
        What fits warn of: each kind once, with the number of boards and the first of them. ``warnings`` of a fit has
        what is to be said of it.

    Raises
    ------
    ArenaError
        If no board can be fitted, the error of the first; or if the votes cannot be read or split.

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
        votes = read_votes(votes, slices=[kind for kind in kinds if kind not in (ANNOTATOR, PROMPT)])
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
    """Pose the problem of every board: those that can be, those that cannot and why, and what is warned of."""
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
    """Solve every problem where joblib has it done, and say how far it is."""
    from joblib import Parallel, delayed

    started = monotonic()

    class Boardwise(Parallel):
        def print_progress(self) -> None:
            """Say how many are done: joblib asks for it whenever some are, on every engine."""
            if monotonic() > started + PATIENCE:
                report("boards", self.n_completed_tasks, len(problems))

    task = delayed(_fit_or_error)  # type: ignore[no-untyped-call]
    try:
        results = Boardwise()(task(problem, preset, route) for problem in problems.values())  # type: ignore[no-untyped-call]
    finally:
        report("")
    return dict(zip(problems, results, strict=True))


def _fit_or_error(problem: Problem, preset: bool, route: Route) -> Fit | ArenaError:
    """Fit one board; an error is a result like others."""
    try:
        return solve(problem, preset=preset, **route)
    except ArenaError as error:
        return error.with_traceback(None)  # which would keep all that was computed
