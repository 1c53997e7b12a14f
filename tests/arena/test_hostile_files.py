"""Files of arenas from strangers: nothing in them is read before all that they define is known."""

import duckdb
import pytest
from helpers import frame, run
from test_store import ROWS

import bayes_arena as ba

SECRET = "the lines of another file"
HOSTILE = {
    "a view of another file": (
        "drop table competitor; create view competitor as select 0 as code, content as name from read_text('{secret}')",
        r"table 'competitor', view 'competitor'",
    ),
    "a view of the same name elsewhere": ("create schema other; create view other.competitor as select 1", "schema 'o"),
    "a view in place of the arena": (
        "drop table arena; create view arena as select 2 as schema_version, content from read_text('{secret}')",
        "table 'arena', view 'arena'",
    ),
    "a table beside": ("create table more (x integer)", "table 'more'"),
    "a table less": ("drop table decision", "table 'decision'"),
    "a column more": ("alter table round add column x integer", "table 'round'"),
    "a column less": ("alter table rating drop column elo", "table 'rating'"),
    "another type": ("alter table rating alter elo type varchar", "table 'rating'"),
    "a default that computes": ("alter table vote alter outcome set default (random() * 2)", "table 'vote'"),
    "a column that computes": (
        "drop table decision; create table decision (number bigint primary key, annotator integer, round integer, "
        "time timestamp, decision varchar, reason varchar generated always as (current_setting('home_directory')))",
        "table 'decision'",
    ),
    "a constraint": (
        "drop table ability; create table ability (round integer check (hash(round) > 0))",
        "table 'ability'",
    ),
    "a macro in place of a function": ("create macro sum(x) as 1", "function 'sum'"),
    "a macro that hides the others": (
        "create macro duckdb_functions() as table select 'main' as schema_name, null as function_name where false",
        "function 'duckdb_functions'",
    ),
    "a sequence": ("create sequence more", "sequence 'more'"),
    "a type": ("create type more as enum ('x')", "type 'more'"),
    "an index that computes": ("create index more on vote (lower(id))", "index 'more'"),
}
TRIGGER = "create trigger more after insert on vote for each statement insert into decision (number) values (0)"
if int(duckdb.__version__.partition(".")[0]) >= 2:
    HOSTILE["a trigger"] = (TRIGGER, "trigger 'more'")


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.fixture(params=HOSTILE)
def hostile(request, tmp_path, secret):
    """The file of an arena with votes to which a stranger has put something, and what refuses it."""
    path = tmp_path / "arena.duckdb"
    with ba.StableArena.create(path) as arena:
        arena.add(frame(ROWS))
    statement, problem = HOSTILE[request.param]
    with duckdb.connect(path) as connection:
        connection.execute(statement.format(secret=secret))
    return path, problem


@pytest.mark.slow
@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_defines_anything_else_is_refused(hostile, read_only):
    path, problem = hostile
    before = path.read_bytes()
    with pytest.raises(
        ba.errors.StoreError, match=rf"differs from the file of an arena in {problem}.* Do not use it"
    ) as error:
        ba.StableArena(path, read_only=read_only)
    assert SECRET not in str(error.value)
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("hostile", ["a view of another file"], indirect=True)
@pytest.mark.parametrize("command", ["add", "rate", "history", "annotators", "readmit", "next"])
def test_every_command_refuses_it(hostile, command, tmp_path):
    path, problem = hostile
    frame(ROWS).write_csv(tmp_path / "votes.csv")
    more = {"add": [tmp_path / "votes.csv"], "readmit": ["k"]}.get(command, [])
    done = run("arena", command, path, *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert problem in done.stderr and SECRET not in done.stderr


@pytest.mark.slow
def test_nothing_in_an_open_arena_reaches_another_file(tmp_path, secret):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        for statement in (
            f"select * from read_text('{secret}')",
            f"copy vote to '{tmp_path / 'out.csv'}'",
            f"attach '{tmp_path / 'other.duckdb'}'",
            "load httpfs",
            "set enable_external_access = true",
            "set autoload_known_extensions = true",
        ):
            with (
                arena._store.read() as session,
                pytest.raises(ba.errors.StoreError, match=r"disabled|Cannot change configuration"),
            ):
                session.rows(statement)
    assert {file.name for file in tmp_path.iterdir()} == {"arena.duckdb", "secret.txt"}


NO_VOTES = {
    "update cell set a = 3 where a = 0": "not valid",
    "update cell set a = -1 where a = 0": "not valid",
    "update cell set b = a": "not valid",
    "update cell set outcome = 20": "not valid",
    "update cell set context = 1": "not valid",
    "update cell set annotator = -1 where b = 2": "not valid",
    "update cell set annotator = 2 where b = 2": "not valid",
    "update cell set weight = 'nan'": "not valid",
    "update cell set n = 0": "not valid",
    "update cell set n = null": "values are missing",
    "update competitor set name = null where code = 0": "names of competitors",
    "update competitor set code = 1000000000 where code = 0": "names of competitors",
    "update annotator set code = 7 where code = 0": "names of annotators",
}


@pytest.mark.slow
@pytest.mark.parametrize("statement", NO_VOTES)
def test_rows_that_cannot_be_are_refused(tmp_path, statement):
    path = tmp_path / "arena.duckdb"
    with ba.StableArena.create(path) as arena:
        arena.add(frame(ROWS))
    with duckdb.connect(path) as connection:
        connection.execute(statement)
    for read in (ba.StableArena.cells, ba.StableArena.rate, ba.StableArena.next_pairs):
        with (
            ba.StableArena(path) as arena,
            pytest.raises(ba.errors.StoreError, match=rf"damaged.*{NO_VOTES[statement]}"),
        ):
            read(arena)


@pytest.mark.slow
def test_a_round_whose_settings_cannot_be_read_is_refused(tmp_path):
    path = tmp_path / "arena.duckdb"
    ba.StableArena.create(path).close()
    for settings in ("{", "[" * 100_000, "{}", "[]"):
        with duckdb.connect(path) as connection:
            connection.execute("insert or replace into round (round, settings) values (1, ?)", [settings])
        with ba.StableArena(path) as arena, pytest.raises(ba.errors.StoreError, match="lacks the level"):
            arena.history()
