"""What several tests use."""

import os
from pathlib import Path

import pytest

DATA = Path(
    os.environ.get("BAYES_ARENA_DATA", Path(__file__).parents[2] / "shared" / "data")
)


def real(name: str) -> Path:
    """Return the path of a file of real votes, or skip the test."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not here")
    return path
