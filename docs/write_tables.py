"""Write docs/tables.md anew: what the columns of tables mean, and what notes are about."""

import re
from pathlib import Path

from bayes_arena.columns import TABLES, Column, Table

ROOT = Path(__file__).parents[1]
INTRODUCTION = """\
# Tables and notes

The columns of the tables, in Python, CSV and JSON, as `--explain` explains them; and the
kinds of notes and warnings. Written by `nox -s reference`.
"""
NOTES = """\
## Notes

A note has a `kind`, for programs, and a text; so have the warnings of a fit, of a rating
(`rating.notes`, `rating.warnings`) and of JSON (`{"kind": ..., "text": ...}`), and
`ArenaWarning.note`.
"""
KIND = re.compile(r'^    "(\w+)",  # (.+)$', re.MULTILINE)


def main() -> None:
    """Write the page."""
    (ROOT / "docs" / "tables.md").write_text(page(), encoding="utf-8")


def page() -> str:
    """Return the page: a list of columns for each table, then one of kinds."""
    lists = [f"## `{name}`\n\n{columns(table)}" for name, table in TABLES.items()]
    return "\n".join([INTRODUCTION, *lists, NOTES, kinds()])


def columns(table: Table) -> str:
    """Return the columns of a table, with what they mean."""
    beside = {column.beside for column in table if column.meaning}
    rows = [row(column) for column in table if column.name not in beside]
    return "\n".join(["| column | |", "|---|---|", *rows, ""])


def row(column: Column) -> str:
    """Return the row of a column, with the one that its meaning covers, too."""
    names = [column.name, *filter(None, [column.beside if column.meaning else ""])]
    also = " (not in every table)" if column.is_optional else ""
    return f"| {', '.join(f'`{name}`' for name in names)} | {column.meaning}{also} |"


def kinds() -> str:
    """Return the kinds of notes, as the source lists them."""
    source = (ROOT / "bayes_arena" / "said.py").read_text(encoding="utf-8")
    rows = [f"| `{kind}` | {about} |" for kind, about in KIND.findall(source)]
    return "\n".join(["| kind | |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    main()
