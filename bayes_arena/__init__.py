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
    from bayes_arena.cells import Cells
    from bayes_arena.checks import check
    from bayes_arena.comparison import compare
    from bayes_arena.crossvalidation import LeaveOneOut, leave_one_out
    from bayes_arena.datasets import hub_files
    from bayes_arena.diagnostics import diagnose
    from bayes_arena.elo import EloScale
    from bayes_arena.errors import (
        AccessError,
        ArenaError,
        ArenaWarning,
        ColumnError,
        CompilerError,
        ConvergenceError,
        DatasetError,
        DroppedVotesWarning,
        FitError,
        IdentificationWarning,
        InvalidVotesError,
        ModelError,
        NoMaximumWarning,
        NotIdentifiedError,
        NoVotesError,
        OutputError,
        RepeatedVotesWarning,
        StoreError,
        TooLargeError,
        UnusedColumnWarning,
        VotesError,
    )
    from bayes_arena.estimates import contrasts, effects, strengths
    from bayes_arena.fitting import fit
    from bayes_arena.flagging import flag, flag_by_theta
    from bayes_arena.heldout import held_out
    from bayes_arena.kfold import kfold_annotators
    from bayes_arena.online import elo_by_annotator, online_elo, reversed_elo
    from bayes_arena.posterior import draw
    from bayes_arena.prediction import Ratings
    from bayes_arena.predictive import predictive_check, replicate
    from bayes_arena.prior_predictive import prior_check
    from bayes_arena.priors import Prior, Spreads
    from bayes_arena.random_orders import bootstrapped_elo, shuffled_elo
    from bayes_arena.ranking import leaderboard, rank_spread
    from bayes_arena.reliability import annotators
    from bayes_arena.result import Draws, Fit
    from bayes_arena.selection import drop_annotators, keep_annotators
    from bayes_arena.sequence import VoteSequence, read_sequence
    from bayes_arena.simulation import Arena, example_arena, simulate
    from bayes_arena.specification import Model
    from bayes_arena.stable_arena import StableArena
    from bayes_arena.standing import head_to_head, rank_probabilities, unsettled_pairs, win_probability
    from bayes_arena.storage import load, save
    from bayes_arena.stored_rounds import Round
    from bayes_arena.stored_votes import Addition
    from bayes_arena.tree import to_datatree
    from bayes_arena.votes import read_votes

__version__ = "0.1.0"

_HOME = {
    "bayes_arena.cells": ("Cells",),
    "bayes_arena.selection": ("drop_annotators", "keep_annotators"),
    "bayes_arena.checks": ("check",),
    "bayes_arena.comparison": ("compare",),
    "bayes_arena.crossvalidation": ("LeaveOneOut", "leave_one_out"),
    "bayes_arena.elo": ("EloScale",),
    "bayes_arena.datasets": ("hub_files",),
    "bayes_arena.errors": (
        "AccessError",
        "ArenaError",
        "ArenaWarning",
        "ColumnError",
        "CompilerError",
        "ConvergenceError",
        "DatasetError",
        "DroppedVotesWarning",
        "FitError",
        "IdentificationWarning",
        "InvalidVotesError",
        "ModelError",
        "NoMaximumWarning",
        "NoVotesError",
        "RepeatedVotesWarning",
        "StoreError",
        "TooLargeError",
        "NotIdentifiedError",
        "OutputError",
        "UnusedColumnWarning",
        "VotesError",
    ),
    "bayes_arena.estimates": ("contrasts", "effects", "strengths"),
    "bayes_arena.fitting": ("fit",),
    "bayes_arena.flagging": ("flag", "flag_by_theta"),
    "bayes_arena.heldout": ("held_out",),
    "bayes_arena.kfold": ("kfold_annotators",),
    "bayes_arena.online": ("elo_by_annotator", "online_elo", "reversed_elo"),
    "bayes_arena.posterior": ("draw",),
    "bayes_arena.prediction": ("Ratings",),
    "bayes_arena.predictive": ("predictive_check", "replicate"),
    "bayes_arena.priors": ("Prior", "Spreads"),
    "bayes_arena.random_orders": ("bootstrapped_elo", "shuffled_elo"),
    "bayes_arena.ranking": ("leaderboard", "rank_spread"),
    "bayes_arena.reliability": ("annotators",),
    "bayes_arena.result": ("Draws", "Fit"),
    "bayes_arena.sequence": ("VoteSequence", "read_sequence"),
    "bayes_arena.simulation": ("Arena", "example_arena", "simulate"),
    "bayes_arena.specification": ("Model",),
    "bayes_arena.stable_arena": ("StableArena",),
    "bayes_arena.standing": ("head_to_head", "rank_probabilities", "unsettled_pairs", "win_probability"),
    "bayes_arena.stored_rounds": ("Round",),
    "bayes_arena.stored_votes": ("Addition",),
    "bayes_arena.diagnostics": ("diagnose",),
    "bayes_arena.prior_predictive": ("prior_check",),
    "bayes_arena.storage": (
        "load",
        "save",
    ),
    "bayes_arena.tree": ("to_datatree",),
    "bayes_arena.votes": ("read_votes",),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "AccessError",
    "Addition",
    "Arena",
    "ArenaError",
    "ArenaWarning",
    "Cells",
    "ColumnError",
    "CompilerError",
    "ConvergenceError",
    "DatasetError",
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
    "OutputError",
    "Prior",
    "Ratings",
    "RepeatedVotesWarning",
    "Round",
    "Spreads",
    "StableArena",
    "StoreError",
    "TooLargeError",
    "UnusedColumnWarning",
    "VoteSequence",
    "VotesError",
    "annotators",
    "bootstrapped_elo",
    "check",
    "compare",
    "contrasts",
    "diagnose",
    "draw",
    "drop_annotators",
    "effects",
    "elo_by_annotator",
    "example_arena",
    "fit",
    "flag",
    "flag_by_theta",
    "head_to_head",
    "held_out",
    "hub_files",
    "keep_annotators",
    "kfold_annotators",
    "leaderboard",
    "leave_one_out",
    "load",
    "online_elo",
    "predictive_check",
    "prior_check",
    "rank_probabilities",
    "rank_spread",
    "read_sequence",
    "read_votes",
    "replicate",
    "reversed_elo",
    "save",
    "shuffled_elo",
    "simulate",
    "strengths",
    "to_datatree",
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
