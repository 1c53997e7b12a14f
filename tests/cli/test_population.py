"""``--population``: a ranking for others than those who voted."""

import json

import polars as pl
import pytest
from helpers import run

import bayes_arena as ba


@pytest.mark.slow
def test_a_ranking_for_a_population(arena, tmp_path):
    people = sorted(set(arena.votes["judge"]))
    group = {name: "few" if place % 4 == 0 else "many" for place, name in enumerate(people)}
    votes, census = tmp_path / "votes.csv", tmp_path / "census.csv"
    arena.votes.with_columns(group=pl.col("judge").replace(group)).write_csv(votes)
    pl.DataFrame({"group": ["few", "many"], "share": [0.8, 0.2]}).write_csv(census)
    asked = ("--groups", "group", "--population", census)
    answer = json.loads(run("rank", votes, *asked, "--format", "json").stdout)
    plain = json.loads(run("rank", votes, *asked[:-2], "--format", "json").stdout)
    assert answer["population"] == "by group" and "population" not in plain
    assert 0 < float(answer["effective_votes"].replace(",", "")) < 0.9 * arena.votes.height
    assert [row["elo"] for row in answer["leaderboard"]] != [row["elo"] for row in plain["leaderboard"]]
    assert "ranked for the population by group, the votes worth" in run("rank", votes, *asked).stdout
    bad = run("rank", votes, "--slice", "group", "--population", census)
    assert "no strengths by 'group'" in bad.stderr and bad.returncode == 2


@pytest.mark.slow
def test_the_same_as_in_python(arena, tmp_path):
    people = sorted(set(arena.votes["judge"]))
    table = arena.votes.with_columns(
        group=pl.col("judge").replace({name: f"g{k % 2}" for k, name in enumerate(people)})
    )
    table.write_csv(tmp_path / "votes.csv")
    census = pl.DataFrame({"group": ["g0", "g1"], "count": [1, 3]})
    census.write_csv(tmp_path / "census.csv")
    asked = ("--groups", "group", "--model", "davidson")
    answer = json.loads(
        run("rank", tmp_path / "votes.csv", *asked, "--population", tmp_path / "census.csv", "--format", "json").stdout
    )
    fit = ba.fit(table, groups="group", model="davidson").of_population(census)
    assert [row["competitor"] for row in answer["leaderboard"]] == ba.leaderboard(fit)["competitor"].tolist()
