"""Notebooks are kept with what they print and draw, and still run."""

import importlib.util
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
QUICK = ("01_quickstart", "05_annotator_quality")  # the others sample, or take a minute
LARGEST = 200_000  # bytes of a notebook


def texts(notebook):
    """What cells print, and their values as text."""
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") != "stderr":
                plain = output.get("data", {}).get("text/plain", "")
                shown.append(output.get("text", plain))
    return shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_kept_with_its_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    outputs = [output for cell in code for output in cell.outputs]
    assert not any(output.output_type == "error" for output in outputs)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert not any(" object at 0x" in text for text in texts(notebook))
    assert path.stat().st_size < LARGEST


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", QUICK)
def test_it_shows_what_a_run_shows(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    kept = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    again = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    assert texts(script.execute(again)) == texts(kept)
