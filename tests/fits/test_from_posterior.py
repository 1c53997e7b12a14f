"""Draws that were sampled elsewhere, behind the same tables. Only slow tests sample; the others make draws by hand."""

import dataclasses
from dataclasses import replace

import numpy as np
import pandas as pd
import pymc as pm
import pytensor.tensor as pt
import pytest
import xarray as xr
from helpers import answered_votes
from programs import GRAPH

import bayes_arena as ba
from bayes_arena.models import per_vote

pytestmark = pytest.mark.slow  # imports ArviZ or PyMC

CHAINS, DRAWS = 4, 50
SLICED = ba.Model(
    "both",
    "annotator",
    "davidson",
    strength_by=("prompt",),
    ties_by=("competitor", "prompt"),
    discrimination_by=("prompt",),
)


@pytest.fixture(scope="module")
def drawn(arena_cells):
    """A fit, draws from its Gaussian approximation, and these as a user's own sampling would have left them."""
    fit = ba.fit(arena_cells, method="map")
    return fit, ba.draw(fit, size=CHAINS * DRAWS), ba.to_datatree(fit, votes=False)


def tree_of(posterior: xr.Dataset) -> xr.DataTree:
    return xr.DataTree.from_dict({"posterior": posterior})


def posterior_of(drawn) -> xr.Dataset:
    """Return the variables that a sampled program has, thinned."""
    posterior = drawn[2]["posterior"].to_dataset().isel(draw=slice(0, DRAWS))
    return posterior[["strength", "discrimination", "log_tie_propensity", "position"]]


def am_elo_of(drawn) -> xr.Dataset:
    return posterior_of(drawn)[["strength", "discrimination"]]


@pytest.fixture(scope="module")
def answered():
    cells = ba.read_votes(answered_votes(prompts=12, votes=600)[0], prompt="prompt")
    return ba.fit(cells, model=SLICED)


@pytest.fixture(scope="module")
def numbers(answered):
    """Return draws of a model with slices as a user's own sampling would have left them."""
    posterior = ba.to_datatree(answered, votes=False)["posterior"].to_dataset().isel(draw=slice(0, DRAWS))
    return posterior.drop_vars("elo_strength")


class TestOfAModelWithSlices:
    def test_numbers_of_slices_are_read(self, answered, numbers):
        shuffled = numbers.isel(prompt_of_competitor=slice(None, None, -1))
        back = ba.from_posterior(tree_of(shuffled), answered.cells, model=SLICED)
        drawn = back.samples
        parts = back.target.numbers_by_slice(drawn.slices)
        for effect, found in zip(back.target.slices, parts, strict=True):
            expected = numbers[effect.label].to_numpy().reshape(CHAINS * DRAWS, -1)
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        for name in ("strength_by_prompt", "ties_by_prompt", "ties_by_competitor"):
            assert back.prior.spread(name) == pytest.approx(answered.spreads.spread(name), rel=0.15)
        board, ours = (ba.leaderboard(one).set_index("competitor")["elo"].sort_index() for one in (answered, back))
        np.testing.assert_allclose(ours, board, atol=15)
        asked = ba.leaderboard(back.on(over="new prompts")).set_index("competitor")["elo"].sort_index()
        np.testing.assert_allclose(ours, asked, rtol=1e-9)

    def test_the_model_is_inferred_where_ties_are(self, answered, numbers):
        named = {"log_both_bad": numbers["strength"][:, :, 0].drop_vars("competitor")}
        back = ba.from_posterior(tree_of(numbers.assign(named)), answered.cells)
        assert (back.model.strength_by, set(back.model.ties_by)) == (("prompt",), {"prompt", "competitor"})

    def test_another_scale_of_theta_is_put_right(self, answered, numbers):
        doubled = {"discrimination": 2 * numbers["discrimination"], "strength": numbers["strength"] / 2}
        doubled["strength_by_prompt"] = numbers["strength_by_prompt"] / 2
        doubled["discrimination_by_prompt"] = 2 * numbers["discrimination_by_prompt"]
        trees = [tree_of(one) for one in (numbers, numbers.assign(doubled))]
        one, other = (ba.from_posterior(tree, answered.cells, model=SLICED).samples for tree in trees)
        np.testing.assert_allclose(one.slices, other.slices, atol=1e-12)
        np.testing.assert_allclose(one.elo_strength, other.elo_strength, atol=1e-9)

    def test_absent_or_unnamed_numbers_are_refused(self, answered, numbers):
        with pytest.raises(ba.ModelError, match="strength_by_prompt' is absent in the draws, and one number per slice"):
            ba.from_posterior(tree_of(numbers.drop_vars("strength_by_prompt")), answered.cells, model=SLICED)
        with pytest.raises(ba.ModelError, match="'strength_by_prompt' is one number per slice in the draws, and abs"):
            ba.from_posterior(tree_of(numbers), answered.cells, model=SLICED.without_slices())
        renamed = numbers.assign_coords(competitor_of_ties=[f"x{index}" for index in range(6)])
        with pytest.raises(ba.ModelError, match=r"competitor_of_tiess? of 'ties_by_competitor' are not those"):
            ba.from_posterior(tree_of(renamed), answered.cells, model=SLICED)


@pytest.fixture(scope="module")
def back(sampled_davidson):
    return ba.from_posterior(sampled_davidson.tree, sampled_davidson.cells, model="am-davidson")


@pytest.mark.slow
class TestOfASampledFit:
    def test_its_draws_are_those_of_the_fit(self, back, sampled_davidson):
        for name in ("strength", "elo_strength", "common", "own"):
            ours, theirs = getattr(back.samples, name), getattr(sampled_davidson.samples, name)
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize(
        "table", [ba.leaderboard, ba.rank_probabilities, ba.annotators, ba.head_to_head, ba.win_probability]
    )
    def test_the_tables_are_the_same(self, back, sampled_davidson, table):
        plain = dataclasses.replace(sampled_davidson, promotions=None)  # what was found is not in the draws
        kinds = {"atol": 0.02} if table is ba.annotators else {}  # read from the Gaussian around a fit's own mode
        pd.testing.assert_frame_equal(table(back), table(plain), rtol=1e-6, **kinds)

    def test_diagnose_judges_the_chains(self, back, sampled_davidson):
        ours, theirs = (ba.diagnose(fit).set_index("check")["found"] for fit in (back, sampled_davidson))
        chains = ["r-hat", "bulk effective sample size", "divergences", "energy (BFMI)", "Pareto k, leave-one-vote-out"]
        assert ours[chains].to_dict() == theirs[chains].to_dict()

    def test_it_says_what_it_is(self, back):
        assert repr(back) == "Fit(am-davidson, your posterior: 600 votes, 6 competitors, 5 annotators)"
        with pytest.raises(ba.ModelError, match="interval 'sandwich' is for point estimates"):
            ba.leaderboard(back, interval="sandwich")

    def test_it_is_saved_and_loaded(self, back, tmp_path):
        ba.save(back, tmp_path / "mine.nc")
        loaded = ba.load(tmp_path / "mine.nc")
        pd.testing.assert_frame_equal(ba.leaderboard(loaded), ba.leaderboard(back))
        assert repr(loaded) == repr(back)

    def test_its_tree_has_no_prior_that_is_not_known(self, back):
        assert set(ba.to_datatree(back, votes=False).children) == {"posterior", "sample_stats"}


def test_names_decide_not_places(drawn):
    posterior = posterior_of(drawn)
    turned = posterior.isel(competitor=slice(None, None, -1), annotator=[2, 0, 1, 4, 3])
    turned = turned.assign(strength=turned["strength"].transpose("competitor", "draw", "chain"))
    fits = [ba.from_posterior(tree_of(one), drawn[0].cells, model="am-davidson") for one in (posterior, turned)]
    pd.testing.assert_frame_equal(*map(ba.leaderboard, fits))
    pd.testing.assert_frame_equal(*map(ba.annotators, fits))


def test_another_scale_of_theta_and_another_zero_of_strength_change_nothing(drawn):
    posterior, rng = posterior_of(drawn), np.random.default_rng(1)
    scale = xr.DataArray(rng.uniform(-2, 2, (CHAINS, DRAWS)), dims=("chain", "draw"))
    scaled = posterior.assign(
        strength=posterior["strength"] / scale + 3.0, discrimination=posterior["discrimination"] * scale
    )
    one, other = (ba.from_posterior(tree_of(each), drawn[0].cells, model="am-davidson") for each in (posterior, scaled))
    np.testing.assert_allclose(one.samples.strength, other.samples.strength, atol=1e-9)
    np.testing.assert_allclose(one.samples.own, other.samples.own, atol=1e-9)
    np.testing.assert_allclose(other.samples.own[:, :, 0].mean(axis=1), 1)
    lead = np.diff(scaled["strength"].values, axis=2) * scaled["discrimination"].values[:, :, [0]]
    again = np.diff(other.samples.strength, axis=1) * other.samples.own[:, [0], 0]
    np.testing.assert_allclose(again, lead.reshape(again.shape), atol=1e-9)


def test_the_model_is_inferred_where_only_one_is_possible(drawn, four_outcomes):
    cells, posterior = drawn[0].cells, posterior_of(drawn)
    without_ties = ba.read_votes(pd.DataFrame({"model_a": ["x", "y"], "model_b": ["y", "z"], "winner": "model_a"}))
    fit = ba.fit(without_ties, model="bradley-terry", method="map")
    tree = ba.to_datatree(fit, votes=False)
    assert ba.from_posterior(tree, without_ties).model.name == "bradley-terry"

    bad = posterior.assign(log_both_bad=posterior["position"].isel(annotator=0, drop=True))
    found = ba.from_posterior(tree_of(bad), four_outcomes).model
    assert found == ba.Model("own", "annotator", "davidson", "annotator", "outcome", "annotator")

    with pytest.raises(ba.ModelError, match=r"which likelihood of ties.*model='am-davidson'"):
        ba.from_posterior(tree_of(posterior), cells)
    with pytest.raises(ba.ModelError, match=r"half wins.*model='am-elo'"):
        ba.from_posterior(tree_of(am_elo_of(drawn)), cells)


def test_common_numbers_have_no_annotator(drawn):
    posterior = posterior_of(drawn)
    common = posterior.assign({name: posterior[name].mean("annotator") for name in ("log_tie_propensity", "position")})
    model = ba.Model("mine", "annotator", "davidson", position="common")
    fit = ba.from_posterior(tree_of(common), drawn[0].cells, model=model)
    np.testing.assert_allclose(fit.samples.common[:, 0], common["log_tie_propensity"].values.ravel())
    assert ba.leave_one_out(fit).total < 0


def test_a_slope_of_a_feature_is_read_too(drawn):
    rng = np.random.default_rng(2)
    cells = replace(drawn[0].cells, features={"length": rng.normal(size=len(drawn[0].cells.a)).round(1)})
    slope = xr.DataArray(rng.normal(0.4, 0.1, (CHAINS, DRAWS)), dims=("chain", "draw"))
    tree = tree_of(posterior_of(drawn).assign(style_length=slope))
    model = ba.Model("mine", "annotator", "davidson", "annotator", position="annotator", style=("length",))
    fit = ba.from_posterior(tree, cells, model=model)
    assert ba.effects(fit).set_index("effect")["estimate"]["style_length"] == pytest.approx(float(slope.mean()))
    with pytest.raises(ba.ModelError, match="'style_length' is one number in the draws, and absent in the model"):
        ba.from_posterior(tree, cells, model="am-davidson")


def broken(posterior: xr.Dataset, case: str) -> xr.Dataset:
    strength = posterior["strength"]
    if case == "NaN":
        values = strength.values.copy()
        values[1, 7, 2] = np.nan
        return posterior.assign(strength=strength.copy(data=values))
    return {
        "no strength": posterior.rename(strength="r"),
        "no names": posterior.drop_vars("competitor"),
        "other names": posterior.assign_coords(competitor=["x", *strength["competitor"].values[1:]]),
        "a name twice": posterior.assign_coords(annotator=np.array(["annotator-1"] * 2 + ["annotator-3"] * 3)),
        "too few": posterior.isel(competitor=slice(1, None)),
        "wrong dimension": posterior.rename(competitor="model"),
        "no chains": posterior.isel(chain=0, drop=True),
        "one draw": posterior.isel(draw=[0]),
        "balanced": posterior.assign(discrimination=posterior["discrimination"] - 1),
        "more than the model": posterior.assign(position=strength.isel(competitor=0, drop=True)),
        "less than the model": posterior.drop_vars("discrimination"),
    }[case]


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("no strength", "no 'strength', but r, discrimination"),
        ("NaN", "'strength' has draws that are not finite: chain 1 draw 7 model-3\\."),
        (
            "no names",
            "only in the votes: model-1, .*only in the draws: 0, 1, .*coords={'competitor': cells.competitors}",
        ),
        ("other names", "only in the votes: model-1; only in the draws: x"),
        (
            "a name twice",
            "The annotators of 'discrimination' are not those of the votes \\(only in the votes: annotator-2",
        ),
        ("too few", "only in the votes: model-1\\)"),
        ("wrong dimension", "chain, draw, model, not chain, draw, competitor.*dims='competitor'"),
        ("no chains", "has the dimensions draw, competitor, not chain, draw, competitor"),
        ("one draw", "The chains have 1 draws each"),
        ("balanced", "sum to zero"),
        ("more than the model", "'position' is one number in the draws, and absent in the model 'am-elo'"),
        (
            "less than the model",
            "'discrimination' is absent in the draws, and one number per annotator",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_remedy(drawn, case, message):
    with pytest.raises(ba.ModelError, match=message):
        ba.from_posterior(tree_of(broken(am_elo_of(drawn), case)), drawn[0].cells, model="am-elo")


def test_a_tree_without_a_posterior_is_refused(drawn):
    for tree in (drawn[2]["posterior"].to_dataset(), xr.DataTree(), {"posterior": 1}):
        with pytest.raises(ba.ModelError, match=r"Pass the DataTree that pymc\.sample returns"):
            ba.from_posterior(tree, drawn[0].cells)


@pytest.mark.slow
def test_a_changed_model_comes_back(arena_cells):
    """Heavy tails for the strengths, which are not held to sum zero, in a model of half wins turned Davidson's."""
    with pm.Model(coords={"competitor": arena_cells.competitors}):
        votes = per_vote.one_row_a_vote(arena_cells)
        r = pm.StudentT("strength", nu=4, sigma=1, dims="competitor")
        log_nu = pm.Normal("log_tie_propensity", 0, 1)
        eta = r[votes.i] - r[votes.j]
        logits = pt.stack([eta / 2, -eta / 2, log_nu + 0 * eta], axis=1)
        pm.Categorical("outcome", logit_p=logits, observed=votes.outcome)
        tree = pm.sample(
            120,
            tune=120,
            chains=2,
            cores=1,
            nuts_sampler="pymc",
            random_seed=1,
            progressbar=False,
            quiet=True,
            compile_kwargs={"mode": GRAPH},
        )
    model = ba.Model("heavy tails", ties="davidson")
    mine, ours = ba.from_posterior(tree, arena_cells, model=model), ba.fit(arena_cells, model=model)
    left, right = (ba.leaderboard(fit).set_index("competitor").sort_index() for fit in (mine, ours))
    sd = (right["upper"] - right["lower"]).mean() / 3.92
    np.testing.assert_allclose(left["elo"], right["elo"], atol=0.6 * sd)
    assert (ba.diagnose(mine)["check"] == "r-hat").any()
