"""Evidence for the kinds of annotators: against sums over a grid, and what does not matter."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayes_arena.likelihood.outcomes.davidson import LIKELIHOOD
from bayes_arena.trust.classes import FAVOUR, Population, Rows, Views, evidence

POPULATION = Population(discrimination=0.5, tie_spread=0.6, position_spread=0.3, log_tie_propensity=-0.2, position=0.1)


def votes(seed=0, size=3):
    """Votes of some groups: leads, counts, and who of them has the competitor in view on which side."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(size), 12)
    counts = np.zeros((4, len(group)))
    counts[rng.integers(3, size=len(group)), np.arange(len(group))] = rng.integers(1, 3, size=len(group))
    return in_view(group, size, rng.normal(size=len(group)), counts, rng.choice([-1.0, 0.0, 1.0], len(group)))


def in_view(group, size, lead, counts, side):
    """Return rows and views of one competitor, who is i where the side is 1 and j where it is -1."""
    first = np.searchsorted(group, np.arange(size + 1))
    i, j = np.where(side > 0, 0, 1), np.where(side < 0, 0, 2)
    return Rows(i, j, lead, counts), Views.of_annotators(first).towards(np.zeros(size, int), np.ones(size))


def side_of(rows):
    return (rows.i == 0) * 1.0 - (rows.j == 0)


def by_grid(rows, views, theta, favours):
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
    totals, side = [], side_of(rows)
    for first, last in zip(views.first, views.last, strict=True):
        total = log_prior.copy()
        for row in range(first, last):
            eta = grid[0] * rows.lead[row] * bool(theta) + grid[1] + grid[3] * side[row]
            log_p = LIKELIHOOD.log_probabilities(np.array([eta, p.log_tie_propensity + grid[2]]))
            total += rows.counts[:3, row] @ log_p[:3]
        totals.append(np.logaddexp.reduce(total) + math.log(step))
    return np.array(totals)


@pytest.mark.parametrize(
    ("theta", "favours"), [(1.0, False), (0.0, False), pytest.param(-1.0, True, marks=pytest.mark.slow)]
)
def test_laplace_is_close_to_the_integral(theta, favours):
    rows, views = votes()
    found = evidence(rows, views, POPULATION, theta=theta, favours=favours)
    assert_allclose(found.value, by_grid(rows, views, theta, favours), atol=0.25 if favours else 0.05)


def test_groups_do_not_know_of_each_other_and_cells_may_be_split():
    rows, views = votes(1)
    whole = evidence(rows, views, POPULATION, favours=True)
    one = evidence(rows, views.take(slice(1, 2)), POPULATION, favours=True)
    assert_allclose(one.value, whole.value[1:2], atol=1e-6)
    group = np.tile(np.repeat(np.arange(len(views)), 12), 2)
    order = np.argsort(group, kind="stable")
    twice = [np.tile(values, 2)[order] for values in (rows.lead, side_of(rows))]
    split = in_view(group[order], len(views), twice[0], np.tile(rows.counts / 2, 2)[:, order], twice[1])
    assert_allclose(evidence(*split, POPULATION, favours=True).value, whole.value, atol=1e-6)


def test_who_always_votes_for_one_favours_it_and_a_slight_taste_is_no_evidence():
    size, rng = 40, np.random.default_rng(3)
    lead, side = rng.normal(size=size), np.ones(size)
    always, slightly = np.zeros((4, size)), np.zeros((4, size))
    always[0] = 1
    slightly[0, :24], slightly[1, 24:] = 1, 1
    for counts, likelier in ((always, True), (slightly, False)):
        alone = in_view(np.zeros(size, int), 1, lead, counts, side)
        gain = evidence(*alone, POPULATION, favours=True).value - evidence(*alone, POPULATION).value
        assert (gain[0] > 5) == likelier
        assert (gain[0] < 0) == (not likelier)
