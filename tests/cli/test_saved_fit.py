"""Fit once, ask many: a saved fit in place of the votes."""

import json

import pytest
from helpers import run

pytestmark = pytest.mark.slow  # imports xarray
PLAIN = ("--model", "am-davidson")


@pytest.fixture(scope="module")
def files(tmp_path_factory, arena):
    folder = tmp_path_factory.mktemp("saved")
    votes, saved = folder / "votes.csv", folder / "board.nc"
    arena.votes.write_csv(votes)
    done = run("fit", votes, *PLAIN, "-o", saved)
    assert done.stdout == "" and "Wrote" in done.stderr
    return votes, saved


@pytest.mark.parametrize(
    "command",
    [
        ("rank", "--interval", "sandwich", "--explain"),
        ("annotators",),
        ("pairs", "--between", "model-1", "model-2"),
        ("pairs",),
        ("next", "-n", 3, "--seed", 2),
        ("pairs", "-n", 4, "--without", "vote"),
        ("integrity",),
        ("diagnose",),
    ],
    ids=str,
)
def test_every_question_has_the_same_answer(files, command):
    votes, saved = files
    from_votes, from_saved = (
        json.loads(run(*command, *of, "--format", "json").stdout) for of in ((votes, *PLAIN), (saved,))
    )
    if command == ("integrity",):  # which asks that votes are discounted, as the saved fit did by default
        del from_votes["plan"], from_saved["plan"]
    assert from_saved == from_votes


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("rank", "--model", "m-elo", "--prompt", "question"), "--model, --prompt would have no effect"),
        (("compare", "--models", "m-elo,am-elo"), "needs the votes themselves"),
        (("boards", "--by", "annotator"), "needs the votes themselves"),
        (("check",), "needs the votes themselves"),
        (("rank", "more.csv"), "is a saved fit, which is taken alone"),
        (("integrity", "--time", "when"), "lacks the votes' times (--slice when)"),
    ],
)
def test_what_a_saved_fit_lacks_is_said(files, command, said):
    done = run(*command, files[1])
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())


def test_a_fit_needs_a_name_that_can_be_loaded(files, tmp_path):
    done = run("fit", files[0], *PLAIN, "-o", tmp_path / "board.ba")
    assert done.returncode == 2 and "*.nc (netCDF) or *.zarr" in done.stderr
