"""What a fit chooses by itself: said before it is fitted, after it, and where the reasons differ."""

import json
import re

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes, prompted, run

import bayes_arena as ba


def plan_of(votes: object, **options: object) -> dict[str, tuple[str, str]]:
    return {one.what: (one.taken, one.why) for one in ba.choose(votes, robust=False, **options).choices}


@pytest.fixture(scope="module")
def votes() -> pl.DataFrame:
    return ba.simulate(competitors=6, annotators=8, votes=600, seed=1).votes


def test_annotators_choose_the_model(votes):
    plan = plan_of(votes)
    assert plan["model"] == ("am-davidson", "annotators are known: 8")
    assert plan["method"][0].startswith("marginal") and "estimated" in plan["strengths"][0]
    assert plan_of(votes, prior="flat")["model"][0] == "am-elo"


def test_ties_and_sides_choose_it_where_annotators_are_unknown(votes):
    nobody = votes.drop("judge")
    plan = plan_of(nobody)
    assert plan["model"] == ("davidson", "no annotators are known")
    assert plan["ties"][1].endswith("of the votes are ties") and plan["sides"][1].endswith("shown both ways")
    decided = nobody.filter(pl.col("winner") != "tie")
    assert plan_of(decided)["ties"] == ("half a win for each side", "no vote is a tie")
    assert plan_of(nobody)["method"][0].startswith("map")


def test_a_file_of_winners_first_has_no_sides(votes):
    first = votes.drop("judge").filter(pl.col("winner") == "model_a")
    with pytest.warns(ba.errors.LeftOutEffectWarning):
        assert plan_of(first, model="davidson")["sides"] == ("left out", "one side won 100.0 % of the decided votes")
    assert plan_of(first)["sides"] == ("left out", "one side won 100.0 % of the decided votes")


def test_what_is_asked_for_is_said_to_be(votes):
    plan = plan_of(votes, model="am-elo", method="map")
    assert plan["model"] == ("am-elo", "asked for") and plan["method"][1] == "asked for"
    assert plan["strengths"] == ("spread 1", "default prior")


def test_a_league_gets_the_weak_prior():
    rng, n = np.random.default_rng(0), 20
    low = rng.integers(n - 1, size=4000)
    strength = np.sort(rng.normal(size=n))
    won = rng.random(4000) < 1 / (1 + np.exp(strength[low + 1] - strength[low]))
    names = np.array([f"m{i:02d}" for i in range(n)])
    winner = np.where(won, "model_a", "model_b")
    votes = pl.DataFrame({"model_a": names[low], "model_b": names[low + 1], "winner": winner})
    assert plan_of(votes)["strengths"] == ("spread 5", "competitors mostly met others of about their strength")


@pytest.mark.parametrize(("seed", "left"), [(1, r"uncertain by 0\.\d\d, more than 0\.3"), (2, "undetermined")])
def test_answers_that_are_noise_are_left_out_with_the_reason(seed, left):
    cells = prompted(prompts=30, votes=300, answers=0.0, seed=seed)
    assert plan_of(cells)["answers"][0].endswith("on every prompt, unless they turn out to be noise")
    with pytest.warns(ba.errors.IdentificationWarning, match="Answers are left out"):
        after = ba.fit(cells, robust=False).plan
    reason = {one.what: one for one in after.choices}["answers"]
    said = f"the votes leave the logarithm of their spread {left}, so answers cannot be told from noise"
    assert reason.taken == "left out" and re.fullmatch(said, reason.why)


def test_too_few_answers_that_repeat_are_left_out_with_the_reason():
    cells = ba.read_votes(answered_votes(votes=40, seed=4)[0], prompt="prompt")
    taken, why = plan_of(cells)["answers"]
    assert taken == "left out" and why.startswith("of ") and why.endswith("of the votes are on prompts that repeat")
    assert plan_of(cells, method="map")["answers"] == ("left out", "their spread is not estimated")


@pytest.mark.slow
def test_a_spread_of_answers_that_is_known_leaves_nothing_in_doubt():
    cells = ba.read_votes(answered_votes(seed=1)[0], prompt="prompt")
    prior = ba.Prior(by={"strength_by_prompt": 0.3}, known=("strength_by_prompt",))
    fit = ba.fit(cells, prior=prior, robust=False)
    assert fit.spreads.spread("strength_by_prompt") == 0.3 and not fit.warnings
    assert plan_of(cells, prior=prior)["strengths"] == ("spread estimated", "your prior")


@pytest.mark.slow
def test_a_fit_has_the_plan_with_its_spreads(votes, tmp_path):
    cells = ba.read_votes(votes)
    fit = ba.fit(cells, robust=False)
    before, after = ba.choose(cells, robust=False).choices, fit.plan.choices
    assert [one.what for one in before] == [one.what for one in after]
    assert f"spread {fit.spreads.strength:.2f}, estimated (default prior)" in repr(fit.plan)
    ba.save(fit, tmp_path / "fit.nc")
    assert ba.load(tmp_path / "fit.nc").plan.choices == after
    assert "<td>am-davidson</td>" in fit.plan._repr_html_()


@pytest.mark.slow
def test_one_vote_an_annotator_leaves_how_they_differ_to_the_prior():
    votes = ba.simulate(competitors=5, annotators=200, votes=200, seed=2).votes
    votes = votes.with_columns(judge=pl.Series([f"k{row}" for row in range(len(votes))]))
    with pytest.warns(ba.errors.IdentificationWarning, match="is what the prior expects"):
        fit = ba.fit(ba.read_votes(votes), robust=False)
    assert {one.what: one for one in fit.plan.choices}["annotators"].why.endswith("so the prior decides")


@pytest.mark.slow
def test_commands_show_it(votes, tmp_path):
    path = tmp_path / "votes.csv"
    votes.write_csv(path)
    checks = json.loads(run("check", path, "--format", "json").stdout)["checks"]
    assert {"default model", "default method"} <= {check["check"] for check in checks}
    plan = json.loads(run("rank", path, "--format", "json").stdout)["plan"]
    assert plan[0] == {
        "what": "model",
        "taken": "am-davidson",
        "why": "annotators are known: 8",
    }
