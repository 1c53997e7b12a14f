"""Siblings: what a score is worth that was chosen as the best of many of one provider.

A provider that tests n variants and shows the one that scored best shows luck along with strength. With strengths

    r_i = m_p(i) + d_i,      m_p ~ Normal(mu, s_m^2) for providers,      d_i ~ Normal(0, s_d^2) for their variants,

scores x_i = r_i + e_i with errors of variance v, and M_n the expected largest of n standard normal numbers, the best of
n scores is too high by

    E[x_best - r_best] = M_n v / sqrt(s_d^2 + v);

a board whose prior shrinks scores by the share c takes M_n c sqrt(s_d^2 + v) of it back.

Given m and the spreads, r_i depends on nothing but x_i, however i was chosen: pooled within providers, strengths need
no correction where every sibling is among the votes. Of siblings that were tested and not shown it is known that they
scored less than the best shown, x: that is a factor Phi((x - m_p) / sqrt(s_d^2 + v))^hidden, by which the distribution
of m_p is weighted, each provider by itself.

The votes enter through the Gaussian approximation of the likelihood of r*, the strengths on the Elo scale: precision
L = V^-1 less that of the prior, for V the covariance of the board. v_i is the diagonal of L^-1, and V_ii = (1 - c) v_i.
The spreads are averaged over, under half-normal priors, which in s_m = rho sin(phi), s_d = rho cos(phi) are uniform in
phi; for each phi one eigendecomposition gives every rho. Everything is in logits, against the mean of the competitors.

Source: the effect, and 27 private variants, Singh et al., "The Leaderboard Illusion", arXiv:2504.20879.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from bayes_arena.arrays import Floats, Ints
from bayes_arena.errors import ModelError, listing
from bayes_arena.fits.result import Fit
from bayes_arena.inference.projection import Projection, project
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

ANGLES, RADII = 16, np.geomspace(0.02, 6.0, 48)
"""Nodes of phi, and of rho in logits."""
SPREAD = 1.5
"""Scale of the half-normal priors of s_m and s_d, in logits: that of the spread of strengths everywhere."""
NODES = np.linspace(-8.0, 8.0, 321)
"""Nodes of a standard normal number."""
SILENT = 1e-10
"""Variance, relative to the largest, of a direction in which strengths are held."""


def siblings(
    result: Fit,
    provider: Mapping[str, str],
    *,
    tested: Mapping[str, int] | None = None,
    level: float = 0.95,
    elo: EloScale | None = None,
) -> pd.DataFrame:
    """Pool scores within providers, and say how far the best of many variants is expected to be overrated.

    Parameters
    ----------
    result : Fit
        A fitted model, by any route; its Gaussian approximation is read.
    provider : mapping of str to str
        Who made each competitor: the families whose variants are alike.
    tested : mapping of str to int, optional
        By provider, how many variants were tested, where that is more than the votes show. Those that are not shown
        are taken to have scored less than the best shown, on as many votes.
    level : float
        Coverage of the intervals.
    elo : EloScale, optional
        Elo scale; 1000 + 400 log10(odds) by default.

    Returns
    -------
    pandas.DataFrame
        ``competitor, provider, tested, elo, pooled, lower, upper, inflation``, the best pooled score first, in Elo
        points. ``elo`` is the plain score (at the mode); ``pooled`` the one that knows the provider and how many were
        tested, with its interval; ``inflation`` by how much the plain score of a competitor with so many votes is too
        high on average if it was chosen as the best of ``tested``. ``attrs`` has the spreads ``between`` and
        ``within`` providers, in Elo points.

    Raises
    ------
    ModelError
        If a competitor has no provider, fewer variants were tested than are shown, or the level is not possible.

    References
    ----------
    Singh et al., "The Leaderboard Illusion", arXiv:2504.20879.
    """
    import pandas as pd

    require_level(level)
    elo, names = elo or EloScale(), result.cells.competitors
    families = _families(names, provider, tested or {})
    with one_thread():
        board = project(result.target, result.point, result.cells.votes_by_annotator(), result.view)
        pooled = _pooled(families, board.strength, _covariance(result, board), _prior_precision(result, board))
    half_width = ndtri((1 + level) / 2) * elo.points_per_logit * pooled.sd
    score = elo.points(pooled.mean, names)
    table = pd.DataFrame(
        {
            "competitor": names,
            "provider": [families.names[family] for family in families.of],
            "tested": families.tested[families.of],
            "elo": elo.points(board.strength, names),
            "pooled": score,
            "lower": score - half_width,
            "upper": score + half_width,
            "inflation": elo.points_per_logit * pooled.inflation,
        }
    ).sort_values("pooled", ascending=False, ignore_index=True, kind="stable")
    between, within = elo.points_per_logit * pooled.spreads
    table.attrs.update(level=level, between=float(between), within=float(within))
    return table


@dataclass(frozen=True, eq=False)
class Families:
    """Which provider every competitor is of.

    Attributes
    ----------
    names : list of str
        Providers.
    of : ndarray of int, shape (n,)
        Index into them.
    tested : ndarray of int, shape (n_providers,)
        Variants that were tested.
    """

    names: list[str]
    of: Ints
    tested: Ints

    @property
    def shown(self) -> Ints:
        """Variants among the votes, shape (n_providers,)."""
        return np.bincount(self.of, minlength=len(self.names))


def _families(names: tuple[str, ...], provider: Mapping[str, str], tested: Mapping[str, int]) -> Families:
    missing = [name for name in names if name not in provider]
    if missing:
        raise ModelError(f"No provider is named for {listing(map(repr, missing))}. Name one for every competitor.")
    known = sorted({str(provider[name]) for name in names})
    of = np.array([known.index(str(provider[name])) for name in names])
    families = Families(known, of, np.bincount(of))
    wrong = [
        f"{name!r} ({tested[name]})"
        for name in tested
        if name not in known or tested[name] < families.shown[known.index(name)]
    ]
    if wrong:
        raise ModelError(
            f"tested is how many variants providers tested, at least those among the votes; not {listing(wrong)}."
        )
    return Families(known, of, np.array([tested.get(name, families.shown[at]) for at, name in enumerate(known)]))


def _covariance(fit: Fit, board: Projection) -> Floats:
    """Covariance of r*, shape (n, n)."""
    covariance = fit.laplace.covariance(board.by_head, board.by_own)
    return np.asarray(covariance + np.diag(board.by_mean**2 @ fit.view.unseen))


def _prior_precision(fit: Fit, board: Projection) -> Floats:
    """Precision that r* has from the prior of the strengths, shape (n, n)."""
    n = len(board.strength)
    by_strength = board.by_head[:, :n] - board.by_head[:, :n].mean(axis=0)
    return _inverse(by_strength @ by_strength.T) / fit.target.strength_sd**2


def _inverse(matrix: Floats) -> Floats:
    """Inverse on the plane where a covariance is not zero."""
    return np.asarray(np.linalg.pinv(matrix, rcond=SILENT, hermitian=True))


@dataclass(frozen=True, eq=False)
class Pooled:
    """Strengths pooled within providers, in logits.

    Attributes
    ----------
    mean, sd : ndarray, shape (n,)
        Of the strengths against their mean.
    inflation : ndarray, shape (n,)
        Expected error of a score that was chosen as the best of those tested.
    spreads : ndarray, shape (2,)
        Posterior means of s_m and s_d.
    """

    mean: Floats
    sd: Floats
    inflation: Floats
    spreads: Floats


def _pooled(families: Families, score: Floats, covariance: Floats, prior_precision: Floats) -> Pooled:
    """Average over the spreads."""
    precision = _inverse(covariance)
    size, vectors = np.linalg.eigh(precision - prior_precision)
    likelihood = (vectors * np.maximum(size, 0.0)) @ vectors.T  # what rounding leaves of zero is not negative
    by_votes_alone, pull = _inverse(likelihood), precision @ score
    variance, unshrunk = np.diag(by_votes_alone), by_votes_alone @ pull
    shrinkage = 1 - np.diag(covariance) / variance
    luck = np.array([expected_largest(tested) for tested in families.tested])[families.of]
    weights, means, variances, inflations, spreads = [], [], [], [], []
    for phi in (np.arange(ANGLES) + 0.5) * (0.5 * math.pi / ANGLES):
        between, within = RADII * math.sin(phi), RADII * math.cos(phi)
        evidence, mean, spread = _given(families, phi, likelihood, pull, unshrunk, variance)
        weights.append(evidence + 2 * np.log(RADII) - 0.5 * (RADII / SPREAD) ** 2)
        means.append(mean)
        variances.append(spread)
        scatter = np.sqrt(within[:, None] ** 2 + variance)
        inflations.append(luck * (variance / scatter - shrinkage * scatter))
        spreads.append(np.column_stack([between, within]))
    weight = np.concatenate(weights)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()
    mean = weight @ np.concatenate(means)
    second = weight @ (np.concatenate(variances) + np.concatenate(means) ** 2)
    return Pooled(
        mean, np.sqrt(second - mean**2), weight @ np.concatenate(inflations), weight @ np.concatenate(spreads)
    )


def _given(
    families: Families, phi: float, likelihood: Floats, pull: Floats, score: Floats, variance: Floats
) -> tuple[Floats, Floats, Floats]:
    """Log evidence (n_radii,), and mean and variance of the strengths (n_radii, n), for one phi and every rho."""
    same = (families.of[:, None] == families.of).astype(float)
    root = np.linalg.cholesky(math.sin(phi) ** 2 * same + math.cos(phi) ** 2 * np.eye(len(score)))
    size, vectors = np.linalg.eigh(root.T @ likelihood @ root)
    directions = root @ vectors
    along = directions.T @ pull
    squares = RADII[:, None] ** 2
    shrunk = squares / (1 + squares * np.maximum(size, 0.0))  # variance along every direction, (n_radii, n)
    evidence = 0.5 * (shrunk @ along**2) + 0.5 * np.log(shrunk / squares).sum(axis=1)
    centered = directions - directions.mean(axis=0)
    mean, spread = (shrunk * along) @ centered.T, shrunk @ centered.T**2
    for family in np.flatnonzero(families.tested > families.shown):
        members = np.flatnonzero(families.of == family)
        best = members[np.argmax(score[members])]
        share = math.sin(phi) ** 2 / (math.cos(phi) ** 2 + len(members) * math.sin(phi) ** 2)
        of_provider = share * directions[members].sum(axis=0) - directions.mean(axis=0)
        center = (shrunk * along) @ of_provider
        sd = np.sqrt(shrunk @ of_provider**2 + RADII**2 * share * math.cos(phi) ** 2)
        scatter = np.sqrt(RADII**2 * math.cos(phi) ** 2 + variance[best])
        reached = (score[best] - center[:, None] - sd[:, None] * NODES) / scatter[:, None]
        hidden = families.tested[family] - len(members)
        chance = hidden * log_ndtr(reached) - 0.5 * NODES**2
        total = np.exp(chance - chance.max(axis=1, keepdims=True))
        evidence = evidence + np.log(total.sum(axis=1)) + chance.max(axis=1)
        total /= total.sum(axis=1, keepdims=True)
        shift = total @ NODES
        narrowed = total @ NODES**2 - shift**2 - 1
        regression = (shrunk * of_provider) @ centered.T / sd[:, None]
        mean, spread = mean + regression * shift[:, None], spread + regression**2 * narrowed[:, None]
    return evidence, mean, spread


def expected_largest(count: int) -> float:
    """Return the expected largest of so many standard normal numbers."""
    above = 1 - ndtr(NODES) ** count
    return float(NODES[0] + np.trapezoid(above, NODES))
