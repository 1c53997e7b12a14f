"""What an editor, and mypy, see of options: right calls pass, and a slip is found."""

import inspect
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.fits.options import OPTIONS
from bayes_arena.model.priors import PRIORS, PriorName
from bayes_arena.model.spec import PRESETS, Preset
from bayes_arena.rating.rating import RateOptions
from bayes_arena.reading.options import Options, ReadOptions

ROOT = Path(__file__).parents[1]
RIGHT = """
import bayes_arena as ba

votes = ba.read_votes("votes.csv", winner="vote", both_bad="drop")
fit = ba.fit(votes, model="am-davidson", prior="weak", method="map")
ba.fit("votes.csv", model=ba.Model(ties="drop"), prior=ba.Prior(strength=2.0), a="left")
ba.leaderboard("votes.csv", model="davidson", annotator=False, interval="sandwich")
ba.leaderboards(ba.fit_many("votes.csv", "category", method="map"), level=0.9)
ba.held_out(votes, ["davidson", "am-davidson"])
ba.rate("votes.csv", prior="flat", slices=("category",), seed=1)
ba.report("votes.csv", "board.html", without="flagged", since="last.json")
ba.judge_report(votes, "gpt-4", method="nuts", seed=2)
"""
WRONG = """
import bayes_arena as ba

ba.fit("votes.csv", model="davidsn")
ba.fit("votes.csv", methd="map")
ba.fit("votes.csv", prior="flatt")
ba.leaderboard("votes.csv", method="mcmc")
ba.leaderboard("votes.csv", interval="clusterd")
ba.pairs("votes.csv", winer="vote")
ba.rate("votes.csv", both_bad="half")
ba.report("votes.csv", "board.html", wihout="flagged")
ba.check("votes.csv", weight=3)
ba.held_out("votes.csv", ["davidsn"])
ba.online_elo("votes.csv", judges="x")
"""


def test_every_option_stands_in_each_list_of_them():
    reading = set(inspect.signature(ba.read_votes).parameters) - {"source"}
    assert set(ReadOptions.__annotations__) == reading
    assert {field.name for field in fields(Options)} == reading
    fitting = set(inspect.signature(ba.fit).parameters) - {"votes", "columns"}
    assert set(OPTIONS) == fitting | reading
    rating = set(inspect.signature(ba.rate).parameters) - {"votes", "options"}
    assert set(RateOptions.__annotations__) == set(OPTIONS) | rating
    assert {field.name for field in fields(Look)} < rating


def test_every_name_of_a_model_and_of_a_prior_is_a_literal():
    assert get_args(Preset.__value__) == tuple(PRESETS)
    assert get_args(PriorName.__value__) == tuple(PRIORS)


@pytest.mark.slow
def test_mypy_finds_slips_and_nothing_else(tmp_path):
    from mypy import api

    lines = {}
    for name, text in (("right", RIGHT), ("wrong", WRONG)):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        config = str(ROOT / "pyproject.toml")
        said, _, _ = api.run(["--config-file", config, str(path)])
        found = [line for line in said.splitlines() if ": error:" in line]
        lines[name] = {int(line.split(":")[1]) for line in found}
    assert not lines["right"]
    expected = [n for n, line in enumerate(WRONG.splitlines(), 1) if "ba." in line]
    assert lines["wrong"] == set(expected)
