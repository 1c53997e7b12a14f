"""What several tests use."""

import os
from pathlib import Path

import numpy as np
import pytest

import bayes_arena as ba

DATA = Path(
    os.environ.get("BAYES_ARENA_DATA", Path(__file__).parents[2] / "shared" / "data")
)


def real(name: str) -> Path:
    """Return the path of a file of real votes, or skip the test."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not here")
    return path


def elo_of(fit: ba.Fit) -> np.ndarray:
    """Return the Elo scores of the board, (competitors,)."""
    scale = ba.EloScale()
    return scale.init + scale.points_per_logit * fit.marginals.board.value


def elo_sd(fit: ba.Fit) -> np.ndarray:
    """Return the standard deviations of the Elo scores, (competitors,)."""
    return ba.EloScale().points_per_logit * fit.marginals.board.sd
