"""Spreads that maximise the Laplace evidence."""

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import in_full, panel
from scipy.linalg import block_diag, null_space

import bayes_arena as ba
from bayes_arena.inference.marginal.spreads import TOLERANCE, estimate_spreads, log_evidence
from bayes_arena.inference.mode import direction
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.likelihood.problem import Problem
from bayes_arena.paper.perturbation import perturb

MODELS = ["am-davidson", "am-elo", ba.Model("rao-kupper", "annotator", "rao-kupper", "annotator")]
NAMES = ("strength", "discrimination", "tie_spread", "position_spread")


def evidence_at(fit, **spreads):
    problem = replace(fit.mode.problem, prior=replace(fit.spreads, **spreads))
    found = log_evidence(find_mode(problem, start=fit.point))
    return found.value, found.slope


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=["am-davidson", "am-elo", "rao-kupper"])
def test_slope_by_finite_differences(arena_cells, model):
    fit = ba.fit(arena_cells, model=model, method="map")
    _, slope = evidence_at(fit)
    names = ["strength", *(term.spread for term in fit.target.own)]
    numeric = []
    for name in names:
        at = getattr(fit.spreads, name)
        up, down = (evidence_at(fit, **{name: at * np.exp(sign * 1e-3)})[0] for sign in (1, -1))
        numeric.append((up - down) / 2e-3)
    np.testing.assert_allclose(slope, numeric, rtol=2e-3, atol=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=["am-davidson", "am-elo", "rao-kupper"])
def test_the_evidence_is_highest_at_the_estimate(arena_cells, model):
    fit = ba.fit(arena_cells, model=model, method="marginal")
    best, slope = evidence_at(fit)
    assert np.abs(slope / np.sqrt(2 * 20)).max() < 3 * TOLERANCE
    for name in ("strength", "discrimination"):
        for factor in (0.7, 0.95, 1.05, 1.4):
            assert evidence_at(fit, **{name: factor * getattr(fit.spreads, name)})[0] < best


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_annotators_of_ties_only_do_not_drag_the_spreads_away(seed):
    """A fixed point that neglects how the mode moves ends at spreads of theta of 4.2 here, and of r of 0.2."""
    arena = ba.simulate(competitors=60, annotators=33, votes=6500, seed=seed)
    cells, _ = perturb(ba.read_votes(arena.votes), "equal", 0.3, seed)
    fit = ba.fit(cells)
    assert fit.spreads.discrimination == pytest.approx(0.5, abs=0.15)
    assert fit.spreads.strength == pytest.approx(arena.strength.std(), rel=0.5)


@pytest.mark.slow
def test_mirrored_annotators_whose_mode_splits_in_two():
    """At some spreads the mode splits, where the observed Hessian is singular; the spreads still settle."""
    cells = ba.read_votes(
        pl.DataFrame(
            {
                "model_a": ["x"] * 4,
                "model_b": ["y"] * 4,
                "winner": ["model_a"] * 2 + ["model_b"] * 2,
                "judge": ["p"] * 2 + ["q"] * 2,
            }
        )
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.ArenaWarning)
        fit = ba.fit(cells)
    prior = estimate_spreads(Problem(cells, fit.model, fit.prior)).problem.prior
    assert all(0.1 < getattr(prior, name) < 3 for name in NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [96, 207])
def test_camps_of_equal_size_in_few_votes(seed):
    """A first step to the corner of all spreads finds no mode (96), and the mirror mode jumps on the way (207)."""
    arena = ba.simulate(competitors=4, annotators=4, votes=24, anomalous=2, tie_propensity=0.5, seed=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.ArenaWarning)
        fit = ba.fit(ba.read_votes(arena.votes), model="am-davidson")
    assert fit.mode.gradient < 1e-4 and fit.spreads.discrimination < 3


@pytest.mark.slow
def test_the_larger_camp_says_which_end_is_up():
    """Both directions are modes, each with spreads of its own; the one with more evidence is the answer."""
    cells = panel({**{f"for-{i}": (8, 1) for i in range(3)}, **{f"against-{i}": (1, 8) for i in range(2)}})
    with pytest.warns(ba.errors.IdentificationWarning, match="contradict each other"):  # two in five, at a risk of .08
        fit = ba.fit(cells, model="am-elo", robust=False)
    assert fit.mirror_probability == pytest.approx(0.084, abs=0.01)
    assert find_mode(fit.mode.problem).mirror is not None  # so there was a choice
    assert ba.leaderboard(fit)["competitor"].tolist() == ["0", "1", "2"]
    assert (fit.discrimination > 0).tolist() == [name.startswith("for") for name in cells.annotators]


@pytest.mark.parametrize("model", MODELS, ids=["am-davidson", "am-elo", "rao-kupper"])
def test_the_evidence_has_the_determinant_of_the_hessian_on_the_plane(arena_cells, model):
    """Dense Hessians, on the plane where every sum is held, up to a constant that does not depend on the spreads."""
    fit = ba.fit(arena_cells, model=model, method="map")
    n, c, (count, width) = 6, len(fit.point.common), fit.point.own.shape
    plane = block_diag(null_space(np.ones((1, n))), np.eye(c), np.kron(null_space(np.ones((1, count))), np.eye(width)))

    def apart(strength_sd):
        target = replace(fit.target, strength_sd=strength_sd)
        _, arrow = gradient_and_hessian(target, fit.point, residuals=False)
        _, expected = np.linalg.slogdet(plane.T @ in_full(arrow) @ plane)
        return laplace_at(target, fit.point, fit.laplace.shifts, residuals=False).log_determinant - expected

    assert apart(0.2) == pytest.approx(apart(2.0), abs=1e-6)


@pytest.mark.slow
def test_a_quarter_of_many_annotators_settles_the_direction_only_if_it_is_sure(monkeypatch):
    asked = []
    whole = direction.gradient_and_hessian

    def counted(target, point):
        asked.append(target.n_annotators)
        return whole(target, point)

    monkeypatch.setattr(direction, "gradient_and_hessian", counted)
    monkeypatch.setattr(direction, "MANY_ANNOTATORS", 80)
    for anomalous, expected in ((0, [20]), (39, [20, 80])):
        votes = ba.simulate(competitors=6, annotators=80, votes=8000, anomalous=anomalous, seed=1).votes
        mode = find_mode(Problem.of(votes, "am-elo", "default"))
        found = direction.direction(mode.problem, mode.point)
        assert asked == expected
        assert (found.mirror_probability < 1e-6) == (anomalous == 0)
        asked.clear()


def test_one_in_four_against_the_others_is_enough_to_ask_which_end_is_up():
    cells = panel({**{f"for-{i}": (3, 1) for i in range(3)}, "against": (1, 3)})
    with pytest.warns(ba.errors.IdentificationWarning, match="direction of the ranking is not settled"):
        fit = ba.fit(cells, model="am-elo", method="map")
    assert fit.mirror_probability == pytest.approx(0.087, abs=0.01)
