"""`rate(about=)`: facts about competitors, beside their scores."""

import json

import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.errors import VotesError

ABOUT = [
    {"model": "model-18", "maker": "Acme", "url": "https://acme.example"},
    {"model": "model-20", "maker": "Bolt", "url": ""},
    {"model": "nova", "maker": "Bolt", "url": ""},
]


@pytest.fixture(scope="module")
def rating():
    return ba.rate(ba.example_arena().votes, about=ABOUT)


def test_facts_follow_in_the_columns_of_the_board(rating):
    plain = ba.rate(rating.fit).leaderboard
    pd.testing.assert_frame_equal(rating.leaderboard[plain.columns], plain)
    assert list(rating.leaderboard)[len(list(plain)) :] == ["maker", "url"]
    assert rating.leaderboard["maker"][:2].tolist() == ["Acme", "Bolt"]
    assert rating.leaderboard["maker"][2:].isna().all()


def test_text_and_json_have_them_and_addresses_are_not_on_the_screen(rating):
    assert "maker\n" in rating.to_text() and "https" not in rating.to_text()
    assert "Not shown in 80 columns: maker" not in rating.to_text(width=80)
    assert "Not shown in 55 columns: maker" in rating.to_text(width=55)
    first = json.loads(rating.to_json())["leaderboard"][0]
    assert first["maker"] == "Acme" and first["url"] == "https://acme.example"


def test_who_stands_in_one_of_the_two_only_is_named(rating):
    note = next(note for note in rating.notes if note.kind == "about")
    assert str(note) == (
        "No facts about model-01, model-02, model-03, model-04, model-05 and 13 more. "
        "Facts, but no votes: nova."
    )


def test_facts_about_nobody_who_is_rated_are_refused(rating):
    with pytest.raises(VotesError, match="No competitor is named in 'maker'"):
        ba.rate(rating.fit, about=[{"maker": "Acme", "licence": "open"}])


def test_names_of_facts_may_hold_what_headings_fill(rating):
    rating = ba.rate(rating.fit, about=[{"model": "model-18", "{level}": "x"}])
    assert "{level}" in rating.to_text()


def test_prices_give_a_frontier_and_a_sentence(rating):
    about = [{"model": "model-18", "price": 30}, {"model": "model-20", "price": 2.5}]
    priced = ba.rate(rating.fit, about=about)
    assert list(priced.frontier["competitor"]) == ["model-20", "model-18"]
    assert priced.frontier["p_frontier"].between(0.99, 1).all()
    assert priced.notes[0].kind == "frontier"
    assert str(priced.notes[0]) == (
        "Of the 2 competitors with a price, nobody cheaper is as good as model-18 "
        "(P above 0.99); model-20 costs 2.5 and is 95 Elo behind."
    )
    frontier = json.loads(priced.to_json())["frontier"]
    assert frontier[0]["price"] == 2.5


def test_without_prices_there_is_no_frontier(rating):
    assert len(rating.frontier) == 0
    assert list(rating.frontier)[:2] == ["competitor", "price"]
    assert json.loads(rating.to_json())["frontier"] == []
    assert not any(note.kind == "frontier" for note in rating.notes)
