import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import assert_same, frame
from hypothesis import given
from strategies import votes

import bayes_arena as ba
from bayes_arena.cli.vote_source import VoteSource
from bayes_arena.votes.outcomes import outcome_names
from bayes_arena.votes.sources.frames import READERS

ROWS = [
    ("x", "y", "model_a", "k1"),
    ("y", "x", "model_a", "k1"),
    ("x", "z", "tie", "k2"),
    ("x", "y", "tie (bothbad)", "k2"),
    ("z", "y", "model_b", "k2"),
]


def test_cells_hold_every_vote_once():
    cells = ba.read_votes(frame(ROWS))
    assert cells.competitors == ("x", "y", "z")
    assert cells.annotators == ("k1", "k2")
    table = {
        (cells.competitors[a], cells.competitors[b], cells.annotators[k]): tuple(counts)
        for a, b, k, counts in zip(cells.a, cells.b, cells.annotator, cells.counts.tolist(), strict=True)
    }
    assert table == {
        ("x", "y", "k1"): (1, 0, 0, 0),
        ("y", "x", "k1"): (1, 0, 0, 0),
        ("x", "z", "k2"): (0, 0, 1, 0),
        ("x", "y", "k2"): (0, 0, 0, 1),
        ("z", "y", "k2"): (0, 1, 0, 0),
    }


def engines() -> dict[str, object]:
    polars = frame(ROWS)
    pandas = pd.DataFrame(ROWS, columns=polars.columns)
    table = polars.to_arrow()
    return {
        "polars": polars,
        "polars lazy": polars.lazy(),
        "polars categorical": polars.with_columns(pl.all().cast(pl.Categorical)),
        "pandas": pandas,
        "pandas object": pandas.astype(object),
        "pandas category": pandas.astype("category"),
        "pandas pyarrow": pandas.astype("string[pyarrow]"),
        "pyarrow": table,
        "pyarrow dictionary": pa.table({name: table[name].dictionary_encode() for name in table.column_names}),
        "duckdb": duckdb.from_arrow(table),
    }


@pytest.mark.parametrize("engine", list(engines()))
def test_every_engine_gives_the_same_cells(engine):
    assert_same(ba.read_votes(engines()[engine]), ba.read_votes(frame(ROWS)))


def test_a_dataset_of_hugging_face_is_read_with_the_rows_that_it_selects():
    """Its table holds all rows; ``select``, ``filter`` and ``shuffle`` keep a list of indices beside it."""

    class Dataset:
        __module__, data = "datasets.arrow_dataset", pa.table({})

        def with_format(self, name):
            assert name == "arrow"
            return self

        def __getitem__(self, rows):
            assert rows == slice(None)
            return frame(ROWS).to_arrow()

    assert_same(ba.read_votes(Dataset()), ba.read_votes(frame(ROWS)))


@pytest.mark.parametrize("suffix", [*READERS, ".csv.gz"])
def test_every_file_format_gives_the_same_cells(tmp_path, suffix):
    path = tmp_path / f"votes{suffix}"
    write(frame(ROWS), path)
    assert_same(ba.read_votes(path), ba.read_votes(frame(ROWS)))
    assert_same(ba.read_votes(str(path)), ba.read_votes(frame(ROWS)))


WRITERS = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda table, path: table.write_csv(path, separator="\t"),
    ".parquet": pl.DataFrame.write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".json": pl.DataFrame.write_json,
    ".gz": lambda table, path: path.write_bytes(gzip.compress(table.write_csv().encode())),
}


def write(table: pl.DataFrame, path) -> None:
    WRITERS[path.suffix](table, path)


@pytest.mark.parametrize("separator", ["\t", ";", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_what_separates_columns_is_found(tmp_path, separator, suffix):
    """Among commas in texts, quoted and plain, over several lines, and in numbers."""
    texts = ["yes, and no", "one; two\tthree|four", 'a "word"\n\n,', None, "5,5"]
    table = frame(ROWS).with_columns(text=pl.Series(texts), weight=pl.lit("1"))
    text = table.write_csv(separator=separator).encode()
    path = tmp_path / f"votes{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    assert_same(ba.read_votes(path, weight="weight"), ba.read_votes(frame(ROWS)))


def test_semicolons_bring_decimal_commas_which_are_refused_with_the_remedy(tmp_path):
    (tmp_path / "votes.csv").write_text("model_a;model_b;winner;w\nx;y;x;0,5\ny;x;x;1,25\n")
    with pytest.raises(ba.errors.InvalidVotesError, match=r"w='0,5'[\s\S]*0.5, not 0,5"):
        ba.read_votes(tmp_path / "votes.csv", weight="w")
    assert ba.read_votes(tmp_path / "votes.csv").n_votes == 2


def test_files_with_different_separators_are_not_read_together(tmp_path):
    for name, separator in {"v.csv": ",", "w.csv": ";"}.items():
        frame(ROWS).write_csv(tmp_path / name, separator=separator)
    with pytest.raises(ba.VotesError, match=r"differently: v.csv by ',', w.csv by ';'\. Read one kind"):
        ba.read_votes(tmp_path / "*.csv")


@pytest.mark.parametrize("suffix", READERS)
def test_chunks_by_glob_and_by_list(tmp_path, suffix):
    paths = [tmp_path / f"part{index}{suffix}" for index in range(3)]
    for index, path in enumerate(paths):
        write(frame(ROWS)[index::3], path)
    whole = ba.read_votes(frame(ROWS))
    assert_same(ba.read_votes(tmp_path / f"part*{suffix}"), whole)
    assert_same(ba.read_votes(paths[::-1]), whole)


def test_json_lines_may_nest_and_miss_fields(tmp_path):
    path = tmp_path / "votes.jsonl"
    lines = ['{"model_a":"x","model_b":"y","winner":"model_a","judge":7,"conversation":[{"role":"user"}]}'] * 1500
    lines += ['{"model_a":"x","model_b":"y","winner":"tie","judge":"anna"}']
    path.write_text("\n".join(lines))
    assert ba.read_votes(path).annotators == ("7", "anna")


@pytest.mark.slow
@given(votes())
def test_order_of_votes_changes_no_bit(table):
    shuffled = table.sample(fraction=1, shuffle=True, seed=1)
    assert_same(ba.read_votes(table), ba.read_votes(shuffled))


def test_sums_of_weights_are_exact_in_any_order():
    rng = np.random.default_rng(0)
    table = frame(ROWS * 40).with_columns(weight=pl.Series(rng.random(200)))
    reference = ba.read_votes(table, weight="weight")
    for seed in range(5):
        assert_same(reference, ba.read_votes(table.sample(fraction=1, shuffle=True, seed=seed), weight="weight"))
    assert reference.n_votes == pytest.approx(table["weight"].sum(), rel=1e-14)
    assert reference.n_votes == reference.counts[rng.permutation(5)].T.sum()
    half = table.with_row_index().with_columns(turn=pl.col("index") % 2 == 0)
    other = {"model_a": "model_b", "model_b": "model_a"}
    turned = half.select(
        model_a=pl.when("turn").then("model_b").otherwise("model_a"),
        model_b=pl.when("turn").then("model_a").otherwise("model_b"),
        winner=pl.when("turn").then(pl.col("winner").replace(other)).otherwise("winner"),
        judge="judge",
        weight="weight",
    )
    for by_annotator in (True, False):
        left = reference.tally(by_annotator=by_annotator).counts
        right = ba.read_votes(turned, weight="weight").tally(by_annotator=by_annotator).counts
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize(
    "columns",
    [
        ("model_a", "model_b", "winner", "judge"),
        ("left", "right", "winner", "worker"),
        ("left", "right", "label", "performer"),
        ("model_a", "model_b", "winner", "annotator"),
        ("model_a", "model_b", "winner", "judge_model"),
        ("home_team", "away_team", "winner", "judge"),
        ("team_a", "team_b", "label", "judge"),
        ("player_a", "player_b", "winner", "judge"),
        ("system_a", "system_b", "winner", "judge"),
        ("model_1", "model_2", "winner", "judge"),
        ("INPUT:left", "INPUT:right", "OUTPUT:label", "ASSIGNMENT:worker_id"),
        ("INPUT:model_a", "INPUT:model_b", "OUTPUT:result", "ASSIGNMENT:worker_id"),
    ],
)
def test_conventions_need_no_arguments(columns):
    table = frame(ROWS).rename(dict(zip(["model_a", "model_b", "winner", "judge"], columns, strict=True)))
    assert_same(ba.read_votes(table), ba.read_votes(frame(ROWS)))


def test_other_names_through_arguments():
    table = frame(ROWS).rename({"model_a": "one", "model_b": "two", "winner": "verdict", "judge": "who"})
    cells = ba.read_votes(table, a="one", b="two", winner="verdict", annotator="who")
    assert_same(cells, ba.read_votes(frame(ROWS)))


@pytest.mark.parametrize("spelling", ["both_bad", "tie (bothbad)", "Tie (bothbad) "])
def test_both_bad_is_no_plain_tie(spelling):
    cells = ba.read_votes(frame([("x", "y", spelling)]))
    assert cells.counts.tolist() == [[0, 0, 0, 1]]


def test_left_right_and_names_as_winner():
    cells = ba.read_votes(frame([("x", "y", "left"), ("x", "y", "right"), ("x", "y", "y"), ("x", "y", "x")]))
    assert cells.counts.tolist() == [[2, 2, 0, 0]]
    assert cells.n_annotators == 0


@pytest.mark.parametrize(
    ("label", "outcome"),
    [("draw", 2), ("Same", 2), ("equal", 2), ("tied", 2), ("first", 0), ("second", 1), ("home", 0), ("away", 1)],
)
def test_labels_in_other_words(label, outcome):
    assert ba.read_votes(frame([("x", "y", label)])).counts.tolist() == [[float(i == outcome) for i in range(4)]]


@pytest.mark.parametrize(
    ("codes", "first", "second"),
    [
        ((0, 1, 2), "0=tie,1=model_a,2=model_b", "0=model_a,1=model_b,2=tie"),
        ((1, 2), "1=model_a,2=model_b", None),
        ((0, 1), "0=model_a,1=model_b", "0=model_b,1=model_a"),
        ((-1, 0, 1), "-1=model_a,0=tie,1=model_b", "-1=model_b,0=tie,1=model_a"),
        (
            (1, 2, 3, 4, 5),
            "1=model_a_2,2=model_a,3=tie,4=model_b,5=model_b_2",
            "1=model_b_2,2=model_b,3=tie,4=model_a,5=model_a_2",
        ),
    ],
)
@pytest.mark.parametrize("kind", [int, float, str])
def test_the_meaning_of_numbers_is_asked_for_not_guessed(codes, first, second, kind, tmp_path):
    table = pl.DataFrame({"model_a": "x", "model_b": "y", "winner": pl.Series([kind(code) for code in codes])})
    table = table.with_columns(winner=pl.col("winner").cast(pl.String)) if kind is str else table
    either = f"--outcome {first}" + (f" or --outcome {second}" if second else "")
    with pytest.raises(ba.errors.InvalidVotesError) as error:
        ba.read_votes(table)
    assert f"({either})." in str(error.value)
    table.write_csv(tmp_path / "votes.csv")
    for option in filter(None, (first, second)):
        meaning = VoteSource(outcome=[option]).reading()["outcomes"]
        cells = ba.read_votes(tmp_path / "votes.csv", outcomes=meaning)
        expected = [list(meaning.values()).count(outcome) for outcome in outcome_names(cells.grades)]
        assert cells.counts.sum(axis=0).tolist() == expected
    assert meaning.keys() == {str(code) for code in codes}


@pytest.mark.parametrize(
    "names",
    [
        ("winner_name", "loser_name"),
        ("winner_model", "loser_model"),
        ("winner_id", "loser_id"),
        ("WINNER_NAME", "LOSER_NAME"),
        ("winning_model", "losing_model"),
    ],
)
def test_winner_and_loser_in_other_words(names):
    rows = [("x", "y"), ("z", "x"), ("x", "y")]
    cells = ba.read_votes(pl.DataFrame(rows, schema=list(names), orient="row"))
    assert_same(cells, ba.read_votes(pl.DataFrame(rows, schema=["winner", "loser"], orient="row")))
    assert not cells.sided


@pytest.mark.parametrize("kind", [int, bool, str, float])
def test_one_hot_winner(kind):
    hot = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    table = pl.DataFrame(
        {
            "model_a": ["x"] * 3,
            "model_b": ["y"] * 3,
            "winner_model_a": [kind(row[0]) for row in hot],
            "winner_model_b": [kind(row[1]) for row in hot],
            "winner_tie": [kind(row[2]) for row in hot],
        }
    )
    assert ba.read_votes(table).counts.tolist() == [[1, 1, 1, 0]]
    with pytest.raises(ba.errors.InvalidVotesError, match="not one winner"):
        ba.read_votes(table.with_columns(winner_tie=pl.lit(kind(1))))


def test_annotators_can_be_ignored():
    cells = ba.read_votes(frame(ROWS), annotator=False)
    assert cells.n_annotators == 0
    assert cells.n_votes == 5


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (("x", "y", "tie (inconsistent)", "k"), "unknown winner"),
        (("x", "y", None, "k"), "missing winner"),
        ((None, "y", "tie", "k"), "missing competitor"),
        (("x", "", "tie", "k"), "missing competitor"),
        (("x", "x", "tie", "k"), "competitor against itself"),
        (("x", "y", "tie", None), "missing annotator"),
        (("model_b", "y", "model_b", "k"), "ambiguous winner"),
    ],
)
def test_invalid_votes_are_quoted_with_rows_and_remedy(row, problem):
    table = frame([*ROWS, row, *ROWS, *[row] * 6])
    with pytest.raises(ba.errors.InvalidVotesError, match=problem) as error:
        ba.read_votes(table)
    text = str(error.value)
    assert text.startswith("7 of 17 votes are invalid.")
    assert [f"row {number}:" in text for number in (5, 11, 12, 13, 14, 15)] == [True] * 5 + [False]
    assert "on_invalid='drop'" in text
    with pytest.warns(ba.errors.DroppedVotesWarning, match=f"7 × {problem}"):
        cells = ba.read_votes(table, on_invalid="drop")
    assert cells.dropped == {problem: 7}
    assert cells.n_votes == 10


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf"), None])
@pytest.mark.parametrize("engine", ["polars", "pandas", "csv"])
def test_bad_weights(weight, engine, tmp_path):
    table = frame(ROWS).with_columns(w=pl.Series([1.0, 2.0, weight, 1.0, 0.0]))
    source = {"polars": table, "pandas": pd.DataFrame(table.to_dict(as_series=False)), "csv": tmp_path / "v.csv"}[
        engine
    ]
    table.write_csv(tmp_path / "v.csv")
    with pytest.raises(ba.errors.InvalidVotesError, match="bad weight") as error:
        ba.read_votes(source, weight="w")
    assert "row 2:" in str(error.value)


@pytest.mark.parametrize("engine", list(engines()))
def test_invalid_rows_are_found_in_every_engine(engine):
    rows = [*ROWS, ("x", "y", "undecided", "k1")]
    original = engines()[engine]
    polars = frame(rows)
    source = {
        "polars": polars,
        "polars lazy": polars.lazy(),
        "polars categorical": polars.with_columns(pl.all().cast(pl.Categorical)),
        "pyarrow": polars.to_arrow(),
        "duckdb": duckdb.from_arrow(polars.to_arrow()),
    }.get(engine)
    if source is None and isinstance(original, pd.DataFrame):
        source = pd.DataFrame(rows, columns=polars.columns).astype(original.dtypes.iloc[0].name)
    elif source is None:
        source = polars.to_arrow()
    with pytest.raises(ba.errors.InvalidVotesError, match="row 5: unknown winner") as error:
        ba.read_votes(source)
    assert "'undecided'" in str(error.value)


def test_a_label_can_be_mapped():
    table = frame([("x", "y", "undecided"), ("x", "y", "model_a")])
    assert ba.read_votes(table, outcomes={"Undecided": "tie"}).counts.tolist() == [[1, 0, 1, 0]]
    with pytest.raises(ba.VotesError, match="use one of"):
        ba.read_votes(table, outcomes={"undecided": "half"})


def test_missing_pandas_values_are_missing():
    table = pd.DataFrame({"model_a": ["x", None], "model_b": ["y", "y"], "winner": ["tie", "tie"]})
    with pytest.raises(ba.errors.InvalidVotesError, match="row 1: missing competitor"):
        ba.read_votes(table)


@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"model_a": "p", "model_b": "q", "result": "z"}, "No column recognised as the winner.*result"),
        ({"p": "p", "q": "q", "winner": "p"}, "as the pair of competitors"),
        ({"model_a": "p", "model_b": "q", "left": "p", "right": "q", "winner": "p"}, "Several columns"),
        ({"model_a": "p", "model_b": "q", "winner": "p", "judge": "1", "worker": "2"}, "Several columns.*annotator="),
    ],
)
def test_unclear_columns(columns, match):
    with pytest.raises(ba.errors.ColumnError, match=match):
        ba.read_votes(pl.DataFrame({name: [value] for name, value in columns.items()}))


def test_named_column_must_exist():
    with pytest.raises(ba.errors.ColumnError, match="No column 'who'"):
        ba.read_votes(frame(ROWS), annotator="who")
    with pytest.raises(ba.errors.ColumnError, match="Name both"):
        ba.read_votes(frame(ROWS), a="model_a")


def test_unreadable_sources(tmp_path):
    with pytest.raises(ba.VotesError, match="No file"):
        ba.read_votes(tmp_path / "absent.csv")
    (tmp_path / "votes.xlsx").write_text("x")
    with pytest.raises(ba.VotesError, match=r"Unknown file format '\.xlsx'"):
        ba.read_votes(tmp_path / "votes.xlsx")
    (tmp_path / "arena.duckdb").write_text("x")
    with pytest.raises(ba.VotesError, match="bayes-arena arena rate"):
        ba.read_votes(tmp_path / "arena.duckdb")
    (tmp_path / "votes.parquet").write_text("not parquet")
    with pytest.raises(ba.VotesError, match="Cannot read"):
        ba.read_votes(tmp_path / "votes.parquet")
    with pytest.raises(ba.VotesError, match="Cannot read votes from int"):
        ba.read_votes(3)


def test_nothing_to_rate():
    one_hot = dict.fromkeys(["model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"], ())
    for empty in (frame(ROWS).head(0), engines()["pandas"].head(0), pd.DataFrame(one_hot), frame(ROWS).head(0).lazy()):
        with pytest.raises(ba.errors.NoVotesError, match=r"the source has no rows\. Check"):
            ba.read_votes(empty)
    with pytest.raises(ba.errors.NoVotesError, match="weight 0"):
        ba.read_votes(frame([("x", "y", "tie")]).with_columns(w=0), weight="w")
    with pytest.raises(ba.errors.InvalidVotesError, match="competitor against itself"):
        ba.read_votes(frame([("x", "x", "tie")]), on_invalid="drop")


@pytest.mark.slow
@pytest.mark.parametrize("verb", [ba.fit, ba.check])
def test_verbs_take_what_read_votes_takes(verb, tmp_path):
    table = frame(ROWS)
    table.write_csv(tmp_path / "votes.csv")
    expected = verb(ba.read_votes(table))
    for source in (table, engines()["pandas"], tmp_path / "votes.csv", str(tmp_path / "votes.csv")):
        found = verb(source)
        if verb is ba.check:  # of the source it can say more than of its cells
            rows = found if source is table else pl.DataFrame(found.to_dict("list"))
            assert rows.filter(pl.col("check") != "repeated votes").equals(pl.DataFrame(expected.to_dict("list")))
        else:
            assert found.mean_loss == expected.mean_loss
    with pytest.raises(ba.VotesError, match="Cannot read votes from int"):
        verb(3)


@pytest.mark.parametrize(
    "select", [lambda votes: ba.keep_annotators(votes, more_than=1), lambda votes: ba.drop_annotators(votes, ["k"])]
)
def test_selections_want_votes_that_were_read(select):
    with pytest.raises(ba.VotesError, match=r"not str.*read_votes"):
        select("votes.csv")


def test_the_papers_filter_keeps_annotators_with_more_votes(arena_cells):
    votes = arena_cells.votes_by_annotator()
    delta = np.sort(votes)[2]
    kept = ba.keep_annotators(arena_cells, more_than=delta)
    assert kept.n_annotators == (votes > delta).sum() == 2
    assert kept.n_votes == votes[votes > delta].sum()
    with pytest.raises(ba.errors.NoVotesError, match="the most is"):
        ba.keep_annotators(arena_cells, more_than=10_000)


def test_filter_drops_competitors_nobody_kept_saw():
    cells = ba.read_votes(frame([("x", "y", "tie", "k1")] * 3 + [("x", "z", "tie", "k2")]))
    assert ba.keep_annotators(cells, more_than=1).competitors == ("x", "y")


def test_filter_needs_annotators():
    with pytest.raises(ba.ModelError, match="no annotators"):
        ba.keep_annotators(ba.read_votes(frame([("x", "y", "tie")])), more_than=1)


def test_llmfao_by_the_papers_filter(llmfao, llmfao_50):
    assert (llmfao.n_votes, llmfao.n_competitors, llmfao.n_annotators) == (8931, 59, 124)
    assert (llmfao_50.n_votes, llmfao_50.n_competitors, llmfao_50.n_annotators) == (7393, 59, 37)


def test_names_with_glob_characters_are_read_once(tmp_path):
    for name, winner in {"v1.csv": "x", "v?.csv": "y", "[2024].csv": "tie"}.items():
        write(frame([("x", "y", winner)]), tmp_path / name)
    for name in ("v?.csv", "[2024].csv", "v1.csv"):
        assert ba.read_votes(tmp_path / name).n_votes == 1
    assert ba.read_votes(tmp_path / "v*.csv").n_votes == 2
    write(frame([("x", "y", "model_a")]), tmp_path / "[1].jsonl")
    assert ba.read_votes(tmp_path / "[1].jsonl").n_votes == 1
    with pytest.raises(ba.VotesError, match=r"it is a folder, so name its files: .*\*\.csv"):
        ba.read_votes(tmp_path)


@pytest.mark.parametrize("convert", [pl.DataFrame.lazy, pl.DataFrame.to_arrow, pl.DataFrame.to_pandas])
def test_nan_is_no_name(convert):
    table = frame([("x", "y", "x"), ("y", "x", "tie")]).with_columns(judge=pl.Series([1.0, float("nan")]))
    with pytest.raises(ba.errors.InvalidVotesError, match="row 1: missing annotator"):
        ba.read_votes(convert(table))


def test_whole_numbers_read_the_same_from_int_float_and_object():
    expected = ba.read_votes(frame([("1", "2", "1", "7"), ("2", "1", "tie", "7")]))
    for kind in (int, float, object):
        table = pd.DataFrame({"model_a": [1, 2], "model_b": [2, 1], "winner": [1, "tie"], "judge": [7, 7]})
        names = ["model_a", "model_b", "judge"]
        assert_same(ba.read_votes(table.astype(dict.fromkeys(names, kind))), expected)
    with pytest.raises(ba.errors.InvalidVotesError, match="row 1: missing annotator"):
        ba.read_votes(table.assign(judge=pd.Series([7, None], dtype=object)))


def test_json_columns_may_appear_late_or_in_one_file_only(tmp_path):
    bare, judged = (
        '{"model_a":"x","model_b":"y","winner":"tie"}',
        '{"model_a":"x","model_b":"y","winner":"x","judge":"k"}',
    )
    (tmp_path / "late.jsonl").write_text("\n".join([bare] * 1500 + [judged]))
    with pytest.raises(ba.errors.InvalidVotesError, match="missing annotator × 1500"):
        ba.read_votes(tmp_path / "late.jsonl")
    (tmp_path / "one.jsonl").write_text(bare)
    (tmp_path / "two.jsonl").write_text(judged)
    for order in (["one", "two"], ["two", "one"]):
        with pytest.raises(ba.errors.InvalidVotesError, match="missing annotator × 1"):
            ba.read_votes([tmp_path / f"{name}.jsonl" for name in order])


def test_blank_lines_are_no_votes_but_half_empty_ones_are(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("note,model_a,model_b,winner\n,x,y,x\n\n,x,y,tie\n\n")
    assert ba.read_votes(path).n_votes == 2
    path.write_text("note,model_a,model_b,winner\n,x,y,x\n\nlost,,,\n")
    with pytest.raises(ba.errors.InvalidVotesError, match="1 of 2 votes is invalid"):
        ba.read_votes(path)


def test_a_column_called_twice_is_refused(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("model_a,model_b,winner,winner\nx,y,x,y\n")
    with pytest.raises(ba.errors.ColumnError, match="called 'winner'"):
        ba.read_votes(path)


def test_integer_column_names_are_listed():
    with pytest.raises(ba.errors.ColumnError, match="The source has: 0, 1, 2"):
        ba.read_votes(pd.DataFrame([["x", "y", "x"]]))


def test_a_column_that_looks_like_counts_is_proposed():
    votes = frame([("x", "y", "x"), ("y", "x", "tie")]).with_columns(count=pl.Series([10, 3]))
    with pytest.warns(
        ba.errors.UnusedColumnWarning, match=r"Column count looks like the weight.*weight='count'.*--no-weight"
    ):
        assert ba.read_votes(votes).n_votes == 2
    assert ba.read_votes(votes, weight="count").n_votes == 13
    assert ba.read_votes(votes, weight=False).n_votes == 2
