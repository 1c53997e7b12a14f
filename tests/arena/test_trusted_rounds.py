"""Rounds that find out first whose votes count."""

import json

import pytest
from crowds import Crowd, honest_arena
from helpers import run, table_of

import bayes_arena as ba

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.ArenaWarning")
RIGGERS = ["rigger-00001", "rigger-00002", "rigger-00003"]


@pytest.fixture
def arena(rigged, tmp_path):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(table_of(rigged))
        yield arena


@pytest.mark.slow
def test_a_round_rates_the_votes_that_count_and_warns_of_the_others(arena, guarded):
    round = arena.rate()
    assert round.ratings["elo"].tolist() == ba.leaderboard(guarded)["elo"].tolist()
    assert sorted(round.left_out) == RIGGERS and set(RIGGERS) <= set(round.flagged)
    favourite = round.fit.trust.favours(round.fit.trust.cells.annotators.index(RIGGERS[0]))
    assert round.left_out[RIGGERS[0]].startswith(f"{favourite}, probability 1.000")
    decisions = arena.decisions()
    assert sorted(decisions["annotator"][decisions["decision"] == "left out"]) == RIGGERS
    status = arena.annotators().set_index("annotator")
    assert status["status"][RIGGERS].tolist() == ["warned"] * 3 and status["kind"][RIGGERS[0]] == favourite
    (summary,) = arena.rounds().to_dict("records")
    assert (summary["votes"], summary["left_out"]) == (1000, 3)
    assert list(summary["warnings"]) == list(round.fit.warnings) != []


@pytest.mark.slow
def test_who_is_flagged_by_a_rate_is_excluded_and_can_be_readmitted(arena):
    round = arena.rate(fdr=0.05, exclude="exclude")
    assert tuple(round.flagged) == ba.flag(round.fit) and set(RIGGERS) <= set(round.flagged)
    assert "favours" in round.flagged[RIGGERS[0]] and round.flagged[RIGGERS[0]].endswith("false discovery rate 0.05")
    second = arena.rate()
    assert set(RIGGERS) <= set(second.excluded) and not second.left_out
    assert arena.rounds()["left_out"].tolist() == [3, 0]
    arena.readmit(RIGGERS[0])
    assert set(arena.annotators().set_index("annotator")["status"][RIGGERS[:2]]) == {"excluded", "waiting"}


@pytest.mark.slow
def test_who_is_left_out_and_not_flagged_is_named_too(arena):
    round = arena.rate(fdr=1e-300)  # nobody is so sure
    assert not round.flagged and sorted(round.left_out) == RIGGERS
    assert set(arena.annotators().set_index("annotator")["status"][RIGGERS]) == {"left out"}


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"guard": False}, {"model": "am-elo", "prior": "flat"}])
def test_nobody_is_left_out_where_it_is_not_asked_for(arena, rigged, options):
    round = arena.rate(**options)
    assert (round.fit.trust, round.left_out) == (None, {})
    assert round.ratings["elo"].tolist() == ba.leaderboard(ba.fit(rigged, **options))["elo"].tolist()


@pytest.mark.slow
def test_the_commands_say_who_was_left_out(rigged, tmp_path):
    path, votes = tmp_path / "arena.duckdb", tmp_path / "votes.csv"
    table_of(rigged).write_csv(votes)
    run("arena", "init", path)
    run("arena", "add", path, votes)
    shown = run("arena", "rate", path).stdout
    assert "left out: 120 votes, cast to move model-001\n" in shown and "3 warned: rigger-0000" in shown
    answer = json.loads(run("arena", "rate", path, "--robust", "off", "--format", "json").stdout)
    assert (answer["n_votes"], answer["trust"]) == (1120, None)
    answer = json.loads(run("arena", "history", path, "--format", "json").stdout)
    assert [row["left_out"] for row in answer["rounds"]] == [3, 0]
    assert [row["settings"]["guard"] for row in answer["rounds"]] == ["auto", False]
    assert {row["annotator"] for row in answer["decisions"] if row["decision"] == "left out"} == set(RIGGERS)
    for command, options in (("rank", []), ("annotators", ["--fdr", "0.05"])):
        answer = json.loads(run(command, votes, *options, "--format", "json").stdout)
        trust = answer["trust"]
        assert [row["annotator"] for row in trust["left_out"]] == RIGGERS
        assert {(row["kind"], row["votes"]) for row in trust["left_out"]} == {("favours model-001", 40)}
        assert (trust["unjudged"], trust["campaigns"], trust["drips"]) == (None, [], [])
        assert any("Left out: 120 votes" in text for text in answer["warnings"])
    assert {row["annotator"] for row in answer["annotators"] if row["flagged"]} >= set(RIGGERS)
    assert (
        run("rank", votes, "--robust", "off", "--format", "csv").stdout.splitlines()[0]
        == (run("rank", votes, "--format", "csv").stdout.splitlines()[0])
    )


@pytest.mark.slow
def test_a_round_that_can_judge_nobody_says_so_and_publishes_the_wider_intervals(tmp_path):
    camps = honest_arena(Crowd(annotators=60, camp_sd=1.0), competitors=16, votes=6000, seed=3).cells
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(table_of(camps))
        for rules in ({}, {"fdr": 0.05, "exclude": "exclude"}):
            round = arena.rate(**rules)
            assert (round.fit.model.name, round.flagged, round.left_out) == ("bradley-terry", {}, {})
            board = ba.leaderboard(round.fit)
            assert board.attrs["interval"] == "clustered" and round.ratings["lower"].tolist() == board["lower"].tolist()
        assert "nobody is judged" in arena.rounds()["warnings"][0][0]
