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


def commands():
    """Return the commands of the application, by name, those of arenas as "arena add"."""
    from typer.main import get_command

    from bayes_arena.cli.app import app

    found = dict(get_command(app).commands)
    arena = found.pop("arena")
    return found | {f"arena {name}": each for name, each in arena.commands.items()}


def terminal(name):
    """Return the surface of a command that is typed without options."""
    from bayes_arena.cli.terminal import Terminal

    kinds = {p.name: p.param_type_name for p in commands()[name].params}
    positional = {each for each, kind in kinds.items() if kind == "argument"}
    return Terminal(set(kinds) - positional, positional)
