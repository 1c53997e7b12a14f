"""Damaged and hostile sources: votes or an ``ArenaError``, in bounded time, never anything else."""

import gzip
import json
import random
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba
from bayes_arena.votes.reading.read_votes import read_repeats

ROWS = frame([("x", "y", "x", "j"), ("y", "z", "tie", "k"), ("z", "x", "z", "j")] * 20)
WRITERS = {
    "csv": lambda path: ROWS.write_csv(path),
    "csv.gz": lambda path: path.write_bytes(gzip.compress(ROWS.write_csv().encode())),
    "csv.zst": lambda path: ROWS.write_csv(path, compression="zstd"),
    "jsonl": lambda path: ROWS.write_ndjson(path),
    "json": lambda path: ROWS.write_json(path),
    "parquet": lambda path: ROWS.write_parquet(path),
}
HOSTILE = [b'"', b"\0", b"\xff\xfe", b"\r", b"\\ud800", b"[" * 3000, b",,,", b"1e999", b"{}", b"\n\n", b'"\n"', b"=1+1"]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Flip some bits, cut the end off, or write something hostile into the middle."""
    content, place = bytearray(content), rng.randrange(len(content))
    match rng.randrange(4):
        case 0 | 1:
            for _ in range(rng.randint(1, 8)):
                content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        case 2:
            del content[place:]
        case _:
            content[place:place] = rng.choice(HOSTILE)
    return bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_damaged_file_gives_votes_or_a_typed_error(tmp_path, suffix):
    rng, path = random.Random(suffix), tmp_path / f"votes.{suffix}"
    WRITERS[suffix](path)
    whole, outcomes = path.read_bytes(), set()
    for _ in range(60):
        path.write_bytes(damaged(whole, rng))
        began = time.monotonic()
        with warnings.catch_warnings(action="ignore"):
            try:
                found = ba.read_votes(path)
                assert 0 < found.n_votes < np.inf
                assert not any("\0" in name or "\r" in name for name in found.competitors + found.annotators)
                outcomes.add("votes")
            except ba.ArenaError as error:
                assert 10 < len(str(error)) <= 3010
                outcomes.add("error")
        assert time.monotonic() - began < 20
    assert "error" in outcomes


class Nameless:
    pass


COLUMN = (
    [["x"], ["y"]],
    [{"x": 1}, {"y": 2}],
    [Nameless(), Nameless()],
    [{"x"}, {"y"}],
    [b"\xff", b"y"],
    ["\ud800", "y"],
)


@pytest.mark.parametrize("values", COLUMN, ids=["list", "dict", "object", "set", "bytes", "surrogate"])
@pytest.mark.parametrize("engine", ["pandas", "polars"])
@pytest.mark.parametrize("column", ["model_a", "winner", "judge"])
def test_what_is_no_name_is_refused(values, column, engine):
    table = {"model_a": ["x", "y"], "model_b": ["z", "z"], "winner": ["z", "z"], "judge": ["j", "k"]}
    if engine == "pandas":
        source = pd.DataFrame(table).astype(object)
        source[column] = pd.Series(values, dtype=object)
    elif any(isinstance(value, bytes | str) for value in values):
        pytest.skip("Polars holds no such text, and reads bytes as text")
    else:
        kind = None if isinstance(values[0], list | dict) else pl.Object
        source = pl.DataFrame(table).with_columns(pl.Series(column, values, dtype=kind))
    with pytest.raises(ba.VotesError) as error:
        ba.read_votes(source)
    assert "0x" not in str(error.value)


def test_bytes_are_text_and_columns_without_text_are_named_by_it():
    table = pd.DataFrame(
        {"model_a": [b"x", b"y"], "model_b": ["y", "x"], "winner": ["x", "x"], 7: [1, 2], None: [3, 4]}
    )
    assert ba.read_votes(table).competitors == ("x", "y")
    table = table.rename(columns={"model_a": 1, "model_b": 2})
    assert ba.read_votes(table, a="1", b="2", slices=["7"]).slice_names == {"7": ("1", "2")}


@pytest.mark.parametrize("weight", [1e308, 5e-324, 1e101, np.inf])
def test_weights_that_no_sum_of_squares_holds_are_bad(weight):
    table = ROWS.with_columns(weight=pl.lit(weight))
    with pytest.raises(ba.errors.InvalidVotesError, match="weights are numbers from 1e-100 to 1e100, or zero"):
        ba.read_votes(table, weight="weight")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", b"model_a,model_b,winner\rx,y,x\r", "Lines end with a carriage return alone"),
        ("v.csv", b'model_a,model_b,winner\nx,y,x\nx,y"z,x\n', "row 1 has a quote within a field"),
        ("v.csv.gz", b"", "it is empty"),
        ("v.csv.zst", b"", "it is empty"),
        ("v.jsonl", b"", "it is empty"),
        ("v.json.gz", gzip.compress(b" ", mtime=0), "it is empty"),
        ("v.json", b'[{"model_a": "\\ud800", "model_b": "y", "winner": "y"}]', "not valid UTF-8"),
        ("v.jsonl", b'{"model_a": "\\ud800", "model_b": "y", "winner": "y"}\n', "unpaired surrogate"),
        ("v.jsonl", b'{"model_a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n", "nested too deeply"),
        ("v.json", b"[" * 50_000 + b"]" * 50_000, "nested too deeply"),
    ],
)
def test_the_message_names_what_is_wrong(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ba.VotesError, match=message):
        ba.read_votes(tmp_path / name)


def test_a_row_with_too_many_fields_is_named_where_whole_rows_are_compared(tmp_path):
    votes = "model_a,model_b,winner,judge,turn\nx,y,x,j,1\ny,z,z,j,1,x,y,x,j,1\n"
    (tmp_path / "votes.csv").write_text(votes)
    with pytest.raises(ba.VotesError, match="row 1 has 10 fields"):
        read_repeats(tmp_path / "votes.csv")


def test_paths_that_cannot_be(tmp_path):
    for path in ("a" * 5000 + ".csv", "a\udcff.csv", "a\0b.csv", str(tmp_path / "\ud800.csv")):
        with pytest.raises(ba.VotesError, match="No file at") as error:
            ba.read_votes(path)
        assert len(str(error.value)) < 400


@pytest.mark.slow
def test_a_long_condition_ends():
    thousand = " or ".join(f'model_a == "m{number}"' for number in range(900))
    assert ba.read_votes(ROWS, where=f'{thousand} or model_a == "x"').n_votes == 20
    for condition in (" or ".join([thousand] * 5), "model_a in " + json.dumps([str(n) for n in range(4000)])):
        with pytest.raises(ba.VotesError, match="at most 2000 are allowed"):
            ba.read_votes(ROWS, where=condition)
    for condition in ("not " * 5000 + "turn", "-" * 100_000 + "1 < turn"):
        with pytest.raises(ba.VotesError, match=r"Not a condition|nested"):
            ba.read_votes(ROWS, where=condition)
