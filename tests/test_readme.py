"""README.md and the pages of the documentation show what the program prints, and their Python runs."""

import re
import runpy
from pathlib import Path

import pytest
from helpers import differing

ROOT = Path(__file__).parents[1]
SCRIPT = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
PAGES = SCRIPT["pages"]()
RUN = [page for page in PAGES if SCRIPT["runs"](page.read_text(encoding="utf-8"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_pages_show_results_as_they_are_kept():
    """Else ``uv run nox -s readme`` copies them anew."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    assert [page for page, text in texts.items() if SCRIPT["copied"](text) != text] == []
    assert not any("include}" in text for text in texts.values())  # which a code host shows as it stands


@pytest.mark.slow
@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).with_suffix("").as_posix())
def test_a_page_shows_what_a_run_prints(page, tmp_path):
    """Else ``uv run nox -s readme`` prints it anew."""
    assert not differing(SCRIPT["rewritten"](page, tmp_path), page.read_text(encoding="utf-8"))


BOARD = """
    1  model-18    1243.1  -0.03    9.9        1–1    458   0.00
    2  model-20     982.6   1.09   10.0        2–2  4,429   1e-05
 ────────────────────────────────────────────────────────────────
"""


@pytest.mark.parametrize(
    ("printed", "elsewhere"),
    [
        ("1243.1", "1243.2"),
        ("-0.03", "-0.04"),
        (" 982.6", "982.61"),
        (" 0.00", "-0.00"),
        ("    9.9", "   10.0"),
        ("    9.9", " 10.0"),
    ],
)
def test_rounding_on_another_processor_is_no_change(printed, elsewhere):
    assert printed in BOARD
    assert not differing(BOARD.replace(printed, elsewhere), BOARD)


def test_rounding_may_move_a_column():
    narrow, wide = "   sd\n ────\n  9.9\n  1.0\n", "    sd\n ─────\n  10.0\n   1.0\n"
    assert not differing(narrow, wide)


@pytest.mark.parametrize(
    ("printed", "changed"),
    [
        ("1243.1", "1243.3"),
        ("1243.1", "1253.1"),
        ("-0.03", "0.03"),
        (" 982.6", " 982.41"),
        ("model-18", "model-19"),
        ("1–1", "1–2"),
        ("458", "459"),
        ("4,429", "4,428"),
        ("1e-05", "1e-06"),
        ("9.9", "ten"),
        ("model-18  ", "model-18   "),
        (" ────", "────"),
        ("   1e-05\n", "\n"),
        ("    2  model-20", "\n    2  model-20"),
    ],
)
def test_a_change_that_matters_is_one(printed, changed):
    assert printed in BOARD
    assert differing(BOARD.replace(printed, changed), BOARD)


def test_every_option_that_is_named_exists():
    import typer.main

    from bayes_arena.__main__ import app

    def options(command) -> set[str]:
        own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        return own.union(*(options(each) for each in getattr(command, "commands", {}).values()))

    known = options(typer.main.get_command(app)) | {"--help"}
    for page in PAGES:
        written = SCRIPT["COPY"].sub("", page.read_text(encoding="utf-8"))
        ours = re.sub(r"`(?:uv|pip) [^`]*`", "", written)  # not those of other programs
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", ours))
        assert named <= known, (page, named - known)


def test_what_is_linked_to_is_there():
    built = [ROOT / "docs" / folder for folder in ("notebooks", "reference")]
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            path = (page.parent / link).resolve()
            assert path.exists() or path.parent in built, (page, link)


def test_the_readme_is_short():
    assert len(README.split()) < 900
    code = re.search(r"## Six lines of Python\n\n```python\n(.*?)```", README, flags=re.S)
    assert len([line for line in code[1].splitlines() if line.strip()]) == 6
    assert "uv run pytest " in README  # the test command, which .ci/run refers to


def test_a_run_replaces_what_is_shown(tmp_path):
    page = tmp_path / "page.md"
    shown = "```pycon\n>>> 1 + 1\n{}\n>>> for n in range(9):\n...     print(n)\n{}\n…\n```\n"
    page.write_text("<!-- setup\nimport bayes_arena as ba\n-->\n" + shown.format(3, "a\nb"))
    text = SCRIPT["rewritten"](page, tmp_path)
    assert text == page.read_text().replace("3", "2").replace("a\nb", "0\n1")


def test_a_copy_replaces_what_stood_there(tmp_path, monkeypatch):
    monkeypatch.setitem(SCRIPT["copy"].__globals__, "ROOT", tmp_path)
    (tmp_path / "result.md").write_text("# All\n\n## One\n\n|a|\n\n## Two\n\n```python\n1 / 0\n```\n\n")
    (tmp_path / "code.py").write_text("import os\n\n\ndef build():\n    return os\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n## Below\n\n<!-- begin: result.md -->\n# Old\n<!-- end -->\n\n"
        "<!-- begin: result.md#One -->\n<!-- end -->\n\n<!-- begin: code.py#build -->\n<!-- end -->\n"
    )
    whole = "### All\n\n#### One\n\n|a|\n\n#### Two\n\n```python\n1 / 0\n```"  # which is not run
    assert SCRIPT["rewritten"](page, tmp_path) == (
        f"# Page\n\n## Below\n\n<!-- begin: result.md -->\n{whole}\n<!-- end -->\n\n"
        "<!-- begin: result.md#One -->\n|a|\n<!-- end -->\n\n"
        "<!-- begin: code.py#build -->\n```python\ndef build():\n    return os\n```\n<!-- end -->\n"
    )


def test_a_page_whose_code_fails_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```pycon\n>>> 1 / 0\n```\n")
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        SCRIPT["rewritten"](page, tmp_path)
