"""What is said is data: spelled where it is read, and never read back."""

import doctest
import pickle

import pytest

import bayes_arena as ba
from bayes_arena import said
from bayes_arena.errors import ArenaWarning, ModelError, VotesError, warn
from bayes_arena.said import NOWHERE, Call, Note, Use, sentence

REMEDIES = (Use("weight", prior="default"), Call("held_out", over="vote"))


def test_python_reads_arguments_and_calls():
    ways = "Use weight=, prior='default', or ba.held_out(over='vote')."
    assert str(VotesError("No.", *REMEDIES)) == f"No. {ways}"
    assert sentence("No.", [Call("votes.keep", more_than=5)]) == (
        "No. Use votes.keep(more_than=5)."
    )


def test_where_nothing_can_be_typed_remedies_and_asides_are_not_shown():
    aside = (" (", Use(model="am-davidson"), ")")
    note = Note("boards", ("Weighing them", aside, " would move 'a'."), REMEDIES)
    assert note.spelled(NOWHERE) == "Weighing them would move 'a'."
    assert note.row(NOWHERE) == {
        "kind": "boards",
        "text": "Weighing them would move 'a'.",
    }


def test_what_a_text_cannot_do_without_is_spelled_for_python():
    assert sentence(("Name ", Use("a"), "."), surface=NOWHERE) == "Name a=."


def test_examples_of_the_module_are_right():
    assert doctest.testmod(said).failed == 0


@pytest.mark.parametrize("kind", [VotesError, ModelError])
def test_errors_pickle(kind):
    error = pickle.loads(pickle.dumps(kind(("Name ", Use("a"), "."), *REMEDIES)))
    assert type(error) is kind
    assert error.remedies == REMEDIES
    assert str(error).startswith("Name a=. Use weight=")


def test_a_warning_carries_its_note_and_reads_as_its_sentence():
    note = Note("prior", "Beware.", REMEDIES)
    with pytest.warns(ArenaWarning, match="Beware. Use weight=") as caught:
        warn(note)
    warning = pickle.loads(pickle.dumps(caught[0].message))
    assert warning.note == note
    assert caught[0].filename == __file__


def test_the_kind_of_a_warning_tells_what_it_is_about():
    rows = [("a", "b", "a"), ("b", "a", "b"), ("new", "a", "new")]
    table = {"model_a": [], "model_b": [], "winner": []}
    for row in rows:
        for column, value in zip(table.values(), row, strict=True):
            column.append(value)
    with pytest.warns(ArenaWarning):
        fit = ba.fit(table, model="bradley-terry", prior="flat")
    assert [note.kind for note in fit.warnings] == ["infinite"]
