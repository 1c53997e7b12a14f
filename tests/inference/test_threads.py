"""BLAS is limited to one thread while any thread of the process asks for it."""

from threadpoolctl import threadpool_info

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
