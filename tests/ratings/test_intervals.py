"""What every interval does on every table: the contract of :mod:`bayes_arena.ratings.intervals.contract`."""

from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.ratings.intervals.contract import equal_tailed
from bayes_arena.ratings.intervals.names import IntervalName, resolve_interval, short_forms

INTERVALS = {name: interval() for name, interval in short_forms().items()} | {"bootstrap": ba.Bootstrap(resamples=20)}
MORE = INTERVALS | {"bootstrap": ba.Bootstrap(resamples=50)}
BOUNDS = [("lower", "upper")]
OF_ANNOTATORS = [(f"{name}_lower", f"{name}_upper") for name in ("theta", "net_agreement")]
TABLES = {
    "leaderboard": (ba.leaderboard, ["competitor"], [*BOUNDS, ("rank_lower", "rank_upper")]),
    "strengths": (ba.strengths, ["competitor"], BOUNDS),
    "contrasts": (ba.contrasts, ["competitor", "opponent"], BOUNDS),
    "effects": (ba.effects, ["effect"], BOUNDS),
    "annotators": (ba.annotators, ["annotator"], OF_ANNOTATORS),
    "head_to_head": (ba.head_to_head, ["competitor", "opponent"], BOUNDS),
}
MODELS = {"annotators": "am-davidson", "effects": ba.Model("ordered", ties="davidson", position="common")}
DRAWN = ("annotators", "head_to_head")
RANKS = ("rank_lower", "rank_upper")
REFUSED = {
    ("effects", "profile"): "only strengths",
    **{(table, "profile"): "Use 'laplace', 'sandwich', 'clustered' or 'bootstrap'" for table in DRAWN},
    ("annotators", "clustered"): "Use 'laplace', 'sandwich' or 'bootstrap'",
}
NAMES = [f"model-{number}" for number in range(1, 6)]
TURNED = dict(zip(NAMES, reversed(NAMES), strict=True))


@pytest.fixture(scope="module")
def fits():
    """Fits of some votes, and of the same under names that sort the other way round, by table."""
    votes = ba.simulate(competitors=5, annotators=8, votes=900, seed=11).votes
    renamed = votes.with_columns(pl.col("model_a", "model_b").replace(TURNED))
    cells = [ba.read_votes(each) for each in (votes, renamed)]
    return {table: [ba.fit(each, model=MODELS.get(table, "m-elo"), method="map") for each in cells] for table in TABLES}


def bounds(fit, table, interval, level, name=str):
    """Lower and upper bounds of a table by what its rows are about, shape (rows, 2) each, after a renaming.

    What the table says of itself is checked on the way.
    """
    make, keys, pairs = TABLES[table]
    shown = make(fit, level=level, interval=interval)
    fields = {name: getattr(interval, name, None) for name in ("by", "resamples", "seed")}
    fields = {name: value for name, value in fields.items() if value is not None}
    numbers = fit.numbers if table in ("leaderboard", "annotators") else {}
    assert shown.attrs == {"level": level, "interval": interval.name, **fields, **numbers}
    shown.index = ["|".join(sorted(map(name, row))) for row in shown[keys].astype(str).to_numpy()]
    return [shown.sort_index()[[*pair]].to_numpy(dtype=float) for pair in pairs]


CASES = [(table, interval) for table in TABLES for interval in INTERVALS]
ALLOWED = [case for case in CASES if case not in REFUSED]


def test_the_names_are_those_of_the_intervals():
    assert tuple(INTERVALS) == get_args(IntervalName)
    assert all(interval.name == name for name, interval in INTERVALS.items())


@pytest.mark.parametrize(("table", "interval"), ALLOWED)
def test_bounds_are_finite_and_ordered_and_widen_with_the_level(fits, table, interval):
    narrow, wide = (bounds(fits[table][0], table, INTERVALS[interval], level) for level in (0.5, 0.9))
    for (low, high), (lower, upper) in zip((each.T for each in narrow), (each.T for each in wide), strict=True):
        assert np.isfinite([low, high, lower, upper]).all()
        assert (lower <= low).all()
        assert (low <= high).all()
        assert (high <= upper).all()
    assert (np.ptp(wide[0], axis=1) > np.ptp(narrow[0], axis=1)).any()


@pytest.mark.slow
@pytest.mark.parametrize(("table", "interval"), ALLOWED)
def test_names_do_not_matter(fits, table, interval):
    """Exactly where nothing is drawn, to the error of draws elsewhere; what is turned round is mirrored."""
    plain = bounds(fits[table][0], table, MORE[interval], 0.8)
    renamed = bounds(fits[table][1], table, MORE[interval], 0.8, name=lambda name: TURNED.get(name, name))
    drawn = table in DRAWN or interval == "bootstrap"
    for ours, theirs in zip(plain, renamed, strict=True):
        if table == "contrasts":
            theirs = -theirs[:, ::-1]
        if table == "head_to_head":
            theirs = 1 - theirs[:, ::-1]
        width = np.ptp(ours, axis=1, keepdims=True)
        allowed = 0.5 * width + (table == "rank_probabilities" or ours is not plain[0]) if drawn else 1e-6 * (1 + width)
        assert (np.abs(ours - theirs) <= allowed).all()


@pytest.mark.parametrize("interval", INTERVALS)
def test_a_short_form_is_the_object_with_default_fields(interval):
    found = resolve_interval(interval)
    assert found == short_forms()[interval]() and found.name == interval
    assert getattr(found, "resamples", None) == (200 if interval == "bootstrap" else None)


@pytest.mark.parametrize(("table", "interval"), REFUSED)
def test_what_a_table_does_not_take_it_names_with_what_it_takes(fits, table, interval):
    with pytest.raises(ba.ModelError, match=REFUSED[table, interval]):
        TABLES[table][0](fits[table][0], interval=interval)


@pytest.mark.parametrize("interval", INTERVALS)
def test_all_agree_where_the_likelihood_is_true(interval):
    """Like-minded annotators who never tie: the sandwich is the inverse Hessian, and clusters say nothing new."""
    truth = {"discrimination_sd": 0.0, "tie_propensity": 0.0}
    votes = ba.simulate(competitors=6, annotators=200, votes=4000, seed=2, **truth).votes
    fit = ba.fit(ba.read_votes(votes), model="bradley-terry", prior="flat")
    tables = (ba.strengths(fit, interval=each) for each in ("laplace", MORE[interval]))
    laplace, other = (np.ptp(table[["lower", "upper"]], axis=1) for table in tables)
    spread = {"laplace": 0, "profile": 0.01, "sandwich": 0.05, "clustered": 0.25, "bootstrap": 0.35}[interval]
    assert np.abs(other / laplace - 1).max() <= spread
    assert (other / laplace).mean() == pytest.approx(1, abs=0.08)


@pytest.mark.slow
@pytest.mark.parametrize("interval", [name for name in INTERVALS if name != "profile"])
@pytest.mark.parametrize("model", ["m-elo", "am-davidson"])
def test_draws_spread_as_the_bounds_say(arena_cells, interval, model):
    """To the Monte Carlo error of the quantiles of 4,000 draws."""
    fit = ba.fit(arena_cells, model=model, method="map")
    draws = ba.draw(INTERVALS[interval].sampled(fit))
    board = ba.leaderboard(fit, interval=INTERVALS[interval], level=0.8).sort_values("competitor")
    points = board[["lower", "upper"]].to_numpy().T
    drawn = 1000 + ba.EloScale().points_per_logit * equal_tailed(draws.elo_strength, 0.8)
    assert (np.abs(drawn - points) < 0.04 * np.ptp(points, axis=0)).all()
    np.testing.assert_allclose(draws.strength.sum(axis=1), 0, atol=1e-9)
    if fit.target.own:
        np.testing.assert_allclose(draws.own[:, :, 0].mean(axis=1), 1, atol=1e-9)


@pytest.mark.parametrize("interval", [name for name in INTERVALS if name != "profile"])
def test_draws_of_common_numbers_spread_as_the_bounds_say(arena_cells, interval):
    length = np.random.default_rng(1).normal(size=len(arena_cells.a)).round(1)
    cells = replace(arena_cells, features={"length": length})
    model = ba.Model("style", ties="davidson", position="common", style=("length",))
    fit = ba.fit(cells, model=model, method="map")
    bounds = ba.effects(fit, interval=INTERVALS[interval], level=0.8)[["lower", "upper"]].to_numpy().T
    drawn = equal_tailed(ba.draw(INTERVALS[interval].sampled(fit)).common, 0.8)
    assert (np.abs(drawn - bounds) < 0.04 * np.ptp(bounds, axis=0)).all()


@pytest.mark.slow
def test_given_draws_stand_in_place_of_an_interval(arena_cells):
    fit = ba.fit(arena_cells, model="m-elo", method="map")
    given = ba.win_probability(fit, draws=ba.Bootstrap(resamples=30, seed=4).sampled(fit).samples)
    assert given.equals(ba.win_probability(fit, interval=ba.Bootstrap(resamples=30, seed=4)))
    assert not given.equals(ba.win_probability(fit))
    assert given.attrs == {"interval": "draws"}
    with pytest.raises(ba.ModelError, match="Use only one"):
        ba.win_probability(fit, draws=ba.draw(fit), interval="sandwich")


@pytest.mark.slow
def test_the_bootstrap_of_annotators_is_that_of_refits(arena_cells):
    fit = ba.fit(arena_cells, model="am-elo", method="map")
    table = ba.annotators(fit, interval=ba.Bootstrap(resamples=30)).set_index("annotator")
    theta = ba.Bootstrap(resamples=30).sampled(fit).samples.own[:, :, 0]
    for column, expected in (
        ("theta", fit.discrimination),
        ("theta_upper", np.quantile(theta, 0.975, axis=0)),
        ("p_negative", (theta < 0).mean(axis=0)),
    ):
        np.testing.assert_allclose(table.loc[list(arena_cells.annotators), column], expected, rtol=1e-9)


@pytest.mark.parametrize("unknown", ["wald", ba.Bootstrap, 0.9])
def test_an_unknown_interval_is_told_the_known_ones(arena_cells, unknown):
    fit = ba.fit(arena_cells, model="m-elo", prior="flat")
    for table in (ba.leaderboard, ba.win_probability):
        with pytest.raises(ba.ModelError, match="laplace, profile, sandwich, clustered, bootstrap"):
            table(fit, interval=unknown)


@pytest.mark.parametrize("shape", [(1, 2), (2, 3), (7, 2, 3), (101, 4)])
def test_equal_tailed_intervals_are_quantiles_of_the_draws(shape):
    drawn = np.random.default_rng(1).normal(size=shape)
    for values, level in ((drawn, 0.95), (drawn.astype(np.float32), 0.5), (np.rint(drawn), 0.89)):
        np.testing.assert_array_equal(
            equal_tailed(values, level), np.quantile(values, [0.5 - level / 2, 0.5 + level / 2], axis=0)
        )
