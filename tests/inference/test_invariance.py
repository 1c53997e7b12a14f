"""What may move no score: the order of votes, names, and which side is called first."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.model.spec import Model
from tests.helpers import elo_of as scores

BY_PROMPT = Model("by prompt", ties="davidson", strength_by=("prompt",))
MODELS = ["bradley-terry", "davidson", "am-elo", "am-davidson", BY_PROMPT]
NO_POSITION = ["bradley-terry", "am-elo", BY_PROMPT]
SWAPPED = {"model_a": "model_b", "model_b": "model_a", "tie": "tie"}


@pytest.fixture(params=[1, 2])
def table(request):
    arena = ba.simulate(
        competitors=6, annotators=7, votes=500, reversed=1, seed=request.param
    )
    votes = arena.votes
    votes["prompt"] = (np.arange(len(votes)) % 12).astype(str)
    return votes


def elo_of(table, model, method="gaussian"):
    fit = ba.fit(table, model=model, method=method)
    return pd.Series(scores(fit), index=fit.votes.competitors)


def swap(table, rows):
    table = table.copy()
    table.loc[rows, ["model_a", "model_b"]] = table.loc[
        rows, ["model_b", "model_a"]
    ].to_numpy()
    table.loc[rows, "winner"] = table.loc[rows, "winner"].map(SWAPPED)
    return table


def assert_same(one, other):
    assert np.abs(one - other.reindex(one.index)).max() < 1e-6


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_order_of_votes(table, model):
    shuffled = table.sample(frac=1, random_state=0)
    assert_same(elo_of(table, model), elo_of(shuffled, model))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_names(table, model):
    names = {name: f"{9 - int(name[-1])} {name}" for name in set(table["model_a"])}
    judges = {name: name[::-1] for name in set(table["judge"])}
    renamed = table.replace({"model_a": names, "model_b": names, "judge": judges})
    elo = elo_of(table, model)
    assert_same(elo.rename(names), elo_of(renamed, model))


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_the_sides_of_all_votes(table, model):
    swapped = swap(table, table.index)
    assert_same(elo_of(table, model), elo_of(swapped, model))


@pytest.mark.parametrize("model", NO_POSITION, ids=str)
def test_without_a_position_the_sides_of_any(table, model):
    swapped = swap(table, table.index[::3])
    assert_same(elo_of(table, model), elo_of(swapped, model))


@pytest.mark.parametrize("model", ["bradley-terry", "davidson", "am-davidson"])
def test_modes_are_invariant_too(table, model):
    swapped = swap(table.sample(frac=1, random_state=1), table.index)
    assert_same(elo_of(table, model, "map"), elo_of(swapped, model, "map"))


def test_weights_are_votes(table):
    table["times"] = 3
    tripled = pd.concat([table] * 3)
    weighted = ba.fit(table, weight="times")
    np.testing.assert_allclose(weighted.strength, ba.fit(tripled).strength, atol=1e-9)
