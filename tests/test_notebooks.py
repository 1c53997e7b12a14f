"""The notebooks show what they print and draw, and it is what they print and draw today."""

import importlib.util
import os
from pathlib import Path

import nbformat
import polars as pl
import pytest
from helpers import differing

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OF_REAL_VOTES = [path for path in NOTEBOOKS if "BAYES_ARENA_DATA" in path.read_text(encoding="utf-8")]
"""Those that read real votes where there are some; the others would only be run twice."""
REAL = os.environ.get("BAYES_ARENA_DATA") or str(ROOT.parent / "shared" / "data")
BRIEFLY = {
    'method="nuts", seed=1': 'method="nuts", seed=1, draws=50, tune=100',
    "pm.sample(700, tune=400, chains=4": "pm.sample(50, tune=100, chains=4, cores=1",
}
"""How notebooks sample, and how they do here: what is sampled differs by machine and is not compared."""
SMALLER = {
    "splits=4": "splits=2",
    "folds=4": "folds=2",
    "shuffles=1000": "shuffles=50",
    "shuffles=100)": "shuffles=10)",
    "range(5)": "range(2)",
    '("flip", "random", "equal", "mixed")': '("flip", "equal")',
    "more_than=50": "more_than=40",
}
"""What they repeat or read, and how much of it here on real votes, of which nothing is kept to compare with."""
BUSY = 150
"""Votes of a judge who is among the busiest."""
LARGEST = 300_000
"""Bytes of a notebook."""


def each_of(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


of_the_kernel = pytest.mark.filterwarnings("default")


def executed(path: Path, data: str, instead: dict[str, str]) -> nbformat.NotebookNode:
    """Run a notebook with some of its words replaced."""
    spec = importlib.util.spec_from_file_location("execute", ROOT / "notebooks" / "execute.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        for whole, brief in instead.items():
            cell.source = cell.source.replace(whole, brief)
    return script.execute(notebook, data)


def texts(cell) -> list[str]:
    """What a cell has printed, and its value, as text; not what a first start says on stderr."""
    said = [output for output in cell.outputs if output.get("name") != "stderr"]
    return [output.get("text") or output.data.get("text/plain", "") for output in said]


def pictures(notebook) -> list[str]:
    """Which cells show a picture."""
    outputs = [(cell.id, output) for cell in notebook.cells for output in cell.get("outputs", [])]
    return [name for name, output in outputs if "image/png" in output.get("data", {})]


@pytest.fixture(scope="module")
def some_votes(tmp_path_factory) -> str:
    """Every fourth of the real votes, and of a crowd only those of its busiest: enough to run through."""
    folder = tmp_path_factory.mktemp("data")
    for path in Path(REAL).glob("*.csv"):
        votes = pl.read_csv(path, infer_schema=False)
        if path.name == "llmfao.csv":
            votes = votes.filter(pl.len().over("judge") > BUSY)
        votes.gather_every(4).write_csv(folder / path.name)
    return str(folder)


def test_there_are_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10"]
    sources = [cell.source for path in NOTEBOOKS for cell in nbformat.read(path, as_version=4).cells]
    assert all(any(whole in source for source in sources) for whole in BRIEFLY | SMALLER)


@each_of(NOTEBOOKS)
def test_it_is_kept_with_its_outputs_and_pictures(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1)), "run execute.py"
    assert pictures(notebook)
    every = "".join(text for cell in code for text in texts(cell))
    assert " object at 0x" not in every
    assert path.stat().st_size < LARGEST


@pytest.mark.slow
@of_the_kernel
@each_of(NOTEBOOKS)
def test_it_shows_what_a_run_shows(path, monkeypatch):
    """Pictures, words, and numbers up to rounding; not of cells tagged as sampled: they differ by machine."""
    monkeypatch.setenv("MPLBACKEND", "Agg")
    kept, found = nbformat.read(path, as_version=4), executed(path, os.devnull, BRIEFLY)
    assert pictures(found) == pictures(kept)
    for cell, again in zip(kept.cells, found.cells, strict=True):
        if cell.cell_type == "code" and "sampled" not in cell.metadata.get("tags", []):
            for text, other in zip(texts(cell), texts(again), strict=True):
                assert not differing(other, text), cell.id


@pytest.mark.slow
@pytest.mark.skipif(not Path(REAL, "llmfao.csv").is_file(), reason="no llmfao.csv")
@of_the_kernel
@each_of(OF_REAL_VOTES)
def test_it_runs_on_real_votes(path, some_votes):
    assert pictures(executed(path, some_votes, BRIEFLY | SMALLER))
