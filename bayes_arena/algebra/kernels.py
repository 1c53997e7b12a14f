"""Compiled loops that eliminate units one after the other, as :mod:`~bayes_arena.algebra.crossed` says.

With J_u the entries of the rows of unit u and W their curvature, the unit's part of the Hessian is the small matrix

    J_u' W J_u + residuals = [[D, B'], [B, A]],

D (q, q) of its own numbers, prior included, A (t, t) of what its votes touch. Eliminating D leaves A - B X with
X = D^-1 B'. Given the covariance C of what is left, that of (own, touched) is small again, and with it that of the
pieces of which the coordinates of a row are made.

All loops are in this file because numba's cache on disk only looks at the file of the function called.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.algebra.crossed import MIXED, OF_FACTOR, OF_LEAD
from bayes_arena.compiled import compiled, part

STRIP = 64
"""Rows of a symmetric product that are taken at once, up to its diagonal."""


@part
def invert(matrix):  # type: ignore[no-untyped-def]
    """Invert a positive definite matrix in place (Gauss-Jordan), and return the logarithm of its determinant."""
    total, size = 0.0, len(matrix)
    for p in range(size):
        pivot = matrix[p, p]
        if not pivot > 0.0:
            raise np.linalg.LinAlgError("Matrix is not positive definite.")
        total += np.log(pivot)
        matrix[p, p] = 1.0
        for c in range(size):
            matrix[p, c] /= pivot
        for r in range(size):
            if r != p:
                factor = matrix[r, p]
                matrix[r, p] = 0.0
                for c in range(size):
                    matrix[r, c] -= factor * matrix[p, c]
    return total


@compiled
def eliminate(  # type: ignore[no-untyped-def]
    start, local, entry, coordinate, sign, dimension, factor, curve, slope, products, tail_start, touched,
    touched_start, precision, n_own, dense, towards, held, inverse, inverse_start, across, across_start,
):  # fmt: skip
    """Add what every unit leaves to the lower triangle of ``dense``; return the sum of ln |D|.

    ``entry`` (rows, K) has the entries of J, ``curve`` (rows, C, C) W and ``slope`` (rows,) the gradient in eta where
    residuals count; ``products`` (rows, D - 1, 3) is curvature in the lead along every direction, in its factor, and
    in both, beyond J' W J; ``precision`` (s,) is the prior's. Where the sums of the first ``n_own`` numbers of all
    units are held, ``towards`` (d, n_own) gets sum B D^-1 E and ``held`` (n_own, n_own) sum E' D^-1 E. ``inverse`` and
    ``across`` get D^-1 and X of every unit, flat.
    """
    total = 0.0
    for u in range(len(start) - 1):
        q = tail_start[u + 1] - tail_start[u]
        places = touched[touched_start[u] : touched_start[u + 1]]
        t = len(places)
        matrix = np.zeros((q + t, q + t))
        for row in range(start[u], start[u + 1]):
            for e in range(local.shape[1]):
                a, x, c = local[row, e], entry[row, e], coordinate[e]
                if x != 0.0:
                    for f in range(local.shape[1]):
                        matrix[a, local[row, f]] += x * entry[row, f] * curve[row, c, coordinate[f]]
                d = dimension[e]
                if sign[e] != 0.0 and factor[d] >= 0:
                    b = local[row, factor[d]]
                    mixed = sign[e] * (products[row, d - 1, MIXED] if d else slope[row])
                    matrix[a, b] += mixed
                    matrix[b, a] += mixed
                    if d:
                        for f in range(local.shape[1]):
                            if dimension[f] == d:
                                matrix[a, local[row, f]] += sign[e] * sign[f] * products[row, d - 1, OF_LEAD]
            for d in range(1, len(factor)):
                b = local[row, factor[d]]
                matrix[b, b] += products[row, d - 1, OF_FACTOR]
        for p in range(q):
            matrix[p, p] += precision[tail_start[u] + p]
        for a in range(t):
            line, into = matrix[q + a], dense[places[a]]
            for b in range(a + 1):
                into[places[b]] += line[q + b]
        if q:
            inv = matrix[:q, :q].copy()
            total += invert(inv)
            inverse[inverse_start[u] : inverse_start[u + 1]] = inv.ravel()
            border = np.ascontiguousarray(matrix[:q, q:])
            solved = np.dot(inv, border)
            across[across_start[u] : across_start[u + 1]] = solved.ravel()
            turned = np.ascontiguousarray(border.T)
            for first in range(0, t, STRIP):
                last = min(first + STRIP, t)
                left = np.dot(turned[first:last], np.ascontiguousarray(solved[:, :last]))
                for a in range(first, last):
                    into = dense[places[a]]
                    for b in range(a + 1):
                        into[places[b]] -= left[a - first, b]
            for p in range(n_own):
                for r in range(n_own):
                    held[p, r] += inv[p, r]
                for a in range(t):
                    towards[places[a], p] += solved[p, a]
    return total


@compiled
def spread(  # type: ignore[no-untyped-def]
    start, local, entry, part_of, piece, weight, tail_start, touched, touched_start, covariance, moved, shared, excess,
    n_own, inverse, inverse_start, across, across_start, pieces, tail_variance, own_covariance,
):  # fmt: skip
    """Write the covariance of every row's pieces, and of the numbers that were eliminated.

    ``covariance`` (d, d) is C of what is left. Where sums are held, with G = sum B D^-1 E and T = sum E' D^-1 E,
    ``moved`` (d, n_own) is C G, ``shared`` T^-1 and ``excess`` G' C G - T; then x = -(X - F G') y + noise, y what is
    left and F = D^-1 E T^-1, and the noise has the covariance D^-1 - F T F'. Pieces are sums of entries ``part_of``
    (P,), each in its ``piece`` (P,) times its ``weight`` (P,), or times its value in J where that is zero. Written are
    the lower triangles ``pieces`` (rows, U (U + 1) / 2), the diagonal ``tail_variance`` (s,), and the blocks
    ``own_covariance`` (units, n_own, n_own).
    """
    for u in range(len(start) - 1):
        q = tail_start[u + 1] - tail_start[u]
        places = touched[touched_start[u] : touched_start[u + 1]]
        t = len(places)
        joint = np.zeros((q + t, q + t))
        for a in range(t):
            for b in range(t):
                joint[q + a, q + b] = covariance[places[a], places[b]]
        if q:
            inv = inverse[inverse_start[u] : inverse_start[u + 1]].copy().reshape((q, q))
            x = across[across_start[u] : across_start[u + 1]].copy().reshape((q, t))
            left = np.ascontiguousarray(joint[q:, q:])
            with_left = -np.dot(x, left)
            block = inv.copy()
            if n_own:
                pull = np.dot(np.ascontiguousarray(inv[:, :n_own]), shared)
                near = np.zeros((t, n_own))
                for a in range(t):
                    near[a] = moved[places[a]]
                with_left += np.dot(pull, np.ascontiguousarray(near.T))
                block += np.dot(np.dot(pull, excess) - np.dot(x, near), np.ascontiguousarray(pull.T))
            block -= np.dot(with_left, np.ascontiguousarray(x.T))
            for p in range(q):
                tail_variance[tail_start[u] + p] = block[p, p]
                for r in range(q):
                    joint[p, r] = block[p, r]
                for a in range(t):
                    joint[p, q + a] = with_left[p, a]
                    joint[q + a, p] = with_left[p, a]
            for p in range(n_own):
                for r in range(n_own):
                    own_covariance[u, p, r] = block[p, r]
        for row in range(start[u], start[u + 1]):
            for s in range(len(piece)):
                e = part_of[s]
                a, x = local[row, e], weight[s] if weight[s] != 0.0 else entry[row, e]
                for t in range(s + 1):
                    f = part_of[t]
                    y = weight[t] if weight[t] != 0.0 else entry[row, f]
                    high, low = max(piece[s], piece[t]), min(piece[s], piece[t])
                    twice = 2.0 if high == low and s != t else 1.0
                    pieces[row, high * (high + 1) // 2 + low] += twice * x * y * joint[a, local[row, f]]
