"""Every command that writes meets a full disk and Ctrl-C at each of its calls, and strange surroundings.

    uv run python benchmarks/faults.py > benchmarks/results/faults.md

Linux, with a C compiler. The commands run in this process, on votes, fits and arenas that are there. ``disk_faults.c``
counts the calls that change a folder: open to create, write, fsync, truncate, rename, mkdir, by Python, DuckDB or
Polars. Call n = 1, 2, ... fails with "No space left on device", once or from then on, or gets Ctrl-C, until a run makes
fewer calls. Then: exit code 2 (130 after Ctrl-C) and one line on standard error more than without a fault, or exit code
0; no traceback; every file is the old one or the new one, whole; the new one where the exit code is 0; nothing else is
left.

Surroundings are tried in processes of their own: the answer is that of ordinary ones, or an exit code and one line.
Exits with 1 if anything is not so.
"""

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest import mock

from disk_faults import FOLDER, FULL, shim, with_the_shim

import bayes_arena as ba
from bayes_arena.__main__ import main as command

FAILS, STAYS, INTERRUPTS = "fails", "fails from then on", "Ctrl-C"
COMMANDS = {
    **{f"rank, .{kind}": f"rank FIT -o OUT/a.{kind}" for kind in ("csv", "json", "parquet", "md", "html", "txt")},
    **{f"rank --plot, .{kind}": f"rank FIT --format json --plot OUT/a.{kind}" for kind in ("png", "svg", "pdf")},
    "boards": "boards VOTES --by language -o OUT/a.csv",
    "fit, .nc": "fit VOTES --robust off -o OUT/a.nc",
    "fit, .zarr": "fit VOTES --model bradley-terry --robust off -o OUT/a.zarr",
    "pairs": "pairs FIT -o OUT/a.csv",
    "pairs --require": "pairs FIT --between model-1 model-2 --require not-worse --margin 2000 -o OUT/a.json",
    "pairs --without": "pairs FIT -n 5 --without vote -o OUT/a.csv",
    "annotators": "annotators FIT -o OUT/a.csv --plot OUT/a.png",
    "annotators --judge": "annotators FIT --judge annotator-1 -o OUT/a.json",
    "integrity": "integrity VOTES -o OUT/a.csv",
    "next": "next FIT -o OUT/a.csv",
    "check": "check VOTES -o OUT/a.json",
    "simulate": "simulate --votes 300 -o OUT/a.parquet --truth OUT/b.json",
    "compare": "compare VOTES --models bradley-terry,m-elo -o OUT/a.csv",
    "diagnose": "diagnose FIT -o OUT/a.json --plot OUT/a.png",
    "report": "report FIT -o OUT/a.html",
    "reproduce": "reproduce table1 fig3 --data VOTES --delta 0 -o OUT",
    "schema": "schema -o OUT/a.json",
    "arena init": "arena init OUT/new.duckdb",
    "arena add": "arena add OUT/arena.duckdb MORE -o OUT/a.json",
    "arena rate": "arena rate OUT/arena.duckdb --model bradley-terry -o OUT/a.json --report OUT/a.html",
    "arena readmit": "arena readmit OUT/arena.duckdb EXCLUDED",
    "arena annotators": "arena annotators OUT/arena.duckdb -o OUT/a.csv",
    "arena history": "arena history OUT/arena.duckdb -o OUT/a.csv --plot OUT/a.png",
    "arena next": "arena next OUT/arena.duckdb -o OUT/a.csv",
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: object
    said: list[str]
    broken: str
    out: str = ""


def made(folder: Path) -> dict[str, str]:
    """Write votes, a fit and an arena, and return what the commands call them."""
    votes = ba.simulate(votes=440, competitors=5, annotators=8, anomalous=1, seed=5).votes
    table = votes.to_pandas()
    table["language"] = ["en", "de"] * (len(table) // 2)
    table.to_csv(folder / "votes.csv", index=False)
    table.head(200).to_csv(folder / "some.csv", index=False)
    ba.save(ba.fit(ba.read_votes(folder / "votes.csv"), robust=False), folder / "fit.nc")
    with ba.StableArena.create(folder / "arena.duckdb") as arena:
        arena.add(folder / "some.csv")
        excluded = arena.rate(epsilon=0.1, exclude="exclude", robust=False).flagged
    return {
        "VOTES": str(folder / "votes.csv"),
        "MORE": str(folder / "votes.csv"),
        "FIT": str(folder / "fit.nc"),
        "ARENA": str(folder / "arena.duckdb"),
        "EXCLUDED": next(iter(excluded)),
    }


def run(words: list[str]) -> Done:
    """Run a command in this process."""
    out, err, code, broken = io.StringIO(), io.StringIO(), 0, ""
    with (
        mock.patch.object(sys, "argv", ["bayes-arena", *words]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            command()
        except SystemExit as end:
            code = end.code or 0
        except BaseException as error:
            broken = f"{type(error).__name__}: {error}"
    return Done(code, err.getvalue().splitlines(), broken, out.getvalue())


def words_of(asked: str, known: dict[str, str], folder: Path) -> list[str]:
    return [known.get(word, word.replace("OUT", str(folder))) for word in asked.split()]


def states(folder: Path) -> dict[str, object]:
    """Return what is in a folder, by file: its bytes or, of an arena, its tables."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".duckdb":
            with ba.StableArena(path, read_only=False) as arena, arena._store.read() as session:
                tables = ("vote", "round", "rating", "decision")
                found[path.name] = tuple(session.rows(f"select count(*) from {name}")[0][0] for name in tables)
        elif path.is_file() and path.suffix != ".wal":
            found[str(path.relative_to(folder))] = re.sub(rb"/CreationDate \(.*?\)", b"", path.read_bytes())
    return found


def begin(folder: Path, old: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(old, folder)


def faults(asked: str, known: dict[str, str], place: Path) -> Iterator[tuple[str, str]]:
    """Yield how every fault was met, and what was wrong."""
    folder, old = place / "out", place / "old"
    begin(folder, place / "empty")
    if "arena.duckdb" in asked:
        shutil.copy(known["ARENA"], folder)
    words = words_of(asked, known, folder)
    before = states(folder)
    plain = run(words)
    if plain.code or plain.broken:
        yield FAILS, f"without a fault: {plain}"
        return
    new = states(folder)
    for name in set(new) - set(before):  # something old stands where something is written
        (folder / name).write_bytes(b"old")
    arena = folder / "arena.duckdb"
    if arena.exists():
        arena.with_name("arena.duckdb.wal").unlink(missing_ok=True)
        shutil.copy(known["ARENA"], folder)
    for kept in folder.glob("new.duckdb*"):
        kept.unlink()
    if (folder / "a.zarr").exists():
        shutil.rmtree(folder / "a.zarr")
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(folder, old)
    before = states(folder)
    shim().faults_arm(-1, 0, 0)
    twice = run(words)
    again = states(folder)
    same = {name for name in new if new[name] == again.get(name)}
    for kind in (FAILS, STAYS, INTERRUPTS):
        for at in count():
            begin(folder, old)
            shim().faults_arm(at, kind == STAYS, 2 if kind == INTERRUPTS else 0)
            try:
                done = run(words)
            except KeyboardInterrupt:
                done = Done("", [], "KeyboardInterrupt left the command")
            hit = shim().faults_calls() > at
            shim().faults_arm(-1, 0, 0)
            if not hit:
                break
            yield kind, judged(done, twice, kind, before, states(folder), again, same, f"call {at + 1}")
            if at > 60 and asked.startswith("fit"):  # a folder of hundreds of files, all written alike
                break


def judged(done, plain, kind, before, after, again, same, where) -> str:
    """Say what is wrong; empty where nothing is."""
    more = len(done.said) - len([line for line in plain.said if line in done.said])
    code = {0: 0, 1: 1}.get(done.code, done.code)
    wrong = []
    if done.broken:
        wrong.append(done.broken)
    if code not in ((0, 130) if kind == INTERRUPTS else (0, 2)):
        wrong.append(f"exit code {code}: {done.said[-2:]}")
    if code and (more != 1 or "Traceback" in " ".join(done.said)):
        wrong.append(f"{more} lines: {done.said[-3:]}")
    if code == 2 and FULL not in done.said[-1]:
        wrong.append(f"no reason: {done.said[-1]}")
    for name in sorted({*before, *after, *again}):
        if after.get(name) not in (before.get(name), again.get(name)) and (name in same or name not in again):
            wrong.append(f"{name} is neither old nor new")
        elif code == 0 and after.get(name) == before.get(name) != again.get(name):
            wrong.append(f"{name} is old")
    return f"{where}: {'; '.join(wrong)}" if wrong else ""


def process(*words: str, env: dict[str, str] | None = None, flags: tuple[str, ...] = (), **options) -> Done:
    """Run a command in a process of its own."""
    asked = [sys.executable, *flags, "-m", "bayes_arena", *words]
    given = {name: value for name, value in (os.environ | (env or {})).items() if value and name != "LD_PRELOAD"}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    with subprocess.Popen(asked, env=given, **options) as started:
        out, err = started.communicate()
    said = (err or b"").decode(errors="replace").splitlines()
    broken = "Traceback" if any(line.startswith("Traceback") for line in said) else ""
    return Done(started.returncode, said, broken, (out or b"").decode(errors="replace"))


def surroundings(known: dict[str, str], place: Path) -> Iterator[tuple[str, int, str]]:
    """Yield what was tried, how often, and what was wrong."""
    folder = place / "out"
    begin(folder, place / "empty")
    asked = {
        "rank": ["rank", known["VOTES"], "--robust", "off", "--format", "csv"],
        "report": ["report", known["FIT"], "-o", str(folder / "a.html")],
        "check": ["check", known["VOTES"], "--format", "json"],
        "annotators": ["annotators", known["FIT"], "--format", "json"],
    }
    plain = {name: process(*words) for name, words in asked.items()}

    def alike(name: str, done: Done) -> str:
        same = (done.code, done.broken, done.out) == (0, "", plain[name].out)
        return "" if same else f"{name}: {done.broken} {done.code} {done.said[-1:]}"

    settings: dict[str, dict] = {
        "python -O": {"flags": ("-O",)},
        "python -OO": {"flags": ("-OO",)},
        "python -X dev": {"flags": ("-X", "dev", "-W", "ignore")},
        "LC_ALL=C": {"env": {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}},
        "LC_ALL=POSIX, ASCII": {"env": {"LC_ALL": "POSIX", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}},
        "LC_ALL=tr_TR.UTF-8": {"env": {"LC_ALL": "tr_TR.UTF-8"}},
        "LC_ALL=de_DE.ISO-8859-1": {"env": {"LC_ALL": "de_DE.ISO-8859-1", "PYTHONUTF8": "0"}},
        "no HOME": {"env": {"HOME": ""}},
        "HOME that cannot be written": {"env": {"HOME": "/dev/null/home", "XDG_CACHE_HOME": "", "MPLCONFIGDIR": ""}},
        "TERM=dumb, no stdin": {"env": {"TERM": "dumb"}},
        "COLUMNS=20": {"env": {"COLUMNS": "20"}},
        "TMPDIR that is not there": {"env": {"TMPDIR": "/not/there"}},
        "one thread": {"env": {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}},
    }
    for what, options in settings.items():
        wrong = [alike(name, process(*words, **options)) for name, words in asked.items()]
        yield what, len(wrong), "; ".join(filter(None, wrong))
    for what, shell in {
        "closed stdout": ">&-",
        "full stdout": ">/dev/full",
        "closed stdout and stderr": ">&- 2>&-",
        "closed stdin": "<&-",
    }.items():
        wrong = []
        for name, words in asked.items():
            line = " ".join([sys.executable, "-m", "bayes_arena", *words, shell])
            given = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
            ended = subprocess.run(["sh", "-c", line], capture_output=True, text=True, env=given, check=False)
            expected = (0,) if what == "closed stdin" or (name == "report" and what == "full stdout") else (2,)
            if name == "report":
                expected = (0, 2)
            if (
                ended.returncode not in expected
                or "Traceback" in ended.stderr
                or len(ended.stderr.splitlines()) > 1 + len(plain[name].said)
            ):
                wrong.append(f"{name}: {ended.returncode} {ended.stderr[-200:]!r}")
        yield what, len(asked), "; ".join(wrong)
    wrong, tried = [], 0
    for name, words in asked.items():
        for after in (0.05, 0.1, 0.2, 0.4, 0.8, 1.6):
            given = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
            begin(folder, place / "empty")
            with subprocess.Popen(
                [sys.executable, "-m", "bayes_arena", *words], env=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            ) as started:
                time.sleep(after)
                started.send_signal(signal.SIGINT)
                _, err = started.communicate()
            said = err.decode(errors="replace")
            if "Traceback" in said and not re.search(r"bayes_arena/(?!__init__)", said):
                continue  # Python itself had not started
            tried += 1
            if started.returncode not in (0, 130, -2) or "Traceback" in said or list(folder.glob(".*")):
                wrong.append(f"{name} after {after} s: {started.returncode} {said.splitlines()[-1:]}")
    yield "Ctrl-C after .05 to 1.6 s", tried, "; ".join(wrong)


def main() -> None:
    if FOLDER not in os.environ:
        raise SystemExit(with_the_shim())
    place = Path(os.environ[FOLDER])
    (place / "empty").mkdir()
    with tempfile.TemporaryDirectory() as elsewhere, warnings.catch_warnings(action="ignore"):
        known = made(Path(elsewhere))
        wrong: list[str] = []
        print("| command | calls that fail | fail from then on | Ctrl-C | wrong |\n|---|---:|---:|---:|---:|")
        total = Counter[str]()
        chosen = re.compile(sys.argv[1]) if len(sys.argv) > 1 else None
        for name, asked in COMMANDS.items():
            if chosen and not chosen.search(name):
                continue
            tried, bad = Counter[str](), 0
            for kind, said in faults(asked, known, place):
                tried[kind] += 1
                if said:
                    bad += 1
                    wrong.append(f"{name}, {kind}, {said}")
            total += tried
            print(f"| {name} | {tried[FAILS]} | {tried[STAYS]} | {tried[INTERRUPTS]} | {bad} |", flush=True)
        print(f"| all | {total[FAILS]} | {total[STAYS]} | {total[INTERRUPTS]} | {len(wrong)} |")
        if not chosen or chosen.search("surroundings"):
            print("\n| surroundings | commands | wrong |\n|---|---:|---|")
            for what, size, said in surroundings(known, place):
                print(f"| {what} | {size} | {said or 'nothing'} |", flush=True)
                wrong += [f"{what}: {said}"] if said else []
    print("\n".join(["", *wrong]), file=sys.stderr)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
