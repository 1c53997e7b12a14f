"""The README shows what the program prints, and its Python runs."""

import re
import runpy
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import bayes_arena as ba

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_printed_blocks_are_what_the_program_prints():
    script = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
    text = (ROOT / "README.md").read_text()
    assert script["fill"](text, script["blocks"]()) == text


def sliced_votes() -> pl.DataFrame:
    """Votes with prompts, topics and lengths."""
    votes = ba.simulate(competitors=5, annotators=8, votes=900, seed=1).votes
    rng = np.random.default_rng(1)
    prompt = rng.integers(12, size=len(votes))
    tokens = {f"tokens_{side}": rng.normal(size=len(votes)) for side in "ab"}
    return votes.with_columns(
        pl.DataFrame({"prompt": prompt, "topic": np.array(["coding", "prose"])[prompt % 2], **tokens})
    )


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ba.simulate(seed=1).votes.write_csv("votes.csv")
    code = re.search(r"## In Python\n\n```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    assert code is not None
    assert len([line for line in code[1].splitlines() if line.strip()]) <= 8
    namespace: dict[str, object] = {}
    exec(code[1], namespace)
    shown = capsys.readouterr().out
    assert "competitor" in shown
    assert "annotator-01" in shown
    text = (ROOT / "README.md").read_text()

    def run(heading: str) -> None:
        block = re.search(rf"## {re.escape(heading)}\n.*?```python\n(.*?)```", text, flags=re.S)
        assert block is not None
        exec(block[1].replace("gpt-4", "annotator-01"), namespace)  # no program is among these votes

    run("Judges that are programs")
    sliced_votes().write_csv("votes.csv")
    for heading in (
        "Prompts, categories, style",
        "Annotators",
        "Rankings that cannot be bought",
        "Questions of a leaderboard's readers",
        "Who is the best, and are there enough votes?",
        "What does the ranking rest on?",
        "Which model?",
    ):
        run(heading)
    block = re.search(r"## The posterior\n\n```python\n(.*?)```", text, flags=re.S)
    assert block is not None
    brief = block[1].replace('method="nuts", seed=1', 'method="marginal"')  # sampling has tests of its own
    exec(brief, namespace)
    assert (tmp_path / "result.nc").is_file()


def test_every_option_the_readme_names_exists():
    import typer.main

    from bayes_arena.__main__ import app

    def options(command) -> set[str]:
        own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        return own.union(*(options(each) for each in getattr(command, "commands", {}).values()))

    known = options(typer.main.get_command(app))
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", (ROOT / "README.md").read_text())) - {
        "--group",
        "--help",
        "--choix",
    }
    assert named <= known, named - known
