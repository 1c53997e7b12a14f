"""Files that cannot be read: which file, which row, and what to do."""

import gzip

import polars as pl
import pytest
from helpers import frame

import bayes_arena as ba

HEADER, VOTE = "model_a,model_b,winner\n", "x,y,x\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + VOTE * 5 + "x,y,x,k,z\n", "row 5 has 5 fields, and the header 3. Put fields"),
        (HEADER + VOTE * 5 + 'x,"y,x\n' + VOTE, "the quotes of row 5 do not close"),
        (HEADER + VOTE * 2 + 'x,"y"z,x\n', "the quotes of row 2 do not close"),
        (HEADER + 'x,y"z,x\n', "row 0 has a quote within a field"),
        ("", "it is empty. Check that it is"),
        ((HEADER + VOTE + "é,y,y\n").encode("latin-1"), "row 1 is not UTF-8. Save"),
    ],
)
def test_a_broken_csv_names_file_row_and_remedy(tmp_path, text, message):
    path = tmp_path / "votes.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ba.VotesError) as error:
        ba.read_votes(path)
    assert repr(str(path)) in str(error.value)
    assert message in str(error.value)
    (tmp_path / "good.csv").write_text(HEADER + VOTE)
    with pytest.raises(ba.VotesError, match=r"votes\.csv"):
        ba.read_votes([tmp_path / "good.csv", path])
    with pytest.raises(ba.VotesError, match=r"votes\.csv"):
        ba.check(path)
    packed = tmp_path / "votes.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ba.VotesError, match=r"votes\.csv\.gz"):
        ba.read_votes(packed)


def test_long_conversations_are_no_fault(tmp_path):
    path = tmp_path / "votes.csv"
    table = pl.concat([frame([("x", "y", "x")])] * 2).with_columns(text=pl.lit('say "a",\n' * 40_000))
    path.write_bytes(table.write_csv().encode() + "x,é,x,z\n".encode("latin-1"))
    with pytest.raises(ba.VotesError, match="row 2 is not UTF-8"):
        ba.read_votes(path)


def test_files_of_different_columns_are_named(tmp_path):
    table = frame([("x", "y", "x")])
    for write, suffix in ((pl.DataFrame.write_csv, "csv"), (pl.DataFrame.write_parquet, "parquet")):
        one, two = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
        write(table, one)
        write(table.select("model_b", "model_a", "winner", judge=pl.lit("k")), two)
        with pytest.raises(ba.VotesError, match=r"two\..*has the columns model_b.*one\..*has model_a.*same order"):
            ba.read_votes([one, two])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.jsonl", b'{"model_a":"x","model_b":"y","winner":"x"}\n{"model_a":\n', "row 1 is not JSON. Write one"),
        ("v.jsonl", b'[{"model_a":"x","model_b":"y","winner":"x"}]\n', "row 0 is not a JSON object"),
        ("v.parquet", b"<html>", "it is not a Parquet file, or it is truncated"),
        ("v.csv.gz", b"\x1f\x8bnonsense", "it is not compressed as its name says"),
    ],
)
def test_other_formats_name_the_file_too(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ba.VotesError, match=message) as error:
        ba.read_votes(tmp_path / name)
    assert name in str(error.value)


def test_what_is_no_csv_is_said_to_be_none(tmp_path):
    (tmp_path / "v.csv").write_bytes((HEADER + VOTE).encode("utf-16"))
    with pytest.raises(ba.errors.ColumnError, match="Save the file as UTF-8"):
        ba.read_votes(tmp_path / "v.csv")
