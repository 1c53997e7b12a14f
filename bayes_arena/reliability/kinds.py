"""Kinds of annotators: most vote by the common ranking, some guess, and some turn it round.

The prior of a fit lets every theta_k scatter around one mean. A share of guessers then passes for wide scatter, and
each of them for somebody regular. Here theta_k has one of three priors instead,

    regular    theta ~ N(m, s^2)
    guesses    theta ~ N(0, (NEAR m)^2), and no loading on any direction
    reversed   theta ~ N(-m, s^2)

with shares pi_c. The fit is not repeated. What the votes of k say is their likelihood on a few values of theta around
its mean, all that is not the annotator's being at its mean, and the annotator's other numbers u at theirs for that
theta (Laplace's method),

    L(theta) = p(votes | theta, u) p(u),        u = E[u | theta].

Loadings are zero where an annotator guesses. Where one is regular or reversed they are integrated out, under the
distribution that they have in this crowd given theta: under their prior, which is wider, everybody close to zero would
seem to guess. Those who share a ranking, and differ in how clear their votes are, lie on a ray from zero,

    (theta_k, v_k) = s_k mu_c + e_k,    s_k ~ N(1, sigma^2),    e_k ~ N(0, T),

one for each hump of the loadings (:mod:`bayes_arena.reliability.humps`). Somebody who says little has small loadings
for that reason; were they independent of theta, such annotators would seem to guess wherever camps lie far apart.
Sums over the values
are integrals up to rounding (the trapezoidal rule for smooth peaks). The shares, m and s have the largest posterior
density (EM: Dempster, Laird & Rubin, 1977, JRSS B 39) under weak priors: a Dirichlet density of the shares that adds
``FEW`` annotators, one annotator more with the mean theta, and s / ``SCATTER`` ~ chi(3) as a density of ln s, which
vanishes at zero.

A draw of an annotator's numbers becomes a draw under the mixture. A kind c is drawn; theta moves as the change of its
prior, from that of the fit to that of the kind, moves its mean mu and standard deviation sigma under L,

    theta  ->  E theta + (mu_c - mu) + (theta - E theta) sigma_c / sigma;

loadings of those who guess go to zero, and the other numbers follow by their regression. So a draw keeps its strengths,
and under the prior of the fit itself nothing would change. Since NEAR is small, evidence for guessing is L(0), and mu_c
and sigma_c are those of the fit's Gaussian.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logsumexp, softmax

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.fits.result import Fit
from bayes_arena.inference.belonging import told_by_votes
from bayes_arena.likelihood.objective import Objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.predictor import THETA
from bayes_arena.reliability.humps import NARROWEST, humps, log_normal

REGULAR, GUESSES, REVERSED = range(3)
STEP, STEPS = 0.6, np.arange(-8.0, 9.0)
"""Between values of theta, in standard deviations; steps from the mean."""
NEAR = 0.05
"""Spread of theta among those who guess, relative to m: all below the bar of anomalous consistency, a fifth."""
FEW = np.array([4.5, 0.25, 0.25])
"""Annotators of each kind that are added."""
SCATTER, DEGREES = 0.5, 3
"""Scale of the prior of s, relative to the mean theta, and its degrees of freedom."""
MANY = 4_000
"""Annotators, evenly spaced, that are enough to find shares, m and s."""
ROUNDS, SETTLED = 500, 1e-4
"""Most iterations of EM, and the change that is the last."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """What kind each annotator is.

    Attributes
    ----------
    share : ndarray, shape (3,)
        pi_c of the regular, of those who guess and of the reversed.
    mean, sd : float
        m and s.
    probability, theta, scale : ndarray, shape (3, M)
        Probability of each kind for every annotator, mean of theta under it, and sigma_c / sigma.
    own : OwnNumbers
        How the annotators' numbers depend on each other.
    point : Point
        The mean of the posterior.
    """

    share: Floats
    mean: float
    sd: float
    probability: Floats
    theta: Floats
    scale: Floats
    own: OwnNumbers
    point: Point

    def guessing(self) -> Point:
        """Return the point at which all annotators guess."""
        return replace(self.point, own=self.own.without_leads(self.own.mean))

    def redrawn(self, parts: Iterable[tuple[Ints, Floats]]) -> Iterator[tuple[Ints, Floats]]:
        """Turn draws of the fit, numbers (n_draws, m, q) of annotators by index, into draws under the mixture."""
        rng, center = np.random.default_rng([0, len(self.own.mean)]), self.own.mean[:, THETA]
        for part, own in parts:
            upto = self.probability[:, part].cumsum(axis=0)
            kind = (rng.random((1, *own.shape[:2])) > upto[:REVERSED, None]).sum(axis=0)
            mean, scale = (np.take_along_axis(one[:, part], kind, axis=0) for one in (self.theta, self.scale))
            theta = mean + scale * (own[..., THETA] - center[part])
            without = np.where((kind == GUESSES)[..., None], self.own.without_leads(own, part), own)
            yield part, self.own.with_theta(without, theta, part)


@dataclass(frozen=True, eq=False)
class OwnNumbers:
    """The posterior of the annotators' own numbers, and how they follow theta and the loadings.

    It has their ``mean``, (M, q), and ``covariance`` given all other numbers, (M, q, q); ``leads`` are the places of
    theta and of the loadings among them.
    """

    mean: Floats
    covariance: Floats
    leads: Ints

    def with_theta(self, own: Floats, theta: Floats, part: Ints | slice = slice(None)) -> Floats:
        """Return numbers (..., m, q) of some annotators with another theta (..., m), the others following it."""
        variance = self.covariance[part, THETA, THETA]
        moved = own + self.covariance[part, :, THETA] / variance[:, None] * (theta - own[..., THETA])[..., None]
        moved[..., THETA] = theta
        return moved

    def without_leads(self, own: Floats, part: Ints | slice = slice(None)) -> Floats:
        """Return numbers with theta and the loadings at zero, the others following them."""
        inside = self.covariance[part][:, self.leads[:, None], self.leads]
        slopes = self.covariance[part][:, :, self.leads] @ np.linalg.inv(inside)
        moved: Floats = own - np.einsum("kqd,...kd->...kq", slopes, own[..., self.leads])
        moved[..., self.leads] = 0.0
        return moved

    def given_theta(self) -> Floats:
        """Return the covariance given theta, shape (M, q, q)."""
        with_theta = self.covariance[:, :, THETA]
        variance = self.covariance[:, THETA, THETA]
        return self.covariance - with_theta[:, :, None] * with_theta[:, None] / variance[:, None, None]

    def log_volume(self) -> Floats:
        """Return half the logarithm of the determinant of the loadings' covariance given theta, shape (M,)."""
        return np.asarray(0.5 * np.linalg.slogdet(self.given_theta()[:, self.leads[1:, None], self.leads[1:]])[1])


@dataclass(frozen=True, eq=False)
class Told:
    """What the votes say of theta: its values and ln L there, plus ln of the step, (T, M).

    ``at_zero`` is the log-evidence for guessing, (M,).
    """

    theta: Floats
    log_likelihood: Floats
    at_zero: Floats

    def of(self, part: Ints) -> Told:
        """Return the same of some annotators."""
        return Told(self.theta[:, part], self.log_likelihood[:, part], self.at_zero[part])

    def under(self, center: float, sd: float) -> tuple[Floats, Floats, Floats]:
        """Return log-evidence, and mean and variance of theta, under N(center, sd^2), each (M,)."""
        joint = self.log_likelihood - 0.5 * ((self.theta - center) / sd) ** 2
        evidence = logsumexp(joint, axis=0)
        weight = np.exp(joint - evidence)
        mean = (weight * self.theta).sum(axis=0)
        return evidence - np.log(sd * np.sqrt(2 * np.pi)), mean, (weight * (self.theta - mean) ** 2).sum(axis=0)


def kinds(fit: Fit) -> Kinds | None:
    """Find what kind each annotator is; None where theta is not free."""
    if not fit.target.free_discrimination:
        return None
    point = _mean(fit)
    leads = np.array([place for place, one in enumerate(fit.target.own) if one.basis == "lead"], dtype=np.int64)
    own = OwnNumbers(point.own, fit.laplace.own_given_head(), leads)
    told = _told(fit.target, point, own)
    share, m, s = _largest(told.of(_some(len(own.mean))))
    probability, theta, variance = _given(told, share, m, s)
    center, sd = fit.target.own[THETA].mean, _spread(fit)
    _, usual, spread = told.under(center, sd)
    theta[[REGULAR, REVERSED]] += own.mean[:, THETA] - usual
    within = own.covariance[:, THETA, THETA]
    variance[GUESSES] = 1 / (np.maximum(1 / within - sd**-2, 0.0) + (NEAR * m) ** -2)
    theta[GUESSES] = variance[GUESSES] * (own.mean[:, THETA] / within - center * sd**-2)
    usually = np.array([spread, within, spread])
    ratio = np.divide(variance, usually, out=np.ones_like(variance), where=usually > 0)  # 0 / 0 at infinity
    scale = np.sqrt(ratio)
    return Kinds(share, m, s, probability, theta, scale, own, point)


def _some(count: int) -> Ints:
    """Return as many of the annotators, evenly spaced, as are enough."""
    return np.unique(np.linspace(0, count - 1, min(MANY, count)).astype(np.int64))


def _mean(fit: Fit) -> Point:
    """Return the mean of the posterior: of the Gaussian, or of the draws."""
    drawn = fit.samples
    if drawn is None:
        return fit.point
    return Point(*(one.mean(axis=0) for one in (drawn.strength, drawn.common, drawn.own, drawn.slices)))


def _told(target: Objective, point: Point, own: OwnNumbers) -> Told:
    """Return what the votes say of theta."""
    sd = np.sqrt(own.covariance[:, THETA, THETA])
    theta = own.mean[:, THETA] + STEP * sd * STEPS[:, None]
    volume = own.log_volume() - np.log([target.own[place].sd for place in own.leads[1:]]).sum() + np.log(STEP * sd)
    moved = [own.with_theta(own.mean, one) for one in theta]
    log_likelihood = np.array([_log_joint(target, point, one) for one in moved]) + volume
    if len(own.leads) > 1:
        crowd, given = _Crowd.of(*told_by_votes(target, point, own.covariance, own.leads)), own.given_theta()
        for row, numbers in enumerate(moved):
            told = told_by_votes(target, replace(point, own=numbers), given, own.leads[1:])
            log_likelihood[row] += crowd.log_ratio(theta[row], *told)
    return Told(theta, log_likelihood, _log_joint(target, point, own.without_leads(own.mean)))


@dataclass(frozen=True, eq=False)
class _Crowd:
    """How theta and loadings are distributed in the crowd: around rays, which those of equal taste share.

    Attributes
    ----------
    share : ndarray, shape (C,)
        Of the annotators around each ray.
    mean : ndarray, shape (C, d)
        mu_c.
    along, spread : float, and ndarray, shape (d, d)
        sigma and T: how far they scatter along the ray, and around it.
    """

    share: Floats
    mean: Floats
    along: float
    spread: Floats

    @classmethod
    def of(cls, x: Floats, noise: Floats) -> _Crowd:
        """Find the crowd in which the votes are likeliest (EM), given what they say of everybody, (M, d)."""
        some = _some(len(x))
        x, noise = x[some], noise[some]
        one, *further = humps(x[:, 1:], noise[:, 1:, 1:])
        best = max([one, *further], key=lambda many: many.gain(one))
        member, variance = best.membership, SCATTER**2
        mean = member.T @ x / member.sum(axis=0)[:, None]
        spread = np.diag(np.append(NEAR**2, np.diag(best.spread)))
        for _ in range(ROUNDS):
            last = mean, variance
            covariance = noise[:, None] + spread + variance * mean[:, :, None] * mean[:, None]
            off = x[:, None] - mean
            joint = np.stack([log_normal(off[:, c], covariance[:, c]) for c in range(len(mean))], axis=1)
            share = member.mean(axis=0)
            member = softmax(joint + np.log(share), axis=1)
            bent = np.linalg.solve(covariance, off[..., None])[..., 0]
            ray = np.linalg.solve(covariance, np.broadcast_to(mean[..., None], (*off.shape, 1)))[..., 0]
            length = 1 + variance * (bent * mean).sum(axis=2)  # s_k, and its variance
            loose = variance - variance**2 * (ray * mean).sum(axis=2)
            beside = bent @ spread  # a_k - s_k mu_c, its covariance, and that with s_k
            left = spread - spread @ np.linalg.solve(covariance, np.broadcast_to(spread, covariance.shape))
            both = length[..., None] * beside - variance * ray @ spread
            mean = mean + np.einsum("kc,kcd->cd", member, both) / (member * (length**2 + loose)).sum(axis=0)[:, None]
            variance = float((member * ((length - 1) ** 2 + loose)).sum() / len(x))
            spread = np.einsum("kc,kcd,kce->de", member, beside, beside) + np.einsum("kc,kcde->de", member, left)
            spread = spread / len(x) + NARROWEST**2 * np.eye(len(spread))
            if max(np.abs(mean - last[0]).max(), abs(variance - last[1])) < SETTLED:
                break
        return cls(share, mean, float(np.sqrt(variance)), spread)

    def log_ratio(self, theta: Floats, x: Floats, noise: Floats) -> Floats:
        """Return the log-evidence of loadings given theta, over that under their prior, (M,)."""
        parts = []
        for mean in self.mean:
            covariance = self.spread + self.along**2 * np.outer(mean, mean)
            slope = covariance[1:, 0] / covariance[0, 0]
            center = mean[1:] + slope * (theta - mean[0])[:, None]
            parts.append(log_normal(x - center, noise + covariance[1:, 1:] - np.outer(slope, covariance[0, 1:])))
        prior = log_normal(x, noise + np.eye(x.shape[1]))
        return np.asarray(logsumexp(np.array(parts) + np.log(self.share)[:, None], axis=0) - prior)


def _log_joint(target: Objective, point: Point, own: Floats) -> Floats:
    """Return the log-density of every annotator's votes and other numbers than theta, up to constants, shape (M,)."""
    there = replace(point, own=own)
    if target.slices:
        loss = target.row_terms(there).value
    else:
        loss = np.concatenate([target.terms_of(rows, there)[2].value for rows in target.blocks()])
    found = -sum_by(target.tally.k, loss, target.n_annotators)
    for place, one in enumerate(target.own):
        if place != THETA:
            found -= 0.5 * ((own[:, place] - one.mean) / one.sd) ** 2
    return found


def _spread(fit: Fit) -> float:
    """Return the prior spread of theta; its root mean square where it was sampled."""
    one = fit.target.own[THETA]
    drawn = fit.sampled_spreads.get(one.spread)
    return one.sd if drawn is None else float(np.sqrt(np.mean(drawn**2))) / one.unit


def _given(told: Told, share: Floats, m: float, s: float) -> tuple[Floats, Floats, Floats]:
    """Return probabilities of the kinds, and means and variances of theta under them, each (3, M)."""
    none = np.zeros_like(told.at_zero)
    found = told.under(m, s), (told.at_zero, none, none), told.under(-m, s)
    log_evidence, theta, variance = (np.array(one) for one in zip(*found, strict=True))
    return softmax(log_evidence + np.log(share)[:, None], axis=0), theta, variance


def _largest(told: Told) -> tuple[Floats, float, float]:
    """Return the shares, m and s of the largest posterior density (EM)."""
    middle = told.theta[len(told.theta) // 2]
    size = float(np.abs(middle).mean())
    share, m, s = FEW / FEW.sum(), size, SCATTER * size
    for _ in range(ROUNDS):
        probability, theta, variance = _given(told, share, m, s)
        regular, turned = probability[REGULAR], probability[REVERSED]
        count, last = float(regular.sum() + turned.sum()), np.append(share, (m, s))
        m = float(regular @ theta[REGULAR] - turned @ theta[REVERSED] + middle.mean()) / (count + 1)
        squares = regular @ ((theta[REGULAR] - m) ** 2 + variance[REGULAR])
        squares += turned @ ((theta[REVERSED] + m) ** 2 + variance[REVERSED])
        s = _spread_of(float(squares), count)
        share = (probability.sum(axis=1) + FEW) / (len(middle) + FEW.sum())
        if np.abs(np.append(share, (m, s)) - last).max() < SETTLED:
            break
    return share, m, s


def _spread_of(squares: float, count: float) -> float:
    """Return s of the largest density: squares / s^2 - count + DEGREES - s^2 / SCATTER^2 = 0."""
    half = 0.5 * SCATTER**2 * (count - DEGREES)
    return float(np.sqrt(np.sqrt(half**2 + SCATTER**2 * squares) - half))
