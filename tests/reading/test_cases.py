"""Files as people have them, that earlier versions misread: what is right for each."""

# ruff: noqa: E501

import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.read import read_votes
from tests.reading.test_layouts import score

MT_BENCH = (
    '{{"question_id": {}, "model_1": "{}", "model_2": "{}", "g1_winner": "{}", '
    '"g2_winner": "{}", "judge_model": "gpt", "judge_prompt": "pair"}}'
)
NAMES = '"model_a": "{}", "model_b": "{}"'.format
# A file's ending and text, and the wins of each competitor with ties as halves.
CASES = {
    "label is a column's name": (
        ".csv", "team_a,team_b,winner\noak,elm,team_a\nelm,ash,team_b\nash,oak,team_b\n",
        {"oak": 2, "ash": 1, "elm": 0},
    ),
    "home, draw, away": (
        ".csv", "Date,HomeTeam,AwayTeam,FTHG,FTAG,FTR\n2001-08-18,Oak,Elm,2,1,H\n"
        "2001-08-19,Elm,Ash,0,1,A\n2001-08-20,Ash,Oak,1,1,D\n",
        {"Oak": 1.5, "Ash": 1.5, "Elm": 0},
    ),
    "letters": (
        ".csv", "model_a,model_b,winner\noak,elm,A\nelm,ash,B\nash,oak,tie\n",
        {"oak": 1.5, "ash": 1.5, "elm": 0},
    ),
    "not played": (
        ".csv", "home_team,away_team,home_score,away_score\noak,elm,1,0\nelm,ash,-,-\nash,oak,2,2\n",
        {"oak": 1.5, "elm": 0, "ash": 0.5},
    ),
    "case of names": (
        ".csv", "model_a,model_b,winner\noak,elm,OAK\nelm,ash,ASH\nash,oak,tie\n",
        {"oak": 1.5, "ash": 1.5, "elm": 0},
    ),
    "team1, team2": (
        ".csv", "team1,team2,winner\noak,elm,oak\nelm,ash,ash\nash,oak,\n",
        {"oak": 1, "elm": 0, "ash": 1},
    ),
    "counts by other names": (
        ".csv", "player_1,player_2,wins_1,wins_2\noak,elm,7,3\nelm,ash,6,4\n",
        {"oak": 7, "elm": 9, "ash": 4},
    ),
    "pair and winner by other names": (
        ".csv", 'plot,overall_quality,options\noak,oak,"oak,elm"\nelm,elm,"elm,ash"\nash,oak,"ash,oak"\n',
        {"oak": 2, "elm": 1, "ash": 0},
    ),
    "judge_model for judge": (
        ".jsonl", "\n".join([MT_BENCH.format(1, "oak", "elm", "model_1", "model_1"),
                             MT_BENCH.format(2, "oak", "elm", "model_1", "model_2"),
                             MT_BENCH.format(1, "elm", "ash", "tie", "model_2")]),
        {"oak": 3, "elm": 1.5, "ash": 1.5},
    ),
    "spaces after commas": (
        ".csv", "model_a, model_b, winner\noak, elm, model_a\nelm, ash, model_b\n",
        {"oak": 1, "elm": 0, "ash": 1},
    ),
    "records under a key": (
        ".json", f'{{"battles": [{{{NAMES("oak", "elm")}, "winner": "model_a"}}, '
        f'{{{NAMES("elm", "ash")}, "winner": "model_b"}}]}}',
        {"oak": 1, "elm": 0, "ash": 1},
    ),
    "pair is an object": (
        ".jsonl", "\n".join(f'{{"pair": {{{NAMES(*pair)}}}, "winner": "{winner}"}}' for *pair, winner in
            (("oak", "elm", "model_a"), ("elm", "oak", "model_b"), ("ash", "oak", "model_b"))),
        {"oak": 3, "elm": 0, "ash": 0},
    ),
    "pair with spaces": (
        ".csv", "pair,winner\noak / elm,model_a\nelm / oak,model_b\nash / oak,model_b\n",
        {"oak": 3, "elm": 0, "ash": 0},
    ),
    "models are objects": (
        ".jsonl", '{"model_a": {"name": "oak", "id": 1}, "model_b": {"name": "elm", "id": 2}, "winner": "model_a"}\n'
        '{"model_a": {"id": 2, "name": "elm"}, "model_b": {"name": "oak", "id": 1}, "winner": "model_b"}\n',
        {"oak": 2, "elm": 0},
    ),
    "rank 0 is none": (
        ".csv", "rank_A,rank_B,rank_C,rank_D\n1,2,3,4\n1,2,3,4\n0,0,1,2\n0,1,0,2\n",
        {"A": 3.6, "B": 2.4 + 1, "C": 1.2 + 1, "D": 0},
    ),
    "an empty rank is none": (
        ".csv", "ranking,competitor,rank\n1,oak,1\n1,elm,2\n1,ash,\n2,oak,1\n2,elm,2\n2,ash,\n",
        {"oak": 2, "elm": 0},
    ),
    "names alike": (
        ".csv", "model_a,model_b,winner\ncaf\u00e9,elm,model_a\ncafe\u0301,elm,model_b\nelm,caf\u00e9 ,model_b\n",
        {"caf\u00e9": 2, "elm": 1},
    ),
    "a team's initial": (
        ".csv", "WTeam,LTeam,WScore,LScore\noak,elm,3,1\nelm,ash,2,0\nash,oak,1,0\n",
        {"oak": 1, "elm": 1, "ash": 1},
    ),
}  # fmt: skip
SAID = {
    "not played": "Left out 1 vote: not played",
    "case of names": "without regard to case: ASH, OAK",
    "rank 0 is none": "4 competitors without a rank",
    "an empty rank is none": "outcomes={'unranked': 'last'} counts them last",
    "names alike": "were read as one",
}


def written(name, folder):
    """Write a case to a file."""
    ending, text, _ = CASES[name]
    path = folder / f"votes{ending}"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", CASES)
def test_files_are_read_as_their_authors_mean(name, tmp_path):
    votes = read_votes(written(name, tmp_path))
    assert score(votes) == pytest.approx(CASES[name][2])
    assert SAID.get(name, "") in " ".join(map(str, votes.remarks))


def test_columns_of_a_layout_have_other_names(tmp_path):
    path = written("pair and winner by other names", tmp_path)
    votes = read_votes(path, layout="pair-cell", a="options", winner="overall_quality")
    assert score(votes) == {"oak": 2, "elm": 1, "ash": 0}


def test_the_unranked_may_be_last(tmp_path):
    path = written("an empty rank is none", tmp_path)
    votes = read_votes(path, outcomes={"unranked": "last"})
    assert score(votes) == {"oak": 3, "elm": 1.5, "ash": 0}


def test_two_that_are_unranked_tie_for_the_last_place():
    ranks = {"rank_oak": ["1"], "rank_elm": [""], "rank_ash": ["0"]}
    votes = read_votes(ranks, outcomes={"unranked": "last"})
    assert score(votes) == pytest.approx({"oak": 4 / 3, "elm": 1 / 3, "ash": 1 / 3})


@pytest.mark.parametrize("layout", ["two-scores", "annotator-columns"])
def test_a_layout_that_does_not_fit_names_its_columns(layout, tmp_path):
    path = written("a team's initial", tmp_path)
    with pytest.raises(VotesError, match=r"needs the two competitors \(a=, b=.*WTeam"):
        read_votes(path, layout=layout)
