"""Ten formats of public files that are in no list of ours, found by searching.

Small files in their columns; each is read as it is, by options, or refused with a remedy that
reads it when it is typed.
"""

# ruff: noqa: E501

import json
from dataclasses import dataclass, field

import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.read import read_votes
from bayes_arena.said import Use
from tests.reading.test_layouts import score

AS_IT_IS, BY_OPTIONS, REFUSED = "as it is", "by options", "refused with a remedy"


@dataclass(frozen=True)
class Format:
    """A public format: where it is from, a file, how it is read, and who won."""

    source: str
    ending: str
    text: str
    way: str
    score: dict[str, float]
    options: dict[str, object] = field(default_factory=dict)


def team(name, **fields):
    return {"name": name, **fields}


FORMATS = [
    Format(
        "github.com/Toloka/IMDB-WIKI-SbS, crowd_labels.csv", ".csv",
        "left,right,label,performer\nhttps://x.org/1.jpg,https://x.org/2.jpg,https://x.org/1.jpg,p1\n"
        "https://x.org/2.jpg,https://x.org/3.jpg,https://x.org/3.jpg,p2\n",
        AS_IT_IS, {"https://x.org/1.jpg": 1, "https://x.org/2.jpg": 0, "https://x.org/3.jpg": 1},
    ),
    Format(
        "github.com/fivethirtyeight/data, nba-elo/nbaallelo.csv", ".csv",
        "game_id,lg_id,_iscopy,date_game,team_id,pts,elo_i,opp_id,opp_pts,opp_elo_i,game_location,game_result,forecast\n"
        "g1,NBA,0,11/1/1946,TRH,66,1300,NYK,68,1300,H,L,0.64\ng1,NBA,1,11/1/1946,NYK,68,1300,TRH,66,1300,A,W,0.36\n",
        BY_OPTIONS, {"NYK": 1, "TRH": 0}, {"winner": "pts,opp_pts"},
    ),
    Format(
        "github.com/openfootball/football.json, 2015-16/en.1.json", ".json",
        json.dumps({"name": "English Premier League 2015/16", "rounds": [
            {"name": "Matchday 1", "matches": [
                {"date": "2015-08-08", "team1": team("Oak", key="oak", code="OAK"), "team2": team("Elm", key="elm", code="ELM"), "score1": 1, "score2": 0}]},
            {"name": "Matchday 2", "matches": [
                {"date": "2015-08-15", "team1": team("Elm", key="elm", code="ELM"), "team2": team("Oak", key="oak", code="OAK"), "score1": 2, "score2": 2}]}]}),
        AS_IT_IS, {"Oak": 1.5, "Elm": 0.5},
    ),
    Format(
        "docs.football-data.org, v4 matches", ".json",
        json.dumps({"filters": {"season": "2022"}, "resultSet": {"count": 2}, "matches": [
            {"id": 1, "utcDate": "2022-11-20", "status": "FINISHED", "homeTeam": team("Oak", id=1, shortName="O"), "awayTeam": team("Elm", id=2, shortName="E"),
             "score": {"winner": "AWAY_TEAM", "fullTime": {"home": 0, "away": 2}, "halfTime": {"home": 0, "away": 2}}},
            {"id": 2, "utcDate": "2022-11-21", "status": "FINISHED", "homeTeam": team("Elm", id=2, shortName="E"), "awayTeam": team("Oak", id=1, shortName="O"),
             "score": {"winner": "DRAW", "fullTime": {"home": 1, "away": 1}, "halfTime": {"home": 0, "away": 0}}}]}),
        REFUSED, {"Elm": 1.5, "Oak": 0.5},
    ),
    Format(
        "github.com/statsbomb/open-data, data/matches", ".json",
        json.dumps([
            {"match_id": 1, "match_date": "2004-02-07", "home_team": {"home_team_id": 46, "home_team_name": "Oak"}, "away_team": {"away_team_id": 1, "away_team_name": "Elm"}, "home_score": 1, "away_score": 3, "match_status": "available"},
            {"match_id": 2, "match_date": "2004-02-14", "home_team": {"home_team_id": 1, "home_team_name": "Elm"}, "away_team": {"away_team_id": 46, "away_team_name": "Oak"}, "home_score": 1, "away_score": 1, "match_status": "available"}]),
        AS_IT_IS, {"Elm": 1.5, "Oak": 0.5},
    ),
    Format(
        "huggingface.co/datasets/yuvalkirstain/pickapic_v2_no_images", ".csv",
        "are_different,best_image_uid,caption,has_label,image_0_uid,image_1_uid,label_0,label_1,model_0,model_1,ranking_id,user_id\n"
        "True,u1,cat,True,u1,u2,1.0,0.0,sd-oak,sd-elm,1,5\nTrue,u4,dog,True,u3,u4,0.5,0.5,sd-elm,sd-ash,2,5\nTrue,u6,fox,True,u5,u6,0.0,1.0,sd-oak,sd-ash,3,6\n",
        REFUSED, {"sd-oak": 1, "sd-elm": 0.5, "sd-ash": 1.5},
    ),
    Format(
        "huggingface.co/datasets/vwxyzjn/summarize_from_feedback_oai_preprocessing", ".csv",
        "info,choice,worker,batch,chosen,rejected,chosen_token_len,rejected_token_len,chosen_policy,rejected_policy,policies\n"
        "x,1,w1,b,A text.,Another text.,5,9,sup4_ppo,ref,sup4_ppo--ref\nx,0,w2,b,A third text.,A text.,7,5,ref,sup1,ref--sup1\n",
        AS_IT_IS, {"sup4_ppo": 1, "ref": 1, "sup1": 0},
    ),
    Format(
        "huggingface.co/datasets/HannahRoseKirk/prism-alignment, utterances.jsonl", ".jsonl",
        "\n".join(json.dumps({"utterance_id": f"u{k}", "interaction_id": f"i{k // 3}", "user_id": "p1", "turn": 0, "within_turn_id": k % 3,
                              "model_name": ("oak", "elm", "ash")[k % 3], "if_chosen": k % 3 == 0, "score": (90, 40, 40)[k % 3] - k}) for k in range(6)),
        REFUSED, {"oak": 3, "elm": 1.5, "ash": 0},
    ),
    Format(
        "api-football.com, v3 fixtures", ".json",
        json.dumps({"get": "fixtures", "results": 2, "response": [
            {"fixture": {"id": 1, "status": {"short": "FT"}}, "teams": {"home": team("Oak", id=1, winner=True), "away": team("Elm", id=2, winner=False)}, "goals": {"home": 2, "away": 1}},
            {"fixture": {"id": 2, "status": {"short": "FT"}}, "teams": {"home": team("Elm", id=2, winner=None), "away": team("Oak", id=1, winner=None)}, "goals": {"home": 0, "away": 0}}]}),
        BY_OPTIONS, {"Oak": 1.5, "Elm": 0.5},
        {"a": "teams.home.name", "b": "teams.away.name", "winner": "goals.home,goals.away"},
    ),
    Format(
        "catboost.ai/docs, concepts/input-data_pairs-description (no header)", ".tsv",
        "0\t1\t1\n2\t1\t0.5\n0\t2\t1\n1\t0\t2\n", REFUSED, {"0": 2, "1": 1, "2": 1},
    ),
]  # fmt: skip


def written(public, folder):
    """Write the file of a format."""
    path = folder / f"votes{public.ending}"
    path.write_text(public.text)
    return path


def uses_in(text):
    """Yield the remedies in a text."""
    for part in text if isinstance(text, tuple) else ():
        if isinstance(part, Use):
            yield part
        yield from uses_in(part)


def read_by_a_remedy(path, folder, error):
    """Read a file as one of the remedies of an error says, or with the header it gives."""
    if "import polars" in str(error):
        exec(str(error).split("\n", 1)[1])
        return read_votes(folder / "with_header.csv")
    tried = []
    for use in [*uses_in(error.text), *error.remedies]:
        try:
            return read_votes(path, **dict(use.arguments))
        except VotesError as other:
            tried.append(other)
    raise AssertionError(tried)


@pytest.mark.parametrize("public", FORMATS, ids=lambda public: public.source)
def test_public_formats_are_read_or_refused_with_a_remedy(
    public, tmp_path, monkeypatch
):
    path = written(public, tmp_path)
    if public.way == REFUSED:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(VotesError) as error:
            read_votes(path)
        votes = read_by_a_remedy(path, tmp_path, error.value)
    else:
        votes = read_votes(path, **public.options)
    assert score(votes) == pytest.approx(public.score)
