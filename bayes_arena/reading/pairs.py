"""Votes that are still to be cast: who meets whom, without results."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayes_arena.errors import VotesError, listing
from bayes_arena.reading.columns import ANNOTATORS, PROMPTS, Header
from bayes_arena.reading.counting import encode_groups, problems_of_pairs
from bayes_arena.reading.opening import select_roles
from bayes_arena.reading.options import Options
from bayes_arena.reading.read import complaint, one_vote_groups
from bayes_arena.reading.roles import ROW, Roles
from bayes_arena.reading.sources import in_polars, open_source
from bayes_arena.votes.votes import PROMPT, Votes


def read_pairs(
    source: object, *, slices: Collection[str] = (), features: Collection[str] = ()
) -> Votes:
    """Return who meets whom as rows without counts, in the order of the source.

    Parameters
    ----------
    source : list of pairs, or as for ``read_votes``
        Pairs such as ``("x", "y")`` or ``("x", "y", "annotator")``, or columns.
    slices : collection of str
        Slices that are read if there is a column of their name.  As with annotators, a
        level that is missing has the code -1.
    features : collection of str
        Columns of differences, first minus second.

    Raises
    ------
    VotesError
        If there are no two competitors in some row, or a feature is missing.
    """
    frame = open_source(as_columns(source))
    roles = roles_of_pairs(Header.of(frame.collect_schema().names()), slices, features)
    frame = select_roles(frame, roles)
    table = in_polars(frame).collect().with_row_index(ROW)
    votes = encode_groups(one_vote_groups(table), roles, Options())
    for problem in problems_of_pairs(votes):
        if problem.rows.any():
            raise VotesError(complaint(problem, problem.rows, votes, frame))
    return replace(votes.pairs, counts=np.zeros((len(table), 3)))


def roles_of_pairs(
    header: Header, slices: Collection[str], features: Collection[str]
) -> Roles:
    """Return the columns of the competitors, of who votes, and of what is asked for."""
    sides = header.pair_of_competitors()
    if sides is None:
        raise VotesError(
            "There is no pair of columns such as model_a and model_b; the columns are "
            f"{listing(header.names)}."
        )
    if missing := [name for name in features if name not in header.names]:
        raise VotesError(
            f"The feature {missing[0]!r}, first minus second, has no column; the columns "
            f"are {listing(header.names)}."
        )
    levels = {by: column_of_slice(header, by) for by in slices}
    return Roles(
        a=sides[0],
        b=sides[1],
        annotator=header.first(ANNOTATORS, sides),
        slices={by: column for by, column in levels.items() if column is not None},
        features={name: (name,) for name in features},
    )


def column_of_slice(header: Header, by: str) -> str | None:
    """Return the column of a slice, if there is one; prompts have several usual names."""
    return by if by in header.names else header.first(PROMPTS if by == PROMPT else ())


def as_columns(source: object) -> object:
    """Return a list of pairs as columns; any other source stays."""
    if not isinstance(source, Sequence) or isinstance(source, str):
        return source
    names = [name for name in source if isinstance(name, str)]
    if names:
        pair = tuple(names) if len(names) in (2, 3) else ("x", "y")
        raise VotesError(f"Pairs stand in a list, also a single one: [{pair!r}].")
    if not source or isinstance(source[0], Mapping):
        return source
    return columns_of_pairs(source)


def columns_of_pairs(pairs: Sequence[Any]) -> dict[str, list[object]]:
    """Return pairs as columns."""
    is_pair = [isinstance(pair, tuple | list) for pair in pairs]
    sizes = {len(pair) for pair in pairs} if all(is_pair) else set()
    if sizes not in ({2}, {3}):
        raise VotesError(
            "A pair names two competitors, and perhaps an annotator, as in "
            "[('x', 'y')]; and all pairs alike."
        )
    names = ("model_a", "model_b", "judge")[: sizes.pop()]
    columns = zip(*pairs, strict=True)
    return {name: list(column) for name, column in zip(names, columns, strict=True)}
