"""The options of ``fit``, for functions that pass them on."""

from __future__ import annotations

from typing import Literal, cast, get_args

from bayes_arena.model.priors import Prior, PriorName
from bayes_arena.model.spec import Model, Preset
from bayes_arena.reading.options import NAMES, ReadOptions

type Method = Literal["gaussian", "map", "nuts"]
METHODS = get_args(Method.__value__)
OWN = "own"  # the method of a fit of draws of one's own


class ModelOptions(ReadOptions, total=False):
    """What is fitted to which votes."""

    model: Preset | Model
    prior: PriorName | Prior
    method: Method
    tune: int


class UnseededOptions(ModelOptions, total=False):
    """The options of ``fit`` where the caller has a seed of its own."""

    draws: int


class FitOptions(UnseededOptions, total=False):
    """The options of ``fit``."""

    seed: int


OPTIONS = tuple(FitOptions.__annotations__)


def apart(options: FitOptions) -> tuple[ReadOptions, FitOptions]:
    """Return the options by which votes are read, and those by which they are fitted."""
    reading = {name: value for name, value in options.items() if name in NAMES}
    fitting = {name: value for name, value in options.items() if name not in NAMES}
    return cast("ReadOptions", reading), cast("FitOptions", fitting)
