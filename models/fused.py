"""The likelihood of all rows in one compiled pass, and its gradient in a second.

Sampling a program spends nearly all its time here. Written as a graph, the log-likelihood passes over the rows once for
every operation, forward and back. Here one Op maps parameters to the rows' log-likelihoods and their slopes in the
coordinates, another maps slopes back to the parameters: two loops over the rows, which come sorted by annotator.

Each Op *is* its graph: it carries the plain PyTensor expression, which every backend can compile and differentiate.
Only with the numba backend does a compiled loop replace the graph; tests check that the two agree. The loops compute
each row with :mod:`bayes_arena.inference.density.kernels`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.gradient import DisconnectedType, disconnected_type, grad
from pytensor.link.numba.dispatch.basic import register_funcify_and_cache_key

from bayes_arena.inference.density import kernels
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, TIE, WIN

compiled = numba.njit(fastmath={"arcp", "contract", "afn", "reassoc", "nsz"}, error_model="numpy")
"""No branch for division by zero and no fixed order of sums, either of which would prevent vectorisation."""
VERSION = sha256(b"".join(Path(file).read_bytes() for file in (__file__, kernels.__file__))).hexdigest()
"""Key of the compiled loops kept on disk."""


class _Fused(OpFromGraph):
    """A graph with a compiled loop that does the same."""

    loop: Callable[..., Any]

    def __init__(self, inputs: list[Any], outputs: list[Any], loop: Callable[..., Any], **options: Any) -> None:
        super().__init__(inputs, outputs, **options)
        self.loop = loop


@register_funcify_and_cache_key(_Fused)  # type: ignore[untyped-decorator]
def _compile(op: _Fused, **_: Any) -> tuple[Callable[..., Any], str]:
    return op.loop, sha256(f"{VERSION} {op.name}".encode()).hexdigest()


class _Rows(_Fused):
    """Maps parameters and votes to the rows' log-likelihoods, and their slopes in eta, t and m."""

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        if all(isinstance(one.type, DisconnectedType) for one in cotangents[1:]):
            strength, theta, *_, i, j, k, _ = inputs
            gradient: Any = _pull_back()(strength, theta, i, j, k, *outputs[1:], cotangents[0])
        else:  # second derivatives: by the graph
            gradient = super().pullback(inputs, outputs, cotangents)[:5]
        return [*gradient, *(disconnected_type() for _ in range(4))]


def coordinates(*given: Any) -> list[Any]:
    """Return the coordinates eta, t, m of every row from the parameters and i, j, k: the plain graph."""
    strength, theta, position, tie, bad, i, j, k = given
    eta = theta[k] * (strength[i] - strength[j]) + position[k]
    return [eta, tie[k], bad[0] + 0 * eta]


def log_likelihood(name: str, plain: Callable[[Any, list[Any]], Any], parameters: list[Any], votes: list[Any]) -> Any:
    """Return the log-likelihood of every row, in nats.

    Parameters
    ----------
    name : str
        Which of :data:`LOOPS` to use.
    plain : callable
        The same as a graph: maps counts (n_rows, 4) and the coordinates to log-likelihoods (n_rows,).
    parameters : list of TensorVariable
        r (n,); theta, b and t of every annotator (M,); m (1,).
    votes : list of TensorVariable
        i, j, k (n_rows,), fastest where sorted by k; counts (n_rows, 4).

    Returns
    -------
    TensorVariable, shape (n_rows,)
    """
    *given, counts = inputs = [pt.dvector() for _ in parameters] + [one.type() for one in votes]
    z = coordinates(*given)
    value = plain(counts, z)
    slopes: Any = grad(value.sum(), z, disconnected_inputs="ignore")
    linked = [[True] * 4] * len(parameters) + [[False] * 4] * len(votes)
    op = _Rows(inputs, [value, *slopes], _loop_over_rows(*LOOPS[name]), connection_pattern=linked, name=f"rows {name}")
    outputs: Any = op(*parameters, *votes)
    return outputs[0]


def _pull_back() -> _Fused:
    """Return the Op that maps slopes of the rows, times a cotangent, back to the parameters."""
    strength, theta, *slopes, cotangent = (pt.dvector() for _ in range(6))
    i, j, k = (pt.ivector() for _ in range(3))
    position, tie, bad = pt.zeros_like(theta), pt.zeros_like(theta), pt.zeros(1)
    parameters = [strength, theta, position, tie, bad]
    z = coordinates(*parameters, i, j, k)
    known = {one: slope * cotangent for one, slope in zip(z, slopes, strict=True)}
    gradient: Any = grad(None, parameters, known_grads=known)
    return _Fused([strength, theta, i, j, k, *slopes, cotangent], gradient, _loop_back, name="rows back")


def _loop_over_rows(prepare: Callable[..., Any], row: Callable[..., Any], third: bool) -> Callable[..., Any]:
    """Return the loop: what depends only on the annotator is computed once for each, then all rows in one sweep."""

    @compiled
    def rows(strength, theta, position, tie, bad, i, j, k, counts):  # type: ignore[no-untyped-def]
        n = len(i)
        value, by_eta, by_tie, by_bad = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
        m, mu = (bad[0], math.exp(bad[0])) if third else (0.0, 0.0)
        prepared = np.empty((len(theta), 3))
        for a in range(len(theta)):
            prepared[a] = prepare(tie[a])
        for q in range(n):
            a = k[q]
            by_eta[q] = theta[a] * (strength[i[q]] - strength[j[q]]) + position[a]
            value[q], by_tie[q], by_bad[q] = prepared[a, 0], prepared[a, 1], prepared[a, 2]
        for q in range(n):
            value[q], by_eta[q], by_tie[q], by_bad[q] = row(
                by_eta[q], value[q], by_tie[q], by_bad[q], m, mu,
                counts[q, WIN], counts[q, LOSS], counts[q, TIE], counts[q, BOTH_BAD],
            )  # fmt: skip
        return value, by_eta, by_tie, by_bad

    return rows


@compiled
def _loop_back(strength, theta, i, j, k, by_eta, by_tie, by_bad, cotangent):  # type: ignore[no-untyped-def]
    g_strength, g_theta = np.zeros(len(strength)), np.zeros(len(theta))
    g_position, g_tie, g_bad = np.zeros(len(theta)), np.zeros(len(theta)), np.zeros(1)
    theta_sum = position_sum = tie_sum = bad_sum = 0.0
    for q in range(len(i)):
        a, b, c = k[q], i[q], j[q]
        slope = by_eta[q] * cotangent[q]
        g_strength[b] += theta[a] * slope
        g_strength[c] -= theta[a] * slope
        theta_sum += (strength[b] - strength[c]) * slope
        position_sum += slope
        tie_sum += by_tie[q] * cotangent[q]
        bad_sum += by_bad[q] * cotangent[q]
        if q + 1 == len(i) or k[q + 1] != a:  # the last of a run of one annotator's rows
            g_theta[a] += theta_sum
            g_position[a] += position_sum
            g_tie[a] += tie_sum
            theta_sum = position_sum = tie_sum = 0.0
    g_bad[0] = bad_sum
    return g_strength, g_theta, g_position, g_tie, g_bad


LOOPS = {
    "half": (kernels.prepare_nothing, kernels.half, False),
    "davidson": (kernels.prepare_davidson, kernels.davidson, False),
    "both-bad": (kernels.prepare_davidson, kernels.davidson, True),
    "rao-kupper": (kernels.prepare_rao_kupper, kernels.rao_kupper, False),
}
"""What is computed for each annotator, and for each row; whether both-bad votes have a coordinate."""
