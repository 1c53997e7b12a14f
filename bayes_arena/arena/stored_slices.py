"""What slices and features say of votes, in the file of an arena: its contexts.

A context is a number for all that the slices and features of a vote say, in the order of their names; votes without
either share one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from bayes_arena.arena.store import Session
from bayes_arena.errors import ColumnError, listing
from bayes_arena.votes.summing import FEATURE, SLICE


def columns_of(votes: pl.DataFrame, *kinds: str) -> list[str]:
    """Return the columns of slices or features (``SLICE``, ``FEATURE``), sorted."""
    return sorted(name for name in votes.columns if name.startswith(kinds))


def settled_prompt(session: Session) -> tuple[str, ...] | None:
    """Return the columns that the first votes have settled to be the prompt's, none of them if votes carry no prompts.

    None at all before there are votes.
    """
    ((columns,),) = session.rows("select prompt from arena")
    return None if columns is None else tuple(columns)


def settle_slices(session: Session, slices: list[str], features: list[str], prompt: Sequence[str]) -> None:
    """Hold all votes to the slices and features that the first ones carried, and remember where the prompt stood.

    Raises
    ------
    ColumnError
        If the stored votes carry others.
    """
    session.execute("update arena set prompt = ? where prompt is null", [list(prompt)])
    _settle(session, "slices", slices, "prompt= and slices= (--prompt, --slice)")
    _settle(session, "features", features, "features= (--feature)")


def _settle(session: Session, what: str, columns: list[str], remedy: str) -> None:
    """Hold all votes to the slices or features of the first ones."""
    carried = [column.partition(":")[2] for column in columns]
    ((settled,),) = session.rows(f"select {what} from arena")
    if settled is None:
        session.execute(f"update arena set {what} = ?", [carried])
    elif settled != carried:
        raise ColumnError(
            f"The stored votes carry the {what} {listing(settled) or '(none)'}, and the new votes "
            f"{listing(carried) or '(none)'}. Name the same for all votes of an arena: {remedy}."
        )


def number_contexts(session: Session, slices: list[str], features: list[str]) -> str:
    """Give numbers to what slices and features say and has none; return the condition that finds the number."""
    lists = {
        name: f"[{', '.join(_quoted(column) for column in columns)}]::{kind}[]"
        for name, columns, kind in (("slices", slices, "varchar"), ("features", features, "double"))
    }
    session.execute(
        "insert into context select (select coalesce(max(code), -1) from context) "
        "+ row_number() over (order by slices, features), slices, features "
        f"from (select distinct {lists['slices']} as slices, {lists['features']} as features from incoming) "
        "anti join context using (slices, features)"
    )
    return " and ".join(f"c.{name} = {values}" for name, values in lists.items())


def said_by_contexts(session: Session) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return columns of what every context says, slices as index into their names, and the names of every slice."""
    ((slices, features),) = session.rows("select slices, features from arena")
    said, names = {}, {}
    for name, values in _columns(session, "slices", slices).items():
        found, code = np.unique(values, return_inverse=True)
        names[name], said[SLICE + name] = found.tolist(), code.astype(np.int64)
    for name, values in _columns(session, "features", features).items():
        said[FEATURE + name] = values
    return said, names


def _columns(session: Session, what: str, names: list[str]) -> dict[str, Any]:
    """Return what every context says, by the name of the slice or feature."""
    if not names:
        return {}
    said = ", ".join(f"{what}[{place}] as {_quoted(name)}" for place, name in enumerate(names, 1))
    ((last, size),) = session.rows("select max(code), count(*) from context")
    session.require(size and last == size - 1, "contexts have other numbers than 0, 1, 2, …")
    return session.columns(f"select {said} from context order by code")


def _quoted(name: str) -> str:
    """Write the name of a column in SQL."""
    return '"' + name.replace('"', '""') + '"'
