"""Compiled loops over units, and over the rows of their votes: elimination, covariances, sums.

A unit such as an annotator has a handful of numbers and touches a dozen, so that NumPy would spend most of its time on
laying matrices out. It is one file because numba's disk cache checks only the file of the called function.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.compiled import part, vectorised

FLOOR = 1e-12
"""Added to D: keeps it invertible for an annotator who saw only equal competitors."""
FEW = 8
"""Numbers of a unit up to which plain loops are faster than a call of BLAS."""


@part
def most(first, last, starts):  # type: ignore[no-untyped-def]
    """Return the largest size of some units, given where they start."""
    found = 0
    for u in range(first, last):
        found = max(found, starts[u + 1] - starts[u])
    return found


@vectorised
def eliminate(first, last, units, own, across, inverse, solutions, laid, less):  # type: ignore[no-untyped-def]
    """Write D^-1 and X of the units from the first up to the last, and return ln |D|, or NaN if some D is not positive.

    Parameters
    ----------
    units : tuple of ndarray of int
        ``Units.starts``: where units begin among numbers, touched numbers and in the flat arrays, and what they touch.
    own, across : ndarray
        D and B' of all units, flat.
    inverse, solutions : ndarray
        D^-1 and X, written.
    laid : ndarray, shape (s, d)
        Rows for the numbers of these units. With D = L L', L^-1 B' is written to them, unless there are none.
    less : ndarray, shape (d, d)
        The upper triangle of B D^-1 B' is added to it, unless it is empty.
    """
    tail_start, touched_start, inverse_start, across_start, touched = units
    most_own, most_touched, total = most(first, last, tail_start), most(first, last, touched_start), 0.0
    lower, half = np.empty((most_own, most_own)), np.empty((most_own, most_touched))
    for u in range(first, last):
        q, near = tail_start[u + 1] - tail_start[u], touched[touched_start[u] : touched_start[u + 1]]
        t, at_own, at_across = len(near), inverse_start[u], across_start[u]
        for a in range(q):
            for b in range(a + 1):
                lower[a, b] = own[at_own + a * q + b]
            lower[a, a] += FLOOR
            for j in range(t):
                half[a, j] = across[at_across + a * t + j]
        for a in range(q):
            for b in range(a + 1):
                value = lower[a, b]
                for c in range(b):
                    value -= lower[a, c] * lower[b, c]
                if b < a:
                    lower[a, b] = value / lower[b, b]
                elif value > 0:
                    lower[a, a] = np.sqrt(value)
                else:
                    return np.nan
            total += 2 * np.log(lower[a, a])
            for b in range(a):
                for j in range(t):
                    half[a, j] -= lower[a, b] * half[b, j]
            for j in range(t):
                half[a, j] /= lower[a, a]
        if len(laid):
            for a in range(q):
                for j in range(t):
                    laid[tail_start[u] - tail_start[first] + a, near[j]] = half[a, j]
        if len(less):
            for i in range(t):
                for j in range(i, t):
                    value = 0.0
                    for a in range(q):
                        value += half[a, i] * half[a, j]
                    less[near[i], near[j]] += value
        for a in range(q - 1, -1, -1):  # L' X = L^-1 B'
            for b in range(a + 1, q):
                for j in range(t):
                    half[a, j] -= lower[b, a] * half[b, j]
            for j in range(t):
                half[a, j] /= lower[a, a]
                solutions[at_across + a * t + j] = half[a, j]
        for a in range(q):  # L^-1, in the place of L
            for b in range(a):
                value = 0.0
                for c in range(b, a):
                    value -= lower[a, c] * lower[c, b]
                lower[a, b] = value / lower[a, a]
            lower[a, a] = 1.0 / lower[a, a]
        for a in range(q):
            for b in range(a + 1):
                value = 0.0
                for c in range(a, q):
                    value += lower[c, a] * lower[c, b]
                inverse[at_own + a * q + b] = inverse[at_own + b * q + a] = value
    return total


@vectorised
def add_towards(units, held, solutions, found):  # type: ignore[no-untyped-def]
    """Add G, the sums over units of what their held numbers take from what they touch, to ``found`` (d, m).

    Parameters
    ----------
    units, solutions
        As for :func:`eliminate`.
    held : ndarray of int, shape (m,)
    """
    _, touched_start, _, across_start, touched = units
    for u in range(len(touched_start) - 1):
        first, t = touched_start[u], touched_start[u + 1] - touched_start[u]
        for m in range(len(held)):
            at = across_start[u] + held[m] * t
            for j in range(t):
                found[touched[first + j], m] += solutions[at + j]


@vectorised
def join(first, last, units, inverse, solutions, left, held, shared, moved, excess, own, across):  # type: ignore[no-untyped-def]
    """Write the covariances of units, with themselves and with what they touch.

    Parameters
    ----------
    units : tuple of ndarray of int
        As for :func:`eliminate`.
    inverse, solutions : ndarray
        D^-1 and X of all units, flat.
    left : ndarray, shape (d, d)
        C, the covariance of what is left.
    held : ndarray of int, shape (m,)
    shared, moved, excess : ndarray, shapes (m, m), (d, m) and (m, m)
        T^-1, C G and G' C G - T.
    own, across : ndarray
        Covariances (q, q) and (q, t) of all units, flat, written.
    """
    tail_start, touched_start, inverse_start, across_start, touched = units
    m, most_own, most_touched = len(held), most(first, last, tail_start), most(first, last, touched_start)
    x, with_left = np.empty((most_own, most_touched)), np.empty((most_own, most_touched))
    row, near_moved = np.empty(most_touched), np.empty((m, most_touched))
    pull, beside = np.empty((most_own, m)), np.empty((most_own, m))
    for u in range(first, last):
        q, near = tail_start[u + 1] - tail_start[u], touched[touched_start[u] : touched_start[u + 1]]
        t, at_own, at_across = len(near), inverse_start[u], across_start[u]
        for a in range(q):
            for j in range(t):
                x[a, j], with_left[a, j] = solutions[at_across + a * t + j], 0.0
        if q > FEW:
            given, some = np.empty((q, t)), np.empty((t, t))
            for i in range(t):
                for j in range(t):
                    some[i, j] = left[near[i], near[j]]
            for a in range(q):
                for j in range(t):
                    given[a, j] = x[a, j]
            given = np.dot(given, some)
            for a in range(q):
                for j in range(t):
                    with_left[a, j] = -given[a, j]
        else:
            for i in range(t):
                for j in range(t):
                    row[j] = left[near[i], near[j]]
                for a in range(q):
                    for j in range(t):
                        with_left[a, j] -= x[a, i] * row[j]
        for c in range(m):
            for j in range(t):
                near_moved[c, j] = moved[near[j], c]
        for a in range(q):
            for c in range(m):
                pull[a, c] = 0.0
                for e in range(m):
                    pull[a, c] += inverse[at_own + a * q + held[e]] * shared[e, c]
            for c in range(m):
                value = 0.0
                for e in range(m):
                    value += pull[a, e] * excess[e, c]
                for j in range(t):
                    value -= x[a, j] * near_moved[c, j]
                beside[a, c] = value
                for j in range(t):
                    with_left[a, j] += pull[a, c] * near_moved[c, j]
        for a in range(q):
            for b in range(q):
                value = inverse[at_own + a * q + b]
                for c in range(m):
                    value += beside[a, c] * pull[b, c]
                for j in range(t):
                    value -= with_left[a, j] * x[b, j]
                own[at_own + a * q + b] = value
            for j in range(t):
                across[at_across + a * t + j] = with_left[a, j]


@vectorised
def add_entries(first, last, order, is_left, coordinate, entry, curve, further, extra, left, own, across):  # type: ignore[no-untyped-def]
    """Add J' W J, and further curvature, of the rows of units from the first up to the last to A, D and B'.

    Half of A is added to ``left``: A is its sum with its transpose.

    Parameters
    ----------
    order : tuple
        ``Elimination.places``: the rows by unit, where those of a unit begin, where units begin, and, by row in that
        order, the place of every entry among the numbers of its unit followed by those that it touches.
    is_left, coordinate
        As in :class:`~bayes_arena.algebra.elimination.Elimination`.
    entry, curve : ndarray, shapes (K, n_rows) and (C, C, n_rows)
        J and W.
    further : ndarray, shape (X, n_rows)
        Further curvature.
    extra : (ndarray of int, ndarray), shapes (E, 3) and (E,)
        Two entries in order, the row of ``further`` that is curvature in both, and its sign.
    left, own, across : ndarray
        A (d, d), and D and B' of all units, flat.
    """
    row, start, (tail_start, touched_start, inverse_start, across_start, touched), local = order
    (places, signs), size, wide = extra, len(is_left), len(curve)
    both, x, w, at = np.empty((size, size)), np.empty(size), np.empty((wide, wide)), np.empty(size, dtype=np.int64)
    among, of_unit = np.flatnonzero(is_left), np.flatnonzero(~is_left)
    for u in range(first, last):
        q, t = tail_start[u + 1] - tail_start[u], touched_start[u + 1] - touched_start[u]
        at_own, at_across, near = inverse_start[u], across_start[u], touched_start[u] - q
        for s in range(start[u], start[u + 1]):
            r = row[s]
            for e in range(size):
                x[e] = entry[e, r]
            for e in among:
                at[e] = touched[near + local[s, e]]
            for c in range(wide):
                for d in range(wide):
                    w[c, d] = curve[c, d, r]
            for e in range(size):
                for f in range(e, size):
                    both[e, f] = x[e] * w[coordinate[e], coordinate[f]] * x[f]
            for p in range(len(places)):
                both[places[p, 0], places[p, 1]] += signs[p] * further[places[p, 2], r]
            for g in range(len(among)):
                e = among[g]
                left[at[e], at[e]] += 0.5 * both[e, e]
                for h in range(g + 1, len(among)):
                    left[at[e], at[among[h]]] += both[e, among[h]]
            for g in range(len(of_unit)):
                e = of_unit[g]
                a = local[s, e]
                own[at_own + a * q + a] += both[e, e]
                for h in range(g + 1, len(of_unit)):
                    b, value = local[s, of_unit[h]], both[e, of_unit[h]]
                    own[at_own + a * q + b] += value
                    own[at_own + b * q + a] += value
                beside = at_across + a * t - q
                for f in among:
                    across[beside + local[s, f]] += both[min(e, f), max(e, f)]


@vectorised
def spread_rows(first, last, order, is_left, entry, parts, weights, left, own, across, pieces):  # type: ignore[no-untyped-def]
    """Add up the covariance of the pieces of the rows of units from the first up to the last.

    Parameters
    ----------
    order, is_left, entry
        As for :func:`add_entries`.
    parts, weights : ndarray of int, ndarray, shapes (E, 5) and (E,)
        Two entries in order, the piece that their covariance is a part of, whether either is multiplied by its value
        in J, and the weight.
    left, own, across : ndarray
        Covariances of what is left (d, d), and of all units, flat.
    pieces : ndarray, shape (U (U + 1) / 2, n_rows)
        Written.
    """
    row, start, (tail_start, touched_start, inverse_start, across_start, touched), local = order
    found, x = np.empty(len(pieces)), np.empty(len(is_left))
    for u in range(first, last):
        q, t = tail_start[u + 1] - tail_start[u], touched_start[u + 1] - touched_start[u]
        at_own, at_across, near = inverse_start[u], across_start[u], touched_start[u] - q
        for s in range(start[u], start[u + 1]):
            r = row[s]
            found[:] = 0.0
            for e in range(len(x)):
                x[e] = entry[e, r]
            for p in range(len(parts)):
                e, f, piece, by_e, by_f = parts[p]
                a, b, value = local[s, e], local[s, f], weights[p]
                if is_left[e] and is_left[f]:
                    value *= left[touched[near + a], touched[near + b]]
                elif is_left[f]:
                    value *= across[at_across + a * t + b - q]
                elif is_left[e]:
                    value *= across[at_across + b * t + a - q]
                else:
                    value *= own[at_own + a * q + b]
                if by_e:
                    value *= x[e]
                if by_f:
                    value *= x[f]
                found[piece] += value
            for piece in range(len(found)):
                pieces[piece, r] = found[piece]
