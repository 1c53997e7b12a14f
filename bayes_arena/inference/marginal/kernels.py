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
shift with d the lead of a row, theta and the shift, t and m the same in all rows of an annotator. They are taken at all
nodes of an annotator at once, row by row, in loops over the nodes that the compiler turns into vector instructions: so
no branch is in them and no call, and each writes to few arrays, which the compiler has to see do not overlap.

All of it is in one file because numba's cache on disk looks at the file of the function called, and would go on with
old code after a change of a function in another one.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import part, vectorised
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, TIE, WIN

HALF, DAVIDSON, RAO_KUPPER = 0, 1, 2
LOOPS = {"half": HALF, "davidson": DAVIDSON, "both-bad": DAVIDSON, "rao-kupper": RAO_KUPPER}
LARGEST_Q = 3
"""Numbers of an annotator at most: theta, u, b."""
ROOT_TWO = math.sqrt(2.0)
MODE_STEPS = 50
NEAR = 1e-6
"""Half the squared Newton decrement of an annotator, in nats, from which a last step is as good as the mode."""
FAR = 600.0
"""A product of shares, of which -ln is a loss, does not underflow before it is exp(-FAR)."""
IN_PRODUCT = 64
"""Rows of an annotator, taken at the same numbers, whose shares are multiplied before the logarithm is taken."""
LANES = 8
"""Numbers that a vector instruction takes at once: rows and nodes come in multiples of so many."""
ROWS_AT_ONCE = 256
"""Rows of an annotator whose terms are kept; of more of them they are taken again where they are needed again."""
INVERSE_LN_2, LN_2 = 1.0 / math.log(2.0), math.log(2.0)
THETA, SHIFT, T, M, VALUE, BY_ETA, BY_T, BY_M, BY_TT, BY_TM, BY_MM = range(11)
"""Rows of what is kept by node: coordinates, loss of the votes, and its derivatives by eta, t and m."""
NU, MU, BOTH, SHARE, HALF_NET, PRODUCT, SHARES, SQUARES = range(11, 19)
"""Further rows: exp t, exp m and their sum, and room to work in."""
NODE_ROWS = 19
SLOPE, CURVE, CROSS = range(3)
"""What is kept by row and node: dl/d eta, d2l/d eta2, and d2l/d eta d(t, m) divided by (nu, mu)."""
ONCE, TWICE, LEAD, BASIS = range(4)
"""Rows of the weights of nodes: w, w theta^2, w theta, and from the last on w theta times x and (x - mean)^2."""
BY_LEAD, BY_SHIFT, TIES, BADS = range(4)
"""What the loss of an annotator is linear in: half the net wins times the lead, and alone, ties, votes for neither."""


@part
def _shares(eta, both):  # type: ignore[no-untyped-def]
    """Return what nu and mu are multiplied by to have P(tie) and P(both bad), and (P(win) - P(loss)) / 2.

    Both come from root = exp(-|eta| / 2) = 2^k A / B with A / B Pade's approximant [5/5] of exp within ln(2) / 2 of
    zero, to 1e-15: no branch, no call and one division, so that loops of it vectorise.
    """
    x = max(-0.5 * abs(eta), -700.0)
    k = np.int32(x * INVERSE_LN_2 - 0.5)
    rest = x - k * LN_2
    square = rest * rest
    even, odd = 30240.0 + square * (3360.0 + 30.0 * square), rest * (15120.0 + square * (420.0 + square))
    above, below = (even + odd) * np.int64((np.int64(k) + 1023) << 52).view(np.float64), even - odd
    product, weak, strong = above * below, above * above, below * below
    scale = 1.0 / (strong + weak + both * product)
    return product * scale, math.copysign(0.5, eta) * (strong - weak) * scale


@part
def _alone(eta, both, n):  # type: ignore[no-untyped-def]
    """Return -n ln(share) of votes whose share is in no product."""
    root = math.exp(-0.5 * abs(eta))
    return n * (0.5 * abs(eta) + math.log(1.0 + root * root + both * root))


@part
def _take_off(totals, at):  # type: ignore[no-untyped-def]
    """Take what is linear off -ln(share) of all votes: half the net wins' eta, t of ties, m of votes for neither."""
    for v in range(at.shape[1]):
        at[VALUE, v] -= totals[BY_LEAD] * at[THETA, v] + totals[BY_SHIFT] * at[SHIFT, v]
    for v in range(at.shape[1]):
        at[VALUE, v] -= totals[TIES] * at[T, v] + totals[BADS] * at[M, v]
    for v in range(at.shape[1]):
        at[BY_T, v] -= totals[TIES]
        at[BY_M, v] -= totals[BADS]


@part
def davidson(lead, n, half, head, tail, terms, at):  # type: ignore[no-untyped-def]
    """Rows ``head`` to ``tail`` with ties as an outcome, or of half wins: fill ``terms``, add to what ``at`` sums."""
    size, steepest, widest, likeliest, reached = at.shape[1], 0.0, 0.0, 0.0, 0.0
    for v in range(size):
        steepest, widest = max(steepest, abs(at[THETA, v])), max(widest, abs(at[SHIFT, v]))
        likeliest = max(likeliest, at[BOTH, v])
        at[PRODUCT, v], at[SHARES, v], at[SQUARES, v] = 1.0, 0.0, 0.0
    flattest = math.log(2.0 + likeliest)
    for row in range(head, tail):
        d, votes, net, a = lead[row], n[row], half[row], row - head
        for v in range(size):
            at[SHARE, v], at[HALF_NET, v] = _shares(at[THETA, v] * d + at[SHIFT, v], at[BOTH, v])
        reach = 0.5 * (abs(d) * steepest + widest) + flattest
        single = votes == 1.0 and reach < FAR
        if single:
            reached += reach
            if reached > FAR:
                reached = reach
                for v in range(size):
                    at[VALUE, v] -= math.log(at[PRODUCT, v])
                    at[PRODUCT, v] = 1.0
        else:
            for v in range(size):
                at[VALUE, v] += _alone(at[THETA, v] * d + at[SHIFT, v], at[BOTH, v], votes)
        for v in range(size):
            square = at[HALF_NET, v] * at[HALF_NET, v]
            terms[a, CURVE, v] = votes * (0.25 - 0.25 * at[BOTH, v] * at[SHARE, v] - square)
            at[PRODUCT, v] *= at[SHARE, v] if single else 1.0
        for v in range(size):
            slope = votes * at[HALF_NET, v] - net
            terms[a, SLOPE, v] = slope
            at[BY_ETA, v] += slope
        for v in range(size):
            share = votes * at[SHARE, v]
            terms[a, CROSS, v] = -at[HALF_NET, v] * share
            at[SHARES, v] += share
        for v in range(size):
            at[SQUARES, v] += votes * at[SHARE, v] * at[SHARE, v]
    for v in range(size):
        at[VALUE, v] -= math.log(at[PRODUCT, v])
        at[BY_T, v] += at[NU, v] * at[SHARES, v]
        at[BY_M, v] += at[MU, v] * at[SHARES, v]
        at[BY_TT, v] += at[NU, v] * (at[SHARES, v] - at[NU, v] * at[SQUARES, v])
        at[BY_TM, v] -= at[NU, v] * at[MU, v] * at[SQUARES, v]
        at[BY_MM, v] += at[MU, v] * (at[SHARES, v] - at[MU, v] * at[SQUARES, v])


@part
def _davidson_once(lead, n, half, totals, at, first, second):  # type: ignore[no-untyped-def]
    """Take the same at one node, in loops over the rows, and write the derivatives by (theta, eta, t, m)."""
    theta, shift, nu, mu, both = at[THETA, 0], at[SHIFT, 0], at[NU, 0], at[MU, 0], at[BOTH, 0]
    furthest, value, size = 0.0, 0.0, len(lead)
    for a in range(size):
        furthest = max(furthest, abs(lead[a]))
    far = IN_PRODUCT * (0.5 * (furthest * abs(theta) + abs(shift)) + math.log(2.0 + both)) > FAR
    by_theta, by_eta, theta_theta, theta_eta, eta_eta = 0.0, 0.0, 0.0, 0.0, 0.0
    by_lead, by_shift, shares, squares = 0.0, 0.0, 0.0, 0.0
    for head in range(0, size, IN_PRODUCT):
        product = 1.0
        for a in range(head, min(head + IN_PRODUCT, size)):
            d, votes = lead[a], n[a]
            share, half_net = _shares(theta * d + shift, both)
            product *= share if votes == 1.0 else 1.0
            slope, cross = votes * half_net - half[a], votes * half_net * share
            curve = votes * (0.25 - 0.25 * both * share - half_net * half_net)
            by_theta += d * slope
            by_eta += slope
            theta_theta += d * d * curve
            theta_eta += d * curve
            eta_eta += curve
            by_lead -= d * cross
            by_shift -= cross
            shares += votes * share
            squares += votes * share * share
        if not far:
            value -= math.log(product)
    for a in range(size):
        if n[a] > 0.0 and (far or n[a] != 1.0):
            value += _alone(theta * lead[a] + shift, both, n[a])
    first[0], first[1], first[2], first[3] = by_theta, by_eta, nu * shares - totals[TIES], mu * shares - totals[BADS]
    second[0, 0], second[0, 1], second[0, 2], second[0, 3] = theta_theta, theta_eta, nu * by_lead, mu * by_lead
    second[1, 1], second[1, 2], second[1, 3] = eta_eta, nu * by_shift, mu * by_shift
    second[2, 2], second[2, 3] = nu * (shares - nu * squares), -nu * mu * squares
    second[3, 3] = mu * (shares - mu * squares)
    value -= totals[BY_LEAD] * theta + totals[BY_SHIFT] * shift
    return value - totals[TIES] * at[T, 0] - totals[BADS] * at[M, 0]


@part
def rao_kupper(lead, y, head, tail, terms, at):  # type: ignore[no-untyped-def]
    """Rows ``head`` to ``tail`` with ties inside a threshold exp(t)."""
    for v in range(at.shape[1]):
        kappa = math.exp(at[T, v])
        remainder = -math.expm1(-2.0 * kappa)
        log_tie = 2.0 * kappa + math.log(remainder)
        for row in range(head, tail):
            a, eta = row - head, at[THETA, v] * lead[row] + at[SHIFT, v]
            not_lost, not_won, ties = y[WIN, row] + y[TIE, row], y[LOSS, row] + y[TIE, row], y[TIE, row]
            log_p, log_q = _log_expit(eta - kappa), _log_expit(-eta - kappa)
            p, q = math.exp(log_p), math.exp(log_q)
            by_kappa = not_lost * (1.0 - p) + not_won * (1.0 - q) - 2.0 * ties / remainder
            curve_p, curve_q = not_lost * p * (1.0 - p), not_won * q * (1.0 - q)
            twice = curve_p + curve_q + 4.0 * ties * math.exp(-2.0 * kappa) / (remainder * remainder)
            terms[a, SLOPE, v] = not_won * (1.0 - q) - not_lost * (1.0 - p)
            terms[a, CURVE, v] = curve_p + curve_q
            terms[a, CROSS, v] = curve_q - curve_p
            at[VALUE, v] -= not_lost * log_p + not_won * log_q + ties * log_tie
            at[BY_ETA, v] += terms[a, SLOPE, v]
            at[BY_T, v] += kappa * by_kappa
            at[BY_TT, v] += kappa * (kappa * twice + by_kappa)


@part
def _log_expit(x):  # type: ignore[no-untyped-def]
    return -math.log1p(math.exp(-x)) if x > 0 else x - math.log1p(math.exp(x))


@part
def _rao_kupper_once(lead, y, terms, at, first, second):  # type: ignore[no-untyped-def]
    """Take the same at one node, and write the derivatives by (theta, eta, t, m)."""
    rao_kupper(lead, y, np.int64(0), y.shape[1], terms, at)
    first[0], first[1], first[2], first[3] = 0.0, at[BY_ETA, 0], at[BY_T, 0], 0.0
    second[:] = 0.0
    for a in range(y.shape[1]):
        d, curve, cross = lead[a], terms[a, CURVE, 0], at[NU, 0] * terms[a, CROSS, 0]
        first[0] += d * terms[a, SLOPE, 0]
        second[0, 0] += d * d * curve
        second[0, 1] += d * curve
        second[0, 2] += d * cross
        second[1, 1] += curve
        second[1, 2] += cross
    second[2, 2] = at[BY_TT, 0]
    return at[VALUE, 0]


@part
def _place(kind, x, own, base, at):  # type: ignore[no-untyped-def]
    """Write the coordinates of own numbers x (q, nodes), with nothing added up yet."""
    for v in range(x.shape[1]):
        for s in range(4):
            at[THETA + s, v] = base[s]
        for s in range(VALUE, BY_MM + 1):
            at[s, v] = 0.0
        for p in range(len(own)):
            at[SHIFT + own[p], v] += x[p, v]
        at[NU, v] = 0.0 if kind == HALF else math.exp(at[T, v])
        at[MU, v] = 0.0 if kind == HALF else math.exp(at[M, v])
        at[BOTH, v] = at[NU, v] + at[MU, v]


@part
def _once(kind, lead, n, half, y, totals, terms, at, first, second):  # type: ignore[no-untyped-def]
    """Return the loss of an annotator's votes at one node, and write its derivatives by (theta, eta, t, m)."""
    if kind == RAO_KUPPER:
        return _rao_kupper_once(lead, y, terms, at, first, second)
    return _davidson_once(lead, n, half, totals, at, first, second)


@part
def _prior(x, mean, sd):  # type: ignore[no-untyped-def]
    value = 0.0
    for p in range(len(mean)):
        scaled = (x[p, 0] - mean[p]) / sd[p]
        value += 0.5 * scaled * scaled
    return value


@part
def _copy(source, target):  # type: ignore[no-untyped-def]
    """Copy numbers one by one: compiling ``target[:] = source`` takes seconds, for the text of an error."""
    for s in range(len(source)):
        target[s] = source[s]


@part
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


@part
def _solve_lower(lower, x):  # type: ignore[no-untyped-def]
    """Solve L y = x in place."""
    for s in range(len(x)):
        for u in range(s):
            x[s] -= lower[s, u] * x[u]
        x[s] /= lower[s, s]


@part
def _solve_upper(lower, x):  # type: ignore[no-untyped-def]
    """Solve L' y = x in place."""
    for s in range(len(x) - 1, -1, -1):
        for u in range(s + 1, len(x)):
            x[s] -= lower[u, s] * x[u]
        x[s] /= lower[s, s]


@part
def _invert_lower(lower, inverse):  # type: ignore[no-untyped-def]
    """Write the lower triangle of the inverse of L."""
    for s in range(len(lower)):
        inverse[s, s] = 1.0 / lower[s, s]
        for t in range(s):
            rest = 0.0
            for u in range(t, s):
                rest -= lower[s, u] * inverse[u, t]
            inverse[s, t] = rest * inverse[s, s]


@part
def _mode(kind, x, own, base, mean, sd, lead, n, half, y, totals, terms, at, lower, room):  # type: ignore[no-untyped-def]
    """Move x (q, 1) to the minimum of f_k by damped Newton; return the value and leave the factor of the Hessian."""
    q = len(own)
    first, second, hessian, gradient, step, trial = room
    _place(kind, x, own, base, at)
    value = _once(kind, lead, n, half, y, totals, terms, at, first, second) + _prior(x, mean, sd)
    for _ in range(MODE_STEPS):
        for p in range(q):
            precision = 1.0 / (sd[p] * sd[p])
            gradient[p] = first[1 + own[p]] + precision * (x[p, 0] - mean[p])
            for s in range(q):
                hessian[p, s] = second[min(1 + own[p], 1 + own[s]), max(1 + own[p], 1 + own[s])]
            hessian[p, p] += precision
        if not _cholesky(hessian, lower):  # not convex here (Rao-Kupper): downhill in the prior's metric
            for p in range(q):
                for s in range(q):
                    lower[p, s] = 1.0 / sd[p] if s == p else 0.0
        _copy(gradient, step)
        _solve_lower(lower, step)
        _solve_upper(lower, step)
        decrement = 0.0
        for p in range(q):
            decrement += 0.5 * step[p] * gradient[p]
        if decrement < NEAR:
            for p in range(q):
                x[p, 0] -= step[p]
            return value - decrement
        length = 1.0
        while length > 1e-8:
            for p in range(q):
                trial[p, 0] = x[p, 0] - length * step[p]
            _place(kind, trial, own, base, at)
            moved = _once(kind, lead, n, half, y, totals, terms, at, first, second) + _prior(trial, mean, sd)
            if moved <= value + 1e-12 * (1.0 + abs(value)):
                break
            length *= 0.5
        for p in range(q):
            x[p, 0] = trial[p, 0]
        value = moved
    return value


@vectorised
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


@part
def _spread_out(nodes, x, lower, gap, spot):  # type: ignore[no-untyped-def]
    """Write the nodes of an annotator, and how far they are from the mode x (q, 1), both (q, nodes)."""
    q, size = nodes.shape
    for p in range(q - 1, -1, -1):
        for v in range(size):
            gap[p, v] = ROOT_TWO * nodes[p, v]
        for u in range(p + 1, q):
            for v in range(size):
                gap[p, v] -= lower[u, p] * gap[u, v]
        for v in range(size):
            gap[p, v] /= lower[p, p]
        for v in range(size):
            spot[p, v] = x[p, 0] + gap[p, v]


@part
def _tools(nodes, log_weights, rows):  # type: ignore[no-untyped-def]
    """Room for the terms of so many rows at the nodes, and for what is kept by node."""
    q, size = nodes.shape
    terms, at = np.zeros((rows, 3, size)), np.empty((NODE_ROWS, size))
    gap, spot = np.empty((q, size)), np.empty((q, size))
    basis, weight = np.zeros((2 * LARGEST_Q, size)), np.zeros((BASIS + 2 * LARGEST_Q, size))
    return nodes, log_weights, terms, at, gap, spot, basis, weight


@part
def _exp(x):  # type: ignore[no-untyped-def]
    """Return exp x between -300 and 300, as :func:`_shares` has it, without a call."""
    x = min(max(x, -300.0), 300.0)
    k = np.int32(x * INVERSE_LN_2 + 1100.5) - 1100
    rest = x - k * LN_2
    square = rest * rest
    even, odd = 30240.0 + square * (3360.0 + 30.0 * square), rest * (15120.0 + square * (420.0 + square))
    return (even + odd) / (even - odd) * np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@part
def _weigh(spot, gap, mean, sd, at, lowest, log_weights, basis, weight):  # type: ignore[no-untyped-def]
    """Write x and (x - mean)^2 and the weights, which sum to one, of all nodes; return what they summed to."""
    q, size = spot.shape
    for v in range(size):
        weight[ONCE, v] = log_weights[v] + lowest - at[VALUE, v]
    for p in range(q):
        for v in range(size):
            basis[p, v] = gap[p, v]
        for v in range(size):
            scaled = (spot[p, v] - mean[p]) / sd[p]
            basis[q + p, v] = scaled * scaled
            weight[ONCE, v] -= 0.5 * scaled * scaled
    total = 0.0
    for v in range(size):
        w = _exp(weight[ONCE, v])
        weight[ONCE, v] = w
        total += w
    for v in range(size):
        once = weight[ONCE, v] / total
        weight[ONCE, v], weight[LEAD, v] = once, once * at[THETA, v]
    for v in range(size):
        weight[TWICE, v] = weight[LEAD, v] * at[THETA, v]
    for p in range(2 * q):
        for v in range(size):
            weight[BASIS + p, v] = weight[LEAD, v] * basis[p, v]
    return total


@part
def _moments(weight, numbers, row, basis):  # type: ignore[no-untyped-def]
    """Average a number of every node, a row of them, and its products with x and (x - mean)^2, in one pass."""
    mean, by_0, by_1, by_2, by_3, by_4, by_5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for v in range(numbers.shape[1]):
        part = weight[ONCE, v] * numbers[row, v]
        mean += part
        by_0 += part * basis[0, v]
        by_1 += part * basis[1, v]
        by_2 += part * basis[2, v]
        by_3 += part * basis[3, v]
        by_4 += part * basis[4, v]
        by_5 += part * basis[5, v]
    return mean, (by_0, by_1, by_2, by_3, by_4, by_5)


@part
def _averages(terms, a, at, weight):  # type: ignore[no-untyped-def]
    """Average the terms of a row with all weights in one pass."""
    pull, pull_0, pull_1, pull_2, pull_3, pull_4, pull_5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    lead_lead, lead_eta, lead_t, lead_m, eta_eta, eta_t, eta_m = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for v in range(at.shape[1]):
        slope, curve, cross = terms[a, SLOPE, v], terms[a, CURVE, v], terms[a, CROSS, v]
        by_t, by_m = at[NU, v] * cross, at[MU, v] * cross
        once, lead = weight[ONCE, v], weight[LEAD, v]
        pull += lead * slope
        pull_0 += weight[BASIS, v] * slope
        pull_1 += weight[BASIS + 1, v] * slope
        pull_2 += weight[BASIS + 2, v] * slope
        pull_3 += weight[BASIS + 3, v] * slope
        pull_4 += weight[BASIS + 4, v] * slope
        pull_5 += weight[BASIS + 5, v] * slope
        lead_lead += weight[TWICE, v] * curve
        lead_eta += lead * curve
        lead_t += lead * by_t
        lead_m += lead * by_m
        eta_eta += once * curve
        eta_t += once * by_t
        eta_m += once * by_m
    pulls = (pull_0, pull_1, pull_2, pull_3, pull_4, pull_5)
    return pull, pulls, lead_lead, (lead_eta, lead_t, lead_m), (eta_eta, eta_t, eta_m)


@part
def _explained(z, s, out):  # type: ignore[no-untyped-def]
    """Covariances that go through the annotator's own numbers, of coordinate s with those up to it: z is (6, width)."""
    z_0, z_1, z_2, z_3, z_4, z_5 = z[0, s], z[1, s], z[2, s], z[3, s], z[4, s], z[5, s]
    for t in range(s + 1):
        out[t] = z_0 * z[0, t] + z_1 * z[1, t] + z_2 * z[2, t] + z_3 * z[3, t] + z_4 * z[4, t] + z_5 * z[5, t]


@vectorised
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
        Competitors (n_rows,) and counts (4, n_rows), sorted by annotator.
    r, base
        Strengths (n,), and what all annotators have in common of (theta, eta, t, m).
    mean, sd, own
        Prior mean and spread of every own number, and its coordinate (-1: theta), each (q,).
    grids
        Gauss-Hermite nodes: z (q, nodes) and ln(weight) + |z|^2 of the finer grid, the same of the coarser one, and the
        number of rows from which the coarser one serves.
    modes : (M, q)
        Start of the conditional modes; overwritten by them.
    gradient, information : (n + 3 + q,), (n + 3 + q, n + 3 + q)
        Added to: derivatives of minus the log marginal likelihood by r, the common part of (eta, t, m), and ln sd. Of
        the information each pair of coordinates is added to at one of its two places.
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
    n, q, most = len(r), len(own), 1
    for k in range(first_k, last_k):
        most = max(most, start[k + 1] - start[k])
    most += -most % LANES
    tools = _tools(grids[0], grids[1], min(most, grids[4])), _tools(grids[2], grids[3], min(most, ROWS_AT_ONCE))
    one_terms, one_at, totals = np.zeros((most, 3, 1)), np.empty((NODE_ROWS, 1)), np.empty(4)
    leads, ns, halves = np.empty(most), np.empty(most), np.empty(most)
    left, right, slot = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64), np.full(n, -1)
    widest = min(2 * most, n) + 3 + q
    mean_score, cross, z = np.empty(widest), np.empty((widest, 2 * q)), np.zeros((2 * LARGEST_Q, widest))
    explained, touched = np.empty(widest), np.empty(widest, dtype=np.int64)
    room = np.empty(4), np.empty((4, 4)), np.empty((q, q)), np.empty(q), np.empty(q), np.empty((q, 1))
    x, lower, center = np.empty((q, 1)), np.zeros((q, q)), np.empty(2 * q)
    spread, spread_lower = np.empty((2 * q, 2 * q)), np.zeros((2 * q, 2 * q))
    value = 0.0
    for k in range(first_k, last_k):
        lo, rows = start[k], start[k + 1] - start[k]
        padded, y = rows + -rows % LANES, counts[:, lo : lo + rows]
        lead, votes, half = leads[:padded], ns[:padded], halves[:padded]
        totals[BY_LEAD], totals[BY_SHIFT], totals[TIES], totals[BADS] = 0.0, 0.0, 0.0, 0.0
        n_touched = 0
        for a in range(rows):
            u, v = i[lo + a], j[lo + a]
            lead[a], half[a] = r[u] - r[v], 0.5 * (y[WIN, a] - y[LOSS, a])
            votes[a] = y[WIN, a] + y[LOSS, a] + y[TIE, a] + y[BOTH_BAD, a]
            totals[BY_LEAD] += half[a] * lead[a]
            totals[BY_SHIFT] += half[a]
            if kind != HALF:
                totals[TIES] += y[TIE, a]
                totals[BADS] += y[BOTH_BAD, a]
            for c in (u, v):
                if slot[c] < 0:
                    slot[c] = n_touched
                    touched[n_touched] = c
                    n_touched += 1
            left[a], right[a] = slot[u], slot[v]
        for a in range(rows, padded):
            lead[a], votes[a], half[a] = 0.0, 0.0, 0.0
        for s in range(n_touched):
            slot[touched[s]] = -1
        for s in range(3 + q):
            touched[n_touched + s] = n + s
        width = n_touched + 3 + q
        for p in range(q):
            x[p, 0] = modes[k, p]
        lowest = _mode(
            kind, x, own, base, mean, sd, lead, votes, half, y, totals, one_terms, one_at, lower, room
        )  # fmt: skip
        value += lowest + 0.5 * q * math.log(math.pi)
        for p in range(q):
            modes[k, p] = x[p, 0]
            value += math.log(lower[p, p] * sd[p])
        nodes, log_weights, terms, at, gap, spot, basis, weight = tools[0] if rows < grids[4] else tools[1]
        _spread_out(nodes, x, lower, gap, spot)
        _place(kind, spot, own, base, at)
        at_once = len(terms)
        for head in range(0, rows, at_once):
            tail = min(head + at_once, rows)
            if kind == RAO_KUPPER:
                rao_kupper(lead, y, head, tail, terms, at)
            else:
                davidson(lead, votes, half, head, tail, terms, at)
        if kind != RAO_KUPPER:
            _take_off(totals, at)
        value -= math.log(_weigh(spot, gap, mean, sd, at, lowest, log_weights, basis, weight))
        for p in range(2 * q):
            center[p], by_basis = _moments(weight, basis, p, basis)
            for t in range(p + 1):
                spread[p, t] = by_basis[t] - center[p] * center[t]
                spread[t, p] = spread[p, t]
        for s in range(n_touched):
            mean_score[s] = 0.0
            for p in range(2 * q):
                cross[s, p] = 0.0
        for s in range(3):
            mean_score[n_touched + s], by_basis = _moments(weight, at, BY_ETA + s, basis)
            for p in range(2 * q):
                cross[n_touched + s, p] = by_basis[p]
        for s in range(q):
            row = n_touched + 3 + s
            mean_score[row] = 1.0 - center[q + s]
            for p in range(2 * q):
                cross[row, p] = mean_score[row] * center[p] - spread[q + s, p]
            information[n + 3 + s, n + 3 + s] += 2.0 * center[q + s]
            posterior_mean[k, s] = x[s, 0] + center[s]
            for p in range(q):
                posterior_cov[k, s, p] = spread[s, p]
        for v in range(len(log_weights)):
            w = weight[ONCE, v]
            information[n + 1, n + 1] += w * at[BY_TT, v]
            information[n + 2, n + 1] += w * at[BY_TM, v]
            information[n + 2, n + 2] += w * at[BY_MM, v]
        for head in range(0, rows, at_once):
            tail = min(head + at_once, rows)
            if rows > at_once and kind == RAO_KUPPER:
                rao_kupper(lead, y, head, tail, terms, at)
            elif rows > at_once:
                davidson(lead, votes, half, head, tail, terms, at)
            for a in range(head, tail):
                pull, pulls, lead_lead, lead_common, eta_common = _averages(terms, a - head, at, weight)
                u, v = i[lo + a], j[lo + a]
                mean_score[left[a]] += pull
                mean_score[right[a]] -= pull
                for p in range(2 * q):
                    cross[left[a], p] += pulls[p]
                    cross[right[a], p] -= pulls[p]
                information[u, u] += lead_lead
                information[v, v] += lead_lead
                information[u, v] -= lead_lead
                for s in range(3):
                    information[n + s, u] += lead_common[s]
                    information[n + s, v] -= lead_common[s]
                    information[n + s, n] += eta_common[s]
        _cholesky(spread, spread_lower)
        _invert_lower(spread_lower, spread)
        for s in range(width):
            for p in range(2 * q):
                cross[s, p] -= mean_score[s] * center[p]
            for p in range(2 * q):
                part = 0.0
                for t in range(p + 1):
                    part += spread[p, t] * cross[s, t]
                z[p, s] = part
        for s in range(width):
            row = touched[s]
            gradient[row] += mean_score[s]
            _explained(z, s, explained)
            for t in range(s + 1):
                information[row, touched[t]] -= explained[t]
        if len(border):
            for s in range(n_touched + len(entered)):
                at_head = s if s < n_touched else n_touched + entered[s - n_touched]
                at_border = border_start[k] + s
                border_column[at_border] = touched[s] if s < n_touched else n + s - n_touched
                for p in range(q):
                    part = 0.0
                    for t in range(p, q):
                        part += spread[t, p] * z[t, at_head]
                    border[at_border, p] = part
    return value


@vectorised
def net_scores(theta, both, nodes, weights, net):  # type: ignore[no-untyped-def]
    """Average P(win) - P(loss) over leads: write ``net`` (M, draws), for ``nodes`` and ``weights`` (K, draws) of leads.

    ``theta`` and ``both``, nu + mu, are those of every annotator and draw, (M, draws).
    """
    size = nodes.shape[1]
    for k in range(len(theta)):
        for d in range(size):
            net[k, d] = 0.0
        for s in range(len(nodes)):
            for d in range(size):
                _, half_net = _shares(theta[k, d] * nodes[s, d], both[k, d])
                net[k, d] += 2.0 * weights[s, d] * half_net


@vectorised
def add_scores(leads, theta, nu, mu, weight, sums):  # type: ignore[no-untyped-def]
    """Add expected scores at leads, and their slopes, times weights, to ``sums`` (M, 6, leads).

    Its rows are the scores, and their slopes by the lead, by theta, by eta, by t and by m. Theta, exp t, exp m and
    weights are given for each annotator, (M,).
    """
    at = np.empty((2, len(leads)))
    for k in range(len(theta)):
        slope, both, w = theta[k], nu[k] + mu[k], weight[k]
        steep, by_t, by_m = w * slope, w * nu[k], w * mu[k]
        for s in range(len(leads)):
            at[0, s], at[1, s] = _shares(slope * leads[s], both)
        for s in range(len(leads)):
            sums[k, 0, s] += w * (0.5 + at[1, s])
        for s in range(len(leads)):
            cross = at[0, s] * at[1, s]
            sums[k, 4, s] -= by_t * cross
            sums[k, 5, s] -= by_m * cross
        for s in range(len(leads)):
            at[0, s] = 0.25 - 0.25 * both * at[0, s] - at[1, s] * at[1, s]
        for s in range(len(leads)):
            sums[k, 1, s] += steep * at[0, s]
            sums[k, 2, s] += w * leads[s] * at[0, s]
            sums[k, 3, s] += w * at[0, s]
