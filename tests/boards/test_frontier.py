"""Score against price: probabilities with known answers, and which to ship."""

import numpy as np
import pandas as pd
import pytest

import bayes_arena as ba
from bayes_arena.boards.frontier import describe_choice, frontier_columns, frontier_of
from bayes_arena.boards.standing import standing_of

NAMES = ("ant", "bee", "cat", "dog")


def wins(counts):
    """Votes in which the first of each pair wins so many, and the second the others."""
    rows = []
    for (first, second), (won, lost) in counts.items():
        rows += [(first, second, "model_a")] * won + [(first, second, "model_b")] * lost
    return pd.DataFrame(rows, columns=["model_a", "model_b", "winner"])


def standing_by_score(scores, votes=40):
    """Return the standing of competitors, the first wins a share of the votes."""
    counts = {}
    for i, first in enumerate(NAMES):
        for j in range(i + 1, len(NAMES)):
            won = round(votes / (1 + np.exp(scores[j] - scores[i])))
            counts[first, NAMES[j]] = (won, votes - won)
    return standing_of(ba.fit(wins(counts)))


def frontier(scores, price, **options):
    return frontier_of(standing_by_score(scores, **options), np.asarray(price, float))


def test_the_cheapest_is_on_the_frontier_and_a_dearer_worse_one_is_not():
    columns = frontier_columns(frontier([2, 1, 0, -1], [3.0, 1.0, 2.0, 4.0]))
    assert columns["competitor"].tolist() == ["bee", "cat", "ant", "dog"]
    assert columns["p_frontier"][0] == 1
    assert columns["p_frontier"][2] > 0.99
    assert columns["p_frontier"][3] < 0.01


def test_of_two_p_is_that_of_being_ahead():
    found = frontier([0.3, 0.0, -2, -2], [2.0, 1.0, np.nan, np.nan])
    ahead = found.standing.p_above(*np.array([[0], [1]]))
    assert found.p_frontier[1] == pytest.approx(ahead[0], abs=0.01)


def test_of_equally_cheap_ones_one_is_on_the_frontier():
    p = frontier([0.2, 0.1, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]).p_frontier
    assert p.sum() == pytest.approx(1)
    assert p.min() > 0


def test_the_scores_are_those_of_the_board():
    found = frontier([2, 1, 0, -1], [3.0, 1.0, 2.0, np.nan])
    board = ba.leaderboard(found.standing.fit).set_index("competitor")
    columns = frontier_columns(found)
    for name in ("elo", "lower", "upper"):
        expected = board.loc[columns["competitor"], name]
        np.testing.assert_allclose(columns[name], expected)


@pytest.mark.parametrize(
    "price, sentence",
    [
        ([5, 9, 2, 1], "Ship ant: P above 0.99 that nobody cheaper is better."),
        ([1, 3, 2, 9], "Ship ant: nobody is cheaper or has a higher score."),
        (
            [5, 9, np.nan, 1],
            "Of the 3 competitors with a price, ship ant: P above 0.99 that nobody cheaper "
            "is better.",
        ),
        ([np.nan, np.nan, np.nan, 9], ""),
    ],
)
def test_the_best_is_shipped_where_it_surely_is(price, sentence):
    assert describe_choice(frontier([2, 0, -1, -2], price)) == sentence


def test_of_the_dearest_is_said_how_far_the_best_of_the_cheaper_ones_is_behind():
    found = frontier([2, 0, -1, -2], [1250.5, 3, 2, 1])
    elo = frontier_columns(found)["elo"]  # the cheapest first
    text = (
        "obody cheaper by cost is as good as ant (P above 0.99); bee costs 3 and is "
        f"{elo[-1] - elo[-2]:.0f} Elo behind."
    )
    assert describe_choice(found, "cheaper by cost") == f"N{text}"
    some = frontier([2, 0, -1, -2], [1250.5, 3, 2, np.nan])
    said = describe_choice(some, "cheaper by cost")
    assert said.startswith("Of the 3 competitors with a price, nobody cheaper by cost")
    same = describe_choice(frontier([2, 0, -1, -2], [3, 3, 3, 3]))
    assert same == "Ship ant: P above 0.99 that nobody cheaper is better."


def test_a_cheaper_one_is_shipped_where_the_best_may_be_no_better():
    found = frontier([1.05, 1.0, -1, -2], [90, 3, 2, 1])
    text = describe_choice(found, "cheaper by cost_out")
    assert text.startswith(
        "Ship bee: P above 0.99 that nobody cheaper by cost_out is better."
    )
    assert " ant is dearer, and not surely better (P 0." in text
    dearest = describe_choice(frontier([1.05, 1.0, -1, -2], [90, 1, 2, 3]))
    assert dearest.startswith("Ship bee: nobody is cheaper. ant is dearer, and not")


def test_who_has_no_rank_is_no_choice():
    votes = wins({("ant", "bee"): (30, 10), ("new", "bee"): (3, 0)})
    found = frontier_of(standing_of(ba.fit(votes)), np.array([2.0, 3.0, 1.0]))
    assert list(frontier_columns(found)["competitor"]) == ["ant", "bee"]
    assert describe_choice(found).startswith(
        "Of the 2 competitors with a rank, ship ant: nobody is cheaper"
    )


def test_a_cheap_one_of_few_votes_is_no_bargain():
    """Nobody is surely better than 'new', and yet a cheaper one probably is."""
    strong = {("ant", "bee"): (400, 100), ("bee", "cat"): (300, 200)}
    votes = wins(strong | {("cat", "new"): (7, 4)})
    found = frontier_of(standing_of(ba.fit(votes)), np.array([9.0, 1.0, 8.0, 2.0]))
    names = [found.standing.competitors[code] for code in found.codes]
    new = names.index("new")
    assert found.p_better(new).max() > 0.5 and found.p_frontier[new] < 0.5
    assert "Nobody cheaper is as good as ant" in describe_choice(found)


def test_where_votes_do_not_compare_all_nothing_is_said():
    with pytest.warns(ba.errors.ArenaWarning):
        fit = ba.fit(wins({("ant", "bee"): (30, 10), ("cat", "dog"): (30, 10)}))
    assert describe_choice(frontier_of(standing_of(fit), np.arange(4.0))) == ""
