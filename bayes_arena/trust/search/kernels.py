"""Residuals by annotator and competitor, compiled: what :mod:`~bayes_arena.trust.search.blocs` does with all of them.

Entries are those of :class:`~bayes_arena.trust.plain.ballots.Meetings`: annotator k's are ``first[k]`` to
``first[k + 1]``.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import compiled

SHORTEST = 1e-9
"""Length of a row of zeros, at most."""


@compiled
def standardise(begin, end, rows, first, at_i, at_j, score, variance, by_theta, z, even, tilted, clear, agreed):  # type: ignore[no-untyped-def]  # fmt: skip
    """Write the residuals Z of annotators ``begin`` to ``end``, less what they cannot tell and what theta explains.

    ``rows[k]`` to ``rows[k + 1]`` are an annotator's rows. ``even`` and ``tilted`` get the two directions of length one
    that are taken out, ``clear`` the squared length of the slope by theta, ``agreed`` what Z has of it.
    """
    longest = 0
    for k in range(begin, end):
        longest = max(longest, first[k + 1] - first[k])
    s, v, t = np.empty(longest), np.empty(longest), np.empty(longest)
    for k in range(begin, end):
        here, size = first[k], first[k + 1] - first[k]
        s[:size], v[:size], t[:size] = 0.0, 0.0, 0.0
        for row in range(rows[k], rows[k + 1]):
            p, q = at_i[row] - here, at_j[row] - here
            s[p] += score[row]
            s[q] -= score[row]
            v[p] += variance[row]
            v[q] += variance[row]
            t[p] += by_theta[row]
            t[q] -= by_theta[row]
        length = sloped = along = both = tilt = common = 0.0
        for p in range(size):
            root = math.sqrt(v[p] + 0.5)
            seen = v[p] > 0.0
            s[p] = s[p] / root if seen else 0.0
            t[p] = t[p] / root if seen else 0.0
            v[p] = root if seen else 0.0
            length += v[p] * v[p]
            sloped += t[p] * t[p]
            both += s[p] * t[p]
        clear[k], agreed[k] = sloped, both
        scale = 1.0 / math.sqrt(length) if length > SHORTEST**2 else 0.0
        for p in range(size):
            v[p] *= scale
            along += s[p] * v[p]
            common += t[p] * v[p]
        for p in range(size):
            s[p] -= along * v[p]
            t[p] -= common * v[p]
            tilt += t[p] * t[p]
        scale = 1.0 / math.sqrt(tilt) if tilt > SHORTEST**2 else 0.0
        along = 0.0
        for p in range(size):
            t[p] *= scale
            along += s[p] * t[p]
        for p in range(size):
            z[here + p], even[here + p], tilted[here + p] = s[p] - along * t[p], v[p], t[p]


@compiled
def flip(begin, end, first, z, even, tilted, heads, flipped):  # type: ignore[no-untyped-def]
    """Write z with other signs where ``heads`` is 1, again without the two directions and of the same length."""
    for k in range(begin, end):
        along = across = before = after = 0.0
        for p in range(first[k], first[k + 1]):
            flipped[p] = -z[p] if heads[p] else z[p]
            before += z[p] * z[p]
            along += flipped[p] * even[p]
        for p in range(first[k], first[k + 1]):
            flipped[p] -= along * even[p]
            across += flipped[p] * tilted[p]
        for p in range(first[k], first[k + 1]):
            flipped[p] -= across * tilted[p]
            after += flipped[p] * flipped[p]
        scale = math.sqrt(before / after) if after > SHORTEST**2 else 0.0
        for p in range(first[k], first[k + 1]):
            flipped[p] *= scale


@compiled
def add_grams(begin, end, first, competitor, z, fold, grams):  # type: ignore[no-untyped-def]
    """Add the products of every two of an annotator's entries to the lower triangle of the gram of their fold."""
    for k in range(begin, end):
        gram = grams[fold[k]]
        for p in range(first[k], first[k + 1]):
            value, row = z[p], gram[competitor[p]]
            for q in range(first[k], p + 1):
                row[competitor[q]] += value * z[q]
