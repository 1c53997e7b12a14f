"""Names, the order of votes and the sides decide nothing, however much single votes weigh."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.inference.order import Order
from bayes_arena.likelihood.problem import Problem

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "invariance.py"))
MOVED = {
    "default": [12, 30, 53, 75, 123],
    "am-elo": [12, 53, 75],
    "am-davidson, map": [49, 53, 72, 75, 428],
    "am-elo, flat": [12, 53],
    "bradley-terry": [9, 12],
}
"""Seeds of the benchmark's arenas that once moved, or weigh much."""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), [(name, seed) for name, seeds in MOVED.items() for seed in seeds])
def test_votes_told_otherwise_have_the_same_board(name, seed):
    table = SCRIPT["arena"](seed)
    other, new = SCRIPT["told_otherwise"](table, seed)
    one, same = (SCRIPT["fitted"](votes, SCRIPT["FITS"][name]) for votes in (table, other))
    assert isinstance(one, ba.Fit)
    assert SCRIPT["difference"](one, same, new) <= SCRIPT["MOST"]
    assert not SCRIPT["has_gaps"](one)


@pytest.mark.parametrize("model", ["bradley-terry", "am-davidson"])
def test_the_order_follows_from_the_votes(model):
    tables = SCRIPT["arena"](9), SCRIPT["told_otherwise"](SCRIPT["arena"](9), 9)[0]
    problems = [Problem.of(ba.read_votes(votes, weight="votes"), model, "default") for votes in tables]
    one, other = map(Order.of, problems)
    assert (one.turned != other.turned) == (model == "am-davidson")
    ordered, same = one.ordered(problems[0]).objective, other.ordered(problems[1]).objective
    for name in ("i", "j", "k"):
        np.testing.assert_array_equal(getattr(ordered.tally, name), getattr(same.tally, name))
    np.testing.assert_array_equal(ordered.counts, same.counts)
