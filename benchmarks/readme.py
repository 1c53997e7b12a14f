"""Run what README.md and the pages of ``docs`` show, and write down what it prints.

    uv run python benchmarks/readme.py [PAGE ...]

The blocks of a page run from top to bottom, in one Python and in a folder that has ``votes.csv``, the example arena:

    ```console     commands after ``$``, bayes-arena and cat; each is followed by what it prints (with ``2>&1``, by
                   its warnings too)
    ```pycon       Python after ``>>>``, followed by what it prints
    ```python      Python of which nothing is shown

Output that ends in a line ``…`` is shown as far as it was shown before. A ``{code-block}`` with a caption is a file of
that name; one without is not run. ``<!-- setup … -->`` is Python that readers do not see.

Between ``<!-- begin: FILE#PART -->`` and ``<!-- end -->`` stands a copy, which is not run:

    benchmarks/results/gate.md          a file, its headings below the one that it stands under
    benchmarks/results/gate.md#HEADING  what stands under a heading of it
    models/am_elo.py#build              a function
    notebooks/08_trust.ipynb#08-03      what a cell has printed
"""

import ast
import code
import contextlib
import io
import json
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

import bayes_arena as ba

ROOT = Path(__file__).parents[1]
COPY = re.compile(r"^<!-- begin: (?P<file>[^#\n]+?)(?:#(?P<part>[^\n]+?))? -->\n.*?^<!-- end -->$", re.S | re.M)
BLOCK = re.compile(
    r"^(?P<fence>`{3,})(?P<kind>[^\n]*)\n(?P<body>.*?)^(?P=fence)$|^<!-- setup\n(?P<setup>.*?)-->$", re.S | re.M
)
RUN = re.compile(f"{COPY.pattern}|{BLOCK.pattern}", re.S | re.M)
"""Copies and blocks, so that no block of a copy is run."""
HEADING = re.compile(r"^#+(?= )", re.M)
CAPTION = re.compile(r":caption: (.*)\n\n?")
CUT = "…"


def pages() -> list[Path]:
    """Return the pages that are written by hand."""
    made = ("_build", "notebooks", "reference")
    written = [path for path in (ROOT / "docs").rglob("*.md") if path.relative_to(ROOT / "docs").parts[0] not in made]
    return [ROOT / "README.md", *sorted(written)]


def rewritten(page: Path, folder: Path) -> str:
    """Return the text of a page with what its blocks print when they run in a folder."""
    text = copied(page.read_text(encoding="utf-8"))
    if not runs(text):
        return text
    ba.example_arena().votes.write_csv(folder / "votes.csv")
    console = code.InteractiveConsole({"__name__": "__main__"})
    with contextlib.chdir(folder), quiet():
        return RUN.sub(lambda found: found[0] if found["file"] else run(found, console), text)


def runs(text: str) -> bool:
    """Return whether a page has a block outside of copies."""
    return BLOCK.search(COPY.sub("", text)) is not None


def copied(text: str) -> str:
    """Return the text of a page with the copies in it as their files are now."""
    return COPY.sub(copy, text)


def copy(found: re.Match[str]) -> str:
    """Return a copy between its marks."""
    path, part = ROOT / found["file"], found["part"]
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        (function,) = (node for node in ast.parse(text).body if getattr(node, "name", None) == part)
        text = f"```python\n{ast.get_source_segment(text, function)}\n```"
    elif path.suffix == ".ipynb":
        (cell,) = (cell for cell in json.loads(text)["cells"] if cell["id"] == part)
        text = "".join(cell["outputs"][0]["text"])
    elif part:
        text = HEADING.split(text.split(f"\n## {part}\n")[1])[0]
    else:
        above = HEADING.findall(RUN.sub("", found.string[: found.start()]))[-1]
        lower = "#" * (len(above) + 1 - len(min(HEADING.findall(text), default="")))
        text = HEADING.sub(lambda heading: lower + heading[0], text)
    return "\n".join([found[0].split("\n", 1)[0], text.strip("\n"), "<!-- end -->"])


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Print tables in full width, and no warnings."""
    import pandas as pd

    wide = ("display.width", 110, "display.max_columns", 30, "display.max_rows", 30)
    with pd.option_context(*wide), pl.Config(set_tbl_width_chars=110), warnings.catch_warnings():
        warnings.simplefilter("ignore", ba.ArenaWarning)
        yield


def run(found: re.Match[str], console: code.InteractiveConsole) -> str:
    """Run a block, and return it with what it prints."""
    kind, body = found["kind"], found["body"]
    if found["setup"]:
        exec(found["setup"], console.locals)
    elif kind == "python":
        with contextlib.redirect_stdout(io.StringIO()):
            exec(body, console.locals)
    elif kind.startswith("{code-block}") and (caption := CAPTION.match(body)):
        Path(caption[1]).write_text(body[caption.end() :], encoding="utf-8")
    elif kind == "console":
        return f"```console\n{shown(body, ('$ ',), command)}```"
    elif kind == "pycon":
        return f"```pycon\n{shown(body, ('>>> ', '... ', '>>>', '...'), lambda text: python(text, console))}```"
    return found[0]


def shown(body: str, prompts: tuple[str, ...], answer: Callable[[str], str]) -> str:
    """Return lines after a prompt, each statement with its answer."""
    lines = body.splitlines()
    first = [number for number, line in enumerate(lines) if line.startswith(prompts[0])]
    out = []
    for start, stop in zip(first, [*first[1:], len(lines)], strict=True):
        said = statement(lines[start:stop], prompts)
        before = lines[start + len(said) : stop]
        blank = before[-1:] == [""]
        before = before[: len(before) - blank]
        asked = "\n".join(line[len(prompts[0]) :] if line.startswith(prompts) else line for line in said)
        after = answer(asked).rstrip().splitlines()
        if before[-1:] == [CUT]:
            after = [*after[: len(before) - 1], CUT]
        out += said + [line.rstrip() for line in after] + [""] * blank
    return "\n".join(out) + "\n"


def statement(lines: list[str], prompts: tuple[str, ...]) -> list[str]:
    """Return the lines that begin with a prompt or go on after a backslash."""
    end = 1
    while end < len(lines) and (lines[end].startswith(prompts) or lines[end - 1].endswith("\\")):
        end += 1
    return lines[:end]


def command(line: str) -> str:
    """Return what a command prints."""
    from typer.testing import CliRunner

    from bayes_arena.__main__ import app

    words = shlex.split(line.replace("\\\n", " "))
    both = words[-1] == "2>&1"
    words = [word for word in words if word not in ("uv", "run", "2>&1")]
    if words[0] == "cat":
        return Path(words[1]).read_text(encoding="utf-8")
    if words[0] != "bayes-arena":
        raise SystemExit(f"Only bayes-arena and cat run in a console block, not {line!r}.")
    result = CliRunner().invoke(app, words[1:])
    if result.exit_code and not both:
        raise SystemExit(f"{line!r} ended with {result.exit_code}: {result.output} {result.exception!r}")
    return result.output if both else result.stdout


def python(text: str, console: code.InteractiveConsole) -> str:
    """Return what a statement prints."""
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as error:
        more = console.runsource(text + "\n", symbol="single")
    if more or "Error" in error.getvalue():  # else it says that it compiles
        raise SystemExit(f"{text}\n{error.getvalue() or 'is not a whole statement'}")
    return out.getvalue()


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]) if sys.argv[1:] else pages():
        with tempfile.TemporaryDirectory() as folder:
            text = rewritten(page.resolve(), Path(folder))
        if text != page.read_text(encoding="utf-8"):
            print(page)
            page.write_text(text, encoding="utf-8")
