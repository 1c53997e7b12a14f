"""Whether the pairing already knew the ranking, and the prior of the strengths that follows.

Strengths r_i ~ N(0, sigma^2) with estimated sigma assume that the pairing says nothing about strength. A ladder or a
league violates this: only neighbours meet, their strengths differ little, so sigma comes out small and the ends of the
ranking are drawn together. (Twenty competitors of sd 1 who meet only their neighbours: sigma .2, and 95 % intervals
that cover a fifth of the truths.) The likelihood is still right, so in this case the strengths get a very weak prior
(:data:`~bayes_arena.likelihood.priors.WEAK`). Where the pairing learnt from these very votes, as in an arena that pairs
by current ratings, the likelihood accounts for it fully, and the estimated sigma is right. A weak prior would be wrong
here, as it takes at face value the luck of those who were then paired with strong competitors. Three measures
distinguish the two cases.

*Reach.* With d_i the votes of a competitor, A_ij those of a pair, the gap of the comparisons is 1 less the second
largest eigenvalue of A_ij / sqrt(d_i d_j); for as many votes on random pairs it is about 1 - 2 sqrt(d - 1) / d, d the
mean of the d_i (McKay, 1981; Friedman, 2008). The ratio is near 1 where any two may meet, and near 0 on a chain.
Computed from distinct pairs, each counted once, it also ignores how often they met: pairing that learns starts with
random pairs, so its distinct pairs include distant ones.

*Sorting.* T is the mean |r_i - r_j| over votes divided by that over all pairs, in a Bradley-Terry fit under a weak
prior: near 1 where the pairing does not follow the ranking.

*Misfit.* With lambda_k the eigenvalues of that fit's information and c_k its estimate along the eigenvectors, c_k is
N(0, sigma^2 + 1 / lambda_k) under the estimated sigma. The spread of the strengths, sum c_k^2 w_k with the shares w_k
that the weak prior leaves, is compared with its mean and standard deviation under this distribution.

Strengths get the weak prior where the reach is short, the votes are sorted, and either the distinct pairs reach no
further or the misfit is large. The constants are from simulations (``benchmarks/pairing.py``).

Sources: McKay, B. D. (1981), "The expected eigenvalue distribution of a large regular graph", Linear Algebra and its
Applications 40. Friedman, J. (2008), "A proof of Alon's second eigenvalue conjecture", Memoirs of the AMS 910.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import cast

import numpy as np
import scipy

from bayes_arena.arrays import Floats, sum_by
from bayes_arena.inference.mode.mode import Mode, find_mode
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import WEAK, Prior, Spreads, degrees
from bayes_arena.likelihood.problem import Problem
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.tally import Tally

FAR = 0.5
"""Share of the gap of random pairs above which the pairing counts as random."""
NEAR = 0.35
"""The same for distinct pairs: below it, distant competitors hardly ever met."""
SORTED = 0.9
"""T below which competitors met others of similar strength."""
MISFITS = 3.5
"""Excess spread of the strengths, in standard deviations, above which the estimated sigma does not fit."""
VAGUE = 3.0
"""Spread of the weak prior of the Bradley-Terry fit, in logits."""
LOG_SIGMA = math.log(0.01), math.log(30.0)
TINY = 1e-9
FEWEST = 8
"""Least number of competitors linked by votes: among fewer, none are far from each other."""
DENSE = 400
"""Largest number of competitors for which all eigenvalues are computed, not only the second."""
SPECTRUM = 3000
"""Number of competitors above which the misfit, which needs all eigenvectors, is assumed."""


def with_pairing(problem: Problem) -> tuple[Problem, str]:
    """Return a problem with the prior of the strengths that its pairing allows.

    Parameters
    ----------
    problem : Problem
        Returned unchanged if its prior does not estimate the spread of the strengths.

    Returns
    -------
    problem : Problem
    said : str
        Notice for the reader if the prior was changed, else empty.
    """
    cells, prior = problem.cells, problem.prior
    if not prior.estimates("strength") or not knew_the_ranking(cells, prior):
        return problem, ""
    weak = replace(prior, strength=WEAK.strength, known=(*prior.known, *WEAK.known))
    return replace(problem, prior=weak), (
        "Competitors mostly met others of about their strength, more so than pairing by these votes could explain, as "
        "in a league or on a ladder. The spread of the strengths cannot be learnt from such pairs, so their prior is "
        f"very weak (N(0, {WEAK.strength:g}) in place of an estimated spread). If the pairs were chosen without regard "
        "to strength, use a Prior with the spread of the strengths."
    )


def knew_the_ranking(cells: Cells, prior: Prior) -> bool:
    """Whether the pairing followed the ranking, and knew it from sources other than these votes.

    Parameters
    ----------
    cells : Cells
    prior : Prior
        Its hyperprior of the strengths is used.
    """
    cells = _largest_component(cells)
    if cells.n_competitors < FEWEST:
        return False
    tally = cells.tally(by_annotator=False)
    random = random_gap(2 * cells.n_votes / cells.n_competitors)
    if random <= 0 or gap(tally, tally.votes) > FAR * random:
        return False
    vague = replace(prior, strength=VAGUE, hyper=None)
    fit = find_mode(Problem(cells, PRESETS["bradley-terry"], vague), thorough=False)
    if sorting(tally, fit.point.strength) > SORTED:
        return False
    if gap(tally, np.ones(len(tally.votes))) < NEAR * random or cells.n_competitors > SPECTRUM:
        return True
    return misfit(fit, cast(Spreads, prior.hyper).strength) > MISFITS


def _largest_component(cells: Cells) -> Cells:
    """Return the votes of the largest group of competitors linked by votes."""
    inside = cells.components == 0
    if inside.all():
        return cells
    place, names = np.cumsum(inside) - 1, np.array(cells.competitors)[inside]
    rows = inside[cells.a]
    return cells.take(rows, competitors=tuple(names.tolist()), a=place[cells.a[rows]], b=place[cells.b[rows]])


def random_gap(mean: float) -> float:
    """Return the approximate :func:`gap` of random pairs, for a mean number of votes per competitor; 0 up to two."""
    return 1 - 2 * math.sqrt(mean - 1) / mean if mean > 2 else 0.0


def gap(tally: Tally, votes: Floats) -> float:
    """Return the gap of the comparisons.

    Parameters
    ----------
    tally : Tally
        One row per pair.
    votes : ndarray, shape (n_rows,)
        Votes of every pair.
    """
    size = int(max(tally.i.max(), tally.j.max())) + 1
    by_competitor = sum_by(tally.i, votes, size) + sum_by(tally.j, votes, size)
    scale = 1 / np.sqrt(np.maximum(by_competitor, np.finfo(float).tiny))
    share = votes * scale[tally.i] * scale[tally.j]
    if size <= DENSE:
        dense = np.zeros((size, size))
        dense[tally.j, tally.i] = share  # the lower triangle is read
        second = np.linalg.eigvalsh(dense)[-2]
    else:
        rows, columns = np.append(tally.i, tally.j), np.append(tally.j, tally.i)
        matrix = scipy.sparse.coo_array((np.append(share, share), (rows, columns)), shape=(size, size))
        largest = scipy.sparse.linalg.eigsh(matrix.tocsr(), k=2, which="LA", tol=1e-3, v0=1 / scale)[0]
        second = largest.min()
    return float(1 - second)


def sorting(tally: Tally, strength: Floats) -> float:
    """Return T: the mean distance of competitors who met over that of all pairs."""
    met = np.abs(strength[tally.i] - strength[tally.j]) @ tally.votes / tally.votes.sum()
    ordered, n = np.sort(strength), len(strength)
    everyone = 2 * (2 * np.arange(n) + 1 - n) @ ordered / (n * (n - 1))
    return float(met / everyone) if everyone > 0 else math.inf


def misfit(vague: Mode, scale: float) -> float:
    """Return by how many standard deviations strengths spread more than the estimated sigma allows.

    Parameters
    ----------
    vague : Mode
        Of Bradley-Terry, under a weak prior of spread :data:`VAGUE`.
    scale : float
        Of the hyperprior of sigma.
    """
    target, r = vague.problem.objective, vague.point.strength
    wins, losses, ties, bad = target.counts
    i, j, n = target.tally.i, target.tally.j, len(r)
    p = scipy.special.expit(r[i] - r[j])
    weight = target.counts.sum(axis=0) * p * (1 - p)
    squares = wins * (1 - p) ** 2 + losses * p**2 + (ties + bad) * (0.5 - p) ** 2  # a tie varies less than a coin toss
    laplacian = np.zeros((n, n))
    np.add.at(laplacian, (i, j), -weight)
    laplacian += laplacian.T
    laplacian -= np.diag(laplacian.sum(axis=0))
    raw, vectors = (part[..., 1:] for part in np.linalg.eigh(laplacian))  # without the constant vector
    raw = np.maximum(raw, TINY * raw[-1])
    along = (vectors.T @ r) * (1 + 1 / (VAGUE**2 * raw))  # without the prior's shrinkage
    noise = squares.sum() / weight.sum() / raw

    def evidence(log_sigma: float) -> float:
        variance = math.exp(2 * log_sigma) + noise
        hyper = degrees("strength") * log_sigma - 0.5 * math.exp(2 * log_sigma) / scale**2
        return hyper - 0.5 * float(np.sum(np.log(variance) + along**2 / variance))

    found = scipy.optimize.minimize_scalar(lambda x: -evidence(x), bounds=LOG_SIGMA, method="bounded")
    variance, left = math.exp(2 * found.x) + noise, 1 / (1 + noise / VAGUE**2)
    excess = float(left**2 @ (along**2 - variance))
    return excess / math.sqrt(2 * float(left**4 @ variance**2))
