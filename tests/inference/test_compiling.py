"""The compiled parts: said while they compile, left at Ctrl-C, kept on disk between processes."""

import os
import signal
import subprocess
import sys

import pytest

import bayes_arena as ba

FIT = "import bayes_arena as ba; print(ba.fit(ba.read_votes('votes.csv')).evidence)"


@pytest.fixture
def sparse_votes(tmp_path):
    """Votes of annotators so sparse that they are integrated out."""
    ba.simulate(competitors=4, annotators=80, votes=240, seed=5).votes.write_csv(tmp_path / "votes.csv")
    return tmp_path


def environment(folder, **more: str) -> dict[str, str]:
    return os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")} | more


@pytest.mark.slow
def test_ctrl_c_ends_a_first_fit_before_everything_is_compiled(sparse_votes):
    process = subprocess.Popen(
        [sys.executable, "-c", FIT],
        cwd=sparse_votes,
        env=environment(sparse_votes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline().startswith("compiling")
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert output == ""
    assert "KeyboardInterrupt" in errors
    assert not list((sparse_votes / "cache").rglob("*integrate*.nbi")), "waited for the compiler"


@pytest.mark.slow
@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "home", "nowhere"])
def test_compiled_code_is_kept_where_there_is_a_place(sparse_votes, place):
    """The package's own folder is not asked here; where nothing can be written a fit compiles and says so."""
    env = environment(sparse_votes)
    if place != "NUMBA_CACHE_DIR":
        del env["NUMBA_CACHE_DIR"]
        home = sparse_votes / "home" if place == "home" else "/dev/null/home"
        env |= {"NUMBA_CACHE_LOCATOR_CLASSES": "UserWideCacheLocator", "HOME": str(home)}
        env.pop("XDG_CACHE_HOME", None)
    hits = "print(sum(integrate.stats.cache_hits.values()))"
    count = f"{FIT}; from bayes_arena.inference.marginal.kernels import integrate; {hits}"
    for run in range(1 if place == "nowhere" else 2):
        done = subprocess.run([sys.executable, "-c", count], cwd=sparse_votes, env=env, capture_output=True, text=True)
        assert done.stdout.split() == ["quadrature", str(run)], done.stderr
        assert ("NUMBA_CACHE_DIR" in done.stderr) == (place == "nowhere")


@pytest.mark.slow
def test_a_folder_that_pytensor_cannot_write_is_named_with_the_remedy(arena_cells, monkeypatch):
    import pymc

    def fails(*_, **__):
        raise PermissionError(13, "Permission denied", "/home/someone/.pytensor/numba/x")

    monkeypatch.setattr(pymc, "sample", fails)
    with pytest.raises(ba.CompilerError, match=r"(?s)someone/.pytensor/numba/x.*PYTENSOR_FLAGS=base_compiledir="):
        ba.fit(arena_cells, method="nuts")


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        "import sys; from bayes_arena.__main__ import main; sys.argv[1:] = ['rank', '--method', 'nuts']; main()",
        "from bayes_arena.models import build",
    ],
    ids=["nuts", "build"],
)
def test_without_a_home_sampling_ends_with_the_remedy(code, tmp_path):
    env = {key: value for key, value in os.environ.items() if key != "PYTENSOR_FLAGS"} | {"HOME": "/dev/null/home"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert "/dev/null/home/.pytensor" in last
    assert "PYTENSOR_FLAGS=base_compiledir=FOLDER" in last
    assert done.returncode == (2 if "main" in code else 1)
    assert done.stdout == ""
