"""Prompts, slices and features in the file of an arena, and files of the layout before them."""

import hashlib
import json

import duckdb
import numpy as np
import polars as pl
import pytest
from helpers import frame, run
from test_store import ROWS, assert_same

import bayes_arena as ba

pytestmark = pytest.mark.slow

LAYOUT_1 = """
create table arena (schema_version integer, created timestamp, annotators boolean, ids boolean, changes bigint);
create table competitor (code integer primary key, name varchar unique);
create table annotator (code integer primary key, name varchar unique);
create table vote (
    hash ubigint, id varchar, a integer, b integer, annotator integer, outcome tinyint, weight double, added timestamp
);
create table cell (
    a integer, b integer, annotator integer, outcome tinyint, weight double, n bigint,
    primary key (a, b, annotator, outcome, weight)
);
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
"""As version 0.1 wrote it."""
NAMES, JUDGES, OUTCOMES = ["x", "y", "z"], ["k", "l"], ["model_a", "model_b", "tie", "both_bad"]


@pytest.fixture
def file_of_0_1(tmp_path):
    """The file of an arena to which version 0.1 has added ``ROWS``, with a round."""
    path, met = tmp_path / "old.duckdb", {}
    with duckdb.connect(path) as connection:
        connection.execute(LAYOUT_1)
        connection.execute("insert into arena values (1, now()::timestamp, true, false, 1)")
        connection.executemany("insert into competitor values (?, ?)", list(enumerate(NAMES)))
        connection.executemany("insert into annotator values (?, ?)", list(enumerate(JUDGES)))
        for a, b, winner, judge in ROWS:
            outcome = OUTCOMES.index(winner)
            content = json.dumps([a, b, judge, outcome, 1.0])
            met[content] = met.get(content, 0) + 1
            id = f"{content} {met[content]}"
            hashed = int.from_bytes(hashlib.blake2b(id.encode(), digest_size=8).digest(), "little")
            row = NAMES.index(a), NAMES.index(b), JUDGES.index(judge), outcome
            connection.execute("insert into vote values (?, ?, ?, ?, ?, ?, 1, now()::timestamp)", [hashed, id, *row])
            connection.execute(
                "insert into cell values (?, ?, ?, ?, 1, 1) on conflict do update set n = cell.n + 1", list(row)
            )
        connection.execute("insert into round (round, votes, time) values (1, 4, now()::timestamp)")
        connection.execute("insert into rating (round, competitor, elo, rank) values (1, 0, 1000, 1)")
    return path


def test_a_file_of_version_0_1_goes_on(file_of_0_1):
    with pytest.raises(ba.StoreError, match=r"schema version 1, .* reads 2\. Open it once to write"):
        ba.StableArena(file_of_0_1, read_only=True)
    for _ in range(2):
        with ba.StableArena(file_of_0_1) as arena:
            assert_same(arena.cells(), ba.read_votes(frame(ROWS)))
            assert arena.add(frame(ROWS)) == ba.Addition(new=0, known=4, dropped={})
            assert arena.history()["competitor"].tolist() == ["x"]
    with ba.StableArena(file_of_0_1) as arena:
        with pytest.raises(ba.ColumnError, match=r"stored votes carry the slices \(none\), and the new votes prompt"):
            arena.add(frame(ROWS).with_columns(prompt=pl.lit("p")), prompt="prompt")
        with pytest.warns(ba.RepeatedVotesWarning):
            assert arena.add(frame([*ROWS, *ROWS])).new == 4
        assert_same(arena.cells(), ba.read_votes(frame([*ROWS, *ROWS])))
    with ba.StableArena(file_of_0_1, read_only=True) as arena:
        assert arena.cells().n_votes == 8


def test_an_empty_file_of_version_0_1_takes_prompts(file_of_0_1):
    with duckdb.connect(file_of_0_1) as connection:
        connection.execute("delete from vote; delete from cell; update arena set annotators = null, ids = null")
    with ba.StableArena(file_of_0_1) as arena:
        arena.add(TABLE, **READING)
        assert_same(arena.cells(), ba.read_votes(TABLE, **READING))


def varied(size: int, seed: int = 0) -> pl.DataFrame:
    """Votes that differ in all that they can carry."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(3)[:2] for _ in range(size)])
    return pl.DataFrame(
        {
            "model_a": [NAMES[a] for a, _ in pairs],
            "model_b": [NAMES[b] for _, b in pairs],
            "winner": rng.choice(OUTCOMES, size),
            "judge": rng.choice(JUDGES, size),
            "p": rng.choice(["ä", "b c", "z/"], size),
            "turn": rng.integers(1, 3, size),
            'what\'s "it"': rng.choice(["maths", "law"], size),
            "length": rng.choice([0.1, -1 / 3, 0.0, 1e-300], size),
            "w": rng.choice([0.1, 1 / 3, 2.0], size),
        }
    )


TABLE = varied(60)
READING = {
    "prompt": ["p", "turn"],
    "slices": ['what\'s "it"'],
    "features": {"length": "length", "size": ("length", "turn")},
    "weight": "w",
}


@pytest.mark.parametrize("ids", [False, True])
def test_what_votes_carry_is_stored(tmp_path, ids):
    table = TABLE.with_row_index("id")
    parts = (table[:20], table[20:45], table[10:]) if ids else (table[:20], table[:45], table)
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        for part in parts:
            if not ids and len(part) > 20:
                with pytest.warns(ba.RepeatedVotesWarning):
                    arena.add(part, **READING)
            else:
                arena.add(part, id="id" if ids else None, **READING)
        assert arena.add(table, id="id" if ids else None, **READING).new == 0
    with ba.StableArena(tmp_path / "arena.duckdb", read_only=True) as arena:
        assert_same(arena.cells(), ba.read_votes(TABLE, **READING))


def test_an_id_of_a_vote_on_another_prompt_is_refused(tmp_path):
    table = varied(2).with_row_index("id")
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(table, id="id", prompt="p")
        with pytest.raises(ba.InvalidVotesError, match="id of a stored vote of other contents: '0', '1'"):
            arena.add(table.with_columns(p=pl.lit("other")), id="id", prompt="p")


@pytest.mark.slow
def test_the_command_adds_what_votes_carry(tmp_path):
    path, file = tmp_path / "arena.duckdb", tmp_path / "votes.parquet"
    TABLE.write_parquet(file)
    run("arena", "init", path)
    columns = ("--prompt", "p", "--prompt", "turn", "--slice", 'what\'s "it"', "--weight", "w")
    done = run("arena", "add", path, file, *columns, "--feature", "length", "--feature", "size=length,turn")
    assert (done.returncode, done.stderr) == (0, "")
    assert "name the same" in run("arena", "add", path, file, "--no-prompt").stderr.lower()
    with ba.StableArena(path, read_only=True) as arena:
        assert_same(arena.cells(), ba.read_votes(TABLE, **READING))


@pytest.mark.parametrize(
    ("first", "then", "match"),
    [
        ({"prompt": "p"}, {"prompt": False}, r"carry the slices prompt, and the new votes \(none\)"),
        ({"slices": ["p"]}, {"slices": ["turn"]}, "carry the slices p, and the new votes turn"),
        ({"features": ["length"]}, {}, r"carry the features length, and the new votes \(none\).*--feature"),
    ],
)
def test_all_votes_carry_the_same_slices_and_features(tmp_path, first, then, match):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(TABLE, **first)
        with pytest.raises(ba.ColumnError, match=match):
            arena.add(TABLE, **then)
        assert arena.cells().n_votes == 60


def test_the_first_votes_settle_which_columns_are_the_prompt(tmp_path):
    """Later ones may be few, or have another column that looks like prompts."""
    rng = np.random.default_rng(1)
    pairs = [rng.permutation(4)[:2] for _ in range(300)]
    table = pl.DataFrame({"model_a": [f"m{a}" for a, _ in pairs], "model_b": [f"m{b}" for _, b in pairs]})
    table = table.with_columns(
        winner=pl.lit("tie"), question_id=pl.Series(np.repeat(np.arange(60), 5)), id=pl.int_range(300)
    )
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        with pytest.warns(ba.PromptsWarning):
            arena.add(table[:290], id="id")
        arena.add(table[290:].with_columns(prompt=pl.lit("text")), id="id")
        assert_same(arena.cells(), ba.read_votes(table, prompt="question_id"))
        with pytest.raises(ba.ColumnError, match="No column 'question_id'"):
            arena.add(table.drop("question_id"), id="id")
    with ba.StableArena.create(tmp_path / "plain.duckdb") as arena:
        arena.add(table[:5], id="id", prompt=False)
        arena.add(table, id="id")
        assert_same(arena.cells(), ba.read_votes(table, prompt=False))
