"""Annotators integrated out, compiled: what :mod:`~bayes_arena.inference.marginal.quadrature` needs of everybody.

Given the head g (strengths r and common numbers) an annotator's votes depend on their own numbers x (theta, u, b, as
many as the model has) alone, so the marginal likelihood is a product of integrals of at most three dimensions,

    L_k(g, sigma) = int exp(-f_k(x)) dx,   f_k(x) = loss of k's votes + sum_p ((x_p - mean_p) / sigma_p)^2 / 2 + ...,

taken by Gauss-Hermite quadrature at nodes x = mode + sqrt(2) A^(-T/2) z, mode and A the minimum of f_k and its Hessian
(Liu & Pierce, 1994). With E and Cov over the normalised weights of the nodes and s = d f_k / d phi the score by
phi = (g, ln sigma),

    d(-ln L_k)/d phi = E s,        d2(-ln L_k)/d phi2 = E[d2 f_k / d phi2] - Cov s       (Louis, 1982),
    d E[x] / d g = -Cov(x, s_g).

Cov s is taken of the regression of s on x and (x - mean)^2, which loses a fraction of a percent and is a matrix of rank
2q instead of one of the number of nodes.

Rows are sorted by annotator. The row likelihoods are those of :mod:`bayes_arena.likelihood.outcomes`: eta = theta d +
shift with d the lead of a row, theta and the shift, t and m the same in all rows of an annotator.

All of it is in one file because numba's cache on disk looks at the file of the function called, and would go on with
old code after a change of a function in another one.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import compiled
from bayes_arena.votes.cells import BOTH_BAD, LOSS, TIE, WIN

HALF, DAVIDSON, RAO_KUPPER = 0, 1, 2
LOOPS = {"half": HALF, "davidson": DAVIDSON, "both-bad": DAVIDSON, "rao-kupper": RAO_KUPPER}
ROOT_TWO = math.sqrt(2.0)
MODE_STEPS = 50
MODE_DECREMENT = 1e-14
LARGE = 1e250
"""Logarithms of a product are taken before it overflows."""


@compiled
def half(theta, shift, lead, y, slope, curve):  # type: ignore[no-untyped-def]
    """Rows of half wins: return their loss; write dl/d eta (rows,) and d2l/d eta d(eta, t, m) (3, rows)."""
    value, product = 0.0, 1.0
    for a in range(len(lead)):
        eta = theta * lead[a] + shift
        n = y[a, WIN] + y[a, LOSS] + y[a, TIE] + y[a, BOTH_BAD]
        score = y[a, WIN] + 0.5 * y[a, TIE]
        decay = math.exp(-abs(eta))
        p = (1.0 if eta > 0 else decay) / (1.0 + decay)
        if n == 1.0:
            product *= 1.0 + decay
            if product > LARGE:
                value, product = value + math.log(product), 1.0
        else:
            value += n * math.log(1.0 + decay)
        value += n * max(eta, 0.0) - score * eta
        slope[a] = n * p - score
        curve[0, a] = n * p * (1.0 - p)
    return value + math.log(product)


@compiled
def davidson(theta, shift, t, m, lead, y, slope, curve, common):  # type: ignore[no-untyped-def]
    """Rows with ties as an outcome; ``common`` gets the sums of dl/dt, dl/dm, d2l/dt2, d2l/dt dm and d2l/dm2."""
    value, product = 0.0, 1.0
    nu, mu = math.exp(t), math.exp(m)
    common[:] = 0.0
    for a in range(len(lead)):
        eta = theta * lead[a] + shift
        n = y[a, WIN] + y[a, LOSS] + y[a, TIE] + y[a, BOTH_BAD]
        root = math.exp(-0.5 * abs(eta))
        weak = root * root
        tie, bad = nu * root, mu * root
        total = 1.0 + weak + tie + bad
        if n == 1.0:
            product *= total
            if product > LARGE:
                value, product = value + math.log(product), 1.0
        else:
            value += n * math.log(total)
        value += 0.5 * n * abs(eta) - 0.5 * (y[a, WIN] - y[a, LOSS]) * eta - y[a, TIE] * t
        scale = 1.0 / total
        tie, bad, half_net = tie * scale, bad * scale, (0.5 if eta > 0 else -0.5) * (1.0 - weak) * scale
        slope[a] = n * half_net - 0.5 * (y[a, WIN] - y[a, LOSS])
        curve[0, a] = n * (0.25 * (1.0 - tie - bad) - half_net * half_net)
        curve[1, a] = -n * half_net * tie
        common[0] += n * tie - y[a, TIE]
        common[2] += n * tie * (1.0 - tie)
        if mu > 0.0:
            value -= y[a, BOTH_BAD] * m
            curve[2, a] = -n * half_net * bad
            common[1] += n * bad - y[a, BOTH_BAD]
            common[3] -= n * tie * bad
            common[4] += n * bad * (1.0 - bad)
    return value + math.log(product)


@compiled
def rao_kupper(theta, shift, t, lead, y, slope, curve, common):  # type: ignore[no-untyped-def]
    """Rows with ties inside a threshold exp(t); ``common`` as for :func:`davidson`."""
    value = 0.0
    kappa = math.exp(t)
    remainder = -math.expm1(-2.0 * kappa)
    log_tie = 2.0 * kappa + math.log(remainder)
    common[:] = 0.0
    for a in range(len(lead)):
        eta = theta * lead[a] + shift
        not_lost, not_won, ties = y[a, WIN] + y[a, TIE], y[a, LOSS] + y[a, TIE], y[a, TIE]
        log_p, log_q = _log_expit(eta - kappa), _log_expit(-eta - kappa)
        p, q = math.exp(log_p), math.exp(log_q)
        value -= not_lost * log_p + not_won * log_q + ties * log_tie
        by_kappa = not_lost * (1.0 - p) + not_won * (1.0 - q) - 2.0 * ties / remainder
        curve_p, curve_q = not_lost * p * (1.0 - p), not_won * q * (1.0 - q)
        twice = curve_p + curve_q + 4.0 * ties * math.exp(-2.0 * kappa) / (remainder * remainder)
        slope[a] = not_won * (1.0 - q) - not_lost * (1.0 - p)
        curve[0, a] = curve_p + curve_q
        curve[1, a] = kappa * (curve_q - curve_p)
        common[0] += kappa * by_kappa
        common[2] += kappa * (kappa * twice + by_kappa)
    return value


@compiled
def _log_expit(x):  # type: ignore[no-untyped-def]
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


@compiled
def _rows(kind, x, own, base, lead, y, slope, curve, common, where):  # type: ignore[no-untyped-def]
    """Loss of an annotator's rows at own numbers x; ``where`` gets (theta, shift, t, m)."""
    where[0], where[1], where[2], where[3] = 1.0, base[0], base[1], base[2]
    for p in range(len(own)):
        if own[p] < 0:
            where[0] = x[p]
        else:
            where[1 + own[p]] += x[p]
    if kind == HALF:
        return half(where[0], where[1], lead, y, slope, curve)
    if kind == DAVIDSON:
        return davidson(where[0], where[1], where[2], where[3], lead, y, slope, curve, common)
    return rao_kupper(where[0], where[1], where[2], lead, y, slope, curve, common)


@compiled
def _moments(lead, slope, curve, common, first, second):  # type: ignore[no-untyped-def]
    """Sum the derivatives over rows: by (theta, eta, t, m) in ``first`` (4,) and ``second`` (4, 4)."""
    first[:] = 0.0
    second[:] = 0.0
    for a in range(len(lead)):
        d, h = lead[a], curve[0, a]
        first[0] += d * slope[a]
        first[1] += slope[a]
        second[0, 0] += d * d * h
        second[0, 1] += d * h
        second[1, 1] += h
        second[0, 2] += d * curve[1, a]
        second[1, 2] += curve[1, a]
        second[0, 3] += d * curve[2, a]
        second[1, 3] += curve[2, a]
    first[2], first[3] = common[0], common[1]
    second[2, 2], second[2, 3], second[3, 3] = common[2], common[3], common[4]
    for s in range(4):
        for t in range(s):
            second[s, t] = second[t, s]


@compiled
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Copy numbers one by one: compiling ``target[:] = source`` takes seconds, for the text of an error."""
    for s in range(len(source)):
        target[s] = source[s]


@compiled
def _cholesky(a, lower):  # type: ignore[no-untyped-def]
    """Write the lower Cholesky factor of a small matrix; return whether it is positive definite."""
    for s in range(len(a)):
        for t in range(s + 1):
            rest = a[s, t]
            for u in range(t):
                rest -= lower[s, u] * lower[t, u]
            if s > t:
                lower[s, t] = rest / lower[t, t]
            elif rest > 0.0:
                lower[s, s] = math.sqrt(rest)
            else:
                return False
    return True


@compiled
def _solve_lower(lower, x):  # type: ignore[no-untyped-def]
    """Solve L y = x in place."""
    for s in range(len(x)):
        for u in range(s):
            x[s] -= lower[s, u] * x[u]
        x[s] /= lower[s, s]


@compiled
def _solve_upper(lower, x):  # type: ignore[no-untyped-def]
    """Solve L' y = x in place."""
    for s in range(len(x) - 1, -1, -1):
        for u in range(s + 1, len(x)):
            x[s] -= lower[u, s] * x[u]
        x[s] /= lower[s, s]


@compiled
def _mode(kind, x, own, base, lead, y, mean, sd, slope, curve, common, where, first, second, lower):  # type: ignore[no-untyped-def]
    """Move x to the minimum of f_k by damped Newton; return the value and leave the Cholesky factor of the Hessian."""
    q = len(own)
    hessian, step, trial = np.empty((q, q)), np.empty(q), np.empty(q)
    value = _rows(kind, x, own, base, lead, y, slope, curve, common, where)
    for p in range(q):
        value += 0.5 * ((x[p] - mean[p]) / sd[p]) ** 2
    gradient = np.empty(q)
    for _ in range(MODE_STEPS):
        _moments(lead, slope, curve, common, first, second)
        for p in range(q):
            c = 0 if own[p] < 0 else 1 + own[p]
            gradient[p] = first[c] + (x[p] - mean[p]) / (sd[p] * sd[p])
            for s in range(q):
                hessian[p, s] = second[c, 0 if own[s] < 0 else 1 + own[s]]
            hessian[p, p] += 1.0 / (sd[p] * sd[p])
        if not _cholesky(hessian, lower):  # not convex here (Rao-Kupper): downhill in the prior's metric
            for p in range(q):
                for s in range(q):
                    lower[p, s] = 1.0 / sd[p] if s == p else 0.0
        decrement = 0.0
        _copy(gradient, step)
        _solve_lower(lower, step)
        _solve_upper(lower, step)
        for p in range(q):
            decrement += step[p] * gradient[p]
        if decrement < MODE_DECREMENT * (1.0 + abs(value)):
            break
        length = 1.0
        while length > 1e-8:
            for p in range(q):
                trial[p] = x[p] - length * step[p]
            moved = _rows(kind, trial, own, base, lead, y, slope, curve, common, where)
            for p in range(q):
                moved += 0.5 * ((trial[p] - mean[p]) / sd[p]) ** 2
            if moved <= value + 1e-12 * (1.0 + abs(value)):
                break
            length *= 0.5
        _copy(trial, x)
        value = moved
    return value


@compiled
def met(start, i, j, n):  # type: ignore[no-untyped-def]
    """Count the competitors that every annotator met, shape (M,), given the rows of :func:`integrate`."""
    count, last = np.zeros(len(start) - 1, dtype=np.int64), np.full(n, -1)
    for k in range(len(count)):
        for a in range(start[k], start[k + 1]):
            for c in (i[a], j[a]):
                if last[c] != k:
                    last[c] = k
                    count[k] += 1
    return count


@compiled
def integrate(  # type: ignore[no-untyped-def]
    kind,
    first_k,
    last_k,
    start,
    i,
    j,
    counts,
    r,
    base,
    mean,
    sd,
    own,
    grids,
    modes,
    gradient,
    information,
    posterior_mean,
    posterior_cov,
    entered,
    border_start,
    border_column,
    border,
):
    """Integrate annotators ``first_k`` to ``last_k`` out.

    Parameters
    ----------
    kind : int
        Likelihood of the rows.
    first_k, last_k, start
        Annotators, and the first row of every annotator (M + 1,).
    i, j, counts
        Competitors (n_rows,) and counts (n_rows, 4), sorted by annotator.
    r, base
        Strengths (n,), and what all annotators have in common of (eta, t, m).
    mean, sd, own
        Prior mean and spread of every own number, and its coordinate (-1: theta), each (q,).
    grids
        Gauss-Hermite nodes: z and ln(weight) + |z|^2 of the finer grid, the same of the coarser one, and the number of
        rows from which the coarser one serves.
    modes : (M, q)
        Start of the conditional modes; overwritten by them.
    gradient, information : (n + 3 + q,), (n + 3 + q, n + 3 + q)
        Added to: derivatives of minus the log marginal likelihood by r, the common part of (eta, t, m), and ln sd.
    posterior_mean, posterior_cov : (M, q), (M, q, q)
        Written: E x and Cov x.
    entered : (c,)
        Which of (eta, t, m) the common numbers enter.
    border_start, border_column, border : (M + 1,), (e,) and (e, q), or the last two empty
        Written if wanted: Cov(s, x) (Cov x)^-1 for the competitors that an annotator met, and then for the common
        numbers (:class:`~bayes_arena.likelihood.algebra.sparse.border.Border`).

    Returns
    -------
    float
        Sum of -ln L_k over the annotators.
    """
    n, q = len(r), len(own)
    size = n + 3 + q
    first, second, lower = np.zeros(4), np.zeros((4, 4)), np.zeros((q, q))
    common, where = np.zeros(5), np.zeros(4)
    mean_score, cross = np.zeros(size), np.zeros((size, 2 * q))
    gap, at, basis, regression = np.zeros(q), np.zeros(q), np.zeros(2 * q), np.zeros(2 * q)
    spread_lower = np.zeros((2 * q, 2 * q))
    slot, touched = np.full(n, -1), np.zeros(size, dtype=np.int64)
    value = 0.0
    for k in range(first_k, last_k):
        lo, hi = start[k], start[k + 1]
        rows = hi - lo
        lead, left, right = np.empty(rows), np.empty(rows, dtype=np.int64), np.empty(rows, dtype=np.int64)
        n_touched = 0
        for a in range(rows):
            lead[a] = r[i[lo + a]] - r[j[lo + a]]
            for c in (i[lo + a], j[lo + a]):
                if slot[c] < 0:
                    slot[c] = n_touched
                    touched[n_touched] = c
                    n_touched += 1
            left[a], right[a] = slot[i[lo + a]], slot[j[lo + a]]
        for s in range(n_touched):
            slot[touched[s]] = -1
        for s in range(3 + q):
            touched[n_touched + s] = n + s
        width = n_touched + 3 + q
        y = counts[lo:hi]
        slope, curve = np.zeros(rows), np.zeros((3, rows))
        x = modes[k].copy()
        lowest = _mode(kind, x, own, base, lead, y, mean, sd, slope, curve, common, where, first, second, lower)
        _copy(x, modes[k])
        log_scale = -0.5 * q * math.log(math.pi)
        for p in range(q):
            log_scale -= math.log(lower[p, p] * sd[p])
        nodes, log_weights = (grids[0], grids[1]) if rows < grids[4] else (grids[2], grids[3])
        total = 0.0
        mean_score[:width] = 0.0
        cross[:width] = 0.0
        center, spread = np.zeros(2 * q), np.zeros((2 * q, 2 * q))
        pulls, curves, shared = np.zeros((1 + 2 * q, rows)), np.zeros((4, rows)), np.zeros((4, 4))
        for node in range(len(nodes)):
            for p in range(q):
                gap[p] = ROOT_TWO * nodes[node, p]
            _solve_upper(lower, gap)
            for p in range(q):
                at[p] = x[p] + gap[p]
            f = _rows(kind, at, own, base, lead, y, slope, curve, common, where)
            for p in range(q):
                f += 0.5 * ((at[p] - mean[p]) / sd[p]) ** 2
            w = math.exp(log_weights[node] - (f - lowest))
            total += w
            _moments(lead, slope, curve, common, first, second)
            for s in range(4):
                for t in range(4):
                    shared[s, t] += w * second[s, t]
            for p in range(q):
                basis[p] = gap[p]
                basis[q + p] = ((at[p] - mean[p]) / sd[p]) ** 2
            once = w * where[0]
            twice = once * where[0]
            for a in range(rows):
                pulls[0, a] += once * slope[a]
                curves[0, a] += twice * curve[0, a]
                curves[1, a] += once * curve[0, a]
                curves[2, a] += once * curve[1, a]
                curves[3, a] += once * curve[2, a]
            for p in range(2 * q):
                pull = once * basis[p]
                for a in range(rows):
                    pulls[1 + p, a] += pull * slope[a]
                center[p] += w * basis[p]
                for t in range(p + 1):
                    spread[p, t] += w * basis[p] * basis[t]
            for s in range(3 + q):
                score = w * (first[1 + s] if s < 3 else 1.0 - basis[q + s - 3])
                mean_score[n_touched + s] += score
                for p in range(2 * q):
                    cross[n_touched + s, p] += score * basis[p]
        value += lowest - math.log(total) - log_scale
        for a in range(rows):
            mean_score[left[a]] += pulls[0, a]
            mean_score[right[a]] -= pulls[0, a]
            for p in range(2 * q):
                cross[left[a], p] += pulls[1 + p, a]
                cross[right[a], p] -= pulls[1 + p, a]
        for p in range(2 * q):
            center[p] /= total
            for t in range(p + 1):
                spread[p, t] = spread[p, t] / total - center[p] * center[t]
                spread[t, p] = spread[p, t]
        for p in range(q):
            posterior_mean[k, p] = x[p] + center[p]
            information[n + 3 + p, n + 3 + p] += 2.0 * center[q + p]
            for t in range(q):
                posterior_cov[k, p, t] = spread[p, t]
        for s in range(width):
            mean_score[s] /= total
            for p in range(2 * q):
                cross[s, p] = cross[s, p] / total - mean_score[s] * center[p]
        _cholesky(spread, spread_lower)
        for s in range(width):
            row = touched[s]
            gradient[row] += mean_score[s]
            _copy(cross[s], regression)
            _solve_lower(spread_lower, regression)
            _solve_upper(spread_lower, regression)
            for t in range(s + 1):
                covariance = 0.0
                for p in range(2 * q):
                    covariance += regression[p] * cross[t, p]
                information[row, touched[t]] -= covariance
                if s != t:
                    information[touched[t], row] -= covariance
        if len(border):
            for s in range(n_touched + len(entered)):
                at_head = s if s < n_touched else n_touched + entered[s - n_touched]
                at_border = border_start[k] + s
                border_column[at_border] = touched[s] if s < n_touched else n + s - n_touched
                for p in range(q):
                    border[at_border, p] = cross[at_head, p]
                _solve_lower(spread_lower, border[at_border])  # whose corner is the factor of Cov x
                _solve_upper(spread_lower, border[at_border])
        for a in range(rows):
            u, v = i[lo + a], j[lo + a]
            w = curves[0, a] / total
            information[u, u] += w
            information[v, v] += w
            information[u, v] -= w
            information[v, u] -= w
            for s in range(3):
                w = curves[1 + s, a] / total
                information[u, n + s] += w
                information[n + s, u] += w
                information[v, n + s] -= w
                information[n + s, v] -= w
        for s in range(3):
            for t in range(3):
                information[n + s, n + t] += shared[1 + s, 1 + t] / total
    return value
