"""Every public name, what it is in one line, and whether it may change: the tables of ``docs/api.md``.

uv run python benchmarks/api.py > benchmarks/results/api.md
"""

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType

import bayes_arena as ba

sys.path.append(str(Path(__file__).parents[1] / "docs"))
from machinery.reference import GROUPS, public_names

ROLE = re.compile(r":\w+:`(?:[^`]*<)?~?(?:bayes_arena\.)?([\w.]+)>?`")
YOUNG = {
    *("camps", "bursts", "integrity", "promoters", "price", "siblings"),
    *("best_by_group", "disagreement", "slice_similarity", "changes", "history", "grades", "style_features"),
    *("judge_report", "choose", "flips", "flip_votes", "from_posterior"),
    "plots",
}
"""What few have used so far, and may be called or asked differently in the next release."""


def page() -> str:
    """Return a table for every group of names."""
    names = public_names()
    groups = {
        said: [name.rsplit(".", 1)[-1] for name in names[group]] for group, said in GROUPS.items() if group in names
    }
    groups["Modules", "Names of their own, in the reference."] = [
        name for name in ba.__all__ if isinstance(getattr(ba, name), ModuleType)
    ]
    parts = []
    for (title, said), each in groups.items():
        rows = "\n".join(map(row, sorted(each)))
        parts.append(f"## {title}\n\n{said}\n\n| name | what it is | may change |\n|---|---|---|\n{rows}\n")
    return "\n".join(parts)


def row(name: str) -> str:
    """Return the row of a public name."""
    first, *_ = inspect.cleandoc(getattr(ba, name).__doc__ or "").split("\n\n")
    said = ROLE.sub(r"`\1`", " ".join(first.split()).replace("``", "`"))
    return f"| `ba.{name}` | {said} | {'yes' if name in YOUNG else ''} |"


if __name__ == "__main__":
    print(page(), end="")
