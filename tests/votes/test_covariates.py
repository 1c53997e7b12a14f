"""Prompts, slices and features: found, read in every engine, checked, and left alone where they are of no use."""

from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import real_votes
from helpers import assert_same, run
from hypothesis import given
from strategies import votes

import bayes_arena as ba
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.votes.records import repeated_answers

TABLE = pl.DataFrame(
    {
        "model_a": ["x", "y", "x", "z", "x", "x"],
        "model_b": ["y", "x", "z", "y", "y", "y"],
        "winner": ["model_a", "tie", "model_b", "model_a", "model_a", "model_a"],
        "judge": ["k", "l", "k", "l", "k", "k"],
        "question": [2, 2, 10, 10, 2, 2],
        "round": [1, 2, 1, 2, 1, 1],
        "lang": ["de", "en", "de", "de", "de", "de"],
        "length": [3.5, -1.0, 0.0, 2.0, 3.5, 4.0],
        "words_a": [5, 1, 2, 3, 5, 6],
        "words_b": [4, 3, 2, 1, 4, 4],
    }
)
READING = {
    "prompt": ["question", "round"],
    "slices": {"language": "lang"},
    "features": {"length": "length", "words": ("words_a", "words_b")},
}


def repeating(n_prompts: int, each: int, seed: int = 0) -> pl.DataFrame:
    """Votes of four competitors, so many on every prompt."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.permutation(4)[:2] for _ in range(n_prompts * each)])
    return pl.DataFrame(
        {
            "model_a": [f"m{a}" for a, _ in pairs],
            "model_b": [f"m{b}" for _, b in pairs],
            "winner": rng.choice(["model_a", "model_b", "tie"], len(pairs)),
            "prompt": np.repeat([f"p{i}" for i in range(n_prompts)], each),
        }
    )


def test_votes_are_read_with_what_they_carry():
    cells = ba.read_votes(TABLE, **READING)
    assert cells.slice_names == {"language": ("de", "en"), "prompt": ("10/1", "10/2", "2/1", "2/2")}
    rows = [
        (
            cells.competitors[a],
            cells.competitors[b],
            cells.slice_names["language"][cells.slices["language"][cell]],
            cells.slice_names["prompt"][cells.slices["prompt"][cell]],
            cells.features["length"][cell],
            cells.features["words"][cell],
            cells.counts[cell].tolist(),
        )
        for cell, (a, b) in enumerate(zip(cells.a, cells.b, strict=True))
    ]
    assert rows == [
        ("x", "y", "de", "2/1", 3.5, 1.0, [2, 0, 0, 0]),
        ("x", "y", "de", "2/1", 4.0, 2.0, [1, 0, 0, 0]),
        ("x", "z", "de", "10/1", 0.0, 0.0, [0, 1, 0, 0]),
        ("y", "x", "en", "2/2", -1.0, -2.0, [0, 0, 1, 0]),
        ("z", "y", "de", "10/2", 2.0, 2.0, [1, 0, 0, 0]),
    ]


def test_cells_say_what_they_carry():
    assert repr(ba.read_votes(TABLE, **READING)).endswith("2 annotators, slices language (2), prompt (4), 5 cells)")


def test_names_alone_are_those_of_columns():
    short = ba.read_votes(TABLE, prompt=False, slices=["lang"], features=["length"])
    long = ba.read_votes(TABLE, prompt=False, slices={"lang": "lang"}, features={"length": "length"})
    assert_same(short, long)
    assert_same(ba.read_votes(TABLE, prompt=False, slices="lang", features="length"), long)
    assert list(short.slices) == ["lang"]


@pytest.mark.parametrize(
    "convert",
    [
        pl.DataFrame.lazy,
        pl.DataFrame.to_pandas,
        lambda table: pd.DataFrame(table.to_dict(as_series=False)).astype(object),
        lambda table: table.to_pandas().astype({"lang": "category", "question": float}),
        pl.DataFrame.to_arrow,
        lambda table: duckdb.from_arrow(table.to_arrow()),
        lambda table: table.with_columns(pl.all().cast(pl.String)),
        lambda table: table[::-1],
    ],
)
def test_no_engine_changes_a_bit(convert):
    assert_same(ba.read_votes(convert(TABLE), **READING), ba.read_votes(TABLE, **READING))


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_chunks_of_files_change_no_bit(tmp_path, suffix):
    write = {"csv": pl.DataFrame.write_csv, "parquet": pl.DataFrame.write_parquet, "jsonl": pl.DataFrame.write_ndjson}
    for index in range(3):
        write[suffix](TABLE[index::3], tmp_path / f"{index}.{suffix}")
    assert_same(ba.read_votes(tmp_path / f"*.{suffix}", **READING), ba.read_votes(TABLE, **READING))


@given(votes())
@pytest.mark.slow
def test_order_of_votes_changes_no_bit(table):
    rng = np.random.default_rng(len(table))
    table = table.with_columns(
        p=pl.Series(rng.integers(3, size=len(table))),
        x=pl.Series(rng.choice([0.1, -0.3, 1 / 3], len(table))),
        y=pl.Series(rng.random(len(table))),
        w=pl.Series(rng.choice([0.1, 1 / 3, 2.5], len(table))),
    )
    reading = {"prompt": "p", "slices": {"who": ["judge", "p"]}, "features": {"f": ("x", "y"), "g": "x"}, "weight": "w"}
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    cells = ba.read_votes(table, **reading)
    assert_same(cells, ba.read_votes(shuffled, **reading))
    plain = ba.read_votes(table, weight="w").tally(by_annotator=True, by_side=True)
    np.testing.assert_array_equal(cells.tally(by_annotator=True, by_side=True).counts, plain.counts)


def test_different_columns_never_make_the_same_prompt():
    table = TABLE[:2].with_columns(p=pl.Series(["a/b", "a"]), q=pl.Series(["c", "b/c"]))
    assert len(ba.read_votes(table, prompt=["p", "q"]).slice_names["prompt"]) == 2


def test_zeros_of_either_sign_are_one_feature():
    table = TABLE[[0, 0]].with_columns(length=pl.Series([0.0, -0.0]))
    cells = ba.read_votes(table, prompt=False, features=["length"])
    assert cells.counts.tolist() == [[2, 0, 0, 0]]


def test_what_is_missing_is_named_with_its_rows():
    table = TABLE.with_columns(
        question=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise("question"),
        lang=pl.when(pl.int_range(pl.len()) == 1).then(pl.lit("")).otherwise("lang"),
        length=pl.when(pl.int_range(pl.len()) == 2).then(float("inf")).otherwise("length"),
    )
    with pytest.raises(ba.errors.InvalidVotesError, match=r"row 3: missing prompt .*question=None") as error:
        ba.read_votes(table, **READING)
    assert "row 1: missing slice" in str(error.value)
    assert "row 2: bad feature" in str(error.value)
    assert "prompt=False (--no-prompt)" in str(error.value)
    with pytest.warns(ba.errors.DroppedVotesWarning, match="1 × bad feature, 1 × missing prompt, 1 × missing slice"):
        valid = ba.read_votes(table, on_invalid="drop", **READING)
    assert_same(replace(valid, dropped={}), ba.read_votes(TABLE[[0, 4, 5]], **READING))


def test_long_values_are_quoted_by_their_beginning():
    table = TABLE.with_columns(text=pl.lit("word " * 1000), winner=pl.lit("undecided"))
    with pytest.raises(ba.errors.InvalidVotesError, match="unknown winner") as error:
        ba.read_votes(table, prompt="text")
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize(
    ("reading", "match"),
    [
        ({"prompt": "nowhere"}, "No column 'nowhere'"),
        ({"slices": {"language": "nowhere"}}, "No column 'nowhere'"),
        ({"features": {"length": ("length", "nowhere")}}, "No column 'nowhere'"),
        ({"features": {"length": ("length", "words_a", "words_b")}}, "'length' takes one column or two"),
        ({"slices": {"prompt": "question"}}, r"A slice cannot be called 'prompt'\. .*prompt="),
        ({"slices": {"topic": ()}}, "No column is given for 'topic'"),
        ({"slices": ["annotator"]}, "A slice cannot be called 'annotator'"),
    ],
)
def test_columns_that_cannot_be_read(reading, match):
    with pytest.raises(ba.errors.ColumnError, match=match):
        ba.read_votes(TABLE, **reading)


def test_features_turn_with_votes_that_have_no_sides():
    table = pl.DataFrame({"winner": ["y", "x"], "loser": ["x", "y"], "longer": [2.0, 3.0]})
    cells = ba.read_votes(table, features=["longer"])
    assert (cells.features["longer"].tolist(), cells.counts.tolist()) == ([-2.0, 3.0], [[0, 1, 0, 0], [1, 0, 0, 0]])


def test_tables_of_wins_carry_slices():
    table = pl.DataFrame({"player1": ["x", "y"], "player2": ["y", "x"], "win1": [4, 1], "win2": [2, 3], "topic": "tu"})
    table = table.with_columns(topic=pl.Series(["t", "u"]))
    cells = ba.read_votes(table, slices=["topic"])
    assert cells.counts.tolist() == [[4, 2, 0, 0], [3, 1, 0, 0]]
    assert cells.slices["topic"].tolist() == [0, 1]


def test_one_hot_votes_and_normalised_names_carry_slices():
    table = pl.DataFrame(
        {
            "model_a": ["x", "x "],
            "model_b": ["y", "y"],
            "winner_model_a": [1, 0],
            "winner_model_b": [0, 1],
            "winner_tie": [0, 0],
            "topic": ["t", " t"],
        }
    )
    assert ba.read_votes(table, slices=["topic"], normalise=True).slice_names == {"topic": ("t",)}
    assert ba.read_votes(table, slices=["topic"]).slice_names == {"topic": (" t", "t")}


def test_repeats_are_left_out_beside_slices():
    table = repeating(60, 5).with_row_index("id")
    doubled = pl.concat([table, table[:30]])
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="Left out 30 of 330"):
        assert_same(ba.read_votes(doubled, prompt="prompt", dedupe=True), ba.read_votes(table, prompt="prompt"))


@pytest.mark.parametrize(
    "convert",
    [
        pl.DataFrame.lazy,
        pl.DataFrame.to_pandas,
        pl.DataFrame.to_arrow,
        lambda table: duckdb.from_arrow(table.to_arrow()),
    ],
)
def test_prompts_are_recognised_in_every_engine(convert):
    table = repeating(60, 5)
    with pytest.warns(ba.errors.PromptsWarning):
        assert_same(ba.read_votes(convert(table)), ba.read_votes(table, prompt="prompt"))
    ids = repeating(600, 1)
    assert not ba.read_votes(convert(ids)).slices


def test_prompts_that_repeat_are_recognised_and_it_says_so():
    table = repeating(60, 5)
    with pytest.warns(ba.errors.PromptsWarning, match=r"Read 60 prompts from prompt: .*--no-prompt, or prompt=False"):
        cells = ba.read_votes(table)
    assert_same(cells, ba.read_votes(table, prompt="prompt"))
    with pytest.warns(ba.errors.PromptsWarning) as caught:
        ba.check(table)
    assert caught[0].filename == __file__, "a warning names the line of whoever called, through whatever function"
    with pytest.warns(ba.errors.PromptsWarning, match="from PROMPT"):
        assert_same(ba.read_votes(table.rename(str.upper)), cells)
    assert not ba.read_votes(table, prompt=False).slices


@pytest.mark.parametrize("name", ["prompt", "question_id", "uid", "instruction"])
def test_ids_of_votes_are_no_prompts(name):
    table = repeating(600, 1)
    plain = ba.read_votes(table.drop("prompt"))
    assert_same(ba.read_votes(table.rename({"prompt": name})), plain)
    assert_same(ba.read_votes(table.rename({"prompt": name}).lazy()), plain)


def test_ids_of_votes_that_are_counted_twice_are_no_prompts():
    doubled = pl.concat([repeating(300, 1)] * 2)
    assert_same(ba.read_votes(doubled), ba.read_votes(doubled, prompt=False))


@pytest.mark.parametrize("name", ["question_id", "prompt_id"])
@pytest.mark.parametrize("annotator", [None, False])
def test_items_that_several_annotators_judge_are_prompts_whatever_pairs_they_meet(name, annotator):
    """They agree in nine votes of ten, so that three votes say little more than one."""
    rng, items = np.random.default_rng(0), repeating(300, 1).rename({"prompt": name})
    judged = pl.concat([items.with_columns(judge=pl.lit(judge)) for judge in ("k1", "k2", "k3")])
    other = pl.Series(rng.random(len(judged)) < 0.1)
    judged = judged.with_columns(winner=pl.when(other).then(pl.lit("tie")).otherwise("winner"))
    with pytest.warns(ba.errors.PromptsWarning, match=f"Read 300 prompts from {name}: 600 answers"):
        cells = ba.read_votes(judged, annotator=annotator)
    assert_same(cells, ba.read_votes(judged, prompt=name, annotator=annotator))


def test_items_of_llmfao_are_read_where_nothing_says_more(llmfao_path):
    table = pl.read_csv(llmfao_path)
    with pytest.warns(ba.errors.PromptsWarning, match="Read 13 prompts from prompt"):
        ba.read_votes(table)
    with pytest.warns(ba.errors.PromptsWarning, match="Read 2139 prompts from question_id"):
        ba.read_votes(table.drop("prompt"))


def test_prompts_that_hardly_repeat_are_passed_over_and_it_says_so():
    for table in (repeating(60, 1), repeating(19, 4)):
        mostly = pl.concat([table, repeating(30, 2)])
        plain = ba.read_votes(mostly.drop("prompt"))
        with pytest.warns(
            ba.errors.UnusedColumnWarning, match=r"too few answers repeat: .* prompt='prompt' \(--prompt prompt\)"
        ):
            assert_same(ba.read_votes(mostly), plain)
        assert ba.read_votes(mostly, prompt="prompt").slices


def test_a_recognised_prompt_that_is_not_always_there_is_passed_over():
    table = repeating(60, 5)
    holes = table.with_columns(prompt=pl.when(pl.int_range(pl.len()) > 2).then("prompt"))
    with pytest.warns(ba.errors.UnusedColumnWarning, match="empty in 3 votes"):
        assert_same(ba.read_votes(holes), ba.read_votes(table, prompt=False))


def test_a_column_of_another_role_is_no_prompt():
    table = repeating(60, 5).rename({"prompt": "question_id"})
    assert not ba.read_votes(table, annotator="question_id").slices
    assert list(ba.read_votes(table, slices={"question": "question_id"}).slices) == ["question"]


def test_one_prompt_is_no_slice():
    """Answers to it are the competitors."""
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"model_a": rng.integers(0, 200, 2000), "model_b": rng.integers(200, 400, 2000)})
    with pytest.warns(ba.errors.UnusedColumnWarning, match="the same in all votes"):
        assert not ba.read_votes(table.with_columns(winner=pl.lit("tie"), prompt=pl.lit("pair-v2"))).slices


def test_invalid_votes_are_complained_of_as_without_prompts():
    table = repeating(60, 5).with_columns(winner=pl.lit("undecided"))
    with pytest.raises(ba.errors.InvalidVotesError) as found:
        ba.read_votes(table)
    with pytest.raises(ba.errors.InvalidVotesError) as expected:
        ba.read_votes(table, prompt=False)
    assert str(found.value) == str(expected.value)


def test_repeated_answers_are_counted():
    table = pl.DataFrame(
        {
            "model_a": ["x", "x", "y", "x"],
            "model_b": ["y", "y", "z", "z"],
            "winner": ["x", "tie", "tie", "x"],
            "prompt": ["p", "p", "p", "q"],
        }
    )
    found = repeated_answers(ba.read_votes(table, prompt="prompt"))
    assert (found.prompts, found.votes, found.with_two, found.repeated_votes) == (2, 4, 2, 3)
    assert not found.enough
    with pytest.raises(ba.ModelError, match="prompt"):
        repeated_answers(ba.read_votes(table, prompt=False))


def test_the_prompts_of_llmfao(llmfao_path):
    """Its ``question_id`` is that of a comparison."""
    with pytest.warns(ba.errors.PromptsWarning, match="13 prompts from prompt"):
        cells = ba.read_votes(llmfao_path)
    assert len(cells.slice_names["prompt"]) == 13
    assert repeated_answers(cells).enough


def test_the_prompts_of_mt_bench():
    with pytest.warns(ba.errors.PromptsWarning, match="160 prompts from question_id, turn"):
        cells = ba.read_votes(real_votes("mt_bench_human.csv"))
    assert len(cells.slice_names["prompt"]) == 160


def test_prompts_that_nobody_kept_saw_are_left_out():
    cells = ba.read_votes(TABLE, **READING)
    assert_same(ba.drop_annotators(cells, ["k"]), ba.read_votes(TABLE.filter(pl.col("judge") == "l"), **READING))


def test_options_of_the_command_line_read_the_same(tmp_path):
    TABLE.write_csv(tmp_path / "votes.csv")
    files, prompt = [str(tmp_path / "votes.csv")], ["question", "round"]
    source = VoteSource(files, prompt=prompt, slice=["language=lang"], feature=["length", "words=words_a,words_b"])
    assert_same(source.read(), ba.read_votes(TABLE, **READING))


@pytest.mark.slow
def test_what_the_command_line_says_of_prompts(tmp_path):
    path = tmp_path / "votes.csv"
    repeating(60, 5).write_csv(path)
    done = run("check", path)
    assert "votes.csv: 300 votes, 4 competitors, 60 prompts" in done.stdout
    assert "Read 60 prompts from prompt" in done.stderr
    assert run("check", path, "--prompt", "prompt").stderr == ""
    done = run("check", path, "--no-prompt")
    assert "prompts unknown" in done.stdout
    assert done.stderr == ""
    assert "No column 'nowhere'" in run("check", path, "--slice", "topic=nowhere").stderr
    assert "one column or two" in run("check", path, "--feature", "f=a,b,c").stderr


def test_check_says_how_often_answers_were_voted_on():
    rows = {
        name: ba.check(ba.read_votes(table, prompt=prompt)).set_index("check").loc["prompts"].to_list()
        for name, table, prompt in (
            ("many", repeating(60, 5), "prompt"),
            ("few", repeating(60, 1), "prompt"),
            ("none", repeating(60, 1), False),
        )
    }
    status, found, remedy = rows["many"]
    assert (status, remedy) == ("ok", "")
    assert found.startswith("60 prompts, 2")
    status, found, remedy = rows["few"]
    assert (status, remedy.startswith("answers cannot be distinguished from noise")) == ("warning", True)
    assert found == (
        "60 prompts, 120 answers with 1.0 votes each; 0 have two or more, "
        "0 % of the votes are on prompts with such an answer"
    )
    assert rows["none"] == ["ok", "prompts unknown", ""]
