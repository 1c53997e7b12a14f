"""Sources, columns, prompts, weights, remarks and errors."""

import gzip
import json
import subprocess
import sys
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_arena.errors import MissingPackageError, VotesError
from bayes_arena.rating.rating import rate
from bayes_arena.reading.check import check
from bayes_arena.reading.read import read_votes, votes_from
from tests.helpers import real

CSV = "model_a,model_b,winner,judge\noak,elm,model_a,k1\nelm,ash,tie,k2\nash,oak,model_b,k1\n"


def by_name(votes):
    """Return the counts by pair and annotator."""
    who = votes.annotators or ("",)
    return {
        (votes.competitors[i], votes.competitors[j], who[k]): tuple(n)
        for i, j, k, n in zip(
            votes.i, votes.j, votes.annotator, votes.counts.tolist(), strict=True
        )
    }


def said(votes):
    """Return the sentences of what reading noticed."""
    return [str(note) for note in votes.remarks]


def assert_same_votes(left, right):
    assert left.n_votes == right.n_votes
    assert (left.annotator == right.annotator).all()
    assert (left.level("prompt") == right.level("prompt")).all()


@pytest.fixture
def expected(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text(CSV)
    return by_name(read_votes(path))


def test_the_counts(expected):
    assert expected == {
        ("oak", "elm", "k1"): (1, 0, 0),
        ("elm", "ash", "k2"): (0, 0, 1),
        ("ash", "oak", "k1"): (0, 1, 0),
    }


def rows():
    """Return the votes as records."""
    header, *lines = (line.split(",") for line in CSV.split())
    return [dict(zip(header, line, strict=True)) for line in lines]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("v.tsv", CSV.replace(",", "\t")),
        ("v.csv", CSV.replace(",", ";")),
        ("v.csv", CSV.replace(",", ", ")),
        ("v.CSV", "\ufeff" + CSV),
        ("v.json", json.dumps(rows())),
        ("v.json", json.dumps({"battles": rows(), "version": 1})),
        ("v.json", json.dumps({k: [r[k] for r in rows()] for k in rows()[0]})),
        ("v.json", "\n".join(map(json.dumps, rows()))),
        ("v.jsonl", "\n".join(map(json.dumps, rows())) + "\n\n"),
    ],
)
def test_text_files(name, text, tmp_path, expected):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert by_name(read_votes(path)) == expected
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    assert by_name(read_votes(str(packed))) == expected


def test_columns_whose_keys_are_in_another_order(tmp_path, expected):
    """As pandas writes a frame; an object of JSON has no order."""
    columns = {
        name: {str(k): row[name] for k, row in enumerate(rows())} for name in rows()[0]
    }
    columns["winner"] = dict(reversed(columns["winner"].items()))
    path = tmp_path / "v.json"
    path.write_text(json.dumps(columns))
    assert by_name(read_votes(path)) == expected


def test_frames_records_columns_and_globs(tmp_path, expected):
    table = pl.DataFrame(rows())
    table.write_parquet(tmp_path / "v.parquet")
    columns = {name: table[name].to_list() for name in table.columns}
    sources = [
        table,
        table.lazy(),
        table.to_arrow(),
        pd.DataFrame(columns),
        rows(),
        columns,
    ]
    for source in (*sources, tmp_path / "v.parquet", str(tmp_path / "*.parquet")):
        assert by_name(read_votes(source)) == expected
    table.write_parquet(tmp_path / "w.parquet")
    assert read_votes(str(tmp_path / "*.parquet")).n_votes == 6


@pytest.mark.slow
def test_pandas_is_not_imported():
    code = (
        "import sys; from bayes_arena.reading.read import read_votes;"
        "read_votes([{'model_a': 'x', 'model_b': 'y', 'winner': 'x'}]);"
        "assert 'pandas' not in sys.modules and 'scipy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_votes_that_are_read_stay():
    votes = read_votes(rows())
    assert votes_from(votes) is votes
    assert votes_from(votes, winner=None) is votes
    assert votes_from(rows(), annotator=False).annotators == ()
    with pytest.raises(VotesError, match=r"no option 'winer'.*Did you mean 'winner'"):
        votes_from(rows(), winer="winner")
    with pytest.raises(VotesError, match="read already"):
        votes_from(votes, winner="winner")


def test_names_that_are_numbers_or_objects():
    numbers = pl.DataFrame({"model_a": [1.0, 2.0], "model_b": [2, 3], "winner": [1, 3]})
    assert read_votes(numbers).competitors == ("1", "2", "3")
    a, b = {"name": "oak", "id": 1}, {"id": 2, "name": "elm"}
    objects = [{"model_a": a, "model_b": b, "winner": a}]
    for source in (objects, pl.DataFrame(objects), pd.DataFrame(objects)):
        votes = read_votes(source)
        assert votes.competitors == ("elm", "oak")
        assert votes.counts.tolist() == [[1, 0, 0]]
    with pytest.raises(VotesError, match="none of name, model"):
        read_votes([{"model_a": {"x": 1}, "model_b": "elm", "winner": "A"}])


def test_pairs_in_one_cell():
    for value in (["oak", "elm"], "('oak', 'elm')", "oak vs. elm", "oak_vs_elm"):
        votes = read_votes([{"pair": value, "winner": "oak"}])
        assert votes.competitors == ("elm", "oak")
    named = {"game": ["oak elm", "elm oak"], "best": ["oak", "elm"]}
    assert read_votes(named, a="game", winner="best").n_votes == 2
    with pytest.raises(VotesError, match="has no name"):
        read_votes([{"pair": [None, "elm"], "winner": "elm"}])
    with pytest.raises(VotesError, match="Nothing divides the cell 'oakelm'"):
        read_votes({"pair": ["oakelm"], "winner": ["A"]})


def test_names_that_differ_by_case_are_said():
    votes = read_votes({"model_a": ["Oak"], "model_b": ["oak"], "winner": ["A"]})
    assert said(votes) == [
        "Names of competitors differ by case or spaces only: 'Oak' and 'oak'; "
        "names={'oak': 'Oak'} reads them as one.",
    ]


def test_competitors_get_other_names():
    columns = {
        "model_a": ["ATLAS", "atlas ", "elm", "elm"],
        "model_b": ["elm", "elm", "ash", "Ash"],
        "winner": ["ATLAS", "model_a", "ash", "Ash"],
    }
    votes = read_votes(columns)
    remedy = "names={'ATLAS': 'atlas', 'ash': 'Ash'} reads them as one"
    assert remedy.replace("'ATLAS': 'atlas'", "'atlas': 'ATLAS'") in said(votes)[0]
    votes = read_votes(columns, names={"ATLAS": "atlas", "Ash": "ash"})
    assert by_name(votes) == {
        ("atlas", "elm", ""): (2, 0, 0),
        ("elm", "ash", ""): (0, 2, 0),
    }
    assert not votes.remarks
    with pytest.raises(VotesError, match=r"called 'Atlas'.*Did you mean 'atlas'"):
        read_votes(columns, names={"Atlas": "x"})
    with pytest.raises(VotesError, match="competitor meets itself"):
        read_votes(columns, names={"ash": "elm"})


def test_another_column_that_may_hold_the_winner_is_said():
    table = [row | {"verdict": "model_b", "label": "x"} for row in rows()]
    votes = read_votes(table)
    assert by_name(votes) == by_name(read_votes(rows()))
    assert said(votes) == [
        "The winner was read from 'winner', not from 'verdict', 'label'; "
        "winner='verdict' reads that.",
    ]
    votes = read_votes(table, winner="verdict")
    assert (votes.folded[:, 1].sum(), votes.remarks) == (3, ())
    assert read_votes(table, slices=["verdict", "label"]).remarks == ()


def test_two_columns_of_one_name_do_not_decide_the_winner():
    table = [row | {"Winner": "model_b"} for row in rows()]
    text = "Both 'winner' and 'Winner' may hold the winner.*winner='winner' or winner='Winner'"
    with pytest.raises(VotesError, match=text):
        read_votes(table)
    with pytest.raises(VotesError, match=r"'winner' and 'Winner'.*winner='winner'\."):
        read_votes(table, winner="WINNER")
    assert by_name(read_votes(table, winner="winner")) == by_name(read_votes(rows()))
    assert read_votes(table, winner="Winner").folded[:, 1].sum() == 3


def test_prompts_are_read_where_they_repeat():
    table = pl.DataFrame(rows() * 4).with_columns(
        question_id=pl.Series([f"q{k}" for k in range(12)]),
        prompt=pl.Series([f"p{k % 6}" for k in range(12)]),
    )
    assert read_votes(table).levels["prompt"] == tuple(f"p{k}" for k in range(6))
    assert "prompt" not in read_votes(table, prompt=False).slices
    assert len(read_votes(table, prompt="Question ID").levels["prompt"]) == 12
    assert "prompt" not in read_votes(table.drop("prompt")).slices
    skewed = pl.Series(
        ["p0"] * 5 + [f"p{k}" for k in range(7)]
    )  # Kish's number is 144 / 36 + ...
    assert "prompt" in read_votes(table.with_columns(prompt=skewed)).slices


@pytest.mark.parametrize(
    ("column", "other", "chosen"),
    [
        ("judge", "Judge", {"annotator": "Judge"}),
        ("model_a", "Model A", {"a": "Model A", "b": "model_b"}),
        ("model_b", "modelB", {"a": "model_a", "b": "modelB"}),
        ("prompt", "Prompt", {"prompt": "Prompt"}),
    ],
)
def test_two_spellings_of_a_column_do_not_decide_what_is_read(column, other, chosen):
    votes = [row | {"prompt": "p0"} for row in rows()]
    table = [row | {other: f"new {k}"} for k, row in enumerate(votes)]
    with pytest.raises(VotesError, match=f"Both '{column}' and '{other}' may hold"):
        read_votes(table)
    votes = read_votes(table, **chosen, outcomes={"model_a": "model_a"})
    names = (*votes.competitors, *votes.annotators, *votes.levels["prompt"])
    assert {"new 0", "new 1", "new 2"} <= set(names)


def test_names_in_the_header_may_be_alike():
    table = {"name": ["GPT-4", "gpt 4"], "GPT-4": [0, 1], "gpt 4": [2, 0]}
    assert read_votes(table, layout="win-matrix").competitors == ("GPT-4", "gpt 4")
    assert read_votes([row | {"note": 1, "Note": 2} for row in rows()]).n_votes == 3


def test_files_with_other_columns_are_refused_by_name(tmp_path, expected):
    whole, other, turned = (tmp_path / name for name in ("v.csv", "w.csv", "x.csv"))
    whole.write_text(CSV)
    other.write_text("model_a,model_b,winner,note\noak,elm,model_a,x\n")
    header = "judge;winner;model_b;model_a\n"  # in another order, and separated by ;
    turned.write_text(header + "k1;model_a;elm;oak\n")
    text = (
        r"w.csv' has other columns than .*v.csv': it has 'note', and it lacks 'judge'\."
    )
    with pytest.raises(VotesError, match=text):
        read_votes([whole, other])
    both = by_name(read_votes([whole, turned]))
    assert both == expected | {("oak", "elm", "k1"): (2, 0, 0)}
    pl.DataFrame(rows()).write_parquet(tmp_path / "v.parquet")
    pl.DataFrame(rows()).drop("judge").write_parquet(tmp_path / "w.parquet")
    with pytest.raises(VotesError, match=r"w.parquet' has other.*: it lacks 'judge'\."):
        read_votes(str(tmp_path / "*.parquet"))


def test_the_first_column_that_repeats_is_the_prompt_even_if_it_is_constant():
    """How many rows are read does not decide which column it is."""
    table = pl.DataFrame(rows() * 4).with_columns(
        prompt=pl.Series(["p0"] * 6 + ["p1"] * 6),
        question_id=pl.Series([f"q{k % 4}" for k in range(12)]),
    )
    for n_rows in (2, 3, 6, 9, 12):
        votes = read_votes(table.head(n_rows))
        assert votes.levels["prompt"] == (("p0",) if n_rows <= 6 else ("p0", "p1"))
    assert "prompt" not in read_votes(table.head(1)).slices


def test_votes_on_one_prompt_make_a_board_about_this_prompt():
    table = pl.read_csv(real("llmfao.csv"), infer_schema=False).head(299)
    rating = rate(table)
    assert rating.header[0].endswith(", 1 prompt")
    text = "The board is about this prompt only: there are too few to allow for others."
    assert text in map(str, rating.notes)


@pytest.mark.parametrize("empty", ["", None])
def test_a_vote_without_a_prompt_shares_it_with_no_other(empty, tmp_path):
    table = [row | {"prompt": f"p{k % 3}"} for k, row in enumerate(rows() * 4)]
    table[5]["prompt"] = table[7]["prompt"] = empty
    votes = read_votes(table)
    assert (votes.n_votes, votes.levels["prompt"]) == (12, ("p0", "p1", "p2"))
    assert votes.known("prompt").n_votes == 10
    assert "2 of 12 votes have no prompt: 'prompt' is empty there." in said(votes)
    assert read_votes(table, on_invalid="drop").n_votes == 12  # nothing is invalid
    assert_same_votes(read_votes(table, prompt="prompt"), votes)
    other = [row | {"item": f"i{k % 4}"} for k, row in enumerate(table)]
    assert read_votes(other).levels["prompt"] == votes.levels["prompt"]
    seldom = [row | {"prompt": f"p{k}"} for k, row in enumerate(rows())]
    assert "prompt" not in read_votes([*seldom, seldom[0] | {"prompt": empty}]).slices
    without = [row | {"prompt": empty} for row in table]
    assert "prompt" not in read_votes(without, prompt="prompt").slices
    path = tmp_path / "v.csv"  # a blank line at the end is no vote
    path.write_text(
        "model_a,model_b,winner,prompt\n" + "oak,elm,A,p0\nelm,oak,A,p1\n" * 2 + ",,,\n"
    )
    assert read_votes(path).levels["prompt"] == ("p0", "p1")


def test_verdicts_on_one_record_share_a_prompt():
    table = {
        "model_a": ["x", "y"],
        "model_b": ["y", "x"],
        "rater1": ["A", "B"],
        "rater2": ["A", "A"],
    }
    assert read_votes(table).levels["prompt"] == ("0", "1")
    assert not read_votes(table, prompt=False).slices


def test_slices_and_features():
    table = pl.DataFrame(rows()).with_columns(
        lang=pl.Series(["en", "de", "en"]), x=1.5, y=pl.Series([1, 2, 3])
    )
    votes = read_votes(
        table, slices={"language": "lang"}, features={"z": ("x", "y"), "x": "x"}
    )
    assert votes.levels["language"] == ("de", "en")
    assert sorted(votes.features["z"].tolist()) == [-1.5, -0.5, 0.5]
    for options, text in (
        ({"slices": "absent"}, "No column 'absent'"),
        ({"features": {"z": "winner"}}, "z is not a finite number"),
    ):
        with pytest.raises(VotesError, match=text):
            read_votes(table, **options)


def test_weights():
    table = pl.DataFrame(rows()).with_columns(count=pl.Series([2.0, 0.5, 0.0]))
    assert read_votes(table).n_votes == 3
    assert "weight='count' reads it" in said(read_votes(table))[0]
    assert read_votes(table, weight="count").n_votes == 2.5
    scaled = read_votes(table, weight="count", weights="importance")
    kish = 2.5**2 / (2**2 + 0.5**2)
    assert scaled.counts.sum() == pytest.approx(kish)
    assert scaled.counts.max() == pytest.approx(kish * 2 / 2.5)
    assert scaled.n_votes == 2  # one of weight 0
    twice = read_votes(pl.concat([table, table]), weight="count", weights="importance")
    assert twice.counts.sum() == pytest.approx(2 * kish)
    bad = table.with_columns(count=pl.Series(["2", "x", "-1"]))
    text = r"In 2 of 3 votes the weight or count is not.*row 1: elm, ash, tie, k2, x"
    with pytest.raises(VotesError, match=text):
        read_votes(bad, weight="count")
    with pytest.raises(VotesError, match="needs a column of weights"):
        read_votes(table, weights="importance")


@pytest.mark.parametrize("word", ["yes", "no", "Yes"])
def test_words_are_no_numbers(word):
    row = {"model_a": "oak", "model_b": "elm", "winner": "A", "w": word}
    with pytest.raises(VotesError, match=f"weight or count is not a number.*{word}"):
        read_votes([row], weight="w")
    with pytest.raises(VotesError, match="w is not a finite number"):
        read_votes([row], features="w")
    counts = {"model_a": "oak", "model_b": "elm", "wins_a": word, "wins_b": "1"}
    with pytest.raises(VotesError, match="weight or count is not a number"):
        read_votes([counts])


def test_sums_of_weights_depend_on_no_order():
    weight = np.random.default_rng(0).random(1_000)
    table = pl.DataFrame(
        {
            "model_a": ["x"] * 1_000,
            "model_b": ["y"] * 1_000,
            "winner": ["A"] * 1_000,
            "w": weight,
        }
    )
    assert (
        read_votes(table, weight="w").n_votes
        == read_votes(table[::-1], weight="w").n_votes
    )


def test_copies_are_said():
    table = pl.DataFrame(rows() * 4).with_columns(
        id=pl.Series([f"v{k}" for k in range(12)])
    )
    assert not read_votes(table).remarks
    copied = pl.concat([table, table.head(3)])
    assert "3 rows equal another in every column" in said(read_votes(copied))[0]
    assert "df.drop_duplicates()" in said(read_votes(copied))[0]
    assert said(read_votes(copied[:-2]))[0].startswith("1 row equals another in every")
    assert not read_votes(rows() * 9).remarks  # votes are often equal


@pytest.mark.slow
def test_copies_in_large_files_are_said_by_check():
    n = 100_001
    table = pl.DataFrame(
        {
            "model_a": [f"m{k % 7}" for k in range(n)],
            "model_b": [f"n{k % 11}" for k in range(n)],
            "winner": ["A" if k % 3 else "B" for k in range(n)],
            "note": [f"v{k // 2 * 2}" if k < 4 else f"v{k}" for k in range(n)],
        }
    )
    copied = pl.concat([table, table.head(3)])
    assert not read_votes(copied).remarks
    (remark,) = check(copied).remarks
    assert str(remark).startswith("3 rows equal another in every column")


def test_invalid_votes_are_quoted_or_left_out():
    table = [
        *rows(),
        {"model_a": "oak", "model_b": "oak", "winner": "A", "judge": "k1"},
    ]
    with pytest.raises(
        VotesError,
        match=r"In 1 of 4 votes a competitor meets itself \(row 3: oak, oak, A, k1\)",
    ):
        read_votes(table)
    votes = read_votes(table, on_invalid="drop")
    assert (votes.n_votes, votes.dropped) == (3, {"a competitor meets itself": 1})


def test_a_vote_without_an_annotator_counts_and_is_nobodys():
    nobody = {"model_a": "oak", "model_b": "elm", "winner": "A", "judge": ""}
    votes = read_votes([*rows(), nobody])
    assert (votes.annotators, votes.n_votes) == (("k1", "k2"), 4)
    assert "1 of 4 votes has no annotator: 'judge' is empty there." in said(votes)
    assert votes.votes_by_annotator.sum() == 3
    assert votes.known("annotator").n_votes == 3
    assert read_votes([*rows(), nobody], annotator="judge").n_votes == 4
    empty = [row | {"judge": None} for row in rows()]
    assert (read_votes(empty).remarks, read_votes(empty).annotators) == ((), ())
    unplayed = [*rows(), nobody | {"winner": ""}]  # that nobody judged is no vote
    assert "annotator" not in " ".join(said(read_votes(unplayed)))


def test_blank_rows_are_nothing(tmp_path):
    path = tmp_path / "v.csv"
    path.write_text(CSV + ",,,\n")
    assert read_votes(path).dropped == {}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("absent.csv", "No file at 'absent.csv'"),
        ([], "holds no records"),
        (3, "type int"),
        ({"model_a": "x"}, "is a str, not a list"),
        ({"model_a": ["x"], "model_b": []}, "different lengths"),
        ({"x": ["1"], "y": ["2"]}, "a= and b=.*winner="),
        ({"model_a": ["x"], "model_b": ["y"]}, "no column is recognised as the result"),
        ({"model_a": ["x"], "model_b": ["y"], "winner": [""]}, "1 not played"),
        ({"winner": ["x"], "winner ": ["y"]}, "same name but for spaces"),
        ("hf:nonsense", "hf:owner/name"),
    ],
)
def test_sources_that_cannot_be_read(source, text):
    with pytest.raises(VotesError, match=text):
        read_votes(source)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("v.csv", b"", "empty"),
        ("v.csv", b"model_a,model_b,winner\n\xff,y,A\n", "UTF-8|utf"),
        ("v.csv", b"model_a,model_b,winner\nx,y,A,B\n", "row 0 has 4 fields"),
        ("v.csv", b'model_a,model_b,winner\nx,"y,A\n', "quotes of row 0"),
        ("v.csv", b"model_a,model_b,winner,winner\nx,y,A,A\n", "Several columns"),
        ("v.csv", "model_a,model_b".encode("utf-16"), "UTF-16"),
        ("v.csv", b"model_a,model_b,winner\rx,y,A\r", "carriage return"),
        ("v.json", b"{", "JSON"),
        ("v.json", b"[1]", "does not hold records"),
        ("v.jsonl", b'{"a": 1}\n{', "line 2, is not JSON"),
        ("v.json", b"[" * 100_000, "nested too deeply"),
        ("v.parquet", b"PAR1", "cannot be read"),
        ("v.csv.gz", b"x", "not compressed"),
        ("v.xlsx", b"x", "unknown format"),
        ("v.npz", b"x", "cannot be read"),
    ],
)
def test_files_that_cannot_be_read(name, content, text, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(VotesError, match=text) as error:
        read_votes(path)
    assert name in str(error.value) or "name" in str(error.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"winner": "wimmer"}, "No column 'wimmer'.*Did you mean 'winner'"),
        ({"winner": 3}, "winner= must be"),
        ({"a": "model_a"}, "Nothing divides the cell"),
        ({"b": "model_b"}, "b= needs a="),
        ({"on_invalid": "ignore"}, "'raise' or 'drop'"),
        ({"weights": None}, "'frequency' or 'importance'"),
        ({"slices": [3]}, "slices= must be"),
        ({"features": {"z": ["a", "b", "c"]}}, "features= must be"),
        ({"outcomes": ["x"]}, "outcomes= must be"),
        ({"prompt": True}, "prompt= must be"),
        ({"annotator": ""}, "annotator= must be"),
    ],
)
def test_options_are_checked(options, text):
    with pytest.raises(VotesError, match=text):
        read_votes(rows(), **options)


def test_the_hub(monkeypatch, tmp_path):
    pl.DataFrame(rows()).write_parquet(tmp_path / "part.parquet")
    hub = ModuleType("huggingface_hub")
    hub.snapshot_download = lambda name, **_: str(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert read_votes("hf:owner/name").n_votes == 3

    def refuse(name, **_):
        error = OSError("401")
        error.response = type("R", (), {"status_code": 401})()
        raise error

    hub.snapshot_download = refuse
    with pytest.raises(VotesError, match="HF_TOKEN"):
        read_votes("hf:owner/name")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingPackageError, match="pip install huggingface-hub"):
        read_votes("hf:owner/name")


def test_real_votes():
    votes = read_votes(real("llmfao.csv"))
    assert (votes.n_votes, votes.n_competitors, votes.n_annotators) == (8931, 59, 124)
    assert len(votes.levels["prompt"]) == 13
    votes = read_votes(real("mt_bench_human.csv"))
    assert (votes.n_votes, len(votes.levels["prompt"])) == (3355, 80)


def test_the_winners_of_two_games_are_two_columns():
    games = {"model_1": ["x"], "model_2": ["y"], "one": ["model_1"], "two": ["model_2"]}
    assert read_votes(games, layout="mt-bench", winner="one, two").n_votes == 2


def test_check_says_where_prompts_come_from():
    rows = [
        {"model_a": "x", "model_b": "y", "winner": "x", "prompt": f"p{k % 3}"}
        for k in range(12)
    ]
    assert check(rows).columns["prompt"] == "prompt"
    assert not read_votes(rows).remarks
    raters = [
        {"model_a": "x", "model_b": "y", "rater_1": "x", "rater_2": w} for w in "xyxy"
    ]
    assert check(raters).columns["prompt"] == "the record"
