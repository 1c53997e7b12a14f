"""Votes to come, predicted for people: any dataframe or pairs in, the same kind of table out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.validation.prediction import predict_cells


@pytest.fixture(scope="module")
def fit(arena_cells) -> ba.Fit:
    return ba.fit(arena_cells, method="map", robust=False)


@pytest.mark.slow
def test_rows_keep_their_order_and_their_engine(fit, arena):
    votes = arena.votes.head(7)
    found = fit.predict(votes)
    assert isinstance(found, pl.DataFrame)
    assert found.select("model_a", "model_b", "judge").equals(votes.select("model_a", "model_b", "judge"))
    assert isinstance(fit.predict(votes.to_pandas()), pd.DataFrame)
    assert fit.predict(votes.lazy()).equals(found)
    backwards = fit.predict(votes.reverse())
    np.testing.assert_allclose(backwards["score"].to_numpy()[::-1], found["score"].to_numpy(), rtol=1e-12)


@pytest.mark.slow
def test_probabilities_are_those_that_predictions_are_judged_by(fit, arena):
    one = arena.votes.head(1)
    found, judged = fit.predict(one), predict_cells(fit, ba.read_votes(one))
    assert found.select("p_a", "p_b", "p_tie").row(0) == pytest.approx(np.exp(judged.log_p[:, 0]))
    assert found["score"][0] == pytest.approx(found["p_a"][0] + found["p_tie"][0] / 2)


@pytest.mark.slow
def test_pairs_are_of_new_annotators_unless_named(fit, arena):
    a, b, _, judge = arena.votes.row(0)
    pair, strangers = fit.predict([(a, b)]), fit.predict([(a, b, "nobody known")])
    assert list(pair) == ["model_a", "model_b", "p_a", "p_tie", "p_b", "score"]
    assert pair["score"][0] == strangers["score"][0] != fit.predict([(a, b, judge)])["score"][0]
    np.testing.assert_allclose(pair[["p_a", "p_tie", "p_b"]].sum(axis=1), 1)


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ("model-1", "pairs such as"),
        ([("model-1",)], "pairs such as"),
        ([("model-1", "model-1")], "two different competitors, not on 'model-1'"),
        ([("model-1", "model-99")], "does not know model-99"),
        (pd.DataFrame({"x": [1]}), "No column recognised as the pair of competitors"),
    ],
    ids=str,
)
def test_what_is_no_pair_is_said(fit, votes, said):
    with pytest.raises(ba.ArenaError, match=said):
        fit.predict(votes)


@pytest.mark.slow
def test_a_prompt_that_is_not_told_is_a_new_one():
    from helpers import answered_votes

    votes = answered_votes(prompts=12, votes=600)[0]
    fit = ba.fit(ba.read_votes(votes, prompt="prompt"), answers=True, robust=False)
    told = fit.predict(votes.head(3))
    new = fit.predict(votes.head(3).drop("prompt"))
    elsewhere = fit.predict(votes.head(3).with_columns(prompt=pl.lit("never seen")))
    assert new.equals(elsewhere.select(new.columns))
    assert not np.allclose(told["score"], new["score"], atol=1e-3)
