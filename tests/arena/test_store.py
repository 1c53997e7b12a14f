"""Files of arenas: from strangers, damaged, busy, of other versions, or no arenas."""

import sqlite3
import subprocess
import sys
from contextlib import closing

import pandas as pd
import pytest

from bayes_arena.arena.stable_arena import StableArena
from bayes_arena.arena.store import VERSION, reading, writing
from bayes_arena.errors import StoreError

ROWS = [("x", "y", "model_a", "k"), ("y", "z", "tie", "l")]
HOSTILE = {
    "a view": "drop table competitor; "
    "create view competitor as select 0 as code, 'x' as name",
    "a trigger": "create trigger more after insert on cell begin delete from cell; end",
    "a virtual table": "create virtual table more using fts5(x)",
    "a table beside": "create table more (x)",
    "a table less": "drop table decision",
    "a column more": "alter table round add column x",
    "a default that computes": "drop table decision; create table decision "
    "(number integer primary key, annotator integer default (random()), "
    "decision text, round integer, time text, reason text)",
    "a column that computes": "alter table round add column "
    "x generated always as (hex(zeroblob(1000000000)))",
    "an index that computes": "create index more on vote (lower(id))",
    "a hidden view": "pragma writable_schema = on; insert into sqlite_schema values "
    "('view', 'sqlite_autoindex_more', 'more', 0, 'create view more as select 1')",
}
DAMAGE = {
    "update cell set first = 9": "table cell",
    "update cell set second = first": "table cell",
    "update cell set outcome = 3": "table cell",
    "update cell set n = 'many'": "table cell",
    "update cell set n = -1": "table cell",
    "update competitor set code = 10000 where code = 0": "names of competitors",
    "update annotator set name = null where code = 0": "names of annotators",
    "delete from arena": "no settings",
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "arena.db"
    votes = pd.DataFrame(ROWS, columns=["model_a", "model_b", "winner", "judge"])
    StableArena.create(path).add(votes)
    return path


def change(path, statements):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_defines_anything_else_is_refused(path, kind):
    arena = StableArena.open(path)
    change(path, HOSTILE[kind])
    before = path.read_bytes()
    for use in (lambda: StableArena.open(path), arena.annotators, arena.round):
        with pytest.raises(StoreError, match=r"differs from the file|is damaged"):
            use()
    assert path.read_bytes() == before


@pytest.mark.parametrize("statement", DAMAGE)
def test_rows_that_cannot_be_are_refused(path, statement):
    change(path, statement)
    with pytest.raises(StoreError, match=f"damaged.*{DAMAGE[statement]}"):
        StableArena.open(path)


def test_nothing_in_an_open_file_reaches_another(path, tmp_path):
    for statement in (
        f"attach '{tmp_path / 'other.db'}' as other",
        "select load_extension('libm.so')",
        "insert into sqlite_schema values ('view', 'v', 'v', 0, '')",
    ):
        with (
            pytest.raises(StoreError, match="Cannot use"),
            writing(path) as connection,
        ):
            connection.execute("pragma writable_schema = on")
            connection.execute(statement)
    refused = pytest.raises(StoreError, match="may not be written")
    with refused, reading(path) as connection:
        connection.execute("delete from cell")
    assert [file.name for file in tmp_path.iterdir()] == ["arena.db"]


def test_a_huge_value_is_not_read(path):
    change(path, "update annotator set name = hex(zeroblob(1000000)) where code = 0")
    with pytest.raises(StoreError, match="has more than"):
        StableArena.open(path).annotators()


def test_damaged_pages_are_found(path):
    pages = bytearray(path.read_bytes())
    pages[4096 * 3 : 4096 * 6] = b"\xff" * 4096 * 3
    path.write_bytes(pages)
    with pytest.raises(StoreError, match="damaged"):
        StableArena.open(path)


def test_a_file_cut_short_is_found(path):
    path.write_bytes(path.read_bytes()[: 4096 * 5])
    with pytest.raises(StoreError, match="damaged"):
        StableArena.open(path)


def test_another_version_is_refused(path):
    change(path, f"pragma user_version = {VERSION + 1}")
    with pytest.raises(StoreError, match=f"has version {VERSION + 1} of the layout"):
        StableArena.open(path)


def test_what_is_no_arena_is_refused(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(StoreError, match="No such file"):
        StableArena.open(path)
    with pytest.raises(StoreError, match="Is a directory"):
        StableArena.open(tmp_path)
    with pytest.raises(StoreError, match="null"):
        StableArena.open("a\0b")
    for content in (b"", b"model_a,model_b\n", b"SQLite format 3\0" + bytes(200)):
        path.write_bytes(content)
        with pytest.raises(StoreError, match="not the file of an arena"):
            StableArena.open(path)
    path.unlink()
    change(path, "create table x (y)")
    with pytest.raises(StoreError, match="not the file of an arena"):
        StableArena.open(path)


def test_a_journal_beside_a_file_is_not_played_back(path):
    path.with_name("arena.db-journal").write_bytes(b"x" * 1000)
    with pytest.raises(StoreError, match="journal"):
        StableArena.open(path)


def test_what_exists_is_not_overwritten(path, tmp_path):
    with pytest.raises(StoreError, match="exists"):
        StableArena.create(path)
    (tmp_path / "new.db-wal").write_bytes(b"x")
    with pytest.raises(StoreError, match="exists"):
        StableArena.create(tmp_path / "new.db")
    with pytest.raises(StoreError, match="Cannot write"):
        StableArena.create(tmp_path / "no" / "folder.db")


def test_names_of_files_are_only_names(tmp_path):
    path = tmp_path / "a?mode=memory&x=%41 #ü.db"
    StableArena.create(path)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert StableArena.open(path).path == path


def test_a_file_that_another_process_writes(path, monkeypatch):
    monkeypatch.setattr("bayes_arena.arena.store.SECONDS_TO_WAIT", 0.05)
    arena = StableArena.open(path)
    with writing(path):
        assert len(arena.annotators()) == 2
        with pytest.raises(StoreError, match="another process is writing"):
            arena.readmit("k")


KILLED = """
import os, sys
from pathlib import Path
from bayes_arena.arena.store import writing
with writing(Path(sys.argv[1])) as connection:
    connection.execute("pragma cache_size = 1")  # spills what is not committed
    connection.execute("delete from cell")
    rows = [(f"{n}" * 30, 0, 1, 0, 0) for n in range(2000)]
    connection.executemany("insert into vote values (?, ?, ?, ?, ?)", rows)
    os.kill(os.getpid(), 9)
"""


def test_a_process_killed_in_a_transaction_leaves_nothing(path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert done.returncode in (-9, 9)  # 9 on Windows
    assert path.with_name("arena.db-wal").stat().st_size > 0
    assert StableArena.open(path).annotators()["votes"].tolist() == [1, 1]
    with reading(path) as connection:
        assert connection.execute("select count(*) from vote").fetchone() == (0,)
