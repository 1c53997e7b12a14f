"""Rows that fulfil a condition in Python's syntax: ``language == "German" and turn in [1, 2]``.

Python's own parser reads the condition, and nothing is evaluated: comparisons of columns and values, joined by ``and``,
``or`` and ``not``, become an expression of narwhals, which every engine understands. A number is compared with text
that holds numbers, as in CSV, and text with a number's text. A comparison with a missing value, or of a number
with text that is not one, is false in every engine; ``column is None`` finds missing values.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import narwhals as nw

from bayes_arena.errors import LONGEST_VALUE, ColumnError, VotesError, did_you_mean, printable, shortened
from bayes_arena.votes.sources.frames import Frame

COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
NUMBER = r"^-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$"
"""Text that can be compared with a number."""
MOST = 2000
"""Most columns and values in a condition; twice as many take more than twice the time."""
DEEPEST = 200
"""Most levels of a condition: well below what Python's own recursion allows, whatever limit a library has set."""
EXAMPLE = """where='language == "German" and turn in [1, 2]'"""


def kept_where(frame: Frame, condition: str | None) -> Frame:
    """Return the rows of a frame that fulfil a condition, all if there is none."""
    if condition is None:
        return frame
    try:
        tree = ast.parse(condition.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last two if it is nested too deeply
        tree = None
    if tree is None or _depth(tree) > DEEPEST:
        single = "Equality is written ==. " if "=" in condition and "==" not in condition else ""
        shown = printable(shortened(condition, LONGEST_VALUE))
        raise VotesError(f"Not a condition: {shown!r}. {single}An example: {EXAMPLE}.")
    if (terms := sum(isinstance(node, ast.Name | ast.Constant) for node in ast.walk(tree))) > MOST:
        raise VotesError(
            f"The condition has {terms} columns and values; at most {MOST} are allowed. Filter the dataframe first."
        )
    schema = {str(name): kind for name, kind in frame.collect_schema().items()}
    return frame.filter(_Condition(schema).met(tree))


def _depth(tree: ast.expr) -> int:
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
    return depth


class _Condition:
    """A condition on columns of known types."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema

    def met(self, node: ast.expr) -> nw.Expr:
        """Return whether a row fulfils a part of the condition."""
        match node:
            case ast.BoolOp(op, values):
                joined = operator.and_ if isinstance(op, ast.And) else operator.or_
                return _joined(joined, map(self.met, values))
            case ast.UnaryOp(ast.Not(), operand):
                return ~self.met(operand)
            case ast.Compare(left, operators, rights):
                lefts = [left, *rights[:-1]]
                return _joined(operator.and_, map(self._compared, lefts, operators, rights))
            case ast.Name():
                return self._compared(node, ast.Eq(), ast.Constant(True))
        raise _unlike(node)

    def _compared(self, left: ast.expr, how: ast.cmpop, right: ast.expr) -> nw.Expr:
        if isinstance(how, ast.In | ast.NotIn):
            found = _joined(operator.or_, (self._compared(left, ast.Eq(), value) for value in _members(right)))
            return found if isinstance(how, ast.In) else ~found & ~self._column(left).is_null()
        if _is_none(right) and isinstance(how, ast.Is | ast.IsNot | ast.Eq | ast.NotEq):
            missing = self._column(left).is_null()
            return missing if isinstance(how, ast.Is | ast.Eq) else ~missing
        if type(how) not in COMPARISONS:
            raise _unlike(right)
        if not isinstance(left, ast.Name) and not isinstance(right, ast.Name):
            raise _unlike(left)
        sides = self._side(left, right), self._side(right, left)
        there = [~side.is_null() for side in sides if isinstance(side, nw.Expr)]
        return _joined(operator.and_, [*there, COMPARISONS[type(how)](*sides)])

    def _side(self, side: ast.expr, other: ast.expr) -> Any:
        """Return a value, or a column in a form that can be compared with the other side."""
        if not isinstance(side, ast.Name):
            value = _value(side)
            return str(value).lower() if isinstance(value, bool) and self._is_text(other) else value
        column, is_text = self._column(side), self._is_text(side)
        if isinstance(other, ast.Name):
            return column.cast(nw.String) if self._is_text(other) and not is_text else column
        value = _value(other)
        if isinstance(value, bool):
            return column.str.to_lowercase() if is_text else column
        if isinstance(value, str):
            return column if is_text else column.cast(nw.String)
        return nw.when(column.str.contains(NUMBER)).then(column).cast(nw.Float64) if is_text else column

    def _is_text(self, side: ast.expr) -> bool:
        return isinstance(side, ast.Name) and isinstance(self.schema[side.id], nw.String | nw.Object)

    def _column(self, node: ast.expr) -> nw.Expr:
        if not isinstance(node, ast.Name):
            raise _unlike(node)
        if node.id not in self.schema:
            known = f" The source has: {printable(', '.join(self.schema))}."
            raise ColumnError(f"No column {node.id!r}.{did_you_mean(node.id, self.schema) or known}")
        return nw.col(node.id)


def _joined(how: Callable[[Any, Any], Any], parts: Iterable[nw.Expr]) -> nw.Expr:
    """Join in pairs, so that a thousand parts are nested only ten deep."""
    joined = list(parts)
    while len(joined) > 1:
        pairs = zip(joined[::2], joined[1::2], strict=False)
        joined = [how(*pair) for pair in pairs] + joined[len(joined) - len(joined) % 2 :]
    return joined[0]


def _value(node: ast.expr) -> str | float | bool:
    match node:
        case ast.Constant(str() | int() | float() as value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as value)):
            return -value
    raise _unlike(node)


def _members(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and node.elts:
        return list(node.elts)
    raise _unlike(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _unlike(node: ast.expr) -> VotesError:
    """Return the error for an expression that conditions do not allow."""
    return VotesError(
        f"A condition compares columns with values, and {printable(ast.unparse(node))!r} is neither. "
        f"An example: {EXAMPLE}."
    )
