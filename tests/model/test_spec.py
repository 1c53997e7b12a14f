import math

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.errors import ModelError
from bayes_arena.model.priors import FLAT, Spread, resolve_prior
from bayes_arena.model.spec import PRESETS, Model, resolve_model, visible_votes
from bayes_arena.simulation import example_arena, simulate
from tests.model.arenas import random_design, random_votes


def votes(**options):
    sizes = {"competitors": 4, "annotators": 3, "votes": 120}
    return ba.read_votes(simulate(**{**sizes, **options}).votes)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"ties": "rao-kupper"},
            "ties='rao-kupper' must be one of half, davidson, drop",
        ),
        ({"discrimination": True}, "discrimination=True must be one of"),
        ({"grades": True}, "grades=True needs"),
        ({"strength_by": "annotator"}, "annotators are none"),
    ],
)
def test_impossible_models(fields, message):
    with pytest.raises(ba.ArenaError, match=message):
        Model(**fields)


def test_what_the_votes_cannot_tell_is_left_out():
    model, _, plan = resolve_model("davidson", votes(tie_propensity=0))
    assert (model.ties, plan) == ("half", "davidson; no ties: there are none")
    table = simulate(competitors=4, annotators=3, votes=120).votes
    in_order = table["model_a"] < table["model_b"]
    model, _, plan = resolve_model("davidson", ba.read_votes(table[in_order]))
    assert model.position == "none"
    assert "no pair was shown both ways" in plan


def test_grades_are_modelled_where_votes_are_graded():
    graded = Model("mine", ties="davidson", grades=True)
    rows = [
        {"model_a": "a", "model_b": "b", "winner": w} for w in ("A>>B", "B>A", "A=B")
    ]
    model, _, plan = resolve_model(graded, ba.read_votes(rows))
    assert (model.grades, plan) == (True, "mine")
    model, _, plan = resolve_model(graded, ba.read_votes(rows[1:]))
    assert not model.grades
    assert plan == "mine; no grades: verdicts are not graded"


def test_what_a_model_needs():
    table = simulate(competitors=4, annotators=3, votes=120).votes
    alone = ba.read_votes(table.drop(columns="judge"))
    with pytest.raises(ba.ArenaError, match="needs annotators"):
        resolve_model("am-davidson", alone)
    with pytest.raises(ba.ArenaError, match=r"no slice 'topics'.*Did you mean 'topic'"):
        resolve_model(Model(strength_by=("topics",)), random_votes())
    with pytest.raises(ba.ArenaError, match="no feature 'size'"):
        resolve_model(Model(style=("size",)), random_votes())
    with pytest.raises(ba.ArenaError, match=r"model=.* must be one of"):
        resolve_model("elo", alone)


def test_dropped_ties_leave_no_rows():
    seen = visible_votes(Model(ties="drop"), random_votes())
    assert not seen.counts[:, 2].any()
    assert seen.counts.any(axis=1).all()


def test_a_slice_has_a_parameter_where_a_competitor_was_seen():
    design = random_design(Model(strength_by=("prompt",)))
    data = random_votes()
    seen = {
        (level, c)
        for level, *sides in zip(data.slices["prompt"], data.i, data.j, strict=True)
        for c in sides
    }
    touched = {
        index
        for chunk in design.chunks()
        for term in chunk.terms
        if term.is_local
        for index in chunk.index(term)
    }
    assert len(touched) == len(seen)


def test_priors():
    assert resolve_prior("flat") is FLAT
    assert FLAT.is_flat
    assert not resolve_prior("weak").is_flat
    assert resolve_prior("weak").strength == Spread(5.0)
    assert Spread(1.0, scale=0.5).is_estimated and not Spread(0.5).is_estimated
    for wrong in (0, -1, math.nan, 1e9, "x", True, None):
        with pytest.raises(
            ModelError, match=r"The strength of a prior is.*0.001 to"
        ) as e:
            ba.Prior(strength=wrong)
        assert str(e.value).endswith(f"It cannot be {wrong!r}.")
        assert "Spread(" not in str(e.value)
    assert ba.Prior(tie=np.float32(2)).tie == Spread(2.0)
    with pytest.raises(ModelError, match=r"must be a number from 0.001.*not -0.5\."):
        Spread(-0.5)
    for scale in (-1.0, math.nan, "x"):
        with pytest.raises(ModelError, match="scale that is not negative"):
            Spread(1.0, scale=scale)
    with pytest.raises(ba.ArenaError, match=r"prior=.* must be one of default"):
        resolve_prior("strong")


def test_the_spread_of_a_slope_is_per_root_mean_square():
    data = random_votes()
    cast = data.counts.sum(axis=1)
    rms = np.sqrt(cast @ data.features["length"] ** 2 / cast.sum())
    design = random_design(Model(style=("length",)))
    assert design.block("style_length").sd == pytest.approx(1 / rms)


def test_presets():
    assert not PRESETS["davidson"].needs_annotators
    assert PRESETS["am-elo"].needs_annotators
    assert PRESETS["m-elo"].ties == PRESETS["am-elo"].ties == "half"


def test_simulated_arenas():
    arena = example_arena()
    assert len(arena.votes) == 4321
    assert len(arena.anomalous) == 3
    assert arena.votes["judge"].value_counts().min() > 50
    assert arena.strength.sum() == pytest.approx(0)
    assert arena.votes.equals(example_arena().votes)
    planted = simulate(annotators=9, votes=200, guessers=2, reversed=3, seed=1)
    assert (planted.discrimination == 0).sum() == 2
    assert (planted.discrimination < 0).sum() == 3
    assert len(planted.anomalous) == 5


def test_simulated_outcomes_are_those_of_davidson():
    arena = simulate(
        competitors=2, annotators=1, votes=40_000, discrimination_sd=0, tie_propensity=2
    )
    table = arena.votes
    eta = arena.strength[0] - arena.strength[1]
    first = table[table["model_a"] == "model-1"]["winner"]
    shares = first.value_counts(normalize=True)
    weights = np.array([np.exp(eta / 2), 2, np.exp(-eta / 2)])
    expected = weights / weights.sum()
    seen = shares[["model_a", "tie", "model_b"]].to_numpy()
    np.testing.assert_allclose(seen, expected, atol=0.015)


@pytest.mark.parametrize(
    "options",
    [
        {"competitors": 1},
        {"votes": 3},
        {"guessers": 50},
        {"tie_propensity": -1},
        {"seed": -1},
    ],
)
def test_impossible_arenas(options):
    with pytest.raises(ba.ArenaError):
        simulate(**options)
