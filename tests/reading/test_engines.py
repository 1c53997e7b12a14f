"""The group-by runs in the engine that holds the votes: the same counts to the last bit."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_arena.reading.read import read_votes
from tests.votes.test_votes import assert_same, table

COLUMNS = table() | {"w": np.random.default_rng(1).random(400).tolist()}
COLUMNS["winner"][7] = "-"


def pandas():
    return pd.DataFrame(COLUMNS)


def arrow():
    return pl.DataFrame(COLUMNS).to_arrow()


def duckdb():
    engine = pytest.importorskip("duckdb")
    return engine.from_arrow(arrow())


def ibis():
    engine = pytest.importorskip("ibis")
    return engine.memtable(pandas())


def dask():
    engine = pytest.importorskip("dask.dataframe")
    return engine.from_pandas(pandas(), npartitions=3)


def sqlframe():
    session = pytest.importorskip("sqlframe.duckdb").DuckDBSession()
    return session.createDataFrame(pandas().head(60))


@pytest.mark.parametrize(
    "make",
    [
        pandas,
        arrow,
        duckdb,
        pytest.param(ibis, marks=pytest.mark.slow),
        pytest.param(dask, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("weight", [None, "w"])
def test_engines_agree(make, weight):
    expected = read_votes(COLUMNS, weight=weight, features="x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the engines' own
        votes = read_votes(make(), weight=weight, features="x")
    assert_same(votes, expected)
    assert votes.dropped == {"not played": 1}


@pytest.mark.slow
def test_sqlframe_agrees():
    first = {name: values[:60] for name, values in COLUMNS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        votes = read_votes(sqlframe(), weight="w")
    assert_same(votes, read_votes(first, weight="w"))


def test_only_counts_leave_the_engine(monkeypatch):
    from bayes_arena.reading import read as reading, sources

    sizes = []

    def counted(frame):
        collected = sources.to_polars(frame)
        sizes.append(len(collected))
        return collected

    monkeypatch.setattr(reading, "to_polars", counted)
    one_pair = duckdb().filter("model_a = 'oak' and model_b = 'elm'")
    votes = read_votes(one_pair.project("model_a, model_b, winner"))
    assert max(sizes) <= 4 < votes.n_votes


def test_a_named_index_of_pandas_is_a_column():
    frame = pandas()
    whole = read_votes(frame, weight="w")
    assert_same(read_votes(frame.set_index("judge"), weight="w"), whole)
    assert_same(read_votes(frame.set_index(["judge", "prompt"]), weight="w"), whole)
    of_two = frame.set_index([frame["prompt"], "judge"])  # and prompt is a column, too
    assert_same(read_votes(of_two, weight="w"), whole)
    alike = frame.set_index(frame["judge"])  # the column is still there
    assert_same(read_votes(alike, weight="w"), whole)
