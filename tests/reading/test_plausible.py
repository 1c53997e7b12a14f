"""A board never comes out of a column that holds no competitors, or no result."""

import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.read import read_votes
from tests.reading.test_layouts import score

ARENA = {
    "model_a": ["oak", "elm", "ash", "oak", "elm", "ash"],
    "model_b": ["elm", "ash", "oak", "ash", "oak", "elm"],
    "winner": ["model_a", "model_b", "tie", "model_a", "model_b", "model_a"],
    "judge": ["k1", "k2", "k1", "k2", "k1", "k2"],
    "language": ["en", "de", "en", "de", "en", "de"],
    "turn": [1, 2, 1, 2, 1, 2],
    "shown_first": ["A", "B", "A", "B", "A", "B"],
    "tstamp": [f"2026-01-0{k}" for k in range(1, 7)],
    "reply": [f"x{k}" * 150 for k in range(6)],
    "other": [f"y{k}" * 150 for k in range(6)],
}
LETTERS = ARENA | {"winner": ["A", "B", "tie", "A", "B", "A"]}
LEAGUE = {
    "Date": ["2026-01-01", "2026-01-02", "2026-01-03"],
    "HomeTeam": ["oak", "elm", "ash"],
    "AwayTeam": ["elm", "ash", "oak"],
    "FTR": ["H", "D", "A"],
    "Referee": ["r1", "r2", "r1"],
    "toss_winner": ["oak", "ash", "oak"],
    "half": [1, 2, 2],
}


@pytest.mark.parametrize(
    ("source", "options"),
    [
        (ARENA, {"a": "judge", "b": "model_b"}),
        (ARENA, {"a": "judge", "b": "language", "winner": "winner"}),
        (LETTERS, {"a": "judge", "b": "model_b"}),
        (LETTERS, {"a": "model_a", "b": "judge"}),
        (LETTERS, {"a": "model_a", "b": "language"}),
        (LETTERS, {"a": "tstamp", "b": "turn"}),
        (LETTERS, {"a": "tstamp", "b": "model_b"}),
        (LETTERS, {"a": "reply", "b": "other"}),
        (ARENA, {"winner": "language"}),
        (ARENA, {"winner": "turn"}),
        (ARENA, {"winner": "shown_first"}),
        (ARENA, {"winner": "tstamp"}),
        (ARENA, {"winner": "judge"}),
        (ARENA, {"winner": "model_a"}),
        (
            LEAGUE | {"n": [4, 5, 6], "m": [4, 5, 6]},
            {"a": "Date", "b": "n", "winner": "m"},
        ),
        (LEAGUE, {"a": "Date", "b": "AwayTeam"}),
        (LEAGUE, {"a": "Referee", "b": "AwayTeam", "winner": "FTR"}),
        (LEAGUE, {"winner": "toss_winner"}),
        ({"team1": ["oak"], "team2": ["elm"], "half": ["1"]}, {"winner": "half"}),
    ],
)
def test_what_holds_no_competitors_or_no_result_is_refused(source, options):
    with pytest.raises(VotesError):
        read_votes(source, **options)


def test_who_knows_better_names_the_layout():
    with pytest.raises(VotesError, match=r"share no names.*If they do: layout='votes'"):
        read_votes(LETTERS, a="judge", b="model_b")
    votes = read_votes(LETTERS, a="judge", b="model_b", layout="votes")
    assert votes.competitors == ("ash", "elm", "k1", "k2", "oak")
    with pytest.raises(VotesError, match=r"winner='toss_winner', layout='votes'"):
        read_votes(LEAGUE, winner="toss_winner")
    assert read_votes(LEAGUE, winner="toss_winner", layout="votes").n_votes == 3


def test_sides_that_columns_swap_stay_the_right_ones():
    expected = {"oak": 3.5, "elm": 0, "ash": 2.5}
    for table in (ARENA, LETTERS):
        assert score(read_votes(table)) == pytest.approx(expected)
        turned = read_votes(table, a="model_b", b="model_a")
        assert score(turned) == pytest.approx(expected)


def test_a_label_may_name_the_answer_of_a_side():
    table = {**ARENA, "response_a": ["x"] * 6, "response_b": ["y"] * 6}
    table["winner"] = ["response_a", "response_b"] * 3
    assert read_votes(table).folded.sum(axis=0).tolist() == [3, 3, 0]
    table = {"left": ["oak", "elm"], "right": ["elm", "oak"], "model_a": [1, 2]}
    table["winner"] = ["model_a", "model_b"]
    with pytest.raises(VotesError, match=r"label 'model_a' names the column 'model_a'"):
        read_votes(table)


@pytest.mark.parametrize(
    "columns",
    [
        {"player_1": [1, 2, 3], "player_2": [2, 3, 1], "winner": [1, 3, 3]},
        {"winner": [1, 3, 3], "loser": [2, 2, 1]},
        {"winner_id": [1, 3, 3], "loser_id": [2, 2, 1]},
        {"home_team_id": [1, 2, 3], "away_team_id": [2, 3, 1], "winner": [1, 3, 3]},
        {"team1": [1, 2, 3], "team2": [2, 3, 1], "winner": ["team1", "team2", "team1"]},
        {"a": [1, 2, 3], "b": [2, 3, 1], "winner": ["1", "3", "3"]},
        {"model_a": [1.0, 2.0, 3.0], "model_b": [2, 3, 1], "winner": [1, 3, 3]},
        {"id_a": [1, 2, 3], "id_b": [2, 3, 1], "label": ["A", "B", "A"]},
    ],
)
def test_numbers_are_names_of_players(columns):
    assert score(read_votes(columns)) == {"1": 1, "2": 0, "3": 2}


def test_answers_without_names_of_systems_are_refused():
    texts = {"chosen": ["Yes. " * 60] * 2, "rejected": ["No. " * 90] * 2}
    with pytest.raises(VotesError, match="nothing says which system wrote them"):
        read_votes(texts)
    answers = {"response_a": texts["chosen"], "response_b": texts["rejected"]}
    with pytest.raises(VotesError):
        read_votes(answers | {"winner": ["A", "B"]})
    with pytest.raises(VotesError, match="texts, not names"):
        read_votes(answers | {"winner": ["A", "B"]}, a="response_a", b="response_b")
    names = {"chosen": ["oak", "elm"], "rejected": ["elm", "ash"]}
    assert score(read_votes(names)) == {"oak": 1, "elm": 1, "ash": 0}
