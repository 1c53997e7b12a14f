"""What changed since a former board: columns, sentence, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.former import read_former
from bayes_arena.errors import ModelError, OutputError

ARENA = ba.example_arena()
VOTES = ARENA.votes
FIRST = VOTES[:3900]
NEWCOMER = "model-20"


def without(votes, name):
    """The votes on the other competitors."""
    return votes[(votes["model_a"] != name) & (votes["model_b"] != name)]


@pytest.fixture
def written(tmp_path):
    """Write the JSON of a rating, and return its path."""

    def write(votes, **options):
        path = tmp_path / "last.json"
        path.write_text(ba.rate(votes, **options).to_json(), encoding="utf-8")
        return path

    return write


def test_a_board_is_read_as_it_was_written(written, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1795219200")  # 2026-11-21
    rating = ba.rate(FIRST)
    former = read_former(written(FIRST))
    assert former.date == "2026-11-21"
    assert former.n_votes == 3900
    assert former.competitors == tuple(rating.leaderboard["competitor"])
    np.testing.assert_array_equal(former.elo, rating.leaderboard["elo"])
    np.testing.assert_array_equal(former.rank, rating.leaderboard["rank"])


def test_changes_are_relative_to_the_competitors_on_both_boards(written):
    """A strong newcomer lowers all other scores, and changes none of them."""
    path = written(without(FIRST, NEWCOMER))
    table = ba.rate(FIRST, since=path).leaderboard.set_index("competitor")
    others = table.drop(index=NEWCOMER)
    assert np.isnan(table["elo_change"][NEWCOMER])
    assert others["elo_change"].mean() == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(
        others["elo"] - others["elo_before"], others["elo_change"]
    )
    assert others["elo_change"].abs().max() < 20


@pytest.mark.slow
def test_of_the_same_votes_nothing_changed(written):
    rating = ba.rate(FIRST, since=written(FIRST))
    table = rating.leaderboard
    np.testing.assert_allclose(table["elo_change"], 0, atol=1e-6)
    np.testing.assert_array_equal(table["rank_before"], table["rank"])
    assert table["change_lower"].isna().all() and not table["changed"].any()
    assert (
        "(no votes more): model-18 keeps 1; no score has changed beyond chance."
        in str(rating)
    )


def test_more_votes_change_by_the_difference_of_the_variances(written):
    """Hausman's: the former votes are in both; by the letter where votes are many."""
    rating = ba.rate(VOTES, since=written(VOTES[:2000]))
    table = rating.leaderboard.set_index("competitor")
    former = ba.rate(VOTES[:2000]).leaderboard.set_index("competitor").loc[table.index]
    before = (former["upper"] - former["lower"]) ** 2
    difference = before - (table["upper"] - table["lower"]) ** 2
    squared = (table["change_upper"] - table["change_lower"]) ** 2
    assert (squared >= difference - 1e-6).all()
    assert np.sqrt(squared / difference).median() < 1.2


@pytest.mark.slow
def test_other_votes_change_by_the_sum_of_the_variances(written):
    rating = ba.rate(VOTES[2000:], since=written(VOTES[:2000]))
    table = rating.leaderboard.set_index("competitor")
    former = ba.rate(VOTES[:2000]).leaderboard.set_index("competitor").loc[table.index]
    total = (former["upper"] - former["lower"]) ** 2 + (
        table["upper"] - table["lower"]
    ) ** 2
    squared = (table["change_upper"] - table["change_lower"]) ** 2
    np.testing.assert_allclose(squared, total, rtol=1e-6)
    assert "(2,321 votes in place of 2,000)" in str(rating)


@pytest.mark.slow
def test_boards_of_other_competitors_have_no_changes(written):
    others = {side: "other " + VOTES[side] for side in ("model_a", "model_b")}
    rating = ba.rate(VOTES, since=written(VOTES.assign(**others)))
    assert rating.leaderboard["elo_change"].isna().all()
    assert "fewer than two competitors have a rank on both boards" in str(rating)


def test_who_is_new_gone_and_first_is_said(written):
    path = written(without(FIRST, NEWCOMER))
    sentence = ba.rate(without(VOTES, "model-18"), since=path).changes.sentence
    assert "model-20 is new at 1; model-18 is gone; " in sentence


@pytest.mark.slow
def test_a_changed_score_is_called_with_its_interval(written):
    """A model that was replaced by a far better one."""
    week = VOTES[:400].copy()
    week["model_a"] = "model-10"
    week["model_b"] = [f"model-{n:02d}" for n in (1, 2, 3, 4, 5, 6, 7, 8)] * 50
    week["winner"] = "model_a"
    rating = ba.rate(pd.concat([VOTES, week]), since=written(VOTES))
    row = rating.leaderboard.set_index("competitor").loc["model-10"]
    assert row["changed"] and row["change_lower"] > 0
    ends = f"({row['change_lower']:.0f} … {row['change_upper']:.0f})"
    said = f"model-10 is up by {row['elo_change']:.0f} Elo {ends}"
    assert said in rating.changes.sentence
    mean = " Changes are against the mean of the 20 that both boards rank."
    assert rating.changes.sentence.endswith(mean)
    assert rating.notes[0].kind == "since"


@pytest.mark.slow
def test_the_board_without_annotators_is_compared(written):
    left = ba.rate(VOTES, without="flagged", since=written(VOTES, without="flagged"))
    np.testing.assert_allclose(left.leaderboard["elo_change"], 0, atol=1e-6)
    assert "elo_before" not in ba.rate(VOTES).leaderboard


@pytest.mark.slow
def test_json_has_what_changed(written):
    content = json.loads(
        ba.rate(VOTES, since=written(without(FIRST, "model-05"))).to_json()
    )
    since = content["since"]
    assert since["new"] == ["model-05"] and since["gone"] == []
    assert since["sentence"].startswith(f"Since {since['date']} (")
    assert {"rank_before", "elo_change", "changed"} <= set(content["leaderboard"][0])
    assert json.loads(ba.rate(VOTES).to_json())["since"] is None


@pytest.mark.slow
def test_the_page_shows_before_and_change(written, tmp_path):
    rating = ba.rate(VOTES, since=written(without(FIRST, "model-05")))
    rating.report(tmp_path / "board.html")
    html = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert "Before (rank)" in html and ">Change<" in html
    assert "beyond chance, allowing for having looked at 19 changes" in html
    assert rating.changes.sentence in html


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 0.9}, "level 0.95 there and 0.9 here. Use level=0.95."),
        (
            {"model": "m-elo"},
            "model davidson there and m-elo here. Use model='davidson'.",
        ),
        ({"prior": "weak"}, "prior default there and weak here. Use prior='default'."),
        (
            {"interval": "sandwich"},
            "interval posterior there and sandwich here. Use interval='posterior'.",
        ),
        ({"elo": ba.EloScale(scale=200)}, "points_per_logit "),
        ({"combined": True}, "combined no there and yes here"),
    ],
)
def test_a_board_made_otherwise_is_refused_with_what_differs(written, options, message):
    with pytest.raises(ModelError, match="board of another kind") as caught:
        ba.rate(VOTES, since=written(FIRST), **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("model_a,model_b,winner\n", "it is no JSON"),
        ("[1, 2]", "it has no leaderboard"),
        ('{"schema": 99, "leaderboard": []}', "its schema is 99"),
        ('{"schema": 1, "leaderboard": []}', "it has no 'date'"),
        ('{"schema": 1, "leaderboard": [{"rank": "x"}]}', "no table of numbers"),
    ],
)
def test_what_is_no_board_is_refused(tmp_path, content, message):
    path = tmp_path / "last.json"
    path.write_text(content)
    with pytest.raises(OutputError) as caught:
        ba.rate(VOTES, since=path)
    assert message in str(caught.value) and "rank VOTES -o last.json" in str(
        caught.value
    )


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        ba.rate(VOTES, since=tmp_path / "last.json")


@pytest.mark.slow
def test_where_nobody_changed_few_changes_are_called(written):
    excluded, called = [], 0
    for seed in range(40):
        votes = ba.simulate(votes=2200, seed=seed).votes.drop(columns="judge")
        changes = ba.rate(votes, since=written(votes[:2000])).changes
        excluded += (np.abs(changes.change) > changes.half).tolist()
        called += bool(changes.called.any())
    assert np.mean(excluded) < 0.08
    assert called <= 6  # of 40; one in twenty, and chance


@pytest.mark.parametrize("since", ['{"leaderboard": []}', {}, 3])
def test_a_former_board_is_named_by_its_path(since):
    with pytest.raises(ba.errors.OutputError, match="A former board is a file of JSON"):
        ba.rate(ba.example_arena().votes, since=since)
