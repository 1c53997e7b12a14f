"""Shared fixtures: a small simulated arena, and real votes where they are at hand."""

import os
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from helpers import rigged_cells
from hypothesis import settings

import bayes_arena as ba
from bayes_arena.algebra.solving import variances
from bayes_arena.likelihood import derivatives

settings.register_profile("quick", deadline=None, max_examples=10)  # a busy machine is no failure
settings.register_profile("ci", settings.get_profile("ci"), max_examples=25)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

WORKERS = 8
"""At most: each imports and compiles for itself."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """All cores where all tests are asked for; files that are named run in this process."""
    everything = config.args_source is not pytest.Config.ArgsSource.ARGS
    return min(os.cpu_count() or 1, WORKERS) if everything else 0


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave modules that are slow as a whole unread where only quick tests are asked for: what they import is slow."""
    if config.option.markexpr != "not slow" or collection_path.suffix != ".py":
        return None
    text = collection_path.read_text(encoding="utf-8")
    return True if any(f"\npytestmark = {mark}" in text for mark in ("pytest.mark.slow", "[pytest.mark.slow")) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the notebooks, which take longest, run first."""
    items.sort(key=lambda item: item.path.name != "test_notebooks.py")


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
    return ba.read_votes(llmfao_path, prompt=False)


@pytest.fixture(scope="session")
def llmfao_50(llmfao) -> ba.Cells:
    return ba.keep_annotators(llmfao, more_than=50)


@pytest.fixture(scope="session")
def arena() -> ba.Arena:
    return ba.simulate(competitors=6, annotators=5, votes=600, seed=3)


@pytest.fixture(scope="session")
def arena_cells(arena) -> ba.Cells:
    return ba.read_votes(arena.votes)


@pytest.fixture(scope="session")
def four_outcomes(arena):
    """The arena with every seventh tie called both bad."""
    bad = (pl.int_range(pl.len()) % 7 == 0) & (pl.col("winner") == "tie")
    return ba.read_votes(arena.votes.with_columns(winner=pl.when(bad).then(pl.lit("both_bad")).otherwise("winner")))


@pytest.fixture(scope="session")
def graded(arena):
    """The same with wins of three grades, the clearer the farther the winner is ahead."""
    rng, strength = np.random.default_rng(0), dict(zip(arena.competitors, arena.strength, strict=True))
    lead = arena.votes["model_a"].replace_strict(strength) - arena.votes["model_b"].replace_strict(strength)
    lead = lead.to_numpy() * np.where(arena.votes["winner"] == "model_a", 1, -1)
    odds = np.exp((lead[:, None] / 2 - 0.5) * np.arange(3)).cumsum(axis=1)
    grade = 1 + (rng.random((len(lead), 1)) * odds[:, 2:] > odds).sum(axis=1)
    bad = np.arange(len(lead)) % 7 == 0
    said = {"model_a": lambda by: f"a{'>' * by}b", "model_b": lambda by: f"b{'>' * by}a", "tie": lambda _: "tie"}
    votes = zip(arena.votes["winner"], grade, bad, strict=True)
    labels = ["both_bad" if who == "tie" and no else said[who](by) for who, by, no in votes]
    return ba.read_votes(arena.votes.with_columns(winner=pl.Series(labels)))


@pytest.fixture(scope="session")
def rigged() -> ba.Cells:
    """Honest votes, and four accounts that always vote for one competitor."""
    return rigged_cells()


@pytest.fixture(scope="session")
def discounted(rigged) -> ba.Fit:
    """The default fit of these, in which not all votes on that competitor count."""
    with warnings.catch_warnings(action="ignore"):
        return ba.fit(rigged)


@pytest.fixture(scope="session")
def sampled_davidson(arena_cells) -> ba.Fit:
    """The default model of the small arena, sampled too briefly to trust."""
    with warnings.catch_warnings(action="ignore"):
        return ba.fit(arena_cells, method="nuts", draws=100, tune=200, seed=1)


@pytest.fixture
def sparse(monkeypatch):
    """Take the route of many competitors."""
    monkeypatch.setattr(derivatives, "FULL", 2.0)
    monkeypatch.setattr(variances, "CHEAP", 1)
    return lambda many: monkeypatch.setattr(derivatives, "MANY", 2 if many else 10**9)
