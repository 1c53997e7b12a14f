"""Siblings: strengths pooled within families, and the selection bias of the best of many variants by one provider.

The best score of n variants that a provider tests reflects luck along with strength. With strengths

    r_i = m_p(i) + d_i,      m_p ~ Normal(mu, s_m^2) for providers,      d_i ~ Normal(0, s_d^2) for their variants,

scores x_i = r_i + e_i with errors of variance v, and M_n the expected maximum of n standard normal variables, the best
of n scores is too high by

    E[x_best - r_best] = M_n v / sqrt(s_d^2 + v);

a board whose prior shrinks scores by the share c takes M_n c sqrt(s_d^2 + v) of it back.

Given m and the spreads, r_i depends on nothing but x_i, however i was chosen: pooled within providers, strengths need
no correction where every sibling is among the votes. Siblings that were tested but not shown are known to have scored
less than the best one shown, x. This is a factor Phi((x - m_p) / sqrt(s_d^2 + v))^hidden that weights the distribution
of m_p, for each provider by itself.

The votes enter through the Gaussian approximation of the likelihood of r*, the strengths on the Elo scale. Its
precision L, the expected information, is never negative, and nearly zero between groups that were never compared.
v_i = 1 / L_ii is the variance of i's luck given the other strengths; uncertainty about those moves siblings alike. As
i is one of the n whose mean is zero, 1 - 1/n of its luck shows. With P the precision of the fit's prior,
c_i = P_ii / (L_ii + P_ii). Where that prior is narrower than s_d, it takes back more than luck adds, and inflation
counts as 0.

The spreads are integrated out under half-normal priors, which in s_m = rho sin(phi), s_d = rho cos(phi) are uniform in
phi; for each phi one eigendecomposition serves every rho. Everything is in logits, relative to the mean competitor.

Source: the effect, and 27 private variants, Singh et al., "The Leaderboard Illusion", arXiv:2504.20879.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from bayes_arena.arrays import DataFrame, Floats, Ints, table_of
from bayes_arena.errors import ModelError, NotIdentifiedError, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.inference.mode.laplace import laplace_at
from bayes_arena.inference.projected import Projection
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.threads import one_thread

ANGLES, RADII = 16, np.geomspace(0.02, 6.0, 48)
"""Nodes of phi, and of rho in logits."""
SPREAD = 1.5
"""Scale of the half-normal priors of s_m and s_d, in logits: that of the spread of strengths everywhere."""
NODES = np.linspace(-8.0, 8.0, 321)
"""Nodes of a standard normal variable."""
SILENT = 1e-10
"""Variance, relative to the largest, below which a direction counts as fixed, or as known that well: it is rounding."""
WIDE = 30.0
"""Prior sd of strengths, in logits, that is as good as flat but keeps groups that were never compared finite."""


@dataclass(frozen=True, eq=False)
class Families:
    """Providers, by name, which one each competitor is ``of``, and how many variants each of them tested."""

    names: list[str]
    of: Ints
    tested: Ints

    @property
    def shown(self) -> Ints:
        """Number of variants among the votes, shape (n_providers,)."""
        return np.bincount(self.of, minlength=len(self.names))


@dataclass(frozen=True, eq=False)
class Pooled:
    """Strengths pooled within providers, in logits, relative to their mean: mean and sd, shape (n,) each.

    ``inflation`` (n,) is the expected error of a score that was chosen as the best of those tested; ``spreads`` are the
    posterior means of s_m and s_d.
    """

    mean: Floats
    sd: Floats
    inflation: Floats
    spreads: Floats


def pool(families: Families, score: Floats, likelihood: Floats, pull: Floats, prior_precision: Floats) -> Pooled:
    """Pool strengths within families, averaged over the spreads.

    ``score`` is r* of the board, (n,), and ``pull`` the precision of r* from the votes alone (``likelihood``, (n, n))
    times the r* that these would give; ``prior_precision`` is that of r* from the prior of the strengths.
    """
    information, from_prior = np.diag(likelihood), np.diag(prior_precision)  # of each, given the others
    variance, shrinkage = 1 / information, from_prior / (information + from_prior)
    luck = np.array([expected_largest(tested) for tested in families.tested])[families.of] * (1 - 1 / len(score))
    weights, means, variances, inflations, spreads = [], [], [], [], []
    for phi in (np.arange(ANGLES) + 0.5) * (0.5 * math.pi / ANGLES):
        between, within = RADII * math.sin(phi), RADII * math.cos(phi)
        evidence, mean, spread = _given(families, phi, likelihood, pull, score)
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
    sd = np.sqrt(weight @ (np.concatenate(variances) + (np.concatenate(means) - mean) ** 2))
    inflation = np.maximum(weight @ np.concatenate(inflations), 0.0)
    return Pooled(mean, sd, inflation, weight @ np.concatenate(spreads))


def _given(
    families: Families, phi: float, likelihood: Floats, pull: Floats, score: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return log evidence (n_radii,), mean and variance of the strengths (n_radii, n), for one phi and every rho."""
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
    information = np.diag(likelihood)
    by_own_votes = score + (pull - likelihood @ score) / information  # given the other scores of the board
    for family in np.flatnonzero(families.tested > families.shown):
        members = np.flatnonzero(families.of == family)
        best = members[np.argmax(by_own_votes[members])]
        share = math.sin(phi) ** 2 / (math.cos(phi) ** 2 + len(members) * math.sin(phi) ** 2)
        of_provider = share * directions[members].sum(axis=0) - directions.mean(axis=0)
        center = (shrunk * along) @ of_provider
        sd = np.sqrt(shrunk @ of_provider**2 + RADII**2 * share * math.cos(phi) ** 2)
        scored = mean[:, best] + (pull[best] - mean @ likelihood[best]) / information[best]
        scatter = np.sqrt(RADII**2 * math.cos(phi) ** 2 + 1 / information[best])
        hidden = int(families.tested[family]) - len(members)
        chance, shift, narrowed = _all_below((scored - center) / scatter, sd / scatter, hidden)
        regression = (shrunk * of_provider) @ centered.T / sd[:, None]
        evidence = evidence + chance
        mean, spread = mean + regression * shift[:, None], spread + regression**2 * narrowed[:, None]
    return evidence, mean, spread


def _all_below(height: Floats, slope: Floats, hidden: int) -> tuple[Floats, Floats, Floats]:
    """Weight a standard normal variable z by Phi(height - slope z)^hidden.

    Return the logarithm of the mean weight, up to a constant, the mean of z under the weights, and its variance minus
    one.
    """
    log_weight = hidden * log_ndtr(height[:, None] - slope[:, None] * NODES) - 0.5 * NODES**2
    largest = log_weight.max(axis=1, keepdims=True)
    weight = np.exp(log_weight - largest)
    total = weight.sum(axis=1)
    shift = weight @ NODES / total
    return np.log(total) + largest[:, 0], shift, weight @ NODES**2 / total - shift**2 - 1


def expected_largest(count: int) -> float:
    """Return the expected maximum of ``count`` standard normal variables."""
    above = 1 - ndtr(NODES) ** count
    return float(NODES[0] + np.trapezoid(above, NODES))


def _inverse_between(covariance: Floats) -> Floats:
    """Return the inverse of a covariance whose mean over competitors is fixed, and as little else as can be told."""
    size, vectors = np.linalg.eigh(covariance + np.trace(covariance) / len(covariance))
    precision = vectors / np.maximum(size, SILENT * size[-1]) @ vectors.T
    precision -= precision.mean(axis=0)
    return np.asarray(precision - precision.mean(axis=1, keepdims=True))


@held
def siblings(
    result: Fit,
    provider: Mapping[str, str],
    *,
    tested: Mapping[str, int] | None = None,
    level: float = 0.95,
    elo: EloScale | None = None,
) -> DataFrame:
    """Pool scores within providers, and estimate by how much the best of many variants is overrated.

    Parameters
    ----------
    result : Fit
        A fitted model, by any method; its Gaussian approximation is used.
    provider : mapping of str to str
        The provider of each competitor; one provider's variants form a family.
    tested : mapping of str to int, optional
        Number of variants a provider tested, where it is larger than the number among the votes. The others are
        assumed to have scored less than the best among the votes, with equally many votes.
    level, elo
        As for :func:`~bayes_arena.leaderboard`.

    Returns
    -------
    pandas.DataFrame
        ``competitor, provider, tested, elo, pooled, lower, upper, inflation``, the best pooled score first, in Elo
        points. ``elo`` is the plain score (at the mode); ``pooled`` the score given the provider and the number
        tested, with its interval; ``inflation`` the expected error of the plain score of a competitor with that many
        votes if it was selected as the best of ``tested``, 0 where the prior of the fit shrinks it by at least as much.
        ``attrs`` has the spreads ``between`` and ``within`` providers, in Elo points.

    Raises
    ------
    ModelError
        If a competitor has no provider, fewer variants were tested than are among the votes, or the level is invalid.
    NotIdentifiedError
        If there is no finite estimate under a flat prior.

    References
    ----------
    Singh et al., "The Leaderboard Illusion", arXiv:2504.20879.
    """
    require_level(level)
    if result.mode.at_infinity:
        raise NotIdentifiedError(f"There is no finite estimate to pool. {result.mode.at_infinity[0]}")
    elo, names = elo or EloScale(), result.cells.competitors
    families = _families(names, provider, tested or {})
    with one_thread():
        board = result.projection
        pooled = pool(families, board.strength, *_by_votes_alone(result, board), _prior_precision(result, board))
    half_width = ndtri((1 + level) / 2) * elo.points_per_logit * pooled.sd
    score = elo.points(pooled.mean, names)
    between, within = (elo.points_per_logit * pooled.spreads).tolist()
    table = table_of(
        {
            "competitor": names,
            "provider": [families.names[family] for family in families.of],
            "tested": families.tested[families.of],
            "elo": elo.points(board.strength, names),
            "pooled": score,
            "lower": score - half_width,
            "upper": score + half_width,
            "inflation": elo.points_per_logit * pooled.inflation,
        },
        level=level,
        between=between,
        within=within,
    )
    return table.sort_values("pooled", ascending=False, ignore_index=True, kind="stable")


def _families(names: tuple[str, ...], provider: Mapping[str, str], tested: Mapping[str, int]) -> Families:
    missing = [name for name in names if name not in provider]
    if missing:
        raise ModelError(f"No provider is given for {listing(map(repr, missing))}. Give one for every competitor.")
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
            "tested maps a provider to the number of variants it tested, at least those among the votes; not "
            f"{listing(wrong)}."
        )
    return Families(known, of, np.array([tested.get(name, families.shown[at]) for at, name in enumerate(known)]))


def _by_votes_alone(fit: Fit, board: Projection) -> tuple[Floats, Floats]:
    """Return the precision of r* without the prior of the strengths, (n, n), and that times r* without it, (n,).

    From the curvature without residuals, which is never negative, at the fitted spreads.
    """
    target, n = fit.target, len(board.strength)
    alone = laplace_at(replace(target, strength_sd=WIDE), fit.point, fit.mode.problem.shifts, residuals=False)
    covariance = alone.covariance(board.by_head[:], board.by_own)
    covariance += np.diag(board.variance_by_mean(fit.view.unseen))
    precision = _inverse_between(covariance)
    by_head, _ = alone.solve(board.by_head[:], board.by_own)
    step = by_head[:n].T @ (fit.point.strength / target.strength_sd**2)  # to where the prior no longer pulls
    return precision, precision @ (board.strength + step)


def _prior_precision(fit: Fit, board: Projection) -> Floats:
    """Return the precision of r* from the prior of the strengths, shape (n, n)."""
    n = len(board.strength)
    by_strength = board.by_head[:][:, :n] - board.by_head[:][:, :n].mean(axis=0)
    inverse = np.linalg.pinv(by_strength @ by_strength.T, rcond=SILENT, hermitian=True)
    return np.asarray(inverse / fit.target.strength_sd**2)
