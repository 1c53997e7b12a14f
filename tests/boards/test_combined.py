"""The combined board: Davidson's, moved towards am-Davidson's by Stein's rule."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.combined import (
    Gap,
    combined_standing,
    gap_between,
    widened,
)
from bayes_arena.boards.standing import standing_of
from tests.helpers import real
from tests.people.arenas import N, votes_of


def fits_of(votes, **columns):
    """Return the fits of Davidson and of am-Davidson."""
    votes = ba.read_votes(votes, **columns)
    return ba.fit(votes), ba.fit(votes, model="am-davidson")


def half_guess(seed=0, each=60):
    """Return votes of ten who follow the ranking closely, and of ten who guess."""
    sharp = votes_of(seed=seed, annotators=10, each=each)
    noise = votes_of(seed=seed + 100, annotators=10, each=each)
    outcomes = ["model_a", "model_b", "tie"]
    noise["winner"] = np.random.default_rng(seed).choice(outcomes, len(noise))
    return pd.concat([sharp, noise.assign(judge="guess " + noise["judge"])])


@pytest.fixture(scope="module")
def fits():
    return fits_of(half_guess())


@pytest.fixture(scope="module")
def gap(fits):
    return gap_between(*fits, min_votes=10)


def test_the_board_lies_between_the_two(fits, gap):
    standing, share = combined_standing(*fits)
    assert 0.3 < share <= 1
    plain = fits[0].marginals.board.value
    np.testing.assert_allclose(standing.strength, plain - share * gap.value, atol=1e-12)
    assert standing.strength.sum() == pytest.approx(0, abs=1e-9)


def test_the_gap_is_what_a_scale_does_not_explain(fits, gap):
    plain, weighted = (fit.marginals.board for fit in fits)
    assert np.sum(gap.value * weighted.value / plain.covariance.diagonal()) == (
        pytest.approx(0, abs=1e-9)
    )
    # It is a multiple of am-Davidson's board away from Davidson's.
    rest = plain.value - gap.value
    scale = rest @ weighted.value / (weighted.value @ weighted.value)
    np.testing.assert_allclose(rest, scale * weighted.value, atol=1e-9)


def test_the_share_is_steins():
    """By hand: C has the trace 4 and the largest eigenvalue 1, so c is 2."""
    C = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    gap = Gap(np.array([2.0, 0, 0, 0, -2.0]), C, C)
    assert gap.safe_covariance == pytest.approx(2)
    assert gap.share == pytest.approx(1 / 4)


def test_of_one_direction_nothing_is_safe():
    C = np.zeros((5, 5))
    C[0, 0] = 3.0
    assert Gap(np.ones(5), C, C).share == 0


def test_intervals_have_the_width_of_the_risk():
    """With a = c / |d|^2 = 1/4 the risk is 5 + (4 - 16 + 8 * 1/2) / 8 = 4."""
    C = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
    gap = Gap(np.array([2.0, 0, 0, 0, -2.0]), C, C)
    covariance = widened(np.eye(5), gap)
    assert covariance.trace() == pytest.approx(4)


def test_intervals_are_at_most_as_wide_as_davidsons(fits):
    standing, _ = combined_standing(*fits)
    covariance = standing.uncertainty.covariance
    plain = standing_of(fits[0]).uncertainty.covariance
    assert covariance.trace() <= plain.trace() * (1 + 1e-9)
    values = np.linalg.eigvalsh(covariance)
    assert values.min() > -1e-12 * values.max()
    assert standing.draws.shape[1] == N


def test_up_to_four_competitors_it_is_davidsons_board():
    votes = votes_of(annotators=10, each=80)
    few = [f"model {c:02d}" for c in range(4)]
    votes = votes[votes["model_a"].isin(few) & votes["model_b"].isin(few)]
    plain, weighted = fits_of(votes)
    standing, share = combined_standing(plain, weighted)
    assert share == 0
    np.testing.assert_allclose(standing.strength, standing_of(plain).strength)
    np.testing.assert_allclose(
        standing.uncertainty.covariance, standing_of(plain).uncertainty.covariance
    )


def test_the_origin_is_the_mean_of_those_with_a_rank():
    votes = half_guess()
    new = votes[:3].assign(model_a="newcomer", winner="model_b")
    standing, _ = combined_standing(*fits_of(pd.concat([votes, new])))
    assert len(standing.ranked) == N == len(standing.strength) - 1
    assert standing.strength[standing.ranked].mean() == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
def test_names_and_sides_decide_nothing(fits):
    votes = half_guess()
    sides = {"model_a": "model_b", "model_b": "model_a"}
    turned = votes.rename(columns=sides)
    turned["winner"] = votes["winner"].map(lambda label: sides.get(label, label))
    for side in sides:
        turned[side] = turned[side].map(lambda name: name[::-1])
    standing, share = combined_standing(*fits)
    other, other_share = combined_standing(*fits_of(turned[::-1]))
    assert other_share == pytest.approx(share, abs=1e-5)
    order = [other.competitors.index(name[::-1]) for name in standing.competitors]
    np.testing.assert_allclose(other.strength[order], standing.strength, atol=1e-5)


@pytest.mark.slow
def test_it_is_nearer_the_truth_where_half_guess():
    truth = np.linspace(1.5, -1.5, N)
    errors = np.zeros(2)
    for seed in range(12):
        plain, weighted = fits_of(half_guess(seed, each=30))
        boards = (
            plain.marginals.board.value,
            combined_standing(plain, weighted)[0].strength,
        )
        for k, board in enumerate(boards):
            # Guessers shorten the ranking of the average vote, by half or so.
            scale = board @ truth / (truth @ truth)
            errors[k] += np.sum((board - scale * truth) ** 2) / scale**2
    assert errors[1] < 0.9 * errors[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "share", "move", "columns"),
    [
        ("llmfao", 0.31, 15, {}),
        ("llmfao", 0.45, 22, {"prompt": False}),
        ("mt_bench_human", 0.0, 0, {}),
        ("mt_bench_human", 0.86, 3, {"prompt": False}),
    ],
)
def test_real_votes(name, share, move, columns):
    plain, weighted = fits_of(real(f"{name}.csv"), **columns)
    standing, found = combined_standing(plain, weighted)
    assert found == pytest.approx(share, abs=0.015)
    largest = 173.7 * np.abs(standing.strength - standing_of(plain).strength).max()
    assert largest == pytest.approx(move, abs=0.6)
    if not columns:
        assert standing.uncertainty.cluster == "prompt"
    assert np.isfinite(standing.draws).all()
