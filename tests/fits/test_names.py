"""Names that would steer a terminal or a spreadsheet, and names that only look different."""

import sys
from unicodedata import normalize

import polars as pl
import pytest
from helpers import frame, run

import bayes_arena as ba
from bayes_arena.cli.output import without_formulas

EVIL = ("\x1b[2J\x1b]0;owned\x07", "new\nline", "turned\u202etxt", "\x9b31m")
COMPOSED, DECOMPOSED = "caf\xe9", "cafe\u0301"


@pytest.fixture
def evil_file(tmp_path):
    rows = [(name, other, "model_a", "k\x1b[1m") for name in EVIL for other in EVIL if name != other]
    frame(rows).write_parquet(tmp_path / "votes.parquet")
    return tmp_path / "votes.parquet"


@pytest.mark.slow
@pytest.mark.parametrize("command", ["rank", "annotators", "check"])
def test_no_name_steers_the_terminal(command, evil_file):
    done = run(command, evil_file)
    assert done.returncode == 0, done.stderr
    shown = done.stdout + done.stderr
    assert all(char.isprintable() or char == "\n" for char in shown), ascii(shown)
    if command == "rank":
        assert all(text in shown for text in (r"\x1b[2J\x1b]0;owned\x07", r"new\nline", r"turned\u202etxt", r"\x9b31m"))


@pytest.mark.slow
def test_nor_does_an_error_or_a_warning(evil_file, tmp_path):
    alone = [("a", "b", "tie"), *[(f"{name}1", f"{name}2", "tie") for name in EVIL]]
    frame(alone).write_parquet(tmp_path / "alone.parquet")
    evil = pl.DataFrame({f"x{EVIL[0]}": ["x"], "model_a": ["y"], "model_b": ["z"]})
    evil.write_parquet(tmp_path / "column.parquet")
    for arguments in (
        ["rank", tmp_path / "alone.parquet"],
        ["rank", tmp_path / "column.parquet"],
        ["rank", evil_file, "--anchor", f"{EVIL[0]}x=1"],
        ["rank", evil_file, "--winner", EVIL[0]],
        ["rank", tmp_path / f"absent{EVIL[0]}.csv"],
    ):
        stderr = run(*arguments).stderr
        assert stderr
        assert all(char.isprintable() or char == "\n" for char in stderr), ascii(stderr)
    with pytest.warns(ba.errors.IdentificationWarning) as caught:
        ba.fit(frame(alone))
    assert not any("\x1b" in str(warning.message) for warning in caught)


@pytest.mark.slow
def test_programs_get_names_as_they_are(evil_file):
    assert set(pl.read_csv(run("rank", evil_file, "--format", "csv").stdout.encode())["competitor"]) == set(EVIL)


@pytest.mark.slow
def test_no_spreadsheet_takes_a_name_for_a_formula(tmp_path):
    names = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx", "plain", "a=b"]
    votes = frame([(name, other, "model_a") for name in names for other in names if name != other])
    votes.write_parquet(tmp_path / "votes.parquet")
    run("rank", tmp_path / "votes.parquet", "-o", tmp_path / "plain.csv")
    done = run("rank", tmp_path / "votes.parquet", "--format", "safe-csv", "-o", tmp_path / "board.csv")
    assert (done.returncode, done.stderr) == (0, "")
    board, before = pl.read_csv(tmp_path / "board.csv"), pl.read_csv(tmp_path / "plain.csv")
    assert set(before["competitor"]) == set(names)
    assert set(board["competitor"]) == {*(f"'{name}" for name in names[:6]), *names[6:]}
    assert board.drop("competitor").equals(before.drop("competitor"))  # a negative number is no formula
    assert "safe-csv" in run("rank", "--help").stdout


def guarded(*texts: str) -> list[str]:
    return without_formulas(pl.DataFrame({"text": texts}))["text"].to_list()


def test_nothing_hides_a_formula():
    unseen = [
        " ",
        "\xa0",
        "\u3000",
        "\t ",
        "\x00",
        "\u200b",
        "\ufeff",
        "\u202e",
        "\u2028",
        "\u2060",
        "\u180e",
        "\ufe0f",
    ]
    hidden = [f"{before}=1+1" for before in ["", "\ufeff \u200b", *unseen]]
    assert guarded(*hidden) == [f"'{text}" for text in hidden]
    for separator in ";|\t\r\n":  # between cells where commas are decimal points, or where quotes are not read
        assert guarded(f'x"{separator} =1+1', f"x{separator}y") == [f"x\"{separator}' =1+1", f"x{separator}y"]
    plain = ["a=b", "a -1", "gpt-4;b", "'=1", ""]
    assert guarded(*plain) == plain


@pytest.mark.slow
def test_nor_does_a_sign_that_becomes_one():
    signs = [sign for sign in map(chr, range(sys.maxunicode + 1)) if normalize("NFKC", sign)[:1] in tuple("=+-@")]
    assert len(signs) == 19
    assert guarded(*signs) == [f"'{sign}" for sign in signs]


def test_twins_are_named_and_made_one_on_request(tmp_path):
    rows = [
        ("x", "y", "x", "k"),
        ("x ", "y", "x ", "k"),
        (COMPOSED, "y", "y", "k "),
        (DECOMPOSED, "x", DECOMPOSED, "k"),
    ]
    table = frame(rows)
    row = ba.check(table.to_pandas()).set_index("check").loc["names alike"]
    assert row["status"] == "warning"
    assert row["found"] == r"'cafe\u0301' = 'caf\xe9', 'x' = 'x ', 'k' = 'k '; 7 names, 4 normalised"
    cells = ba.read_votes(table, normalise=True)
    assert (cells.competitors, cells.annotators, cells.n_votes) == ((COMPOSED, "x", "y"), ("k",), 4)
    assert ba.check(cells).set_index("check").loc["names alike", "found"] == "none"
    assert ba.read_votes(table).n_competitors == 5
    table.write_csv(tmp_path / "votes.csv")
    assert "3 competitors, 1 annotator\n" in run("check", tmp_path / "votes.csv", "--normalise-names").stdout


def test_normalising_makes_no_vote_up():
    table = frame([("x", "y", "x"), ("x", "x ", "x"), ("x", "  ", "x")])
    with pytest.raises(ba.errors.InvalidVotesError) as error:
        ba.read_votes(table, normalise=True)
    assert "row 1: competitor against itself" in str(error.value)
    assert "row 2: missing competitor" in str(error.value)
