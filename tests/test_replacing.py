"""What is written appears whole or not at all, whichever step of the writing fails; the error names file and reason."""

import errno
import io
import os
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from helpers import files_of_at_most, frame, run

import bayes_arena as ba
from bayes_arena.replacing import written_beside

STEPS = [(io, "open"), (os, "fsync"), (os, "mkdir"), (os, "rename"), (os, "replace")]


class Disk:
    """Counts the steps that ask the disk for something, and fails one of them."""

    def __init__(self, monkeypatch, fails: int) -> None:
        self.steps, self.fails = 0, fails
        for module, name in STEPS:
            monkeypatch.setattr(module, name, self.counted(getattr(module, name)))

    def counted(self, step):
        def counting(*arguments, **options):
            self.steps += 1
            if self.steps == self.fails:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return step(*arguments, **options)

        return counting


def write_file(place: Path) -> None:
    with written_beside(place) as draft:
        draft.write_text("new")


def write_folder(place: Path) -> None:
    with written_beside(place) as draft:
        draft.mkdir()
        (draft / "a").write_text("new")
        (draft / "b").write_text("new")


def said(place: Path) -> set[str]:
    """All that is written in a file, or in the files of a folder."""
    files = place.iterdir() if place.is_dir() else [place] if place.exists() else []
    return {file.read_text() for file in files}


@pytest.mark.parametrize("before", [False, True], ids=["new", "over another"])
@pytest.mark.parametrize("write", [write_file, write_folder])
def test_whichever_step_fails_what_was_there_stays(tmp_path, monkeypatch, write, before):
    for fails in count(1):
        place = tmp_path / str(fails)
        if before:
            write(place)
            for file in place.iterdir() if place.is_dir() else [place]:
                file.write_text("old")
        refused = None
        with monkeypatch.context() as patch:
            disk = Disk(patch, fails)
            try:
                write(place)
            except ba.errors.OutputError as error:
                refused = str(error)
        if refused:
            assert refused.startswith(f"Cannot write {str(place)!r}: {os.strerror(errno.ENOSPC)}. ")
        assert said(place) == ({"new"} if refused is None else {"old"} if before else set())
        assert not list(tmp_path.glob(".*"))
        if disk.steps < fails:
            break
    assert fails > 5


def test_a_folder_that_cannot_be_exchanged_stays(tmp_path, monkeypatch):
    write_folder(tmp_path / "one")
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    with pytest.raises(ba.errors.OutputError, match=r"one': this file system cannot .*remove the old one"):
        write_folder(tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_a_file_keeps_who_may_read_it(tmp_path):
    write_file(tmp_path / "one")
    (tmp_path / "one").chmod(0o600)
    write_file(tmp_path / "one")
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o600


def test_what_is_no_file_is_written_where_it_is(tmp_path):
    read, write = os.pipe()
    write_file(Path(f"/dev/fd/{write}"))
    assert os.read(read, 10) == b"new"
    os.close(read), os.close(write)
    with pytest.raises(ba.errors.OutputError, match="Cannot write '/dev/full': No space left on device"):
        write_file(Path("/dev/full"))
    with pytest.raises(ba.errors.OutputError, match="null"):
        write_file(Path("a\0b"))


WRITERS = {
    "page": ["report", "-o", "FILE.html"],
    "table": ["rank", "-o", "FILE.csv"],
    "parquet": ["rank", "-o", "FILE.parquet"],
    "picture": ["rank", "-o", os.devnull, "--format", "csv", "--plot", "FILE.png"],
    "picture of lines": ["rank", "-o", os.devnull, "--format", "csv", "--plot", "FILE.pdf"],
    "votes": ["simulate", "-o", "FILE.parquet", "--votes", "3000"],
    "truth": ["simulate", "--truth", "FILE.json"],
    "schema": ["schema", "-o", "FILE.json"],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", WRITERS.values(), ids=list(WRITERS))
def test_commands_keep_the_old_file_where_the_disk_is_full(tmp_path, command):
    command = [word.replace("FILE", str(tmp_path / "file")) for word in command]
    (place,) = (Path(word) for word in command if "file." in word)
    place.write_text("old")
    with files_of_at_most(200):
        done = run(*command)
    assert (done.returncode, place.read_text()) == (2, "old")
    assert f"bayes-arena: Cannot write {str(place)!r}: File too large." in done.stderr
    assert list(tmp_path.iterdir()) == [place]
    assert run(*command).returncode == 0
    assert place.stat().st_size > 200


def test_cells_and_pages_are_typed_too(tmp_path):
    cells = ba.read_votes(frame([("x", "y", "x")] * 3))
    place = tmp_path / "cells.parquet"
    with (
        files_of_at_most(100),
        pytest.raises(ba.errors.OutputError, match=r"Cannot write '.*cells\.parquet': File too large"),
    ):
        cells.save(place)
    with pytest.raises(ba.errors.OutputError, match=r"Cannot write '.*absent.*': No such file"):
        cells.save(tmp_path / "absent" / "cells.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_every_call_of_every_writer_may_fail_or_be_the_last(tmp_path):
    script = Path(__file__).parents[1] / "benchmarks" / "disk_faults.py"
    done = subprocess.run(
        [sys.executable, str(script), "--faults", "40", "--kills", "6"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no damage" in done.stdout
