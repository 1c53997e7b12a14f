"""Run the notebooks and keep what they print and draw.

    uv run python notebooks/execute.py [NAME ...]

Without names all of them.  They use votes of the package, which everybody has.
"""

import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from PIL import Image

FOLDER = Path(__file__).parent
SECONDS = 900  # that a cell may take: the first to sample compiles
COLOURS = 128  # of a picture that is kept, which makes it a third as large


def execute(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Give a notebook its outputs."""
    resources = {"metadata": {"path": str(FOLDER)}}
    NotebookClient(
        notebook,
        timeout=SECONDS,
        record_timing=False,
        coalesce_streams=True,
        resources=resources,
    ).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def shrink(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Reduce the colours of a notebook's pictures."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                output.data["image/png"] = fewer_colours(output.data["image/png"])
    return notebook


def fewer_colours(encoded: str) -> str:
    """Return a picture with fewer colours; both are PNG in base 64."""
    picture = Image.open(BytesIO(b64decode(encoded))).convert("RGB")
    small = BytesIO()
    picture.quantize(COLOURS).save(small, "png", optimize=True)
    return b64encode(small.getvalue()).decode()


if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) == 1 or path.stem in sys.argv[1:]:
            print(path.stem, file=sys.stderr)
            notebook = shrink(execute(nbformat.read(path, as_version=4)))
            path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
