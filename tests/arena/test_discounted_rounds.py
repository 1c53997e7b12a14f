"""Rounds in which some votes count in part."""

import json

import pytest
from helpers import RIGGERS, run, table_of

import bayes_arena as ba

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
TARGET = "model-003"


@pytest.fixture
def arena(rigged, tmp_path):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(table_of(rigged))
        yield arena


@pytest.mark.slow
def test_a_round_discounts_votes_and_says_so(arena, discounted):
    round = arena.rate()
    assert round.ratings["elo"].tolist() == ba.leaderboard(discounted)["elo"].tolist()
    assert round.fit.votes_discounted == discounted.votes_discounted > 0
    (summary,) = arena.rounds().to_dict("records")
    assert (summary["votes"], summary["annotators"]) == (1660, 34)  # as cast
    assert list(summary["warnings"]) == list(discounted.warnings) != []
    status = arena.annotators().set_index("annotator")
    assert status["kind"][list(RIGGERS)].tolist() == [f"promotes {TARGET}"] * 4
    assert status["verdict"][list(RIGGERS)].tolist() == ["anomalous"] * 4


@pytest.mark.slow
def test_who_is_flagged_by_a_rate_is_excluded_and_can_be_readmitted(arena, rigged):
    round = arena.rate(fdr=0.05, exclude="exclude")
    assert tuple(round.flagged) == ba.flag(round.fit) and set(RIGGERS) <= set(round.flagged)
    assert round.flagged[RIGGERS[0]].endswith("false discovery rate 0.05")
    second = arena.rate()
    assert set(RIGGERS) <= set(second.excluded) and second.fit.votes_discounted == 0
    assert arena.rounds()["votes"].tolist() == [1660, ba.drop_annotators(rigged, round.flagged).n_votes]
    arena.readmit(RIGGERS[0])
    assert set(arena.annotators().set_index("annotator")["status"][list(RIGGERS[:2])]) == {"excluded", "waiting"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"robust": False}, {"model": "am-elo", "prior": "flat"}])
def test_all_votes_count_where_nothing_else_is_asked_for(arena, rigged, options):
    round = arena.rate(**options)
    assert round.fit.promotions is None and round.fit.votes_discounted == 0
    assert round.ratings["elo"].tolist() == ba.leaderboard(ba.fit(rigged, **options))["elo"].tolist()


@pytest.mark.slow
def test_who_is_kept_or_dropped_is_recorded_in_the_round(arena, rigged):
    asked = {"keep": ["annotator-00001"], "drop": [RIGGERS[0]]}
    round = arena.rate(method="map", **asked)
    assert (round.fit.kept, round.fit.dropped) == (("annotator-00001",), RIGGERS[:1])
    assert round.ratings["elo"].tolist() == ba.leaderboard(ba.fit(rigged, method="map", **asked))["elo"].tolist()
    settings = json.loads(arena.rounds()["settings"][0])
    assert {name: settings[name] for name in ("robust", "keep", "drop")} == {"robust": "auto", **asked}
    with pytest.raises(ba.ModelError, match="'nobody'"):
        arena.rate(keep=["nobody"])
    assert len(arena.rounds()) == 1


@pytest.mark.slow
def test_the_commands_say_which_votes_do_not_count(rigged, tmp_path):
    path, votes = tmp_path / "arena.duckdb", tmp_path / "votes.csv"
    table_of(rigged).write_csv(votes)
    run("arena", "init", path)
    run("arena", "add", path, votes)
    shown = run("arena", "rate", path).stdout
    assert "1,660 votes" in shown and f"427 votes on {TARGET} do not count\n" in shown
    off = json.loads(run("arena", "rate", path, "--robust", "off", "--format", "json").stdout)
    assert (off["n_votes"], off["discounted"]) == (1660, None)
    asked = ("--keep", "annotator-00001", "--drop", RIGGERS[0], "--method", "map")
    shown = run("arena", "rate", path, *asked).stdout
    assert f"left out on request: {RIGGERS[0]}\ncounted in full on request: annotator-00001\n" in shown
    answer = json.loads(run("arena", "history", path, "--format", "json").stdout)
    settings = [row["settings"] for row in answer["rounds"]]
    assert [one["robust"] for one in settings] == ["auto", False, "auto"]
    assert [(one["keep"], one["drop"]) for one in settings] == [([], [])] * 2 + [(["annotator-00001"], [RIGGERS[0]])]
    for command, options in (("rank", []), ("annotators", ["--fdr", "0.05"]), ("integrity", [])):
        answer = json.loads(run(command, votes, *options, "--format", "json").stdout)
        (row,) = answer["discounted"]
        assert (row["competitor"], row["rank"], row["rank_alike"], row["votes"]) == (TARGET, 4, 2, 683)
        assert row["discounted"] == pytest.approx(427.5, abs=0.5) and row["contested"] is False
        assert (answer["n_votes"], answer["kept"], answer["dropped"]) == (1660, [], [])
        assert any("not those of one crowd" in text for text in answer["warnings"]), command
        text = run(command, votes, *options).stdout
        assert "1,660 votes" in text and f"427 votes on {TARGET} do not count\n" in text
    shown = run("integrity", votes).stdout
    assert all(f"{name} promotes {TARGET}: votes for it in 40 of 40 battles, where " in shown for name in RIGGERS)
    answer = json.loads(run("rank", votes, *asked, "--format", "json").stdout)
    assert (answer["kept"], answer["dropped"], answer["n_votes"]) == (["annotator-00001"], [RIGGERS[0]], 1620)
    for option in ("--keep", "--drop"):
        done = run("rank", votes, option, "rigger-0001")
        assert (done.returncode, done.stdout) == (2, "") and "Did you mean 'rigger-00001'" in done.stderr
