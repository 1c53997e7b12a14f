"""Jumps: several sweeps combined to the fixed point that they approach slowly."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from helpers import answered_votes

import bayes_arena as ba
from bayes_arena.inference.marginal import gaussian
from bayes_arena.inference.marginal.jumping import End, jump
from bayes_arena.likelihood.covariances import SliceCovariances, covariances


def answered(votes: int) -> ba.Cells:
    return ba.read_votes(answered_votes(votes=votes, seed=4)[0], prompt="prompt")


def test_jumps_end_where_sweeps_do_in_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = ba.fit(answered(1200), answers=True, dimensions=0)
    monkeypatch.setattr(gaussian, "jump", lambda ends, here: None)
    slow = ba.fit(answered(1200), answers=True, dimensions=0)
    assert fast.mode.iterations < slow.mode.iterations
    sd = np.sqrt(np.diag(slow.board_covariance))
    assert np.abs((fast.strength - slow.strength) / sd).max() < 0.05
    assert fast.mode.free_energy == pytest.approx(slow.mode.free_energy, abs=0.5)


@pytest.mark.parametrize("model", ["am-davidson", "davidson"])
def test_a_linear_map_of_two_rates_takes_three_sweeps(model: str) -> None:
    mode = ba.fit(answered(300), model=model, answers=True, dimensions=0).mode
    assert bool(mode.point.own.size) == (model == "am-davidson")
    around = cast(SliceCovariances, covariances(mode.problem.objective, mode.laplace.factor))
    fixed, rates = np.array([1.0, -2.0, 0.5, 0.0, 1.0, -0.5]), np.array([0.6, -0.9, 0.6, 0.6, -0.9, 0.6])
    strength, ends = np.zeros(6), list[End]()
    for _ in range(3):
        end = fixed + rates * (strength - fixed)
        ends.append(End(replace(mode.point, strength=end), np.zeros(2), around, end - strength))
        strength = end
    found = jump(ends, around)
    assert found is not None
    np.testing.assert_allclose(found[0].strength, fixed, atol=1e-9)
    np.testing.assert_allclose(found[2].variances, around.variances)


def test_a_jump_is_not_taken_where_weights_are_large() -> None:
    mode = ba.fit(answered(300), answers=True, dimensions=0).mode
    around = cast(SliceCovariances, covariances(mode.problem.objective, mode.laplace.factor))
    steps = np.ones(6), 0.999 * np.ones(6)  # the fixed point seems a thousand steps away
    ends = [End(replace(mode.point, strength=step), np.zeros(2), around, step) for step in steps]
    assert jump(ends, around) is None
    assert jump(ends[:1], around) is None
