"""The recipes of the page on data run, one after the other."""

import re
from pathlib import Path

from bayes_arena.reading.layouts import ALIASES, LAYOUTS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "data.md"


def test_the_recipes_run():
    code = re.findall(
        r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert len(code) == 11
    namespace: dict[str, object] = {}
    for block in code:
        exec(block, namespace)


def test_the_page_names_every_layout():
    text = PAGE.read_text(encoding="utf-8")
    for name in (*(layout.name for layout in LAYOUTS), *ALIASES):
        assert f"`{name}`" in text or name == "annotator-columns"
