"""Shares of a population: read from tables of groups and of their combinations."""

import polars as pl
import pytest

import bayes_arena as ba
from bayes_arena.votes.reading.shares import read_shares


def test_combinations_are_summed_by_kind(tmp_path):
    rows = [("young", "IN", 0.4), ("young", "US", 0.1), ("old", "IN", 0.2), ("old", "US", 0.3)]
    table = pl.DataFrame(rows, schema=["age", "country", "share"], orient="row")
    table.write_csv(path := tmp_path / "census.csv")
    for source in (table, path, table.to_pandas()):
        found = read_shares(source)
        assert found == {
            "age": pytest.approx({"young": 0.5, "old": 0.5}),
            "country": pytest.approx({"IN": 0.6, "US": 0.4}),
        }


def test_numbers_of_people_are_shares_of_their_sum():
    assert read_shares(pl.DataFrame({"age": [1, 2], "People": [30, 10]})) == {"age": {"1": 0.75, "2": 0.25}}


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ({"age": ["a"], "part": [1.0]}, ba.errors.ColumnError, "one column called 'share'.*has 'age', 'part'"),
        ({"age": ["a"], "share": [1.0], "count": [3]}, ba.errors.ColumnError, "one column"),
        ({"share": [1.0]}, ba.errors.ColumnError, "a column for each kind"),
        ({"age": ["a", "b"], "share": ["0.5", "half"]}, ba.VotesError, r"not 'half' \(row 1\)"),
        ({"age": ["a", "b"], "share": [1.5, -0.5]}, ba.VotesError, r"'-0\.5' \(row 1\)"),
        ({"age": ["a", "b"], "share": [0.5, 0.4]}, ba.VotesError, r"sum to 0\.9, not to 1"),
        ({"age": ["a", None], "share": [0.5, 0.5]}, ba.VotesError, "no name: row 1"),
    ],
)
def test_bad_tables_are_refused(columns, error, said):
    with pytest.raises(error, match=said):
        read_shares(pl.DataFrame(columns))


def test_an_empty_file_is_named(tmp_path):
    (path := tmp_path / "census.csv").touch()
    with pytest.raises(ba.VotesError, match=r"Cannot read .*census\.csv.*it is empty"):
        read_shares(path)
