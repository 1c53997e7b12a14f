"""Kinds of annotators: most vote by the common ranking, some guess, and some turn it round.

The prior of a fit lets every theta_k scatter around one mean. A share of guessers then passes for wide scatter, and
each of them for somebody regular. Here theta_k has one of three priors instead,

    regular    theta ~ N(m, s^2)
    guesses    theta = 0, and no loading on any direction
    reversed   theta ~ N(-m, s^2)

with shares pi_c. The fit is not repeated: its Gaussian posterior of theta_k, N(mu, V), divided by its prior N(m0, s0^2),
is what the votes say,

    L(theta) = exp(h theta - g theta^2 / 2),        g = 1 / V - 1 / s0^2,    h = mu / V - m0 / s0^2,

which a flat prior leaves as it is, and votes that say nothing leave constant. Under N(m, s^2) its evidence is

    ln E L = (h + m / s^2)^2 Q / 2 - m^2 / (2 s^2) + ln(Q / s^2) / 2,        Q = 1 / (g + 1 / s^2),

and theta ~ N(Q (h + m / s^2), Q). At theta = 0 it is L(0) = 1, times p(v = 0 | theta = 0, votes) / p(v = 0) where
annotators have loadings v (Savage and Dickey's ratio: Dickey, 1971, Annals of Mathematical Statistics 42). The shares,
m and s have the largest posterior density (EM: Dempster, Laird & Rubin, 1977, JRSS B 39) under weak priors: ``FEW``
annotators more, ``m`` from one more annotator with the mean theta, and s ~ half-normal(1) as a density of ln s.

A draw of an annotator's numbers becomes a draw under the mixture: a kind is drawn, theta is moved and scaled to its
distribution under that kind, and the other numbers follow by their regression on it. So the draw keeps its strengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.predictor import THETA

REGULAR, GUESSES, REVERSED = range(3)
FEW = np.array([4.5, 0.25, 0.25])
"""Annotators of each kind that are added: where there are few, most are regular."""
ROUNDS, SETTLED = 1000, 1e-6
"""Most iterations of EM, and the change that is the last."""
LEAST_VARIANCE = 1e-12
"""Of theta: a single annotator has theta = 1 by definition."""


@dataclass(frozen=True, eq=False)
class Kinds:
    """What kind each annotator is.

    Attributes
    ----------
    share : ndarray, shape (3,)
        pi_c of the regular, of those who guess and of the reversed.
    mean, sd : float
        m and s.
    probability : ndarray, shape (3, M)
        Of each kind, for every annotator.
    theta : ndarray, shape (3, M)
        Mean of theta under each kind.
    scale : ndarray, shape (M,)
        Its standard deviation under both other kinds than guessing, in units of that in the fit.
    center : ndarray, shape (M,)
        Its mean in the fit.
    leads : ndarray of int, shape (d,)
        Places of theta and the loadings among the annotators' numbers.
    by_theta, by_leads : ndarray, shapes (M, q) and (M, q, d)
        Regressions of these numbers on theta, and on theta and the loadings.
    """

    share: Floats
    mean: float
    sd: float
    probability: Floats
    theta: Floats
    scale: Floats
    center: Floats
    leads: Ints
    by_theta: Floats
    by_leads: Floats

    def redrawn(self, parts: Iterable[tuple[Ints, Floats]], *, seed: int) -> Iterator[tuple[Ints, Floats]]:
        """Turn draws of the fit into draws under the mixture.

        Parameters
        ----------
        parts : iterable
            Indices of annotators, and draws of their numbers (n_draws, m, q).
        seed : int
            The same seed gives the same kinds.
        """
        rng = np.random.default_rng([seed, len(self.center)])
        for part, own in parts:
            upto = self.probability[:, part].cumsum(axis=0)
            kind = (rng.random((1, *own.shape[:2])) > upto[:REVERSED, None]).sum(axis=0)
            drawn = own[..., THETA]
            there = np.take_along_axis(self.theta[:, part], kind, axis=0)
            move = there + self.scale[part] * (drawn - self.center[part]) - drawn
            guessed = own - np.einsum("kqd,skd->skq", self.by_leads[part], own[..., self.leads])
            yield part, np.where((kind == GUESSES)[..., None], guessed, own + self.by_theta[part] * move[..., None])


def kinds(fit: Fit) -> Kinds | None:
    """Find what kind each annotator is; None where theta is not free."""
    if not fit.target.free_discrimination:
        return None
    mean, covariance = _moments(fit)
    leads = np.array([place for place, one in enumerate(fit.target.own) if one.basis == "lead"], dtype=np.int64)
    prior, sd = fit.target.own[THETA].mean, _spread(fit)
    center, variance = mean[:, THETA], np.maximum(covariance[:, THETA, THETA], LEAST_VARIANCE)
    information = np.maximum(1 / variance - sd**-2, 0.0)
    pull = center / variance - prior * sd**-2
    at_zero = _at_zero(fit, mean, covariance, leads)
    share, m, s = _largest(information, pull, at_zero, center)
    probability, theta, within = _given(share, m, s, information, pull, at_zero)
    by_theta = covariance[:, :, THETA] / variance[:, None]
    by_theta[:, THETA] = 1.0
    scale, by_leads = np.sqrt(within / variance), _regression(covariance, leads)
    return Kinds(share, m, s, probability, theta, scale, center, leads, by_theta, by_leads)


def _moments(fit: Fit) -> tuple[Floats, Floats]:
    """Return means (M, q) and covariances (M, q, q) of the annotators' numbers: of the Gaussian, or of a sample."""
    if fit.samples is None:
        return fit.point.own, fit.laplace.own_covariance()
    own = fit.samples.own
    off = own - own.mean(axis=0)
    return own.mean(axis=0), np.einsum("skp,skq->kpq", off, off) / len(own)


def _spread(fit: Fit) -> float:
    """Return the prior spread of theta; its root mean square where it was sampled."""
    one = fit.target.own[THETA]
    drawn = fit.sampled_spreads.get(one.spread)
    return one.sd if drawn is None else float(np.sqrt(np.mean(drawn**2))) / one.unit


def _regression(covariance: Floats, leads: Ints) -> Floats:
    """Return the regressions of all numbers on theta and the loadings, shape (M, q, d)."""
    inside = covariance[:, leads[:, None], leads] + LEAST_VARIANCE * np.eye(len(leads))
    slopes = covariance[:, :, leads] @ np.linalg.inv(inside)
    slopes[:, leads] = np.eye(len(leads))
    return slopes


def _at_zero(fit: Fit, mean: Floats, covariance: Floats, leads: Ints) -> Floats:
    """Return the logarithm of the evidence for guessing, shape (M,)."""
    loadings = leads[1:]
    if not len(loadings):
        return np.zeros(len(mean))
    variance = np.maximum(covariance[:, THETA, THETA], LEAST_VARIANCE)
    slope = covariance[:, loadings, THETA] / variance[:, None]
    center = mean[:, loadings] - slope * mean[:, [THETA]]
    spread = covariance[:, loadings[:, None], loadings] - slope[:, :, None] * covariance[:, None, THETA, loadings]
    spread += LEAST_VARIANCE * np.eye(len(loadings))
    sd = np.array([fit.target.own[place].sd for place in loadings])
    square = np.einsum("kd,kd->k", center, np.linalg.solve(spread, center[..., None])[..., 0])
    return np.asarray(np.log(sd).sum() - 0.5 * (square + np.linalg.slogdet(spread)[1]))


def _given(
    share: Floats, m: float, s: float, information: Floats, pull: Floats, at_zero: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return probabilities of the kinds (3, M), means of theta under them (3, M), and its variance (M,) if not zero."""
    within = 1 / (information + s**-2)
    theta, log_evidence = np.zeros((3, len(pull))), np.empty((3, len(pull)))
    log_evidence[GUESSES] = at_zero
    for kind, center in ((REGULAR, m), (REVERSED, -m)):
        theta[kind] = within * (pull + center / s**2)
        log_evidence[kind] = 0.5 * (theta[kind] ** 2 / within - (center / s) ** 2 + np.log(within / s**2))
    return softmax(log_evidence + np.log(share)[:, None], axis=0), theta, within


def _largest(information: Floats, pull: Floats, at_zero: Floats, center: Floats) -> tuple[Floats, float, float]:
    """Return the shares, m and s of the largest posterior density (EM)."""
    share, m, s = FEW / FEW.sum(), float(np.abs(center).mean()), 0.5 * float(np.abs(center).mean())
    for _ in range(ROUNDS):
        probability, theta, within = _given(share, m, s, information, pull, at_zero)
        regular, turned = probability[REGULAR], probability[REVERSED]
        size = float(regular.sum() + turned.sum())
        last = np.append(share, (m, s))
        m = float(regular @ theta[REGULAR] - turned @ theta[REVERSED] + center.mean()) / (size + 1)
        squares = regular @ ((theta[REGULAR] - m) ** 2 + within) + turned @ ((theta[REVERSED] + m) ** 2 + within)
        s = _spread_of(float(squares) + (center.mean() - m) ** 2, size)
        share = (probability.sum(axis=1) + FEW) / (len(pull) + FEW.sum())
        if np.abs(np.append(share, (m, s)) - last).max() < SETTLED:
            break
    return share, m, s


def _spread_of(squares: float, size: float) -> float:
    """Return s of the largest density: squares / s^2 - size + 1 - s^2 = 0."""
    half = (size - 1) / 2
    return float(np.sqrt(np.sqrt(half**2 + squares) - half))
