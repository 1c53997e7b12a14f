"""A competitor's centre, and views far from it: a mixture for each competitor, profiled over the centre.

Annotators k see a competitor at x_k (:mod:`bayes_arena.promotion.views`, offsets apart). Most lie within a taste of its
centre r; the others far off, in slabs j of densities f_j:

    x_k ~ (1 - t_g) N(r, s^2) + t_g sum_j p_j f_j,        L_k,j(r) = int f_j(x) P(votes of k | x) dx.

Six slabs are normal, three above r, three below. Three are where they are wherever r is: anywhere on the grid of x, and
its two ends (votes for, or against, whatever is shown). So what one annotator says of r is bounded, and votes that were
bought say nothing of it: those so steep that no normal slab reaches them, such as wins by somebody who ties elsewhere,
would drag r along.

How many are far off depends on how many votes they cast on the competitor, by groups g: one or two, three to five, six
to eleven, and so on. Who buys votes casts many. Did all share one t, two wins by honest passers-by would look bought,
too, and the centre would be too low. What those far off think, p, all share.

With weights a_k of the annotators, the log profiles are

    closed(r) = max over t of sum_k a_k ln((1 - t) L_k,0 + t mean_j L_k,j),    all t_g = t = 0, .003, .01 or .03;
    open(r)   = max over t, p of sum_k a_k ln((1 - t_g) L_k,0 + t_g sum_j p_j L_k,j) + 10 sum_g ln(1 - t_g),

t_g at most a half (by EM), each plus the prior of r, and ln(e^closed + e^(open - 4)) is the profile of r. It is
evaluated on the whole line, so that every basin counts: where a second one is nearly as likely, a competitor's centre
is contested.

The gate. g1 and g2 are the gains of open over closed, each at its best, where all annotators count alike and where they
count by u; closed, tastes may be a quarter wider than s, as people may differ more on one competitor than on others. h
compares the centres by all alike and by u, as Hausman (1978) compares two estimators of which only one is consistent if
a few misbehave:

    h = (r_1 - r_u) / sqrt(max(V_u - V_1, (.25 sd_u)^2)).

A gate opens where g1 or g2 exceeds max(6, .4 sqrt(m)), or |h| exceeds 3. Of m annotators some sqrt(m) have to be far
off to move the centre by a standard deviation; fewer do no harm, and tastes of thousands are never quite normal.

The spread s of tastes is common to all competitors: the median over these of the s under which the votes on each are
likeliest, at least .3, so that no campaign on fewer than half of them makes it wide. Were it fixed, an arena of many
votes and strong tastes would be full of gates.

Reference: Hausman, J. A. (1978), "Specification tests in econometrics", Econometrica 46.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
import scipy

from bayes_arena.arrays import Floats, Ints
from bayes_arena.compiled import called

TASTES = (0.3, 0.4, 0.55, 0.75, 1.0, 1.4)
"""Values of s that are compared, in logits."""
AT, WIDE = np.array([1.2, 2.2, 4.0]), np.array([0.4, 0.6, 1.2])
"""Centres and widths of the slabs above, in logits; those below mirror them. The first is at least 2.5 s off."""
ABOVE, ANYWHERE = [1, 2, 3, 8], 7
"""Components that are above, the end among them, and the one that is anywhere."""
FEW, STIFF, TOLL = (0.0, 0.003, 0.01, 0.03), 10.0, 4.0
"""Shares of the slabs where closed, the factor on ln(1 - t_g) where open, and the cost of opening, in nats."""
COMPONENTS = 10
"""The taste, three slabs above, three below, anywhere, and the ends: above, then below."""
ITERATIONS = 20
"""Of EM."""
VOTES = np.array([2.5, 5.5, 11.5, 23.5])
"""Numbers of votes on a competitor between the groups of annotators."""
REACH, STEP, FINE = 4.5, 0.15, 0.01
"""Range of r on either side of the fit's, and steps of its grid, before and after interpolation."""
POSITIONS, SPACING = 10.2, 0.3
"""Range and spacing of positions x. The integrands are analytic and as wide as s, where sums over a grid of spacing s
are exact to e^(-2 pi^2)."""
NEARBY = 2.3
"""Range of r on either side of the fit's in which the gate compares profiles."""
LOOKS = np.array([-4, -2, 0, 2, 4])
"""Where the first look evaluates the open profile: steps of the grid from the closed one's peak."""
NEAR_GAIN, NEAR_DIFFERENCE = 1 / 3, 1 / 2
"""Shares of the gain and of the size of h that open a gate, below which it is far from opening."""
GAIN, BY_ROOT, DIFFERENCE = 6.0, 0.4, 3.0
"""Where the gate opens: g, at least and by the root of the number of annotators, and h."""
WIDER = (1.12, 1.25)
"""Multiples of s that are tried, too, where closed."""
WITHIN, APART = 5.0, 0.4
"""A second basin is within reach if it is less than so many nats lower, and so far apart, in logits."""
AT_ONCE = 1000
"""Annotators whose logarithms are added at once: few enough for a processor's cache."""


@dataclass(frozen=True, eq=False)
class Line:
    """A log profile on a fine grid of r.

    Attributes
    ----------
    r, value : ndarray, shape (m,)
    """

    r: Floats
    value: Floats

    @classmethod
    def through(cls, r: Floats, value: Floats, spacing: float = FINE) -> Line:
        """Interpolate a profile on a grid of spacing ``STEP``, by a cubic spline."""
        fine = np.arange(r[0], r[-1] + spacing / 2, spacing)
        return cls(fine, _spline(len(r), len(fine), spacing) @ value)

    @property
    def moments(self) -> tuple[float, float]:
        """Mean and standard deviation."""
        p = np.exp(self.value - self.value.max())
        p /= p.sum()
        mean = float(p @ self.r)
        return mean, float(np.sqrt(p @ (self.r - mean) ** 2))

    @property
    def highest(self) -> float:
        """Where it is largest, by the parabola through three points."""
        top = int(np.clip(self.value.argmax(), 1, len(self.r) - 2))
        before, there, after = self.value[top - 1 : top + 2]
        bend = 2 * there - before - after
        spacing = self.r[1] - self.r[0]
        return float(self.r[top] + (spacing * np.clip(0.5 * (after - before) / bend, -1.0, 1.0) if bend > 0 else 0.0))

    @property
    def second(self) -> float | None:
        """Where a second basin is largest, if one is within reach."""
        v, best = self.value, self.highest
        is_peak = np.zeros(len(v), dtype=bool)
        is_peak[1:-1] = (v[1:-1] >= v[:-2]) & (v[1:-1] > v[2:])
        is_peak &= (np.abs(self.r - best) > APART) & (v > v.max() - WITHIN)
        return float(self.r[np.where(is_peak, v, -np.inf).argmax()]) if is_peak.any() else None


@dataclass(frozen=True, eq=False)
class Gate:
    """How far the votes on a competitor are from those of one crowd: g1, g2 and h, by so many people."""

    alike: float
    weighted: float
    difference: float
    people: float

    @property
    def gain(self) -> float:
        """The larger gain, in nats."""
        return max(self.alike, self.weighted)

    @property
    def is_open(self) -> bool:
        """Whether they are too far."""
        return self.excess > 1

    @property
    def is_close(self) -> bool:
        """Whether they are not far from being so."""
        gain, difference = self._shares
        return gain > NEAR_GAIN or difference > NEAR_DIFFERENCE

    @property
    def excess(self) -> float:
        """How far, in terms of what opens a gate."""
        return max(self._shares)

    @property
    def _shares(self) -> tuple[float, float]:
        return self.gain / max(GAIN, BY_ROOT * math.sqrt(self.people)), abs(self.difference) / DIFFERENCE


@dataclass(frozen=True, eq=False)
class Parts:
    """Each annotator's part in the mixture of a competitor whose centre is given; where closed, t = .03.

    Attributes
    ----------
    centre : float
        r, in logits.
    slab, above : ndarray, shape (m,)
        Probability that an annotator's view is in a slab, and in one above.
    shift : ndarray, shape (m,)
        That probability times how far off the view is then, in logits.
    log_bayes : ndarray, shape (m,)
        ln of L in the best slab over L without.
    counts : ndarray, shape (m,)
        What an annotator's votes count, rho and u apart (:mod:`bayes_arena.promotion.discounting`).
    """

    centre: float
    slab: Floats
    above: Floats
    shift: Floats
    log_bayes: Floats
    counts: Floats


@dataclass(frozen=True, eq=False)
class Mixture:
    """The views of one competitor.

    Attributes
    ----------
    near : float
        The fit's r, around which r and positions are laid out.
    likelihood : ndarray, shape (m, G)
        Of every annotator's position, at ``near`` plus :func:`positions`.
    alike, weight : ndarray, shape (m,)
        What each annotator counts: 1 and u, programs nothing.
    votes : ndarray, shape (m,)
        How many each cast.
    prior_sd : float
        Of r.
    taste : float
        s.
    """

    near: float
    likelihood: Floats
    alike: Floats
    weight: Floats
    votes: Floats
    prior_sd: float
    taste: float = TASTES[0]

    def gate(self) -> Gate:
        """Return the statistics of the gate, r within reach of the fit's.

        Where it is far from opening gains are rough: those at a few points about the peaks of the closed profiles.
        """
        shift, densities = _grid(NEARBY, self.taste)
        weights = np.array([self.alike, self.weight])
        closed = self._closed(shift, densities, weights)
        spacing = _spacing(closed[0])
        lines = [Line.through(self.near + shift, value, spacing) for value in closed]
        some = np.unique(np.clip(closed.argmax(axis=1, keepdims=True) + LOOKS, 0, len(shift) - 1))
        looks, _ = self._open(shift[some], densities[:, some], weights)
        alike, weighted = (looks.max(axis=1) - closed.max(axis=1)).tolist()
        people = float(self.alike.sum())
        first = Gate(alike, weighted, _hausman(*lines), people)
        if not first.is_close:
            return first
        opened = [Line.through(self.near + shift, value, spacing) for value in self._open(shift, densities, weights)[0]]
        wider = [self._closed(shift, _grid(NEARBY, times * self.taste)[1], weights) for times in WIDER]
        widest = [Line.through(self.near + shift, value, spacing) for value in np.max([closed, *wider], axis=0)]
        alike, weighted = (float(one.value.max() - line.value.max()) for one, line in zip(opened, widest, strict=True))
        return Gate(alike, weighted, _hausman(lines[0], _either(lines[1], opened[1])), people)

    def profile(self) -> Line:
        """Return the profile of r, over every basin."""
        shift, densities = _grid(REACH, self.taste)
        weight = self.weight[None]
        profiles = *self._closed(shift, densities, weight), *self._open(shift, densities, weight)[0]
        return _either(*(Line.through(self.near + shift, value, _spacing(profiles[0])) for value in profiles))

    def log_bayes(self, centre: float) -> Floats:
        """Return ln of L in the best slab over L without, for every annotator, r at the centre."""
        (each,) = self._components(_densities(np.array([centre - self.near]), self.taste))
        return _log_bayes(each.T)

    def parts(self, centre: float, *, is_open: bool) -> Parts:
        """Return each annotator's part in the mixture around a centre, with the shares of an open gate or a closed."""
        at = np.array([centre - self.near])
        densities = _densities(at, self.taste)
        each, shares = self._components(densities)[0].T, _shares(FEW[-1])
        if is_open:
            opened, ((found,),) = self._open(at, densities, self.weight[None])
            found = found[self._group]
            closed = self._closed(at, densities, self.weight[None])
            chance = float(scipy.special.expit(opened - TOLL - closed)[0, 0])
            shares = chance * found + (1 - chance) * shares
        parts = each * shares
        parts /= parts.sum(axis=1, keepdims=True)
        x = positions()
        mean = ((self.likelihood * x) @ densities[:, 0]) / each
        squares = ((self.likelihood * x**2) @ densities[:, 0, 0]) / each[:, 0]
        narrowed = np.clip((squares - mean[:, 0] ** 2) / self.taste**2, 0.0, 1.0)
        slab, pull = parts[:, 1:].sum(axis=1), self.weight * (mean[:, 0] - at) / self.taste**2
        of_slabs, of_all = float(slab @ pull), float(pull.sum()) - centre / self.prior_sd**2
        taken = float(np.clip(of_all / of_slabs, 0.0, 1.0)) if of_slabs else 1.0
        higher = self.likelihood[:, x > at].sum(axis=1) / self.likelihood.sum(axis=1)
        return Parts(
            centre=centre,
            slab=slab,
            above=parts[:, ABOVE].sum(axis=1) + parts[:, ANYWHERE] * higher,
            shift=(parts * (mean - at))[:, 1:].sum(axis=1),
            log_bayes=_log_bayes(each),
            counts=(1 - taken * slab) * narrowed,
        )

    def likeliest_taste(self) -> tuple[float, float]:
        """Return the s under which the votes, weighted by u, are likeliest, r at the fit's, and what it gains, in nats.

        Between the values that are compared it is the peak of a parabola in ln s through the highest three. The gain is
        over the smallest of them.
        """
        densities = np.concatenate([_grid(0.0, taste)[1] for taste in TASTES], axis=1)
        (value,) = self._closed(np.zeros(len(TASTES)), densities, self.weight[None])
        top = int(value.argmax())
        taste, gain = TASTES[top], float(value[top] - value[0])
        if top not in (0, len(TASTES) - 1):
            bend, slope, _ = np.polyfit(np.log(TASTES[top - 1 : top + 2]), value[top - 1 : top + 2], 2)
            taste = float(np.exp(-0.5 * slope / bend))
        return taste, gain

    def _components(self, densities: Floats) -> Floats:
        """Return L of every annotator under every component, shape (R, 10, m)."""
        size, count, width = densities.shape
        found = densities.reshape(size, -1).T @ self.likelihood.T
        found += np.finfo(float).tiny
        return np.asarray(found.reshape(count, width, -1))

    def _closed(self, shift: Floats, densities: Floats, weights: Floats) -> Floats:
        """Return the closed profile for each of several weights (W, m), shape (W, R)."""
        from bayes_arena.likelihood import loops  # numba is slow to import

        profiles, few = np.zeros((len(FEW), len(weights), len(shift))), np.array(FEW)
        both = [densities @ _shares(slabs) for slabs in (0.0, 1.0)]
        for first in range(0, len(self.likelihood), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            near, far = (self.likelihood[some] @ one + np.finfo(float).tiny for one in both)
            called(loops.add_mixed, near, far, weights[:, some], few, profiles)
        return np.asarray(profiles.max(axis=0) + self._prior(shift))

    def _open(self, shift: Floats, densities: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """Return the open profile for each of several weights (W, m), shape (W, R), and the likeliest shares.

        These are those of every group, shape (W, R, groups, 10).
        """
        from bayes_arena.likelihood import loops  # numba is slow to import

        shape = len(weights), len(shift)
        values, share = np.empty(shape), np.full((*shape, len(VOTES) + 1), 0.1)
        kind = np.full((*shape, COMPONENTS - 1), 1 / (COMPONENTS - 1))
        for at in range(len(shift)):  # one by one they fit a processor's cache
            (components,) = self._components(densities[:, at : at + 1])
            for w, weight in enumerate(weights):
                given = components, weight, self._group, share[w, at], kind[w, at], STIFF, ITERATIONS
                values[w, at] = called(loops.likeliest_shares, *given)
        shares = np.concatenate([1 - share[..., None], share[..., None] * kind[:, :, None]], axis=3)
        return values + self._prior(shift), shares

    @cached_property
    def _group(self) -> Ints:
        """Group of every annotator, by the number of votes."""
        return np.searchsorted(VOTES, self.votes)

    def _prior(self, shift: Floats) -> Floats:
        return np.asarray(-0.5 * ((self.near + shift) / self.prior_sd) ** 2)


def positions() -> Floats:
    """Return the grid of positions x around the fit's r, shape (G,)."""
    return np.asarray(np.arange(-POSITIONS, POSITIONS + SPACING / 2, SPACING), dtype=np.float64)


def _spacing(closed: Floats) -> float:
    """Return ``FINE``, halved until the peak of a profile is as wide: with a million votes it is narrower."""
    top = int(np.clip(closed.argmax(), 1, len(closed) - 2))
    bend = 2 * closed[top] - closed[top - 1] - closed[top + 1]
    halvings = math.ceil(math.log2(FINE / STEP * math.sqrt(max(bend, 1e-12))))
    return FINE / 2.0 ** min(max(halvings, 0), 8)


@cache
def _spline(size: int, fine: int, spacing: float) -> Floats:
    """Return the matrix that takes values ``STEP`` apart to those of their cubic spline, shape (fine, size).

    The spline has no knots next to the ends. ``scipy.interpolate`` takes longer to import than a small fit.
    """
    bend, second = np.zeros((size, size)), np.zeros((size, size))
    inner = np.arange(1, size - 1)
    for off, of_bend, of_value in ((-1, 1 / 6, 1.0), (0, 2 / 3, -2.0), (1, 1 / 6, 1.0)):
        bend[inner, inner + off], second[inner, inner + off] = of_bend, of_value
    bend[0, :3] = bend[-1, -3:] = 1.0, -2.0, 1.0
    bent = np.linalg.solve(bend, second)
    at = np.arange(fine) * (spacing / STEP)
    left = np.minimum(at.astype(int), size - 2)
    t = (at - left)[:, None]
    value = np.eye(size)
    linear = (1 - t) * value[left] + t * value[left + 1]
    return np.asarray(linear + (((1 - t) ** 3 - (1 - t)) * bent[left] + (t**3 - t) * bent[left + 1]) / 6)


@lru_cache(maxsize=32)
def _grid(reach: float, taste: float) -> tuple[Floats, Floats]:
    """Return the grid of r around the fit's, and the components' densities."""
    shift: Floats = np.arange(-reach, reach + STEP / 2, STEP, dtype=np.float64)
    return shift, _densities(shift, taste)


def _densities(shift: Floats, taste: float) -> Floats:
    """Return the components' densities of positions, each of sum 1 over these, shape (G, R, 10)."""
    off = AT + max(2.5 * taste - AT[0], 0.0)
    at, wide = np.concatenate([[0.0], off, -off]), np.concatenate([[taste], WIDE, WIDE])
    x = positions()[:, None, None]
    density = np.exp(-0.5 * ((x - shift[:, None] - at) / wide) ** 2)
    wherever = np.zeros((len(x), 3))
    wherever[:, 0], wherever[-1, 1], wherever[0, 2] = 1 / len(x), 1.0, 1.0
    wherever = np.broadcast_to(wherever[:, None], (len(x), len(shift), 3))
    return np.concatenate([density / density.sum(axis=0), wherever], axis=2)


def _log_bayes(each: Floats) -> Floats:
    """Return ln of L in the best slab over L without, given L of every annotator (m, 10)."""
    return np.asarray(np.log(each[:, 1:].max(axis=1)) - np.log(each[:, 0]))


def _shares(slabs: float) -> Floats:
    """Return shares of the components, of which all but the taste have so much together."""
    return np.append(1 - slabs, np.full(COMPONENTS - 1, slabs / (COMPONENTS - 1)))


def _either(closed: Line, opened: Line) -> Line:
    """Return ln(e^closed + e^(open - 4)), by what each is between the points of its grid.

    Many votes make both so steep that a spline through the sum, which takes the larger of them, would miss its peak.
    """
    return Line(closed.r, np.logaddexp(closed.value, opened.value - TOLL))


def _hausman(alike: Line, weighted: Line) -> float:
    """Return h."""
    (mean, sd), (other, other_sd) = alike.moments, weighted.moments
    return (mean - other) / float(np.sqrt(max(other_sd**2 - sd**2, (0.25 * other_sd) ** 2)))
