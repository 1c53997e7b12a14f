"""Too little memory, by a limit of the process or of its container, is an error that names the limit."""

import subprocess
import sys

import pytest
from helpers import frame, run

import bayes_arena as ba
from bayes_arena import memory

UNDER_A_LIMIT = """
import resource
import sys
import polars as pl
import bayes_arena as ba

names = [f"m{number:05d}" for number in range(int(sys.argv[2]))]
votes = pl.DataFrame({"model_a": names, "model_b": names[1:] + names[:1], "winner": "model_a"})
fit = ba.fit  # loads its libraries, of which OpenBLAS ends the process if it gets no memory
resource.setrlimit(getattr(resource, sys.argv[1]), (int(float(sys.argv[3]) * 2**30),) * 2)
try:
    fit(votes, model=ba.Model("threshold", ties="rao-kupper"))
except ba.errors.TooLargeError as error:
    print(error)
"""
GROUPS = {
    "version 2": ("0::/pod/one\n", {"pod/one/memory.max": "max", "pod/memory.max": str(2**29)}),
    "version 1": ("5:cpu:/x\n4:memory:/one\n0::/\n", {"memory/one/memory.limit_in_bytes": str(2**29)}),
    "a path of the machine": ("0::/not/there\n", {"memory.max": str(2**29)}),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "competitors", "gib", "said"),
    [
        ("RLIMIT_AS", 8000, 3, "8,000 competitors takes some 5.2 GiB of memory, and the limit RLIMIT_AS leaves "),
        ("RLIMIT_DATA", 8000, 3, "8,000 competitors takes some 5.2 GiB of memory, and the limit RLIMIT_DATA leaves "),
        ("RLIMIT_AS", 5, 1, "too little memory for fit: the limit RLIMIT_AS leaves 0 GiB. Raise the "),
    ],
)
def test_a_limit_of_the_process_refuses_what_the_machine_would_not(limit, competitors, gib, said):
    asked = [sys.executable, "-c", UNDER_A_LIMIT, limit, str(competitors), str(gib)]
    done = subprocess.run(asked, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


@pytest.mark.parametrize(("line", "files"), GROUPS.values(), ids=list(GROUPS))
def test_so_does_a_container(tmp_path, monkeypatch, line, files):
    for name, text in {"cgroup": line, "statm": f"9 {2**20} 0 0 0 9 0\n", **files}.items():
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    monkeypatch.setattr(memory, "PROCESS", tmp_path)
    monkeypatch.setattr(memory, "GROUPS", tmp_path)
    monkeypatch.setattr(memory.mmap, "PAGESIZE", 2**8)  # of which the process uses 2**20, a quarter of a GiB
    assert memory.shortage(2**27) == ""
    assert memory.shortage(2**28) == "the limit of the container's memory leaves 0.25 GiB"


def fails(*_, **__):
    raise MemoryError("Unable to allocate 7 GiB")


@pytest.mark.parametrize(
    ("place", "verb", "what"),
    [
        ("read_votes.build_cells", ba.read_votes, "counting votes"),
        ("checks.check_rows", ba.check, "check"),
    ],
)
def test_memory_that_runs_out_in_reading_is_typed(monkeypatch, place, verb, what):
    monkeypatch.setattr(f"bayes_arena.votes.reading.{place}", fails)
    with pytest.raises(ba.errors.TooLargeError, match=f"Memory ran out in {what}: Unable to allocate 7 GiB"):
        verb(frame([("x", "y", "x"), ("x", "y", "y")]))


def test_memory_that_runs_out_in_a_command_is_one_line(monkeypatch):
    monkeypatch.setattr("bayes_arena.likelihood.simulation.simulate", fails)
    done = run("simulate")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "Memory ran out" in done.stderr


def test_memory_that_runs_out_in_the_work_is_typed(monkeypatch):
    monkeypatch.setattr("bayes_arena.fits.fitting._fitted", fails)
    with pytest.raises(ba.errors.TooLargeError, match="Memory ran out in fit: Unable to allocate 7 GiB"):
        ba.fit(ba.read_votes(frame([("x", "y", "x"), ("x", "y", "y")])))
