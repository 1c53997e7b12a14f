"""Bayesian ratings of language models from pairwise votes.

The verbs in the order they are used; each takes what the one before returns::

    cells = read_votes("votes.csv")     # any engine in, sufficient statistics out
    result = fit(cells)                 # am-Davidson where annotators are known
    leaderboard(result)                 # Elo scores, intervals, rank spread
    annotators(result)                  # who votes with the others, and who against
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayes_arena.cells import Cells, keep_annotators
    from bayes_arena.checks import check
    from bayes_arena.comparison import compare
    from bayes_arena.crossvalidation import LeaveOneOut, leave_one_out
    from bayes_arena.elo import EloScale
    from bayes_arena.errors import (
        ArenaError,
        ArenaWarning,
        ColumnError,
        ConvergenceError,
        DroppedVotesWarning,
        FitError,
        IdentificationWarning,
        InvalidVotesError,
        ModelError,
        NoMaximumWarning,
        NotIdentifiedError,
        NoVotesError,
        VotesError,
    )
    from bayes_arena.fitting import fit
    from bayes_arena.posterior import draw
    from bayes_arena.priors import Prior, Spreads
    from bayes_arena.ranking import leaderboard, rank_spread, strengths
    from bayes_arena.reliability import annotators, flag, flag_by_theta
    from bayes_arena.result import Draws, Fit
    from bayes_arena.simulation import Arena, example_arena, simulate
    from bayes_arena.specification import Model
    from bayes_arena.standing import rank_probabilities, unsettled_pairs, win_probability
    from bayes_arena.votes import read_votes

__version__ = "0.1.0"

_HOME = {
    "bayes_arena.cells": ("Cells", "keep_annotators"),
    "bayes_arena.checks": ("check",),
    "bayes_arena.comparison": ("compare",),
    "bayes_arena.crossvalidation": ("LeaveOneOut", "leave_one_out"),
    "bayes_arena.elo": ("EloScale",),
    "bayes_arena.errors": (
        "ArenaError",
        "ArenaWarning",
        "ColumnError",
        "ConvergenceError",
        "DroppedVotesWarning",
        "FitError",
        "IdentificationWarning",
        "InvalidVotesError",
        "ModelError",
        "NoMaximumWarning",
        "NoVotesError",
        "NotIdentifiedError",
        "VotesError",
    ),
    "bayes_arena.fitting": ("fit",),
    "bayes_arena.posterior": ("draw",),
    "bayes_arena.priors": ("Prior", "Spreads"),
    "bayes_arena.ranking": ("leaderboard", "rank_spread", "strengths"),
    "bayes_arena.reliability": ("annotators", "flag", "flag_by_theta"),
    "bayes_arena.result": ("Draws", "Fit"),
    "bayes_arena.simulation": ("Arena", "example_arena", "simulate"),
    "bayes_arena.specification": ("Model",),
    "bayes_arena.standing": ("rank_probabilities", "unsettled_pairs", "win_probability"),
    "bayes_arena.votes": ("read_votes",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Arena",
    "ArenaError",
    "ArenaWarning",
    "Cells",
    "ColumnError",
    "ConvergenceError",
    "Draws",
    "DroppedVotesWarning",
    "EloScale",
    "Fit",
    "FitError",
    "IdentificationWarning",
    "InvalidVotesError",
    "LeaveOneOut",
    "Model",
    "ModelError",
    "NoMaximumWarning",
    "NoVotesError",
    "NotIdentifiedError",
    "Prior",
    "Spreads",
    "VotesError",
    "annotators",
    "check",
    "compare",
    "draw",
    "example_arena",
    "fit",
    "flag",
    "flag_by_theta",
    "keep_annotators",
    "leaderboard",
    "leave_one_out",
    "rank_probabilities",
    "rank_spread",
    "read_votes",
    "simulate",
    "strengths",
    "unsettled_pairs",
    "win_probability",
]


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: the command line starts without what it does not need."""
    if name not in _MODULE:
        raise AttributeError(f"module 'bayes_arena' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
