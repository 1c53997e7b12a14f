"""Options of the command line as frozen dataclasses: declared once, and taken by a command as one object.

A field of such a class carries its ``typer.Option``, and the class the ``panel`` of the help that shows them. A command
with :func:`takes_options` has the class among its parameters, whose fields become options of the command;
:class:`Without` leaves out those that do not apply::

    @app.command()
    @takes_options
    def check(source: Annotated[VoteSource, Without("delta")], output: Output) -> None:

The help of a command shows the options that it has alone and, of those that it shares with others, the ``COMMON`` ones;
``bayes-arena options`` explains all that are shared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from copy import copy
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from typer.models import OptionInfo

VOTES, MODEL, SCALE, OUTPUT = "Votes", "Model", "Scale", "Output"
"""Panels of options in the help of a command."""
RANKING = "Which competitor is best, and how sure is that?"
TRUSTED = "Who votes how?"
WANTED = "Are the votes sound, and which are needed next?"
FITTED = "Which model, and can its fit be trusted?"
KEPT = "Publish, reproduce, look up"
"""Panels of commands in the main help."""
COMMON = (
    *("files", "a", "b", "winner", "annotator", "prompt"),
    *("model", "level", "interval", "title", "plot", "format", "output"),
)
"""Fields of dataclasses whose options are in the help of every command that takes them."""
MORE = "`bayes-arena options` explains further options: of the votes, model, intervals, scale and answer."


class Without:
    """Fields of a dataclass of options that a command leaves at their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


def takes_options[T](command: Callable[..., T], shown: Collection[str] | None = COMMON) -> Callable[..., T]:
    """Replace dataclasses among a command's parameters by their fields, for Typer to read.

    The help of the command shows the fields ``shown``; all if that is None.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    classes: dict[str, tuple[Any, list[str]]] = {}
    further = False
    for name, parameter in signature(command).parameters.items():
        kind, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        if not is_dataclass(kind):
            parameters.append(_named(name, hints[name], parameter.default))
            continue
        absent = [left_out for note in notes for left_out in note.names]
        taken = [field for field in fields(kind) if field.name not in absent]
        types = _types(kind)  # type: ignore[arg-type]  # a class can be hashed
        hidden = {field.name for field in taken if shown is not None and field.name not in shown}
        further |= bool(hidden)
        parameters += [
            _named(field.name, _with(types[field.name], hidden=field.name in hidden), field.default) for field in taken
        ]
        classes[name] = kind, [field.name for field in taken]

    @wraps(command)
    def filled(**given: Any) -> T:
        for name, (kind, taken) in classes.items():
            given[name] = kind(**{each: given.pop(each) for each in taken})
        return command(**given)

    filled.__doc__ = f"{command.__doc__}\n\n{MORE}" if further else command.__doc__
    filled.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    filled.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature reads
    return filled


def options_given(chosen: Any) -> list[str]:
    """Return the names of the fields that differ from their defaults."""
    return [field.name for field in fields(chosen) if getattr(chosen, field.name) != field.default]


@cache
def _types(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a class, its options in its panel; cached, as it takes milliseconds."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: _with(hints[field.name], rich_help_panel=kind.panel) for field in fields(kind)}


def _with(annotation: Any, **settings: object) -> Any:
    """Return the annotation of an option with other settings; arguments stay as they are."""
    kind, option = get_args(annotation)
    if isinstance(option, OptionInfo):
        option = copy(option)
        vars(option).update(settings)
    return Annotated[kind, option]


def _named(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
