"""Models with slices, and the spreads of their priors: what is refused, and what is assumed."""

import numpy as np
import pytest
from helpers import sliced_votes

import bayes_arena as ba
from bayes_arena.likelihood.problem import Problem, number_labels


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"strength_by": ("prompt", "prompt")}, "distinct names of slices"),
        ({"strength_by": "prompt"}, "distinct names of slices"),
        ({"strength_by": ("a/b",)}, "without a slash"),
        ({"strength_by": ("competitor",)}, "strength_by cannot have 'competitor'"),
        ({"ties": "davidson", "ties_by": ("annotator",)}, "ties_by cannot have 'annotator'"),
        ({"ties_by": ("prompt",)}, "has no tie propensity"),
        ({"style_slopes": "annotator"}, "needs features"),
    ],
)
def test_models_without_a_meaning_are_refused(fields, said):
    with pytest.raises(ba.ModelError, match=said):
        ba.Model("odd", **fields)


def test_a_slice_that_votes_lack_is_named():
    with pytest.raises(ba.ModelError, match="do not carry the slice 'language'"):
        ba.fit(sliced_votes(4, 5, 3, 60), model=ba.Model("odd", strength_by=("language",)))


def test_what_a_model_reads():
    model = ba.Model("both", ties="davidson", strength_by=("annotator", "prompt"), ties_by=("competitor", "category"))
    assert model.slices == ("prompt", "category")
    assert model.needs_annotators
    assert model.is_crossed
    plain = model.without_slices()
    assert not plain.is_crossed
    assert not plain.needs_annotators


def test_numbers_of_slices_are_those_that_votes_were_cast_in():
    cells = sliced_votes(4, 5, 3, 12)
    model = ba.Model("both", ties="davidson", strength_by=("prompt", "annotator"), ties_by=("category", "competitor"))
    names, prompt, annotator = cells.competitors, cells.slice_names["prompt"], cells.annotators
    labels = number_labels(Problem.of(cells, model, "default"))
    sides = np.concatenate([cells.a, cells.b])
    asked = np.tile(cells.slices["prompt"], 2), np.tile(cells.annotator, 2)
    expected = [
        sorted({f"{kind[code]}: {names[side]}" for code, side in zip(codes, sides, strict=True)})
        for kind, codes in zip((prompt, annotator), asked, strict=True)
    ]
    assert labels["prompt_of_competitor"] == expected[0]
    assert labels["annotator_of_competitor"] == expected[1]
    assert labels["category_of_ties"] == ["x", "y", "z"]
    assert labels["competitor_of_ties"] == list(names)


def test_spreads_by_name():
    prior = ba.Prior(by={"strength_by_prompt": 0.7})
    assert prior.spread("strength_by_prompt") == 0.7
    assert prior.spread("strength") == 1.0
    assert prior.spread("ties_by_prompt") == 0.5
    assert prior.hyper.spread("strength_by_prompt") == 1.5
    changed = prior.with_spreads({"strength": 2.0, "ties_by_prompt": 0.1})
    assert (changed.strength, dict(changed.by)) == (2.0, {"strength_by_prompt": 0.7, "ties_by_prompt": 0.1})
    assert str(prior) != "default"
    assert "strength_by_prompt=0.7" in str(prior)
    assert hash(prior) == hash(ba.Prior(by={"strength_by_prompt": 0.7}))


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), 1e9])
def test_impossible_spreads_are_named(value):
    with pytest.raises(ba.ModelError, match="prior scale of strength_by_prompt"):
        ba.Prior(by={"strength_by_prompt": value})


def test_nothing_holds_slices_under_a_flat_prior():
    model = ba.Model("answers", strength_by=("prompt",))
    with pytest.raises(ba.ModelError, match=r"Under a flat prior nothing constrains the numbers of slices \(prompt\)"):
        ba.fit(sliced_votes(4, 5, 3, 60), model=model, prior="flat")
