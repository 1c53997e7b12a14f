"""Names, the order of votes and the sides decide nothing, however much single votes weigh."""

import fuzz
import numpy as np
import polars as pl
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

SHAPES = ("ordinary", "noise", "chain", "separated")
WEIGHTS = ("none", "counts", "nine decades", "one of a billion", "fractions")
FITS = {
    "default": {},
    "am-elo": {"model": "am-elo"},
    "am-davidson, map": {"model": "am-davidson", "method": "map"},
    "am-elo, flat": {"model": "am-elo", "prior": "flat"},
    "bradley-terry": {"model": "bradley-terry"},
}
MOVED = {
    "default": [12, 30, 53, 75, 123],
    "am-elo": [12, 53, 75],
    "am-davidson, map": [49, 53, 72, 75, 428],
    "am-elo, flat": [12, 53],
    "bradley-terry": [9, 12],
}
"""Seeds of arenas that once moved, or weigh much."""


def arena(seed: int) -> pl.DataFrame:
    """Return the votes of a random arena, of weights that may differ by nine decades."""
    rng = np.random.default_rng(seed)
    kind, weights = SHAPES[seed % len(SHAPES)], WEIGHTS[seed // len(SHAPES) % len(WEIGHTS)]
    n, people, votes = int(rng.integers(2, 12)), int(rng.integers(1, 13)), int(10 ** rng.uniform(1, 2.2))
    strength = np.sort(rng.normal(0, rng.choice([0.3, 1, 3]), n))
    a = rng.integers(n, size=votes)
    b = (a + rng.integers(1, n, size=votes)) % n
    if kind == "chain":
        first = rng.integers(n - 1, size=votes)
        turned = rng.random(votes) < 0.5
        a, b = first + turned, first + ~turned
    k = rng.integers(people, size=votes)
    theta, position = rng.normal(1, 0.5, people), rng.normal(0, 0.3, people)
    tie = rng.normal(rng.choice([-3, -0.5, 1]), 0.5, people)
    eta = 0 * a if kind == "noise" else theta[k] * (strength[a] - strength[b]) + position[k]
    outcome = (np.column_stack([eta / 2, -eta / 2, tie[k]]) + rng.gumbel(size=(votes, 3))).argmax(axis=1)
    if kind == "separated":
        outcome = (eta < 0).astype(int)
    weight = {
        "none": np.ones(votes),
        "counts": rng.integers(1, 30, votes).astype(float),
        "nine decades": np.ceil(10 ** rng.uniform(0, 9, votes)),
        "one of a billion": np.where(np.arange(votes) == rng.integers(votes), 1e9, 1.0),
        "fractions": 10 ** rng.uniform(-3, 3, votes),
    }[weights]
    names, judges = (
        np.array([f"{letter}{one:02}" for one in range(size)]) for letter, size in (("m", n), ("k", people))
    )
    columns = {
        "model_a": names[a],
        "model_b": names[b],
        "winner": np.array(["model_a", "model_b", "tie"])[outcome],
        "judge": judges[k],
    }
    return pl.DataFrame(columns).with_columns(votes=weight)


def told_otherwise(table: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the same votes with other names, in another order and with sides swapped, and who is called what now."""
    rng = np.random.default_rng([seed, 1])
    new = {}
    for columns, letter in ((["model_a", "model_b"], "x"), (["judge"], "y")):
        names = sorted(set().union(*(table[column] for column in columns)))
        new |= dict(zip(names, (f"{letter}{one:02}" for one in rng.permutation(len(names))), strict=True))
    other = table.select(
        model_a=pl.col("model_b").replace(new),
        model_b=pl.col("model_a").replace(new),
        winner=pl.col("winner").replace({"model_a": "model_b", "model_b": "model_a"}),
        judge=pl.col("judge").replace(new),
        votes="votes",
    )
    return other.sample(fraction=1.0, shuffle=True, seed=seed), new


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")
@pytest.mark.parametrize(("name", "seed"), [(name, seed) for name, seeds in MOVED.items() for seed in seeds])
def test_votes_told_otherwise_have_the_same_board(name, seed):
    table = arena(seed)
    other, new = told_otherwise(table, seed)
    one, same = (ba.fit(ba.read_votes(votes, weight="votes"), **FITS[name]) for votes in (table, other))
    assert one.model == same.model
    scores, moved = (ba.leaderboard(fit).set_index("competitor")["elo"] for fit in (one, same))
    np.testing.assert_allclose(scores, moved[scores.index.map(new)], rtol=0, atol=1e-6)
    if one.model.needs_annotators:
        numbers = ba.annotators(one)[["theta", "theta_lower", "theta_upper", "net_agreement"]]
        assert not numbers.isna().to_numpy().any()


@pytest.mark.parametrize("model", ["bradley-terry", "am-davidson"])
def test_the_order_follows_from_the_votes(model):
    tables = arena(9), told_otherwise(arena(9), 9)[0]
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
