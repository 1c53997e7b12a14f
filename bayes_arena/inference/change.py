"""Whether strengths changed over time: a test of strengths that stay against strengths that walk.

Let s_v be the slope of the log-likelihood in the lead of a vote v, at the strengths that were fitted to all periods.
Under a walk from period to period the strength of competitor i gets a step after every period b, whose score is the sum
of its slopes so far, C_{b,i} = sum of +-s_v over its votes up to b, and the score of the variance of all steps is, but
for what does not depend on the votes,

    Q = sum over i and b of g_b C_{b,i}^2,        g_b the periods from b to the next one

(Nyblom, 1989). Strengths were estimated from the same votes: with I_b the information on them up to b, and I all of it,
C_b - I_b I^-1 C is free of that to first order, and of the pull of the prior. Its distribution without change is that
of the same sums with the slopes times independent standard normal numbers: one for every annotator, whose votes need
not be independent, or, where annotators are unknown, with slopes of the variance that the model gives them. Mean and
variance of Q over such draws give its p-value by the chi-square distribution with the same (Satterthwaite, 1946).

The same for the terms of one competitor says who changed. Since when: after the b where |C_{b,i}| is largest in its
standard deviations. By how much, in logits: with h and H the information on i up to b and in all, C_{b,i} / (h (1 - h /
H)), if it changed at once, from b on upwards where that is negative.

Sources: Nyblom, J. (1989), "Testing for the constancy of parameters over time", JASA 84. Satterthwaite, F. E. (1946),
"An approximate distribution of estimates of variance components", Biometrics Bulletin 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaincc

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.inference.mode.mode import Mode
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import TIME
from bayes_arena.votes.periods import period_of, periods

DRAWS, AT_ONCE = 200, 50
"""Draws without change, and how many of them at a time."""
LEVEL = 0.05
"""Probability of a false alarm."""
POINTS = 400 / math.log(10)
"""Elo points in a logit."""
SMALL = 1e-12
ROOM = 100_000_000
"""Pairs of competitors times periods whose information is held at once, at most."""


@dataclass(frozen=True, eq=False)
class Change:
    """What the test for change found.

    Attributes
    ----------
    p : float
        P-value of no change of any strength.
    by_competitor : ndarray, shape (n,)
        P-values of no change of one strength, by itself.
    since : ndarray of int, shape (n,)
        Index of the first period after the clearest change.
    size : ndarray, shape (n,)
        By how much the strength changed then, in logits.
    names : tuple of str
        Of the periods.
    """

    p: float
    by_competitor: Floats
    since: Ints
    size: Floats
    names: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Whether strengths changed."""
        return self.p < LEVEL

    @property
    def order(self) -> Ints:
        """Competitors by how clearly they changed, the clearest first."""
        return np.asarray(np.lexsort((-np.abs(self.size), self.by_competitor)))


def is_timed(cells: Cells) -> bool:
    """Whether votes are of two periods or more."""
    return TIME in cells.slices and period_of(cells.slice_names[TIME]) is not None and bool(np.ptp(cells.slices[TIME]))


def is_too_large(cells: Cells) -> bool:
    """Whether there are too many competitors and periods for the test."""
    return len(cells.slice_names[TIME]) * cells.n_competitors**2 > ROOM


def change(mode: Mode) -> Change | None:
    """Test whether strengths changed over time.

    None where the votes are not of several periods, there are too many competitors, or the model moves.

    Parameters
    ----------
    mode : Mode
        A fit of a model whose strengths stay.
    """
    problem, target = mode.problem, mode.problem.objective
    cells, model, n = problem.cells, problem.model, problem.cells.n_competitors
    if model.drift or not is_timed(cells) or n < 2 or is_too_large(cells):
        return None
    from scipy.sparse import csr_array  # slow to import

    known = bool(cells.n_annotators)
    tally = cells.tally(
        by_annotator=known, by_side=model.position != "none", features=model.features, slices=(*model.slices, TIME)
    )
    here = replace(target, tally=tally, counts=model.seen_counts(tally.counts))
    terms, theta = here.row_terms(mode.point), np.asarray(here.factors(mode.point)[0]) * np.ones(len(tally.i))
    slope, weight = -theta * terms.gradient[ETA], np.maximum(theta**2 * terms.hessian[ETA, ETA], 0.0)
    times, (period, code) = periods(cells.slice_names[TIME]), np.unique(tally.slices[-1], return_inverse=True)
    gaps, count = np.diff(times[period]).astype(float), len(period)

    pair = sum_by(code * n * n + tally.i * n + tally.j, weight, count * n * n).reshape(count, n, n)
    informed = -(pair + pair.transpose(0, 2, 1))
    informed[:, np.arange(n), np.arange(n)] = -informed.sum(axis=2)
    informed = np.cumsum(informed, axis=0)
    taken = informed[:-1] @ np.linalg.pinv(informed[-1], hermitian=True)  # I_b I^-1

    rows = np.arange(len(tally.i))
    place = np.concatenate([code * n + tally.i, code * n + tally.j])
    units = np.tile(tally.k if known else rows, 2)
    values = slope if known else np.sqrt(weight)
    shape = (count * n, cells.n_annotators if known else len(rows))
    matrix = csr_array((np.concatenate([values, -values]), (place, units)), shape=shape)

    def sums(by_period: Floats) -> Floats:
        """Return C_b - I_b I^-1 C of scores (count * n, m), shape (count - 1, n, m)."""
        total = np.cumsum(by_period.reshape(count, n, -1), axis=0)
        return np.asarray(total[:-1] - taken @ total[-1])

    found = sums(sum_by(place, np.concatenate([slope, -slope]), count * n))[..., 0]
    rng, drawn, squares = np.random.default_rng(0), list[Floats](), np.zeros(found.shape)
    for _ in range(DRAWS // AT_ONCE):
        noise = sums(matrix @ rng.normal(size=(shape[1], AT_ONCE)))
        drawn.append(np.einsum("b,bim->im", gaps, noise**2))
        squares += (noise**2).sum(axis=2)
    without = np.concatenate(drawn, axis=1)
    each = gaps @ found**2
    sd = np.sqrt(squares / DRAWS)
    z = np.divide(np.abs(found), sd, out=np.zeros_like(sd), where=sd > SMALL)
    since = z.argmax(axis=0)
    who = np.arange(n)
    before, whole = informed[since, who, who], np.maximum(informed[-1, who, who], SMALL)
    share = np.maximum(before * (1 - before / whole), SMALL)
    return Change(
        p=float(_p_value(each.sum(), without.sum(axis=0))),
        by_competitor=np.array([_p_value(*of) for of in zip(each, without, strict=True)]),
        since=period[since + 1],
        size=-found[since, who] / share,
        names=cells.slice_names[TIME],
    )


def _p_value(found: float, drawn: Floats) -> float:
    """Return the probability of as large a value, by the multiple of a chi-square with the mean and variance drawn."""
    mean, variance = float(drawn.mean()), float(drawn.var(ddof=1))
    if mean <= SMALL or variance <= SMALL**2:
        return 1.0
    return float(gammaincc(mean**2 / variance, found * mean / variance))
