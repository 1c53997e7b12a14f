"""Annotators integrated out: the integral itself, its derivatives, and what it is for."""

import os
import signal
from dataclasses import replace
from time import sleep

import numpy as np
import polars as pl
import pytest
from scipy.integrate import quad

import bayes_arena as ba
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.inference.marginal import integral as integrals, quadrature
from bayes_arena.inference.marginal.integral import COARSE, FINE, Integral
from bayes_arena.inference.marginal.quadrature import is_sparse
from bayes_arena.inference.marginal.spreads import estimate_spreads
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.objective import objective
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model

MODELS = [
    PRESETS["am-elo"],
    PRESETS["am-davidson"],
    Model("rao-kupper", "annotator", "rao-kupper", "annotator"),
    Model("both-bad", "annotator", "davidson", "annotator", "outcome", "common"),
    Model("ties only", "fixed", "davidson", "annotator"),
    Model("sides only", "fixed", "drop", position="annotator"),
]
NODES = 9


@pytest.fixture(scope="module")
def few_votes():
    arena = ba.simulate(competitors=5, annotators=30, votes=300, seed=3)
    votes = arena.votes.with_row_index()
    bad = (pl.col("index") % 7 == 0) & (pl.col("winner") == "tie")
    return ba.read_votes(votes.with_columns(winner=pl.when(bad).then(pl.lit("both_bad")).otherwise("winner")))


def start(cells, model):
    prior = Prior()
    target = objective(cells, model, prior)
    rng = np.random.default_rng(1)
    head = np.concatenate([rng.normal(0, 0.5, cells.n_competitors), rng.normal(0, 0.3, len(target.common))])
    return target, prior, head


@pytest.mark.slow
@pytest.mark.parametrize("name", ["am-elo", "ties only"])
def test_the_value_is_the_integral_over_every_annotator(few_votes, name):
    """One number per annotator: adaptive quadrature of the NumPy likelihood does the same, annotator by annotator."""
    model = next(model for model in MODELS if model.name == name)
    target, prior, head = start(few_votes, model)
    n = few_votes.n_competitors
    integral = Integral(target, NODES)
    term, sd = target.own[0], target.own[0].sd
    expected = 0.0
    for k in range(few_votes.n_annotators):
        rows = target.tally.k == k
        counts, likelihood = target.counts[:, rows], model.likelihood.rows

        def density(x, rows=rows, counts=counts, likelihood=likelihood, k=k):
            own = np.full((few_votes.n_annotators, 1), term.mean)
            own[k] = x
            z = target.coordinates(Point(head[:n], head[n:], own))[:, rows]
            prior_density = np.exp(-0.5 * ((x - term.mean) / sd) ** 2) / (sd * np.sqrt(2 * np.pi))
            return np.exp(-likelihood(counts, z).value.sum()) * prior_density

        expected -= np.log(quad(density, term.mean - 9 * sd, term.mean + 9 * sd, epsabs=0, epsrel=1e-9)[0])
    center = np.concatenate([np.zeros(n), [term.mean for term in target.common]])
    spread = np.concatenate([np.full(n, prior.strength), [term.sd for term in target.common]])
    scale = getattr(prior.hyper, integral.spreads[0])
    expected += 0.5 * np.sum(((head - center) / spread) ** 2) + 0.5 * (sd / scale) ** 2 - np.log(sd)
    assert integral(head, prior).value == pytest.approx(expected, abs=2e-3 if model.has_tie_outcome else 1e-6)


@pytest.fixture(scope="module")
def many_votes():
    """An annotator of more rows than are kept at once, and rows of many votes and of parts of one."""
    names = [f"m{number:02d}" for number in range(30)]
    one = [
        (a, b, ["model_a", "tie", "model_b"][place % 3], "k") for place, a in enumerate(names) for b in names[:place]
    ]
    others = [(*row[:3], f"k{place % 3}") for place, row in enumerate(one[::9])]
    votes = pl.DataFrame([*one, *others], schema=["model_a", "model_b", "winner", "judge"], orient="row")
    return ba.read_votes(votes.with_row_index().with_columns(weight=pl.col("index") % 5 / 2 + 0.5), weight="weight")


@pytest.mark.parametrize("scale", [1.0, 1500.0])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_annotators_who_do_not_differ_have_the_likelihood_for_their_integral(many_votes, model, scale, monkeypatch):
    """Far out too, where probabilities underflow."""
    target, prior, head = start(many_votes, model)
    n = many_votes.n_competitors
    head[:n] *= scale
    integral = Integral(target, COARSE)
    monkeypatch.setattr(integral, "spreads_of", lambda _: [1e-7] * len(target.own))
    center = np.concatenate([np.zeros(n), [term.mean for term in target.common]])
    spread = np.concatenate([np.full(n, prior.strength), [term.sd for term in target.common]])
    expected = target.loss(Point(head[:n], head[n:], np.tile(integral.means, (many_votes.n_annotators, 1))))
    expected += 0.5 * np.sum(((head - center) / spread) ** 2) - len(target.own) * np.log(1e-7)
    assert integral(head, prior).value == pytest.approx(expected, rel=1e-9)


def test_derivatives_by_an_annotator_of_many_rows(many_votes):
    target, prior, head = start(many_votes, PRESETS["am-davidson"])
    integral = Integral(target, FINE)
    move = 1e-4 * np.random.default_rng(2).normal(size=len(head))
    here, up, down = (integral(head + sign * move, prior) for sign in (0, 1, -1))
    size = len(head)
    assert here.gradient[:size] @ move == pytest.approx(0.5 * (up.value - down.value), rel=1e-3)
    bend = 0.5 * (up.gradient - down.gradient)[:size]
    np.testing.assert_allclose(here.information[:size, :size] @ move, bend, atol=5e-3 * np.abs(bend).max())


def test_the_same_bits_whatever_the_cores(few_votes, monkeypatch):
    target, prior, head = start(few_votes, PRESETS["am-davidson"])
    found = []
    for cores in (1, 3):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        found.append(Integral(target, FINE)(head, prior))
    np.testing.assert_array_equal(found[0].information, found[1].information)
    assert found[0].value == found[1].value


def test_a_long_integration_is_told_and_its_line_is_cleared(monkeypatch):
    cells, said = ba.read_votes(ba.simulate(competitors=4, annotators=60, votes=240, seed=1).votes), []
    monkeypatch.setattr(integrals, "PATIENCE", -1.0)
    monkeypatch.setattr(integrals, "report", lambda *words: said.append(words))
    monkeypatch.setattr(quadrature, "report", lambda *words: said.append(words))
    ba.fit(cells, model="am-elo", guard=False)
    assert said[0] == ("integrating over 60 annotators, step 1", 0, 16)
    assert said[-1] == ("",)


def test_ctrl_c_is_heard_between_blocks_of_annotators(few_votes):
    target, prior, head = start(few_votes, PRESETS["am-davidson"])
    integral, blocks = Integral(target, FINE), []

    class Slow:
        signatures = True

        def __call__(self, *given):
            blocks.append(given[1:3])
            if len(blocks) == 3:
                os.kill(os.getpid(), signal.SIGINT)
            sleep(0.02)
            return 0.0

    integral.integrate = Slow()
    with pytest.raises(KeyboardInterrupt):
        integral(head, prior)
    assert len(blocks) < integrals.BLOCKS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_derivatives_are_finite_differences_of_the_value(few_votes, model):
    target, prior, head = start(few_votes, model)
    integral = Integral(target, NODES)
    x = np.concatenate([head, np.log([getattr(prior, name) for name in integral.spreads])])

    def at(x):
        spreads = np.exp(x[len(head) :]).tolist()
        return integral(x[: len(head)], replace(prior, **dict(zip(integral.spreads, spreads, strict=True))))

    here, step = at(x), 1e-4
    ends = [(at(x + step * e), at(x - step * e)) for e in np.eye(len(x))]
    slope = np.array([(up.value - down.value) / (2 * step) for up, down in ends])
    curve = np.array([(up.gradient - down.gradient) / (2 * step) for up, down in ends])
    size = np.abs(np.diag(curve)).max()
    np.testing.assert_allclose(here.gradient, slope, atol=(5e-3 if model.ties == "rao-kupper" else 1e-4) * size)
    np.testing.assert_allclose(here.information, curve, atol=(0.1 if model.ties == "rao-kupper" else 6e-3) * size)


@pytest.mark.slow
def test_few_votes_an_annotator_neither_stretch_the_scale_nor_hide_how_they_differ():
    """2,000 annotators of ten votes: around the joint mode they look too much alike, integrated out they do not."""
    z, slopes, spreads = [], [], []
    for seed in range(4):
        arena = ba.simulate(
            annotators=2000, votes=20_000, discrimination_sd=0.4, tie_spread=0.8, position_spread=0.2, seed=seed
        )
        cells = ba.read_votes(arena.votes)
        fit = ba.fit(cells)
        assert (fit.method, fit.evidence) == ("marginal", "quadrature")
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
    fit = ba.fit(ba.read_votes(ba.simulate(competitors=6, annotators=600, votes=3000, seed=5).votes), guard=False)
    strength, common, own, _ = draw_parameters(fit, size=500, seed=1)
    votes = fit.cells.votes_by_annotator()
    drawn = project_draws(fit.target, strength, common, own, votes).mean(axis=0)
    board = project(fit.target, fit.point, votes, fit.view).strength
    assert np.polyfit(drawn, board, 1)[0] == pytest.approx(1, abs=0.01)
    assert np.polyfit(drawn, project(fit.target, fit.point, votes).strength, 1)[0] > 1.04
    shown = ba.leaderboard(fit).set_index("competitor").loc[list(fit.cells.competitors), "elo"]
    np.testing.assert_allclose(shown, ba.EloScale().points(board, fit.cells.competitors))


def test_well_fed_annotators_are_left_to_laplace(arena_cells, few_votes):
    assert ba.fit(arena_cells).evidence == "laplace"
    assert ba.fit(arena_cells, method="map").evidence is None
    assert not is_sparse(Problem(few_votes, PRESETS["bradley-terry"], Prior()))


def test_spreads_too_wide_to_start_from():
    votes = ba.simulate(competitors=6, annotators=14, votes=30, tie_propensity=0.0, seed=0).votes
    with pytest.raises(ba.ConvergenceError, match="narrower"):
        ba.fit(ba.read_votes(votes), prior=ba.Prior(1e4, 1e4, 1e4, 1e4))


@pytest.mark.parametrize("tie_share", [0.0, 1.0])
def test_fewer_votes_than_settle_the_strengths_spread_at_once(tie_share):
    """The spread of the strengths swings: where it is wide their variances are too, and call for a narrow one."""
    votes = ba.simulate(competitors=6, annotators=12, votes=26, tie_propensity=0.0, seed=0).votes
    if tie_share:
        votes = votes.with_columns(winner=pl.lit("tie"))
    fit = ba.fit(ba.read_votes(votes))
    assert fit.evidence == "quadrature"
    assert 0.2 < fit.spreads.strength < 1.5


def test_the_uncertainty_of_the_spreads_widens_the_intervals():
    """The covariance of the strengths is their block of the inverse information, the spreads' rows included."""
    arena = ba.simulate(competitors=4, annotators=60, votes=240, seed=1)
    cells = ba.read_votes(arena.votes)
    fit = ba.fit(cells, model="am-elo")
    assert fit.evidence == "quadrature"
    head = fit.point.head
    information = Integral(objective(cells, fit.model, fit.prior), FINE)(head, fit.spreads).information
    center = np.eye(4) - 0.25
    with_spreads = center @ np.linalg.inv(information)[:4, :4] @ center
    np.testing.assert_allclose(ba.strengths(fit)["sd"], np.sqrt(np.diag(with_spreads)), rtol=1e-3)
    fixed = center @ np.linalg.inv(information[: len(head), : len(head)])[:4, :4] @ center
    assert np.sqrt(np.diag(with_spreads) / np.diag(fixed)).max() > 1.01
