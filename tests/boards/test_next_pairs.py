"""Which pairs to ask about next."""

import re

import numpy as np
import pytest

import bayes_arena as ba
from bayes_arena.boards.look import Look
from bayes_arena.boards.next_pairs import describe_next, next_pair_columns
from bayes_arena.boards.pairs import pair_columns, what_pairs_lack
from bayes_arena.boards.standing import standing_of
from bayes_arena.boards.verdict import candidates_of
from bayes_arena.errors import ArenaWarning
from tests.boards.arenas import fitted, of_wins


@pytest.mark.parametrize("goal", ["best", "ranking"])
def test_only_open_pairs_are_proposed(goal):
    for seed in range(8):
        fit = fitted(8, 250, seed=seed)
        table = ba.next_pairs(fit, goal=goal, count=30)
        pairs = ba.pairs(fit).set_index(["first", "second"])
        for row in table.itertuples():
            pair = pairs.loc[(row.first, row.second)]
            assert pair["lower"] < 0 < pair["upper"]
        assert table["worth"].is_monotonic_decreasing
        assert table["worth"][0] == 1


def test_for_the_best_both_may_be_it():
    standing = standing_of(fitted(8, 200, spread=0.6, seed=0))
    candidates, p_best = candidates_of(standing)
    assert p_best[0] < 0.95
    columns = next_pair_columns(standing, "best")
    names = {standing.competitors[c] for c in candidates}
    assert {*columns["first"], *columns["second"]} <= names
    assert describe_next(standing, columns).startswith("First place is open.")


def test_where_the_best_is_settled_the_others_are_asked_about():
    votes = of_wins([("a", "b", 60), ("b", "a", 2), ("b", "c", 15), ("c", "b", 14)])
    standing = standing_of(ba.fit(votes))
    columns = next_pair_columns(standing, "best")
    assert {columns["first"][0], columns["second"][0]} == {"b", "c"}
    sentence = describe_next(standing, columns)
    assert sentence == (
        "First place is settled: a. 1 of 3 pairs is open. A vote would tell most on "
        f"{columns['first'][0]} or {columns['second'][0]}."
    )


def test_where_nothing_is_open_nothing_is_asked():
    fit = fitted(3, 3000, spread=3.0)
    assert len(ba.next_pairs(fit)) == 0
    standing = standing_of(fit)
    sentence = describe_next(standing, next_pair_columns(standing))
    assert sentence == "All places are settled: no vote is needed."


def test_groups_that_never_met_are_asked_to_meet():
    votes = of_wins([("a", "b", 200), ("b", "a", 2), ("c", "d", 200), ("d", "c", 2)])
    with pytest.warns(ArenaWarning, match="never compared"):
        fit = ba.fit(votes)
    table = ba.next_pairs(fit)
    groups = [{"a", "b"}, {"c", "d"}]
    assert len(table)
    assert not any({row.first, row.second} in groups for row in table.itertuples())


def test_a_vote_on_the_first_proposal_tells_more_than_on_the_last():
    """The variance of its gap falls most, where the order is about as open."""
    table = ba.next_pairs(fitted(6, 200, spread=0.05, seed=4), goal="ranking", count=15)
    assert (np.diff(table["worth"]) <= 0).all()
    assert table["worth"].iloc[-1] < 1


def test_options_that_make_no_sense():
    with pytest.raises(ba.errors.ModelError, match="best, ranking"):
        ba.next_pairs(fitted(), goal="worst")
    with pytest.raises(ba.errors.ModelError, match="count"):
        ba.next_pairs(fitted(), count=0)


def test_for_the_best_the_pair_has_the_leader():
    wins = [("alpha", "beta", 3), ("alpha", "gamma", 4), ("beta", "gamma", 1)]
    standing = standing_of(ba.fit(of_wins(wins)), Look(min_votes=0))
    first = next_pair_columns(standing)["first"]
    assert first[0] == "alpha"
    columns = next_pair_columns(standing, "ranking")
    assert re.match(
        "[1-3] of 3 pairs (is|are) open. A vote would tell most on ",
        describe_next(standing, columns, "ranking"),
    )


def test_no_number_of_levels_is_made_of_prompts():
    votes = ba.example_arena().votes.head(1500).reset_index(drop=True)
    number = votes.index.to_numpy()
    votes["category"] = np.array(["maths", "prose"])[number % 2]
    votes["prompt"] = (number % 40).astype(str)
    is_maths = votes["category"] == "maths"
    flip = {"model_a": "model_b", "model_b": "model_a"}
    votes.loc[is_maths, "winner"] = votes.loc[is_maths, "winner"].replace(flip)
    model = ba.Model("by category", ties="davidson", strength_by=("category",))
    fit = ba.fit(votes, model=model, slices=("category",))
    standing = standing_of(fit)
    said = describe_next(standing, next_pair_columns(standing))
    assert "would settle it" not in said
    table = pair_columns(standing)
    assert np.isnan(table["more_votes"]).any()
    (note,) = what_pairs_lack(standing, table)
    assert "more levels of category" in str(note).lower()
