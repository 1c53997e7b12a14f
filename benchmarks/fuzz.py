"""Random arenas and damaged files: nothing breaks, and nothing depends on names, order or sides.

    uv run python benchmarks/fuzz.py [--arenas 300] [--files 0] [--seed 0]

Every arena draws what it is asked: it is fitted by default or by one other model, and asked for the board and four
more tables. Then the same votes are told otherwise: everybody renamed, rows in another order, sides swapped. A finding
is a NaN, an error that is no ``ArenaError``, an answer that takes more than 30 s of the processor, or a number that
moved; it is printed on one line with the seed that makes it again (``--arenas 1 --seed SEED``). How often each model
and each table was asked for is printed at the end.

Every file is written whole, damaged, and given to the command in this process: it ends with an answer, or with a
message and exit code 2.
"""

import contextlib
import gzip
import io
import json
import multiprocessing
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
from measuring import options_of

import bayes_arena as ba
from bayes_arena.__main__ import main as command
from bayes_arena.votes.cells import SAVED_KEY

SECONDS, PATIENCE = 30, 600
"""Of the processor for an answer, and on the clock, after which a process waits for something."""
EXACT, LOOSE = 0.01, 0.05
"""Elo points by which a score may move; loosely where votes are discounted or annotators have directions."""
OPEN = 0.53
"""Up to which probability of being better the draws may decide who is named first: a share of 4,000 varies by .008."""
DEFAULT, TABLES = 0.1, 4
"""The share of arenas that are fitted by default, and how many tables are asked for beside the board."""
SHAPES = ("ordinary", "noise", "chain", "separated", "apart", "one vote", "ties only", "camps", "promoted", "two")
WEIGHTS = ("none", "none", "counts", "nine decades", "one of a billion", "fractions", "some are zero")
SWAPPED = {"model_a": "model_b", "model_b": "model_a", "A>>B": "B>>A", "A>B": "B>A", "B>>A": "A>>B", "B>A": "A>B"}
NAMES = re.compile(r"\b[mk]\d{3}\b")


def arena(seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the votes of a random arena, and the options to read them with."""
    rng = np.random.default_rng(seed)
    shape, weights = SHAPES[seed % len(SHAPES)], str(rng.choice(WEIGHTS))
    n, people = int(rng.integers(2, 12)), int(rng.integers(1, 15))
    votes = 1 if shape == "one vote" else int(10 ** rng.uniform(0.3, 2.3))
    n = 2 if shape == "two" else max(n, 4) if shape == "apart" else n
    strength = rng.normal(0, rng.choice([0.0, 0.3, 1, 3]), n)
    a = rng.integers(n, size=votes)
    b = (a + rng.integers(1, n, size=votes)) % n
    if shape == "chain":
        first, turned = rng.integers(n - 1, size=votes), rng.random(votes) < 0.5
        a, b = first + turned, first + ~turned
    if shape == "apart":
        half = n // 2
        b = np.where(a < half, (a + rng.integers(1, half, votes)) % half if half > 1 else a, b)
        b = np.where(a >= half, half + (a - half + rng.integers(1, n - half, votes)) % (n - half), b)
        a, b = a[a != b], b[a != b]
        a, b = (a, b) if len(a) else (np.array([half]), np.array([half + 1]))
        votes = len(a)
    k = rng.integers(people, size=votes)
    theta, position = rng.normal(1, 0.7, people), rng.normal(0, 0.3, people)
    tie = rng.normal(rng.choice([-3, -0.5, 1]), 0.5, people)
    eta = theta[k] * (strength[a] - strength[b]) + position[k]
    if shape == "camps":
        taste = rng.normal(0, 1.5, n)
        eta = eta + np.where(k % 2, 1, -1) * (taste[a] - taste[b])
    if shape == "promoted":
        rigged = k < max(people // 4, 1)
        eta = np.where(rigged, 20.0 * ((a == 0) * 1.0 - (b == 0)), eta)
    eta = 0 * eta if shape == "noise" else eta
    outcome = (np.column_stack([eta / 2, -eta / 2, tie[k]]) + rng.gumbel(size=(votes, 3))).argmax(axis=1)
    if shape == "separated":
        outcome = (eta < 0).astype(int)
    if shape == "ties only":
        outcome[:] = 2
    clear = rng.random(votes) < 0.4
    graded = np.where(clear, np.array(["A>>B", "B>>A", "A=B"])[outcome], np.array(["A>B", "B>A", "A=B"])[outcome])
    ties = np.where(rng.random(votes) < 0.2 * rng.integers(2), "tie (bothbad)", "tie")
    plain = np.where(outcome == 2, ties, np.array(["model_a", "model_b", "tie"])[outcome])
    has = {name: bool(rng.random() < chance) for name, chance in CHANCES.items()}
    columns: dict[str, Any] = {
        "model_a": [f"m{one:03}" for one in a],
        "model_b": [f"m{one:03}" for one in b],
        "winner": graded if has["grades"] else plain,
    }
    options: dict[str, Any] = {"prompt": False}
    if has["judge"]:
        columns["judge"] = [f"k{one:03}" for one in k]
        if has["programs"]:
            options["programs"] = sorted({f"k{one:03}" for one in k if one % 3 == 0})
    if weights != "none":
        options["weight"] = "votes"
        options["weights"] = "importance" if rng.random() < 0.2 else "frequency"
        columns["votes"] = {
            "counts": rng.integers(1, 30, votes).astype(float),
            "nine decades": np.ceil(10 ** rng.uniform(0, 9, votes)),
            "one of a billion": np.where(np.arange(votes) == rng.integers(votes), 1e9, 1.0),
            "fractions": 10 ** rng.uniform(-3, 3, votes),
            "some are zero": np.where(np.arange(votes) == 0, 1.0, rng.integers(0, 2, votes)),
        }[weights]
    if has["prompt"]:
        columns["prompt"] = [f"p{one}" for one in rng.integers(max(votes // 6, 1), size=votes)]
        options["prompt"] = "prompt"
    if has["time"]:
        days = rng.integers(int(rng.choice([1, 20, 700])), size=votes)
        columns["tstamp"] = [str(day) for day in np.datetime64("2025-01-01") + days]
        options["time"] = "tstamp"
    if has["group"]:
        columns["language"] = rng.choice(["de", "en", "fr"], votes)
        options["slices"] = ["language"]
    if has["length"]:
        columns["length"] = np.round(rng.normal(0, rng.choice([0.0, 1.0, 1e4]), votes), 3)
        options["features"] = ["length"]
    return pl.DataFrame(columns), options


CHANCES = {"judge": 0.85, "grades": 0.15, "programs": 0.15, "prompt": 0.2, "time": 0.2, "group": 0.2, "length": 0.2}


def part_of_arena(seed: int) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the first votes of a random arena, mostly few, and the options to read them with."""
    table, options = arena(seed)
    table = table.head(int(10 ** np.random.default_rng([seed, 4]).uniform(0.3, 2.3)))
    if "programs" in options:
        options["programs"] = sorted(set(options["programs"]) & set(table["judge"]))
    return table, options


def told_otherwise(table: pl.DataFrame, seed: int) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the same votes with other names, in another order and with sides swapped, and who is called what now."""
    rng = np.random.default_rng([seed, 1])
    new: dict[str, str] = {}
    for columns in (["model_a", "model_b"], ["judge"]):
        names = sorted(set().union(*(table[column] for column in columns if column in table.columns)))
        new |= dict(zip(names, rng.permutation(names).tolist(), strict=True))
    other = table.with_columns(
        model_a=pl.col("model_b").replace(new),
        model_b=pl.col("model_a").replace(new),
        winner=pl.col("winner").replace(SWAPPED),
        **({"judge": pl.col("judge").replace(new)} if "judge" in table.columns else {}),
        **({"length": -pl.col("length")} if "length" in table.columns else {}),
    )
    return other.sample(fraction=1.0, shuffle=True, seed=seed), new


def drawn_fit(cells: ba.Cells, rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """Return the name and the options of a fit that is drawn: the default, or one other."""
    if rng.random() < DEFAULT:
        return "default", {}
    others: dict[str, dict[str, Any]] = {
        f"{model} {prior}": {"model": model, "prior": prior}
        for model in ("bradley-terry", "m-elo", "am-elo", "davidson", "am-davidson")
        for prior in ("default", "flat", "weak")
    }
    others |= {"flat": {"prior": "flat"}, "map": {"method": "map"}, "not robust": {"robust": False}}
    others |= {"answers": {"answers": True}, "drift": {"drift": True}, "one direction": {"dimensions": 1}}
    for ties in ("half", "davidson", "rao-kupper", "glenn-david", "drop"):
        others[f"{ties} grid"] = {"model": ba.Model("grid", ties=ties, position="common")}
    others["both bad"] = {"model": ba.Model("both bad", ties="davidson", both_bad="outcome")}
    others["drop both bad"] = {"model": ba.Model("drop both bad", ties="davidson", both_bad="drop")}
    others["taste"] = {"model": ba.Model("taste", discrimination="annotator", strength_by=("annotator",))}
    others["ties by"] = {"model": ba.Model("ties by", ties="davidson", ties_by=("competitor",))}
    if cells.features:
        others["style"] = {"model": ba.Model("style", ties="davidson", style=("length",))}
        others["style each"] = {"model": ba.Model("style each", style=("length",), style_slopes="annotator")}
    if "language" in cells.slices:
        others["by language"] = {"model": ba.Model("by language", ties="davidson", strength_by=("language",))}
    likely = [name for name in others if name in ("style", "style each", "by language", "drift", "answers")]
    name = str(rng.choice(likely if likely and rng.random() < 0.2 else list(others)))
    return name, others[name]


Verb = Callable[[ba.Fit, dict[str, str]], object]
VERBS: dict[str, Verb] = {
    "leaderboard": lambda fit, new: ba.leaderboard(fit),
    "leaderboard these": lambda fit, new: ba.leaderboard(fit, over="these prompts"),
    "leaderboard sandwich": lambda fit, new: ba.leaderboard(fit, interval="sandwich"),
    "leaderboard profile": lambda fit, new: ba.leaderboard(fit, interval="profile"),
    "the middle": lambda fit, new: ba.leaderboard(fit.of("the middle")),
    "annotators": lambda fit, new: ba.annotators(fit),
    "effects": lambda fit, new: ba.effects(fit),
    "strengths": lambda fit, new: ba.strengths(fit),
    "contrasts": lambda fit, new: ba.contrasts(fit),
    "win_probability": lambda fit, new: ba.win_probability(fit),
    "head_to_head": lambda fit, new: ba.head_to_head(fit),
    "rank_probabilities": lambda fit, new: ba.rank_probabilities(fit),
    "pairs": lambda fit, new: ba.pairs(fit),
    "verdict": lambda fit, new: str(ba.verdict(fit)),
    "versus": lambda fit, new: str(ba.versus(fit, new["m000"], new["m001"])),
    "flips": lambda fit, new: ba.flips(fit),
    "flips by annotator": lambda fit, new: ba.flips(fit, by="annotator"),
    "flips turned": lambda fit, new: ba.flips(fit, how="flip"),
    "integrity": lambda fit, new: ba.integrity(fit),
    "promoters": lambda fit, new: ba.promoters(fit),
    "next_pairs": lambda fit, new: ba.next_pairs(fit, 5),
    "next_pairs ranking": lambda fit, new: ba.next_pairs(fit, 5, goal="ranking"),
    "price": lambda fit, new: ba.price(fit),
    "camps": lambda fit, new: str(ba.camps(fit)),
    "flag": lambda fit, new: ",".join(ba.flag(fit)),
    "disagreement": lambda fit, new: ba.disagreement(fit),
    "diagnose": lambda fit, new: ba.diagnose(fit),
    "leave_one_out": lambda fit, new: ba.leave_one_out(fit).elpd,
    "check": lambda fit, new: ba.check(fit.cells),
    "predictive_check": lambda fit, new: ba.predictive_check(fit, draws=50),
    "judge_report": lambda fit, new: str(ba.judge_report(fit, new["k000"])),
    "history": lambda fit, new: ba.history(fit),
    "changes": lambda fit, new: ba.changes(fit),
    "grades": lambda fit, new: ba.grades(fit),
    "style_effects": lambda fit, new: ba.style_effects(fit),
    "slice_gaps": lambda fit, new: ba.slice_gaps(fit, "language"),
    "best_by_group": lambda fit, new: ba.best_by_group(fit, "language"),
    "slice_similarity": lambda fit, new: ba.slice_similarity(fit, "language"),
    "answers": lambda fit, new: ba.answers(fit),
    "report": lambda fit, new: str(ba.report(fit)),
    "fit_many": lambda fit, new: ba.leaderboards(ba.fit_many(fit.cells, "language")),
    "kfold": lambda fit, new: ba.kfold(fit.cells, {"bt": "m-elo"}, over="annotator", folds=2),
    "saved": lambda fit, new: saved(fit),
    "flip_votes": lambda fit, new: ba.flip_votes(fit, new["m000"], new["m001"]),
    "siblings": lambda fit, new: ba.siblings(fit, families(fit, new)),
    "draw": lambda fit, new: ba.draw(fit, size=50).elo_strength,
    "replicate": lambda fit, new: ba.replicate(fit, draws=20),
    "to_datatree": lambda fit, new: ", ".join(ba.to_datatree(fit).groups),
    "likelihoods": lambda fit, new: np.array([fit.log_likelihood, fit.deviance, fit.mean_loss]),
    "criteria of information": lambda fit, new: np.array([fit.aic, fit.degrees_of_freedom]),
}
COSTLY = ("saved", "to_datatree", "kfold", "leave_one_out")
"""What is asked for a quarter as often as the rest: it takes most of the time."""
BOARDS = ("leaderboard", "leaderboard these", "leaderboard sandwich", "leaderboard profile", "the middle")
KEYS = {
    **{name: ["competitor"] for name in (*BOARDS, "strengths", "integrity", "price", "siblings")},
    **{name: ["competitor", "opponent"] for name in ("pairs", "flips", "flips by annotator", "flips turned")},
    "annotators": ["annotator"],
    "slice_gaps": ["competitor", "language"],
}
"""Tables of which the numbers are compared, and the columns that say what a row is about."""
POINTS = ("elo", "lower", "upper", "elo_gap", "elo_alike")
SHARES = ("theta", "strength", "share", "wins", "losses", "ties", "votes", "k", "annotators")
MAY_BE_NAN = {
    "integrity": {"contested", "gain", "difference", "plain_votes", "soft_votes"},
    "strengths": {"z", "p"},
    "slice_gaps": {"z", "p", "q"},
    "contrasts": {"z", "p"},
    "history": {"p_rise"},
}


def families(fit: ba.Fit, new: dict[str, str]) -> dict[str, str]:
    """Return a provider for every competitor, the same however they are called."""
    return {now: f"of {int(old[1:]) // 3}" for old, now in new.items() if now in fit.cells.competitors}


def saved(fit: ba.Fit) -> pd.DataFrame:
    """Return the board of a fit that was saved and loaded; its scores have to be the same."""
    with tempfile.TemporaryDirectory() as folder:
        ba.save(fit, Path(folder) / "fit.nc")
        loaded = ba.leaderboard(ba.load(Path(folder) / "fit.nc"))
    gap = np.abs(loaded["elo"] - ba.leaderboard(fit)["elo"]).max()
    if not gap <= 1e-6:
        raise ValueError(f"a loaded fit differs by {gap:.2g} Elo")
    return loaded


def attempt(answer: Callable[[], Any]) -> tuple[Any, str]:
    """Return an answer or an ``ArenaError``, and what broke if it is another error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        try:
            return answer(), ""
        except ba.ArenaError as error:
            return error, ""
        except Exception as error:
            place = error.__traceback__
            while place and place.tb_next:
                place = place.tb_next
            where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else ""
            return None, f"{type(error).__name__} at {where}: {str(error)[:150]!r}"


def holes(verb: str, answer: object) -> str:
    """Say which columns have a NaN where a number belongs; empty where none."""
    if isinstance(answer, pd.DataFrame):
        numbers = answer.select_dtypes("number")
        found = [str(name) for name in numbers if numbers[name].isna().any()]
        found = [name for name in found if name not in MAY_BE_NAN.get(verb, ())]
        return f"NaN in {', '.join(found)}" if found else ""
    if isinstance(answer, np.ndarray):
        return "" if np.isfinite(answer).all() else "not finite"
    text = str(answer) if isinstance(answer, str) and not answer.startswith("<") else ""
    return f"says nan: {text[:150]!r}" if re.search(r"\bnan\b", text, re.IGNORECASE) else ""


def moved(verb: str, one: object, other: object, new: dict[str, str], loose: bool) -> str:
    """Say what differs between the answers to the same votes, told in two ways; empty where nothing does."""
    if isinstance(one, ba.ArenaError) or isinstance(other, ba.ArenaError):
        kinds = [type(each).__name__ if isinstance(each, ba.ArenaError) else "an answer" for each in (one, other)]
        return "" if kinds[0] == kinds[1] else f"{kinds[0]} or {kinds[1]}: {one if kinds[1] == 'an answer' else other}"
    if not isinstance(one, pd.DataFrame) or not isinstance(other, pd.DataFrame) or verb not in KEYS:
        return ""
    if not (one.get("elo_gap", pd.Series([1.0])).min() > LOOSE and one.get("p_better", pd.Series([1.0])).min() > OPEN):
        return ""  # who is next to whom among equals is arbitrary, or left to the draws
    if len(one) != len(other):
        return f"{len(one)} rows or {len(other)}"
    renamed = one.assign(**{key: one[key].replace(new) for key in KEYS[verb]}).set_index(KEYS[verb])
    other = other.set_index(KEYS[verb])
    if set(renamed.index) != set(other.index):
        return f"rows {sorted(set(renamed.index) ^ set(other.index))[:4]}"
    other, worst = other.loc[renamed.index], []
    tolerance = LOOSE if loose else EXACT
    for name in renamed.select_dtypes("number"):
        points = name in POINTS and verb not in ("annotators", "strengths")
        if not points and name not in SHARES:
            continue
        x, y = renamed[name].to_numpy(float), other[name].to_numpy(float)
        scale = 1.0 if points else 1 / 170
        with np.errstate(invalid="ignore"):
            apart = np.where(x == y, 0.0, np.abs(x - y)) / np.maximum(1, np.abs(x) * 1e-3)
        apart = np.where(np.isnan(x) & np.isnan(y), 0.0, np.where(np.isnan(apart), np.inf, apart))
        if len(apart) and apart.max() > tolerance * scale:
            worst.append(f"{name} by {apart.max():.3g} ({x[apart.argmax()]:.6g} or {y[apart.argmax()]:.6g})")
    return "; ".join(worst)


def findings(seed: int, tell: Callable[[str], None]) -> Iterator[str]:
    """Yield what is wrong with the answers to one arena; tell what is asked next."""
    rng = np.random.default_rng([seed, 2])
    table, options = part_of_arena(seed)
    other, new = told_otherwise(table, seed)
    same = {name: name for name in new} | {name: name for name in ("m000", "m001", "k000")}
    tell("read_votes")
    renamed = options | {"programs": [new[name] for name in options["programs"]]} if "programs" in options else options
    pairs = [attempt(lambda t=t, o=o: ba.read_votes(t, **o)) for t, o in ((table, options), (other, renamed))]
    yield from (f"read_votes: {broken}" for _, broken in pairs if broken)
    cells = [found for found, _ in pairs]
    if said := moved("read_votes", *cells, new, False):
        yield f"read_votes: {said}"
    if not all(isinstance(each, ba.Cells) for each in cells):
        return
    name, how = drawn_fit(cells[0], rng)
    tell(f"fit {name}")
    told = [attempt(lambda one=one: ba.fit(one, **how)) for one in cells]
    yield from (f"fit {name}: {broken}" for _, broken in told if broken)
    fitted = [fit for fit, _ in told]
    if said := moved("fit", *fitted, new, False):
        yield f"fit {name}: {said}"
    if not all(isinstance(fit, ba.Fit) for fit in fitted):
        return
    if fitted[0].model != fitted[1].model:
        yield f"fit {name}: {fitted[0].model} or {fitted[1].model}"
        return
    loose = any(fit.votes_discounted > 0 or fit.model.dimensions for fit in fitted)
    others = list(VERBS)[1:]
    often = np.array([0.25 if verb in COSTLY else 1.0 for verb in others])
    for verb in ("leaderboard", *map(str, rng.choice(others, TABLES, replace=False, p=often / often.sum()))):
        tell(f"{verb} of {name}")
        answers = [
            attempt(lambda fit=fit, names=names, verb=verb: VERBS[verb](fit, names))
            for fit, names in list(zip(fitted, (same, same | new), strict=True))[: 1 if verb == "saved" else 2]
        ]
        told_of = {broken or holes(verb, answer) for answer, broken in answers} - {""}
        yield from (f"{verb} of {name}: {said}" for said in told_of)
        if not told_of and (said := moved(verb, answers[0][0], answers[-1][0], new, loose)):
            yield f"{verb} of {name}: {said}{' (loosely)' if loose else ''}"


def work(connection: Connection) -> None:
    """Answer for arenas as they are asked for, in a process of its own, and say what takes too long."""
    asked, since = "", 0.0

    def tell(what: str) -> None:
        nonlocal asked, since
        if asked and (spent := (time.process_time() - since) / 2) > SECONDS:  # the votes are told in two ways
            connection.send(("finds", f"{asked}: {spent:.0f} s"))
        connection.send(("asks", what))
        asked, since = what, time.process_time()

    while (seed := connection.recv()) is not None:
        for said in findings(seed, tell):
            connection.send(("finds", said))
        tell("")
        connection.send(("ends", ""))


def arenas(first: int, size: int, asked: Counter[str]) -> Iterator[tuple[int, str]]:
    """Yield seeds and findings, and count what is asked; an arena whose answer takes too long loses its process."""
    context = multiprocessing.get_context("spawn")
    process: Any = None
    for seed in range(first, first + size):
        if process is None:
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
        print(f"\r{seed}", end="", file=sys.stderr, flush=True)
        ours.send(seed)
        what = "start"
        while True:
            try:
                if not ours.poll(PATIENCE):
                    yield seed, f"{what}: no answer in {PATIENCE} s"
                    break
                kind, said = ours.recv()
            except EOFError:
                yield seed, f"{what}: the process died"
                break
            if kind == "ends":
                break
            if kind == "finds":
                yield seed, said
            else:
                what = said
                asked[said.rpartition(" of ")[0] or said] += 1
        if kind != "ends":
            process.kill()
            process = None
    if process is not None:
        ours.send(None)
        process.join()


def votes_to_damage() -> pl.DataFrame:
    """Return the votes that the files hold."""
    rows = [("x", "y", "model_a", "j"), ("y", "z", "tie", "k"), ("z", "x", "model_b", "j"), ("x", "w", "model_a", "l")]
    table = pl.DataFrame(rows * 15, schema=["model_a", "model_b", "winner", "judge"], orient="row")
    return table.with_columns(votes=pl.int_range(1, pl.len() + 1) % 3 + 1)


def write(table: pl.DataFrame, path: Path) -> None:
    """Write votes in the format of a suffix."""
    match "".join(path.suffixes):
        case ".csv":
            table.write_csv(path)
        case ".tsv":
            table.write_csv(path, separator="\t")
        case ".csv.gz":
            path.write_bytes(gzip.compress(table.write_csv().encode()))
        case ".jsonl":
            table.write_ndjson(path)
        case ".json":
            table.write_json(path)
        case ".parquet":
            table.write_parquet(path)
        case ".cells.parquet":
            ba.read_votes(table, weight="votes").save(path)
        case ".nc":
            ba.save(ba.fit(ba.read_votes(table)), path)
        case ".duckdb":
            with ba.StableArena.create(path) as store:
                store.add(table)
                store.rate()


ANSWERS = ("rank", "check", "annotators", "pairs")
FORMATS: dict[str, list[list[str]]] = {
    **{kind: [["rank"], ["check"]] for kind in ("csv", "tsv", "csv.gz", "jsonl", "json", "parquet", "cells.parquet")},
    "nc": [["rank"], ["annotators"], ["pairs"]],
    "duckdb": [["arena", "history"], ["arena", "rate"], ["arena", "annotators"], ["arena", "next"]],
}
HOSTILE = (b'"', b"\0", b"\xff\xfe", b"\r", b"\\ud800", b"[" * 3000, b",,,", b"1e999", b"{}", b"\n\n", b'"\n"', b"=1+1")


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits, cut the end off, write something hostile into the middle, or repeat or drop a part."""
    changed, place = bytearray(content), int(rng.integers(len(content)))
    match rng.integers(6):
        case 0 | 1:
            for _ in range(int(rng.integers(1, 9))):
                changed[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        case 2:
            del changed[place:]
        case 3:
            changed[place:place] = HOSTILE[int(rng.integers(len(HOSTILE)))]
        case 4:
            del changed[place : place + int(rng.integers(1, 40))]
        case _:
            changed[place:place] = changed[place : place + int(rng.integers(1, 40))]
    return bytes(changed)


def mistyped(table: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Return a table with columns swapped, dropped, or of another type."""
    name = str(rng.choice(table.columns))
    match rng.integers(5):
        case 0:
            return table.rename(dict(zip(table.columns, rng.permutation(table.columns).tolist(), strict=True)))
        case 1:
            return table.drop(name)
        case 2:
            return table.with_columns(pl.int_range(pl.len()).alias(name))
        case 3:
            odd = [None, "", "nan", "-1", "1e400", " x", "x\u202e", "A" * 10_000]
            return table.with_columns(pl.Series(name, rng.choice(np.array(odd, dtype=object), len(table)).tolist()))
        case _:
            some = pl.when(pl.int_range(pl.len()) % 7 == 0).then(None).otherwise(pl.col(name))
            return table.with_columns(some.alias(name))


def answered(*arguments: str) -> tuple[object, str, str, str]:
    """Run the command in this process; return its exit code, what it printed, and what broke."""
    out, err, code, broken = io.StringIO(), io.StringIO(), 0, ""
    with (
        mock.patch.object(sys, "argv", ["bayes-arena", *arguments]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            command()
        except SystemExit as end:
            code = end.code or 0
        except Exception:
            _, broken = attempt(_reraise)
    return code, out.getvalue(), err.getvalue(), broken


def _reraise() -> None:
    raise sys.exc_info()[1]  # type: ignore[misc]


def files(first: int, size: int, asked: Counter[str]) -> Iterator[tuple[int, str]]:
    """Yield seeds and findings of damaged files, and count those of every format."""
    table, kinds = votes_to_damage(), list(FORMATS)
    with tempfile.TemporaryDirectory() as name:
        folder, whole = Path(name), {}
        for kind in kinds:
            write(table, folder / f"votes.{kind}")
            whole[kind] = (folder / f"votes.{kind}").read_bytes()
        for seed in range(first, first + size):
            rng = np.random.default_rng([seed, 3])
            kind = kinds[seed % len(kinds)]
            asked[kind] += 1
            path = folder / f"damaged.{kind}"
            path.unlink(missing_ok=True)
            if kind not in ("nc", "duckdb") and rng.random() < 0.4:
                if kind == "cells.parquet":
                    cells = pl.read_parquet(folder / "votes.cells.parquet")
                    text = pl.read_parquet_metadata(folder / "votes.cells.parquet")[SAVED_KEY].encode()
                    text = damaged(text, rng) if rng.random() < 0.5 else text
                    mistyped(cells, rng).write_parquet(path, metadata={SAVED_KEY: text.decode(errors="replace")})
                else:
                    write(mistyped(table, rng), path)
            else:
                path.write_bytes(damaged(whole[kind], rng))
            words = FORMATS[kind][int(rng.integers(len(FORMATS[kind])))]
            code, out, err, broken = answered(*words, str(path), *(["--format", "json"] * (words != ["check"])))
            said = f"{kind}, {' '.join(words)}: "
            if broken:
                yield seed, said + broken
            elif code not in (0, 2):
                yield seed, f"{said}exit code {code}"
            elif code == 2 and words != ["check"] and ("bayes-arena: " not in err or "Traceback" in err):
                yield seed, f"{said}no message: {err[-200:]!r}"
            elif code == 0 and words != ["check"] and re.search(r"\bNaN\b", json.dumps(json.loads(out))):
                yield seed, f"{said}NaN in the answer"
            shutil.rmtree(path, ignore_errors=True)


def main() -> None:
    options = options_of(__doc__, arenas=300, files=0, seed=0).parse_args()
    for what, size, tried in (("arena", options.arenas, arenas), ("file", options.files, files)):
        asked, found = Counter[str](), 0
        for seed, said in tried(options.seed, size, asked):
            found += 1
            print(f"{what} {seed}: {' '.join(said.split())}", flush=True)
        print(f"{size} {what}s, {found} findings", flush=True)
        print("; ".join(f"{name} {asked[name]}" for name in sorted(asked) if name))


if __name__ == "__main__":
    main()
