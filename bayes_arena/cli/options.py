"""Options of the command line as frozen dataclasses: declared once, and taken by a command as one object.

A field of such a class carries its ``typer.Option``. A command with :func:`takes_options` has the class among its
parameters, whose fields become options of the command; :class:`Without` leaves out those that do not apply::

    @app.command()
    @takes_options
    def check(source: Annotated[VoteSource, Without("delta")], output: Output) -> None:
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

VOTES, MODEL, SCALE, OUTPUT = "Votes", "Model", "Scale", "Output"
"""Panels of options in the help of a command."""
RANKING = "Which competitor is best, and how sure is that?"
TRUSTED = "Who votes how?"
WANTED = "Are the votes sound, and which are needed next?"
FITTED = "Which model, and can its fit be trusted?"
KEPT = "Publish, reproduce, look up"
"""Panels of commands in the main help."""


class Without:
    """Fields of a dataclass of options that a command leaves at their defaults."""

    def __init__(self, *names: str) -> None:
        self.names = names


def takes_options[T](command: Callable[..., T]) -> Callable[..., T]:
    """Replace dataclasses among a command's parameters by their fields, for Typer to read."""
    hints = get_type_hints(command, include_extras=True)
    parameters: list[Parameter] = []
    classes: dict[str, tuple[Any, list[str]]] = {}
    for name, parameter in signature(command).parameters.items():
        kind, *notes = get_args(hints[name]) if get_origin(hints[name]) is Annotated else (hints[name],)
        if not is_dataclass(kind):
            parameters.append(_named(name, hints[name], parameter.default))
            continue
        absent = [left_out for note in notes for left_out in note.names]
        shown = [field for field in fields(kind) if field.name not in absent]
        types = _types(kind)  # type: ignore[arg-type]  # a class can be hashed
        parameters += [_named(field.name, types[field.name], field.default) for field in shown]
        classes[name] = kind, [field.name for field in shown]

    @wraps(command)
    def filled(**given: Any) -> T:
        for name, (kind, shown) in classes.items():
            given[name] = kind(**{each: given.pop(each) for each in shown})
        return command(**given)

    filled.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    filled.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # what inspect.signature reads
    return filled


@cache
def _types(kind: type) -> dict[str, Any]:
    """Return the annotations of a class; cached, as evaluating them takes milliseconds."""
    return get_type_hints(kind, include_extras=True)


def _named(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
