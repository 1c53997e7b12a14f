"""Prompts, slices and features in the file of an arena."""

import duckdb
import numpy as np
import polars as pl
import pytest
from helpers import run
from test_store import assert_same

import bayes_arena as ba

pytestmark = pytest.mark.slow

NAMES, JUDGES, OUTCOMES = ["x", "y", "z"], ["k", "l"], ["model_a", "model_b", "tie", "both_bad"]


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
                with pytest.warns(ba.errors.RepeatedVotesWarning):
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
        with pytest.raises(ba.errors.InvalidVotesError, match="id of a different stored vote: '0', '1'"):
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
        with pytest.raises(ba.errors.ColumnError, match=match):
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
        with pytest.warns(ba.errors.PromptsWarning):
            arena.add(table[:290], id="id")
        arena.add(table[290:].with_columns(prompt=pl.lit("text")), id="id")
        assert_same(arena.cells(), ba.read_votes(table, prompt="question_id"))
        with pytest.raises(ba.errors.ColumnError, match="No column 'question_id'"):
            arena.add(table.drop("question_id"), id="id")
    with ba.StableArena.create(tmp_path / "plain.duckdb") as arena:
        arena.add(table[:5], id="id", prompt=False)
        arena.add(table, id="id")
        assert_same(arena.cells(), ba.read_votes(table, prompt=False))


def test_rounds_rank_now_where_strengths_move(tmp_path):
    rng, size = np.random.default_rng(1), 400
    a = rng.integers(3, size=size)
    b = (a + rng.integers(1, 3, size=size)) % 3
    day = np.sort(rng.integers(0, 56, size))
    table = pl.DataFrame(
        {
            "model_a": np.array(NAMES[:3])[a],
            "model_b": np.array(NAMES[:3])[b],
            "winner": rng.choice(["model_a", "model_b"], size),
            "when": (np.datetime64("2024-01-01") + day).astype(str),
            "id": np.arange(size),
        }
    )
    reading = {"time": "when", "period": "week", "id": "id", "annotator": False}
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        for part in (table[:200], table[200:]):
            arena.add(part, **reading)
            published = arena.rate(drift=True)
            whole = ba.fit(arena.cells(), drift=True)
            assert list(published.ratings["elo"]) == ba.leaderboard(whole)["elo"].tolist()
            assert published.fit.model.drift
        assert len(whole.cells.slice_names["time"]) == 8


def test_contexts_whose_numbers_have_gaps_are_refused(tmp_path):
    path = tmp_path / "arena.duckdb"
    with ba.StableArena.create(path) as arena:
        arena.add(TABLE, **READING)
    with duckdb.connect(path) as connection:
        connection.execute("update context set code = code + 1 where code = (select max(code) from context)")
    with ba.StableArena(path) as arena, pytest.raises(ba.errors.StoreError, match="contexts are not numbered"):
        arena.cells()
