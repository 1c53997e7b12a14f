"""Whether votes held by other engines give the same cells.

    uv run --with 'ibis-framework[duckdb]' --with sqlframe --with 'dask[dataframe]' --with pyspark \\
        python benchmarks/engines.py

Votes are those of the example arena; cells are compared with those of the Polars table. Spark needs Java.
"""

import time
from collections.abc import Callable

import pandas as pd

import bayes_arena as ba


def duckdb(table: pd.DataFrame) -> object:
    import duckdb

    return duckdb.from_df(table)


def ibis(table: pd.DataFrame) -> object:
    import ibis

    return ibis.duckdb.connect().create_table("votes", table)


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


def same(found: ba.Cells, expected: ba.Cells) -> bool:
    names = found.competitors == expected.competitors and found.annotators == expected.annotators
    return names and all((getattr(found, key) == getattr(expected, key)).all() for key in ("a", "b", "counts"))


if __name__ == "__main__":
    votes = ba.example_arena().votes
    expected, table = ba.read_votes(votes), votes.to_pandas()
    print(
        f"{(__doc__ or '').split(chr(10) * 2)[1]}\n\n{expected!r}\n\n| engine | same cells | seconds |\n|---|---|---:|"
    )
    for name, engine in ENGINES.items():
        start = time.perf_counter()
        try:
            verdict = "yes" if same(ba.read_votes(engine(table)), expected) else "NO"
        except Exception as error:  # noqa: BLE001  # of any engine: what it says is the result
            verdict = f"not tried: {type(error).__name__}"
        print(f"| {name} | {verdict} | {time.perf_counter() - start:.1f} |")
