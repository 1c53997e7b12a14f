"""What votes can tell, the style of answers, and votes in order."""

import json

import numpy as np
import polars as pl
import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.check import check
from bayes_arena.reading.read import read_votes
from bayes_arena.reading.sequence import read_sequence
from bayes_arena.reading.style import style_features
from bayes_arena.votes.singles import one_by_one

LEAGUE = {
    "HomeTeam": ["oak", "elm", "ash", "fir", "yew"],
    "AwayTeam": ["elm", "ash", "oak", "yew", "fir"],
    "FTR": ["H", "D", "-", "H", "H"],
    "judge": ["k1", "k2", "k1", "k1", "k2"],
}


def test_check_tells_what_was_read_and_what_votes_can_tell():
    found = check(LEAGUE)
    assert found.columns == {
        "a": "HomeTeam",
        "b": "AwayTeam",
        "winner": "FTR",
        "annotator": "judge",
    }
    assert (found.layout, found.dropped) == ("votes", {"not played": 1})
    assert found.groups == [["ash", "elm", "oak"], ["fir", "yew"]]
    assert (found.never_lost, found.never_won) == (["oak"], [])
    assert (found.n_pairs, found.n_possible_pairs) == (3, 10)
    assert (found.first_wins, found.ties, found.annotators_with_few) == (1.0, 0.25, 2)
    json.dumps(found.as_dict())
    text = str(found)
    assert "HomeTeam is a" in text
    assert "2 groups that never met; apart from the largest: fir, yew" in text
    assert "Left out 1 vote: not played." in text


def test_votes_without_an_annotator_or_a_prompt_are_counted_in_a_remark():
    gaps = {"judge": ["k1", "", "k1", "k1", "k2"], "prompt": ["", "p", "p", "q", "q"]}
    found = check(LEAGUE | gaps, prompt="prompt")
    said = [str(note) for note in found.remarks]
    assert "1 of 4 votes has no annotator: 'judge' is empty there." in said
    assert "1 of 4 votes has no prompt: 'prompt' is empty there." in said
    assert (found.n_annotators, found.n_prompts) == (2, 2)
    json.dumps(found.as_dict())


def test_check_takes_votes_that_are_read():
    votes = read_votes(
        {"winner": ["x", "y"], "loser": ["y", "x"], "item": ["p", "q"]}, prompt="item"
    )
    found = check(votes)
    assert (found.layout, found.columns, found.first_wins) == (None, {}, None)
    assert (found.n_prompts, found.effective_prompts) == (2, 2.0)
    assert "read as" not in str(found)


def test_style_is_counted_outside_code():
    texts = {"a": ["# One\n- x\n- y\n**b**", "```\n# no\n```"], "b": ["abc", "```x```"]}
    table = pl.DataFrame(
        {"model_a": ["x", "y"], "model_b": ["y", "x"], "winner": ["A", "B"], **texts}
    )
    found = style_features(table, a="a", b="b")
    assert found.columns == [
        "model_a",
        "model_b",
        "winner",
        "length",
        "headers",
        "lists",
        "bold",
    ]
    assert found["headers"].to_list() == pytest.approx([2**0.5, 0])
    relative = np.array([(19 - 3) / 22, (12 - 7) / 19])
    np.testing.assert_allclose(
        found["length"], relative / np.sqrt((relative**2).mean())
    )
    assert read_votes(found, features=["length"]).features["length"].shape == (2,)


def test_style_of_conversations_and_of_published_metadata():
    turns = [
        {"role": "user", "content": "# hm"},
        {"role": "assistant", "content": [{"text": "# A"}]},
    ]
    rows = [
        {"m": "x", "conversation_a": turns, "conversation_b": "b"},
        {"m": "y", "conversation_a": None},
    ]
    found = style_features(rows)
    assert found["headers"].to_list() == [1.0, None]
    counts = {
        "sum_assistant_a_tokens": 30,
        "sum_assistant_b_tokens": 10,
        "header_count_a": {"h1": 1, "h2": 2},
        "header_count_b": {"h1": 1},
        **{f"{name}_count_{side}": 0 for name in ("list", "bold") for side in "ab"},
    }
    found = style_features([{"conv_metadata": counts}])
    assert found.row(0) == (1.0, 1.0, 0.0, 0.0)
    for source, text in (({"m": ["x"]}, "neither"), ({"length": ["x"]}, "already")):
        with pytest.raises(VotesError, match=text):
            style_features(source)


def test_votes_in_order():
    votes = read_sequence(LEAGUE)
    assert [votes.competitors[k] for k in votes.i] == ["oak", "elm", "fir", "yew"]
    assert votes.score.tolist() == [1, 0.5, 1, 1]
    assert [votes.annotators[k] for k in votes.annotator] == ["k1", "k2", "k1", "k2"]
    games = [
        {"model_1": "x", "model_2": "y", "g1_winner": "model_1", "g2_winner": "model_1"}
    ] * 2
    assert read_sequence(games).i.tolist() == [0, 1, 0, 1]


def test_counts_have_no_order():
    for source in (
        {"winner": ["x"], "loser": ["y"], "n": ["3"]},
        {"rank_a": ["1"], "rank_b": ["2"], "rank_c": ["3"]},
    ):
        with pytest.raises(VotesError, match="no order"):
            read_sequence(source)


def test_counted_votes_one_by_one():
    single = one_by_one(
        read_votes({"winner": ["x", "x", "y"], "loser": ["y", "y", "x"]})
    )
    assert sorted(single.score.tolist()) == [0, 1, 1]
    with pytest.raises(VotesError, match="without weight="):
        one_by_one(
            read_votes({"winner": ["x"], "loser": ["y"], "w": ["0.5"]}, weight="w")
        )
