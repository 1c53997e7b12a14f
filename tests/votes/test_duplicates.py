"""Votes counted twice: named, and left out on request; votes that are alike stay."""

import duckdb
import narwhals as nw
import polars as pl
import pytest
from helpers import frame, run

import bayes_arena as ba

VOTES = ba.simulate(competitors=6, annotators=5, votes=600, seed=3).votes
WITH_ID = VOTES.with_row_index("question_id")
DOUBLED = pl.concat([WITH_ID, WITH_ID[:300]])


def repeats(table) -> list[str]:
    table = nw.from_native(ba.check(table), eager_only=True)
    (row,) = table.filter(nw.col("check") == "repeated votes").rows()
    return list(row[1:])


def same_counts(one: ba.Cells, two: ba.Cells) -> bool:
    return one.counts.tolist() == two.counts.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("convert", [pl.DataFrame.lazy, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_repeated_rows_are_named_and_left_out_in_every_engine(convert):
    for table in (convert(DOUBLED), duckdb.from_arrow(DOUBLED.to_arrow())):
        status, found, remedy = repeats(table)
        assert (status, found) == ("warning", "300 of 900 rows equal another in every column")
        assert "--dedupe" in remedy
        with pytest.warns(ba.errors.RepeatedVotesWarning, match="Left out 300 of 900 rows"):
            assert same_counts(ba.read_votes(table, dedupe=True), ba.read_votes(WITH_ID))


@pytest.mark.parametrize(
    "table",
    [VOTES, VOTES.drop("judge"), VOTES.with_columns(language=pl.Series(["en", "zh", "fr"] * 200))],
    ids=["judges", "plain", "language"],
)
def test_votes_that_are_alike_are_no_repeats(table):
    status, found, _ = repeats(table)
    assert (status, found.endswith("they may be separate votes")) == ("ok", True)
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="are kept"):
        assert same_counts(ba.read_votes(table, dedupe=True), ba.read_votes(table))
    agreed = VOTES.unique(["model_a", "model_b", "judge"]).with_columns(winner="model_a")
    assert repeats(pl.concat([agreed, agreed]))[0] == "ok"  # a judge may always say the same
    assert repeats(WITH_ID) == ["ok", "0 of 600 rows equal another in every column", ""]


def test_a_question_that_is_asked_of_many_still_tells_repeats(llmfao_path):
    """No column of LLMFAO is different for every vote; judge and question together are."""
    table = pl.read_csv(llmfao_path)
    with pytest.warns(ba.errors.PromptsWarning):
        assert repeats(table)[0] == "ok"
    with pytest.warns(ba.errors.PromptsWarning):
        found = repeats(pl.concat([table, table[:300]]))
    assert found[:2] == [
        "warning",
        "300 of 9,231 rows equal another in every column",
    ]


@pytest.mark.slow
def test_nested_columns_blank_rows_and_invalid_votes_do_not_disturb(tmp_path):
    nested = DOUBLED.with_columns(talk=pl.Series([[{"role": "user"}]] * 900))
    assert repeats(nested)[1].startswith("300 of 900")
    assert repeats(nested.to_pandas())[1].startswith("300 of 900")
    path = tmp_path / "votes.csv"
    path.write_text(DOUBLED.write_csv() + "\n\n")
    assert repeats(path)[1].startswith("300 of 900")
    broken = pl.concat([DOUBLED, DOUBLED[:1].with_columns(winner=pl.lit("undecided"))])
    with (
        pytest.warns(ba.errors.RepeatedVotesWarning),
        pytest.raises(ba.errors.InvalidVotesError, match="row 900: unknown winner"),
    ):
        ba.read_votes(broken, dedupe=True)


@pytest.mark.slow
def test_a_file_given_twice_is_named(tmp_path):
    """By name or by content, though nothing in the rows tells votes that are alike from repeats."""
    path, copy = tmp_path / "votes.csv", tmp_path / "copy.csv"
    VOTES.drop("judge").write_csv(path)
    copy.write_bytes(path.read_bytes())
    once = ba.read_votes(path)
    for files in ([path, path], [path, copy], tmp_path / "*.csv"):
        with pytest.warns(ba.errors.RepeatedVotesWarning, match="Counted twice .*--dedupe.*same content"):
            assert ba.read_votes(files).n_votes == 2 * once.n_votes
        kept, left = "511 of 600 rows equal another and are kept", "Left out: files with the same content"
        with (
            pytest.warns(ba.errors.RepeatedVotesWarning, match=kept),
            pytest.warns(ba.errors.RepeatedVotesWarning, match=left),
        ):
            assert same_counts(ba.read_votes(files, dedupe=True), once)
    done = run("rank", path, copy, "--dedupe", "--format", "csv")
    assert done.stdout == run("rank", path, "--format", "csv").stdout
    assert "copy.csv' equals" in done.stderr


def test_a_table_of_wins_told_from_both_sides():
    """The table of the worked example has every pair twice."""
    table = pl.DataFrame({"player1": [*"BCAA"], "player2": [*"AABC"], "win1": [4, 5, 8, 3], "win2": [8, 3, 4, 5]})
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="Counted twice .*every pair from both sides"):
        assert ba.read_votes(table).n_votes == 40
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="Counted once"):
        assert ba.read_votes(table, dedupe=True).counts.tolist() == [[8, 4, 0, 0], [3, 5, 0, 0]]
    assert ba.read_votes(table[:3]).n_votes == 32


@pytest.mark.parametrize("name", ["annotator_id", "user_id", "evaluation_session_id", "Judge"])
def test_a_column_that_looks_like_the_annotator_is_proposed(name, tmp_path):
    table = VOTES.rename({"judge": name})
    with pytest.warns(ba.errors.UnusedColumnWarning, match=f"Column {name} looks like .*--annotator {name}"):
        assert ba.read_votes(table).n_annotators == 0
    assert ba.read_votes(table, annotator=name).n_annotators == 5
    assert ba.read_votes(table, annotator=False).n_annotators == 0
    assert ba.read_votes(table.with_columns(judge=pl.lit("k"))).annotators == ("k",)
    table.write_csv(tmp_path / "votes.csv")
    assert f"--annotator {name}" in run("check", tmp_path / "votes.csv").stderr


@pytest.mark.slow
def test_check_on_the_command_line(tmp_path):
    DOUBLED.write_csv(tmp_path / "votes.csv")
    assert "300 of 900 rows equal another" in run("check", tmp_path / "votes.csv").stdout
    done = run("check", tmp_path / "votes.csv", "--dedupe")
    assert "600 votes" in done.stdout
    assert "Left out 300 of 900 rows" in done.stderr
    frame([("x", "y", "x")]).write_csv(tmp_path / "one.csv")
    assert "0 of 1 rows" in run("check", tmp_path / "one.csv").stdout
