"""Numbers of periods eliminated in order: block elimination of a walk, and its inverse backwards in time.

In place of a deviation u_{t,i} from the strength r_i now, let q_{t,i} = r_i + u_{t,i}. A vote in period t then involves
no other strengths than q_t, and every q_{t,i} is coupled to the next one of the same competitor alone, by the precision
w of the step between them. So there is one slot for every competitor and for every other number that is left, and in
order of time every slot holds the number of its competitor that comes next. With A the matrix of the slots after the
votes of period t, and P the slots with a number then,

    D = A_PP + W,     q_t given what follows = X y + N(0, D^-1),     X = D^-1 [W, -A_PR],

y having the following numbers in P, and all other slots R. What is left of A is A_RR - A_RP D^-1 A_PR, W D^-1 A_PR
between P and R, and W - W D^-1 W in P. At the end the slots hold the strengths now, and what is left is solved as it
is. Backwards, with C the covariance of the slots after period t, cov(q_t, y) = X C and cov(q_t, q_t) = D^-1 + X C X'
(Rauch, Tung & Striebel, 1965). The determinant in q is that in u.

Source: Rauch, H. E., Tung, F. & Striebel, C. T. (1965), "Maximum likelihood estimates of linear dynamic systems", AIAA
Journal 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from bayes_arena.algebra.elimination import Chain
from bayes_arena.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Link:
    """The numbers of one period, given what follows.

    Attributes
    ----------
    period : int
    slots : ndarray of int, shape (p,)
        P of the module docstring.
    numbers : ndarray of int, shape (p,)
        Their places in (head, own).
    inverse, onward : ndarray, shapes (p, p) and (p, d)
        D^-1 and X.
    """

    period: int
    slots: Ints
    numbers: Ints
    inverse: Floats
    onward: Floats


def linked(
    chain: Chain, weights: Floats, size: int, votes_of: Callable[[int], Floats]
) -> tuple[list[Link], Floats, float]:
    """Eliminate the numbers of all periods but the last.

    Parameters
    ----------
    chain : Chain
    weights : ndarray, shape (s,)
        W of every number.
    size : int
        Number of slots.
    votes_of : callable
        Returns what the votes of a period add to the slots, (size, size).

    Returns
    -------
    links : list of Link
    left : ndarray, shape (size, size)
        What is left, without the votes of the last period.
    log_determinant : float
        Sum of ln |D|.

    Raises
    ------
    numpy.linalg.LinAlgError
        If some D is not positive definite.
    """
    slots, links, total = np.zeros((size, size)), list[Link](), 0.0
    for period, (first, last) in enumerate(zip(chain.start[:-1], chain.start[1:], strict=True)):
        slots += votes_of(period)
        if first == last:
            continue
        at, weight = chain.competitor[first:last], weights[first:last]
        others = np.delete(np.arange(size), at)
        block, across = slots[np.ix_(at, at)], slots[np.ix_(at, others)]
        block[np.diag_indices(len(at))] += weight
        lower = scipy.linalg.cholesky(block, lower=True, check_finite=False)
        total += 2 * float(np.log(np.diag(lower)).sum())
        inverse, _ = scipy.linalg.lapack.dpotri(lower, lower=1)
        inverse += np.tril(inverse, -1).T
        onward, solved = np.empty((len(at), size)), inverse @ across
        onward[:, at], onward[:, others] = inverse * weight, -solved
        slots[np.ix_(others, others)] -= across.T @ solved
        slots[np.ix_(at, others)] = weighted = weight[:, None] * solved
        slots[np.ix_(others, at)] = weighted.T
        slots[np.ix_(at, at)] = np.diag(weight) - weight[:, None] * inverse * weight
        links.append(Link(period, at, chain.numbers[first:last], inverse, onward))
    return links, slots, total


def forward(links: list[Link], right: Floats, slots: Floats) -> list[Floats]:
    """Take right-hand sides (p, m), in (head, own), to what is left: add to ``slots`` (d, m), and return each D^-1 g.

    Those of the strengths, among the slots, are for r; that of the strength now is less by all of the deviations.
    """
    solved, now = [], np.zeros_like(slots)
    for link in links:
        given = right[link.numbers]
        slots[link.slots] -= given
        whole = now[link.slots] + given
        now[link.slots] = 0.0
        now += link.onward.T @ whole
        solved.append(link.inverse @ whole)
    slots += now
    return solved


def backward(links: list[Link], free: list[Floats], slots: Floats, into: Floats) -> None:
    """Write the deviations of all periods to ``into`` (p, m), given D^-1 g, or noise, and what is left, (d, m)."""
    following = slots.copy()
    for link, own in zip(reversed(links), reversed(free), strict=True):
        here = own + link.onward @ following
        following[link.slots] = here
        into[link.numbers] = here - slots[link.slots]


def covariances(links: list[Link], left: Floats) -> Iterator[tuple[Link, Floats, Floats]]:
    """Yield, backwards in time, every link, the covariance of the slots in its period, and variances of its steps.

    ``left`` (d, d) is the covariance of what is left; the covariance that is yielded is overwritten by the next one.
    """
    slots = left.copy()
    for link in reversed(links):
        across = link.onward @ slots
        own = link.inverse + across @ link.onward.T
        at = link.slots
        steps = np.diag(own) + np.diag(slots)[at] - 2 * across[np.arange(len(at)), at]
        slots[at], slots[:, at] = across, across.T
        slots[np.ix_(at, at)] = own
        yield link, slots, steps
