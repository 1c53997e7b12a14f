"""Commands for the questions of a leaderboard's readers."""

import json
import warnings

import polars as pl
import pytest
from helpers import run

import bayes_arena as ba
from bayes_arena.cli.output import rounded

PLAIN = ("--model", "bradley-terry")


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory, arena):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    arena.votes.write_csv(path)
    return path


@pytest.fixture(scope="module")
def fit(arena_cells):
    return ba.fit(arena_cells, model="bradley-terry")


@pytest.mark.slow
def test_boards_are_one_table_and_name_what_is_missing(arena, tmp_path):
    """All votes of one judge are wins of the same competitor: no robust interval is finite there."""
    one = arena.votes.filter(model_a="model-1").with_columns(judge=pl.lit("unanimous"), winner=pl.lit("model_a"))
    pl.concat([arena.votes, one]).write_csv(tmp_path / "votes.csv")
    asked = ("--by", "judge", "--no-annotator", "--model", "m-elo", "--prior", "flat", "--interval", "sandwich")
    answer = json.loads(run("boards", tmp_path / "votes.csv", *asked, "--format", "json").stdout)
    cells = ba.read_votes(tmp_path / "votes.csv", annotator=False, slices=["judge"])
    with warnings.catch_warnings(action="ignore"):
        table = ba.leaderboards(ba.fit_many(cells, "judge", model="m-elo", prior="flat"), interval="sandwich")
    failed = {tuple(missing["board"]): missing["why"] for missing in answer["failed"]}
    assert ("unanimous",) in failed and failed == table.attrs["failed"]
    assert [list(row.values()) for row in answer["leaderboards"]] == rounded(table.to_numpy().tolist())
    shown = run("boards", tmp_path / "votes.csv", *asked).stdout
    assert "m-elo, 6 boards by judge, sandwich intervals" in shown
    assert shown.split("\n\n")[1].split()[:2] == ["judge", "rank"]


@pytest.mark.slow
def test_boards_of_weeks_say_how_strengths_that_move_differ(arena, tmp_path):
    row = pl.int_range(pl.len())
    week, half = pl.format("2024-0{}-01", 1 + row % 2), pl.format("half {}", row % 2)
    arena.votes.with_columns(week=week, half=half).write_csv(tmp_path / "votes.csv")
    said = [run("boards", tmp_path / "votes.csv", *PLAIN, "--by", by).stdout for by in ("week", "half")]
    assert ["for strengths that move in one fit: rank --drift" in one for one in said] == [True, False]


@pytest.mark.slow
def test_of_two_pairs_says_what_the_function_does(votes_file, fit):
    found = ba.versus(fit, "model-1", "model-2")
    asked = ("pairs", votes_file, "--between", "model-1", "model-2", *PLAIN)
    assert str(found) in " ".join(run(*asked).stdout.split())
    answer = json.loads(run(*asked, "--format", "json").stdout)
    (row,) = answer["pairs"]
    assert answer["sentence"] == str(found)
    assert row == rounded({name: getattr(found, name) for name in row})


def test_whom_nobody_knows_is_refused_with_a_proposal(votes_file):
    done = run("pairs", votes_file, "--between", "model-1", "model-22", *PLAIN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no 'model-22'. Did you mean 'model-2'" in done.stderr


@pytest.mark.slow
def test_pairs_come_with_the_least_settled_first(votes_file, fit):
    answer = json.loads(run("pairs", votes_file, *PLAIN, "--format", "json").stdout)
    rows = answer["pairs"]
    assert (answer["n_pairs"], len(rows)) == (15, 15)
    assert answer["n_unsettled"] == sum(not row["settled"] for row in rows)
    assert [row["p_better"] for row in rows] == rounded(ba.pairs(fit)["p_better"].tolist())
    assert [row["p_better"] for row in rows] == sorted(row["p_better"] for row in rows)
    two = run("pairs", votes_file, *PLAIN, "-n", 2).stdout
    assert f"not settled at 95 %: {answer['n_unsettled']} of 15 pairs; the 2 least settled are shown" in two
    assert rows[1]["competitor"] in two and len(two.splitlines()) == 9


@pytest.mark.slow
def test_next_asks_for_the_pairs_of_the_function(votes_file, fit):
    answer = json.loads(run("next", votes_file, *PLAIN, "-n", 4, "--seed", 2, "--format", "json").stdout)
    assert answer["pairs"] == ba.next_pairs(fit, 4, seed=2).to_dict("records")
    ranking = run("next", votes_file, *PLAIN, "-n", 2, "--goal", "ranking").stdout
    assert "P(best)" not in ranking and ranking.count("votes so far") == 2


def test_the_help_groups_commands_by_question():
    said = run("--help").stdout
    assert said.index("Which competitor") < said.index("pairs") < said.index("Who votes how") < said.index("integrity")
