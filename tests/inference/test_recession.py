"""Flat fits whose likelihood is higher at infinity than at a finite local optimum."""

import warnings

import numpy as np
import pytest
from helpers import panel
from scipy.optimize import minimize
from scipy.special import expit

import bayes_arena as ba
from bayes_arena.inference.mode.recession import starts_towards_infinity
from bayes_arena.likelihood.outcomes import rao_kupper


def entropy(*counts):
    """Least loss in nats of votes that one probability explains."""
    return -sum(count * np.log(count / sum(counts)) for count in counts)


@pytest.mark.slow
@pytest.mark.parametrize("sure", [[(1, 0), (3, 0), (1, 3)], [(0, 1), (0, 3), (3, 1)]], ids=["with", "against"])
def test_an_annotator_sure_of_the_first_and_unsure_of_the_rest_outweighs_a_finite_optimum(sure):
    """Both tell "0" from the rest, "sure" without exception, and they contradict each other on "1" and "2".

    At infinity "sure" keeps odds of 1 : 3 there, and for "calm" the two are equal: its votes for "0" are pooled, and
    the nine between "1" and "2" are thrown coins.
    """
    cells = panel({"sure": sure, "calm": [(2, 2), (6, 1), (7, 2)]})
    with pytest.warns(ba.errors.NoMaximumWarning, match=r"groups of them.*without exception: sure"):
        fit = ba.fit(cells, model="am-elo", prior="flat")
    limit = entropy(1, 3) + entropy(8, 3) + 9 * np.log(2)
    assert limit == pytest.approx(14.9331, abs=1e-4)  # the finite optimum has 15.6738
    assert limit - 1e-9 < fit.loss < limit + 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "finite", "supremum"), [(25, 84.0640, 82.557), (29, 95.3127, 95.063)])
def test_thirteen_competitors_and_five_annotators(seed, finite, supremum):
    """Newton from the m-ELO start ends in the finite optimum; it was returned without a warning."""
    cells = ba.read_votes(ba.simulate(competitors=13, annotators=5, votes=155, seed=seed).votes)
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(cells, model="am-elo", prior="flat")
    assert fit.loss < supremum + 0.01 < finite


def test_few_votes_a_parameter_have_several_finite_optima():
    """The m-ELO start ends a nat too high, in an optimum where annotators do not look far apart."""
    arena = ba.simulate(
        competitors=12, annotators=5, votes=228, strength_sd=0.5, discrimination_sd=0.2, tie_propensity=1.0, seed=542
    )
    model = ba.Model("flat", discrimination="annotator", position="common")
    with pytest.warns(ba.errors.IdentificationWarning, match="direction of the ranking"):
        fit = ba.fit(ba.read_votes(arena.votes), model=model, prior="flat")
    assert fit.loss == pytest.approx(147.4192, abs=1e-4)  # the other optimum has 148.4577


@pytest.mark.slow
def test_ordinary_arenas_cost_no_further_start(arena_cells, llmfao_50):
    for cells in (arena_cells, llmfao_50):
        fit = ba.fit(cells, model="am-elo", prior="flat")
        assert starts_towards_infinity(fit.target, fit.point) == []


def test_rao_kupper_without_ties_has_a_finite_curvature():
    """The threshold runs to zero; its inverse square times no tie was not a number."""
    terms = rao_kupper.rows(np.array([[3.0], [1.0], [0.0], [0.0]]), np.array([[0.5], [-374.0]]))
    assert np.isfinite(terms.gradient).all() and np.isfinite(terms.hessian).all()
    assert terms.gradient[1, 0] == pytest.approx(0, abs=1e-9)


def lowest_of_many_starts(cells, seed, starts):
    """L-BFGS on the paper's formula, theta free of either sign: the loss, and the largest log-odds there."""
    a, b, k, n = cells.a, cells.b, cells.annotator, cells.n_competitors
    total, score = cells.counts.sum(axis=1), cells.counts @ [1, 0, 0.5, 0.5]

    def loss(x):
        r, theta = x[:n], x[n:]
        lead = r[a] - r[b]
        eta = theta[k] * lead
        pull = total * expit(eta) - score
        by_r = np.bincount(a, theta[k] * pull, n) - np.bincount(b, theta[k] * pull, n)
        return np.sum(total * np.logaddexp(0, eta) - score * eta), np.append(
            by_r, np.bincount(k, lead * pull, len(theta))
        )

    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(starts):
        x = rng.normal(size=n + cells.n_annotators)
        x[n + rng.integers(cells.n_annotators)] *= 10
        run = minimize(loss, x, jac=True, method="L-BFGS-B", options={"maxiter": 1000, "ftol": 1e-14, "gtol": 1e-8})
        runs.append((run.fun, np.abs(run.x[n:][k] * (run.x[a] - run.x[b])).max()))
    return min(runs)


@pytest.mark.slow
def test_far_out_on_the_way_to_infinity_there_are_still_wide_intervals():
    """Five votes an annotator: the curvature there is not positive definite, and the fit was refused."""
    arena = ba.simulate(competitors=8, annotators=8, votes=40, seed=141)
    with pytest.warns(ba.errors.NoMaximumWarning):
        fit = ba.fit(ba.read_votes(arena.votes), model="am-elo", prior="flat")
    assert np.isfinite(ba.leaderboard(fit)[["lower", "upper"]].to_numpy()).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_no_start_of_another_optimiser_ends_lower_without_a_warning(seed):
    rng = np.random.default_rng(seed)
    cells = ba.read_votes(
        ba.simulate(
            competitors=int(rng.integers(4, 14)),
            annotators=int(rng.integers(2, 7)),
            votes=int(rng.integers(120, 250)),
            seed=seed,
        ).votes
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.ArenaWarning)
        fit = ba.fit(cells, model="am-elo", prior="flat")
    lowest, log_odds = lowest_of_many_starts(cells, seed, starts=15)
    if fit.mode.at_infinity:
        assert log_odds > 20 or fit.loss < lowest - 1e-6
    else:
        assert fit.loss < lowest + 1e-6
