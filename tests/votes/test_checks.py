import numpy as np
from helpers import frame

import bayes_arena as ba
from bayes_arena.votes.records import never_beaten_groups, records


def found(rows) -> dict[str, tuple[str, str]]:
    table = ba.check(ba.read_votes(frame(rows)))
    return {row.check: (row.status, row.found) for row in table.itertuples()}


def test_healthy_votes_pass():
    report = found([(a, b, w) for a, b in ("xy", "yz", "zx") for w in ("model_a", "model_b")])
    assert {status for status, _ in report.values()} == {"ok"}


def test_disconnected_groups_are_named():
    cells = ba.read_votes(frame([("x", "y", "tie"), ("y", "z", "tie"), ("p", "q", "tie")]))
    assert cells.components.tolist() == [1, 1, 0, 0, 0]
    status, text = found([("x", "y", "tie"), ("y", "z", "tie"), ("p", "q", "tie")])["connected comparisons"]
    assert (status, text) == ("warning", "2 groups; apart from the largest: p, q")


def test_perfect_and_hopeless_records_are_named():
    rows = [("best", "x", "model_a"), ("x", "y", "model_a"), ("y", "x", "model_a"), ("worst", "y", "model_b")]
    report = found(rows)
    assert report["won every vote"] == ("warning", "best")
    assert report["lost every vote"] == ("warning", "worst")


def test_ford_sees_groups_as_well_as_single_competitors():
    """Two competitors who split their votes and beat all others have finite records but no finite estimate."""
    rows = [
        ("a", "b", "model_a"),
        ("b", "a", "model_a"),
        ("a", "x", "model_a"),
        ("b", "x", "model_a"),
        ("x", "y", "tie"),
    ]
    assert never_beaten_groups(ba.read_votes(frame(rows))) == [["a", "b"]]
    report = found(rows)
    assert report["won every vote"][0] == "ok"
    assert report["finite estimate (Ford)"] == ("warning", "never beaten by the rest: a, b")


def test_a_tie_is_enough_for_ford():
    rows = [("a", "b", "model_a"), ("a", "b", "tie")]
    assert never_beaten_groups(ba.read_votes(frame(rows))) == []


def test_a_lone_component_is_not_called_unbeaten():
    rows = [("a", "b", "tie"), ("p", "q", "tie")]
    assert never_beaten_groups(ba.read_votes(frame(rows))) == []


def test_annotators_with_few_votes_and_side_bias():
    report = found([("x", "y", "model_a", "k1")] * 60 + [("x", "y", "tie", "k2")] * 50)
    assert report["votes per annotator"] == ("warning", "median 55, minimum 50; 1 of 2 have 50 or fewer")
    assert report["first-position wins"] == ("warning", "100.0 % of decided votes")


def test_dropped_votes_are_reported():
    table = frame([("x", "y", "tie"), ("x", "x", "tie")])
    import pytest

    with pytest.warns(ba.errors.DroppedVotesWarning):
        cells = ba.read_votes(table, on_invalid="drop")
    row = ba.check(cells).iloc[0]
    assert (row["status"], row["found"]) == ("warning", "1 competitor against itself")


def test_records_count_every_vote_from_both_sides(arena, arena_cells):
    wins, losses, ties = records(arena_cells)
    name = arena_cells.competitors[2]
    votes = arena.votes.to_pandas()
    left, right = votes[votes["model_a"] == name], votes[votes["model_b"] == name]
    assert wins[2] == (left["winner"] == "model_a").sum() + (right["winner"] == "model_b").sum()
    assert losses[2] == (left["winner"] == "model_b").sum() + (right["winner"] == "model_a").sum()
    assert ties[2] == (left["winner"] == "tie").sum() + (right["winner"] == "tie").sum()
    assert wins.sum() == losses.sum()
    assert np.sum(wins + losses + ties) == 2 * arena_cells.n_votes


def test_one_tie_is_neither_a_perfect_nor_a_hopeless_record():
    report = found([("a", "b", "model_a"), ("a", "b", "tie")])
    assert report["won every vote"] == report["lost every vote"] == ("ok", "none")


def test_the_first_position_is_suspect_beyond_three_standard_errors():
    for first, status in ((64, "ok"), (66, "warning"), (36, "ok"), (34, "warning")):  # of 100; the error is 5
        rows = [("x", "y", "model_a")] * first + [("x", "y", "model_b")] * (100 - first) + [("x", "y", "tie")] * 100
        assert found(rows)["first-position wins"] == (status, f"{first}.0 % of decided votes")


def test_fifty_votes_are_not_more_than_fifty():
    votes = ba.read_votes(frame([("x", "y", "x", "p")] * 51 + [("x", "y", "y", "q")] * 50))
    assert ba.keep_annotators(votes, more_than=50).annotators == ("p",)
