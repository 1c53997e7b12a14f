"""Style of answers as features of votes."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

import bayes_arena as ba

LONG = "# Title\n\n- one\n* two\n1. three\n**bold** and __bold__\n```\n# no header\n- no item\n```"


def conversation(*answers: str) -> list[dict[str, str]]:
    return [
        turn
        for answer in answers
        for turn in ({"role": "user", "content": "?"}, {"role": "assistant", "content": answer})
    ]


def table(a: list[object], b: list[object]) -> pl.DataFrame:
    names = {"model_a": ["x"] * len(a), "model_b": ["y"] * len(a), "winner": ["x"] * len(a)}
    return pl.DataFrame({**names, "conversation_a": a, "conversation_b": b})


def relative(a: float, b: float) -> float:
    return (a - b) / (a + b)


def test_differences_are_relative_to_both_and_in_standard_deviations():
    found = ba.style_features(
        table([conversation("aa", "bb"), conversation("a")], [conversation("cc"), conversation("bb", "c")])
    )
    assert found.columns == ["model_a", "model_b", "winner", "length", "headers", "lists", "bold"]
    expected = np.array([relative(6, 2), relative(1, 5)])
    assert_allclose(found["length"], expected / np.sqrt(np.mean(expected**2)))
    assert_allclose(found["headers"], 0)


def test_markdown_is_counted_outside_code():
    found = ba.style_features(table([LONG, "# a\n## b\n**c**"], ["# a", "- b"]))
    counts = {"headers": ([1, 2], [1, 0]), "lists": ([3, 0], [0, 1]), "bold": ([2, 1], [0, 0])}
    for name, (a, b) in counts.items():
        expected = np.array([relative(x, y) for x, y in zip(a, b, strict=True)])
        assert_allclose(found[name], expected / np.sqrt(np.mean(expected**2)), err_msg=name)


def metadata(length: int, headers: int) -> dict[str, object]:
    kinds = {"list_count": ("ordered", "unordered"), "bold_count": ("**", "__")}
    both = {f"{name}_{side}": dict.fromkeys(of, 0) for name, of in kinds.items() for side in "ab"}
    both |= {"header_count_a": {"h1": headers, "h2": 0}, "header_count_b": {"h1": 1, "h2": 1}}
    return {"sum_assistant_a_tokens": length, "sum_assistant_b_tokens": 100} | both


@pytest.mark.parametrize("written", [False, True], ids=["struct", "json"])
def test_published_metadata_are_read(written):
    rows = [metadata(300, 2), metadata(100, 0), metadata(50, 6)]
    votes = table(["not read"] * 3, ["not read"] * 3).with_columns(
        conv_metadata=pl.Series([json.dumps(row) for row in rows] if written else rows)
    )
    found = ba.style_features(votes)
    length = np.array([0.5, 0, -1 / 3])
    assert_allclose(found["length"], length / np.sqrt(np.mean(length**2)))
    headers = np.array([0, -1, 0.5])
    assert_allclose(found["headers"], headers / np.sqrt(np.mean(headers**2)))


def test_files_dataframes_and_parts_say_the_same(tmp_path):
    parts = [{"role": "assistant", "content": [{"type": "text", "text": LONG}]}]
    votes = table([conversation(LONG), conversation("b")], [conversation("a"), conversation("# c")])
    expected = ba.style_features(votes)
    votes.write_ndjson(tmp_path / "v.jsonl")
    votes.write_parquet(tmp_path / "v.parquet")
    for source in (tmp_path / "v.jsonl", tmp_path / "v.parquet", votes.lazy(), votes.to_pandas()):
        assert_allclose(ba.style_features(source)[["length", "lists"]], expected[["length", "lists"]])
    in_parts = votes.with_columns(conversation_a=pl.Series([json.dumps(parts), json.dumps(conversation("b"))]))
    assert_allclose(ba.style_features(in_parts)["bold"], expected["bold"])


def test_they_are_features_to_be_read_and_a_missing_answer_is_quoted():
    votes = table(["long answer", "a"], ["b", None])
    with pytest.raises(ba.errors.InvalidVotesError, match="bad feature"):
        ba.read_votes(ba.style_features(votes), features=["length"])
    cells = ba.read_votes(ba.style_features(votes[:1]), features=["length", "bold"])
    assert_allclose(cells.features["length"], 1)
    assert_allclose(cells.features["bold"], 0)


def test_what_is_missing_is_named():
    votes = table(["a"], ["b"])
    with pytest.raises(ba.errors.ColumnError, match="neither 'conv_metadata' nor 'reply_a' and 'reply_b'"):
        ba.style_features(votes, a="reply_a", b="reply_b")
    with pytest.raises(ba.errors.ColumnError, match=r"already have the columns 'bold'"):
        ba.style_features(votes.with_columns(bold=1))
    with pytest.raises(ba.errors.ColumnError, match="'conv_metadata' has no 'sum_assistant_a_tokens'"):
        ba.style_features(votes.with_columns(conv_metadata=pl.Series([{"x": 1}])))
