"""The documentation builds without a network and without a warning, and says everything that is public."""

import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bayes_arena as ba
import bayes_arena.models

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow
NO_NETWORK = (
    "import socket; socket.socket.connect = None; from sphinx.cmd.build import main; import sys; sys.exit(main())"
)


def test_the_documentation(tmp_path):
    """One test, for the pages are built once."""
    html = tmp_path / "html"
    command = [sys.executable, "-c", NO_NETWORK, "-q", "-W", "--keep-going", "-n", "docs", str(html)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    every_public_name_has_its_place(html)
    no_page_fetches_anything(html)
    formulas_need_no_script(html)
    the_index_for_programs_leads_to_every_page(html)


def every_public_name_has_its_place(html: Path) -> None:
    pages = [page.read_text(encoding="utf-8") for page in (html / "reference").glob("*.html")]
    there = {name for page in pages for name in re.findall(r'id="(?:module-)?(bayes_arena\.[\w.]+)"', page)}
    public = {"": ba.__all__, "plots.": ba.plots.__all__, "models.": bayes_arena.models.__all__}
    assert {f"bayes_arena.{where}{name}" for where, names in public.items() for name in names} <= there


def no_page_fetches_anything(html: Path) -> None:
    fetched = re.compile(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"(?:https?:)?//")
    for page in html.rglob("*.html"):
        assert not fetched.search(page.read_text(encoding="utf-8")), page


def formulas_need_no_script(html: Path) -> None:
    text = (html / "mathematics.html").read_text(encoding="utf-8")
    assert text.count("<math ") > 50
    assert "$" not in re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)


def the_index_for_programs_leads_to_every_page(html: Path) -> None:
    text = (html / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# bayes_arena\n")
    linked = set(re.findall(r"^- \[.+?\]\((.+?)\): .", text, flags=re.M))
    pages = {page.relative_to(html).as_posix() for page in html.rglob("*.html") if page.parent.name != "_static"}
    assert linked == pages - {"index.html", "genindex.html", "search.html", "py-modindex.html"}


def test_links_lead_somewhere_when_pages_are_read_as_markdown():
    """Those to the reference do not: it is made when the documentation is built."""
    pages = [*ROOT.glob("*.md"), *(page for page in ROOT.glob("docs/**/*.md") if "_build" not in page.parts)]
    written = [page for page in pages if not {"reference", "notebooks"} & set(page.relative_to(ROOT).parts)]
    link = re.compile(r"\]\(([^)#:]+?)(?:#[^)]*)?\)")
    links = [(page, to) for page in written for to in link.findall(page.read_text("utf-8")) if "reference/" not in to]
    assert len(links) > 80
    assert [f"{page.name}: {to}" for page, to in links if not (page.parent / to).exists()] == []


@pytest.mark.parametrize("name", [name for name in ba.__all__ if ">>>" in (getattr(ba, name).__doc__ or "")])
def test_examples_of_docstrings_run(name):
    names = {each: getattr(ba, each) for each in ba.__all__} | {"ba": ba}
    (example,) = doctest.DocTestFinder(recurse=False).find(names[name], name, globs=names)
    said: list[str] = []
    assert doctest.DocTestRunner().run(example, out=said.append).failed == 0, "".join(said)
