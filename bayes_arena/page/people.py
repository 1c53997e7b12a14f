"""The annotators of the page: whom to look at, and who favours whom."""

from __future__ import annotations

from collections import Counter

from bayes_arena.people.judgement import ODD, UNJUDGED
from bayes_arena.tables import Columns, Row, records

VERDICTS = {
    "anomalous": "anomalous",
    "has a favourite": "with a favourite",
    "suspect": "suspect",
    "differs": "with a ranking of their own",
    "ordinary": "ordinary",
}
FEWEST_ROWS, MOST_ROWS = 5, 25  # of the table of annotators


def annotator_rows(columns: Columns) -> list[Row]:
    """Return the annotators to show: all that are odd, or the first few judged."""
    judged = [
        row
        for row in records(columns)
        if row["verdict"] not in UNJUDGED and row["agreement"] is not None
    ]
    for row in judged:
        row["is_odd"] = row["verdict"] in ODD
    # The table comes with the odd ones first.
    n_odd = sum(row["verdict"] != "ordinary" for row in judged)
    n_shown = min(max(FEWEST_ROWS, n_odd), MOST_ROWS)
    return judged[:n_shown]


def about_annotators(columns: Columns, is_one_group: bool) -> str:
    """Return how many annotators have which verdict.

    ``is_one_group`` says whether two groups were looked for, and not found.
    """
    counts = Counter(columns["verdict"] if columns else ())
    if not columns or counts["not judged"]:
        return "Annotators were not judged."
    total = counts.total()
    n_judged = total - sum(counts[verdict] for verdict in UNJUDGED)
    if not n_judged:
        return (
            f"None of {total:,} annotators cast the ten votes that it takes to judge."
        )
    judged = f"Of {total:,} annotators {n_judged:,} were"
    if n_judged == total:
        judged = f"All {total:,} annotators were"
    if counts["ordinary"] == n_judged:
        groups = "; no two groups were told apart" if is_one_group else ""
        found = f"nobody is anomalous or has a favourite{groups}"
        return f"{judged} judged and look ordinary: {found}."
    parts = []
    for verdict, words in VERDICTS.items():
        if counts[verdict]:
            parts.append(f"{counts[verdict]:,} {words}")
    return f"{judged} judged: {', '.join(parts)}."
