"""Threads of BLAS: limited while something small is computed, and given back."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.threads import LARGE, controller, threads_for


def sizes():
    """Return the numbers of threads that BLAS may take."""
    return [library["num_threads"] for library in controller().info()]


@pytest.fixture
def two_threads():
    with controller().limit(limits=2):
        yield [2] * len(sizes())


def test_small_matrices_have_one_thread_and_large_ones_all(two_threads):
    with threads_for(LARGE - 1):
        assert set(sizes()) == {1}
        with threads_for(LARGE):
            assert set(sizes()) == {1}  # inside a small block
    with threads_for(LARGE):
        assert sizes() == two_threads
    assert sizes() == two_threads


def test_blocks_that_overlap_in_threads_give_back_what_they_found(two_threads):
    entered, left = Event(), Event()

    def first():
        with threads_for(1):
            entered.set()
            left.wait()

    thread = Thread(target=first)
    thread.start()
    entered.wait()
    with threads_for(1):
        left.set()
        thread.join()
        assert set(sizes()) == {1}  # the first has left, and this one has not
    assert sizes() == two_threads


def test_blocks_give_back_what_they_found_after_an_error(two_threads):
    with pytest.raises(ZeroDivisionError), threads_for(1):
        1 / 0  # noqa: B018
    assert sizes() == two_threads


@pytest.mark.slow
def test_rate_in_six_threads_is_rate_to_the_last_bit():
    before = sizes()
    arenas = [
        ba.read_votes(ba.simulate(competitors=n, annotators=9, votes=900, seed=n).votes)
        for n in (6, 30, 90)
    ]
    boards = [ba.rate(votes).leaderboard for votes in arenas]
    with ThreadPoolExecutor(6) as pool:
        others = pool.map(lambda votes: ba.rate(votes).leaderboard, arenas * 6)
    for board, other in zip(boards * 6, others, strict=True):
        np.testing.assert_array_equal(
            board.select_dtypes("number"), other.select_dtypes("number")
        )
    assert sizes() == before
