"""Run the notebooks on the built-in votes, which everybody has, and keep what they print and draw.

    uv run python notebooks/execute.py [NAME ...]

All of them without names (``01_quickstart``).
"""

import os
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from PIL import Image

FOLDER = Path(__file__).parent
PATIENCE = 900
"""Seconds a cell may take: the first to sample compiles for a minute or more."""
COLOURS = 128
"""Of a picture that is kept, which makes it a third as large."""


def execute(notebook: NotebookNode, data: str = os.devnull) -> NotebookNode:
    """Give a notebook its outputs, from the votes of a folder, or from simulated ones where it has none."""
    client = NotebookClient(
        notebook,
        timeout=PATIENCE,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(FOLDER)}},
    )
    client.execute(env=os.environ | {"BAYES_ARENA_DATA": data})
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def shrink(notebook: NotebookNode) -> NotebookNode:
    """Reduce the colours of a notebook's pictures."""
    for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
        if "image/png" in output.get("data", {}):
            small = BytesIO()
            picture = Image.open(BytesIO(b64decode(output.data["image/png"])))
            picture.convert("RGB").quantize(COLOURS).save(small, "png", optimize=True)
            output.data["image/png"] = b64encode(small.getvalue()).decode()
    return notebook


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            print(path.stem, file=sys.stderr)
            notebook = shrink(execute(nbformat.read(path, as_version=4)))
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
