from functools import partial

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.checks.held_out import (
    SCORES,
    auc,
    held_out_scores,
    random_splits,
    score_columns,
)
from bayes_arena.inference.predictive import Prediction
from tests.helpers import real


@pytest.fixture(scope="module")
def votes():
    arena = ba.simulate(
        competitors=5, annotators=12, votes=900, reversed=2, tie_spread=0.8, seed=1
    )
    return ba.read_votes(arena.votes)


def test_auc():
    assert auc(np.array([0.9, 0.1]), np.array([[1, 0], [0, 1]])) == 1
    assert auc(np.array([0.5, 0.5]), np.array([[3, 0], [0, 2]])) == 0.5
    # Of 2 x 2 pairs of a win and a loss, three are right and one is a draw.
    score = np.array([0.8, 0.6, 0.6, 0.2])
    assert auc(score, np.array([[1, 0], [1, 0], [0, 1], [0, 1]])) == 3.5 / 4
    with pytest.raises(ba.ArenaError, match="both wins and losses"):
        auc(score, np.array([[0, 1]] * 4))


def test_scores(votes):
    two = votes.take(np.array([0, 1]))
    counts = np.array([[2.0, 0, 1], [0, 1, 0]])
    two = type(votes)(**{**vars(two), "counts": counts})
    p = np.array([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2]])
    log_score, squares, area = held_out_scores(
        Prediction(p, np.array([0.625, 0.3])), two
    )
    expected = 2 * np.log(0.5) + np.log(0.25) + np.log(0.6)
    assert log_score == pytest.approx(expected / 4)
    assert squares == pytest.approx((2 * 0.375**2 + 0.125**2 + 0.3**2) / 4)
    assert area == 1


def test_standard_errors_are_those_of_nadeau_and_bengio():
    values = np.array([[[1.0, 0, 0], [3.0, 0, 0]], [[2.0, 0, 0], [3.0, 0, 0]]])
    columns = score_columns(SCORES, values, share=0.5)
    assert columns["log_score"].tolist() == [2, 2.5]
    sd, sd_of_difference = np.sqrt(2), np.sqrt(0.5)
    correction = np.sqrt(1 / 2 + 1)
    assert columns["log_score_se"][0] == pytest.approx(sd * correction)
    assert columns["log_score_diff"].tolist() == [0, 0.5]
    expected = sd_of_difference * correction
    assert columns["log_score_diff_se"][1] == pytest.approx(expected)


def test_annotators_that_differ_are_predicted_better_by_their_model(votes):
    table = ba.held_out(votes, splits=3, seed=1).set_index("model")
    gain = table.loc["am-davidson"]
    assert gain["log_score_diff"] > 2 * gain["log_score_diff_se"]
    assert gain["squared_error_diff"] < 0 < gain["auc_diff"]
    again = ba.held_out(votes, splits=3, seed=1).set_index("model")
    assert table.equals(again)


def test_new_annotators(votes):
    table = ba.held_out(votes, over="annotator", splits=2, share=0.3)
    assert np.isfinite(table.drop(columns="model").to_numpy()).all()


def test_splits_by_annotator_are_whole(votes):
    for rest, left_out in random_splits(votes, "annotator", 2, 0.3, seed=0):
        names = {left_out.annotators[k] for k in left_out.annotator}
        assert not names & set(rest.annotators)
        assert rest.n_votes + left_out.n_votes == votes.n_votes


def test_models_by_name_and_functions(votes):
    models = {
        "paper": partial(ba.fit, model="am-elo", prior="flat"),
        "custom": ba.Model("custom", ties="davidson"),
        "preset": "m-elo",
    }
    table = ba.held_out(votes, models, splits=2)
    assert table["model"].tolist() == list(models)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "topic"}, "no slice 'topic'"),
        ({"splits": 1}, "whole number of at least 2"),
        ({"share": 1.5}, "share=1.5 must lie"),
        ({"models": ()}, "no model"),
        ({"models": ("elo",)}, "model='elo' must be one of"),
        ({"models": {"x": ba.Model("x", ties="drop")}}, "leaves out ties"),
    ],
)
def test_mistakes(votes, options, message):
    with pytest.raises(ba.ArenaError, match=message):
        ba.held_out(votes, **options)


@pytest.mark.slow
def test_llmfao_by_vote():
    table = ba.held_out(real("llmfao.csv"), splits=3).set_index("model")
    am = table.loc["am-davidson"]
    assert am["log_score_diff"] == pytest.approx(0.105, abs=0.012)
    assert am["log_score"] == pytest.approx(-0.91, abs=0.015)
    assert am["squared_error"] == pytest.approx(0.1215, abs=0.003)
    assert table.loc["davidson", "squared_error"] == pytest.approx(0.1295, abs=0.003)


@pytest.mark.slow
def test_llmfao_on_new_prompts():
    models = {
        "davidson": "davidson",
        "by prompt": ba.Model(
            "by prompt", ties="davidson", position="common", strength_by=("prompt",)
        ),
    }
    votes = ba.read_votes(real("llmfao.csv"))
    table = ba.held_out(votes, models, over="prompt", splits=6).set_index("model")
    by_prompt = table.loc["by prompt"]
    assert by_prompt["squared_error_diff"] == pytest.approx(-0.002, abs=0.001)
    assert by_prompt["log_score_diff"] > 0
