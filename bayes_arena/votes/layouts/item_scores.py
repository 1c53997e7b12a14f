"""Scores of several systems on the same items, as pairs of systems won by the higher score.

The scores of an item rank k systems, possibly with ties, and its pairs are not independent. Let all systems be equally
strong, so that every order of the given scores is equally likely, and let g_i systems, itself included, have the score
of the i-th. Taken as independent votes, the untied pairs have the information H on any contrast of the k, while the
score of the contrast, a sum of ranks, in fact has the variance J (Kendall's, with ties):

    H = sum_i (k - g_i) / (4 (k - 1)),        J = sum_i (k^2 - g_i^2) / (12 (k - 1)),

so the sandwich H^-1 J H^-1 is the inverse information of pairs with the weight

    w = H / J = 3 sum_i (k - g_i) / sum_i (k^2 - g_i^2)        each:

1 for a pair, 3 / (k + 1) without ties, 2 / k where one is above or below the others or scores are right and wrong. If
all scores are tied, which says nothing, the pairs also weigh 2 / k. Ties are taken as an outcome of their own; as half
wins they carry information, and intervals are wider than necessary. Where systems are far from equally strong the
weights are an approximation; intervals clustered by item need none.

Sources: Godambe (1960), Ann. Math. Statist. 31; Kendall (1945), Biometrika 33 (ranks with ties).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from bayes_arena.errors import listing
from bayes_arena.votes.layouts.layout import FILE, each, nested, number
from bayes_arena.votes.names import ITEM
from bayes_arena.votes.sources.frames import COMPRESSIONS

SYSTEMS = ("system", "model", "competitor")
"""Names of the column of the systems scored."""
WORDS = {"c": "1", "correct": "1", "true": "1", "yes": "1", "p": "0.5", "i": "0", "n": "0", "false": "0", "no": "0"}
"""Scores that are words, in lower case: Inspect writes C, P, I and N."""
SAMPLES = re.compile(r"samples_(.+)_\d{4}-\d{2}-\d{2}T[\d.-]+")
"""Names that lm-eval gives to files: the task and the time."""
OF_SAMPLE = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
NOT_SCORES = ("_metadata", "_explanation", "_answer")
"""Suffixes of Inspect's columns with further information on a score."""
FEEDBACK = "feedback."


def paired(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Pair the scores that agree in every column but ``system`` and ``score``.

    Missing scores are in no pair. ``margin`` is the first score less the second.
    """
    by = [name for name in scores.collect_schema().names() if name not in ("system", "score")]
    scored = scores.with_columns(pl.col(by).cast(pl.String), pl.col("system").cast(pl.String)).collect()
    scored = scored.with_columns(read=_as_number("score")).drop_nulls(["system", "read", *by])
    if wrong := scored.filter(pl.col("read").is_nan())["score"].unique(maintain_order=True).to_list():
        raise ValueError(f"{listing(map(repr, wrong))} is not a score")
    twice = scored.filter(pl.struct("system", *by).is_duplicated())
    if names := twice.select(pl.format("{} on {}", "system", ITEM)).unique(maintain_order=True).to_series().to_list():
        raise ValueError(f"several scores for {listing(names)}")
    k, g = pl.len().over(by).cast(pl.Float64), pl.len().over(*by, "read").cast(pl.Float64)
    weight = 3 * (k - g).sum().over(by) / (k**2 - g**2).sum().over(by)
    weighed = scored.with_columns(weight=pl.when(g < k).then(weight).otherwise(2 / k)).lazy()
    pairs = weighed.join(weighed.select(*by, "system", "read"), on=by, suffix="_of_b")
    margin = pl.col("read") - pl.col("read_of_b")
    ahead = pl.when(margin > 0).then(pl.lit("model_a")).when(margin < 0).then(pl.lit("model_b"))
    return pairs.filter(pl.col("system") < pl.col("system_of_b")).select(
        *by, "weight", model_a="system", model_b="system_of_b", winner=ahead.otherwise(pl.lit("tie")), margin=margin
    )


def _as_number(name: str) -> pl.Expr:
    text = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase().replace(WORDS)
    return number(text)


def has_system(names: Collection[str]) -> bool:
    """Whether exactly one column names the system scored."""
    return len(set(SYSTEMS).intersection(names)) == 1


def long(table: pl.LazyFrame) -> pl.LazyFrame:
    """Read a row for every system and item."""
    names = table.collect_schema().names()
    system = next(name for name in SYSTEMS if name in names)
    further = [name for name in ("criterion", "judge") if name in names]
    return paired(table.select(ITEM, *further, "score", system=system))


def wide(table: pl.LazyFrame) -> pl.LazyFrame:
    """Read a row for every item and a column for every system; the first column is the item."""
    item, *_ = table.collect_schema().names()
    return paired(table.unpivot(index=item, variable_name="system", value_name="score").rename({item: ITEM}))


def lm_eval(samples: pl.LazyFrame) -> pl.LazyFrame:
    """Read samples of lm-eval, a file for every model and task in the folder of the model; metrics are criteria.

    Documents are the same if their number and their hash agree.
    """
    names = samples.collect_schema().names()
    metrics = [name for name in names if name not in (*OF_SAMPLE, FILE, *SYSTEMS) and not name.endswith("_hash")]
    if "metrics" in names:
        listed = samples.select(nested(samples, "metrics", pl.List(pl.String)).explode().unique()).collect()
        metrics = [name for name in metrics if name in listed.to_series()]

    def model(path: Path) -> str:
        return path.parent.name if SAMPLES.match(path.name) else _stem(path)

    def task(path: Path) -> str:
        found = SAMPLES.match(path.name)
        return found[1] if found else ""

    parts = [_of_file(samples, task), "doc_id", *(["doc_hash"] if "doc_hash" in names else [])]
    variant = pl.col("filter") if "filter" in names else pl.lit(None, pl.String)
    told = samples.select(
        pl.col(metrics).cast(pl.String),
        system=_of_file(samples, model, SYSTEMS),
        item=pl.concat_str(parts, separator="/"),
        variant=pl.when(variant != "none").then(variant),
    )
    scores = told.unpivot(metrics, index=["system", ITEM, "variant"], variable_name="metric", value_name="score")
    scores = scores.filter(_as_number("score").is_nan().not_())  # others are parts of a score over all samples
    criterion = pl.concat_str("metric", "variant", separator=",", ignore_nulls=True)
    return paired(scores.select("system", ITEM, "score", criterion=criterion))


def mteb(scores: pl.LazyFrame) -> pl.LazyFrame:
    """Read the scores of models on tasks that MTEB's ``to_dataframe(format="long")`` makes."""
    parts = [name for name in ("task_name", "split", "subset") if name in scores.collect_schema().names()]
    return paired(scores.select("score", system="model_name", item=pl.concat_str(parts, separator="/")))


def mteb_results(results: pl.LazyFrame) -> pl.LazyFrame:
    """Read results of MTEB, a file for every task in the folder of a model's revision."""
    named = results.with_columns(system=_of_file(results, lambda path: path.parent.parent.name, SYSTEMS))
    rows = [
        (system, f"{task}/{split}/{score['hf_subset']}", score["main_score"])
        for system, task, scores in each(named, "system", "task_name", "scores")
        for split, of_split in scores.items()
        for score in of_split
    ]
    return paired(_scored(rows, ["system", ITEM, "score"]))


def reward_bench(results: pl.LazyFrame) -> pl.LazyFrame:
    """Read the results of RewardBench's prompts, a record for every model."""
    rows = [
        (model, f"{subset}/{id}", result)
        for model, *columns in each(results, "model", "subset", "id", "results")
        for subset, id, result in zip(*columns, strict=True)
    ]
    return paired(_scored(rows, ["system", ITEM, "score"]))


def openai_evals(events: pl.LazyFrame) -> pl.LazyFrame:
    """Read logs of OpenAI evals: the system is named once per run; matches and metrics are criteria."""
    records = list(each(events, "spec", "run_id", "sample_id", "type", "data"))
    specs = {spec["run_id"]: spec for spec, *_ in records if spec}
    rows = []
    for _, run, sample, kind, data in records:
        if kind in ("match", "metrics"):
            system, item = ",".join(specs[run]["completion_fns"]), f"{specs[run]['eval_name']}/{sample}"
            values = {"match": data["correct"]} if kind == "match" else data
            rows += [(system, item, name, value) for name, value in values.items() if _is_score(value)]
    return paired(_scored(rows, ["system", ITEM, "criterion", "score"]))


def inspect_logs(logs: pl.LazyFrame) -> pl.LazyFrame:
    """Read logs of Inspect, one for every model; scorers are criteria, and epochs are averaged."""
    rows = []
    for run, samples in each(logs, "eval", "samples"):
        for sample in samples or []:
            item = f"{run['task']}/{sample['id']}"
            for scorer, score in (sample.get("scores") or {}).items():
                rows += [(run["model"], item, *one) for one in _parts(scorer, score.get("value"))]
    return _averaged(rows)


def inspect_samples(samples: pl.LazyFrame) -> pl.LazyFrame:
    """Read samples of Inspect with their model, as a dataframe; scorers are criteria, and epochs are averaged."""
    names = samples.collect_schema().names()
    if "model" not in names:
        raise ValueError("they do not name the model: read samples_df(..., columns=[*EvalModel, *SampleSummary])")
    scorers = [name for name in names if name.startswith("score_") and not name.endswith(NOT_SCORES)]
    rows = []
    for model, task, sample, *values in each(samples, "model", "task_name", "id", *scorers):
        for scorer, value in zip(scorers, values, strict=True):
            rows += [(model, f"{task or ''}/{sample}", *one) for one in _parts(scorer.removeprefix("score_"), value)]
    return _averaged(rows)


def langsmith(feedback: pl.LazyFrame) -> pl.LazyFrame:
    """Read feedback of LangSmith's ``evaluate_comparative``: runs of several experiments that were scored together."""
    group = pl.col("feedback_group_id")
    told = feedback.filter(group.is_not_null() & (group != ""))
    return paired(told.select("score", system="session_id", item=group, criterion="key"))


def langsmith_experiments(results: pl.LazyFrame) -> pl.LazyFrame:
    """Read results of LangSmith, a file for every experiment; feedback is criteria."""
    keys = [name for name in results.collect_schema().names() if name.startswith(FEEDBACK)]
    told = results.select(pl.col(keys).cast(pl.String), system=_of_file(results, _stem, SYSTEMS), item="example_id")
    scores = told.unpivot(keys, index=["system", ITEM], variable_name="criterion", value_name="score")
    return paired(scores.with_columns(pl.col("criterion").str.strip_prefix(FEEDBACK)))


def _of_file(records: pl.LazyFrame, name: Callable[[Path], str], columns: Collection[str] = ()) -> pl.Expr:
    """Return one of the columns, or else a name made from the file of each record."""
    names = records.collect_schema().names()
    if found := [column for column in columns if column in names]:
        return pl.col(found[0])
    if FILE not in names:
        if not columns:
            return pl.lit("")
        raise ValueError(
            f"they do not name the system scored: add a column {SYSTEMS[0]!r}, or read one file per system"
        )
    paths = records.select(pl.col(FILE).unique()).collect().to_series()
    return pl.col(FILE).replace_strict({path: name(Path(path)) for path in paths})


def _stem(path: Path) -> str:
    return Path(path.stem).stem if path.suffix in COMPRESSIONS else path.stem


def _is_score(value: Any) -> bool:
    return isinstance(value, int | float) or str(value).lower() in WORDS


def _parts(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the scores of one scorer by name: several if its value is a record."""
    if isinstance(value, dict):
        return [(f"{name}/{key}", one) for key, one in value.items()]
    return [] if isinstance(value, list) else [(name, value)]


def _averaged(rows: Iterable[tuple[Any, ...]]) -> pl.LazyFrame:
    scores = _scored(rows, ["system", ITEM, "criterion", "score"])
    return paired(scores.group_by("system", ITEM, "criterion").agg(_as_number("score").mean()))


def _scored(rows: Iterable[tuple[Any, ...]], names: list[str]) -> pl.LazyFrame:
    """Return rows that end in a score as text in columns."""
    told = [(*row[:-1], None if row[-1] is None else str(row[-1])) for row in rows]
    return pl.LazyFrame(told, dict.fromkeys(names, pl.String), orient="row")
