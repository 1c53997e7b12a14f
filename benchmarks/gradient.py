"""What a gradient of a program costs, and what a likelihood in closed form could save.

``python benchmarks/gradient.py``: microseconds of log-density and gradient of am-Davidson on
LLMFAO, as PyTensor and numba compile it for nutpie; the same with a likelihood that is linear
in the logits, which leaves what it costs to bring parameters to the rows and gradients back;
and one loop that has the softmax and its gradient, given the logits of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numba
import numpy as np
import nutpie
from measuring import DATA, markdown, write_page

import bayes_arena as ba
from bayes_arena.models import am_davidson, data, parts

REPEATS, TIMES = 20, 100


def main() -> None:
    """Measure, and write the page."""
    votes = ba.read_votes(DATA / "llmfao.csv", prompt=False)
    rows = data(votes)
    as_it_is = program_seconds(rows)
    softmax = parts.log_likelihood
    parts.log_likelihood = linear
    without = program_seconds(rows)
    parts.log_likelihood = softmax
    loop = loop_seconds(rows.folded)
    table = [
        ["the program as it is", micro(as_it_is)],
        ["with a likelihood linear in the logits", micro(without)],
        ["so the softmax and its gradient", micro(as_it_is - without)],
        ["a loop that has them in closed form, given logits", micro(loop)],
    ]
    text = (
        f"am-Davidson on LLMFAO, {len(rows.folded):,} rows; the least of {REPEATS}.\n"
    )
    page = [text, markdown(["log-density and gradient", "CPU us"], table)]
    write_page("gradient", "A gradient of NUTS", page, "python benchmarks/gradient.py")


def program_seconds(rows: object) -> float:
    """Return the CPU seconds of a log-density and its gradient."""
    compiled = nutpie.compile_pymc_model(am_davidson.build(rows))
    function = compiled.logp_func.vm.jit_fn
    point = np.asarray(compiled.initial_point_func(0))
    held = [variable.get_value() for variable in compiled.logp_func.get_shared()]
    return least_seconds(lambda: function(point, *held))


def loop_seconds(counts: np.ndarray) -> float:
    """Return the CPU seconds of the closed form, given logits."""
    logits = np.random.default_rng(1).normal(size=counts.shape)
    gradient = np.empty_like(logits)
    return least_seconds(lambda: value_and_gradient(logits, counts, gradient))


@numba.njit(fastmath=True)
def value_and_gradient(
    logits: np.ndarray, counts: np.ndarray, gradient: np.ndarray
) -> float:
    """Return sum_o n_o l_o - n log sum_o exp(l_o) over rows, and fill in its gradient."""
    total = 0.0
    for row in range(len(logits)):
        n = 0.0
        sum_of_exponentials = 0.0
        for o in range(3):
            gradient[row, o] = np.exp(logits[row, o])
            sum_of_exponentials += gradient[row, o]
            n += counts[row, o]
            total += counts[row, o] * logits[row, o]
        total -= n * np.log(sum_of_exponentials)
        for o in range(3):
            share = gradient[row, o] / sum_of_exponentials
            gradient[row, o] = counts[row, o] - n * share
    return total


def linear(counts: object, *parameters: object) -> object:
    """Return sum_o n_o l_o."""
    logits, _, _ = parts.split(parameters)
    return sum(counts[..., o] * logit for o, logit in enumerate(logits))


def least_seconds(call: Callable[[], object]) -> float:
    """Return the CPU seconds of a call, the least of several."""
    call()
    seconds = []
    for _ in range(REPEATS):
        start = process_time()
        for _ in range(TIMES):
            call()
        seconds.append((process_time() - start) / TIMES)
    return min(seconds)


def micro(seconds: float) -> str:
    """Return seconds as microseconds."""
    return f"{1e6 * seconds:.0f}"


if __name__ == "__main__":
    main()
