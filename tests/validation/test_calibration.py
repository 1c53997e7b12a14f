"""Do intervals cover? The short, seeded version of ``benchmarks/calibration.py``."""

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point

ARENAS = 30
LEVELS = {0.5: 0.674, 0.89: 1.598, 0.95: 1.960}


def truth_of(arena: ba.Arena, fit: ba.Fit) -> tuple[np.ndarray, np.ndarray]:
    """True r* and theta, normalised and projected exactly like the fitted ones."""
    own = np.column_stack([arena.discrimination, arena.log_tie_propensity, arena.position])
    mean = own.mean(axis=0)
    point = Point(arena.strength * mean[0], mean[1:], np.column_stack([own[:, 0] / mean[0], own[:, 1:] - mean[1:]]))
    return project(fit.target, point, fit.cells.votes_by_annotator()).strength, point.own[:, 0]


@pytest.mark.slow
def test_intervals_of_am_davidson_cover():
    """Thirty arenas that the model describes: 50, 89 and 95 % intervals within three Monte Carlo errors."""
    elo, theta = [], []
    for seed in range(ARENAS):
        arena = ba.simulate(
            competitors=8, annotators=20, votes=1600, tie_spread=0.8, position_spread=0.3, seed=500 + seed
        )
        fit = ba.fit(ba.read_votes(arena.votes), dimensions=0, robust=False)
        assert fit.evidence == "variational"
        strength, discrimination = truth_of(arena, fit)
        fitted = project(fit.target, fit.point, fit.cells.votes_by_annotator(), fit.view)
        sd = np.sqrt(np.diag(fit.laplace.covariance(fitted.by_head, fitted.own)))
        elo.append((fitted.strength - strength) / sd)
        theta.append((fit.discrimination - discrimination) / fit.discrimination_sd)
    for z in (np.array(elo), np.array(theta)):
        for level, half in LEVELS.items():
            inside = (np.abs(z) < half).mean(axis=1)
            assert abs(inside.mean() - level) < 3 * inside.std(ddof=1) / np.sqrt(ARENAS) + 0.01, level


@pytest.mark.slow
def test_ranks_of_the_truth_among_nuts_draws_are_even():
    """Simulation-based calibration of a tiny Bradley-Terry arena: true strengths drawn from the prior."""
    ranks = []
    prior = ba.Prior(strength=1.0, hyper=None)
    for seed in range(8):
        arena = ba.simulate(competitors=8, annotators=1, votes=60, discrimination_sd=0.0, tie_propensity=0.0, seed=seed)
        cells = ba.read_votes(arena.votes, annotator=False)
        fit = ba.fit(cells, prior=prior, method="nuts", draws=80, tune=100, seed=seed)
        ranks.append((fit.samples.strength < arena.strength).mean(axis=0))
    ranks = np.array(ranks).ravel()
    assert abs(ranks.mean() - 0.5) < 3 * np.sqrt(1 / 12 / len(ranks))
    assert abs((np.abs(ranks - 0.5) < 0.445).mean() - 0.89) < 3 * np.sqrt(0.89 * 0.11 / len(ranks))
    assert abs(ranks.std() - np.sqrt(1 / 12)) < 0.08
