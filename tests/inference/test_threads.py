"""Threads of BLAS, and of the package's own loops."""

import math
import os

import numpy as np
import pytest
from threadpoolctl import threadpool_info

import bayes_arena as ba
from bayes_arena.algebra import units
from bayes_arena.threads import one_thread


def blas_threads() -> set[int]:
    return {found["num_threads"] for found in threadpool_info() if found["user_api"] == "blas"}


def test_blas_keeps_to_one_thread_until_the_last_has_left():
    with one_thread():
        pass  # loads SciPy's BLAS
    before, first, second = blas_threads(), one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_threads() == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


@pytest.mark.parametrize("added", [0, math.inf], ids=["added in place", "laid out"])
def test_annotators_are_eliminated_alike_on_any_number_of_cores_and_in_any_parts(monkeypatch, added):
    """What each part leaves is subtracted in the order of parts, so that the bits are those of one core."""
    votes = ba.simulate(competitors=12, annotators=300, votes=3000, seed=4).votes
    once = ba.fit(votes, method="map", model="am-davidson", robust=False)
    for name, value in {"TOGETHER": 200, "BLOCK": 1, "ADDED": added}.items():
        monkeypatch.setattr(units, name, value)
    parts = [ba.fit(votes, method="map", model="am-davidson", robust=False) for _ in range(2)]
    np.testing.assert_array_equal(*(fit.laplace.strength_variance() for fit in parts))
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    alone = ba.fit(votes, method="map", model="am-davidson", robust=False)
    np.testing.assert_array_equal(alone.laplace.strength_variance(), parts[0].laplace.strength_variance())
    np.testing.assert_allclose(once.laplace.strength_variance(), alone.laplace.strength_variance(), rtol=1e-9)
