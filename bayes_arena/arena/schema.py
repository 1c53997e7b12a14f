"""The tables of an arena's file, and what else a DuckDB file may define.

==============================  ======================================================================================
``arena``                       one row: version of this layout; what the votes carry (null at first): whether
                                annotators and ids, which columns were read as the prompt, names of slices and features
``competitor``, ``annotator``   names, each with a small number that the other tables use
``context``                     combinations of the values of slices and features, each with a number
``vote``                        append-only: one row per vote, with its id, 64 bits of the id's hash, and when it came
``cell``                        votes summed per (a, b, annotator, context, outcome, weight)
``round``                       what each round published about itself,
``rating``, ``ability``         about the competitors and about the annotators
``decision``                    who was warned, excluded or readmitted: when, by which round and why
==============================  ======================================================================================
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA_VERSION = 4
"""Version of the layout of a file."""
SCHEMA = """
create table arena (
    schema_version integer, created timestamp, annotators boolean, ids boolean, changes bigint,
    prompt varchar[], slices varchar[], features varchar[]
);
create table competitor (code integer primary key, name varchar unique);
create table annotator (code integer primary key, name varchar unique);
create table context (code integer primary key, slices varchar[], features double[]);
create table vote (
    hash ubigint, id varchar, a integer, b integer, annotator integer, outcome tinyint, weight double, added timestamp,
    context integer
);
create table cell (
    a integer, b integer, annotator integer, context integer, outcome tinyint, weight double, n bigint,
    primary key (a, b, annotator, context, outcome, weight)
);
create table round (
    round integer primary key, time timestamp, version varchar, votes double, competitors integer, annotators integer,
    waiting integer, excluded integer, flagged integer, model varchar, prior varchar, method varchar, evidence varchar,
    mean_loss double, warnings varchar[], settings varchar
);
create table rating (
    round integer, competitor integer, rank integer, elo double, lower double, upper double, rank_lower integer,
    rank_upper integer, votes double, wins double, losses double, ties double, p_best double
);
create table ability (
    round integer, annotator integer, votes double, theta double, theta_lower double, theta_upper double,
    theta_paper double, p_negative double, verdict varchar, kind varchar, anomaly_probability double,
    net_agreement double
);
create table decision (
    number bigint primary key, annotator integer, round integer, time timestamp, decision varchar, reason varchar
);
"""
KINDS = {
    "schema": "duckdb_schemas",
    "table": "duckdb_tables",
    "view": "duckdb_views",
    "function": "duckdb_functions",
    "sequence": "duckdb_sequences",
    "type": "duckdb_types",
    "index": "duckdb_indexes",
    "trigger": "duckdb_triggers",  # since DuckDB 2
}
"""What a database file can define, and the function that lists it."""


def defined(connection: DuckDBPyConnection) -> set[tuple[str, ...]]:
    """Return everything that a file defines: kind, schema and name, and the SQL of tables.

    Functions are called by their full names, since a file may define others of the same name. Objects that the file
    marks as internal count too.
    """
    known = {
        name for (name,) in connection.execute("select function_name from system.main.duckdb_functions()").fetchall()
    }
    return {
        (kind, *row)
        for kind, function in KINDS.items()
        if function in known
        for row in connection.execute(
            f"select schema_name, {kind}_name, {'sql' if kind == 'table' else 'null'} from system.main.{function}() "
            "where database_name not in ('system', 'temp')"
        ).fetchall()
    }


@cache
def defined_by_arenas() -> set[tuple[str, ...]]:
    """Return everything that the file of an arena defines, as the installed DuckDB writes it."""
    import duckdb

    with duckdb.connect(":memory:") as connection:
        connection.execute(SCHEMA)
        return defined(connection)
