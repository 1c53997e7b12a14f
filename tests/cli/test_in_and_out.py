"""Votes from standard input, and a board as a picture."""

import io
import json
import sys
from xml.etree import ElementTree

import pytest

import bayes_arena as ba

VOTES = ba.simulate(competitors=4, annotators=5, votes=200, seed=3).votes


@pytest.fixture
def piped(command, monkeypatch):
    """Return a function that pipes a text into a command."""

    def run_piped(text, *words):
        stream = io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stream)
        return command(*words)

    return run_piped


CONTENTS = {
    "csv": VOTES.to_csv(index=False),
    "tsv": VOTES.to_csv(index=False, sep="\t"),
    "bom": "\ufeff" + VOTES.to_csv(index=False),
    "json": VOTES.to_json(orient="records"),
    "lines": VOTES.to_json(orient="records", lines=True),
}


@pytest.mark.parametrize("text", CONTENTS.values(), ids=CONTENTS.keys())
def test_votes_are_piped_in_whatever_their_format(piped, text):
    code, out, _ = piped(text, "rank", "-", "--format", "json")
    assert code == 0
    content = json.loads(out)
    assert content["source"] == "standard input"
    assert [row["competitor"] for row in content["leaderboard"]] == list(
        ba.leaderboard(VOTES)["competitor"]
    )


@pytest.mark.parametrize(
    "text, words, message",
    [
        ("", ["-"], "Standard input is empty."),
        ("x", ["-", "votes.csv"], "Standard input, -, is read alone"),
        ('{"model_a": ', ["-"], "Standard input is not JSON"),
        ('model_a,model_b,winner\n"a,b,a', ["-"], "the quotes of row 0 do not close"),
        ("model_a,model_b,winner\na,b,a\na,b,a,c", ["-"], "row 1 has 4 fields"),
    ],
)
def test_what_cannot_be_read_from_it_is_a_line(piped, text, words, message):
    code, _, err = piped(text, "rank", *words)
    assert code == 2
    assert err.startswith("bayes-arena: ") and message in err


def test_other_commands_read_it_too(piped):
    code, out, _ = piped(CONTENTS["csv"], "check", "-")
    assert code == 0 and "200 on 4 competitors" in out


@pytest.mark.slow
@pytest.mark.parametrize("suffix, start", [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_board_is_drawn_where_the_name_is_a_pictures(piped, tmp_path, suffix, start):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"board.{suffix}"
    code, out, err = piped(CONTENTS["csv"], "rank", "-", "-o", path)
    assert (code, out, err) == (0, "", f"{path} written.\n")
    assert path.read_bytes().startswith(start)
    if suffix == "svg":
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_a_format_is_written_under_any_name(piped, tmp_path):
    path = tmp_path / "board.png"
    piped(CONTENTS["csv"], "rank", "-", "-o", path, "--format", "csv")
    assert path.read_text(encoding="utf-8").startswith("rank,competitor,")


def test_where_matplotlib_lacks_the_remedy_is_to_install_it(
    piped, tmp_path, monkeypatch
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    path = tmp_path / "board.png"
    code, _, err = piped(CONTENTS["csv"], "rank", "-", "-o", path)
    assert code == 2 and "pip install 'bayes-arena[plots]'" in err
    assert not path.exists()
