"""Answers: on the screen, in files, for programs."""

import csv
import io
import json

import pytest

from bayes_arena.cli.options import Answering
from bayes_arena.cli.output import Answer, all_columns, render
from bayes_arena.columns import TABLES, Column, meanings, number
from bayes_arena.said import Call, Note, Use
from tests.helpers import terminal

ELO = Column("elo", "a score", "Elo", number(".0f"))
ANSWER = Answer(
    key="things",
    columns={"name": ["a", "b", "c"], "elo": [1.0, float("nan"), 3.25]},
    table=(Column("name", heading="name"), ELO),
    head=["3 things", "", ("Use ", Use(prior="weak"), ".")],
    notes=[Note("ranks", "A note.", more=Call("annotators"))],
    facts={"plan": "a plan", "verdict": "a verdict"},
    n_shown=2,
    more="--all",
)


def text_of(form, **options):
    warned = [Note("prior", "careful")]
    return render(ANSWER, Answering(format=form, **options), warned, terminal("rank"))


def test_a_screen_shows_the_first_rows_and_how_many_more():
    assert text_of("table") == (
        "3 things\n\nUse --prior weak.\n\n"
        " name  Elo\n ─────────\n a       1\n b\n    …  1 more: --all\n\n"
        "A note. More: bayes-arena annotators\n"
    )


def test_explain_shows_all_rows_and_columns_and_what_they_mean():
    text = text_of("table", explain=True)
    assert "more: --all" not in text
    assert "3.25" in text
    assert "elo  a score" in text


def test_json_is_one_object_with_all_rows_and_no_nan():
    content = json.loads(text_of("json"), parse_constant=pytest.fail)
    assert content["things"][1] == {"name": "b", "elo": None}
    assert len(content["things"]) == 3
    assert content["plan"] == "a plan" and content["verdict"] == "a verdict"
    assert content["notes"] == [{"kind": "ranks", "text": "A note."}]
    assert content["warnings"] == [{"kind": "prior", "text": "careful"}]


def test_csv_has_all_rows():
    rows = list(csv.DictReader(io.StringIO(text_of("csv"))))
    assert [row["name"] for row in rows] == ["a", "b", "c"]
    assert rows[1]["elo"] == ""


def test_markdown_has_head_table_and_notes():
    text = text_of("markdown")
    assert text.index("3 things") < text.index("| a | 1 |") < text.index("A note.")


def test_names_in_the_head_cannot_control_a_terminal():
    notes = [Note("ranks", "b\x1b[2J")]
    answer = Answer("x", {"n": ["c\x1b[2J"]}, head=["a\x1b[2J"], notes=notes)
    assert "\x1b" not in render(answer, Answering(), [], terminal("rank"))


def test_numbers_have_few_digits_and_flags_are_words():
    shown = all_columns({"x": [0.123456, 12345.6, 3, None, True, float("nan"), 20_000]})
    assert shown["x"] == ["0.1235", "12346", "3", "", "yes", "", "20,000"]


def test_columns_whose_name_says_it_all_are_not_explained():
    assert meanings((Column("wins"), ELO), {"wins": [], "elo": []}) == ["elo  a score"]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("rank", "leaderboard"),
        ("pairs", "pairs"),
        ("next", "next_pairs"),
        ("annotators", "annotators"),
        pytest.param("diagnose", "diagnose", marks=pytest.mark.slow),
        pytest.param("compare --over vote", "held_out", marks=pytest.mark.slow),
        pytest.param("compare", "compare", marks=pytest.mark.slow),
    ],
)
def test_a_file_has_the_columns_of_the_catalogue_in_its_order(command, words, key):
    _, text, _ = command(*words.split(), "--format", "csv")
    header = text.splitlines()[0].split(",")
    table = TABLES[key]
    assert {column.name for column in table if not column.is_optional} <= set(header)
    assert [column.name for column in table if column.name in header] == header


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("rank",), "leaderboard"),
        (("annotators",), "annotators"),
        (("pairs",), "pairs"),
        (("next",), "next_pairs"),
        pytest.param(("diagnose",), "diagnosis", marks=pytest.mark.slow),
    ],
)
def test_json_has_the_table_under_its_name(command, words, key):
    content = json.loads(command(*words, "--format", "json")[1])
    assert content[key]
    assert {"plan", "notes", "warnings"} <= content.keys()


def test_all_pairs_are_in_the_file_and_ten_on_the_screen(command):
    assert "180 more: --explain" in command("pairs")[1]
    assert len(command("pairs", "--format", "csv")[1].splitlines()) == 191


def test_a_file_that_cannot_be_written_is_a_line(command, tmp_path):
    code, out, err = command("rank", "-o", tmp_path / "no" / "board.csv")
    assert (code, out) == (2, "")
    assert "Cannot write" in err and len(err.splitlines()) == 1
