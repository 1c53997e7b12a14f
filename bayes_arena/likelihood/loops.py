"""Compiled loops over votes and annotators: averaged losses, mixtures, the density that NUTS samples, Elo's updates.

NumPy passes over memory for each operation, and takes ten times as long. Exponential and logarithm are written out so
that LLVM can vectorise the loops, which cuts the time to a quarter.

Sources: exponential by argument reduction to |f| <= ln(2) / 2 and the Pade approximant of Moshier's Cephes library;
logarithm by the atanh series, minimax coefficients of FreeBSD's e_log.c. Both within 2 units in the last place.

It is one file because numba's disk cache checks only the file of the called function: after a change in another file it
would run old code.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_arena.compiled import part, vectorised
from bayes_arena.votes.outcomes import BOTH_BAD, LOSS, TIE, WIN

HALF, DAVIDSON, RAO_KUPPER = 0, 1, 2
LOOPS = {"half": HALF, "davidson": DAVIDSON, "both-bad": DAVIDSON, "rao-kupper": RAO_KUPPER}
POSITION, TIES, FACTORS = 0, 1, 2
"""Rows of an annotator's parameters: what is added to eta and t; theta and the loadings, which are the factors of the
leads; and after these the slopes of features."""
SHARPER = -1
"""Instead of such a row: what a slice adds to theta."""
BAD = -1
"""Instead of such a row: the propensity of both-bad votes, which all annotators share. Below it, -2, -3, ...: what is
added to the coordinates of further grades, which these loops pass over."""

FAR, NEVER = 700.0, -200.0
"""Log-odds against a decided vote above which only ties are left, and those of what has no probability: the square of
its exponential is not subnormal, with which processors are slow."""
TOGETHER = 1024
"""Rows, or annotators, that are worked on together: few enough for a processor's nearest cache."""
NOTHING = 2.2250738585072014e-308
"""Added where all may be zero: the smallest number that is not subnormal."""
SUMS = 10
"""Of a row: the loss, its gradient (3), and the lower triangle of its Hessian (6)."""


@vectorised
def vary_together(votes, kinds, of_common, n, of_leads, head, across, starts, touches, own):  # type: ignore[no-untyped-def]
    """Return the covariances of the numbers of rows: the lead, and one for every kind, shape (1 + U, 1 + U, n_rows).

    Parameters
    ----------
    votes : tuple of ndarray of int, shape (n_rows,)
        i, j and k, and the places of i and j among what k touches.
    kinds : ndarray of int, shape (U, 3)
        Coordinate, and place among common and own numbers, or -1.
    of_common, n : int
        Common numbers, competitors.
    of_leads : ndarray, shape (n * n,)
        Variance of the lead of every pair.
    head : ndarray, shape (h, h)
        Covariance of strengths and common numbers.
    across, starts, touches : ndarray
        Covariances of annotators' numbers and those that they touch, where those of each begin, and how many there are.
    own : ndarray, shape (M, q, q)
        Covariances of annotators' numbers.
    """
    i, j, k, at_i, at_j = votes
    found, last = np.zeros((1 + len(kinds), 1 + len(kinds), len(i))), 0
    for r in range(len(i)):
        found[0, 0, r] = of_leads[i[r] * n + j[r]]
    for first in range(len(i)):
        if first < last:
            continue
        who, last = k[first] if len(k) else 0, first + 1
        while last < len(i) and (not len(k) or k[last] == who):  # rows of one annotator
            last += 1
        for u in range(len(kinds)):
            _, common, mine = kinds[u]
            at = starts[who] + mine * touches[who] if mine >= 0 else 0
            for r in range(first, last):
                value = 0.0
                if mine >= 0:
                    value += across[at + at_i[r]] - across[at + at_j[r]]
                if common >= 0:
                    value += head[n + common, i[r]] - head[n + common, j[r]]
                found[0, u + 1, r] = found[u + 1, 0, r] = value
            for v in range(u + 1):
                _, other, other_mine = kinds[v]
                value = 0.0
                if mine >= 0 and other_mine >= 0:
                    value += own[who, mine, other_mine]
                if common >= 0 and other >= 0:
                    value += head[n + common, n + other]
                if mine >= 0 and other >= 0:
                    value += across[at + touches[who] - of_common + other]
                if common >= 0 and other_mine >= 0:
                    value += across[starts[who] + (other_mine + 1) * touches[who] - of_common + common]
                for r in range(first, last):
                    found[u + 1, v + 1, r] = found[v + 1, u + 1, r] = value
    return found


@vectorised
def add_rows(votes, pair, x, kinds, gradient, hessian, pulls, slopes, starts, touches, sums):  # type: ignore[no-untyped-def]
    """Add rows to the sums of :mod:`bayes_arena.likelihood.row_sums`.

    Parameters
    ----------
    votes, kinds, starts, touches
        As for :func:`vary_together`.
    pair : ndarray of int, shape (n_rows,)
    x : ndarray, shape (1 + U, n_rows)
        What the lead, and the numbers, are multiplied by.
    gradient, hessian : ndarray, shapes (C, n_rows) and (C, C, n_rows)
        Of the losses.
    pulls : ndarray, shape (1 + U, n_rows)
        Further gradients in the lead, and in the numbers.
    slopes : ndarray, shape (U,)
        Share of the gradient in eta that is a part of the mixed curvature in the lead and a number.
    sums : tuple of ndarray
        ``by_lead`` and ``weight`` (n_pairs,), ``across`` (U, n_pairs), gradient (U, M) and Hessian (U, U, M), of which
        the lower triangle is added to, by annotator, and ``own_across``.
    """
    _, _, k, at_i, at_j = votes
    by_lead, weight, across, by_number, by_two, own_across = sums
    for r in range(len(pair)):
        by_lead[pair[r]] += x[0, r] * gradient[0, r] + pulls[0, r]
        weight[pair[r]] += x[0, r] * x[0, r] * hessian[0, 0, r]
    for u in range(len(kinds)):
        c, common, mine = kinds[u]
        for r in range(len(pair)):
            who, mixed = k[r] if len(k) else 0, x[0, r] * x[1 + u, r] * hessian[0, c, r]
            by_number[u, who] += x[1 + u, r] * gradient[c, r] + pulls[1 + u, r]
            for v in range(u + 1):
                by_two[u, v, who] += x[1 + u, r] * x[1 + v, r] * hessian[c, kinds[v, 0], r]
            if common >= 0:
                across[u, pair[r]] += mixed
            if mine >= 0:
                mixed += slopes[u] * gradient[0, r]
                at = starts[who] + mine * touches[who]
                own_across[at + at_i[r]] += mixed
                own_across[at + at_j[r]] -= mixed


@vectorised
def averaged(kind, counts, z, root, nodes, weights):  # type: ignore[no-untyped-def]
    """Return the losses of rows, their gradients and Hessians, averaged over the nodes z + root x.

    Parameters
    ----------
    kind : int
        Which likelihood, of :data:`LOOPS`.
    counts : ndarray, shape (4, n_rows)
    z : ndarray, shape (C, n_rows)
        Means of the coordinates.
    root : ndarray, shape (C, C, n_rows)
        Lower triangular.
    nodes : ndarray, shape (K, C)
        x.
    weights : ndarray, shape (K,)
    """
    size, n = z.shape
    value, gradient, hessian = np.empty(n), np.empty((size, n)), np.empty((size, size, n))
    at, seen, sums = np.empty((3, TOGETHER)), np.empty((4, TOGETHER)), np.empty((SUMS, TOGETHER))
    for first in range(0, n, TOGETHER):
        m = min(TOGETHER, n - first)
        for o in range(4):
            for r in range(m):
                seen[o, r] = counts[o, first + r]
        for s in range(SUMS):
            for r in range(m):
                sums[s, r] = 0.0
        for c in range(size, 3):
            for r in range(m):
                at[c, r] = NEVER
        for x in range(len(weights)):
            for c in range(size):
                for r in range(m):
                    at[c, r] = z[c, first + r]
                for e in range(c + 1):
                    if nodes[x, e] != 0.0:
                        for r in range(m):
                            at[c, r] += nodes[x, e] * root[c, e, first + r]
            if kind == RAO_KUPPER:
                add_rao_kupper(m, weights[x], at, seen, sums)
            else:
                add_davidson(m, weights[x], at, seen, 0.5 if kind == HALF else 0.0, sums)
        for r in range(m):
            value[first + r] = sums[0, r]
        for c in range(size):
            for r in range(m):
                gradient[c, first + r] = sums[1 + c, r]
            for e in range(c + 1):
                for r in range(m):
                    hessian[c, e, first + r] = hessian[e, c, first + r] = sums[4 + c * (c + 1) // 2 + e, r]
    return value, gradient, hessian


@part
def add_davidson(n_rows, weight, z, seen, half, sums):  # type: ignore[no-untyped-def]
    """Add losses, with derivatives, of which a share ``half`` of the ties counts as wins and losses each.

    No share is subtracted from 1 and no count from the total: with a billion votes the difference would be rounding.
    """
    for r in range(n_rows):
        eta, t, m, of_ties = z[0, r], z[1, r], z[2, r], half * seen[TIE, r]
        won, lost, tied = seen[WIN, r] + of_ties, seen[LOSS, r] + of_ties, seen[TIE, r] - 2.0 * of_ties
        bad = seen[BOTH_BAD, r]
        h = 0.5 * abs(eta)
        log_nu, log_mu = min(t - h, FAR), min(m - h, FAR)
        decay, nu, mu = _exp(-h), _exp(log_nu), _exp(log_mu)
        lower = decay * decay
        total = 1.0 + lower + nu + mu  # of the weights, that of the likelier win being 1
        n = won + lost + tied + bad
        value = n * (h + _log(total)) - 0.5 * (won - lost) * eta - tied * (h + log_nu) - bad * (h + log_mu)
        likely, unlikely = 1.0 / total, lower / total
        win, loss = (likely, unlikely) if eta > 0 else (unlikely, likely)
        tie, worse = nu / total, mu / total
        net, neither, decided = 0.5 * (win - loss), tie + worse, win + loss
        sums[0, r] += weight * value
        sums[1, r] += weight * (lost * win - won * loss + (tied + bad) * net + 0.5 * (lost - won) * neither)
        sums[2, r] += weight * ((won + lost + bad) * tie - tied * (decided + worse))
        sums[3, r] += weight * ((won + lost + tied) * worse - bad * (decided + tie))
        sums[4, r] += weight * n * (win * loss + 0.25 * neither * decided)
        sums[5, r] -= weight * n * tie * net
        sums[6, r] += weight * n * tie * (decided + worse)
        sums[7, r] -= weight * n * worse * net
        sums[8, r] -= weight * n * worse * tie
        sums[9, r] += weight * n * worse * (decided + tie)


@part
def add_rao_kupper(n_rows, weight, z, seen, sums):  # type: ignore[no-untyped-def]
    """Add losses, with derivatives, not finite where t is absurd."""
    for r in range(n_rows):
        eta, kappa = z[0, r], math.exp(z[1, r])
        not_lost, not_won, ties = seen[WIN, r] + seen[TIE, r], seen[LOSS, r] + seen[TIE, r], seen[TIE, r]
        x, y = kappa - eta, kappa + eta
        decay_x, decay_y, decay = _exp(-abs(x)), _exp(-abs(y)), math.exp(-2.0 * kappa)
        more_x, more_y = 1.0 / (1.0 + decay_x), 1.0 / (1.0 + decay_y)
        not_p, p = (more_x, decay_x * more_x) if x > 0 else (decay_x * more_x, more_x)
        not_q, q = (more_y, decay_y * more_y) if y > 0 else (decay_y * more_y, more_y)
        remainder = max(-math.expm1(-2.0 * kappa), 1e-150)  # 1 - exp(-2 kappa), whose square is divided by
        value = not_lost * (max(x, 0.0) + _log(1.0 + decay_x)) + not_won * (max(y, 0.0) + _log(1.0 + decay_y))
        value -= ties * (2.0 * kappa + math.log(remainder))
        by_kappa = not_lost * not_p + not_won * not_q - 2.0 * ties / remainder
        curve_p, curve_q = not_lost * p * not_p, not_won * q * not_q
        by_kappa_twice = curve_p + curve_q + 4.0 * ties * decay / remainder**2
        sums[0, r] += weight * value
        sums[1, r] += weight * (not_won * not_q - not_lost * not_p)
        sums[2, r] += weight * kappa * by_kappa
        sums[4, r] += weight * (curve_p + curve_q)
        sums[5, r] += weight * kappa * (curve_q - curve_p)
        sums[6, r] += weight * kappa * (kappa * by_kappa_twice + by_kappa)


@vectorised
def along_positions(counts, nu, row, slope, constant, at, starts):  # type: ignore[no-untyped-def]
    """Return the likelihood of positions on lines, relative to the largest.

    Parameters
    ----------
    counts : ndarray, shape (4, n_rows)
    nu : ndarray, shape (n_rows,)
        Weight of a vote for neither; those for and against have exp(eta / 2) and exp(-eta / 2).
    row : ndarray of int, shape (s,)
        Of the rows, those of the first line, of the second, and so on.
    slope, constant : ndarray, shape (s,)
        Of eta, along a line.
    at : ndarray, shape (G,)
        Positions on the line.
    starts : ndarray of int, shape (m + 1,)
        Where the rows of each line begin.

    Returns
    -------
    ndarray, shape (m, G)
    """
    found = np.zeros((len(starts) - 1, len(at)))
    for line in range(len(found)):
        value = found[line]
        for s in range(starts[line], starts[line + 1]):
            r = row[s]
            net = 0.5 * (counts[WIN, r] - counts[LOSS, r])
            n = counts[WIN, r] + counts[LOSS, r] + counts[TIE, r] + counts[BOTH_BAD, r]
            for g in range(len(at)):
                eta = slope[s] * at[g] + constant[s]
                h = 0.5 * abs(eta)
                decay = _exp(-h)
                value[g] += net * eta - n * (h + _log(1.0 + decay * decay + nu[r] * decay))
        highest = value[0]
        for g in range(1, len(at)):
            highest = max(highest, value[g])
        for g in range(len(at)):
            value[g] = _exp(value[g] - highest)
    return found


@vectorised
def add_mixed(near, far, weights, shares, profiles):  # type: ignore[no-untyped-def]
    """Add weighted logarithms of mixtures to profiles, shape (F, W, R).

    Parameters
    ----------
    near, far : ndarray, shape (m, R)
        Likelihoods under either component.
    weights : ndarray, shape (W, m)
    shares : ndarray, shape (F,)
        Of the second component.
    """
    log = np.empty(near.shape[1])
    for k in range(len(near)):
        for f in range(len(shares)):
            for r in range(len(log)):
                log[r] = _log(near[k, r] + shares[f] * (far[k, r] - near[k, r]))
            for w in range(len(weights)):
                for r in range(len(log)):
                    profiles[f, w, r] += weights[w, k] * log[r]


@vectorised
def likeliest_shares(components, weight, group, share, kind, stiff, iterations):  # type: ignore[no-untyped-def]
    """Maximise the likelihood of a mixture by EM; return its logarithm, with the penalty.

    Parameters
    ----------
    components : ndarray, shape (1 + J, m)
        Likelihoods of the annotators under the first component, and under the others.
    weight : ndarray, shape (m,)
    group : ndarray of int, shape (m,)
    share : ndarray, shape (G,)
        What all others have together, by group, at most a half: where to start, and replaced by the likeliest.
    kind : ndarray, shape (J,)
        What each of them has of it; so, too.
    stiff : float
        Factor on ln(1 - share), which is added for every group.
    iterations : int
    """
    size, taken, pull = np.full(len(share), stiff), np.empty(len(share)), np.empty(len(kind))
    for k in range(len(weight)):
        size[group[k]] += weight[k]
    mine, slab = np.empty(TOGETHER), np.empty(TOGETHER)
    for step in range(iterations + 1):
        taken[:], pull[:], value = 0.0, 0.0, 0.0
        for first in range(0, len(weight), TOGETHER):
            m = min(TOGETHER, len(weight) - first)
            last = first + m
            counts, of, near = weight[first:last], group[first:last], components[0][first:last]
            for k in range(m):
                mine[k], slab[k] = share[of[k]], 0.0
            for j in range(len(kind)):
                chance, far = kind[j], components[1 + j][first:last]
                for k in range(m):
                    slab[k] += chance * far[k]
            if step == iterations:
                for k in range(m):
                    value += counts[k] * _log((1.0 - mine[k]) * near[k] + mine[k] * slab[k])
                continue
            for k in range(m):
                mine[k] *= counts[k] / ((1.0 - mine[k]) * near[k] + mine[k] * slab[k])
                slab[k] *= mine[k]
            for g in range(len(share)):
                total = 0.0
                for k in range(m):
                    total += slab[k] if of[k] == g else 0.0
                taken[g] += total
            for j in range(len(kind)):
                total, far = 0.0, components[1 + j][first:last]
                for k in range(m):
                    total += far[k] * mine[k]
                pull[j] += total
        if step < iterations:
            total = 0.0
            for g in range(len(share)):
                share[g] = min(taken[g] / size[g], 0.5)
            for j in range(len(kind)):
                kind[j] = kind[j] * pull[j] + NOTHING
                total += kind[j]
            for j in range(len(kind)):
                kind[j] /= total
    for g in range(len(share)):
        value += stiff * math.log(1.0 - share[g])
    return value


@vectorised
def elo_updates(i, j, score, rate, n):  # type: ignore[no-untyped-def]
    """Return the strengths of n competitors after votes, one by one, as :mod:`bayes_arena.ratings.online` says."""
    strength = np.zeros(n)
    for vote in range(len(i)):
        ahead = strength[i[vote]] - strength[j[vote]]
        change = rate * (score[vote] - 1.0 / (1.0 + math.exp(-ahead)))  # infinite odds are a certain defeat
        strength[i[vote]] += change
        strength[j[vote]] -= change
    return strength


@vectorised
def average_net_score(theta, tied, worse, along, leads, ties, weights):  # type: ignore[no-untyped-def]
    """Return P(i) - P(j), averaged over nodes of the lead and of ln nu, shape (m, size).

    Parameters
    ----------
    theta, tied, worse, along : ndarray, shape (m, size)
        Of annotators in draws: theta, the weights of a tie and of a both-bad vote, and what is added to theta times
        the lead.
    leads, weights : ndarray, shape (K, size)
    ties : ndarray, shape (K,)
        Added to ln nu.
    """
    total = np.zeros(theta.shape)
    for x in range(len(ties)):
        times = math.exp(ties[x])
        for k in range(len(theta)):
            for s in range(theta.shape[1]):
                eta = theta[k, s] * leads[x, s] + along[k, s]
                decay = _exp(-0.5 * abs(eta))
                lower = decay * decay
                net = (1.0 - lower) / (1.0 + lower + (times * tied[k, s] + worse[k, s]) * decay)
                total[k, s] += weights[x, s] * (net if eta > 0.0 else -net)
    return total


@vectorised
def average_score(z, deviation, chance):  # type: ignore[no-untyped-def]
    """Return the expected score, and its slopes by the coordinates z, averaged over deviations of ln nu.

    With y = exp(-|eta| / 2) outcomes have the weights 1, y^2, nu y and mu y, so that a deviation takes no exponential.

    Parameters
    ----------
    z : ndarray, shape (C, n)
    deviation, chance : ndarray, shape (K,)

    Returns
    -------
    score, slope : ndarray, shapes (n,) and (C, n)
    """
    size, n = z.shape
    score, slope = np.zeros(n), np.zeros((size, n))
    lower, tied, more = np.empty(TOGETHER), np.zeros(TOGETHER), np.zeros(TOGETHER)
    for first in range(0, n, TOGETHER):
        m = min(TOGETHER, n - first)
        for r in range(m):
            h = 0.5 * abs(z[0, first + r])
            lower[r] = _exp(-2.0 * h)
            if size > 1:
                tied[r] = _exp(min(z[1, first + r], FAR) - h)
            if size > 2:
                more[r] = _exp(min(z[2, first + r], FAR) - h)
        for x in range(len(chance)):
            times = math.exp(deviation[x])
            for r in range(m):
                share = 1.0 / (1.0 + lower[r] + times * tied[r] + more[r])
                net = (1.0 - lower[r]) * share  # P(win) - P(loss), of whom is ahead
                score[first + r] += chance[x] * net
                slope[0, first + r] += chance[x] * ((1.0 + lower[r]) * share - net * net)
                if size > 1:
                    slope[1, first + r] -= chance[x] * net * times * tied[r] * share
                if size > 2:
                    slope[2, first + r] -= chance[x] * net * more[r] * share
        for r in range(first, first + m):
            side = 1.0 if z[0, r] > 0 else -1.0
            score[r] = 0.5 + 0.5 * side * score[r]
            slope[0, r] *= 0.25
            for c in range(1, size):
                slope[c, r] *= 0.5 * side
    return score, slope


@vectorised
def density(x, kind, vectors, scales, levels, weights, effects, slices, votes, walk, features, counts, slope):  # type: ignore[no-untyped-def]
    """Return the log-density at a point of the sampler's coordinates, up to a constant; write ``slope``.

    Parameters
    ----------
    x : ndarray, shape (d,)
        The point, laid out as :mod:`~bayes_arena.inference.density.coordinates` says.
    kind : int
        Which likelihood, of :data:`LOOPS`.
    vectors, scales, levels, weights, effects, slices
        Tables of :mod:`~bayes_arena.inference.density.coordinates` and ``tables``.
    votes : ndarray of int, shape (3 + p, n_rows)
        i, j, k, and the places of the slices' parameters.
    walk : ndarray, shape (s, 3)
        Of numbers that walk: place, that of the number after (-1 for none), and the root of the periods between.
    features : ndarray, shape (f, n_rows)
    counts : ndarray, shape (4, n_rows)
        Contiguous by outcome, or the pass is not vectorised.
    slope : ndarray, shape (d,)
        The gradient is written to it.
    """
    value, numbers = place(x, vectors, scales, levels, weights, slope)
    walked = walk_of(numbers, walk)
    of_annotator, bad, leads, eta, tie, at = coordinates(walked, effects, slices, votes, features)
    log_likelihood, by_eta, by_tie, by_bad = rows(kind, eta, tie, bad, at, counts)
    by_number = back(numbers, of_annotator, leads, by_eta, by_tie, by_bad, effects, slices, votes, features)
    walk_back(by_number, walk)
    place_back(x, numbers, by_number, vectors, scales, levels, weights, slope)
    return value + log_likelihood.sum()


@vectorised
def walk_of(numbers, walk):  # type: ignore[no-untyped-def]
    """Return the parameters where those that walk are sums of their steps; every one comes before the one after it."""
    if not len(walk):
        return numbers
    walked = numbers.copy()
    for q in range(len(walk) - 1, -1, -1):
        here, after = int(walk[q, 0]), int(walk[q, 1])
        walked[here] = walk[q, 2] * numbers[here] + (walked[after] if after >= 0 else 0.0)
    return walked


@vectorised
def walk_back(by_number, walk):  # type: ignore[no-untyped-def]
    """Take slopes by parameters that walk back to slopes by their steps, in place."""
    for q in range(len(walk)):
        here, after = int(walk[q, 0]), int(walk[q, 1])
        if after >= 0:
            by_number[after] += by_number[here]
        by_number[here] *= walk[q, 2]


@vectorised
def place(x, vectors, scales, levels, weights, slope):  # type: ignore[no-untyped-def]
    """Return the log prior of a point, and the model's parameters there; start its gradient."""
    last = len(vectors) - 1
    numbers = np.empty(vectors[last, 0] + vectors[last, 1] + len(levels))
    value = 0.0
    for v in range(len(vectors)):
        start, size, at, zero_sum, degrees = vectors[v]
        sd, information, unit = scales[v]
        if degrees:
            spread = math.exp(x[at])
            value += degrees * x[at] - 0.5 * (spread / sd) ** 2  # chi, as a density of its logarithm
            slope[at] = degrees - (spread / sd) ** 2
            sd, at = spread, at + 1
        scale = math.sqrt(1.0 + information * sd * sd)
        factor, free = unit * sd / scale, size - 1 if zero_sum else size
        total, squares = 0.0, 0.0
        for q in range(free):
            total += x[at + q]
            squares += x[at + q] ** 2
        value -= 0.5 * squares / (scale * scale) + free * math.log(scale)
        move = total / (math.sqrt(size) + size) if zero_sum else 0.0
        for q in range(free):
            numbers[start + q] = factor * (x[at + q] - move)
        if zero_sum:
            numbers[start + free] = -factor * total / math.sqrt(size)
    first, at = len(numbers) - len(levels), len(x) - len(levels)
    for c in range(len(levels)):
        mean, sd, own = levels[c]
        numbers[first + c] = x[at + c] - _drift(numbers, int(own), weights)
        value -= 0.5 * ((numbers[first + c] - mean) / sd) ** 2
    return value, numbers


@vectorised
def _drift(numbers, own, weights):  # type: ignore[no-untyped-def]
    """Return the mean deviation of a vote; zero where annotators have none."""
    drift = 0.0
    if own >= 0:
        for a in range(len(weights)):
            drift += weights[a] * numbers[own + a]
    return drift


@vectorised
def place_back(x, numbers, by_number, vectors, scales, levels, weights, slope):  # type: ignore[no-untyped-def]
    """Add the gradients of prior and likelihood, taken back from the parameters to the sampler's coordinates."""
    first, at = len(numbers) - len(levels), len(x) - len(levels)
    for c in range(len(levels)):
        mean, sd, own = levels[c]
        by_level = by_number[first + c] - (numbers[first + c] - mean) / (sd * sd)
        slope[at + c] = by_level
        if own >= 0:
            for a in range(len(weights)):
                by_number[int(own) + a] -= weights[a] * by_level
    for v in range(len(vectors)):
        start, size, at, zero_sum, degrees = vectors[v]
        sd, information, unit = scales[v]
        if degrees:
            sd, at = math.exp(x[at]), at + 1
        scale = math.sqrt(1.0 + information * sd * sd)
        factor, free = unit * sd / scale, size - 1 if zero_sum else size
        squares, product, total = 0.0, 0.0, 0.0
        for q in range(size):
            product += by_number[start + q] * numbers[start + q]
        for q in range(free):
            squares += x[at + q] ** 2
            total += by_number[start + q]
        move = 0.0
        if zero_sum:
            move = total / (math.sqrt(size) + size) + by_number[start + free] / math.sqrt(size)
        for q in range(free):
            slope[at + q] = factor * (by_number[start + q] - move) - x[at + q] / (scale * scale)
        if degrees:
            share = information * sd * sd / (scale * scale)
            slope[at - 1] += product / (scale * scale) + share * (squares / (scale * scale) - free)


@vectorised
def coordinates(numbers, effects, slices, votes, features):  # type: ignore[no-untyped-def]
    """Return annotators' parameters, ln mu, the leads and eta of every row, and t with the index of each row's t.

    The index is the row's annotator, as there are fewer of these, unless slices have a t of their own.
    """
    i, j, k = votes[0], votes[1], votes[2]
    n, count, dimensions = len(k), k.max() + 1, 1
    for e in range(len(effects)):
        count = max(count, effects[e, 2])
    for s in range(len(slices)):
        dimensions = max(dimensions, slices[s, 0] - FACTORS + 1)
    slopes = FACTORS + dimensions
    of_annotator, bad = np.zeros((slopes + len(features), count)), -np.inf
    of_annotator[FACTORS] = 1.0
    for e in range(len(effects)):
        what, start, own = effects[e]
        if what == BAD:
            bad = numbers[start]
        elif what > BAD:
            for a in range(count):
                of_annotator[what, a] += numbers[start + a if own else start]
    leads, eta, tie, at = np.zeros((dimensions, n)), np.empty(n), of_annotator[TIES].copy(), k
    for q in range(n):
        leads[0, q] = numbers[i[q]] - numbers[j[q]]
    for s in range(len(slices)):
        into, one, other = slices[s]
        if into >= FACTORS:
            for q in range(n):
                leads[into - FACTORS, q] += numbers[votes[one, q]] - numbers[votes[other, q]]
        if into != TIES:
            continue
        if at is k:
            tie, at = tie[k], np.arange(n).astype(k.dtype)
        for q in range(n):
            tie[q] += numbers[votes[one, q]]
            if other:
                tie[q] += numbers[votes[other, q]]
    for q in range(n):
        a = k[q]
        eta[q] = of_annotator[FACTORS, a] * leads[0, q] + of_annotator[POSITION, a]
    for s in range(len(slices)):
        into, one, _ = slices[s]
        if into == SHARPER:
            for q in range(n):
                eta[q] += numbers[votes[one, q]] * leads[0, q]
    for d in range(1, dimensions):
        for q in range(n):
            eta[q] += of_annotator[FACTORS + d, k[q]] * leads[d, q]
    for f in range(len(features)):
        for q in range(n):
            eta[q] += of_annotator[slopes + f, k[q]] * features[f, q]
    return of_annotator, bad, leads, eta, tie, at


@vectorised
def back(numbers, of_annotator, leads, by_eta, by_tie, by_bad, effects, slices, votes, features):  # type: ignore[no-untyped-def]
    """Take slopes of the rows by eta and t, and the sum of those by m, back to the parameters."""
    i, j, k = votes[0], votes[1], votes[2]
    by_number, by_own = np.zeros(len(numbers)), np.zeros_like(of_annotator)
    slopes = FACTORS + len(leads)
    theta_sum = position_sum = tie_sum = 0.0
    for q in range(len(k)):
        a = k[q]
        slope = of_annotator[FACTORS, a] * by_eta[q]
        by_number[i[q]] += slope
        by_number[j[q]] -= slope
        theta_sum += leads[0, q] * by_eta[q]
        position_sum += by_eta[q]
        tie_sum += by_tie[q]
        if q + 1 == len(k) or k[q + 1] != a:  # the last of a run of one annotator's rows
            by_own[FACTORS, a] += theta_sum
            by_own[POSITION, a] += position_sum
            by_own[TIES, a] += tie_sum
            theta_sum = position_sum = tie_sum = 0.0
    for d in range(1, len(leads)):
        for q in range(len(k)):
            by_own[FACTORS + d, k[q]] += leads[d, q] * by_eta[q]
    for f in range(len(features)):
        for q in range(len(k)):
            by_own[slopes + f, k[q]] += features[f, q] * by_eta[q]
    for s in range(len(slices)):
        into, one, other = slices[s]
        if into == SHARPER:
            for q in range(len(k)):
                slope = numbers[votes[one, q]] * by_eta[q]
                by_number[votes[one, q]] += leads[0, q] * by_eta[q]
                by_number[i[q]] += slope
                by_number[j[q]] -= slope
                for t in range(len(slices)):
                    if slices[t, 0] == FACTORS:
                        by_number[votes[slices[t, 1], q]] += slope
                        by_number[votes[slices[t, 2], q]] -= slope
            continue
        for q in range(len(k)):
            slope = of_annotator[into, k[q]] * by_eta[q] if into >= FACTORS else by_tie[q]
            by_number[votes[one, q]] += slope
            if other:
                by_number[votes[other, q]] += -slope if into >= FACTORS else slope
    for e in range(len(effects)):
        what, start, own = effects[e]
        if what == BAD:
            by_number[start] += by_bad
        elif what > BAD:
            for a in range(by_own.shape[1]):
                by_number[start + a if own else start] += by_own[what, a]
    return by_number


@vectorised
def rows(kind, eta, tie, bad, at, counts):  # type: ignore[no-untyped-def]
    """Return the log-likelihood of the rows, their slopes by eta and t, and the sum of those by m."""
    m, mu = (bad, math.exp(bad)) if bad > -np.inf else (0.0, 0.0)
    settled = np.empty((len(tie), 3))
    for a in range(len(tie)):
        if kind == DAVIDSON:
            settled[a] = prepare_davidson(tie[a])
        elif kind == RAO_KUPPER:
            settled[a] = prepare_rao_kupper(tie[a])
        else:
            settled[a] = prepare_nothing(tie[a])
    n = len(eta)
    value, by_eta, by_tie, by_bad = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for q in range(n):
        value[q], by_tie[q], by_bad[q] = settled[at[q], 0], settled[at[q], 1], settled[at[q], 2]
    if kind == DAVIDSON:
        for q in range(n):
            value[q], by_eta[q], by_tie[q], by_bad[q] = davidson(
                eta[q], value[q], by_tie[q], by_bad[q], m, mu,
                counts[WIN, q], counts[LOSS, q], counts[TIE, q], counts[BOTH_BAD, q],
            )  # fmt: skip
    elif kind == RAO_KUPPER:
        for q in range(n):
            value[q], by_eta[q], by_tie[q], by_bad[q] = rao_kupper(
                eta[q], value[q], by_tie[q], by_bad[q], m, mu,
                counts[WIN, q], counts[LOSS, q], counts[TIE, q], counts[BOTH_BAD, q],
            )  # fmt: skip
    else:
        for q in range(n):
            value[q], by_eta[q], by_tie[q], by_bad[q] = half(
                eta[q], value[q], by_tie[q], by_bad[q], m, mu,
                counts[WIN, q], counts[LOSS, q], counts[TIE, q], counts[BOTH_BAD, q],
            )  # fmt: skip
    return value, by_eta, by_tie, by_bad.sum()


@part
def _exp(x):  # type: ignore[no-untyped-def]
    """Exponential of x <= 0, not less than exp(-700)."""
    x = -700.0 if x < -700.0 else x  # what is not a number stays so
    n = np.floor(x * 1.4426950408889634 + 0.5)
    f = (x - n * 0.693145751953125) - n * 1.42860682030941723212e-6
    s = f * f
    p = f * ((1.26177193074810590878e-4 * s + 3.02994407707441961300e-2) * s + 9.99999999999999999910e-1)
    q = ((3.00198505138664455042e-6 * s + 2.52448340349684104192e-3) * s + 2.27265548208155028766e-1) * s + 2.0
    return (1.0 + 2.0 * p / (q - p)) * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@part
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


@vectorised
def prepare_nothing(t):  # type: ignore[no-untyped-def]
    """Return nothing: half wins have no t."""
    return 0.0, 0.0, 0.0


@vectorised
def prepare_davidson(t):  # type: ignore[no-untyped-def]
    """Return ln nu and nu."""
    return t, math.exp(t), 0.0


@vectorised
def prepare_rao_kupper(t):  # type: ignore[no-untyped-def]
    """Return ln(exp(2 kappa) - 1), kappa, and the derivative of the first by t."""
    kappa = math.exp(t)
    remainder = -math.expm1(-2.0 * kappa)
    return 2.0 * kappa + math.log(remainder), kappa, 2.0 * kappa / remainder


@vectorised
def davidson(eta, t, nu, _, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    """Log-likelihood of a row, and its slopes by eta, t and m."""
    n, half_net, h = wins + losses + ties + bads, 0.5 * (wins - losses), 0.5 * abs(eta)
    decay = _exp(-h)
    total = 1.0 + decay * decay + (nu + mu) * decay  # sum of the weights, that of the likelier win being 1
    share = n / total
    tilt = 0.5 * (1.0 - decay * decay) * share
    value = half_net * eta + ties * t + bads * m - n * (h + _log(total))
    return value, half_net - (tilt if eta > 0 else -tilt), ties - nu * decay * share, bads - mu * decay * share


@vectorised
def half(eta, t, nu, _, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    """Davidson's without ties, after half a tie has gone to either side."""
    return davidson(eta, 0.0, 0.0, _, 0.0, 0.0, wins + 0.5 * ties, losses + 0.5 * ties, 0.0, 0.0)


@vectorised
def rao_kupper(eta, log_factor, kappa, slope, m, mu, wins, losses, ties, bads):  # type: ignore[no-untyped-def]
    """Log-likelihood of a row, and its slopes by eta and t."""
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
