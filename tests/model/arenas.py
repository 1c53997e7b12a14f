"""Arenas of a few votes, for what depends on formulas and not on data."""

import numpy as np

from bayes_arena.model.arrow import block_diagonal
from bayes_arena.model.build import build_design
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import PRESETS, Model
from bayes_arena.votes.votes import Votes

BY_ANNOTATOR = {
    "discrimination": "annotator",
    "ties": "davidson",
    "tie_propensity": "annotator",
    "position": "annotator",
}
HELD = Prior(**{name: spread.sd for name, spread in Prior().spreads().items()})
MODELS = {
    "davidson": PRESETS["davidson"],
    "am-elo": PRESETS["am-elo"],
    "am-davidson": PRESETS["am-davidson"],
    "feature": Model(**BY_ANNOTATOR, style=("length",)),
    "prompts shared": Model(**BY_ANNOTATOR, strength_by=("topic",)),
    "prompts local": Model(**BY_ANNOTATOR, strength_by=("prompt",)),
    "graded": Model(**BY_ANNOTATOR, grades=True),
}


def random_votes(n_outcomes=3, n_rows=160, seed=0):
    """Return random votes of 8 annotators, the first without any."""
    rng = np.random.default_rng(seed)
    levels = {"prompt": tuple("abcdefghi"), "topic": ("art", "law")}
    return Votes(
        competitors=tuple("abcdefgh"),
        annotators=tuple("stuvwxyz"),
        i=rng.integers(0, 5, n_rows),
        j=rng.integers(5, 8, n_rows),
        annotator=rng.integers(1, 8, n_rows),
        counts=rng.integers(0, 3, (n_rows, n_outcomes)).astype(float),
        slices={name: rng.integers(0, len(of), n_rows) for name, of in levels.items()},
        levels=levels,
        features={"length": rng.normal(size=n_rows)},
    )


def random_design(model, prior=None):
    """Return the design of a model for random votes."""
    votes = random_votes(5 if model.grades else 3)
    return build_design(votes, model, prior or Prior())


def random_point(design, scale=0.3):
    """Return parameters of a design."""
    return scale * np.random.default_rng(1).normal(size=design.layout.size)


def dense(matrix, layout):
    """Return an arrow matrix as a dense one, without the multipliers."""
    p = layout.n_shared
    full = np.zeros((layout.size, layout.size))
    full[:p, :p] = matrix.shared[:p, :p]
    full[p:, :p] = matrix.cross[:, :p]
    full[:p, p:] = full[p:, :p].T
    full[p:, p:] = block_diagonal(layout, matrix.local).toarray()
    return full


def held_sums(layout):
    """Return the coefficients of the sums held at zero, (parameters, sums)."""
    shared = np.zeros((layout.size, layout.shared_sums.shape[1]))
    shared[: layout.n_shared] = layout.shared_sums
    local = np.zeros((layout.size, layout.local_sums.shape[1]))
    if layout.local_sums.size:
        local[layout.n_shared :] = np.tile(layout.local_sums, (layout.n_groups, 1))
    return np.hstack([shared, local])
