"""Names, the order of votes and the sides decide nothing, however much single votes weigh."""

import numpy as np
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.inference.order import Order
from bayes_arena.likelihood.problem import Problem

SWAPPED = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}


def random_votes(seed: int, weights: str) -> pl.DataFrame:
    """Forty votes of four annotators on five competitors, weighed."""
    rng = np.random.default_rng(seed)
    a = rng.integers(5, size=40)
    b = (a + rng.integers(1, 5, size=40)) % 5
    rows = zip(a, b, rng.integers(3, size=40), rng.integers(4, size=40), strict=True)
    table = frame([(f"m{i}", f"m{j}", ("model_a", "model_b", "tie")[w], f"k{k}") for i, j, w, k in rows])
    heavy = np.where(np.arange(40) == 7, 1e9, 1.0)
    return table.with_columns(votes={"heavy": heavy, "decades": np.ceil(10 ** rng.uniform(0, 9, 40))}[weights])


def told_otherwise(table: pl.DataFrame) -> pl.DataFrame:
    """Everyone renamed so that they sort the other way round, votes in another order, sides swapped."""
    new = {f"{kind}{one}": f"{kind}{9 - one}" for kind in "mk" for one in range(5)}
    other = table.select(
        model_a=pl.col("model_b").replace(new),
        model_b=pl.col("model_a").replace(new),
        winner=pl.col("winner").replace(SWAPPED),
        judge=pl.col("judge").replace(new),
        votes="votes",
    )
    return other.sample(fraction=1.0, shuffle=True, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["heavy", "decades"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "options",
    [
        {"guard": False},
        {"model": "am-elo"},
        {"model": "am-davidson", "method": "map"},
        {"model": "am-elo", "prior": "flat"},
        {"model": "bradley-terry"},
    ],
    ids=lambda options: ", ".join(map(str, options.values())),
)
@pytest.mark.filterwarnings("ignore")
def test_votes_told_otherwise_have_the_same_board(seed, weights, options):
    table = random_votes(seed, weights)
    one, other = (ba.fit(ba.read_votes(votes, weight="votes"), **options) for votes in (table, told_otherwise(table)))
    scores = ba.leaderboard(one).set_index("competitor")["elo"]
    moved = ba.leaderboard(other).set_index("competitor")["elo"]
    np.testing.assert_allclose(scores, moved[[f"m{9 - int(name[1])}" for name in scores.index]], atol=1e-6)
    if one.model.needs_annotators:
        theta = ba.annotators(one).set_index("annotator")["theta"]
        same = ba.annotators(other).set_index("annotator")["theta"]
        assert not theta.isna().any()
        np.testing.assert_allclose(theta, same[[f"k{9 - int(name[1])}" for name in theta.index]], rtol=1e-9)


@pytest.mark.parametrize("model", ["bradley-terry", "am-davidson"])
def test_the_order_follows_from_the_votes(model):
    table = random_votes(0, "decades")
    problems = [
        Problem.of(ba.read_votes(votes, weight="votes"), model, "default") for votes in (table, told_otherwise(table))
    ]
    one, other = map(Order.of, problems)
    assert (one.turned != other.turned) == (model == "am-davidson")
    ordered, same = one.ordered(problems[0]).objective, other.ordered(problems[1]).objective
    for name in ("i", "j", "k"):
        np.testing.assert_array_equal(getattr(ordered.tally, name), getattr(same.tally, name))
    np.testing.assert_array_equal(ordered.counts, same.counts)
