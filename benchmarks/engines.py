r"""Whether votes held by other engines give the same cells, in how many passes and seconds.

    uv run --extra spark python benchmarks/engines.py
    uv run --extra spark python benchmarks/engines.py --plans
    uv run --extra spark python benchmarks/engines.py votes.parquet

Votes are those of the example arena, with columns that nobody asks for; cells are compared with those of Polars. A
pass is a query that the engine is sent, a group-by; prompts that are recognised, not named, cost one more, and
`dedupe=True` costs two. Seconds are those of the second reading, without the engine's start. `--plans` prints what
each engine makes of a reading with a condition. A file is read by Spark alone, with 4 GB of memory and two threads.
Spark needs Java.
"""

import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
from measuring import timed

import bayes_arena as ba
from bayes_arena.votes.reading import counting, covariates, validity


def polars(path: Path) -> Any:
    return pl.scan_parquet(path)


def duckdb(path: Path) -> Any:
    import duckdb

    return duckdb.read_parquet(str(path))


def ibis(path: Path) -> Any:
    import ibis

    return ibis.duckdb.connect().read_parquet(path)


def sqlframe(path: Path) -> Any:
    from sqlframe.duckdb import DuckDBSession

    return DuckDBSession().read.parquet(str(path))


def dask(path: Path) -> Any:
    from dask.dataframe import read_parquet

    return read_parquet(path)


def spark(path: Path) -> Any:
    from pyspark.sql import SparkSession

    options = {"spark.ui.enabled": False, "spark.driver.memory": "4g", "spark.driver.maxResultSize": 0}
    session = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session.read.parquet(str(path))


ENGINES: dict[str, tuple[Callable[[Path], Any], str, Callable[[Any], str]]] = {
    "Polars, lazily": (polars, "polars", lambda query: query.explain(engine="streaming")),
    "DuckDB": (duckdb, "duckdb", lambda query: query.explain()),
    "Ibis over DuckDB": (ibis, "ibis-framework", lambda query: str(query.compile())),
    "SQLFrame over DuckDB": (sqlframe, "sqlframe", lambda query: query.sql()),
    "Dask": (dask, "dask", lambda query: query.optimize(fuse=False).expr.tree_repr()),
    "Spark": (spark, "pyspark", lambda query: query._jdf.queryExecution().executedPlan().toString()),
}
"""How an engine opens a file, its package, and how it explains a query."""


def queries() -> list[Any]:
    """Return a list that fills with the queries that are collected."""
    sent: list[Any] = []
    collect = validity.to_polars

    def collect_and_note(frame: Any) -> pl.DataFrame:
        sent.append(frame)
        return collect(frame)

    for module in (validity, covariates, counting):
        module.to_polars = collect_and_note
    return sent


def same(found: ba.Cells, expected: ba.Cells) -> bool:
    names = found.competitors == expected.competitors and found.annotators == expected.annotators
    return names and all((getattr(found, key) == getattr(expected, key)).all() for key in ("a", "b", "counts"))


def print_table(path: Path) -> None:
    expected, sent = ba.read_votes(path), queries()
    print(repr(expected), end="\n\n")
    print("| engine | version | same cells | passes | seconds |\n|---|---|---|---:|---:|")
    for name, (opened, package, _) in ENGINES.items():
        source = opened(path)
        ba.read_votes(source)
        sent.clear()
        found, seconds, _ = timed(partial(ba.read_votes, source))
        agrees = "yes" if same(found, expected) else "no"
        print(f"| {name} | {version(package)} | {agrees} | {len(sent)} | {seconds:.2f} |", flush=True)


def print_plans(path: Path) -> None:
    sent = queries()
    for name, (opened, _, explained) in ENGINES.items():
        ba.read_votes(opened(path), where="number > 9")
        print(f"{name}\n{'-' * len(name)}\n{explained(nw.to_native(sent[-1]))}\n")


def print_large(path: Path) -> None:
    source = spark(path)
    cells, seconds, _ = timed(lambda: ba.read_votes(source))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{cells!r}\nSpark {version('pyspark')}: {seconds:.0f} s, {memory:.1f} GB in Python, the JVM aside.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    asked = sys.argv[1] if sys.argv[1:] else ""
    if asked and asked != "--plans":
        print_large(Path(asked))
        raise SystemExit
    with tempfile.TemporaryDirectory() as folder:
        votes = Path(folder) / "votes.parquet"
        table = ba.example_arena().votes
        table.with_columns(number=pl.int_range(table.height), text=pl.lit("a conversation")).write_parquet(votes)
        if asked:
            print_plans(votes)
        else:
            print((__doc__ or "").split("\n\n")[1].splitlines()[0], end="\n\n")
            print_table(votes)
