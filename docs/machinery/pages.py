"""Where the pages lie that are made when the documentation is built."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "bayes_arena"


def put(folder: Path, name: str, text: str) -> None:
    """Write a page, unless it is there as it is: Sphinx reads anew what is newer."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
