"""Fits in which annotators disagree along directions: every table, draws and files; and against NUTS."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from helpers import frame
from scipy.stats import norm

import bayes_arena as ba
from bayes_arena.fits.draws import Draws
from bayes_arena.fits.images import Images
from bayes_arena.fits.pointwise import pointwise
from bayes_arena.fits.prior_draws import draw_prior
from bayes_arena.inference.projected_draws import project_draws
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.point import Point
from bayes_arena.likelihood.presets import PRESETS
from bayes_arena.likelihood.problem import Problem
from bayes_arena.validation.prediction import predict_cells


def along(dimensions: int, **more) -> ba.Model:
    """Return am-Davidson with directions."""
    return replace(PRESETS["am-davidson"], name="directions", dimensions=dimensions, **more)


def camps(*, votes: int, annotators: int = 20, competitors: int = 8, share: float = 0.3, seed: int = 0) -> ba.Cells:
    """Return votes by Davidson's model of annotators of whom a camp sees every second competitor the other way."""
    rng = np.random.default_rng(seed)
    ranking = np.linspace(-1.3, 1.3, competitors)
    rankings = np.array([ranking, np.where(np.arange(competitors) % 2, ranking, -ranking)])
    camp = (np.arange(annotators) < share * annotators).astype(int)
    theta, log_nu = rng.normal(1, 0.2, annotators), rng.normal(0, 0.4, annotators)
    i, k = rng.integers(competitors, size=votes), rng.integers(annotators, size=votes)
    j = (i + rng.integers(1, competitors, size=votes)) % competitors
    eta = theta[k] * (rankings[camp[k], i] - rankings[camp[k], j])
    chances = np.exp([eta / 2, -eta / 2, log_nu[k]])
    outcome = (rng.random(votes) > np.cumsum(chances / chances.sum(axis=0), axis=0)[:-1]).sum(axis=0)
    said = np.array(["model_a", "model_b", "tie"])[outcome]
    rows = zip(i.tolist(), j.tolist(), said.tolist(), k.tolist(), strict=True)
    return ba.read_votes(frame([(f"c{a:02}", f"c{b:02}", winner, f"k{who:02}") for a, b, winner, who in rows]))


@pytest.fixture(scope="module")
def cells() -> ba.Cells:
    return camps(votes=1200)


def named(table) -> str:
    """Return the name of a table, or its options."""
    return getattr(table, "__name__", "") or str(table.keywords)


FITS = [
    pytest.param(("map", 1), id="mode"),
    pytest.param(("marginal", 1), id="one direction"),
    pytest.param(("marginal", 2), id="two directions", marks=pytest.mark.slow),
    pytest.param(("nuts", 1), id="sampled", marks=pytest.mark.slow),
    pytest.param(("nuts", 2), id="two directions sampled", marks=pytest.mark.slow),
]


@pytest.fixture(scope="module", params=FITS)
def fit(request, cells) -> ba.Fit:
    method, dimensions = request.param
    return ba.fit(cells, model=along(dimensions), method=method, draws=150, tune=300, seed=1)


TABLES = [
    ba.leaderboard,
    ba.strengths,
    ba.contrasts,
    ba.effects,
    ba.head_to_head,
    ba.win_probability,
    partial(ba.win_probability, annotator="new"),
    ba.rank_probabilities,
    ba.pairs,
    pytest.param(ba.annotators, marks=pytest.mark.slow),
    ba.next_pairs,
    ba.predictive_check,
    partial(ba.predictive_check, by="annotator"),
    ba.diagnose,
]


@pytest.mark.parametrize("table", TABLES, ids=named)
def test_every_table_is_there(fit, table):
    found = table(fit)
    assert len(found)
    assert np.isfinite(found.select_dtypes("number").to_numpy(dtype=float)).all()


def test_draws_are_about_the_board(fit):
    board = ba.leaderboard(fit, level=0.95).set_index("competitor").loc[list(fit.cells.competitors)]
    draws = ba.draw(fit, size=2000)
    points = ba.EloScale().points(draws.elo_strength.mean(axis=0), fit.cells.competitors)
    spread = ba.EloScale().points_per_logit * draws.elo_strength.std(axis=0)
    np.testing.assert_allclose(points, board["elo"], atol=4 * spread.max() / np.sqrt(len(draws.strength)))
    np.testing.assert_allclose(spread, (board["upper"] - board["lower"]) / 2 / norm.ppf(0.975), rtol=0.12)


def test_a_draw_has_the_board_of_its_point(fit):
    draws, votes = ba.draw(fit, size=3), fit.cells.votes_by_annotator()
    some = (draws.strength[:3], draws.common[:3], draws.own[:3])
    found = project_draws(fit.target, *some, votes, draws.slices[:3])
    expected = [project(fit.target, Point(*point), votes).strength for point in zip(*some, draws.slices, strict=False)]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_likelihood_of_draws_is_that_of_the_objective(fit):
    draws = ba.draw(fit, size=20)
    values, votes = pointwise(fit, draws)
    losses = [fit.target.loss(point) for point in draws.points()]
    np.testing.assert_allclose(values @ votes, np.negative(losses), rtol=1e-10)


@pytest.mark.slow
def test_votes_are_predicted_along_directions(fit):
    """Annotators of the two camps expect different scores, as they are known; a new annotator is between them."""
    known, new = (predict_cells(fit, fit.cells, new=new).score for new in (False, True))
    by_pair = {}
    for a, b, k, score in zip(fit.cells.a, fit.cells.b, fit.cells.annotator, known, strict=True):
        by_pair.setdefault((a, b), {True: [], False: []})[bool(k < 6)].append(score)
    gaps = [np.mean(part[True]) - np.mean(part[False]) for part in by_pair.values() if part[True] and part[False]]
    assert max(np.abs(gaps)) > 0.3
    assert new.std() < known.std()


@pytest.mark.slow
def test_leave_one_out_prefers_directions_where_there_are_camps(fit):
    without = ba.fit(fit.cells, model="am-davidson", dimensions=0, robust=False)
    assert ba.leave_one_out(fit).total > ba.leave_one_out(without).total + 10
    assert ba.leave_one_out(fit).pareto_k.max() < 1.0


@pytest.mark.slow
def test_it_is_saved_and_loaded(fit, tmp_path):
    ba.save(fit, tmp_path / "fit.nc")
    loaded = ba.load(tmp_path / "fit.nc")
    for table in (ba.leaderboard, ba.annotators):
        pd.testing.assert_frame_equal(table(loaded), table(fit))


@pytest.mark.slow
def test_its_tree_names_directions(fit):
    tree = ba.to_datatree(fit)
    for one in range(1, 1 + fit.model.dimensions):
        assert tree["posterior"][f"direction_{one}"].dims == ("chain", "draw", "competitor")
        assert tree["posterior"][f"loading_{one}"].dims == ("chain", "draw", "annotator")
        np.testing.assert_allclose(tree["posterior"][f"loading_{one}"].sum("annotator"), 0, atol=1e-9)
        assert float(tree["prior"][f"loading_{one}"].std()) == pytest.approx(1, rel=0.05)
    drawn = ba.from_posterior(tree, fit.cells, model=fit.model)
    board, back = (ba.leaderboard(one).set_index("competitor")["elo"].sort_index() for one in (fit, drawn))
    np.testing.assert_allclose(back, board, atol=15)


@pytest.mark.parametrize("interval", ["sandwich", "clustered", "bootstrap"])
def test_robust_intervals_are_of_one_dimension(fit, interval):
    with pytest.raises(ba.ModelError, match="for models of one dimension"):
        ba.leaderboard(fit, interval=interval)


@pytest.mark.slow
def test_prior_draws_have_the_spreads_of_the_prior(cells):
    prior = ba.Prior(by={"direction_1": 0.4, "direction_2": 2.0}, hyper=None)
    problem = Problem.of(cells, along(2), prior)
    draws, spreads = draw_prior(problem, size=400, seed=1)
    assert spreads == {}
    first, second = (draws.slices[:, part].std() for part in problem.objective.directions)
    assert (first, second) == pytest.approx((0.4, 2.0), rel=0.06)
    loadings = draws.own[:, :, -2:]
    assert loadings.std() == pytest.approx(np.sqrt(1 - 1 / cells.n_annotators), rel=0.03)
    table = ba.prior_check(cells, model=along(2), prior=prior, size=100).set_index("quantity")
    assert table.loc["sd of Elo scores", "q50"] > 0


@pytest.fixture(scope="module")
def sliced(cells) -> ba.Fit:
    prompt = np.random.default_rng(0).integers(12, size=len(cells.a))
    order = np.lexsort([prompt, cells.annotator, cells.b, cells.a])
    named = {"prompt": tuple(f"p{one:02}" for one in range(12))}
    parts = {name: getattr(cells, name)[order] for name in ("a", "b", "annotator", "counts")}
    votes = replace(cells, **parts, slices={"prompt": prompt[order]}, slice_names=named, features={})
    return ba.fit(votes, model=along(1, strength_by=("prompt",), ties_by=("prompt", "competitor")))


class TestWithSlices:
    @pytest.mark.slow
    @pytest.mark.parametrize("table", [*TABLES, ba.answers], ids=named)
    def test_every_table_is_there(self, sliced, table):
        test_every_table_is_there(sliced, table)

    @pytest.mark.slow
    def test_directions_are_no_slices_of_a_board(self, sliced):
        (part,) = sliced.target.directions
        assert not sliced.on("these prompts").view.slices.toarray()[:, part].any()
        boards = [ba.leaderboard(sliced, over=over).set_index("competitor")["elo"] for over in (None, "these prompts")]
        np.testing.assert_allclose(boards[0], boards[1].loc[boards[0].index], atol=40)

    def test_a_draw_has_the_board_of_its_point(self, sliced):
        test_a_draw_has_the_board_of_its_point(sliced)

    def test_the_likelihood_of_draws_is_that_of_the_objective(self, sliced):
        test_the_likelihood_of_draws_is_that_of_the_objective(sliced)


class TestOfOtherScales:
    @pytest.mark.slow
    def test_loadings_of_another_mean_and_discriminations_of_another_scale(self, cells):
        """What leaves eta as it is, draw by draw, is put right: the draws are those of the same predictions."""
        fit = ba.fit(cells, model=along(2))
        tree = ba.to_datatree(fit, votes=False)
        posterior = tree["posterior"].to_dataset().isel(draw=slice(0, 50)).drop_vars("elo_strength")
        moved = posterior.assign(
            strength=(posterior["strength"] - 0.7 * posterior["direction_1"]) / 2 + 3,
            discrimination=2 * posterior["discrimination"],
            loading_1=posterior["loading_1"] + 0.7 * posterior["discrimination"],
        )
        moved = moved.assign(strength=moved["strength"].transpose("chain", "draw", "competitor"))
        plain, back = (self._read(one, fit) for one in (posterior, moved))
        for one, other in zip(plain.points(), back.points(), strict=True):
            np.testing.assert_allclose(fit.target.coordinates(one), fit.target.coordinates(other), atol=1e-9)
        np.testing.assert_allclose(plain.own, back.own, atol=1e-9)
        np.testing.assert_allclose(plain.elo_strength, back.elo_strength, atol=1e-9)

    @pytest.mark.slow
    def test_mirror_images_are_brought_to_one(self, cells):
        fit = ba.fit(cells, model=along(2))
        posterior = ba.to_datatree(fit, votes=False)["posterior"].to_dataset().isel(draw=slice(0, 50))
        turned = posterior.drop_vars("elo_strength").copy(deep=True)
        for name in ("direction", "loading"):
            turned[f"{name}_1"][1] *= -1
            turned[f"{name}_1"][2], turned[f"{name}_2"][2] = posterior[f"{name}_2"][2], -posterior[f"{name}_1"][2]
        plain, back = (self._read(one, fit) for one in (posterior.drop_vars("elo_strength"), turned))
        np.testing.assert_allclose(plain.slices, back.slices)
        np.testing.assert_allclose(plain.own, back.own)
        np.testing.assert_allclose(plain.elo_strength, back.elo_strength, atol=1e-9)

    @staticmethod
    def _read(posterior, fit: ba.Fit) -> Draws:
        import xarray as xr

        return ba.from_posterior(xr.DataTree.from_dict({"posterior": posterior}), fit.cells, model=fit.model).samples


def test_images_are_those_that_were_turned():
    rng = np.random.default_rng(0)
    w = np.array([[2.0, -1.0, 0.5, 0.0], [0.2, 0.3, -0.9, 0.1]]) + 0.2 * rng.normal(size=(200, 2, 4))
    v = np.array([[1.0, -1.0, 0.3], [-0.5, 1.0, -0.5]]) + 0.2 * rng.normal(size=(200, 2, 3))
    sign, swapped = rng.choice([-1.0, 1.0], (200, 2)), rng.random(200) < 0.5
    order = np.where(swapped[:, None], [1, 0], [0, 1])
    turned = [np.take_along_axis(sign[:, :, None] * one, order[:, :, None], axis=1) for one in (w, v)]
    images = Images.of(*turned)
    for one, found in zip((w, v), map(images.taken, turned), strict=True):
        np.testing.assert_allclose(found[:, 0], one[:, 0])
        np.testing.assert_allclose(found[:, 1], -one[:, 1])  # its largest position is negative
    assert (images.taken(np.array([[1.0, 2.0]] * 200), signed=False) == images.order + 1).all()


@pytest.mark.slow
def test_nuts_and_the_gaussian_agree_where_there_are_camps():
    """Means of the board within .1 sd and sds within 8 %; chains agree on directions and loadings."""
    import arviz as az

    cells = camps(votes=4000, annotators=40, competitors=20, seed=3)
    gaussian = ba.fit(cells, model=along(1))
    sampled = ba.fit(cells, model=along(1), method="nuts", draws=500, tune=400, seed=1)
    posterior = sampled.tree["posterior"].to_dataset()
    assert float(az.rhat(posterior[["direction_1", "loading_1", "strength"]]).to_array().max()) < 1.03
    assert int(sampled.tree["sample_stats"]["diverging"].sum()) < 10
    ours, theirs = (ba.leaderboard(fit).set_index("competitor").sort_index() for fit in (gaussian, sampled))
    sd = (theirs["upper"] - theirs["lower"]) / 2 / norm.ppf(0.975)
    np.testing.assert_array_less(np.abs(ours["elo"] - theirs["elo"]) / sd, 0.15)
    ratio = (ours["upper"] - ours["lower"]) / (theirs["upper"] - theirs["lower"])
    np.testing.assert_allclose(ratio, 1, atol=0.1)
    assert ratio.mean() == pytest.approx(1, abs=0.04)
    (part,) = gaussian.target.directions
    for mean, drawn in (
        (gaussian.point.slices[part], sampled.samples.slices[:, part]),
        (gaussian.point.own[:, -1], sampled.samples.own[:, :, -1]),
    ):
        sign = np.sign(mean @ drawn.mean(axis=0))
        np.testing.assert_array_less(np.abs(sign * mean - drawn.mean(axis=0)) / drawn.std(axis=0), 0.3)
    assert abs(np.corrcoef(gaussian.point.own[:, -1], np.arange(40) < 12)[0, 1]) > 0.9
