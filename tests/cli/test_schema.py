"""JSON answers are what their schema says, and nothing else."""

import json
from copy import deepcopy
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from helpers import run

import bayes_arena as ba
from bayes_arena.__main__ import app
from bayes_arena.cli.commands.schema import read_schema
from bayes_arena.likelihood import derivatives
from bayes_arena.validation import leave_one_out

PLAIN = ("--model", "bradley-terry")
SLICED = ("--model", "bradley-terry", "--answers", "on")
SAMPLED = ("--model", "bradley-terry", "--interval", "bootstrap", "--resamples", 3, "--by", "annotator")
QUICK = {
    "rank": [("rank", "votes", *PLAIN, "--explain"), ("rank", "votes", *SAMPLED)],
    "boards": [("boards", "votes", "--by", "annotator", "--model", "m-elo", "--robust", "off")],
    "pairs": [
        ("pairs", "votes", *PLAIN, "-n", 2, "--without", "vote"),
        ("pairs", "votes", *PLAIN, "--between", "model-1", "model-2", "--without", "annotator"),
        ("pairs", "votes", *PLAIN, "--between", "model-1", "model-6", "--require", "not-worse", "--margin", 20),
        ("pairs", "sliced", *SLICED),
    ],
    "next": [("next", "votes", *PLAIN, "-n", 3)],
}
"""Commands by schema; a name of a file stands for its path."""
SLOW = {
    "rank": [("rank", "rigged"), ("rank", "sliced", *SLICED)],
    "diagnose": [("diagnose", "votes", *PLAIN)],
    "annotators": [
        ("annotators", "rigged", "--fdr", 0.05),
        ("annotators", "votes", "--model", "am-elo", "--robust", "off"),
    ],
    "check": [("check", "votes")],
    "integrity": [("integrity", "rigged")],
    "annotators-judge": [("annotators", "votes", "--judge", "annotator-1")],
    "compare": [("compare", "votes", "--models", "bradley-terry,m-elo")],
}
ARENA = {
    "arena-add": ("arena", "add", "store", "rigged"),
    "arena-rate": ("arena", "rate", "store", "--fdr", 0.05),
    "arena-annotators": ("arena", "annotators", "store"),
    "arena-history": ("arena", "history", "store"),
    "arena-next": ("arena", "next", "store", "-n", 2),
}
"""One after the other."""


@pytest.fixture(scope="module")
def closed():
    """The schema, refusing fields that it does not describe."""
    whole = deepcopy(read_schema())

    def close(node: object) -> None:
        if isinstance(node, dict):
            for inner in node.values():
                close(inner)
            closed_already = {"additionalProperties", "unevaluatedProperties"} & node.keys()
            if ("properties" in node or node.get("$ref") == "#/$defs/place") and not closed_already:
                node["unevaluatedProperties"] = False
        elif isinstance(node, list):
            for inner in node:
                close(inner)

    for name in (each["$ref"].rpartition("/")[2] for each in whole["oneOf"]):
        close(whole["$defs"][name])
    for name in ("ranked", "decisions", "verdict"):
        close(whole["$defs"][name])
    return whole


@pytest.fixture(scope="module")
def files(tmp_path_factory, arena) -> dict[str, Path]:
    folder, rng = tmp_path_factory.mktemp("schema"), np.random.default_rng(0)
    paths = {name: folder / f"{name}.csv" for name in ("votes", "sliced", "rigged")} | {
        "store": folder / "arena.duckdb"
    }
    arena.votes.write_csv(paths["votes"])
    arena.votes.with_columns(prompt_id=pl.Series(rng.integers(20, size=600))).write_csv(paths["sliced"])
    timed = arena.votes.with_columns(tstamp=pl.Series(rng.random(600)))
    pushed = {"model_a": ["model-1"] * 40, "model_b": rng.choice(arena.competitors[1:], 40), "winner": ["model_a"] * 40}
    pushed |= {"judge": [f"new-{n}" for n in range(40)], "tstamp": rng.uniform(0.4, 0.42, 40)}
    pl.concat([timed, pl.DataFrame(pushed, schema=timed.schema)]).write_csv(paths["rigged"])
    ba.StableArena.create(paths["store"]).close()
    return paths


def validate(closed, files, name, command) -> dict[str, object]:
    done = run(*(files.get(word, word) for word in command), "--format", "json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["schema"] == f"bayes-arena/{name}/1"
    whole = {key: value for key, value in closed.items() if key != "oneOf"} | {"$ref": f"#/$defs/{name}"}
    jsonschema.Draft202012Validator(whole).validate(answer)
    return answer


@pytest.mark.slow
@pytest.mark.parametrize(("name", "command"), [(name, one) for name, all in QUICK.items() for one in all])
def test_an_answer_is_as_its_schema_says(closed, files, name, command):
    validate(closed, files, name, command)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "command"), [(name, one) for name, all in SLOW.items() for one in all])
def test_so_are_answers_that_take_longer(closed, files, name, command):
    validate(closed, files, name, command)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "word", "command"),
    [
        ("compare", "sampled", SLOW["compare"][0]),
        ("rank", "sd_error", QUICK["rank"][0]),
        ("boards", "sd_error", (*QUICK["boards"][0][:4], *PLAIN, "--robust", "off")),
    ],
)
def test_what_is_estimated_in_large_arenas_is_said(closed, files, monkeypatch, name, word, command):
    monkeypatch.setattr(leave_one_out, "LARGEST", 2)
    monkeypatch.setattr(leave_one_out, "SAMPLED", 20)
    monkeypatch.setattr(derivatives, "FULL", 2.0)
    monkeypatch.setattr(derivatives, "MANY", 2)
    assert validate(closed, files, name, command)[word] >= 0
    assert "estimated" in run(*(files.get(one, one) for one in command)).stdout


@pytest.mark.slow
def test_so_are_those_of_an_arena(closed, files):
    for name, command in ARENA.items():
        validate(closed, files, name, command)


def test_every_command_with_a_table_has_a_schema():
    described = {each["$ref"].rpartition("/")[2] for each in read_schema()["oneOf"]}
    assert described == {*QUICK, *SLOW, *ARENA}
    without = {"fit", "options", "simulate", "reproduce", "schema", "report"}
    commands = {one.name or one.callback.__name__ for one in app.registered_commands}
    assert commands - without <= described


@pytest.mark.slow
def test_the_schema_is_printed_for_people_and_for_programs():
    printed = json.loads(run("schema", "pairs", "--format", "json").stdout)
    jsonschema.Draft202012Validator.check_schema(printed)
    assert printed["$ref"] == "#/$defs/pairs" and "integrity" not in printed["$defs"]
    whole = json.loads(run("schema", "--format", "json").stdout)
    jsonschema.Draft202012Validator.check_schema(whole)
    assert whole == read_schema()
    table = run("schema", "rank").stdout
    assert "verdict.p_best" in table and "leaderboard[].rank_lower" in table and "discounted[].rank_alike" in table
    done = run("schema", "pair")
    assert (done.returncode, done.stdout) == (2, "") and "Did you mean 'pairs'" in done.stderr
