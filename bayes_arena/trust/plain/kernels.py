"""Who met whom, found annotator by annotator, compiled: what :mod:`~bayes_arena.trust.plain.ballots` keeps of it."""

from __future__ import annotations

import numpy as np

from bayes_arena.compiled import compiled

FEW = 50
"""Numbers that are sorted by putting each in its place."""


@compiled
def count(begin, end, rows, i, j, n, met):  # type: ignore[no-untyped-def]
    """Count whom each of the annotators ``begin`` to ``end`` met; ``rows[k]`` to ``rows[k + 1]`` are their rows."""
    last = np.full(n, -1)
    for k in range(begin, end):
        found = 0
        for row in range(rows[k], rows[k + 1]):
            for c in (i[row], j[row]):
                if last[c] != k:
                    last[c] = k
                    found += 1
        met[k] = found


@compiled
def enter(begin, end, rows, i, j, n, first, competitor, at_i, at_j):  # type: ignore[no-untyped-def]
    """Write whom they met, sorted, from ``first[k]`` on, and where each row's competitors stand there."""
    last, place = np.full(n, -1), np.empty(n, dtype=np.int64)
    for k in range(begin, end):
        found = first[k]
        for row in range(rows[k], rows[k + 1]):
            for c in (i[row], j[row]):
                if last[c] != k:
                    last[c] = k
                    competitor[found] = c
                    found += 1
        if found - first[k] > FEW:
            competitor[first[k] : found] = np.sort(competitor[first[k] : found])
        for p in range(first[k], found):
            c, q = competitor[p], p
            while q > first[k] and competitor[q - 1] > c:
                competitor[q] = competitor[q - 1]
                q -= 1
            competitor[q] = c
        for p in range(first[k], found):
            place[competitor[p]] = p
        for row in range(rows[k], rows[k + 1]):
            at_i[row], at_j[row] = place[i[row]], place[j[row]]
