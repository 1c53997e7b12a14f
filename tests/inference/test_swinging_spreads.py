"""Spreads and curvature that swing before they settle: of few numbers, of votes that all end alike."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.inference import curves
from bayes_arena.likelihood.presets import PRESETS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", [1, 17, 24])
def test_a_spread_of_few_numbers_settles(seed: int) -> None:
    votes = ba.simulate(competitors=6, annotators=10, votes=1000, seed=seed).votes
    fit = ba.fit(ba.read_votes(votes), model=replace(PRESETS["am-davidson"], ties_by=("competitor",)))
    assert fit.spreads.spread("ties_by_competitor") < 0.15  # competitors tie alike
    assert fit.mode.iterations < 50


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("winner", ["tie", "model_a"])
def test_votes_that_all_end_alike_have_answers(winner: str) -> None:
    prompts = [f"p{row % 12}" for row in range(120)]
    votes = pl.DataFrame({"model_a": "always", "model_b": "never", "winner": winner, "judge": "j", "prompt": prompts})
    model = ba.Model("slices", ties="rao-kupper", strength_by=("prompt",), ties_by=("competitor",))
    for one in (model, replace(model, ties="half", ties_by=())):
        fit = ba.fit(ba.read_votes(votes, prompt="prompt"), model=one)
        first, second = fit.strength
        assert first > 1 if winner == "model_a" else abs(first - second) < 1e-6


def test_answers_that_settle_every_vote_are_averaged_over_finely(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = answered_votes(votes=600, seed=3)[0].with_columns(weight=1e6)  # a judge who always says the same
    fit = ba.fit(ba.read_votes(votes, prompt="prompt", weight="weight"), model="bradley-terry", answers=True)
    assert fit.spreads.spread("strength_by_prompt") > 3
    boards = [ba.leaderboard(fit)]
    monkeypatch.setattr(curves, "MANY_LEAD_NODES", 221)
    boards.append(ba.leaderboard(fit))
    for bound in ("elo", "lower", "upper"):
        np.testing.assert_allclose(boards[0][bound], boards[1][bound], atol=1)


@pytest.mark.parametrize("model", ["am-elo", "am-davidson"])
def test_thousands_who_vote_against_the_rest_settle(model: str) -> None:
    arena = ba.simulate(annotators=3000, votes=30_000, anomalous=900, seed=3010)
    fit = ba.fit(ba.read_votes(arena.votes), model=model, robust=False)
    assert fit.evidence == "variational"
    against = np.isin(fit.cells.annotators, arena.anomalous)
    assert fit.discrimination[against].mean() < 0 < fit.discrimination[~against].mean()
