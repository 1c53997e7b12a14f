"""The compiled parts: said while they compile, left at Ctrl-C, kept on disk between processes."""

import os
import signal
import subprocess
import sys

import polars as pl
import pytest

import bayes_arena as ba

FIT = """
import warnings
import bayes_arena as ba
warnings.simplefilter("ignore")
print(ba.fit(ba.read_votes("votes.csv", prompt=False), method="nuts", draws=20, tune=20, robust=False).method)
"""
LOOP = """
import bayes_arena.progress
from bayes_arena.compiled import compiled, made_ready

bayes_arena.progress.PATIENCE = 0.01

@compiled
def doubled(x):
    return 2 * x

print(made_ready(doubled, lambda: doubled(21), "a loop"), sum(doubled.stats.cache_hits.values()))
"""


@pytest.fixture
def answered_votes(tmp_path):
    """A file of votes to sample a posterior of."""
    votes = ba.simulate(competitors=4, annotators=8, votes=240, seed=5).votes
    votes.with_columns(prompt=pl.int_range(240) % 12).write_csv(tmp_path / "votes.csv")
    return tmp_path


def python(*arguments: str, cwd, env) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True)


def environment(folder, **more: str) -> dict[str, str]:
    return os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")} | more


@pytest.mark.slow
def test_ctrl_c_ends_a_first_fit_before_everything_is_compiled(answered_votes):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT],
        cwd=answered_votes,
        env=environment(answered_votes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline().startswith("compiling")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert output == ""
    assert "KeyboardInterrupt" in errors
    assert not list((answered_votes / "cache").rglob("*density*.nbi")), "waited for the compiler"


@pytest.mark.slow
def test_compiled_code_of_a_fit_is_kept(answered_votes):
    hits = "print(sum(density.stats.cache_hits.values()))"
    count = f"{FIT}\nfrom bayes_arena.likelihood.loops import density\n{hits}"
    for run in range(2):
        done = python("-c", count, cwd=answered_votes, env=environment(answered_votes))
        assert done.stdout.split() == ["nuts", str(run)], done.stderr
        assert "NUMBA_CACHE_DIR" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("place", ["home", "nowhere"])
def test_compiled_code_is_kept_where_there_is_a_place(tmp_path, place):
    """The folder of the code is not asked here; where nothing can be written it is compiled anew, and said so."""
    (tmp_path / "loop.py").write_text(LOOP)
    home = tmp_path / "home" if place == "home" else "/dev/null/home"
    env = os.environ | {"NUMBA_CACHE_LOCATOR_CLASSES": "UserWideCacheLocator", "HOME": str(home)}
    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        env.pop(name, None)
    for run in range(2):
        done = python("loop.py", cwd=tmp_path, env=env)
        assert done.stdout.split() == ["42", str(run * (place == "home"))], done.stderr
        assert ("NUMBA_CACHE_DIR" in done.stderr) == (place == "nowhere")


@pytest.mark.slow
def test_a_folder_that_pytensor_cannot_write_is_named_with_the_remedy(arena_cells, monkeypatch):
    import pymc

    def fails(*_, **__):
        raise PermissionError(13, "Permission denied", "/home/someone/.pytensor/numba/x")

    monkeypatch.setattr(pymc, "sample", fails)
    with pytest.raises(
        ba.errors.CompilerError, match=r"(?s)someone/.pytensor/numba/x.*PYTENSOR_FLAGS=base_compiledir="
    ):
        ba.fit(arena_cells, method="nuts", sampler="pymc")


@pytest.mark.slow
def test_without_a_home_sampling_ends_with_the_remedy(tmp_path):
    code = "import bayes_arena as ba; ba.fit(ba.example_arena().votes, method='nuts', sampler='pymc')"
    env = {key: value for key, value in os.environ.items() if key != "PYTENSOR_FLAGS"} | {"HOME": "/dev/null/home"}
    done = python("-c", code, cwd=tmp_path, env=env)
    last = done.stderr.splitlines()[-1]
    assert "/dev/null/home/.pytensor" in last
    assert "PYTENSOR_FLAGS=base_compiledir=FOLDER" in last
    assert done.returncode == 1
    assert done.stdout == ""
