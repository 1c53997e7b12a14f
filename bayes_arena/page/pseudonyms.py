"""A fit whose annotators bear numbers in place of their names, so that no table or warning can name them.

Numbers follow the table of annotators, or where there is none the numbers of votes: in the order of names, whoever
knows the names would know the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.names import resolve_interval
from bayes_arena.reliability.annotators import annotator_columns
from bayes_arena.votes.cells import Cells


def pseudonymous(fit: Fit) -> Fit:
    """Return the fit with numbered annotators; programs keep their names."""
    cast = fit.cells if fit.trust is None else fit.trust.cells
    if not cast.n_annotators:
        return fit
    people = [name for name in _in_order(fit, cast) if name not in cast.programs]
    digits = len(str(len(people)))
    names = {name: f"annotator {number:0{digits}}" for number, name in enumerate(people, 1)}
    problem = fit.mode.problem
    mode = replace(fit.mode, problem=replace(problem, cells=_renamed(problem.cells, names)))
    trust = None if fit.trust is None else replace(fit.trust, cells=_renamed(fit.trust.cells, names))
    return replace(fit, mode=mode, trust=trust)


def _in_order(fit: Fit, cast: Cells) -> list[str]:
    """Return the names of all annotators, the most suspect first, or the most active."""
    if judges_annotators(fit):
        return [str(name) for name in annotator_columns(fit, resolve_interval("laplace"))["annotator"]]
    return [cast.annotators[k] for k in np.argsort(-cast.votes_by_annotator(), kind="stable")]


def judges_annotators(fit: Fit) -> bool:
    """Whether the fit says anything of annotators."""
    return bool(fit.target.own) and not (fit.trust is not None and fit.trust.unjudged)


def _renamed(cells: Cells, names: Mapping[str, str]) -> Cells:
    return replace(cells, annotators=tuple(names.get(name, name) for name in cells.annotators))
