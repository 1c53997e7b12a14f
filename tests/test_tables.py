"""Tables in every form: what people see, and what programs read."""

import csv
import io
import json

import numpy as np
import pytest

from bayes_arena import tables

SHOWN = {
    "rank": ["1", "2"],
    "competitor": ["oak", "a model with a long name"],
    "95% interval": ["1080 … 1231", "990 … 1010"],
}


def lines(*args, **options):
    return tables.text_table(*args, **options).splitlines()


def test_a_table_is_aligned_numbers_to_the_right():
    assert lines(SHOWN) == [
        " rank  competitor                95% interval",
        " " + "─" * 44,
        "    1  oak                        1080 … 1231",
        "    2  a model with a long name    990 … 1010",
    ]


@pytest.mark.parametrize("width", range(20, 60, 3))
def test_a_table_is_no_wider_than_the_terminal(width):
    table = lines(SHOWN, width, spare=("95% interval",))
    body = [line for line in table if not line.startswith("Not shown")]
    assert max(map(len, body)) <= width


def test_long_texts_are_folded_between_words_and_nothing_is_lost():
    table = lines(SHOWN, 40)
    assert table[-2:] == [
        "    2  a model with a long    990 … 1010",
        "       name",
    ]


def test_a_word_that_is_too_long_is_broken():
    assert tables.fold("abcdefghij kl", 4) == ["abcd", "efgh", "ij", "kl"]
    assert tables.fold("", 4) == [""]
    assert tables.fold("模型模型", 5) == ["模型", "模型"]


def test_dispensable_columns_go_first_and_are_named():
    table = lines(SHOWN, 30, spare=("95% interval",))
    assert table[-1] == "Not shown in 30 columns: 95% interval."
    assert "interval" not in table[0]


def test_wide_and_combining_characters_are_counted_as_shown():
    shown = {"name": ["模型", "cafe\u0301", "oak"], "n": ["1", "2", "3"]}
    table = lines(shown)
    assert table[2] == " 模型  1"
    assert table[3] == " cafe\u0301  2"


def test_names_cannot_control_a_terminal():
    text = tables.text_table({"name": ["a\x1b[2Jb\rc", "\u202eabc"], "n": ["1", "2"]})
    assert "\x1b" not in text and "\r" not in text and "\u202e" not in text
    assert r"\x1b[2J" in text


def test_an_empty_table_has_its_heading():
    assert lines({"name": [], "n": []})[0] == " name  n"


def test_markdown_shows_names_as_text():
    text = tables.markdown_table({"name": ["a|b", "*c*"], "n": ["1", "2"]})
    assert text.splitlines()[1] == "| --- | ---: |"
    assert r"a\|b" in text and r"\*c\*" in text


def test_html_escapes():
    text = tables.html_table({"name": ["<script>"], "n": ["1"]})
    assert "&lt;script&gt;" in text and "<script>" not in text


WIDE_EQUALS = "\N{FULLWIDTH EQUALS SIGN}1"


@pytest.mark.parametrize(
    "name", ["=1+1", "+1", "-1", "@A1", " =1", "\t=1", WIDE_EQUALS, "\N{MINUS SIGN}1"]
)
def test_a_formula_is_no_formula_in_csv(name):
    text = tables.csv_text({"competitor": [name, "b=1"]})
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[1][0] == f"'{name}"
    assert rows[2][0] == "b=1"


def test_numbers_in_csv_have_their_sign():
    assert tables.csv_text({"gap": np.array([-1.5])}) == "gap\n-1.5\n"


def test_records_are_plain_json():
    columns = {
        "name": np.array(["a", "b"], dtype=object),
        "n": np.array([1, 2]),
        "elo": np.array([np.nan, 1.5]),
        "bound": [np.inf, 2.0],
        "flag": np.array([True, False]),
    }
    rows = json.loads(json.dumps(tables.records(columns), allow_nan=False))
    assert rows[0] == {"name": "a", "n": 1, "elo": None, "bound": None, "flag": True}
    assert rows[1] == {"name": "b", "n": 2, "elo": 1.5, "bound": 2, "flag": False}


def test_no_columns_are_no_records():
    assert tables.records({}) == []


def test_a_dataframe_has_the_columns():
    frame = tables.dataframe({"a": [1, 2], "b": np.array([0.5, np.nan])})
    assert list(frame) == ["a", "b"]
    assert frame["b"].isna().tolist() == [False, True]


def test_tables_are_stacked_by_name():
    parts = [{"x": [1], "y": ["a"]}, {"y": ["b", "c"], "x": [2, 3]}]
    columns = tables.stacked(parts)
    assert columns["x"].tolist() == [1, 2, 3]
    assert columns["y"].tolist() == ["a", "b", "c"]
