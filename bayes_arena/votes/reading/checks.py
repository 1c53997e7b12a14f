"""``check``: what a set of votes can and cannot settle, before any model is fitted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from bayes_arena.arrays import DataFrame, table_of
from bayes_arena.errors import listing
from bayes_arena.markup import percent
from bayes_arena.memory import enough_memory
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROMPT
from bayes_arena.votes.outcomes import BOTH_BAD, TIE, by_result, wins_losses_ties
from bayes_arena.votes.reading.counting import Repeats
from bayes_arena.votes.reading.decoding import normalised
from bayes_arena.votes.reading.read_votes import as_cells, read_repeats
from bayes_arena.votes.records import never_beaten_groups, records, repeated_answers
from bayes_arena.votes.sources.frames import in_the_same_engine

FEW_VOTES = 50
"""The paper leaves out annotators with this many votes or fewer (Algorithm 3 and the authors' code; the text of
section 5.1 says fewer than 50)."""


def check_row(name: str, found: str, problem: bool = False, remedy: str = "") -> dict[str, str]:
    """Return a row of :func:`check`; a remedy is only for a problem."""
    status = "warning" if problem else "ok"
    return {"check": name, "status": status, "found": found, "remedy": remedy if problem else ""}


def check_rows(cells: Cells, repeats: Repeats | None = None) -> list[dict[str, str]]:
    """Return the rows of :func:`check`; repeated rows are reported only if ``repeats`` counts them."""
    rows: list[dict[str, str]] = []

    def add(name: str, found: str, problem: bool = False, remedy: str = "") -> None:
        rows.append(check_row(name, found, problem, remedy))

    dropped = sum(cells.dropped.values())
    found = ", ".join(f"{n} {problem}" for problem, n in cells.dropped.items()) or "none"
    add("invalid votes", found, dropped > 0, "correct them at the source; ratings leave them out")

    if repeats is not None:
        alike = "" if repeats.evident or not repeats.repeated else "; they may be separate votes"
        add(
            "repeated votes",
            f"{repeats.repeated:,} of {repeats.rows:,} rows equal another in every column{alike}",
            repeats.evident,
            "leave them out: dedupe=True (--dedupe)",
        )

    if cells.design_effect != 1:
        add("weights", f"{cells.described_votes}: design effect {cells.design_effect:.2f}")

    twins = [*name_twins(cells.competitors), *name_twins(cells.annotators)]
    before = cells.n_competitors + cells.n_annotators
    after = before - sum(len(names) - 1 for names in twins)
    add(
        "names alike",
        f"{listing(map(_written, twins))}; {before} names, {after} normalised" if twins else "none",
        bool(twins),
        "treat them as equal: normalise=True (--normalise-names)",
    )
    labels = cells.components
    alone = [name for name, label in zip(cells.competitors, labels, strict=True) if label > 0]
    add(
        "connected comparisons",
        f"{labels.max() + 1} groups; apart from the largest: {listing(alone)}" if alone else "one group",
        bool(alone),
        "rate the groups separately, or collect votes between them",
    )
    wins, losses, ties = records(cells)
    infinite = "use a prior: the flat estimate is infinite"
    for name, others in (("won every vote", losses + ties), ("lost every vote", wins + ties)):
        always = [competitor for competitor, count in zip(cells.competitors, others, strict=True) if count == 0]
        add(name, listing(always) or "none", bool(always), infinite)
    groups = never_beaten_groups(cells)
    add(
        "finite estimate (Ford)",
        "exists" if not groups else "; ".join(f"never beaten by the rest: {listing(group)}" for group in groups),
        bool(groups),
        infinite,
    )
    if cells.n_annotators:
        votes = cells.votes_by_annotator()
        few, (middle, least) = int((votes <= FEW_VOTES).sum()), np.quantile(votes, [0.5, 0]).round(1)
        add(
            "votes per annotator",
            f"median {middle:g}, minimum {least:g}; {few} of {len(votes)} have {FEW_VOTES} or fewer",
            few > 0,
            f"keep the default prior; under a flat one leave them out (--delta {FEW_VOTES})",
        )
    else:
        add("votes per annotator", "annotators unknown")
    if PROMPT in cells.slices:
        asked = repeated_answers(cells)
        add(
            "prompts",
            f"{asked.prompts} prompts, {asked.answers} answers with {2 * asked.votes / asked.answers:.1f} votes each; "
            f"{asked.with_two} have two or more, {percent(asked.share)} of the votes are on prompts with such an "
            "answer",
            not asked.enough,
            "answers cannot be distinguished from noise: collect more votes on the same prompts",
        )
    else:
        add("prompts", "prompts unknown")
    counts = cells.counts.sum(axis=0)
    won, lost, _ = map(float, wins_losses_ties(counts))
    decided, total = won + lost, counts.sum()
    share = won / decided if decided else 0.5
    z = abs(share - 0.5) * 2 * np.sqrt(decided)
    add(
        "first-position wins",
        f"{percent(share, '.1f')} of decided votes" if cells.sided else "the votes do not say who was shown first",
        bool(z > 3) and cells.sided,
        "if the sides were drawn at random, this is a position effect, which the default models have",
    )
    add("ties", f"{percent(counts[TIE] / total, '.1f')} tie, {percent(counts[BOTH_BAD] / total, '.1f')} both bad")
    if cells.grades > 1:
        of_a, of_b, _ = by_result(len(counts))
        by_grade = counts[of_a] + counts[of_b]
        shares = ", ".join(percent(votes / max(decided, 1), ".1f") for votes in by_grade)
        add("grades", f"{cells.grades}, with {shares} of the decided votes, weakest first")
    return rows


def name_twins(names: Sequence[str]) -> list[list[str]]:
    """Return groups of names that differ only in surrounding spaces or in their Unicode form."""
    table = pl.DataFrame({"name": names}, schema={"name": pl.String}).with_columns(same=normalised(pl.col("name")))
    groups = table.group_by("same", maintain_order=True).agg("name").filter(pl.col("name").list.len() > 1)
    return groups["name"].to_list()


def _written(names: list[str]) -> str:
    """Write names that look alike so that their difference shows."""
    write = repr if len({name.strip() for name in names}) == 1 else ascii
    return " = ".join(map(write, names))


def check(cells: object) -> DataFrame:
    """Report what the votes can and cannot settle.

    Parameters
    ----------
    cells : Cells, path, sequence of paths, or dataframe
        Votes from :func:`~bayes_arena.read_votes`, or a source that it reads without options; for a source, repeated
        rows are reported too.

    Returns
    -------
    pandas.DataFrame
        One row per check: ``check``, ``status`` (``ok`` or ``warning``), ``found`` and ``remedy``.

    Raises
    ------
    VotesError
        If the votes are not cells and cannot be read.

    References
    ----------
    Ford, L. R. (1957), "Solution of a ranking problem from binary comparisons".
    """
    votes = as_cells(cells)  # first, because its errors are typed
    with enough_memory("check"):
        table = table_of(check_rows(votes, None if votes is cells else read_repeats(cells)))
    return in_the_same_engine(table, cells)
