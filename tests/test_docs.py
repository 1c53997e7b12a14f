"""README and docs: links lead somewhere, and what pages show of a run is what a run shows."""

import contextlib
import doctest
import importlib.util
import io
import re
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

import bayes_arena as ba
from bayes_arena.said import Kind
from tests.helpers import real

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Other folders are made by `nox -s docs`.
OURS = [DOCS, DOCS / "how-to", DOCS / "measured"]
PAGES = [page for folder in (ROOT, *OURS) for page in sorted(folder.glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PYTHON = re.compile(  # a block, and a block of what it prints
    r"^```python\n(?P<code>.*?)^```$(?:\n\n^```\n(?P<output>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
SESSION = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUN_AS_THEY_STAND = (
    "tutorial",
    "paper",
    "how-to/about",
    "how-to/annotators",
    "how-to/intervals",
    "how-to/compare",
    "how-to/gate",
    "how-to/judges",
    "how-to/report",
    "how-to/slices",
)
REAL = ("llmfao.csv", "mt_bench_human.csv", "mt_bench_gpt4.csv")
NUMBER = re.compile(r"(?<![\w.-])-?\d[\d,]*(?:\.\d+)?")  # not that of model-18


def script(path):
    """Return a script of the repository as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CONSOLE = script("docs/write_console.py")


def prose(page):
    """Return a page without its blocks of code."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def real_votes(text):
    """Return the files of real votes that a text names; skip the test where they lack."""
    return [real(name) for name in REAL if name in text]


def links(page):
    """Return the files and anchors that a page links to."""
    for target, anchor in LINK.findall(prose(page)):
        yield (page.parent / target).resolve() if target else page, anchor


def anchors(page):
    """Return the anchors of a page's headings, as GitHub makes them."""
    seen = Counter()
    for title in HEADING.findall(prose(page)):
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        yield name if not seen[name] else f"{name}-{seen[name]}"
        seen[name] += 1


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target, anchor in links(page):
        assert target.exists(), target
        assert not anchor or anchor in anchors(target), f"{target}#{anchor}"


@pytest.mark.parametrize("start", ["README.md", "docs/index.md"])
def test_every_page_can_be_reached(start):
    reached, waiting = set(), [ROOT / start]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md" and page not in reached:
            reached.add(page)
            waiting += [target for target, _ in links(page)]
    assert {page for page in PAGES if page.parent in OURS} <= reached


@pytest.mark.slow
@pytest.mark.parametrize("page", CONSOLE.pages(), ids=lambda page: page.name)
def test_what_a_page_shows_of_a_run_is_what_a_run_shows(page):
    text = page.read_text(encoding="utf-8")
    real_votes(text)
    again = CONSOLE.refreshed(text)
    shown_and_fresh = zip(
        CONSOLE.BLOCK.finditer(text), CONSOLE.BLOCK.finditer(again), strict=True
    )
    for shown, fresh in shown_and_fresh:
        assert_same_output(shown["output"], fresh["output"])


def assert_same_output(shown, fresh):
    """Compare words exactly, and numbers within one of their last digit."""
    # Where a number is wider by a digit, so are its column and the rule below it.
    assert squeezed(NUMBER.sub("#", fresh)) == squeezed(NUMBER.sub("#", shown))
    for a, b in zip(NUMBER.findall(shown), NUMBER.findall(fresh), strict=True):
        unit = 10.0 ** -len(a.partition(".")[2])
        apart = abs(float(a.replace(",", "")) - float(b.replace(",", "")))
        assert apart <= 1.01 * unit, (a, b)


def squeezed(text):
    """Return a text without the widths of its columns."""
    return re.sub(r" +", " ", re.sub(r"─+", "─", text))


@pytest.mark.slow
def test_the_reference_is_written_from_the_docstrings():
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert script("docs/write_api.py").reference() == page


def test_what_columns_and_kinds_mean_is_written_from_their_lists():
    page = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert script("docs/write_tables.py").page() == page
    assert all(f"| `{kind}` |" in page for kind in get_args(Kind.__value__))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayes_arena.errors.ArenaWarning")  # few draws
@pytest.mark.parametrize("name", ["README", *RUN_AS_THEY_STAND])
def test_the_python_of_a_page_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    folder = ROOT if name == "README" else DOCS
    text = (folder / f"{name}.md").read_text(encoding="utf-8")
    ba.example_arena().votes.to_csv("votes.csv", index=False)
    for path in real_votes("".join(block["code"] for block in PYTHON.finditer(text))):
        Path(path.name).symlink_to(path)
    CONSOLE.write_files(text, tmp_path)
    names = {}
    for block in PYTHON.finditer(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(quick(block["code"]), names)
        if block["output"]:
            assert_same_output(block["output"].strip(), printed.getvalue().strip())
    if "board.html" in text:
        assert Path("board.html").stat().st_size > 10_000


def quick(code):
    """Sample less, so that a test of a page takes seconds."""
    return code.replace('method="nuts"', 'method="nuts", draws=50, tune=50')


@pytest.mark.slow
@pytest.mark.parametrize("name", ["paper", "how-to/weekly"])
def test_the_sessions_of_a_page_answer_as_it_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(
        "\n".join(SESSION.findall(text)), {}, name, None, None
    )
    result = doctest.DocTestRunner().run(test)
    assert result.attempted > 5
    assert result.failed == 0


@pytest.mark.slow
def test_our_lines_of_the_migration_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    migration = script("benchmarks/migration.py")
    migration.write_votes()
    page = migration.PAGE.read_text(encoding="utf-8")
    names = {}
    for package, kind, text in migration.pieces(page):
        if kind == "begin":
            names = {}
        if kind in ("begin", "ours"):
            exec(text, names)
        if kind == "result":
            assert names["scores"].notna().all(), package


@pytest.mark.slow
def test_the_examples_of_docstrings_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finder, runner = doctest.DocTestFinder(recurse=False), doctest.DocTestRunner()
    for name in ba.__all__:
        names = {name: getattr(ba, name)}
        for test in finder.find(names[name], name, globs=names):
            runner.run(test)
    assert runner.tries > 10
    assert runner.failures == 0
