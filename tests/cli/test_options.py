"""Options: declared once, in the words of Python, and never without effect."""

import json

import pytest

import bayes_arena as ba
from bayes_arena.cli.app import app
from bayes_arena.cli.options import Boarding, Fitting, Reading, pairs_of

# What every command takes besides its own; "reading" and so on are groups of options.
READING = (
    "layout a b winner annotator prompt no-prompt slice weight outcome both-bad "
    "baseline judge rename on-invalid delta"
)
FITTING = "model ties prior method strength-by style"
BOARDING = "interval cluster level min-votes anchor init without"
ANSWERING = "format output explain strict"
ALL = f"{READING} {FITTING} seed {BOARDING} {ANSWERING}"
TABLE = {
    "rank": f"{ALL} all combined since about rank-spread",
    "boards": f"{ALL} by",
    "pairs": f"{ALL} between require margin",
    "next": f"{ALL} goal count",
    "annotators": f"{READING} {FITTING} seed {ANSWERING} makers without",
    "compare": f"{READING} seed {ANSWERING} models over",
    "report": f"{READING} {FITTING} seed {BOARDING} output strict "
    "title combined by since about",
    "check": f"{READING} {ANSWERING}",
    "fit": f"{READING} {FITTING} seed output strict",
    "diagnose": f"{READING} {FITTING} seed {ANSWERING}",
    "reproduce": f"{READING} {ANSWERING}",
    "simulate": f"competitors annotators votes guessers reversed seed {ANSWERING}",
}


def commands():
    """The commands of the application, by name."""
    from typer.main import get_command

    return get_command(app).commands


@pytest.mark.parametrize("name", TABLE)
def test_a_command_has_the_options_of_the_table(name):
    options = {
        text.removeprefix("--")
        for parameter in commands()[name].params
        for text in parameter.opts
        if text.startswith("--") and text != "--help"
    }
    assert options == set(TABLE[name].split())


def test_there_are_thirteen_commands_and_about_fifty_options():
    assert set(commands()) == {*TABLE, "arena"}
    assert set(commands()["arena"].commands) == {
        "create", "add", "round", "publish", "history"
    }  # fmt: skip
    options = {option for text in TABLE.values() for option in text.split()}
    assert len(options) <= 58


def test_every_option_has_help():
    for command in commands().values():
        for parameter in command.params:
            assert parameter.help


def test_reading_passes_only_what_was_given():
    assert Reading().columns() == {"both_bad": "tie", "on_invalid": "raise"}
    columns = Reading(a="x", no_prompt=True, slice=["c", "c"], outcome=["-=tie"])
    given = columns.columns()
    assert given["a"] == "x" and given["prompt"] is False
    assert given["slices"] == ("c",) and given["outcomes"] == {"-": "tie"}
    assert pairs_of("--outcome", "-=tie", ["a=b=tie"]) == {"a=b": "tie"}


def test_a_changed_model_says_so():
    model = Fitting(ties="half", strength_by=["language"]).options()["model"]
    assert model.name == "davidson ties half by language"
    assert model.ties == "half" and model.strength_by == ("language",)
    assert Fitting().options()["model"] == "davidson"


def test_features_are_a_column_or_two():
    fitting = Fitting(style=["length", "bold=bold_a,bold_b"])
    assert fitting.features == {"length": "length", "bold": ("bold_a", "bold_b")}


def test_a_scale_has_one_anchor():
    assert Boarding().elo == ba.EloScale()
    assert Boarding(init=0).elo.init == 0
    assert Boarding(anchor=["a=b=1"]).elo.anchor == ("a=b", 1.0)
    for wrong in ({"anchor": ["a=1", "b=2"]}, {"anchor": ["a=1"], "init": 5.0}):
        with pytest.raises(ba.ArenaError, match="one --anchor or --init"):
            Boarding(**wrong).elo  # noqa: B018
    for text in ("a", "=1", "a=x"):
        with pytest.raises(ba.ArenaError, match="NAME=SCORE"):
            Boarding(anchor=[text]).elo  # noqa: B018


@pytest.mark.slow
def test_a_saved_fit_refuses_options_that_it_would_not_heed(command, tmp_path):
    path = tmp_path / "fit.npz"
    assert command("fit", "-o", path)[0] == 0
    for words in (("--model", "am-elo"), ("--winner", "x"), ("--delta", 5)):
        code, _, err = command("rank", path, *words)
        assert code == 2
        assert f"{words[0]} would have no effect" in err
    assert command("rank", path, "--level", 0.9, "--without", "flagged")[0] == 0


@pytest.mark.slow
def test_without_holds_for_every_board(command):
    for words in (("pairs",), ("next",), ("rank",)):
        code, out, _ = command(*words, "--without", "flagged")
        assert code == 0
        assert "by 38 annotators" in out


def test_several_files_are_read_as_one(command, tmp_path):
    for name in ("a.csv", "b.csv"):
        path = tmp_path / name
        path.write_text("model_a,model_b,winner\noak,elm,model_a\noak,elm,model_b\n")
    code, out, _ = command("rank", tmp_path / "a.csv", tmp_path / "b.csv")
    assert code == 0
    assert out.startswith("a.csv and 1 more: 4 votes on 2 competitors")


def test_what_a_model_needs_is_named_and_no_other_option(command, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner\noak,elm,model_a\noak,elm,model_b\n")
    for words in (
        ("boards", path, "--by", "topic"),
        ("rank", path, "--strength-by", "topic"),
    ):
        code, _, err = command(*words)
        assert code == 2
        assert err.startswith("bayes-arena: No column 'topic'. The columns are")


def test_check_says_how_a_file_was_read(command, tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("home,away,result\noak,elm,H\nash,oak,D\n")
    _, out, _ = command("check", path)
    assert "home is a, away is b" in out
    content = json.loads(command("check", path, "--format", "json")[1])
    assert content["n_votes"] == 2 and content["columns"]["winner"] == "result"


def test_every_table_and_figure_is_named_in_the_help(command):
    _, out, _ = command("reproduce", "--help")
    assert [name for name in ba.paper.TARGETS if name not in out] == []
