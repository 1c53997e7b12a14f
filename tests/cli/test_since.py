"""`rank --since` and `report --since`."""

import pytest

import bayes_arena as ba

VOTES = ba.example_arena().votes


@pytest.mark.slow
def test_the_command_reads_what_it_wrote(command, tmp_path):
    VOTES.to_csv(tmp_path / "votes.csv", index=False)
    VOTES[:3900].to_csv(tmp_path / "last.csv", index=False)
    command("rank", tmp_path / "last.csv", "-o", tmp_path / "last.json")
    since = ("--since", tmp_path / "last.json")
    code, out, _ = command("rank", tmp_path / "votes.csv", *since)
    assert code == 0 and "(421 votes more): model-18 keeps 1;" in out
    assert "before" in out and "95% change" in out
    page = tmp_path / "board.html"
    assert command("report", tmp_path / "votes.csv", *since, "-o", page)[0] == 0
    code, _, message = command("rank", tmp_path / "votes.csv", *since, "--level", 0.9)
    assert code == 2 and "Use --level 0.95." in message
