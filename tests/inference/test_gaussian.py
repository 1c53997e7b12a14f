"""The Gaussian nearest to the posterior: what it averages, what it solves, and how near it is to NUTS."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from helpers import every_likelihood, in_full
from scipy.linalg import block_diag, null_space

import bayes_arena as ba
from bayes_arena.algebra.factorising import factorise
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.inference import pace
from bayes_arena.inference.curves import average_score
from bayes_arena.inference.marginal import gaussian
from bayes_arena.inference.marginal.gaussian import hardly_any_voted_twice, nearest_gaussian
from bayes_arena.inference.marginal.spreads import estimate_spreads
from bayes_arena.inference.marginal.sweep import moments, sizes_of
from bayes_arena.inference.mode.mode import find_mode
from bayes_arena.inference.mode.newton import Gauge
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.averaging import FACTOR, LEAD, Scatter, at_point, averaged, over_nodes, rule
from bayes_arena.likelihood.covariances import Covariances
from bayes_arena.likelihood.derivatives import gradient_and_hessian, value_and_derivatives
from bayes_arena.likelihood.outcomes.likelihood import likelihood
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import Prior, degrees
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.votes.outcomes import BOTH_BAD

MODELS = [
    PRESETS["am-elo"],
    PRESETS["am-davidson"],
    Model("rao-kupper", "annotator", "rao-kupper", "annotator"),
    Model("both-bad", "annotator", "davidson", "annotator", "outcome", "common"),
    Model("ties only", "fixed", "davidson", "annotator"),
    Model("sides only", "fixed", "drop", position="annotator"),
]


@pytest.fixture(scope="module")
def few_votes():
    arena = ba.simulate(competitors=5, annotators=30, votes=300, seed=3)
    votes = arena.votes.with_row_index()
    bad = (pl.col("index") % 7 == 0) & (pl.col("winner") == "tie")
    return ba.read_votes(votes.with_columns(winner=pl.when(bad).then(pl.lit("both_bad")).otherwise("winner")))


@pytest.fixture(scope="module")
def sparse():
    return ba.read_votes(ba.simulate(competitors=6, annotators=300, votes=1500, seed=5).votes)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_the_rule_averages_every_polynomial_of_the_fifth_degree(dimensions):
    nodes, weights = rule(dimensions)
    double = (1, 0, 1, 0, 3, 0)  # moments of a standard Gaussian
    for powers in np.ndindex(*[6] * dimensions):
        if sum(powers) <= 5:
            expected = np.prod([double[power] for power in powers])
            assert weights @ np.prod(nodes**powers, axis=1) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("model", [one for one in every_likelihood() if one.loop], ids=lambda one: one.name)
def test_compiled_averages_are_those_of_the_rows(model, scale):
    rng, size, n = np.random.default_rng(0), model.n_coordinates, 3000
    z = rng.normal(size=(size, n)) * np.where(np.arange(size) == 0, scale, min(scale, 30.0))[:, None]
    if model.name == "rao-kupper":
        z[1] = np.clip(z[1], -5, 2)
    both_bad = "outcome" if BOTH_BAD in model.outcomes else "tie"
    counts = model.seen(rng.integers(0, 3, (n, 4)) * 10.0 ** rng.integers(0, 8, (n, 4)), both_bad)
    root = np.tril(rng.normal(0, 0.4, (n, size, size))).transpose(1, 2, 0)
    found, expected = (over_nodes(one, counts, z, root, *rule(size)) for one in (model, replace(model, loop=None)))
    for name in ("value", "gradient", "hessian"):
        one, other = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13 * counts.max())


@pytest.mark.parametrize("model", [one for one in every_likelihood() if one.loop], ids=lambda one: one.name)
def test_what_is_not_a_number_stays_so_in_compiled_loops(model):
    seen = np.ones((4, 2)) * np.isin(np.arange(4), model.outcomes)[:, None]
    for coordinate in range(model.n_coordinates):
        z = np.zeros((model.n_coordinates, 2))
        z[coordinate, 0] = np.nan
        terms, score = at_point(model, seen, z), average_score(model, z, [(0.0, 1.0)])[0]
        for found in (terms.value, terms.gradient, score):
            assert np.isnan(found[..., 0]).any() and np.isfinite(found[..., 1]).all()


def test_what_compiled_loops_return_has_the_type_of_other_arrays():
    """Not one that only looks alike: ``np.add.at`` would take twenty times as long."""
    found = over_nodes(likelihood("davidson"), np.ones((4, 3)), np.zeros((2, 3)), np.zeros((2, 2, 3)), *rule(2))
    assert all(one.dtype is np.dtype(np.float64) for one in (found.value, found.gradient, found.hessian))


@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper", "glenn-david"])
def test_averages_are_those_of_fine_quadrature(ties):
    rng, model = np.random.default_rng(0), likelihood(ties)
    size, n = model.n_coordinates, 200
    counts, z = rng.integers(0, 4, (4, n)).astype(float), rng.normal(0, 0.5, (size, n))
    counts[3] = 0
    root = rng.normal(0, 0.35, (size, size, n))
    numbers = [(c, np.ones(n)) for c in range(size)]
    covariance = np.einsum("abr,cbr->acr", root, root)
    scatter = Scatter.of(size, numbers, covariance, {})
    x, w = np.polynomial.hermite_e.hermegauss(13)
    grid = np.array(np.meshgrid(*[x] * size)).reshape(size, -1)
    weights = np.prod(np.array(np.meshgrid(*[w / w.sum()] * size)).reshape(size, -1), axis=0)
    lower = np.linalg.cholesky(covariance.transpose(2, 0, 1)).transpose(1, 2, 0)
    expected = sum(
        weight * model.rows(counts, z + np.einsum("abr,b->ar", lower, node)).gradient
        for node, weight in zip(grid.T, weights, strict=True)
    )
    found = averaged(model, counts, z, scatter)
    error = np.abs(found.gradient - expected) / (np.abs(expected) + 1)
    assert np.median(error) < 1e-3 and np.quantile(error, 0.9) < 0.02


def test_a_step_of_rounding_alone_does_not_shorten_the_next():
    """At a mode the first step is rounding, of either sign."""
    step = np.array([0.3, -0.2])
    for rounding in (1e-15, -1e-15):
        assert pace.length_of_step(1.0, 1.2, step, rounding * step) == 1.0
    assert pace.length_of_step(1.0, 1.2, step, -step) == 0.5


def dense(target, point, hessian):
    """The Hessian in full, and columns that span the plane where sums are held."""
    n, c, (count, width) = target.n_competitors, len(target.common), point.own.shape
    own = np.kron(null_space(np.ones((1, count))), np.eye(width))
    return in_full(hessian), block_diag(null_space(np.ones((1, n))), np.eye(c), own)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_rows_vary_as_the_inverse_of_the_whole_hessian_says(few_votes, model):
    problem = Problem(few_votes, model, Prior())
    target, mode = problem.objective, find_mode(problem)
    _, hessian = gradient_and_hessian(target, mode.point, residuals=False)
    held = np.ones(len(target.own), dtype=bool)
    gauge = Gauge(problem.shifts, free_scale=False, held=held)
    factor = factorise(hessian, extra=gauge.extra(mode.point, hessian), held=held)
    rows, tally, point = slice(3, 40), target.tally, mode.point
    leads, factors = target.leads_at(point), target.factors(point)
    leads, factors = ([one[rows] if np.ndim(one) else one for one in part] for part in (leads, factors))
    scatter = Covariances.of(target, factor).rows(rows, leads, factors, tally.features[:, rows])
    whole, plane = dense(target, point, hessian)
    covariance = plane @ np.linalg.inv(plane.T @ whole @ plane) @ plane.T
    size = target.likelihood.n_coordinates
    jacobian = np.zeros((size + 2, 37, len(whole)))
    step = 1e-6
    for p in range(len(whole)):
        move = np.where(np.arange(len(whole)) == p, step, 0.0)
        there = point.moved(move[: len(point.head)], move[len(point.head) :].reshape(point.own.shape), 1.0)
        jacobian[:size, :, p] = (target.coordinates(there) - target.coordinates(point))[:, rows] / step
        jacobian[size, :, p] = (target.leads(there.strength) - target.leads(point.strength))[rows] / step
        if target.free_discrimination:
            jacobian[-1, :, p] = (there.own - point.own)[tally.k[rows], 0] / step
    expected = np.einsum("arp,pq,brq->abr", jacobian, covariance, jacobian)
    root = scatter.root
    np.testing.assert_allclose(np.einsum("abr,cbr->acr", root, root), expected[:size, :size], atol=1e-6)
    for number, place in {LEAD: size, FACTOR: -1}.items():
        np.testing.assert_allclose(scatter.towards[0, number], expected[:size, place], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_averaged_gradient_is_that_of_the_averaged_loss(few_votes, model):
    """By finite differences, covariances held; Price's theorem is exact of the integral, nearly so of few nodes."""
    problem = Problem(few_votes, model, Prior())
    fit = nearest_gaussian(problem)
    target, point = fit.problem.objective, fit.point
    around = Covariances.of(target, fit.laplace.factor)
    rng = np.random.default_rng(2)
    head, own = rng.normal(0, 0.3, len(point.head)), rng.normal(0, 0.3, point.own.shape)
    point = point.moved(rng.normal(0, 0.1, len(head)), rng.normal(0, 0.1, own.shape), 1.0)
    _, gradient, _ = value_and_derivatives(target, point, residuals=False, around=around)
    up, down = (value_and_derivatives(target, point.moved(head, own, s), around=around)[0] for s in (1e-4, -1e-4))
    along = gradient.head @ head + np.sum(gradient.own * own)
    assert along == pytest.approx((up - down) / 2e-4, abs=0.01 * np.abs(gradient.head).max() + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_gradient_and_spreads_are_where_the_divergence_is_least(few_votes, model):
    found = nearest_gaussian(Problem(few_votes, model, Prior()))
    target, prior = found.problem.objective, found.problem.prior
    assert found.gradient < 1e-4
    squares, variance = moments(target, found.point, Covariances.of(target, found.laplace.factor))
    for p, name in enumerate(target.spreads):
        sigma, scale = prior.spread(name), prior.hyper.spread(name)
        slope = (squares + variance)[p] / sigma**2 - sizes_of(target)[p] + degrees(name) - sigma**2 / scale**2
        assert abs(slope) < 0.05 * sizes_of(target)[p] or sigma < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("annotators", "votes"), [(12, 3600), (400, 1600)])
def test_means_and_standard_deviations_are_those_of_nuts(annotators, votes):
    arena = ba.simulate(competitors=8, annotators=annotators, votes=votes, seed=1)
    cells = ba.read_votes(arena.votes)
    fit = ba.fit(cells, robust=False)
    sampled = ba.fit(cells, robust=False, method="nuts", draws=800).samples.strength
    sd = sampled.std(axis=0)
    assert np.abs((fit.strength - sampled.mean(axis=0)) / sd).max() < 0.15
    assert np.sqrt(fit.laplace.strength_variance()).mean() / sd.mean() == pytest.approx(1, abs=0.04)


@pytest.mark.slow
def test_few_votes_an_annotator_neither_stretch_the_scale_nor_hide_how_they_differ():
    """2,000 annotators of ten votes: around the joint mode they look too much alike, averaged over they do not."""
    z, slopes, spreads = [], [], []
    for seed in range(4):
        arena = ba.simulate(
            annotators=2000, votes=20_000, discrimination_sd=0.4, tie_spread=0.8, position_spread=0.2, seed=seed
        )
        cells = ba.read_votes(arena.votes)
        fit = ba.fit(cells)
        assert (fit.method, fit.evidence) == ("marginal", "variational")
        truth = arena.strength * arena.discrimination.mean()
        table = ba.strengths(fit)
        z.append((table["strength"] - truth) / table["sd"])
        slopes.append(np.polyfit(truth, table["strength"], 1)[0])
        spreads.append(fit.spreads.discrimination)
    assert np.mean(slopes) == pytest.approx(1, abs=0.03)
    assert np.mean(spreads) == pytest.approx(0.4, abs=0.03)
    assert estimate_spreads(Problem(cells, fit.model, fit.prior)).problem.prior.discrimination < 0.37
    assert 0.7 < np.sqrt(np.mean(np.square(z))) < 1.3
    assert abs(np.mean(np.abs(z) < 1.598) - 0.89) < 0.12


@pytest.mark.slow
def test_one_pair_of_accounts_more_moves_no_board():
    """Where quadrature and the Laplace evidence met, 2 sqrt(votes) annotators, the board moved by half a half-width."""
    arena = ba.simulate(competitors=10, annotators=126, votes=4000, seed=2)
    votes = arena.votes
    boards = []
    for joined in (0, 1):
        judge = votes["judge"].unique().sort().to_list()
        names = dict.fromkeys(judge[:2], judge[0]) if joined else {}
        cells = ba.read_votes(votes.with_columns(pl.col("judge").replace(names)))
        boards.append(ba.leaderboard(ba.fit(cells, robust=False)).sort_values("competitor"))
    half = 0.5 * (boards[0]["upper"] - boards[0]["lower"])
    assert (np.abs(boards[0]["elo"] - boards[1]["elo"]) / half).max() < 0.1


@pytest.mark.slow
def test_tables_of_a_sparse_arena_and_the_order_of_votes():
    arena = ba.simulate(competitors=6, annotators=300, votes=1500, anomalous=20, seed=5)
    fit = ba.fit(ba.read_votes(arena.votes))
    again = ba.fit(ba.read_votes(arena.votes.sample(fraction=1, shuffle=True, seed=1)))
    np.testing.assert_array_equal(fit.strength, again.strength)
    np.testing.assert_array_equal(fit.point.own, again.point.own)
    assert ba.leaderboard(fit)["elo"].mean() == pytest.approx(1000)
    table = ba.annotators(fit)
    planted = table["annotator"].isin(arena.anomalous)
    assert table["p_negative"][planted].mean() > 2 * table["p_negative"][~planted].mean()
    draws = ba.draw(fit, size=2000, seed=1)
    np.testing.assert_allclose(draws.own.mean(axis=0), fit.point.own, atol=0.1)
    np.testing.assert_allclose(draws.own[:, :, 0].std(axis=0), fit.discrimination_sd, rtol=0.15)
    np.testing.assert_allclose(draws.strength.std(axis=0, ddof=1), ba.strengths(fit)["sd"], rtol=0.15)


@pytest.mark.slow
def test_the_board_averages_over_what_annotators_of_few_votes_may_be_like():
    """Annotators at their posterior means are too much alike, which would stretch the Elo scale."""
    fit = ba.fit(ba.read_votes(ba.simulate(competitors=6, annotators=600, votes=3000, seed=5).votes), robust=False)
    strength, common, own, _ = draw_parameters(fit, size=500, seed=1)
    votes = fit.cells.votes_by_annotator()
    drawn = project_draws(fit.target, strength, common, own, votes).mean(axis=0)
    board = project(fit.target, fit.point, votes, fit.view).strength
    assert np.polyfit(drawn, board, 1)[0] == pytest.approx(1, abs=0.01)
    assert np.polyfit(drawn, project(fit.target, fit.point, votes).strength, 1)[0] > 1.04
    shown = ba.leaderboard(fit).set_index("competitor").loc[list(fit.cells.competitors), "elo"]
    np.testing.assert_allclose(shown, ba.EloScale().points(board, fit.cells.competitors))


@pytest.mark.slow
def test_other_names_and_sides_give_the_same_covariance(few_votes):
    arena = ba.simulate(competitors=5, annotators=30, votes=300, seed=3)
    swapped = arena.votes.select(
        model_a="model_b",
        model_b="model_a",
        winner=pl.col("winner").replace({"model_a": "model_b", "model_b": "model_a"}),
        judge=pl.lit("z") + pl.col("judge").str.reverse(),
    )
    here, there = (ba.fit(ba.read_votes(votes), robust=False) for votes in (arena.votes, swapped))
    np.testing.assert_allclose(here.strength, there.strength, atol=1e-9)
    np.testing.assert_allclose(here.laplace.strength_covariance(), there.laplace.strength_covariance(), atol=1e-9)
    thetas = [dict(zip(fit.cells.annotators, fit.discrimination, strict=True)) for fit in (here, there)]
    expected = {name[:0:-1]: theta for name, theta in thetas[1].items()}
    assert thetas[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_annotators_answer_the_head_and_spreads_are_uncertain(sparse):
    """Both make the strengths less sure than the Schur complement at fixed covariances and spreads says."""
    fit = nearest_gaussian(Problem(sparse, PRESETS["am-davidson"], Prior()))
    target = fit.problem.objective
    around = Covariances.of(target, fit.laplace.factor)
    _, hessian = value_and_derivatives(target, fit.point, residuals=False, around=around)[1:]
    held = np.ones(3, dtype=bool)
    gauge = Gauge(fit.problem.shifts, free_scale=False, held=held)
    fixed = factorise(hessian, extra=gauge.extra(fit.point, hessian), held=held)
    ratio = np.sqrt(fit.laplace.strength_variance().sum() / np.trace(Covariances.of(target, fixed).of_strengths))
    assert 1.01 < ratio < 1.15


@pytest.mark.slow
def test_of_one_vote_each_annotators_differ_as_the_prior_expects_and_it_says_so():
    arena = ba.simulate(competitors=5, annotators=400, votes=400, seed=0).votes
    cells = ba.read_votes(arena.with_columns(judge=pl.int_range(400).cast(pl.String)))
    assert hardly_any_voted_twice(cells)
    with pytest.warns(ba.errors.IdentificationWarning, match="is what the prior expects"):
        fit = ba.fit(cells, robust=False)
    assert 0.05 < fit.spreads.discrimination < 1
    pooled = ba.leaderboard(ba.fit(ba.read_votes(arena.drop("judge")), model="davidson", method="marginal"))
    boards = [table.set_index("competitor").sort_index() for table in (ba.leaderboard(fit), pooled)]
    half = (boards[1]["upper"] - boards[1]["lower"]) / 2
    assert ((boards[0]["elo"] - boards[1]["elo"]).abs() / half).max() < 0.3


@pytest.mark.slow
def test_spreads_may_start_far_off():
    votes = ba.simulate(competitors=6, annotators=14, votes=30, tie_propensity=0.0, seed=0).votes
    cells = ba.read_votes(votes)
    assert nearest_gaussian(Problem(cells, PRESETS["am-davidson"], Prior(50, 50, 50, 50))).problem.prior.strength < 5


@pytest.mark.slow
@pytest.mark.parametrize("tie_share", [0.0, 1.0])
def test_fewer_votes_than_settle_the_strengths_spread(tie_share):
    votes = ba.simulate(competitors=6, annotators=12, votes=26, tie_propensity=0.0, seed=0).votes
    if tie_share:
        votes = votes.with_columns(winner=pl.lit("tie"))
    problem = Problem(ba.read_votes(votes), PRESETS["am-davidson"], Prior())
    assert 0.2 < nearest_gaussian(problem).problem.prior.strength < 2


@pytest.mark.slow
def test_known_spreads_stay_as_they_are(few_votes):
    prior = replace(Prior(), discrimination=0.3, known=("discrimination",))
    fit = ba.fit(few_votes, prior=prior, robust=False)
    assert fit.spreads.discrimination == 0.3 != fit.spreads.tie_spread


@pytest.mark.slow
def test_a_style_of_their_own_is_one_number_more():
    rng = np.random.default_rng(0)
    votes = ba.simulate(competitors=5, annotators=20, votes=600, seed=0).votes
    words = rng.integers(20, 400, (2, 600))
    cells = ba.read_votes(
        votes.with_columns(words_a=words[0], words_b=words[1]), features={"words": ("words_a", "words_b")}
    )
    model = Model("style", "annotator", "davidson", "annotator", style=("words",), style_slopes="annotator")
    fit = ba.fit(cells, model=model)
    assert fit.evidence == "variational"
    assert 0.005 < fit.spreads.spread("style_words_spread") < 0.6


@pytest.mark.slow
@pytest.mark.parametrize("programs", [0, 3])
def test_a_quarter_of_many_annotators_shows_the_way(monkeypatch, programs):
    votes = ba.simulate(competitors=8, annotators=120, votes=4000, tie_propensity=0.5, seed=3).votes
    cells = ba.read_votes(votes)
    cells = replace(cells, programs=cells.annotators[:programs])
    at_once = nearest_gaussian(Problem(cells, PRESETS["am-davidson"], Prior()))
    monkeypatch.setattr(gaussian, "MANY_ANNOTATORS", 20)
    by_quarters = nearest_gaussian(Problem(cells, PRESETS["am-davidson"], Prior()))
    sd = np.sqrt(at_once.laplace.strength_variance())
    assert (np.abs(by_quarters.point.strength - at_once.point.strength) / sd).max() < 0.05
    np.testing.assert_allclose(np.sqrt(by_quarters.laplace.strength_variance()), sd, rtol=0.05)


@pytest.mark.slow
def test_spreads_that_are_known_are_not_uncertain(few_votes):
    spreads = nearest_gaussian(Problem(few_votes, PRESETS["am-davidson"], Prior())).problem.prior
    known = replace(spreads, known=("strength", "discrimination", "tie_spread", "position_spread"))
    sds = [
        nearest_gaussian(Problem(few_votes, PRESETS["am-davidson"], prior)).laplace.strength_variance() ** 0.5
        for prior in (spreads, known)
    ]
    assert (sds[1] < sds[0]).all()


@pytest.mark.slow
def test_a_prior_may_leave_the_strengths_free(few_votes):
    free = replace(Prior(), strength=math.inf, known=("strength",))
    wide = replace(Prior(), strength=30.0, known=("strength",))
    found = [nearest_gaussian(Problem(few_votes, PRESETS["am-davidson"], prior)) for prior in (free, wide)]
    np.testing.assert_allclose(found[0].point.strength, found[1].point.strength, rtol=0.02, atol=0.02)


@pytest.mark.slow
def test_a_search_that_does_not_settle_says_so(monkeypatch):
    """Models with slices have no other route; what is nearly found is given, with the distance that is left."""
    votes = ba.simulate(competitors=5, annotators=30, votes=300, seed=3).votes.with_row_index()
    cells = ba.read_votes(votes.with_columns(topic=pl.col("index") % 3), slices=["topic"])
    model = Model("by topic", "annotator", "davidson", strength_by=("topic",))
    settled = nearest_gaussian(Problem(cells, model, Prior()))
    assert not settled.open_questions
    monkeypatch.setattr(gaussian, "MAX_SWEEPS", 6)
    monkeypatch.setattr(pace, "SETTLING", 2)
    monkeypatch.setattr(gaussian, "SETTLING", 2)
    near = nearest_gaussian(Problem(cells, model, Prior()))
    assert "did not settle: in the calmest of 6 sweeps" in near.open_questions[-1]
    assert np.abs(near.point.strength - settled.point.strength).max() < 0.25
    monkeypatch.setattr(gaussian, "UNSETTLED", 0.0)
    with pytest.raises(ba.errors.ConvergenceError, match="not found in 6 sweeps"):
        nearest_gaussian(Problem(cells, model, Prior()))
