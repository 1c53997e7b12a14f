"""Files as public sources have them, each counted by code that shares nothing with ours."""

# ruff: noqa: E501

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.read import read_votes
from tests.reading.test_layouts import score

CASES = Path(__file__).parent / "cases"


def rows(name):
    """Return the rows of a case as dicts."""
    text = (CASES / name).read_text(encoding="utf-8")
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines()))


def won(results):
    """Return the wins of each competitor from (one, other, what the first gets of 1)."""
    wins = Counter()
    for a, b, share in results:
        wins[a] += share
        wins[b] += 1 - share
    return dict(wins)


def sign(x):
    """Return 1, 1/2 or 0 for a number above, at or below 0."""
    return (x > 0) + (x == 0) / 2


def by_scores(name, a, b, x, y):
    """Return the wins by two scores."""
    return won((r[a], r[b], sign(int(r[x]) - int(r[y]))) for r in rows(name))


def by_text(name, a, b, result):
    """Return the wins by scores such as 2-1."""
    results = []
    for r in rows(name):
        x, y = r[result].split("-")
        results.append((r[a], r[b], sign(int(x) - int(y))))
    return won(results)


def by_loser(name, winner, loser):
    """Return the wins of who is listed as the winner."""
    return won((r[winner], r[loser], 1) for r in rows(name))


def by_label(name, a, b, winner, meaning):
    """Return the wins by labels."""
    return won((r[a], r[b], meaning[r[winner]]) for r in rows(name))


def by_counts(name, a, b, x, y, tie):
    """Return the wins by counts; NA was not played."""
    wins = Counter()
    for r in rows(name):
        if r[x] != "NA":
            wins[r[a]] += int(r[x]) + int(r[tie]) / 2
            wins[r[b]] += int(r[y]) + int(r[tie]) / 2
    return dict(wins)


LETTERS = {"A": 1, "B": 0, "tie": 0.5}
BETTER = {
    "better": 1, "much-better": 1, "slightly-better": 1, "same": 0.5,
    "worse": 0, "much-worse": 0, "slightly-worse": 0,
}  # fmt: skip
AB = {"a": "model_a", "b": "model_b"}
CHOSEN = {"a": "candidate_chosen", "b": "candidate_not_chosen"}
# A file, options, and the wins of each competitor.
READ = [
    ("d01_half_named_scores.csv", {"a": "home", "b": "visitor"},
     by_scores("d01_half_named_scores.csv", "home", "visitor", "hgoal", "vgoal")),
    ("d03_half_named_recognised.csv", {"a": "Team 1", "b": "Team 2"},
     by_text("d03_half_named_recognised.csv", "Team 1", "Team 2", "FT")),
    ("d05_w_l_d_counts.csv", {},
     by_counts("d05_w_l_d_counts.csv", "player_a", "player_b", "W", "L", "D")),
    ("d08_winner_listed_first.csv", {}, by_loser("d08_winner_listed_first.csv", "model_a", "model_b")),
    ("d08_winner_listed_first.csv", {"layout": "winner-loser"},
     by_loser("d08_winner_listed_first.csv", "model_a", "model_b")),
    ("d10_chosen_and_choice.csv", CHOSEN, by_loser("d10_chosen_and_choice.csv", *CHOSEN.values())),
    ("d10_chosen_and_choice.csv", {}, by_loser("d10_chosen_and_choice.csv", *CHOSEN.values())),
    ("d11_chosen_not_chosen.csv", {}, by_loser("d11_chosen_not_chosen.csv", *CHOSEN.values())),
    ("d13_school1_school2.csv", {},
     by_counts("d13_school1_school2.csv", "school1", "school2", "win1", "win2", "tied")),
    ("d13_school1_school2.csv", {"a": "school1", "b": "school2"},
     by_counts("d13_school1_school2.csv", "school1", "school2", "win1", "win2", "tied")),
    ("d45_preference_letters.csv", {}, by_label("d45_preference_letters.csv", *AB.values(), "preference", LETTERS)),
    ("d45_preference_letters.csv", AB, by_label("d45_preference_letters.csv", *AB.values(), "preference", LETTERS)),
    ("d28_margin_beside_scores.csv", {},
     by_scores("d28_margin_beside_scores.csv", "home_team", "away_team", "home_score", "away_score")),
    ("d27_score_text.csv", {}, by_text("d27_score_text.csv", "Home Team", "Away Team", "Result")),
    ("d23_better_worse.csv", {}, by_label("d23_better_worse.csv", "candidate", "baseline", "verdict", BETTER)),
    ("d25_a_b_t.csv", {}, by_label("d25_a_b_t.csv", "agent_a", "agent_b", "winner", {"a": 1, "b": 0, "t": 0.5})),
]  # fmt: skip
# A file, options, and why there is no result in it.
REFUSED = [
    ("d07_league_table.csv", {}, "'won', 'lost', 'drawn' hold numbers of games of one competitor"),
    ("d15_other_baseline.jsonl", {}, r"not name the baseline.*baseline='gpt-4-0314'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "expected"), READ)
def test_the_result_is_that_of_the_file(name, options, expected):
    assert score(read_votes(CASES / name, **options)) == pytest.approx(expected)


@pytest.mark.parametrize(("name", "options", "reason"), REFUSED)
def test_what_holds_no_result_is_refused(name, options, reason):
    with pytest.raises(VotesError, match=reason):
        read_votes(CASES / name, **options)


def test_what_was_left_out_is_counted():
    votes = read_votes(CASES / "d13_school1_school2.csv")
    assert (votes.n_votes, votes.dropped) == (65, {"not played": 7})


def test_who_lists_winners_first_knows_no_sides():
    path = CASES / "d08_winner_listed_first.csv"
    assert read_votes(path).sided
    assert not read_votes(path, layout="winner-loser").sided
    columns = {"best": ["oak", "elm"], "other": ["elm", "ash"]}
    votes = read_votes(columns, a="best", b="other", winner="best")
    assert (score(votes), votes.sided) == ({"oak": 1, "elm": 1, "ash": 0}, False)
