"""Votes in tables of engines: the group-by runs there, and what comes out is what Polars gives, errors and all."""

import os
import re
import shutil
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import assert_same

import bayes_arena as ba

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]  # engines start, and deprecate each other
Engine = Callable[[pl.DataFrame], Any]
"""Holds votes in an engine."""
JAVA = shutil.which("java") or "JAVA_HOME" in os.environ


def duckdb(path: Path) -> Iterator[Any]:
    engine = pytest.importorskip("duckdb", reason="needs bayes-arena[duckdb]")
    yield lambda: engine.read_parquet(str(path))


def ibis(path: Path) -> Iterator[Any]:
    engine = pytest.importorskip("ibis", reason="needs bayes-arena[ibis]").duckdb.connect()
    yield lambda: engine.read_parquet(path)


def sqlframe(path: Path) -> Iterator[Any]:
    engine = pytest.importorskip("sqlframe.duckdb", reason="needs bayes-arena[sqlframe]").DuckDBSession()
    yield lambda: engine.read.parquet(str(path))


def dask(path: Path) -> Iterator[Any]:
    engine = pytest.importorskip("dask.dataframe", reason="needs bayes-arena[dask]")
    yield lambda: engine.read_parquet(path).repartition(npartitions=3)


def spark(path: Path) -> Iterator[Any]:
    engine = pytest.importorskip("pyspark.sql", reason="needs bayes-arena[spark]")
    if not JAVA:
        pytest.skip("Spark needs Java 17, and there is none: apt-get install openjdk-17-jre-headless")
    one = {"spark.ui.enabled": False, "spark.sql.shuffle.partitions": 1, "spark.driver.host": "localhost"}
    with warnings.catch_warnings(action="ignore"):  # Spark's own, about pandas
        session = engine.SparkSession.builder.master("local[1]").config(map=one).getOrCreate()
    yield lambda: session.read.parquet(str(path))
    session.stop()


@pytest.fixture(scope="module", params=[duckdb, ibis, sqlframe, dask, spark], ids=lambda engine: engine.__name__)
def engine(request, tmp_path_factory) -> Iterator[Engine]:
    path = tmp_path_factory.mktemp("engine") / "votes.parquet"
    opened = request.param(path)
    reopen = next(opened)

    def hold(votes: pl.DataFrame) -> Any:
        votes.write_parquet(path)
        return reopen()

    yield hold
    for _ in opened:
        pass


def table(votes: int = 400, prompts: int = 20) -> pl.DataFrame:
    """Votes with all that votes can have."""
    rng = np.random.default_rng(1)
    a, shift = rng.integers(5, size=votes), rng.integers(1, 5, size=votes)
    return pl.DataFrame(
        {
            "model_a": [f"m{index}" for index in a],
            "model_b": [f"m{index}" for index in (a + shift) % 5],
            "winner": rng.choice(["model_a", "model_b", "tie", "tie (bothbad)"], votes),
            "judge": [f"k{index}" for index in rng.integers(7, size=votes)],
            "question_id": rng.integers(prompts, size=votes),
            "language": rng.choice(["German", "English", "Zürich"], votes),
            "length_a": rng.integers(9, size=votes),
            "length_b": rng.integers(9, size=votes),
            "weight": rng.choice([0.5, 1.0, 2.0], votes),
        }
    )


def said(source: object, **asked: Any) -> tuple[Any, list[str]]:
    """What reading gives or how it fails, and its warnings."""
    with warnings.catch_warnings(record=True, action="always") as found:
        try:
            answer = ba.read_votes(source, **asked)
        except ba.ArenaError as error:
            answer = type(error), str(error)
    return answer, [str(one.message) for one in found if issubclass(one.category, ba.ArenaWarning)]


ASKED = {
    "as it is": {},
    "without annotators": {"annotator": False},
    "weights": {"weight": "weight", "prompt": False},
    "all there is": {
        "weight": "weight",
        "prompt": "question_id",
        "slices": ["language"],
        "features": {"length": ("length_a", "length_b")},
    },
    "where": {"where": 'language == "Zürich" and question_id in [1, 2, 3] or weight > 1', "prompt": False},
    "without repeats": {"dedupe": True},
}


@pytest.mark.parametrize("asked", ASKED)
def test_cells_and_warnings_are_those_of_polars(engine, asked):
    votes = table()
    (found, told), (expected, told_by_polars) = (said(source, **ASKED[asked]) for source in (engine(votes), votes))
    assert_same(found, expected)
    assert told == told_by_polars


def test_ids_of_numbers_and_winners_of_truth_values(engine):
    votes = table().with_columns(pl.col("model_a", "model_b", "judge").str.slice(1).cast(pl.Int64))
    winners = {f"winner_{name}": pl.col("winner") == name for name in ("model_a", "model_b")}
    votes = votes.with_columns(**winners).with_columns(winner_tie=~pl.any_horizontal(*winners)).drop("winner", "weight")
    assert_same(*(ba.read_votes(source, prompt=False) for source in (engine(votes), votes)))


def test_the_board_is_that_of_polars(engine):
    votes = table().select("model_a", "model_b", "winner", "judge")
    boards = [ba.leaderboard(ba.fit(source, model="bradley-terry")) for source in (engine(votes), votes)]
    pd.testing.assert_frame_equal(*boards)


def test_empty_rows_are_no_votes(engine):
    votes = table()
    empty = pl.DataFrame([[None] * votes.width], schema=votes.schema, orient="row")
    found = ba.read_votes(engine(pl.concat([votes[:9], empty, votes[9:], empty])), prompt=False, weight=False)
    assert_same(found, ba.read_votes(votes, prompt=False, weight=False))


WRONG = {
    "winner": ({"winner": "undecided"}, {}),
    "competitor": ({"model_a": None}, {}),
    "itself": ({"model_a": "m1", "model_b": "m1"}, {}),
    "annotator": ({"judge": ""}, {}),
    "weight": ({"weight": -1.0}, {"weight": "weight"}),
    "missing weight": ({"weight": None}, {"weight": "weight"}),
    "prompt": ({"question_id": None}, {"prompt": "question_id"}),
    "slice": ({"language": None}, {"slices": ["language"]}),
    "feature": ({"length_a": None}, {"features": {"length": ("length_a", "length_b")}}),
}


def unnumbered(message: str) -> list[str]:
    """The lines of a message without what is said of the numbers and the order of rows."""
    return sorted(re.sub(r"First | of them|row \d+: | \(rows .*\)", "", message).splitlines())


@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_votes_are_quoted(engine, wrong):
    values, asked = WRONG[wrong]
    here = pl.int_range(pl.len()).is_in([3, 17])
    votes = table(30).with_columns(
        pl.when(here).then(pl.lit(value)).otherwise(name).alias(name) for name, value in values.items()
    )
    (found, told), (expected, told_by_polars) = (said(source, **asked) for source in (engine(votes), votes))
    assert (found[0], told) == (ba.errors.InvalidVotesError, told_by_polars)
    if "have no numbers" in found[1]:
        found, expected = unnumbered(found[1]), unnumbered(expected[1])
    assert found == expected


@pytest.mark.parametrize("asked", [{"winner": "who"}, {"where": "sprache == 1"}, {"where": "weight > 9"}])
def test_what_cannot_be_read_is_told_alike(engine, asked):
    votes = table(30)
    found, expected = (said(source, **asked) for source in (engine(votes), votes))
    assert found == expected
    assert issubclass(found[0][0], ba.VotesError)
