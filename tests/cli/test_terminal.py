"""The terminal as a surface: arguments are options, calls are commands, quoted for a shell."""

import pytest

import bayes_arena as ba
from bayes_arena.cli.terminal import COMMANDS, Terminal, written
from bayes_arena.errors import VotesError
from bayes_arena.said import Call, Use, sentence
from tests.helpers import commands, terminal

RANK = terminal("rank")


@pytest.mark.parametrize(
    ("remedy", "text"),
    [
        (Use(prior="weak"), "--prior weak"),
        (Use("annotator"), "--annotator"),
        (Use(min_votes=-1), "--min-votes -1"),
        (Use(level=0.95), "--level 0.95"),
        (Use(prompt=False), "--no-prompt"),
        (Use(prompt="question id"), "--prompt 'question id'"),
        (Use(weight="it's"), "--weight 'it'\"'\"'s'"),
        (Use(winner=("wins_a", "wins_b")), "--winner wins_a,wins_b"),
        (
            Use(outcomes={"0": "tie", "2": "model_a"}),
            "--outcome 0=tie --outcome 2=model_a",
        ),
        (Use(outcomes={"0": ...}), "--outcome 0=..."),
        (Use(strength_by=("a", "b")), "--strength-by a --strength-by b"),
        (Use(slices="topic"), "--slice topic"),
        (Use(names={"ATLAS": "atlas"}), "--rename ATLAS=atlas"),
        (Use(model="am-elo", prior="flat"), "--model am-elo --prior flat"),
        (Call("votes.keep", more_than=5), "--delta 5"),
        (Call("annotators"), "bayes-arena annotators"),
        (Call("rate", without="flagged"), "bayes-arena rank --without flagged"),
        (Call("held_out", over="vote"), "bayes-arena compare --over vote"),
    ],
)
def test_remedies_are_spelled_as_they_are_typed(remedy, text):
    assert sentence(remedy, surface=RANK) == text


def test_what_a_command_lacks_is_not_shown():
    remedies = (Use(prior="weak"), Use(draws=2000), Use(prior="flat", draws=1))
    error = VotesError("No.", *remedies, Call("fit_many", by="topic"))
    assert error.spelled(RANK) == "No. Use --prior weak."
    assert error.spelled(terminal("check")) == "No."
    assert str(error).endswith(
        "prior='flat', draws=1, or ba.fit_many(..., by='topic')."
    )


def test_the_models_of_a_comparison_are_an_option_in_the_plural():
    assert terminal("compare").use(Use(model="elo")) == "--models elo"


def test_what_is_typed_without_a_name_is_shown_as_it_was_typed():
    assert terminal("reproduce").use(Use(name="table 9")) == "'table 9'"


def test_other_commands_read_the_same_files_in_the_same_way():
    words = Terminal({"prior"}, votes=" 'my votes.csv' --winner 'Which is better?'")
    assert words.call(Call("check")) == (
        "bayes-arena check 'my votes.csv' --winner 'Which is better?'"
    )


def test_pairs_are_those_of_the_same_fit_with_all_their_columns():
    words = Terminal({"prior"}, votes=" votes.csv", fitting=" --model am-davidson")
    assert words.call(Call("pairs")) == (
        "bayes-arena pairs votes.csv --model am-davidson --explain"
    )
    assert words.call(Call("annotators")) == "bayes-arena annotators votes.csv"


def test_every_call_that_is_a_command_exists_in_python_and_in_the_terminal():
    for function, name in COMMANDS.items():
        assert callable(getattr(ba, function))
        assert name in commands()


def test_given_options_are_typed_back_as_they_were():
    assert written("no_prompt", True) == "--no-prompt"
    assert written("outcome", ["-=tie", "x y=model_a"]) == (
        "--outcome -=tie --outcome 'x y=model_a'"
    )
    assert written("delta", 5.0) == "--delta 5"
