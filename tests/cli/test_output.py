"""How answers are written: for people on narrow and plain terminals, in Markdown and HTML, and strictly."""

import json
import subprocess
import warnings
from html.parser import HTMLParser
from unittest import mock

import polars as pl
import pytest
from helpers import COMMAND, frame, run, run_on_terminal

import bayes_arena as ba
from bayes_arena.cli.app import collected_warnings
from bayes_arena.cli.output import rounded
from bayes_arena.text_table import aligned

PLAIN = ("--model", "bradley-terry")
SLY = ("<script>alert(1)</script>", "a|b*c*`d`")
BOARD = {
    "competitor": ["model-1", "a name that is much longer than any"],
    "elo": ["1000.0", "999.5"],
    "ties": ["10", "2"],
}


@pytest.fixture(scope="module")
def sly_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("sly") / "votes.csv"
    frame([(*SLY, winner) for winner in ["model_a"] * 3 + ["model_b"]]).write_csv(path)
    return path


@pytest.fixture(scope="module")
def votes_file(tmp_path_factory, arena):
    path = tmp_path_factory.mktemp("votes") / "votes.csv"
    arena.votes.write_csv(path)
    return path


class Cells(HTMLParser):
    """The cells of a table, and the names of all elements."""

    def __init__(self) -> None:
        super().__init__()
        self.elements, self.cells = set(), []

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)

    def handle_data(self, data):
        self.cells.append(data)


@pytest.mark.slow
def test_html_shows_names_as_text(sly_file, tmp_path):
    assert run("rank", sly_file, "-o", tmp_path / "board.html").returncode == 0
    text = (tmp_path / "board.html").read_text()
    page = Cells()
    page.feed(text)
    assert page.elements == {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert set(SLY) <= set(page.cells)
    assert run("rank", sly_file, "--format", "html").stdout == text


@pytest.mark.slow
def test_markdown_has_a_cell_for_every_value(sly_file, tmp_path):
    assert run("rank", sly_file, "-o", tmp_path / "board.md").returncode == 0
    text = (tmp_path / "board.md").read_text()
    assert run("rank", sly_file, "--format", "md").stdout == text
    head, rule, *rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rule.startswith("| ---: | --- | ---: |")
    bars = [line.replace("\\|", "").count("|") for line in (head, rule, *rows)]
    assert bars == [bars[0]] * 4
    assert r"a\|b\*c\*\`d\`" in text and r"\<script\>" in text


@pytest.mark.parametrize(("level", "code"), [("--strict", 3), ("--no-annotator", 0)])
def test_strictly_a_warning_is_an_exit_code_after_the_answer(tmp_path, level, code):
    frame([("x", "y", "model_a"), ("x", "y", "model_b"), ("p", "q", "tie")]).write_csv(tmp_path / "votes.csv")
    done = run("rank", tmp_path / "votes.csv", "--format", "json", level)
    assert done.returncode == code
    assert "never compared" in done.stderr
    assert len(json.loads(done.stdout)["leaderboard"]) == 4


def test_without_a_warning_strict_changes_nothing(votes_file):
    assert run("rank", votes_file, *PLAIN, "--strict").returncode == 0


def test_invalid_votes_are_bad_input_before_they_are_a_warning(tmp_path):
    frame([("x", "y", "model_a"), ("x", "y", "undecided")]).write_csv(tmp_path / "votes.csv")
    done = run("check", tmp_path / "votes.csv", "--strict")
    assert done.returncode == 2 and "row 1: unknown winner" in done.stderr


@pytest.mark.parametrize("columns", [None, 80, 30, 20])
def test_a_table_fits_and_keeps_every_digit(columns):
    lines = aligned(BOARD, "votes.csv: 12 votes", ("ties",), columns).splitlines()
    text = "\n".join(lines)
    assert "1000.0" in text and "999.5" in text
    if columns:
        assert max(map(len, lines)) <= max(columns, 32)
    assert ("Not shown in" in text) == (columns in (30, 20))
    assert "".join(text.split()).count("model-1") == 1


def test_what_cannot_be_spared_makes_a_line_longer_rather_than_lose_a_digit():
    assert "123456789012345678901234567890" in aligned({"votes": ["123456789012345678901234567890"]}, "", (), 20)


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("annotators", "--fdr", 0.05),
        ("integrity",),
        ("pairs", *PLAIN),
        ("check", "--no-annotator"),
        ("pairs", *PLAIN, "-n", 4, "--without", "annotator"),
    ],
)
def test_wide_tables_fit_80_columns(votes_file, command):
    with mock.patch("bayes_arena.text_table.width", return_value=80):
        done = run(command[0], votes_file, *command[1:])
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.slow
def test_plain_terminals_get_plain_characters(votes_file, monkeypatch):
    assert "─" in run("rank", votes_file, *PLAIN).stdout
    monkeypatch.setenv("TERM", "dumb")
    assert run("rank", votes_file, *PLAIN).stdout.isascii()
    assert run("rank", "--help").stdout.isascii()


@pytest.mark.slow
def test_the_terminal_decides_on_width_and_colours(votes_file):
    shown = run_on_terminal(COMMAND, "rank", votes_file, *PLAIN, COLUMNS="64").stderr
    assert "\x1b[1m" in shown and "Not shown in 64 columns: losses, ties" in shown


@pytest.mark.slow
def test_completion_knows_the_commands():
    environment = {"_BAYES_ARENA_COMPLETE": "complete_bash", "COMP_WORDS": "bayes-arena an", "COMP_CWORD": "1"}
    done = subprocess.run([COMMAND], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == ["annotators"]


def test_notebooks_show_tables_in_which_names_are_text(arena_cells):
    cells = ba.read_votes(frame([("x", "y", "x", "<b>"), ("x", "y", "y", "k")]), programs="<b>")
    fit = ba.fit(arena_cells, model="bradley-terry")
    assert "&lt;b&gt;" in cells._repr_html_() and "<b>" not in cells._repr_html_()
    assert "<td>600</td>" in fit._repr_html_() and "bradley-terry" in fit._repr_html_()
    assert ba.verdict(fit)._repr_html_() == f"<p>{ba.verdict(fit)}</p>"
    assert ba.versus(fit, "model-1", "model-2")._repr_html_().startswith("<p>model-1 is better than")


def test_a_command_of_many_fits_warns_once_of_a_kind(capsys):
    with collected_warnings(one_of_a_kind=True) as notes:
        for count in (3, 4, 5):
            warnings.warn(f"discounted {count}", ba.DiscountedVotesWarning, stacklevel=1)
        warnings.warn("alike", ba.errors.PromptsWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: discounted 3 (2 more like it.)\nWarning: alike\n"
    assert len(notes) == 4


@pytest.mark.parametrize(
    ("computed", "said"),
    [
        (1243.1453113507732, 1243.1),
        (985.43, 985.4),
        (-44.162566, -44.16),
        (0.99967, 0.9997),
        (0.0270647, 0.02706),
        (2.136e-7, 2.14e-7),
        (2.501683618902698e-75, 0.0),
        (1 - 1e-16, 1.0),
        (123_456_789.25, 123_456_789.2),
        (1e308, 1e308),
        (4321, 4321),
        (True, True),
        (None, None),
    ],
)
def test_numbers_are_rounded_to_what_they_mean(computed, said):
    assert rounded(computed) == said
    assert rounded({"row": [computed]}) == {"row": [said]}


def test_no_number_is_minus_zero():
    assert str(rounded(-1e-17)) == "0.0"


def test_what_was_given_is_said_as_it_was():
    assert rounded({"level": 0.99999, "start": 1697654321.125}) == {"level": 0.99999, "start": 1697654321.125}


@pytest.mark.slow
def test_text_is_rounded_and_parquet_is_not(votes_file, tmp_path):
    for suffix in ("csv", "json", "parquet"):
        assert run("rank", votes_file, *PLAIN, "-o", tmp_path / f"board.{suffix}").returncode == 0
    read = json.loads((tmp_path / "board.json").read_text())["leaderboard"]
    tables = pl.read_csv(tmp_path / "board.csv"), pl.DataFrame(read), pl.read_parquet(tmp_path / "board.parquet")
    csv, from_json, parquet = (table["elo"].to_list() for table in tables)
    assert csv == from_json == [round(elo, 1) for elo in parquet] != parquet
