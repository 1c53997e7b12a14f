"""``ba.promotions``: a campaign found, named in words and put back; honest arenas left as they are."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from crowds import Crowd, honest_arena
from helpers import frame
from numpy.testing import assert_allclose
from rigging import rig

import bayes_arena as ba
from bayes_arena.votes.cells import single_votes
from bayes_arena.votes.outcomes import OUTCOMES

CROWD = Crowd(annotators=60, taste_sd=0.3)
RIGGERS = 8


@pytest.fixture(scope="module")
def arena():
    return honest_arena(CROWD, competitors=12, votes=3_000, strength_sd=0.8, seed=4)


@pytest.fixture(scope="module")
def honest(arena) -> ba.Promotions:
    return ba.promotions(ba.fit(arena.cells, robust=False))


@pytest.fixture(scope="module")
def rigged(arena) -> ba.Cells:
    return rig(arena.cells, "t-normal50", arena.ranked(8), accounts=RIGGERS, votes=60, seed=1).cells


@pytest.fixture(scope="module")
def found(rigged) -> ba.Promotions:
    return ba.promotions(ba.fit(rigged, robust=False))


def table_of(cells: ba.Cells) -> pl.DataFrame:
    row, outcome = single_votes(cells)
    names, annotators = np.array(cells.competitors), np.array(cells.annotators)
    a, b, who = names[cells.a[row]], names[cells.b[row]], annotators[cells.annotator[row]]
    return frame(list(zip(a.tolist(), b.tolist(), np.array(OUTCOMES)[outcome].tolist(), who.tolist(), strict=True)))


def test_an_honest_arena_is_left_as_it_is(honest):
    assert honest.fit is honest.cast and not honest.is_open.any()
    assert not honest.discounted.any() and not len(honest.promoters.annotator)
    assert (honest.place == honest.robust_place).all() and np.isnan(honest.contested).all()
    assert honest.said == () == honest.sentences and len(honest.annotators()) == 0
    board = ba.leaderboard(honest.cast).set_index("competitor").loc[list(honest.cast.cells.competitors)]
    assert (board[["elo", "lower", "upper"]].to_numpy() == np.array([honest.elo, honest.lower, honest.upper]).T).all()


def test_a_campaign_is_found_named_and_its_competitor_put_back(arena, honest, found):
    target = arena.ranked(8)
    t = found.fit.cells.competitors.index(target)
    assert np.flatnonzero(found.is_open).tolist() == [t]
    assert found.place[t] < honest.place[t] - 1 and abs(found.robust_place[t] - honest.place[t]) <= 1
    assert found.lower[t] < honest.elo[t] < found.upper[t]
    others = np.arange(12) != t
    assert_allclose(found.elo[others], honest.elo[others], atol=25)
    who = found.promoters
    named = [found.fit.cells.annotators[k] for k in who.annotator[who.named]]
    assert len(named) == RIGGERS and all(name.startswith("rigger-") for name in named)
    assert who.promotes[who.named].all()
    rigger = np.array([name.startswith("rigger-") for name in found.fit.cells.annotators])[who.annotator]
    bought = who.votes[rigger].sum()
    assert bought <= found.discounted[t] < bought + 90


def test_who_promotes_is_said_in_votes(arena, rigged, found):
    target = arena.ranked(8)
    name = "rigger-00001"
    votes = table_of(rigged).filter(pl.col("judge") == name)
    on = votes.filter((pl.col("model_a") == target) | (pl.col("model_b") == target))
    ours = on.filter(
        ((pl.col("model_a") == target) & (pl.col("winner") == "model_a"))
        | ((pl.col("model_b") == target) & (pl.col("winner") == "model_b"))
    )
    (said,) = [one for one in found.sentences if one.startswith(name)]
    assert said.startswith(f"{name} promotes {target}: votes for it in {len(ours)} of {len(on)} battles, where ")
    expected = int(said.removesuffix(" are expected").rsplit(" ", 1)[1])
    assert 0 < expected < 0.7 * len(on)
    row = found.annotators().set_index("annotator").loc[name]
    assert (row.votes, row.meant) == (len(on), len(ours)) and round(row.expected) == expected and row.named
    assert not any(word in " ".join((*found.said, *found.sentences)) for word in ("hate", "rigged", "attack", "fraud"))


def test_a_reader_is_told_both_places(arena, found):
    (said,) = found.said
    t = found.fit.cells.competitors.index(arena.ranked(8))
    assert repr(arena.ranked(8)) in said and f"{found.discounted[t]:,.0f} of {found.votes[t]:,.0f} votes" in said
    assert f"Its place is {found.robust_place[t]}; by all votes alike it is {found.place[t]}." in said
    first = found.table().iloc[0]
    assert first.competitor == arena.ranked(8) and first.is_open and first.robust_place == found.robust_place[t]


def test_those_who_vote_against_one_demote_it(arena, honest):
    target = arena.ranked(3)
    fit = ba.fit(rig(arena.cells, "hate", target, accounts=RIGGERS, votes=30, seed=1).cells, robust=False)
    found = ba.promotions(fit)
    t = fit.cells.competitors.index(target)
    assert found.is_open[t] and found.place[t] > honest.place[t] and abs(found.robust_place[t] - honest.place[t]) <= 1
    assert len(found.sentences) == RIGGERS and all(" demotes " in one for one in found.sentences)
    assert all("votes against it in 30 of 30 battles" in one for one in found.sentences)


def test_names_and_sides_do_not_matter(arena, rigged, found):
    votes = table_of(rigged).sample(fraction=1.0, shuffle=True, seed=2)
    flipped = {"model_a": "model_b", "model_b": "model_a"}
    other = votes.select(
        model_a=pl.col("model_b").map_elements(lambda name: name[::-1], return_dtype=pl.String),
        model_b=pl.col("model_a").map_elements(lambda name: name[::-1], return_dtype=pl.String),
        winner=pl.col("winner").replace(flipped),
        judge=pl.col("judge").map_elements(lambda name: name[::-1], return_dtype=pl.String),
    )
    again = ba.promotions(ba.fit(ba.read_votes(other), robust=False))
    place = [again.fit.cells.competitors.index(name[::-1]) for name in found.fit.cells.competitors]
    for name, close in (("alike", 1e-3), ("weighted", 1e-3), ("difference", 1e-3), ("elo", 0.05), ("discounted", 0.05)):
        assert_allclose(getattr(again, name)[place], getattr(found, name), atol=close, err_msg=name)
    for name in ("lower", "upper"):  # a fit's own, whose width is measured along one direction
        assert_allclose(getattr(again, name)[place], getattr(found, name), atol=0.5, err_msg=name)
    assert (again.is_open[place] == found.is_open).all() and (again.robust_place[place] == found.robust_place).all()
    mirrored = {one.split(" promotes ")[0][::-1] for one in again.sentences}
    assert mirrored == {one.split(" promotes ")[0] for one in found.sentences}


def test_the_order_of_votes_does_not_change_a_bit(rigged, found):
    again = ba.promotions(ba.fit(ba.read_votes(table_of(rigged).reverse()), robust=False))
    assert (again.elo == found.elo).all() and again.sentences == found.sentences


def test_a_campaign_that_makes_a_direction_of_its_own_is_found_all_the_same(arena, rigged):
    fit = ba.fit(rigged, robust=False)
    assert fit.model.dimensions  # the bloc is what annotators differ in most
    found = ba.promotions(fit)
    assert found.is_open[fit.cells.competitors.index(arena.ranked(8))] and len(found.sentences) >= RIGGERS - 1


def test_models_without_annotators_numbers_find_it_too(arena, rigged):
    found = ba.promotions(ba.fit(rigged, model="bradley-terry"))
    t = found.fit.cells.competitors.index(arena.ranked(8))
    assert np.flatnonzero(found.is_open).tolist() == [t] and found.fit.model.name == "bradley-terry"
    assert found.robust_place[t] > found.place[t] + 3


def test_a_few_votes_name_nobody(arena):
    target = arena.ranked(8)
    fit = ba.fit(rig(arena.cells, "t-abstain", target, accounts=60, votes=3, seed=1).cells, robust=False)
    found = ba.promotions(fit)
    t = fit.cells.competitors.index(target)
    assert found.is_open[t] and found.robust_place[t] > found.place[t] and found.sentences == ()


def test_programs_count_in_full(arena, rigged):
    programs = tuple(name for name in rigged.annotators if name.startswith("rigger-"))
    found = ba.promotions(ba.fit(replace(rigged, programs=programs), model="davidson"))
    machine = np.isin(rigged.annotators, programs)[rigged.annotator]
    assert (found.fit.cells.counts[machine] == rigged.counts[machine]).all()
    assert found.sentences == ()


def test_votes_that_carry_no_annotators_are_refused():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "model_a"), ("y", "z", "model_a"), ("z", "x", "tie")])))
    with pytest.raises(ba.ModelError, match=r"no annotators.*annotator="):
        ba.promotions(fit)


def test_draws_are_refused(honest):
    sampled = replace(honest.cast, samples=object())
    with pytest.raises(ba.ModelError, match="method='marginal'"):
        ba.promotions(sampled)


def test_what_is_not_a_fit_is_refused(rigged):
    with pytest.raises(ba.ModelError, match="promotions"):
        ba.promotions(rigged)
