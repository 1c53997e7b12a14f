r"""Whether votes held by other engines give the same cells.

    uv run --with 'ibis-framework[duckdb]' --with sqlframe --with dask --with pyspark \
        python benchmarks/engines.py

Votes are those of the example arena; cells are compared with those of the Polars table. Spark needs Java.
Seconds hold the engine's own start.
"""

import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pandas as pd

import bayes_arena as ba


def duckdb(table: pd.DataFrame) -> object:
    import duckdb

    return duckdb.from_df(table)


def ibis(table: pd.DataFrame) -> object:
    import ibis

    path = Path(tempfile.mkdtemp()) / "votes.parquet"
    table.to_parquet(path)
    return ibis.duckdb.connect().read_parquet(path)


def sqlframe(table: pd.DataFrame) -> object:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession().createDataFrame(table)


def dask(table: pd.DataFrame) -> object:
    from dask.dataframe import from_pandas

    return from_pandas(table, npartitions=4)


def spark(table: pd.DataFrame) -> object:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    return session.createDataFrame(table)


ENGINES: dict[str, Callable[[pd.DataFrame], object]] = {
    "DuckDB": duckdb,
    "Ibis over DuckDB": ibis,
    "SQLFrame over DuckDB": sqlframe,
    "Dask": dask,
    "Spark": spark,
}


PACKAGES = {
    "DuckDB": "duckdb",
    "Ibis over DuckDB": "ibis-framework",
    "SQLFrame over DuckDB": "sqlframe",
    "Dask": "dask",
    "Spark": "pyspark",
}


def same(found: ba.Cells, expected: ba.Cells) -> bool:
    names = found.competitors == expected.competitors and found.annotators == expected.annotators
    return names and all((getattr(found, key) == getattr(expected, key)).all() for key in ("a", "b", "counts"))


if __name__ == "__main__":
    votes = ba.example_arena().votes
    expected, table = ba.read_votes(votes), votes.to_pandas()
    print((__doc__ or "").split("\n\n")[1], repr(expected), sep="\n\n", end="\n\n")
    print("| engine | version | same cells | seconds |\n|---|---|---|---:|")
    for name, engine in ENGINES.items():
        start = time.perf_counter()
        found = ba.read_votes(engine(table))
        seconds = time.perf_counter() - start
        print(f"| {name} | {version(PACKAGES[name])} | {'yes' if same(found, expected) else 'no'} | {seconds:.1f} |")
