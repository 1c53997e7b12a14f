"""Evidence for the kinds of annotators: against sums over a grid, and what does not matter."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD
from bayes_arena.trust.classes import FAVOUR, Population, Rows, evidence

POPULATION = Population(discrimination=0.5, tie_spread=0.6, position_spread=0.3, log_tie_propensity=-0.2, position=0.1)


def votes(seed=0, size=3):
    """Votes of some groups: leads, counts, and who of them has the competitor in view on which side."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(size), 12)
    counts = np.zeros((4, len(group)))
    counts[rng.integers(3, size=len(group)), np.arange(len(group))] = rng.integers(1, 3, size=len(group))
    return Rows(group, size, rng.normal(size=len(group)), counts, rng.choice([-1.0, 0.0, 1.0], len(group)))


def by_grid(rows, theta, favours):
    """Log marginal likelihood of every group by the trapezoidal rule."""
    p = POPULATION
    t = np.array([theta]) if theta == 0 else np.linspace(theta - 2.5, theta + 2.5, 19)
    b, u = np.linspace(p.position - 1.6, p.position + 1.6, 17), np.linspace(-3.0, 3.0, 19)
    w = np.linspace(0.05, 25, 60) if favours else np.zeros(1)
    grid = np.array(np.meshgrid(t, b, u, w, indexing="ij")).reshape(4, -1)

    def normal(x, mean, sd):
        return -0.5 * ((x - mean) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))

    log_prior = normal(grid[1], p.position, p.position_spread) + normal(grid[2], 0, p.tie_spread)
    step = (b[1] - b[0]) * (u[1] - u[0])
    if theta:
        log_prior += normal(grid[0], theta, p.discrimination)
        step *= t[1] - t[0]
    if favours:
        log_prior += 2 * np.log(grid[3]) - 0.5 * (grid[3] / FAVOUR) ** 2
        log_prior -= math.log(FAVOUR**3 * math.sqrt(math.pi / 2))
        step *= w[1] - w[0]
    totals = []
    for group in range(rows.size):
        total = log_prior.copy()
        for row in np.flatnonzero(rows.group == group):
            eta = grid[0] * rows.lead[row] * bool(theta) + grid[1] + grid[3] * rows.side[row]
            log_p = LIKELIHOOD.log_probabilities(np.array([eta, p.log_tie_propensity + grid[2]]))
            total += rows.counts[:3, row] @ log_p[:3]
        totals.append(np.logaddexp.reduce(total) + math.log(step))
    return np.array(totals)


@pytest.mark.parametrize(
    ("theta", "favours"), [(1.0, False), (0.0, False), pytest.param(-1.0, True, marks=pytest.mark.slow)]
)
def test_laplace_is_close_to_the_integral(theta, favours):
    rows = votes()
    found = evidence(rows, POPULATION, theta=theta, favours=favours)
    assert_allclose(found.value, by_grid(rows, theta, favours), atol=0.25 if favours else 0.05)


def test_groups_do_not_know_of_each_other_and_cells_may_be_split():
    rows = votes(1)
    whole = evidence(rows, POPULATION, favours=True)
    mine = rows.group == 1
    alone = Rows(np.zeros(mine.sum(), int), 1, rows.lead[mine], rows.counts[:, mine], rows.side[mine])
    one = evidence(alone, POPULATION, favours=True)
    assert_allclose(one.value, whole.value[1:2], atol=1e-6)
    twice = [
        np.concatenate([values, values], axis=-1) for values in (rows.group, rows.lead, rows.counts / 2, rows.side)
    ]
    split = evidence(Rows(twice[0], rows.size, *twice[1:]), POPULATION, favours=True)
    assert_allclose(split.value, whole.value, atol=1e-6)


def test_who_always_votes_for_one_favours_it_and_a_slight_taste_is_no_evidence():
    size, rng = 40, np.random.default_rng(3)
    lead, side = rng.normal(size=size), np.ones(size)
    always, slightly = np.zeros((4, size)), np.zeros((4, size))
    always[0] = 1
    slightly[0, :24], slightly[1, 24:] = 1, 1
    for counts, likelier in ((always, True), (slightly, False)):
        rows = Rows(np.zeros(size, int), 1, lead, counts, side)
        gain = evidence(rows, POPULATION, favours=True).value - evidence(rows, POPULATION).value
        assert (gain[0] > 5) == likelier
        assert (gain[0] < 0) == (not likelier)
