"""Shared fixtures: a small simulated arena, and real votes where they are at hand."""

import os
from pathlib import Path

import pytest

import bayes_arena as ba


def real_votes(name: str) -> Path:
    """Path of a file of real votes; skips the test where the file is absent."""
    folder = Path(os.environ.get("BAYES_ARENA_DATA") or Path(__file__).parents[2] / "shared" / "data")
    path = folder / name
    if not path.is_file():
        pytest.skip(f"{name} is not in $BAYES_ARENA_DATA")
    return path


@pytest.fixture(scope="session")
def llmfao_path() -> Path:
    return real_votes("llmfao.csv")


@pytest.fixture(scope="session")
def llmfao(llmfao_path) -> ba.Cells:
    return ba.read_votes(llmfao_path)


@pytest.fixture(scope="session")
def llmfao_50(llmfao) -> ba.Cells:
    return ba.keep_annotators(llmfao, more_than=50)


@pytest.fixture(scope="session")
def arena() -> ba.Arena:
    return ba.simulate(competitors=6, annotators=5, votes=600, seed=3)


@pytest.fixture(scope="session")
def arena_cells(arena) -> ba.Cells:
    return ba.read_votes(arena.votes)
