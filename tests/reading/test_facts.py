"""Facts about competitors: a row each, whatever a table calls them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_arena.errors import VotesError
from bayes_arena.reading.facts import prices_of, read_facts

ROWS = [
    {"maker": "Acme", "model": "nova", "price": "2.5", "year": 2024},
    {"maker": "Bolt", "model": "lark ", "price": "", "year": 2026},
]


def test_columns_of_numbers_are_numbers_and_missing_facts_are_missing():
    facts = read_facts(ROWS)
    found = facts.of(["lark", "nova", "kite"])
    assert found["maker"].tolist() == ["Bolt", "Acme", None]
    np.testing.assert_array_equal(found["price"], [np.nan, 2.5, np.nan])
    assert facts.of(["lark", "nova"])["year"].dtype == np.int64
    np.testing.assert_array_equal(prices_of(facts, ["nova", "kite"]), [2.5, np.nan])


@pytest.mark.parametrize("made", [pd.DataFrame, pl.DataFrame])
def test_a_dataframe_says_what_records_say(made):
    facts = read_facts(made(ROWS))
    assert facts.competitors == ("nova", "lark")
    assert facts.of(["nova"])["price"].tolist() == [2.5]


def test_a_file_says_what_records_say(tmp_path):
    pd.DataFrame(ROWS).to_csv(tmp_path / "models.csv")  # with numbers of rows
    facts = read_facts(tmp_path / "models.csv")
    assert facts.competitors == ("nova", "lark")
    assert list(facts.columns) == ["maker", "price", "year"]


@pytest.mark.parametrize(
    "header, named_in",
    [
        (["maker", "Model"], "Model"),
        (["name", "competitor"], "competitor"),
        (["id", "maker"], "id"),
    ],
)
def test_a_column_called_so_names_competitors_or_else_the_first(header, named_in):
    assert read_facts([dict.fromkeys(header, "x")]).named_in == named_in


@pytest.mark.parametrize(
    "header, priced_in",
    [
        (["maker", "Price"], "Price"),
        (["input_price", "cost"], "cost"),
        (["price_per_1M", "price_out"], "price_per_1M"),
        (["priceless", "accost"], None),
    ],
)
def test_prices_are_in_a_column_of_that_name_or_with_such_a_word(header, priced_in):
    assert (
        read_facts([{"model": "a"} | dict.fromkeys(header, "1")]).priced_in == priced_in
    )


def test_ids_stay_texts():
    table = [{"model": "a", "id": "007", "hash": "12345678901234567890"}]
    assert read_facts(table).of(["a"])["id"].tolist() == ["007"]
    assert read_facts(table).of(["a"])["hash"].tolist() == ["12345678901234567890"]


@pytest.mark.parametrize(
    "rows, message",
    [
        ([{"model": "a", "Votes": 1}], "of its own called Votes. Rename"),
        (
            [{"model": "a", "95": 1}, {"model": "a", "95": 2}],
            "Rows 0 and 1 differ on 'a'",
        ),
        ([{"model": "", "maker": "x"}], "Row 0 has nothing in 'model'"),
        ([{"model": "a"}], "a column of names only"),
        ([{"model": "a", "price": "$2"}, {"model": "b", "price": "1"}], r"\$2 \(a\)"),
        ([{"model": "a", "cost": "-1"}], r"in 'cost': -1.0 \(a\)"),
    ],
)
def test_what_cannot_be_used_is_named(rows, message):
    with pytest.raises(VotesError, match=message):
        read_facts(rows)


def test_equal_rows_and_empty_ones_are_no_fault():
    row = {"model": "a", "maker": "x"}
    assert read_facts([row, row, {"model": "", "maker": ""}]).competitors == ("a",)
