"""The tables of an arena's file, and how a file of the layout before becomes one of this.

==============================  ======================================================================================
``arena``                       one row: version of this layout; what the votes carry (null at first): whether
                                annotators and ids, which columns were read as the prompt, names of slices and features
``competitor``, ``annotator``   names, each with a small number that the other tables use
``context``                     what slices and features say of votes, in the order of their names, with a number
``vote``                        append-only: one row a vote, with its id, 64 bits of the id's hash, and when it came
``cell``                        votes summed per (a, b, annotator, context, outcome, weight)
``round``                       what each round published about itself,
``rating``, ``ability``         about the competitors and about the annotators
``decision``                    who was left out, warned, excluded or readmitted: when, by which round and why
==============================  ======================================================================================
"""

from __future__ import annotations

SCHEMA_VERSION = 2
"""Version of the layout of a file."""
CONTEXT = "create table context (code integer primary key, slices varchar[], features double[]);"
CELL = """
create table cell (
    a integer, b integer, annotator integer, context integer, outcome tinyint, weight double, n bigint,
    primary key (a, b, annotator, context, outcome, weight)
);
"""
SCHEMA = f"""
create table arena (
    schema_version integer, created timestamp, annotators boolean, ids boolean, changes bigint,
    prompt varchar[], slices varchar[], features varchar[]
);
create table competitor (code integer primary key, name varchar unique);
create table annotator (code integer primary key, name varchar unique);
{CONTEXT}
create table vote (
    hash ubigint, id varchar, a integer, b integer, annotator integer, outcome tinyint, weight double, added timestamp,
    context integer
);
{CELL}
create table round (
    round integer primary key, time timestamp, version varchar, votes double, competitors integer, annotators integer,
    waiting integer, excluded integer, flagged integer, model varchar, prior varchar, method varchar, evidence varchar,
    mean_loss double, warnings varchar[], settings varchar
);
create table rating (
    round integer, competitor integer, rank integer, elo double, lower double, upper double, rank_best integer,
    rank_worst integer, votes double, wins double, losses double, ties double, p_best double
);
create table ability (
    round integer, annotator integer, votes double, theta double, lower double, upper double, theta_paper double,
    p_negative double, verdict varchar, kind varchar, anomaly_probability double, net_agreement double
);
create table decision (
    number bigint primary key, annotator integer, round integer, time timestamp, decision varchar, reason varchar
);
"""
MIGRATION = f"""
alter table arena add column prompt varchar[];
alter table arena add column slices varchar[];
alter table arena add column features varchar[];
update arena set prompt = [], slices = [], features = [] where annotators is not null;
update arena set schema_version = {SCHEMA_VERSION};
{CONTEXT}
insert into context select 0, [], [] where exists (from vote);
alter table vote add column context integer default 0;
create temp table before as from cell;
drop table cell;
{CELL}
insert into cell by name select *, 0 as context from before;
drop table before;
"""
"""Layout 1, of version 0.1, to layout 2: its votes carry neither slices nor features."""
