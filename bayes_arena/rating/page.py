"""The page of a rating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bayes_arena.boards.slices import level_gap_columns
from bayes_arena.boards.standing import expected_scores
from bayes_arena.checks.observed import observed_columns
from bayes_arena.files import written_beside
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.model.spec import PRESETS
from bayes_arena.page.board import axis_ends, board_rows, settled_pairs
from bayes_arena.page.contents import Contents
from bayes_arena.page.groups import TwoGroups, two_groups
from bayes_arena.page.people import about_annotators, annotator_rows
from bayes_arena.page.render import render
from bayes_arena.page.words import fitted_in_words, words_of
from bayes_arena.people.favourites import favourite_rows
from bayes_arena.people.groups import GROUP, LARGER, SMALLER
from bayes_arena.rating.rated import Rated
from bayes_arena.said import NOWHERE, Note
from bayes_arena.tables import Columns, records


def write_page(
    rated: Rated,
    path: str | Path,
    title: str,
    header: Sequence[str],
    notes: Sequence[Note],
) -> None:
    """Write a page: one file of HTML that opens anywhere."""
    html = render(contents_of(rated, title, header, notes))
    with written_beside(path) as draft:
        draft.write_text(html, encoding="utf-8")


def contents_of(
    rated: Rated, title: str, header: Sequence[str], notes: Sequence[Note]
) -> Contents:
    """Return what the page shows of a rated."""
    standing = rated.standing
    people = rated.annotator_columns
    contested = flagged_competitors(rated.contested_columns)
    rows = board_rows(rated.board_columns, contested)
    annotators = annotator_rows(people)
    return Contents(
        title=title,
        header=tuple(header),
        verdict=rated.verdict,
        notes=tuple(note.spelled(NOWHERE) for note in notes),
        level=standing.look.level,
        ranked=[row for row in rows if row["rank"] is not None],
        unranked=[row for row in rows if row["rank"] is None],
        ends=axis_ends(rows),
        scores=expected_scores(standing),
        rank_shares=standing.rank_shares,
        settled=settled_pairs(standing),
        about_annotators=about_annotators(people),
        annotators=annotators,
        favourites=favourite_rows(rated.named_favourites),
        contested=contested,
        groups=groups_of(rated),
        observed=observed_columns(standing.fit, standing.look.level),
        fitted=fitted_in_words(standing, rated.share),
        words=words_of(
            standing.fit.model,
            bool(annotators),
            rated.share is not None,
            rated.changes is not None,
        ),
    )


def groups_of(rated: Rated) -> TwoGroups | None:
    """Return the two groups of annotators, and the gaps between their boards."""
    if not rated.groups.members:
        return None
    votes = rated.groups.label(rated.known_votes)
    model = replace(PRESETS["davidson"], name="by group", strength_by=(GROUP,))
    fit = fit_model(votes, model=model)
    level = rated.standing.look.level
    gaps = level_gap_columns(fit, GROUP, SMALLER, LARGER, level)
    return two_groups(rated.groups, gaps)


def flagged_competitors(columns: Columns) -> list[str]:
    """Return the competitors that a table flags."""
    return [row["competitor"] for row in records(columns) if row["flagged"]]
