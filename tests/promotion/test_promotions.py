"""Votes that promote one competitor: found by ``ba.fit``, told by ``ba.integrity`` and ``ba.promoters``."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from crowds import Crowd, honest_arena
from helpers import frame
from numpy.testing import assert_allclose
from rigging import rig

import bayes_arena as ba
from bayes_arena.cli.headings import promoters_named
from bayes_arena.decisions.integrity import promoter_columns
from bayes_arena.votes.cells import single_votes
from bayes_arena.votes.outcomes import OUTCOMES

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
CROWD = Crowd(annotators=60, taste_sd=0.3)
RIGGERS = 8


@pytest.fixture(scope="module")
def arena():
    return honest_arena(CROWD, competitors=12, votes=3_000, strength_sd=0.8, seed=4)


@pytest.fixture(scope="module")
def honest(arena) -> ba.Fit:
    return ba.fit(arena.cells)


@pytest.fixture(scope="module")
def rigged(arena) -> ba.Cells:
    return rig(arena.cells, "t-normal50", arena.ranked(8), accounts=RIGGERS, votes=60, seed=1).cells


@pytest.fixture(scope="module")
def found(rigged) -> ba.Fit:
    return ba.fit(rigged)


def table_of(cells: ba.Cells) -> pl.DataFrame:
    row, outcome = single_votes(cells)
    names, annotators = np.array(cells.competitors), np.array(cells.annotators)
    a, b, who = names[cells.a[row]], names[cells.b[row]], annotators[cells.annotator[row]]
    return frame(list(zip(a.tolist(), b.tolist(), np.array(OUTCOMES)[outcome].tolist(), who.tolist(), strict=True)))


def open_ones(fit: ba.Fit) -> list[str]:
    return [fit.cells.competitors[c] for c in np.flatnonzero(fit.promotions.is_open)]


def by_name(fit: ba.Fit) -> pd.DataFrame:
    """``ba.integrity`` by competitor, in the order of the fit."""
    return ba.integrity(fit).set_index("competitor").loc[list(fit.cells.competitors)]


def named(fit: ba.Fit) -> list[str]:
    table = ba.promoters(fit)
    return table["annotator"][table["named"]].tolist()


def sentences(fit: ba.Fit) -> list[str]:
    return promoters_named(promoter_columns(fit))


@pytest.mark.slow
def test_an_honest_arena_is_left_as_it_is(arena, honest):
    plain = ba.fit(arena.cells, robust=False)
    assert honest.promotions is not None and plain.promotions is None and honest.promotions.cast is None
    for ours, theirs in ((honest, plain), [ba.fit(arena.cells, method="map", robust=on) for on in (True, False)]):
        assert (ours.point.strength == theirs.point.strength).all() and (ours.board == theirs.board).all()
    pd.testing.assert_frame_equal(ba.leaderboard(honest), ba.leaderboard(plain), check_exact=True)
    assert honest.cells is honest.cast and honest.warnings == plain.warnings == ()
    table = ba.integrity(honest)
    assert (table["discounted"] == 0).all() and (table["named"] == 0).all() and table["contested"].isna().all()
    assert (table["rank"] == table["rank_alike"]).all() and (table["elo"] == table["elo_alike"]).all()
    assert (table["gain"] < 5).all() and (table["difference"].abs() < 3).all() and len(ba.promoters(honest)) == 0


@pytest.mark.slow
def test_a_campaign_is_found_named_and_its_competitor_put_back(arena, honest, rigged, found):
    target = arena.ranked(8)
    assert open_ones(found) == [target]
    truth, row = by_name(honest), by_name(found).loc[target]
    assert row["rank_alike"] < truth["rank"][target] - 1 and abs(row["rank"] - truth["rank"][target]) <= 1
    board, plain = (ba.leaderboard(fit).set_index("competitor") for fit in (found, ba.fit(rigged, robust=False)))
    assert board["lower"][target] < truth["elo"][target] < board["upper"][target] < plain["elo"][target]
    assert row["elo_alike"] == pytest.approx(plain["elo"][target]) and row["rank_alike"] == plain["rank"][target]
    others = [name for name in found.cells.competitors if name != target]
    assert_allclose(by_name(found)["elo"][others], truth["elo"][others], atol=25)
    who = ba.promoters(found)
    assert len(named(found)) == RIGGERS == row["named"] and all(name.startswith("rigger-") for name in named(found))
    assert who["promotes"][who["named"]].all() and who["log_bayes"].is_monotonic_decreasing
    assert set(who["competitor"]) == {target}


@pytest.mark.slow
def test_who_promotes_is_said_in_votes(arena, rigged, found):
    target, name = arena.ranked(8), "rigger-00001"
    votes = table_of(rigged).filter(pl.col("judge") == name)
    on = votes.filter((pl.col("model_a") == target) | (pl.col("model_b") == target))
    ours = on.filter(
        ((pl.col("model_a") == target) & (pl.col("winner") == "model_a"))
        | ((pl.col("model_b") == target) & (pl.col("winner") == "model_b"))
    )
    (said,) = [one for one in sentences(found) if one.startswith(name)]
    assert said.startswith(f"{name} promotes {target}: votes for it in {len(ours)} of {len(on)} battles, where ")
    expected = int(said.removesuffix(" are expected").rsplit(" ", 1)[1])
    assert 0 < expected < 0.7 * len(on)
    row = ba.promoters(found).set_index("annotator").loc[name]
    assert (row["votes"], row["meant"]) == (len(on), len(ours)) and round(row["expected"]) == expected and row["named"]
    everything = " ".join((*found.warnings, *sentences(found)))
    assert not any(word in everything for word in ("hate", "rigged", "attack", "fraud"))


def test_a_reader_is_told_both_places(arena, found):
    target = arena.ranked(8)
    row = by_name(found).loc[target]
    (said,) = [text for text in found.warnings if "not those of one crowd" in text]
    assert repr(target) in said and f"{row['discounted']:,.0f} of {row['votes']:,.0f} do not count" in said
    assert f"Its rank is {row['rank']}; by all votes alike it is {row['rank_alike']}." in said
    assert ba.integrity(found)["competitor"][0] == target


@pytest.mark.slow
def test_those_who_vote_against_one_demote_it(arena, honest):
    target = arena.ranked(3)
    fit = ba.fit(rig(arena.cells, "hate", target, accounts=RIGGERS, votes=30, seed=1).cells)
    row, truth = by_name(fit).loc[target], by_name(honest).loc[target]
    assert target in open_ones(fit) and row["rank_alike"] > truth["rank"] and abs(row["rank"] - truth["rank"]) <= 1
    assert len(sentences(fit)) == RIGGERS and all(" demotes " in one for one in sentences(fit))
    assert all("votes against it in 30 of 30 battles" in one for one in sentences(fit))


@pytest.mark.slow
def test_names_and_sides_do_not_matter(rigged, found):
    votes = table_of(rigged).sample(fraction=1.0, shuffle=True, seed=2)
    flipped = {"model_a": "model_b", "model_b": "model_a"}
    other = votes.select(
        model_a=pl.col("model_b").map_elements(lambda name: name[::-1], return_dtype=pl.String),
        model_b=pl.col("model_a").map_elements(lambda name: name[::-1], return_dtype=pl.String),
        winner=pl.col("winner").replace(flipped),
        judge=pl.col("judge").map_elements(lambda name: name[::-1], return_dtype=pl.String),
    )
    fit = ba.fit(ba.read_votes(other))
    ours, theirs = by_name(found), by_name(fit)
    theirs = theirs.loc[[name[::-1] for name in ours.index]]
    for name, close in (("gain", 0.02), ("difference", 0.02), ("elo", 0.2), ("elo_alike", 0.05)):
        assert_allclose(theirs[name], ours[name], atol=close, err_msg=name)
    assert_allclose(theirs["discounted"], ours["discounted"], rtol=0.02)  # by a width measured along one direction
    for name in ("rank", "rank_alike", "votes", "accounts", "named"):
        assert (theirs[name].to_numpy() == ours[name].to_numpy()).all(), name
    assert {name[::-1] for name in named(fit)} == set(named(found))
    assert [name[::-1] for name in open_ones(fit)] == open_ones(found)


@pytest.mark.slow
def test_the_order_of_votes_does_not_change_a_bit(rigged, found):
    again = ba.fit(ba.read_votes(table_of(rigged).reverse()))
    assert (again.board == found.board).all() and (again.cells.counts == found.cells.counts).all()
    pd.testing.assert_frame_equal(ba.integrity(again), ba.integrity(found), check_exact=True)
    assert sentences(again) == sentences(found)


@pytest.mark.slow
def test_a_campaign_that_makes_a_direction_of_its_own_is_found_all_the_same(arena, rigged, found):
    assert ba.fit(rigged, robust=False).model.dimensions  # the bloc is what annotators differ in most
    assert open_ones(found) == [arena.ranked(8)] and len(named(found)) >= RIGGERS - 1


def test_models_without_annotators_numbers_find_it_where_they_are_asked_to(arena, rigged):
    assert ba.fit(rigged, model="bradley-terry").promotions is None
    fit = ba.fit(rigged, model="bradley-terry", robust=True)
    row = by_name(fit).loc[arena.ranked(8)]
    assert open_ones(fit) == [arena.ranked(8)] and fit.model.name == "bradley-terry"
    assert row["rank"] > row["rank_alike"] + 3


@pytest.mark.slow
def test_a_few_votes_name_nobody(arena):
    target = arena.ranked(8)
    fit = ba.fit(rig(arena.cells, "t-abstain", target, accounts=60, votes=3, seed=1).cells)
    row = by_name(fit).loc[target]
    assert target in open_ones(fit) and row["rank"] > row["rank_alike"]
    assert named(fit) == sentences(fit) == [] and row["named"] == 0
    assert len(ba.promoters(fit)) == row["accounts"]


@pytest.mark.slow
def test_programs_and_who_is_kept_count_in_full(arena, rigged):
    riggers = tuple(name for name in rigged.annotators if name.startswith("rigger-"))
    programs = ba.fit(replace(rigged, programs=riggers), model="davidson", robust=True)
    kept, some = (ba.fit(rigged, model="davidson", robust=True, keep=names) for names in (riggers, riggers[:2]))
    for fit, names in ((programs, riggers), (kept, riggers), (some, riggers[:2])):
        mine = np.isin(rigged.annotators, names)[rigged.annotator]
        assert (fit.cells.counts[mine] == rigged.counts[mine]).all()
        assert not set(named(fit)) & set(names)
    assert open_ones(some) == [arena.ranked(8)] and set(named(some)) == set(riggers[2:])
    others = np.isin(rigged.annotators, riggers[2:])[rigged.annotator]
    assert some.cells.counts[others].sum() < 0.6 * rigged.counts[others].sum()


def test_votes_that_carry_no_annotators_are_refused():
    fit = ba.fit(ba.read_votes(frame([("x", "y", "model_a"), ("y", "z", "model_a"), ("z", "x", "tie")])))
    for table in (ba.integrity, ba.promoters):
        with pytest.raises(ba.ModelError, match=r"counts all votes alike.*robust=True.*annotator="):
            table(fit)


def test_what_is_not_a_fit_is_refused(rigged):
    for table in (ba.integrity, ba.promoters):
        with pytest.raises(ba.ModelError, match=f"fit of {table.__name__} must be a result of fit, or votes, not Plan"):
            table(ba.choose(rigged))
