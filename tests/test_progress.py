"""What is said of long work: on a terminal, and where there is none."""

import signal
import sys
import threading
import time

import pytest
from helpers import COMMAND, run_on_terminal

from bayes_arena import progress
from bayes_arena.progress import in_background, report

on_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
ERASED = "\r\x1b[2K"
"""Back to the start of the line, and clear it."""


@pytest.mark.slow
@on_a_terminal
def test_progress_shows_on_a_terminal(tmp_path, arena):
    arena.votes.write_csv(tmp_path / "votes.csv")
    options = ["--model", "m-elo", "--interval", "bootstrap", "--resamples", "5"]
    done = run_on_terminal(COMMAND, "rank", tmp_path / "votes.csv", *options, piped=True)
    assert done.returncode == 0
    assert "2 of 5 resamples" in done.stderr
    assert "resample" not in done.stdout


def reported(code: str, **environment: str) -> str:
    """What a terminal shows of a program that reports."""
    program = f"import time; from bayes_arena import progress; from bayes_arena.progress import *; {code}"
    done = run_on_terminal(sys.executable, "-c", program, piped=True, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.mark.slow
@on_a_terminal
def test_a_line_is_written_over_and_at_last_erased():
    shown = reported("report('votes [red]', 1, 4); report('votes [red]', 2, 4); report('')")
    assert shown.index("1 of 4 votes [red]") < shown.index("2 of 4 votes [red]")
    assert "\n" not in shown
    assert ERASED in shown[shown.index("2 of 4") :]


@pytest.mark.slow
@on_a_terminal
def test_a_line_is_no_longer_than_the_terminal():
    assert "x" * 60 not in reported("report('x' * 300, 1, 4); report('')", COLUMNS="60")


@pytest.mark.slow
@on_a_terminal
def test_a_terminal_that_cannot_move_its_cursor_is_left_alone():
    assert reported("report('votes', 1, 4); report('')", TERM="dumb") == ""


@pytest.mark.slow
@on_a_terminal
def test_work_in_the_background_shows_its_seconds():
    shown = reported("progress.PATIENCE = .01; in_background(lambda: time.sleep(.1), lambda: 'compiling')")
    assert "compiling, 0 s" in shown
    assert ERASED in shown[shown.rindex("compiling") :]


def test_without_a_terminal_steps_are_not_said(capsys):
    report("votes", 1, 4)
    assert capsys.readouterr() == ("", "")


def test_work_in_the_background_gives_its_value_or_its_error():
    assert in_background(lambda: 3, lambda: "working") == 3
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 / 0, lambda: "working")


def test_what_takes_long_is_announced_once(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    for _ in range(2):
        in_background(lambda: time.sleep(0.1), lambda: "compiling loops")
    assert capsys.readouterr() == ("", "compiling loops\n")


def test_what_has_no_name_is_not_announced(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    in_background(lambda: time.sleep(0.05), lambda: "")
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_is_heard_while_the_work_goes_on(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    never = threading.Event()
    threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        in_background(lambda: never.wait(60), lambda: "compiling")
    assert not never.is_set()
    never.set()
