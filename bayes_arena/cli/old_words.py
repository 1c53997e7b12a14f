"""Options under the names they had: understood for one version more, with a warning.

``--level`` is the coverage of the intervals and ``--interval`` how they are found, as in Python; they were
``--interval`` and ``--interval-method``. ``--guard`` is what is done without ``--no-guard``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bayes_arena.cli.app import tell


def translate_options(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of the command with the names that options have now."""
    return list(_translated(iter(arguments)))


def _translated(arguments: Iterator[str]) -> Iterator[str]:
    for argument in arguments:
        if argument == "--guard":
            tell("Warning: --guard is the default, and will not be understood in the next version.")
            continue
        option, equals, value = argument.partition("=")
        if option not in ("--interval", "--interval-method"):
            yield argument
            continue
        if not equals and (following := next(arguments, None)) is not None:
            value = following
        elif not equals:
            yield argument  # without a value, as the command will say
            continue
        new = "--level" if option == "--interval" and _is_number(value) else "--interval"
        if new != option:
            tell(f"Warning: {option} {value} is now {new} {value}, and will not be understood in the next version.")
        yield from (new, value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
