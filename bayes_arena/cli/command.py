"""How a function becomes a command: its options, its warnings, its answer and its errors.

A function takes groups of options and returns what it answers; the command takes the fields
of the groups one by one, and says everything in the words of its own options.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from bayes_arena import progress
from bayes_arena.cli.options import Answering, Fitting, Group, Reading, Saving
from bayes_arena.cli.output import Answer, Done, render, tell, write_text
from bayes_arena.cli.source import files_in_words, is_saved_fit
from bayes_arena.cli.terminal import Terminal, in_words
from bayes_arena.errors import ArenaError, ArenaWarning
from bayes_arena.said import Note

BAD_INPUT, WARNED = 2, 3  # exit codes
type Body = Callable[..., Answer | Done]
type Groups = Mapping[str, type[Group]]


def command(writing: type[Saving] | None) -> Callable[[Body], Callable[..., None]]:
    """Return what makes a command of a function.

    Parameters
    ----------
    writing : class, optional
        The options that say how the answer is written.  A function that needs them, or
        the words of its options, has a parameter ``writing`` or ``terminal``.
    """

    def decorate(function: Body) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        groups = {name: hint for name, hint in hints.items() if is_group(hint)}
        if writing is not None:
            groups["writing"] = writing
        parameters = parameters_of(function, hints, groups)

        @wraps(function)
        def run(**values: Any) -> None:
            terminal = terminal_of(parameters, values)
            try:
                with collected_warnings() as warned:
                    arguments = grouped(groups, values)
                    answer = call(function, {**arguments, "terminal": terminal})
                finish(answer, arguments.get("writing", Saving()), warned, terminal)
            except ArenaError as error:
                progress.clear()
                tell(f"bayes-arena: {error.spelled(terminal)}")
                raise typer.Exit(BAD_INPUT) from None

        # Typer asks a command for its signature, and makes an option of every parameter.
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        return run

    return decorate


def is_group(hint: Any) -> bool:
    """Whether a parameter is a group of options."""
    return inspect.isclass(hint) and issubclass(hint, Group)


def parameters_of(
    function: Body, hints: Mapping[str, Any], groups: Groups
) -> list[inspect.Parameter]:
    """Return the parameters of a command: its own, and the fields of its groups."""
    parameters = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in (*groups, "terminal"):
            parameters.append(parameter.replace(annotation=hints[name]))
    for group in groups.values():
        types = get_type_hints(group)
        parameters += [parameter_of(x, types[x.name]) for x in fields_of(group)]
    return parameters


def fields_of(group: type[Group]) -> tuple[Field[Any], ...]:
    """Return the fields of a group, each an option."""
    return fields(group)  # type: ignore[arg-type]


def parameter_of(entry: Field[Any], kind: Any) -> inspect.Parameter:
    """Return the parameter of a command for a field of a group."""
    return inspect.Parameter(
        entry.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=entry.default,
        annotation=Annotated[kind, entry.metadata["option"]],
    )


def grouped(groups: Groups, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function: its own, and its groups of options."""
    arguments = dict(values)
    for name, group in groups.items():
        chosen = {entry.name: arguments.pop(entry.name) for entry in fields_of(group)}
        arguments[name] = group(**chosen)
    return arguments


def call(function: Body, arguments: Mapping[str, Any]) -> Answer | Done:
    """Call a function with those of some arguments that it takes."""
    wanted = inspect.signature(function).parameters
    return function(**{name: arguments[name] for name in wanted})


def terminal_of(
    parameters: Sequence[inspect.Parameter], values: Mapping[str, Any]
) -> Terminal:
    """Return the words of a command that was typed with some values."""
    positional = {p.name for p in parameters if is_positional(p)}
    options = {p.name for p in parameters} - positional
    of_votes = {entry.name for entry in fields_of(Reading)}
    if not of_votes <= options:
        return Terminal(options, positional)
    sources = values["votes"]
    reading = Reading(**{name: values[name] for name in of_votes})
    if is_saved_fit(sources):  # which has its own votes and model
        options -= of_votes | {entry.name for entry in fields_of(Fitting)} - {"seed"}
    votes = files_in_words(sources) + in_words(reading.given)
    fitting = ""
    if (of_fit := {entry.name for entry in fields_of(Fitting)}) <= options:
        fitting = in_words(Fitting(**{name: values[name] for name in of_fit}).given)
    return Terminal(options, positional, votes, fitting, values.get("without"))


def is_positional(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is typed without a name."""
    return any(isinstance(x, ArgumentInfo) for x in parameter.annotation.__metadata__)


@contextmanager
def collected_warnings() -> Iterator[list[Note]]:
    """Collect the package's warnings, each once."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    for warning in caught:
        message = warning.message
        if isinstance(message, ArenaWarning) and message.note not in notes:
            notes.append(message.note)


def finish(
    answer: Answer | Done, writing: Saving, warned: Sequence[Note], terminal: Terminal
) -> None:
    """Write an answer, then the warnings to standard error; exit as is asked for."""
    if isinstance(answer, Answer) and isinstance(writing, Answering):
        write_text(render(answer, writing, warned, terminal), writing)
    elif isinstance(answer, Done):
        tell(answer.line)
    for note in warned:
        tell(f"Warning: {note.spelled(terminal)}")
    if warned and writing.strict:
        raise typer.Exit(WARNED)
    if answer.exit_code:
        raise typer.Exit(answer.exit_code)
