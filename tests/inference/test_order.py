"""Names, the order of votes and the sides decide nothing, however much single votes weigh."""

import runpy
from pathlib import Path

import fuzz
import numpy as np
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.algebra.factorising import factorise
from bayes_arena.inference.mode.laplace import Laplace
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.inference.order import Order
from bayes_arena.likelihood.covariances import covariances
from bayes_arena.likelihood.derivatives import value_and_derivatives
from bayes_arena.likelihood.point import Point
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


def test_pairs_that_are_alike_are_numbered_alike():
    """Of three pairs that nothing else tells apart, who comes first among the winners decides for the losers."""
    found = set()
    for names in ("adbecf", "aebfcd", "fbdace", "bacedf"):
        votes = [(winner, loser, "model_a") for winner, loser in zip(names[::2], names[1::2], strict=True)]
        problem = Problem.of(ba.read_votes(frame(votes)), "bradley-terry", "default")
        tally = Order.of(problem).ordered(problem).objective.tally
        found.add((*tally.i.tolist(), *tally.j.tolist()))
    assert len(found) == 1


OWN = {"ties": "davidson", "discrimination": "annotator", "tie_propensity": "annotator", "position": "annotator"}
CROSSED = {
    "directions": (ba.Model("directions", **OWN, dimensions=2), 700013),
    "taste": (ba.Model("taste", discrimination="annotator", strength_by=("annotator",)), 700013),
    "drift": (ba.Model("drift", **OWN, drift=True), 700013),
    "sharper": (
        ba.Model("sharper", **OWN, strength_by=("time",), discrimination_by=("time",), ties_by=("time",)),
        700013,
    ),
    "programs": (ba.Model("programs", discrimination="annotator", strength_by=("program",)), 700289),
    "ties": (ba.Model("ties", ties="davidson", ties_by=("competitor",), position="common"), 700013),
}
"""Models with slices, and an arena of the benchmark."""


def precision(problem, point):
    """Return the precision of a Gaussian around a point, averaged over the one without width."""
    factor, around = None, None
    for _ in range(2):
        around = factor and covariances(problem.objective, factor)
        _, _, hessian = value_and_derivatives(problem.objective, point, residuals=False, around=around)
        gauge = Gauge.of_all(problem.shifts, problem.objective)
        factor = factorise(hessian, extra=gauge.extra(point, hessian), held=gauge.held)
    return factor


@pytest.mark.slow
@pytest.mark.parametrize("name", CROSSED)
def test_a_precision_with_slices_is_that_of_the_given_order(name):
    model, seed = CROSSED[name]
    table, options = fuzz.arena(seed)
    problem, rng = Problem.of(ba.read_votes(table, **options), model, "default"), np.random.default_rng(0)
    order = Order.of(problem)
    ordered = order.ordered(problem)
    start = ordered.objective.start()
    parts = (start.strength, start.common, start.own, start.slices)
    point = Point(*(part + 0.3 * rng.normal(size=part.shape) for part in parts))
    laplace = Laplace(precision(ordered, point), ordered.shifts, singular=False, log_determinant=0.0)
    back = order.back(Mode(ordered, point, laplace, 0.0, 1, None, (), (), free_energy=0.0), problem)
    assert problem.objective.value(back.point) == pytest.approx(ordered.objective.value(point))
    found, expected = back.laplace.factor.rows, precision(problem, back.point).rows
    for part in ("entry", "curve", "slope", "products", "precision", "strengths", "between"):
        np.testing.assert_allclose(getattr(found, part), getattr(expected, part), atol=1e-12, err_msg=part)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
@pytest.mark.parametrize(
    ("how", "seed"),
    [
        ({"dimensions": 1}, 700013),
        ({"model": CROSSED["taste"][0]}, 700013),
        ({"model": CROSSED["ties"][0]}, 700013),
        ({"model": CROSSED["sharper"][0]}, 700153),
        ({"drift": True}, 700153),
    ],
)
def test_slices_told_otherwise_have_the_same_board(how, seed):
    table, options = fuzz.arena(seed)
    other, new = fuzz.told_otherwise(table, seed)
    fits = [ba.fit(ba.read_votes(votes, **options), robust=False, **how) for votes in (table, other)]
    board, same = (ba.leaderboard(fit).set_index("competitor") for fit in fits)
    for column in ("elo", "lower", "upper"):
        np.testing.assert_allclose(board[column], same.loc[board.index.map(new), column], atol=1e-4)
