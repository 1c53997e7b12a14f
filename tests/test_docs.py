"""README and docs: links lead somewhere, and what is shown of a run is what a run shows."""

import importlib.util
import re
from pathlib import Path

import pytest

import bayes_arena as ba
from tests.helpers import real

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]+)(?:#[^)]*)?\)")
NUMBER = re.compile(r"-?\d[\d,]*\.?\d*")


def script(name):
    """Return a script of docs as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    targets = [page.parent / target for target in LINK.findall(text)]
    assert [target for target in targets if not target.exists()] == []


def test_every_page_can_be_reached_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        text = page.read_text(encoding="utf-8")
        waiting += [(page.parent / t).resolve() for t in LINK.findall(text)]
    assert {page.name for page in DOCS.rglob("*.md")} <= {page.name for page in reached}


@pytest.mark.slow
def test_what_pages_show_of_a_run_is_what_a_run_shows():
    real("llmfao.csv")
    console = script("write_console")
    for page in console.pages():
        text = page.read_text(encoding="utf-8")
        again = console.refreshed(text)
        assert NUMBER.sub("#", again) == NUMBER.sub("#", text), page
        shown = [float(n.replace(",", "")) for n in NUMBER.findall(text)]
        fresh = [float(n.replace(",", "")) for n in NUMBER.findall(again)]
        assert fresh == pytest.approx(shown, rel=0.02, abs=1), page


@pytest.mark.slow
def test_the_reference_is_written_from_the_docstrings():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert script("write_api").reference() == page


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ba.example_arena().votes.to_csv("votes.csv", index=False)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [
        line for line in code.splitlines() if "nuts" not in line and "post" not in line
    ]
    exec("\n".join(lines), {})
    assert (tmp_path / "board.html").stat().st_size > 10_000
