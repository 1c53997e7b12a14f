"""What is said is data: spelled where it is read, and never read back."""

import ast
import doctest
import inspect
import pickle
from functools import cache

import pytest

import bayes_arena as ba
from bayes_arena import said
from bayes_arena.cli.terminal import COMMANDS, OTHER_NAMES
from bayes_arena.errors import ArenaWarning, ModelError, VotesError, join_words, warn
from bayes_arena.reading.options import NAMES as READ_OPTIONS
from bayes_arena.said import NOWHERE, Call, Note, Use, sentence
from tests.helpers import commands
from tests.test_house import TREES

REMEDIES = (Use("weight", prior="default"), Call("held_out", over="vote"))


def test_python_reads_arguments_and_calls():
    ways = "Use weight=, prior='default', or ba.held_out(..., over='vote')."
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


# What reads a text: methods of strings, and the module of regular expressions.
READERS = {"startswith", "endswith", "find", "index", "count", "replace", "split", "re"}
READERS |= {"removeprefix", "removesuffix", "partition", "rpartition", "rsplit"}
SAYING = {"str", "sentence"}  # functions whose result is a text, of an error or a note
SAID = {"text", "message", "spelled"}  # attributes that are one, or return one


def is_said(node, names):
    """Whether an expression is the text of a note, reason, warning or error."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(attr=name):
            return name in SAID
        case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=of), *_]):
            return name in SAYING and of in ("note", "error", "warning", "reason")
        case ast.Call(func=ast.Name(id=name), args=[of, *_]):
            return name in SAYING and is_said(of, names)
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return name in SAID or (name in {"lower", "strip"} and is_said(of, names))
        case ast.Subscript(slice=ast.Constant(value=name)):
            return name in ("why", "advice", "text")
    return False


def is_read(node, names):
    """Whether an expression reads such a text back."""
    match node:
        case ast.Compare(left=left, comparators=[*others]):
            return any(is_said(each, names) for each in (left, *others))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=args):
            return any(is_said(each, names) for each in args)
        case ast.Call(func=ast.Attribute(value=of, attr=name)):
            return name in READERS and is_said(of, names)
    return False


def read_back(tree):
    """Yield the expressions of a file that read what is said."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            names = set()
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and is_said(node.value, names):
                    names |= {x.id for x in node.targets if isinstance(x, ast.Name)}
            for node in ast.walk(function):
                if is_read(node, names):
                    yield ast.unparse(node)


@pytest.mark.parametrize(
    "code",
    [
        "str(error).replace('a', 'b')",
        "note.text == 'a'",
        "'a' in error.spelled(surface)",
        "re.sub('a', 'b', str(note))",
        "table['why'] == 'guesses'",
        "x = str(warning); x.startswith('a')",
    ],
)
def test_what_reads_prose_is_found(code):
    assert list(read_back(ast.parse(f"def f(): {code}")))


@pytest.mark.slow
def test_nothing_that_is_said_is_read_back():
    found = {name: list(read_back(tree)) for name, tree in TREES.items()}
    assert {name: each for name, each in found.items() if each} == {}


def remedies_in(tree):
    """Yield the name of the call, None for ``Use``, and the arguments of each remedy."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Use"), args=args, keywords=keywords):
                yield None, named(args) | {each.arg for each in keywords} - {None}
            case ast.Call(
                func=ast.Name(id="Call"),
                args=[ast.Constant(value=name), *args],
                keywords=keywords,
            ):
                yield name, named(args) | {each.arg for each in keywords} - {None}


def named(nodes):
    """Return the arguments that are only named: texts, or a choice of two."""
    return {
        each.value
        for node in nodes
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def called(name):
    """Return what a call calls: a public function, or a method of Votes or StableArena."""
    owner, _, method = name.rpartition(".")
    if owner == "votes":
        return getattr(ba.Votes, method)
    return getattr(getattr(ba, owner) if owner else ba, method)


def parameters(function):
    """Return the names of what a function takes, also through its options."""
    taken = set(inspect.signature(function).parameters)
    return taken | arguments_of_python() if taken & {"options", "columns"} else taken


@cache
def arguments_of_python():
    """Return the names of all arguments that something public takes."""
    public = [getattr(ba, name) for name in ba.__all__]
    public += [ba.Votes.keep, ba.StableArena.add, ba.models.data]
    known = set(READ_OPTIONS)
    for value in filter(callable, public):
        known |= set(inspect.signature(value).parameters)
    return known


def options_of(name):
    """Return the options of a command, by the names of arguments."""
    return {parameter.name for parameter in commands()[name].params}


@pytest.mark.slow
def test_every_remedy_exists_where_it_is_shown():
    typed = set().union(*(options_of(name) for name in commands()))
    for tree in TREES.values():
        for name, arguments in remedies_in(tree):
            if name is None:
                assert arguments <= arguments_of_python() | typed
                continue
            assert arguments <= parameters(called(name))
            if name in COMMANDS:
                options = options_of(COMMANDS[name])
                assert {OTHER_NAMES.get(each, each) for each in arguments} <= options


def test_a_note_shows_its_kind_and_its_sentence():
    note = Note("prior", "Scores depend on the prior.", (Use(prior="weak"),))
    text = "Scores depend on the prior. Use prior='weak'."
    assert repr(note) == f"Note('prior', {text!r})"


def test_words_are_joined():
    assert join_words(["a"]) == "a"
    assert join_words(["a", "b"]) == "a and b"
    assert join_words(["a", "b", "c"]) == "a, b and c"
