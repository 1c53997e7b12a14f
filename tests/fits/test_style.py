"""A slope of a feature of the votes: recovered, held out of the board, in every route and table."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import bayes_arena as ba
from bayes_arena.inference.projection import project
from bayes_arena.likelihood.derivatives import gradient_and_hessian
from bayes_arena.validation.prediction import predict_cells

SLOPE = 0.4
MODEL = ba.Model("style", "annotator", "davidson", "annotator", position="annotator", style=("length",))
PLAIN = replace(MODEL, name="no style", style=())


def simulated(votes: int = 6000, favour: float = 1.5, seed: int = 0) -> tuple[ba.Cells, np.ndarray]:
    """Votes of eight competitors, of whom the last write the longest answers, by ten annotators; and the strengths."""
    rng = np.random.default_rng(seed)
    r, length, theta = np.linspace(1, -1, 8), np.linspace(-1, 1, 8), rng.normal(1, 0.2, 10)
    a = rng.integers(8, size=votes)
    b = (a + rng.integers(1, 8, size=votes)) % 8
    k = rng.integers(10, size=votes)
    x = np.round(favour * (length[a] - length[b]) + rng.normal(size=votes), 1)
    eta = theta[k] / theta.mean() * (r[a] - r[b]) + SLOPE * x
    weights = np.exp(np.column_stack([eta / 2, -eta / 2, np.full(votes, -0.5)]))
    outcome = (rng.random(votes)[:, None] > np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)).sum(axis=1)
    names, judges = tuple("abcdefgh"), tuple(f"k{index}" for index in range(10))
    return ba.Cells(names, judges, a, b, k, np.eye(4)[outcome], features={"length": x}), r


@pytest.fixture(scope="module")
def votes():
    return simulated()


@pytest.fixture(scope="module")
def fit(votes):
    return ba.fit(votes[0], model=MODEL)


def elo(fit: ba.Fit) -> np.ndarray:
    return ba.leaderboard(fit).set_index("competitor").loc[list(fit.cells.competitors), "elo"].to_numpy()


@pytest.mark.slow
def test_the_slope_is_recovered(fit):
    row = ba.effects(fit).set_index("effect").loc["style_length"]
    assert row["lower"] < SLOPE < row["upper"]
    assert row["sd"] < 0.05


@pytest.mark.slow
def test_the_board_holds_style_equal(fit, votes):
    """Without the slope the long answers carry the weak competitors up."""
    cells, strength = votes
    truth = project(fit.target, replace(fit.point, strength=strength), cells.votes_by_annotator()).strength
    expected = ba.EloScale().points(truth, cells.competitors)
    with_style, without = (np.abs(elo(one) - expected).max() for one in (fit, ba.fit(cells, model=PLAIN)))
    assert with_style < 30 < 50 < without


def test_the_board_does_not_move_with_the_slope(fit):
    steep = fit.point.common.copy()
    steep[[effect.name for effect in fit.target.common].index("style_length")] += 3.0
    votes = fit.cells.votes_by_annotator()
    flat, moved = (project(fit.target, replace(fit.point, common=c), votes) for c in (fit.point.common, steep))
    assert_allclose(moved.strength, flat.strength, atol=1e-12)
    assert_allclose(moved.by_head[:, -1], 0, atol=1e-12)


def test_tables_of_pairs_and_annotators_leave_the_answers_out(fit):
    matrix = ba.win_probability(fit).to_numpy()
    assert_allclose(matrix + matrix.T, 1)
    assert ba.annotators(fit)["verdict"].eq("reliable").all()


@pytest.mark.slow
def test_a_prediction_reads_the_answers(fit, votes):
    cells = votes[0]
    short, long = (
        predict_cells(fit, replace(cells, features={"length": np.full(len(cells.a), x)})) for x in (-1.0, 1.0)
    )
    assert (long.score > short.score).all()
    assert (long.score - short.score).mean() > 0.1
    with pytest.raises(ba.ModelError, match="do not carry the feature 'length'"):
        predict_cells(fit, replace(cells, features={}))
    with pytest.raises(ba.ModelError, match="do not carry the feature 'length'"):
        ba.fit(replace(cells, features={}), model=MODEL)


@pytest.mark.slow
def test_style_predicts_better_where_it_matters(fit, votes):
    plain = ba.fit(votes[0], model=PLAIN)
    assert ba.leave_one_out(fit).total > ba.leave_one_out(plain).total + 50


@pytest.mark.slow
def test_gradient_and_robust_intervals(fit, votes):
    mode = ba.fit(votes[0], model=MODEL, method="map")
    gradient, _ = gradient_and_hessian(mode.target, mode.point)
    assert np.abs(gradient.common).max() < 1e-3
    table = ba.effects(mode, interval="sandwich").set_index("effect")
    model_based = ba.effects(mode).set_index("effect")
    assert_allclose(table.loc["style_length", "sd"] / model_based.loc["style_length", "sd"], 1, atol=0.15)


@pytest.mark.slow
def test_swapped_sides_change_nothing(votes):
    cells = votes[0]
    turned = replace(
        cells,
        a=cells.b,
        b=cells.a,
        counts=cells.counts[:, [1, 0, 2, 3]],
        features={"length": -cells.features["length"]},
    )
    model = replace(MODEL, position="none")
    one, other = ba.fit(cells, model=model, method="map"), ba.fit(turned, model=model, method="map")
    assert_allclose(other.strength, one.strength, atol=1e-8)
    assert_allclose(other.point.common, one.point.common, atol=1e-8)


def test_names_of_features_are_different_and_a_tuple():
    for style in ("length", ["length"], ("length", "length"), ("a/b",), (1,), None):
        with pytest.raises(ba.ModelError, match="style must be a tuple of distinct names"):
            ba.Model("style", style=style)


@pytest.mark.slow
def test_nuts_samples_the_same_posterior_and_the_tree_has_it():
    cells, _ = simulated(1500)
    model = ba.Model("style", ties="davidson", style=("length",))
    prior = ba.Prior(hyper=None)
    mode = ba.fit(cells, model=model, prior=prior)
    with warnings.catch_warnings(action="ignore"):
        sampled = ba.fit(cells, model=model, prior=prior, method="nuts", draws=200, tune=200, seed=1)
    slope = ba.to_datatree(sampled)["posterior"]["style_length"].to_numpy()
    row = ba.effects(mode).set_index("effect").loc["style_length"]
    assert abs(slope.mean() - row["estimate"]) < 0.3 * row["sd"]
    assert_allclose(slope.std(), row["sd"], rtol=0.2)
    assert_allclose(sampled.samples.strength.mean(axis=0), mode.strength, atol=0.1)


@pytest.mark.slow
def test_style_in_predictive_checks_and_on_disk(fit, tmp_path):
    table = ba.predictive_check(fit, "competitor", draws=100)
    assert table["tail"].between(0.001, 0.999).all()
    ba.save(fit, tmp_path / "fit.nc")
    assert_allclose(elo(ba.load(tmp_path / "fit.nc")), elo(fit))


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (np.array([0.0, np.nan, np.inf]), r"not finite: nan \(row 1\), inf \(row 2\)"),
        (np.zeros(2), "a number for every cell"),
        (np.array([True, False, True]), "got bool of shape"),
    ],
)
def test_features_are_finite_numbers_one_a_cell(length, message):
    index = np.array([0, 1, 0])
    with pytest.raises(ba.ModelError, match=message):
        ba.Cells(("a", "b"), (), index, 1 - index, np.zeros(3, int), np.eye(4)[index], features={"length": length})


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-4, 1e3])
def test_the_unit_of_a_feature_does_not_matter(votes, unit):
    cells = votes[0]
    scaled = replace(cells, features={"length": unit * cells.features["length"]})
    one, other = (ba.fit(each, model=MODEL, method="map") for each in (cells, scaled))
    assert_allclose(other.strength, one.strength, atol=1e-6)
    assert_allclose(other.point.common[-1] * unit, one.point.common[-1], rtol=1e-5)
    slopes = [ba.effects(fit).set_index("effect").loc["style_length", "z"] for fit in (one, other)]
    assert_allclose(slopes[1], slopes[0], rtol=1e-4)


@pytest.mark.slow
def test_it_is_the_contextual_model_of_another_package(votes):
    """Without its penalty, on votes won or lost."""
    contextual = pytest.importorskip("arena_rank.models.contextual_bradley_terry")
    data = pytest.importorskip("arena_rank.utils.data_utils")
    cells = votes[0]
    wins, losses = cells.counts.T[:2]
    cells = ba.Cells(
        cells.competitors, (), cells.a, cells.b, np.zeros_like(cells.a), cells.counts, features=cells.features
    ).take(wins + losses > 0)
    fit = ba.fit(cells, model=ba.Model("style", style=("length",)), prior="flat")
    features, ones = cells.features["length"][:, None], np.ones(len(cells.a))
    pairs = np.column_stack([cells.a, cells.b])
    dataset = data.ContextualPairDataset(list(cells.competitors), pairs, cells.counts[:, 0], features, ones)
    other = contextual.ContextualBradleyTerry(8, 1, reg=0.0, ftol=1e-14, gtol=1e-12)
    other.fit(dataset)
    ratings = np.asarray(other.params["ratings"])
    assert_allclose(fit.strength, ratings - ratings.mean(), atol=1e-4)
    assert_allclose(fit.point.common, np.asarray(other.params["coeffs"]), atol=1e-4)


def test_style_effects_are_slopes_per_unit_and_per_standard_deviation(fit):
    row = ba.style_effects(fit).set_index("feature").loc["length"]
    effect = ba.effects(fit).set_index("effect").loc["style_length"]
    assert_allclose(row[["estimate", "sd", "lower", "upper"]], effect[["estimate", "sd", "lower", "upper"]])
    size = np.sqrt(np.mean(fit.cells.features["length"] ** 2))
    assert row["feature_sd"] == pytest.approx(size, rel=0.01)
    assert row["odds_ratio"] == pytest.approx(np.exp(row["estimate"] * row["feature_sd"]))
    assert row["odds_lower"] < row["odds_ratio"] < row["odds_upper"]
    with pytest.raises(ba.ModelError, match="has no style"):
        ba.style_effects(ba.fit(fit.cells, model="m-elo"))


def test_style_of_answers_that_are_voted_on_again_is_warned_of():
    """Each answer has a quality of its own, which an error that knows no prompts takes for its length's."""
    rng = np.random.default_rng(1)
    n, prompts, size = 3000, 30, 6
    quality, length = rng.normal(0, 1.5, (prompts, size)), rng.normal(size=(prompts, size))
    prompt, a = rng.integers(prompts, size=n), rng.integers(size, size=n)
    b = (a + rng.integers(1, size, size=n)) % size
    eta = quality[prompt, a] - quality[prompt, b]
    counts = np.eye(4)[(rng.random(n) > 1 / (1 + np.exp(-eta))).astype(int)]
    features = {"length": length[prompt, a] - length[prompt, b]}
    names = {"prompt": tuple(f"p{index:02d}" for index in range(prompts))}
    nobody = np.zeros(n, dtype=np.int64)
    cells = ba.Cells(
        tuple("abcdef"), (), a, b, nobody, counts, features=features, slices={"prompt": prompt}, slice_names=names
    )
    fit = ba.fit(cells, model=ba.Model("style", style=("length",)), method="map")
    with pytest.warns(ba.DependentVotesWarning, match=r"clustered by prompt are [23456][.\d]* times as large"):
        plain = ba.style_effects(fit)
    clustered = ba.style_effects(fit, interval=ba.Clustered(by="prompt"))
    assert clustered["sd"][0] > 2 * plain["sd"][0]
