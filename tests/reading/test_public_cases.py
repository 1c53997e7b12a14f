"""Files as public sources have them, each counted by code that shares nothing with ours."""

# ruff: noqa: E501

import csv
import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.check import check
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


def pairs_of(rankings):
    """Return the weighted wins of rankings: each competitor's place, 1 is the best."""
    wins = Counter()
    for places in rankings:
        k, shared = len(places), Counter(places.values())
        w = 3 * sum(k - shared[p] for p in places.values())
        w /= sum(k**2 - shared[p] ** 2 for p in places.values())
        for a, b in combinations(places, 2):
            share = sign(places[b] - places[a])
            wins[a] += w * share
            wins[b] += w * (1 - share)
    return dict(wins)


def grouped(name, group, competitor, value, sign=1):
    """Return the places in each group of rows."""
    rankings = {}
    for r in rows(name):
        rankings.setdefault(r[group], {})[r[competitor]] = sign * float(r[value])
    return rankings.values()


def chosen(choices):
    """Return the weighted wins of the chosen of several."""
    wins = Counter()
    for options, best in choices:
        wins.update(dict.fromkeys(options, 0))
        wins[best] += 2 / len(options) * (len(options) - 1)
    return dict(wins)


def matrix(name):
    """Return the wins in a table of who beat whom, without its margins."""
    return {
        r["model"]: sum(int(r[b]) for b in ("oak", "elm", "ash", "fir"))
        for r in rows(name)
    }


def promptfoo(name):
    """Return the choices of select-best, by test."""
    tests = {}
    for r in json.loads((CASES / name).read_text())["results"]["results"]:
        tests.setdefault(r["testIdx"], []).append((r["provider"]["id"], r["success"]))
    for outputs in tests.values():
        yield [who for who, _ in outputs], next(who for who, best in outputs if best)


def fastchess(name):
    """Return the wins of pairs of engines."""
    wins = Counter()
    for pair, n in json.loads((CASES / name).read_text())["stats"].items():
        a, b = pair.split(" vs ")
        wins[a] += n["wins"] + n["draws"] / 2
        wins[b] += n["losses"] + n["draws"] / 2
    return dict(wins)


def games(name):
    """Return the results of the games of a PGN file."""
    for game in (CASES / name).read_text().split("[Event")[1:]:
        white, black, result = (
            game.split(f'[{tag} "')[1].split('"')[0]
            for tag in ("White", "Black", "Result")
        )
        yield white, black, {"1-0": 1, "0-1": 0, "1/2-1/2": 0.5}[result]


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
    ("d17_nway_cell_silent.csv", {},
     chosen((r["candidates"].split("|"), r["winner"]) for r in rows("d17_nway_cell_silent.csv"))),
    ("d18_matrix_total.csv", {}, matrix("d18_matrix_total.csv")),
    ("d18_matrix_total.csv", {"layout": "win-matrix"}, matrix("d18_matrix_total.csv")),
    ("d20_game_player_rank.csv", {}, pairs_of(grouped("d20_game_player_rank.csv", "game", "player", "rank"))),
    ("d22_points_as_rank.csv", {"layout": "rankings", "a": "driver", "winner": "points"},
     pairs_of(grouped("d22_points_as_rank.csv", "race", "driver", "points", sign=-1))),
    ("d44_rank_cell.csv", {}, pairs_of(
        {name: place for place, name in enumerate(r["ranking"].split())} for r in rows("d44_rank_cell.csv"))),
    ("d38_promptfoo_select_best.json", {}, chosen(promptfoo("d38_promptfoo_select_best.json"))),
    ("d40_nectar.jsonl", {}, pairs_of(
        {each["model"]: each["rank"] for each in r["answers"]} for r in rows("d40_nectar.jsonl"))),
    ("d41_ultrafeedback.jsonl", {}, pairs_of(
        {each["model"]: -each["overall_score"] for each in r["completions"]} for r in rows("d41_ultrafeedback.jsonl"))),
    ("d42_fastchess_stats.json", {}, fastchess("d42_fastchess_stats.json")),
    ("d43_games.pgn", {}, won(games("d43_games.pgn"))),
    ("d23_better_worse.csv", {}, by_label("d23_better_worse.csv", "candidate", "baseline", "verdict", BETTER)),
    ("d25_a_b_t.csv", {}, by_label("d25_a_b_t.csv", "agent_a", "agent_b", "winner", {"a": 1, "b": 0, "t": 0.5})),
]  # fmt: skip
# A file, options, and why there is no result in it.
REFUSED = [
    ("d07_league_table.csv", {}, "'won', 'lost', 'drawn' hold numbers of games of one competitor"),
    ("d15_other_baseline.jsonl", {}, r"not name the baseline.*baseline='gpt-4-0314'"),
    ("d22_points_as_rank.csv", {}, "layout='rankings', a='driver', b='race', winner='points'"),
    ("d29_no_header.csv", {}, "(?s)first row is no header.*import polars"),
    ("d29_no_header.csv", {"a": "oak", "b": "elm"}, "(?s)first row is no header.*import polars"),
    ("d35_category_struct.jsonl", {"slices": "category_tag"}, "slices='category_tag.creative_writing'"),
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


def test_a_file_without_a_header_gets_one_by_two_lines_of_polars(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    path.write_text((CASES / "d29_no_header.csv").read_text())
    with pytest.raises(VotesError) as error:
        read_votes(path)
    monkeypatch.chdir(tmp_path)
    exec(str(error.value).split("\n", 1)[1])
    votes = read_votes("with_header.csv")
    lines = [line.split(",") for line in path.read_text().split()]
    assert score(votes) == won((a, b, 1) for a, b in lines)


def test_slices_stand_in_objects():
    path = CASES / "d35_category_struct.jsonl"
    tags = [r["category_tag"]["math_v0.1"]["math"] for r in rows(path.name)]
    for source in (path, pl.DataFrame(rows(path.name)), pl.LazyFrame(rows(path.name))):
        votes = read_votes(
            source, slices=["category_tag.math", "occupational_tags.legal"]
        )
        cast = votes.votes_by_level("category_tag.math")
        levels = votes.levels["category_tag.math"]
        assert dict(zip(levels, cast, strict=True)) == {
            "false": tags.count(False), "true": tags.count(True),
        }  # fmt: skip
    turns = [
        {"role": "user", "language": "de"},
        {"role": "assistant", "language": "en"},
    ]
    row = {"model_a": "x", "model_b": "y", "winner": "x", "conversation": turns}
    votes = read_votes([row], slices={"language": "conversation.language"})
    assert votes.levels["language"] == ("de",)
    with pytest.raises(VotesError, match=r"No value of 'category_tag' ends in 'maths'"):
        read_votes(path, slices="category_tag.maths")


def test_preflib_has_a_ranking_for_each_voter(tmp_path):
    text = """# FILE NAME: 1.toc
# NUMBER ALTERNATIVES: 3
# ALTERNATIVE NAME 1: oak
# ALTERNATIVE NAME 2: elm tree
# ALTERNATIVE NAME 3: ash
2: 1,2,3
1: 3,{1,2}
"""
    path = tmp_path / "1.toc"
    path.write_text(text)
    first, second = (
        {"oak": 1, "elm tree": 2, "ash": 3},
        {"ash": 1, "oak": 2, "elm tree": 2},
    )
    expected = pairs_of([first, first, second])
    assert score(read_votes(path)) == pytest.approx(expected)


def test_headers_between_rows_are_no_competitors(tmp_path):
    path = tmp_path / "votes.csv"
    header = "model_a,model_b,winner,judge\n"
    path.write_text(
        header + "oak,elm,model_a,k\n" + header + "elm,ash,tie,k\n" + header
    )
    votes = read_votes(path)
    assert score(votes) == {"oak": 1, "elm": 0.5, "ash": 0.5}
    assert "Left out 2 rows that repeat the header." in map(str, votes.remarks)
    scores = "home_team,away_team,home_score,away_score\n"
    path.write_text(scores + "oak,elm,2,1\n" + scores + "elm,oak,0,0\n")
    assert score(read_votes(path)) == {"oak": 1.5, "elm": 0.5}


@pytest.mark.parametrize(
    ("cells", "winners"),
    [
        (("gpt-4", "claude-2", "gpt-3"), "AB"),  # single names
        (("a_b", "c_d"), "AB"),
        (("oak elm", "elm ash"), ("oak", "x")),
    ],
)
def test_what_is_no_pair_is_not_divided(cells, winners):
    columns = {"pair": cells, "winner": [winners[k % 2] for k in range(len(cells))]}
    with pytest.raises(VotesError, match="Nothing divides the cell"):
        read_votes(columns)


@pytest.mark.parametrize("place", ["DNF", "DQ", "NC", "", "0", "-"])
def test_who_did_not_finish_is_not_ranked_or_last(place):
    ranks = {
        "race": ["1"] * 3,
        "driver": ["oak", "elm", "ash"],
        "place": ["1st", "T2", place],
    }
    assert score(read_votes(ranks)) == {"oak": 1, "elm": 0}
    last = read_votes(ranks, outcomes={"unranked": "last"})
    assert score(last) == {"oak": 1.5, "elm": 0.75, "ash": 0}


def test_competitors_all_of_whose_votes_were_left_out_are_named():
    columns = {"model_a": ["oak", "elm", "fir"], "model_b": ["elm", "ash", "elm"]}
    votes = read_votes(columns | {"winner": ["A", "inconclusive", "B"]})
    assert votes.competitors == ("elm", "fir", "oak")
    assert "All votes on these were left out: 'ash'." in map(str, votes.remarks)


MIRRORS = {
    "date": ["d1", "d1", "d2", "d2"], "team": ["oak", "elm", "ash", "oak"],
    "opponent": ["elm", "oak", "oak", "ash"], "points": [3, 1, 2, 2], "opp_points": [1, 3, 2, 2],
}  # fmt: skip


def test_games_that_each_side_lists_are_counted_once():
    options = {"a": "team", "b": "opponent", "winner": ["points", "opp_points"]}
    votes = read_votes(MIRRORS, **options)
    assert score(votes) == {"oak": 1.5, "elm": 0, "ash": 0.5}
    assert [note.kind for note in votes.remarks] == ["mirrors"]
    legs = MIRRORS | {"date": ["d1", "d2", "d3", "d4"]}
    assert read_votes(legs, **options).n_votes == 4
    labels = {"id": ["1", "1"], "model_a": ["oak", "elm"], "model_b": ["elm", "oak"]}
    both_orders = read_votes(labels | {"winner": ["A", "B"]})  # judgments, not games
    assert score(both_orders) == {"oak": 2, "elm": 0}
    counts = labels | {"wins_a": [3, 1], "wins_b": [1, 3]}
    assert score(read_votes(counts)) == {"oak": 3, "elm": 1}


def test_what_values_decided_is_said_by_check():
    found = check(CASES / "d13_school1_school2.csv")
    assert (
        found.how["school1"] == "their names differ in the side, and they share names"
    )
    table = {
        "essay_a": ["x", "y", "z"],
        "essay_b": ["y", "z", "x"],
        "picked": ["x", "z", "x"],
    }
    found = check(table)
    assert found.how["picked"] == "its values are names of the two"
    assert "'picked': its values are names of the two" in str(found)


def test_the_winner_of_a_choice_is_one_of_the_options():
    cells = ["oak|elm|ash", "oak|elm|ash", "oak|elm", "oak|elm|ash"]
    votes = read_votes({"options": cells, "winner": ["oak", "none", "model_b", ""]})
    assert score(votes) == pytest.approx({"oak": 4 / 3, "elm": 1, "ash": 0})
    with pytest.raises(
        VotesError, match="In 1 choice the winner is none of the options: 'A'"
    ):
        read_votes({"options": cells, "winner": ["oak", "A", "A", ""]})
