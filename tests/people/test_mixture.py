import numpy as np
import pytest

from bayes_arena.people.mixture import two_groups


def test_two_groups_far_apart_are_told():
    rng = np.random.default_rng(0)
    x = np.append(rng.normal(0, 0.1, 20), rng.normal(2, 0.1, 6))
    ratio, is_high = two_groups(x, np.full(26, 0.1))
    assert ratio > 50
    np.testing.assert_array_equal(np.flatnonzero(is_high), np.arange(20, 26))


@pytest.mark.slow
def test_one_normal_group_is_no_worse_than_two():
    rng = np.random.default_rng(1)
    ratios = [two_groups(rng.normal(0, 1, 30), np.full(30, 0.3))[0] for _ in range(20)]
    assert min(ratios) >= 0
    assert np.mean(np.array(ratios) > 8) <= 0.1


def test_an_error_explains_a_number_far_off():
    x = np.append(np.linspace(-0.2, 0.2, 20), 2.0)
    sure, _ = two_groups(x, np.full(21, 0.1))
    unsure, _ = two_groups(x, np.append(np.full(20, 0.1), 2.0))
    assert sure > 8 > unsure


def test_unit_and_origin_decide_nothing():
    rng = np.random.default_rng(2)
    x = np.append(rng.normal(0, 0.3, 20), rng.normal(1, 0.3, 9))
    errors = rng.uniform(0.1, 0.4, 29)
    ratio, is_high = two_groups(x, errors)
    other, other_is_high = two_groups(5 - 3 * x, 3 * errors)
    assert other == pytest.approx(ratio)
    np.testing.assert_array_equal(other_is_high, ~is_high)
