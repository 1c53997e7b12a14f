"""Files of other tools: recognised, counted as their tool counts, refused with the remedy where they are unclear."""

import json
import runpy
import warnings
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from conftest import real_votes
from helpers import assert_same, frame, run

import bayes_arena as ba
from bayes_arena.votes.layouts.registry import LAYOUTS, nearly

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "votes" / "golden"
NAMES = [layout.name for layout in LAYOUTS]

pytestmark = pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")


@pytest.fixture(scope="module")
def compared():
    return runpy.run_path(str(ROOT / "benchmarks" / "layouts.py"))["compared"]


COUNTS = json.loads((GOLDEN / "counts.json").read_text())


def golden(name: str) -> Path:
    return GOLDEN / COUNTS[name]["file"]


@pytest.mark.parametrize("name", NAMES)
def test_a_golden_file_is_recognised_and_counted_as_its_tool_counts(name, compared):
    row = compared(name)
    assert (row["detected"], row["votes"], row["equal"]) == (name, row["expected votes"], True)
    if not row["named"]:
        assert_same(ba.read_votes(golden(name), layout=name), ba.read_votes(golden(name)))


@pytest.mark.parametrize("name", ["arena-hard", "mt-bench", "alpaca-eval", "comparia", "one-of-n", "win-matrix"])
def test_dataframes_of_records_are_read_as_their_files(name):
    path = golden(name)
    table = pd.read_csv(path) if path.suffix == ".csv" else pd.read_json(path, lines=path.suffix == ".jsonl")
    assert_same(ba.read_votes(table), ba.read_votes(path))
    if path.suffix == ".csv":
        assert_same(ba.read_votes(duckdb.from_arrow(pl.read_csv(path).to_arrow())), ba.read_votes(path))
    if path.suffix == ".jsonl":
        assert_same(ba.read_votes(pl.read_ndjson(path)), ba.read_votes(path))


def test_two_games_are_two_votes_with_sides():
    """And merged as FastChat merges them, a winner only where both games agree, they give its table."""
    cells = ba.read_votes(golden("mt-bench"), prompt=["question_id", "turn"])
    assert cells.annotators == ("gpt-4",)
    assert cells.sided
    (prompt,) = cells.slice_rows(["prompt"])
    table = {name: [0, 0, 0] for name in cells.competitors}
    for record in np.unique(prompt):
        games = np.flatnonzero(prompt == record)
        assert cells.a[games[0]] == cells.b[games[1]]
        won = {cells.competitors[(cells.a, cells.b, cells.a)[cells.counts[game].argmax()][game]] for game in games}
        tie = cells.counts[games][:, 2].any() or len(won) == 2
        for name in (cells.competitors[cells.a[games[0]]], cells.competitors[cells.b[games[0]]]):
            table[name][2 if tie else 0 if name in won else 1] += 1
    assert table == {"alder": [1, 0, 2], "birch": [0, 2, 2], "cedar": [1, 0, 2]}


def test_grades_weigh_as_arena_hard_weighs_them_and_are_worth_what_they_tell():
    cells = ba.read_votes(golden("arena-hard"), grades="fold")
    assert (cells.n_votes, cells.design_effect) == pytest.approx((14**2 / 32, 8 * 32 / 14**2))
    assert cells.dropped == {"missing winner": 2}
    assert cells.slice_names["category"] == ("creative_writing", "hard_prompt")
    assert ba.read_votes(golden("arena-hard"), grades="fold", weight="weight").n_votes == 14
    assert ba.read_votes(golden("arena-hard"), grades="fold", weight=False).counts.sum(axis=0).tolist() == [3, 3, 2, 0]


def test_a_grade_that_is_an_outcome_has_no_weight_besides():
    """Of arena-hard's eight verdicts three are by the second grade: one vote each, not three."""
    with warnings.catch_warnings(action="error", category=ba.errors.UnusedColumnWarning):
        cells = ba.read_votes(golden("arena-hard"), prompt=False)
        ignored = ba.read_votes(golden("arena-hard"), weight=False, prompt=False)
    assert (cells.n_votes, cells.design_effect, cells.grades) == (8, 1, 2)
    assert cells.counts.sum(axis=0).tolist() == [1, 2, 2, 0, 2, 1]
    np.testing.assert_array_equal(ignored.counts, cells.counts)


def test_preferences_of_helpsteer_have_three_grades():
    cells = ba.read_votes(golden("helpsteer"), layout="helpsteer")
    rows = zip(cells.a, cells.b, cells.counts, strict=True)
    by_pair = {(cells.competitors[a], cells.competitors[b]): row for a, b, row in rows}
    assert by_pair["alder", "birch"].tolist() == [1, 0, 0, 0, 0, 0, 1, 0]
    assert by_pair["birch", "cedar"].tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    assert by_pair["cedar", "alder"].tolist() == [0, 0, 0, 0, 0, 1, 0, 0]
    with pytest.raises(ba.errors.InvalidVotesError, match=r"(?s)row 1: unknown winner .*winner='4'.*not on the scale"):
        ba.read_votes(pl.read_csv(golden("helpsteer")).with_columns(overall_preference=pl.Series([-3, 4, 2, 0, 1])))


def test_a_choice_among_several_tells_as_much_as_luce_says():
    """The information of 300 choices among three equals, 1/3 each on any contrast."""
    names = ["x", "y", "z"]
    table = pl.DataFrame({"contestants": [names] * 300, "winner": names * 100})
    cells = ba.read_votes(table)
    assert (cells.n_votes, cells.design_effect, cells.sided) == (pytest.approx(400), pytest.approx(1.5), False)
    laplacian = np.zeros((3, 3))
    for a, b, votes in zip(cells.a, cells.b, cells.counts.sum(axis=1), strict=True):
        laplacian += votes / 4 * np.outer(np.eye(3)[a] - np.eye(3)[b], np.eye(3)[a] - np.eye(3)[b])
    assert np.linalg.eigvalsh(laplacian)[1:] == pytest.approx([100, 100])
    for broken, match in (("[x, y]", "is not JSON"), ("x", "layout one-of-n .* must be a list")):
        with pytest.raises(ba.VotesError, match=match):
            ba.read_votes(pl.DataFrame({"contestants": [broken], "winner": ["x"]}))
    stranger = pl.DataFrame({"contestants": [names], "winner": ["w"]})
    with pytest.raises(ba.errors.InvalidVotesError, match=r"unknown winner.*'w'"):
        ba.read_votes(stranger)


def test_a_tie_among_several_is_one_of_all_pairs():
    """It weighs as much as a choice, and does not depend on who is listed first."""
    cells = ba.read_votes(pl.DataFrame({"contestants": [["x", "y", "z"]], "winner": ["tie"]}))
    assert cells.counts.sum(axis=0) == pytest.approx([0, 0, 4 / 3, 0])
    assert cells.counts[:, 2] == pytest.approx([4 / 9] * 3)


def test_numbers_that_do_not_count_are_refused():
    shares = pl.DataFrame({"model": ["x", "y"], "x": [0.5, 0.8], "y": [0.2, 0.5]})
    with pytest.raises(ba.VotesError, match="shares of wins"):
        ba.read_votes(shares)
    halves = pl.DataFrame({"model": ["x", "y"], "x": [None, 0.5], "y": [0.5, None]})
    assert ba.read_votes(halves).n_votes == 1
    unclear = pl.DataFrame({"winner": ["x"], "loser": ["y"], "n": [2], "count": [3]})
    with pytest.raises(ba.VotesError, match="any of n, count may be the count of wins; name one"):
        ba.read_votes(unclear)
    assert ba.read_votes(unclear, layout="winner-loser", weight="n").n_votes == 2


def test_outputs_of_promptfoo_are_called_by_their_provider():
    """``promptIdx`` numbers pairs of provider and prompt, so it does not say that there are several prompts."""
    assert ba.read_votes(golden("promptfoo")).competitors == ("alder", "birch", "cedar")


def test_a_preference_is_a_score_and_equality_a_tie():
    votes = ba.read_sequence(golden("judge-arena"))
    assert votes.score.tolist() == [1, 0.125, 0.5, 0.25]
    for wrong in (2.5, "first"):
        table = pl.DataFrame({"generator_1": ["x"], "generator_2": ["y"], "preference": [wrong]})
        with pytest.raises(ba.errors.InvalidVotesError, match="row 0: bad score"):
            ba.read_votes(table)


@pytest.mark.filterwarnings("error::bayes_arena.errors.LayoutWarning")
def test_what_is_recognised_is_told_unless_it_is_named():
    with pytest.warns(
        ba.errors.LayoutWarning, match=r"Read as judge-arena: .*Silence this with layout='judge-arena' \(--layout"
    ):
        ba.read_votes(golden("judge-arena"))
    ba.read_votes(golden("judge-arena"), layout="judge-arena")
    ba.read_votes(golden("arena-140k"))
    ba.read_votes(golden("scores"), score="score")


@pytest.mark.filterwarnings("default::bayes_arena.errors.ArenaWarning")
def test_criteria_are_a_slice_and_comparisons_are_items():
    cells = ba.read_votes(golden("criteria"), annotator="annotator_id", layout="criteria")
    assert cells.slice_names["criterion"] == ("overall", "trust") and len(cells.slice_names["item"]) == 3
    one = ba.read_votes(golden("criteria"), annotator="annotator_id", where="criterion == 'overall'")
    whole = ba.read_votes(golden("criteria"), annotator="annotator_id", winner="overall_winner")
    assert_same(replace(one, slices={}, slice_names={}), whole)
    with pytest.raises(ba.VotesError, match=r"layout criteria .*: no column's name ends in '_winner', of question_id"):
        ba.read_votes(golden("scores"), layout="criteria")


def test_a_file_of_three_annotators_asks_for_its_numbers_and_then_for_nothing():
    """PandaLM's: 0 is a tie there, which no reader can know."""
    path = real_votes("pandalm_testset.json")
    with pytest.raises(
        ba.errors.InvalidVotesError, match=r"--outcome 0=tie,1=model_a,2=model_b or --outcome 0=model_a"
    ) as error:
        ba.read_votes(path)
    assert "row 0: unknown winner (model_a='bloom-7b', model_b='llama-7b', winner='2'" in str(error.value)
    cells = ba.read_votes(path, outcomes={"0": "tie", "1": "model_a", "2": "model_b"})
    assert (cells.n_votes, cells.n_competitors, cells.annotators) == (
        2997,
        5,
        ("annotator1", "annotator2", "annotator3"),
    )
    assert cells.counts.sum(axis=0).tolist() == [1255, 1416, 326, 0]
    assert len(cells.slice_names["prompt"]) == 170


@pytest.mark.slow
def test_scores_of_two_teams_are_wins_and_draws():
    cells = ba.read_votes(real_votes("football_internationals.csv"))
    games = pl.read_csv(real_votes("football_internationals.csv"), infer_schema=False).cast(
        {"home_score": pl.Int64, "away_score": pl.Int64}
    )
    margin = games["home_score"] - games["away_score"]
    assert cells.counts.sum(axis=0).tolist() == [(margin > 0).sum(), (margin < 0).sum(), (margin == 0).sum(), 0]
    assert cells.sided


@pytest.mark.parametrize(
    ("names", "scores"),
    [
        (("home_team", "away_team"), ("home_score", "away_score")),
        (("team_a", "team_b"), ("score_a", "score_b")),
        (("model_1", "model_2"), ("score1", "score2")),
        (("model_a", "model_b"), ("model_a_score", "model_b_score")),
        (("left", "right"), ("points_left", "points_right")),
    ],
)
def test_two_scores_by_any_name(names, scores):
    rows = [("x", "y", 10, 9), ("y", "z", 1.5, 1.5), ("z", "x", -1, 3), ("x", "y", None, 2)]
    table = pl.DataFrame(rows, schema=[*names, *scores], orient="row", strict=False)
    cells = ba.read_votes(table)
    assert cells.counts.sum(axis=0).tolist() == [1, 1, 1, 0]
    assert cells.dropped == {"missing winner": 1}
    text = table.with_columns(pl.when(pl.int_range(4) == 0).then(pl.lit("ten")).otherwise(scores[0]).alias(scores[0]))
    with pytest.raises(ba.errors.InvalidVotesError, match=r"row 0: unknown winner .*winner='ten to 9"):
        ba.read_votes(text)
    ba.read_votes(table.with_columns(winner=pl.lit("tie")))  # a winner is what counts


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["a-1_b-2", "b-2_c-3", "c-3_a-1"], ("a-1", "b-2", "c-3")),
        (["a b vs c", "c vs d-e", "d-e vs a b"], ("a b", "c", "d-e")),
        (["a|b", "b|c"], ("a", "b", "c")),
        (["a_b-c", "a_d-e", "d-e_b-c"], ("a", "b-c", "d-e")),
    ],
)
def test_a_cell_of_two_names_is_divided_where_that_makes_the_fewest_names(cells, names):
    assert ba.read_votes(pl.DataFrame({"pair": cells, "winner": "model_a"})).competitors == names


@pytest.mark.parametrize(
    ("cells", "match"),
    [
        (["a-b_c"], r"any of \['_', '-'\] may separate the two names in 'pair'"),
        (["a_b", "a_b_c"], r"nothing separates .*'a_b'.*write one vote per row: model_a"),
    ],
)
def test_a_cell_that_could_be_divided_otherwise_is_refused(cells, match):
    with pytest.raises(ba.VotesError, match=match):
        ba.read_votes(pl.DataFrame({"pair": cells, "winner": "model_a"}))


def test_the_row_is_the_item_where_nothing_else_is():
    rng, rows = np.random.default_rng(0), 200
    pairs = np.array([rng.permutation(4)[:2] for _ in range(rows)])
    table = pl.DataFrame({"model_a": [f"m{a}" for a, _ in pairs], "model_b": [f"m{b}" for _, b in pairs]})
    table = table.with_columns(
        pl.Series(name, rng.choice(["model_a", "model_b", "tie"], rows)) for name in ("Rater 1", "Rater 2", "rater_3")
    )
    cells = ba.read_votes(table)
    assert (cells.annotators, len(cells.slice_names["prompt"])) == (("Rater 1", "Rater 2", "rater_3"), rows)


def test_an_unclear_layout_is_an_error_that_names_both():
    names = ["model_1", "model_2", "g1_winner", "g2_winner", "judge", "model_a", "model_b", "winner"]
    table = pl.DataFrame({name: ["x"] for name in names})
    with pytest.raises(ba.errors.ColumnError, match=r"layouts votes and mt-bench\. Choose one"):
        ba.read_votes(table)
    assert ba.read_votes(frame([("x", "y", "x")]), layout="votes").n_votes == 1
    with pytest.raises(ba.VotesError, match=r"No layout is called 'alpaca'\. Did you mean 'alpaca-eval'"):
        ba.read_votes(table, layout="alpaca")


def test_a_file_that_nearly_has_a_layout_says_what_is_missing():
    table = pl.read_ndjson(golden("arena-hard")).drop("baseline")
    with pytest.raises(ba.errors.ColumnError, match=r"With 'baseline' it would fit the layout arena-hard \("):
        ba.read_votes(table)
    with pytest.raises(
        ba.errors.ColumnError, match=r"The layout arena-hard .* also needs 'baseline'\. The source has: uid"
    ):
        ba.read_votes(table, layout="arena-hard")
    one_of_five = min(next(layout for layout in LAYOUTS if layout.name == "mt-bench").columns)
    assert nearly([one_of_five]) == ""
    assert nearly(["baseline", "games"]).startswith(" With 'judge', 'model' it would fit the layout arena-hard (")


def test_invalid_votes_of_a_layout_are_quoted_with_the_rows_of_the_file(tmp_path):
    lines = golden("arena-hard").read_text().replace('"B>A"', '"B?A"', 1)
    (tmp_path / "judgments.jsonl").write_text(lines)
    with pytest.raises(ba.errors.InvalidVotesError, match=r"row 0: unknown winner .*'B\?A'") as error:
        ba.read_votes(tmp_path / "judgments.jsonl")
    assert "outcomes={'B?A': 'tie'} (--outcome 'B?A=tie')" in str(error.value)
    assert str(error.value).startswith("1 of 10 votes is invalid.")


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('[{"model_a": "x"', "it is not JSON .*Write an array of objects"),
        ("[1, 2]", "row 0 is not a JSON object"),
        ("\xff", "it is not UTF-8"),
        ("[]", "it has no records"),
        ("[" * 9999, "nested too deeply"),
        ('{"model_a": {"0": "x"}, "model_b": {"0": "y"}}', r"column by column\..*to_json\(orient='records'\)"),
    ],
)
def test_broken_json_is_told(text, match, tmp_path):
    (tmp_path / "votes.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(ba.VotesError, match=match):
        ba.read_votes(tmp_path / "votes.json")


def test_a_byte_order_mark_before_lines_of_json_is_told(tmp_path):
    (tmp_path / "votes.jsonl").write_bytes(b"\xef\xbb\xbf" + golden("arena-140k").read_bytes())
    with pytest.raises(ba.VotesError, match="byte order mark"):
        ba.read_votes(tmp_path / "votes.jsonl")


@pytest.mark.filterwarnings("default::bayes_arena.errors.ArenaWarning")
def test_ties_beside_a_winner_and_a_loser_are_not_ignored_in_silence():
    with pytest.warns(ba.errors.UnusedColumnWarning, match="Column tie looks like ties but is not read"):
        ba.read_votes(pl.DataFrame({"winner": ["x"], "loser": ["y"], "tie": [1]}))


def test_lines_of_json_under_another_name(tmp_path):
    (tmp_path / "votes.json").write_bytes(golden("arena-140k").read_bytes())
    assert_same(ba.read_votes(tmp_path / "votes.json"), ba.read_votes(golden("arena-140k")))


WHERE = {
    "language == 'de'": 1,
    'language != "de"': 2,
    "not language == 'de'": 3,
    "language is None": 1,
    "turn > 1 and judge in ['k1', 'k2']": 3,
    "turn == 1 or turn == 3": 2,
    "1 < turn <= 3": 3,
    "judge not in ['k1']": 2,
    "turn >= -1": 4,
    "good": 3,
    "good == False or judge == turn": 1,
    "judge > 0 or turn == 1": 1,
    "not judge > 0": 4,
}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["polars", "csv", "pandas", "arrow", "duckdb"])
def test_where_keeps_the_same_rows_in_every_engine(engine, tmp_path):
    table = frame([("x", "y", "x", "k1"), ("y", "z", "y", "k1"), ("x", "z", "tie", "k2"), ("x", "y", "y", "k2")])
    table = table.with_columns(
        language=pl.Series(["de", "en", None, "fr"]),
        turn=pl.Series([1, 2, 2, 3]),
        good=pl.Series([True, True, False, True]),
    )
    table.write_csv(tmp_path / "votes.csv")
    source = {
        "polars": table.lazy(),
        "csv": tmp_path / "votes.csv",
        "pandas": table.to_pandas(),
        "arrow": table.to_arrow(),
        "duckdb": duckdb.from_arrow(table.to_arrow()),
    }[engine]
    assert {where: ba.read_votes(source, where=where).n_votes for where in WHERE} == WHERE


@pytest.mark.parametrize(
    ("where", "match"),
    [
        ("winner = 'x'", "Equality is written =="),
        ("winner ==", "Not a condition"),
        ("__import__('os').system('true')", "is neither"),
        ("winer == 'x'", "Did you mean 'winner'"),
        ("winner == 'w'", "No vote to rate: the source has no rows kept by where="),
    ],
)
def test_a_condition_that_is_none_is_refused(where, match):
    with pytest.raises(ba.VotesError, match=match):
        ba.read_votes(frame([("x", "y", "x")]), where=where)


@pytest.mark.filterwarnings("default::bayes_arena.errors.ArenaWarning")
def test_an_annotator_has_one_vote_on_a_prompt_and_pair():
    rows = [("x", "y", "x", "k1")] * 3 + [("x", "y", "x", "k2"), ("x", "y", "y", "k2"), ("y", "x", "x", "k2")]
    table = frame(rows).with_columns(question_id=pl.lit("q"))
    with pytest.warns(ba.errors.RepeatedVotesWarning, match="3 of 6 votes repeat another"):
        cells = ba.read_votes(table, prompt="question_id", dedupe=True)
    assert cells.counts.tolist() == [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 1, 0, 0]]


@pytest.mark.slow
def test_an_arena_keeps_votes_with_an_outcome_each(tmp_path):
    with (
        ba.StableArena.create(tmp_path / "arena.duckdb") as arena,
        pytest.raises(ba.VotesError, match="votes with one outcome each"),
    ):
        arena.add(golden("alpaca-eval"))


@pytest.mark.slow
def test_an_arena_keeps_grades(tmp_path):
    with ba.StableArena.create(tmp_path / "arena.duckdb") as arena:
        arena.add(golden("arena-hard"))
        cells = arena.rate().fit.cast
    assert cells.grades == 2 and cells.counts.sum() == ba.read_votes(golden("arena-hard")).n_votes == 8


@pytest.mark.slow
def test_on_the_command_line(tmp_path):
    done = run("check", golden("arena-140k"), "--where", 'language == "en"', "--layout", "arena-140k")
    assert "3 votes" in done.stdout
    assert "--annotator evaluation_session_id" in done.stderr
    done = run("check", golden("arena-hard"), "--no-weight", "--prompt", "uid")
    assert "8 votes" in done.stdout
    assert "50.0 % of verdicts stay the same when the two are swapped; 4 seen in both orders" in done.stdout
