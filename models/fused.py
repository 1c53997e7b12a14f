"""The likelihood of all rows in one compiled pass, and its gradient in a second.

Nearly all the time of NUTS goes into this. Written as a graph, the log-likelihood walks over the rows once for every
operation, forth and back. Here one Op takes parameters to the rows' log-likelihoods and their slopes by the
coordinates, another takes slopes back to the parameters: two loops over the rows, which come sorted by annotator.

Each Op *is* its graph: it carries the plain PyTensor expression, which every backend can compile and differentiate.
Only where the backend is numba a compiled loop takes the graph's place; tests hold the two to each other. Exponential
and logarithm are written out so that LLVM can vectorise the loop over rows, which takes a quarter of the time then.

Sources: exponential by argument reduction to |f| <= ln(2) / 2 and the Pade approximant of Moshier's Cephes library;
logarithm by the atanh series, minimax coefficients of FreeBSD's e_log.c. Both within 2 units in the last place.
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

from bayes_arena.votes.cells import BOTH_BAD, LOSS, TIE, WIN

compiled = numba.njit(fastmath={"arcp", "contract", "afn", "reassoc", "nsz"}, error_model="numpy")
"""No branch for division by zero and no fixed order of sums, either of which keeps a loop from being vectorised."""
VERSION = sha256(Path(__file__).read_bytes()).hexdigest()
"""Compiled loops are kept on disk under this."""


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
    """Parameters and votes to log-likelihoods of the rows, and their slopes by eta, t and m."""

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> list[Any]:
        if all(isinstance(one.type, DisconnectedType) for one in cotangents[1:]):
            strength, theta, *_, i, j, k, _ = inputs
            gradient: Any = _pull_back()(strength, theta, i, j, k, *outputs[1:], cotangents[0])
        else:  # second derivatives: by the graph
            gradient = super().pullback(inputs, outputs, cotangents)[:5]
        return [*gradient, *(disconnected_type() for _ in range(4))]


def coordinates(*given: Any) -> list[Any]:
    """Coordinates eta, t, m of every row from the parameters and i, j, k: the plain graph."""
    strength, theta, position, tie, bad, i, j, k = given
    eta = theta[k] * (strength[i] - strength[j]) + position[k]
    return [eta, tie[k], bad[0] + 0 * eta]


def log_likelihood(name: str, plain: Callable[[Any, list[Any]], Any], parameters: list[Any], votes: list[Any]) -> Any:
    """Log-likelihood of every row, in nats.

    Parameters
    ----------
    name : str
        Which of :data:`LOOPS` does it.
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
    """Slopes of the rows times a cotangent, back to the parameters."""
    strength, theta, *slopes, cotangent = (pt.dvector() for _ in range(6))
    i, j, k = (pt.ivector() for _ in range(3))
    position, tie, bad = pt.zeros_like(theta), pt.zeros_like(theta), pt.zeros(1)
    parameters = [strength, theta, position, tie, bad]
    z = coordinates(*parameters, i, j, k)
    known = {one: slope * cotangent for one, slope in zip(z, slopes, strict=True)}
    gradient: Any = grad(None, parameters, known_grads=known)
    return _Fused([strength, theta, i, j, k, *slopes, cotangent], gradient, _loop_back, name="rows back")


def _loop_over_rows(prepare: Callable[..., Any], row: Callable[..., Any], third: bool) -> Callable[..., Any]:
    """Return the loop: what depends on the annotator alone is computed once for each, then all rows in one sweep."""

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


@compiled
def _exp(x):  # type: ignore[no-untyped-def]
    """Exponential of x <= 0, not less than exp(-700)."""
    x = x if x > -700.0 else -700.0
    n = np.floor(x * 1.4426950408889634 + 0.5)
    f = (x - n * 0.693145751953125) - n * 1.42860682030941723212e-6
    s = f * f
    p = f * ((1.26177193074810590878e-4 * s + 3.02994407707441961300e-2) * s + 9.99999999999999999910e-1)
    q = ((3.00198505138664455042e-6 * s + 2.52448340349684104192e-3) * s + 2.27265548208155028766e-1) * s + 2.0
    return (1.0 + 2.0 * p / (q - p)) * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@compiled
def _log(x):  # type: ignore[no-untyped-def]
    """Logarithm of a positive number that is not subnormal."""
    bits = np.float64(x).view(np.int64)
    e = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = np.int64(bits - (e << 52)).view(np.float64)  # sqrt(1/2) <= m < sqrt(2)
    z = (m - 1.0) / (m + 1.0)
    s = z * z
    p = 1.818357216161805012e-1 + s * (1.531383769920937332e-1 + s * 1.479819860511658591e-1)
    p = 2.857142874366239149e-1 + s * (2.222219843214978396e-1 + s * p)
    p = s * (6.666666666666735130e-1 + s * (3.999999999940941908e-1 + s * p))
    return e * 0.6931471805599453 + z * (2.0 + p)


@compiled
def _prepare_nothing(t):  # type: ignore[no-untyped-def]
    return 0.0, 0.0, 0.0


@compiled
def _prepare_davidson(t):  # type: ignore[no-untyped-def]
    return t, math.exp(t), 0.0


@compiled
def _prepare_rao_kupper(t):  # type: ignore[no-untyped-def]
    """Return ln(exp(2 kappa) - 1), kappa, and the derivative of the first by t."""
    kappa = math.exp(t)
    remainder = -math.expm1(-2.0 * kappa)
    return 2.0 * kappa + math.log(remainder), kappa, 2.0 * kappa / remainder


@compiled
def _davidson(eta, t, nu, _, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    n, half_net, h = wins + losses + ties + bads, 0.5 * (wins - losses), 0.5 * abs(eta)
    decay = _exp(-h)
    total = 1.0 + decay * decay + (nu + mu) * decay  # of the weights, the likelier win's being 1
    share = n / total
    tilt = 0.5 * (1.0 - decay * decay) * share
    value = half_net * eta + ties * t + bads * m - n * (h + _log(total))
    return value, half_net - (tilt if eta > 0 else -tilt), ties - nu * decay * share, bads - mu * decay * share


@compiled
def _half(eta, t, nu, _, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    """Davidson's without ties, after half a tie has gone to either side."""
    return _davidson(eta, 0.0, 0.0, _, 0.0, 0.0, wins + 0.5 * ties, losses + 0.5 * ties, 0.0, 0.0)


@compiled
def _rao_kupper(eta, log_factor, kappa, slope, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    x, z = kappa - eta, kappa + eta
    decay_x, decay_z = _exp(-abs(x)), _exp(-abs(z))
    not_lost, not_won = wins + ties, losses + ties
    value = (
        ties * log_factor
        - not_lost * (max(x, 0.0) + _log(1.0 + decay_x))
        - not_won * (max(z, 0.0) + _log(1.0 + decay_z))
    )
    lost_x = not_lost * (1.0 if x > 0 else decay_x) / (1.0 + decay_x)
    lost_z = not_won * (1.0 if z > 0 else decay_z) / (1.0 + decay_z)
    return value, lost_x - lost_z, ties * slope - kappa * (lost_x + lost_z), 0.0


LOOPS = {
    "half": (_prepare_nothing, _half, False),
    "davidson": (_prepare_davidson, _davidson, False),
    "both-bad": (_prepare_davidson, _davidson, True),
    "rao-kupper": (_prepare_rao_kupper, _rao_kupper, False),
}
"""What is computed for each annotator, and for each row; whether both-bad votes have a coordinate."""
