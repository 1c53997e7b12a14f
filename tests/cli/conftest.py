"""Commands run in this process."""

import sys

import pytest

from bayes_arena.cli.app import run


@pytest.fixture
def command(monkeypatch, capsys):
    """Return a function that runs a command: exit code, output and messages."""

    def run_command(*words):
        monkeypatch.setattr(sys, "argv", ["bayes-arena", *map(str, words)])
        code = run()
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_command
