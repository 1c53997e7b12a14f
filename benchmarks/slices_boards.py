"""Strengths averaged over slices, with their covariance, and arenas in which they differ by slice.

What the measurements of slices share. With m_i = r_i + sum_f sum_g w^f_g u^f_{g,i}, w^f the weights of the slices of
kind f, strengths for new prompts have no weights, those for these P prompts 1 / P for each, those of a category 1 for
it. Numbers that no vote is about keep their prior, independent of all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy.sparse import csr_array

import bayes_arena as ba
from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.inference.views import View
from bayes_arena.likelihood.outcomes import davidson
from bayes_arena.votes.outcomes import TIE, WIN

Weights = Mapping[str, Floats]
THETA_SD, TIE_SD, POSITION_SD = 0.3, 0.5, 0.2


def view_of(fit: ba.Fit, weights: Weights, lead_sd: float = 0.0, tie_sd: float = 0.0) -> View:
    """Return what the slices of a fit add to its strengths."""
    n, unseen = fit.cells.n_competitors, np.zeros(fit.cells.n_competitors)
    matrix = np.zeros((n, len(fit.point.slices)))
    numbering = fit.target.numbering
    for effect, keys, part in zip(fit.target.slices, *(numbering and (numbering.keys, numbering.parts)), strict=True):
        if effect.basis == "difference" and effect.by in weights:
            weight, (code, competitor) = weights[effect.by], np.divmod(keys, n)
            matrix[competitor, np.arange(part.start, part.stop)] = weight[code]
            unseen += effect.sd**2 * ((weight**2).sum() - sum_by(competitor, weight[code] ** 2, n))
    return View(csr_array(matrix), lead_sd, tie_sd, unseen)


def board(fit: ba.Fit, weights: Weights) -> tuple[Floats, Floats]:
    """Return m less its mean, in logits, and its covariance."""
    n, c = fit.cells.n_competitors, len(fit.point.common)
    center = np.eye(n) - 1 / n
    if not fit.target.slices:
        return fit.strength - fit.strength.mean(), center @ fit.laplace.strength_covariance() @ center
    view = view_of(fit, weights)
    jacobian = center @ np.hstack([np.eye(n), np.zeros((n, c)), view.slices.toarray()])
    return jacobian @ fit.point.head, fit.laplace.covariance(jacobian) + center @ np.diag(view.unseen) @ center


@dataclass(frozen=True, eq=False)
class Truth:
    """Votes in which competitors' strengths differ by slice, and what is true of them.

    Attributes
    ----------
    cells : Cells
    strength : ndarray, shape (n,)
        r.
    answers : ndarray, shape (P, n)
        u of prompts.
    categories : ndarray, shape (C, n)
        u of categories; of no row where there are none.
    theta, tie, position : ndarray, shape (M,)
        Of the annotators.
    """

    cells: ba.Cells
    strength: Floats
    answers: Floats
    categories: Floats
    theta: Floats
    tie: Floats
    position: Floats


def simulate(
    seed: int,
    *,
    competitors: int,
    prompts: int,
    annotators: int,
    votes: int,
    answer_sd: float = 1.0,
    categories: int = 0,
    category_sd: float = 0.0,
    taste_sd: float = 0.0,
) -> Truth:
    """Draw an arena: s_r = 1, annotators and prompts drawn alike.

    Categories take turns among the prompts. With a taste, two groups of annotators of the same size have opposite ones
    for every second competitor.
    """
    rng = np.random.default_rng(seed)
    r, u = rng.normal(0, 1, competitors), rng.normal(0, answer_sd, (prompts, competitors))
    by_category = rng.normal(0, category_sd, (categories, competitors))
    theta = 1 + THETA_SD * rng.normal(size=annotators)
    tie, position = TIE_SD * rng.normal(size=annotators), POSITION_SD * rng.normal(size=annotators)
    taste = np.where(np.arange(competitors) % 2, rng.normal(0, taste_sd, competitors), 0.0)
    side = rng.permutation(np.where(np.arange(annotators) % 2, 1.0, -1.0))

    k, p = rng.integers(annotators, size=votes), rng.integers(prompts, size=votes)
    i = rng.integers(competitors, size=votes)
    j = (i + rng.integers(1, competitors, size=votes)) % competitors

    def quality(one: Ints) -> Floats:
        of_category = by_category[p % categories, one] if categories else 0.0
        return r[one] + u[p, one] + of_category + side[k] * taste[one]

    z = np.array([theta[k] * (quality(i) - quality(j)) + position[k], tie[k]])
    chance = np.exp(davidson.LIKELIHOOD.log_probabilities(z))
    outcome = (rng.random(votes) > np.cumsum(chance[[WIN, TIE]], axis=0)).sum(axis=0)
    frame = {
        "model_a": names("model", i),
        "model_b": names("model", j),
        "winner": np.array(["model_a", "tie", "model_b"])[outcome],
        "judge": names("annotator", k),
        "prompt": names("prompt", p),
        "category": names("category", p % max(categories, 1)),
    }
    slices = {"category": "category"} if categories else {}
    cells = ba.read_votes(pl.DataFrame(frame), prompt="prompt", slices=slices)
    return Truth(cells, r, u, by_category, theta, tie, position)


def names(kind: str, codes: Ints) -> list[str]:
    """Name what is numbered, so that names sort as numbers do."""
    return [f"{kind}-{code:05d}" for code in codes.tolist()]
