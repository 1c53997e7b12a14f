"""Votes in and cells out of the file of an arena.

A vote is stored once, however often it is added. Votes are the same if their ids are. Votes without ids are identified
by content: the n-th of several equal votes (same a, b, annotator, outcome, weight, slices and features) in one addition
is the same vote as the n-th such vote of any other addition. So adding a file again, or a longer version of it, adds
only what is new; but votes of a new batch that equal stored ones are taken for the same, with a warning. Batches need
ids.

Cells are kept beside the votes, one row for each (a, b, annotator, context, outcome, weight), and an addition rewrites
only the rows that it touches; a context is a number for the values of all slices and features of a vote, in the order
of their names. Weights are kept apart because the grid that makes sums of weights exact depends on all of them
(:func:`~bayes_arena.votes.summing.sum_cells`): a round that reads cells gets bit for bit what reading all votes at once
gives. An id is looked up by 64 bits of its hash, a scan of eight bytes per stored vote: a unique index would have to be
loaded whole whenever the file is opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from bayes_arena.arena.store import Session, Store, now
from bayes_arena.arrays import Ints
from bayes_arena.errors import ColumnError, InvalidVotesError, NoVotesError, listing
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import FEATURE, MOST_GRADES, SLICE
from bayes_arena.votes.outcomes import n_outcomes
from bayes_arena.votes.summing import sum_cells

UNKNOWN = -1
"""Number of the annotator where annotators are unknown."""
CONTENT = ("a", "b", "annotator", "outcome", "weight")
"""Columns of every vote; those of slices and features come after them."""


@dataclass(frozen=True)
class Addition:
    """What an addition of votes did.

    Attributes
    ----------
    new : int
        Votes stored.
    known : int
        Votes that were stored already, or occur twice in the addition.
    dropped : mapping of str to int
        Invalid votes left out on request, by problem.
    """

    new: int
    known: int
    dropped: Mapping[str, int]


def identify(groups: pl.DataFrame) -> pl.DataFrame:
    """Give every vote of :func:`~bayes_arena.votes.reading.validity.valid_votes` a unique ``id``, one row per vote."""
    content = [name for name in CONTENT if name in groups.columns] + columns_of(groups, SLICE, FEATURE)
    named = groups.cast({pl.Categorical: pl.String})
    groups = named.group_by("id" if "id" in groups.columns else [], *content).agg(pl.sum("n"))
    if "id" in groups.columns:
        shared = groups["id"].filter(groups["id"].is_duplicated()).unique().sort()
        if len(shared):
            raise InvalidVotesError(
                f"{len(shared)} ids are shared by different votes: {listing(map(repr, shared))}. "
                "Give every vote an id of its own."
            )
        return groups.select("id", *content)
    alike = pl.Series([json.dumps(row, ensure_ascii=False) for row in groups.select(content).iter_rows()])
    groups = groups.with_columns(alike=alike, number=pl.int_ranges(1, pl.col("n") + 1)).explode("number")
    return groups.select(*content, id=pl.col("alike") + " " + pl.col("number").cast(pl.String))


def add_votes(store: Store, votes: pl.DataFrame, *, ids: bool, prompt: Sequence[str]) -> int:
    """Store the votes of :func:`identify` that are not stored yet, in one transaction; return how many there were.

    ``prompt`` are the columns that were read as the prompt. All votes of an arena carry the same, and ids once and for
    all.
    """
    known_annotators = "annotator" in votes.columns
    if not known_annotators:
        votes = votes.with_columns(annotator=pl.lit(None, pl.String))
    slices, features = columns_of(votes, SLICE), columns_of(votes, FEATURE)
    columns = {name: votes[name].to_numpy() for name in ("outcome", "weight", *features)}
    texts = ("id", "a", "b", "annotator", *slices)
    columns |= {name: np.array(votes[name].to_list(), dtype=object) for name in texts}
    hashes = b"".join(hashlib.blake2b(id.encode(), digest_size=8).digest() for id in votes["id"])
    columns["hash"] = np.frombuffer(hashes, dtype="<u8").astype(np.uint64)
    with store.transaction() as session:
        _settle(session, "annotators", known_annotators, "annotator= (--annotator)")
        _settle(session, "ids", ids, "id= (--id)")
        session.execute("update arena set prompt = ? where prompt is null", [list(prompt)])
        slice_names, feature_names = ([column.partition(":")[2] for column in of] for of in (slices, features))
        _settle(session, "slices", slice_names, "prompt= and slices= (--prompt, --slice)")
        _settle(session, "features", feature_names, "features= (--feature)")
        with session.incoming(columns):
            _number_names(session, "competitor", "select a as name from incoming union select b from incoming")
            if known_annotators:
                _number_names(session, "annotator", "select distinct annotator as name from incoming")
            context = number_contexts(session, slices, features)
            session.execute(
                "create temp table batch as select hash, incoming.id, x.code as a, y.code as b, "
                f"coalesce(k.code, {UNKNOWN}) as annotator, c.code as context, outcome::tinyint as outcome, weight "
                "from incoming "
                "join competitor x on x.name = incoming.a join competitor y on y.name = incoming.b "
                f"join context c on {context} "
                "left join annotator k on k.name = incoming.annotator"
            )
        _leave_out_stored(session)
        session.execute("insert into vote by name select *, ? as added from batch", [now()])
        session.execute(
            "insert into cell select a, b, annotator, context, outcome, weight, count(*) from batch group by all "
            "on conflict do update set n = cell.n + excluded.n"
        )
        ((new,),) = session.rows("select count(*) from batch")
    return int(new)


def _settle(session: Session, what: str, carried: bool | list[str], remedy: str) -> None:
    """Require votes to carry what the first ones carried: annotators and ids or none, slices and features by name."""
    ((settled,),) = session.rows(f"select {what} from arena")
    if settled is None:
        session.execute(f"update arena set {what} = ?", [carried])
    elif settled != carried and isinstance(carried, list):
        raise ColumnError(
            f"The stored votes carry the {what} {listing(settled) or '(none)'}, and the new votes "
            f"{listing(carried) or '(none)'}. Name the same ones for all votes of an arena: {remedy}."
        )
    elif settled != carried:
        having, lacking = ("stored", "new") if settled else ("new", "stored")
        raise ColumnError(
            f"The {having} votes carry {what}, and the {lacking} votes do not. "
            f"Name the column with {remedy} for all votes of an arena, or for none."
        )


def _number_names(session: Session, table: str, names: str) -> None:
    session.execute(
        f"insert into {table} "
        f"select (select coalesce(max(code), -1) from {table}) + row_number() over (order by name), name "
        f"from ({names}) anti join {table} using (name)"
    )


def _leave_out_stored(session: Session) -> None:
    """Remove the votes that are stored already from the batch."""
    ((met,),) = session.rows("select count(*) from vote semi join batch using (hash)")
    if not met:
        return
    other = " or ".join(f"vote.{name} != batch.{name}" for name in (*CONTENT, "context"))
    session.execute(
        f"create temp table stored as select batch.id, ({other}) as other from batch join vote using (hash, id)"
    )
    changed = [id for (id,) in session.rows("select id from stored where other order by id")]
    if changed:
        raise InvalidVotesError(
            f"{len(changed)} votes have the id of a different stored vote: {listing(map(repr, changed))}. "
            "Stored votes stay as they are; give new votes ids of their own."
        )
    session.execute("delete from batch using stored where batch.id = stored.id")


def stored_cells(session: Session) -> Cells:
    """Return the cells of all stored votes, bit for bit those of reading all votes at once."""
    found = session.columns("select a, b, annotator, context, outcome, weight, n from cell")
    if not len(found["n"]):
        raise NoVotesError(f"There are no votes in {str(session.path)!r} yet. Add some (bayes-arena arena add).")
    competitors, place = _sorted_names(session, "competitor")
    _require_sound(session, found, len(competitors))
    coded = {"a": place[found["a"]], "b": place[found["b"]], "annotator": np.zeros(len(found["n"]), dtype=np.int64)}
    annotators: list[str] = []
    if found["annotator"][0] != UNKNOWN:
        annotators, place = _sorted_names(session, "annotator")
        coded["annotator"] = place[found["annotator"]]
    said, slice_names = said_by_contexts(session)
    coded |= {column: values[found["context"]] for column, values in said.items()}
    coded |= {name: found[name] for name in ("outcome", "weight", "n")}
    return sum_cells(pl.DataFrame(coded), competitors, annotators, slice_names, dropped={}, sided=True)


def _require_sound(session: Session, found: Mapping[str, Any], competitors: int) -> None:
    """Refuse cells that are not votes, or refer to competitors, annotators or contexts that the file lacks."""
    ((annotators,), (contexts,)) = (
        session.rows(f"select count(*) from {name}")[0] for name in ("annotator", "context")
    )
    first, last = (UNKNOWN, UNKNOWN) if found["annotator"][0] == UNKNOWN else (0, annotators - 1)
    sound = (found["a"] != found["b"]) & np.isfinite(found["weight"]) & (found["weight"] >= 0) & (found["n"] > 0)
    for name, low, high in (
        ("a", 0, competitors - 1),
        ("b", 0, competitors - 1),
        ("annotator", first, last),
        ("context", 0, contexts - 1),
        ("outcome", 0, n_outcomes(MOST_GRADES) - 1),
    ):
        sound &= (found[name] >= low) & (found[name] <= high)
    session.require(sound.all(), f"{np.count_nonzero(~sound)} rows of the table cell are not valid")


def _sorted_names(session: Session, table: str) -> tuple[list[str], Ints]:
    """Return all names, sorted, and the place of every number among them."""
    codes = session.codes(table)
    names = sorted(codes)
    place = np.empty(len(names), dtype=np.int64)
    place[[codes[name] for name in names]] = np.arange(len(names))
    return names, place


def columns_of(votes: pl.DataFrame, *kinds: str) -> list[str]:
    """Return the columns of slices or features (``SLICE``, ``FEATURE``), sorted."""
    return sorted(name for name in votes.columns if name.startswith(kinds))


def settled_prompt(session: Session) -> tuple[str, ...] | None:
    """Return the columns read as prompts from the first votes: empty if they carry none, None before the first."""
    ((columns,),) = session.rows("select prompt from arena")
    return None if columns is None else tuple(columns)


def number_contexts(session: Session, slices: list[str], features: list[str]) -> str:
    """Assign numbers to new combinations of slices and features; return the SQL condition that looks the number up."""
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
    """Return the values of every context, slices as index into their names, and the names of every slice."""
    ((slices, features),) = session.rows("select slices, features from arena")
    said, names = {}, {}
    for name, values in _context_columns(session, "slices", slices).items():
        found, code = np.unique(values, return_inverse=True)
        names[name], said[SLICE + name] = found.tolist(), code.astype(np.int64)
    for name, values in _context_columns(session, "features", features).items():
        said[FEATURE + name] = values
    return said, names


def _context_columns(session: Session, what: str, names: list[str]) -> dict[str, Any]:
    """Return the values of every context, by the name of the slice or feature."""
    if not names:
        return {}
    said = ", ".join(f"{what}[{place}] as {_quoted(name)}" for place, name in enumerate(names, 1))
    ((last, size),) = session.rows("select max(code), count(*) from context")
    session.require(size and last == size - 1, "contexts are not numbered 0, 1, 2, …")
    return session.columns(f"select {said} from context order by code")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
