"""The page of a rating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayes_arena.boards.pairs import settled_pairs
from bayes_arena.boards.slices import level_gap_columns
from bayes_arena.boards.standing import expected_scores
from bayes_arena.checks.observed import observed_columns
from bayes_arena.errors import OutputError
from bayes_arena.files import written_beside
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.model.spec import PRESETS
from bayes_arena.page.about import About, about_competitors
from bayes_arena.page.board import (
    asked_next,
    axis_ends,
    board_rows,
)
from bayes_arena.page.contents import Contents
from bayes_arena.page.groups import TwoGroups, two_groups
from bayes_arena.page.people import about_annotators, annotator_rows
from bayes_arena.page.render import render
from bayes_arena.page.words import fitted_in_words, words_of
from bayes_arena.people.favourites import favourite_rows
from bayes_arena.people.groups import GROUP, LARGER, SMALLER, describe_groups
from bayes_arena.rating.by_slice import BySlice, by_slices
from bayes_arena.said import NOWHERE
from bayes_arena.tables import Columns, Row, json_text, records

if TYPE_CHECKING:
    from bayes_arena.rating.rating import Rating

SUFFIXES = (".html", ".htm", "")  # of a page; a pipe has none


def write_page(rating: Rating, path: str | Path, title: str, by: Sequence[str]) -> None:
    """Write a page: one file of HTML that opens anywhere."""
    if Path(path).suffix.lower() not in SUFFIXES:
        text = f"A page is HTML, not {str(path)!r}. Choose a name that ends in .html."
        raise OutputError(text)
    html = render(contents_of(rating, title, by))
    with written_beside(path) as draft:
        draft.write_text(html, encoding="utf-8")


def contents_of(rating: Rating, title: str, by: Sequence[str] = ()) -> Contents:
    """Return what the page shows of a rating, and of its boards by slice."""
    slices = by_slices(rating, by)
    standing = rating.standing
    people = rating.annotator_columns
    contested = flagged_competitors(rating.contested_columns)
    rows = board_rows(rating.board_columns, contested)
    annotators = annotator_rows(people)
    content = rating.content
    notes = (*rating.notes, *rating.warnings)
    return Contents(
        title=title,
        header=rating.header,
        date=content["date"],
        data=downloaded(content, slices),
        verdict=rating.verdict,
        notes=tuple(note.spelled(NOWHERE) for note in notes if note.kind != "remarks"),
        level=standing.look.level,
        ranked=[row for row in rows if row["rank"] is not None],
        unranked=[row for row in rows if row["rank"] is None],
        ends=axis_ends(rows),
        slices=[each.shown for each in slices],
        about=about_of(rating),
        scores=expected_scores(standing),
        rank_shares=standing.rank_shares,
        settled=settled_pairs(standing),
        asked_next=asked_next(standing),
        about_annotators=about_annotators(people, is_one_group(rating)),
        annotators=annotators,
        favourites=favourite_rows(rating.named_favourites),
        contested=contested,
        groups=groups_of(rating),
        observed=observed_columns(standing.fit, standing.look.level),
        fitted=fitted_in_words(standing, rating.share),
        words=words_of(words_used(rating, rows, annotators)),
    )


def words_used(
    rating: Rating, rows: Sequence[Row], annotators: Sequence[Row]
) -> set[str]:
    """Return the words that stand on this page and not on every one."""
    is_combined = rating.share is not None
    is_davidson = rating.standing.fit.model.name == "davidson"
    verdicts = {row["verdict"] for row in annotators}
    # Then the page says so: nobody is anomalous or has a favourite.
    is_nothing_found = verdicts == {"ordinary"}
    has_favourites = len(rating.named_favourites.get("annotator", ())) > 0
    used = {
        "Before": "elo_before" in rows[0],
        "Change": "elo_change" in rows[0],
        "Combined": is_combined,
        "Davidson": is_davidson and not is_combined,
        "Agreement": bool(annotators),
        "Anomalous": is_nothing_found or verdicts & {"anomalous", "suspect"},
        "Differs": "differs" in verdicts,
        "Favourite": is_nothing_found or has_favourites,
        "Contested": any(row["contested"] for row in rows),
        "Two groups": rating.groups.members
        or (is_nothing_found and is_one_group(rating)),
    }
    return {word for word, is_used in used.items() if is_used}


def downloaded(content: dict[str, Any], slices: Sequence[BySlice]) -> str:
    """Return the data that a reader can download: the rating's JSON, and boards by slice.

    Of the favourites only those that are flagged: the others, every annotator by every
    competitor, can take more room than all the rest.
    """
    data = dict(content)
    data["favourites"] = [row for row in content["favourites"] if row["flagged"]]
    if slices:
        data["boards"] = {each.by: each.rows for each in slices}
        data["slice_gaps"] = {each.by: records(each.gaps) for each in slices}
    return json_text(data, NOWHERE)


def about_of(rating: Rating) -> About | None:
    """Return what the page shows of facts about the competitors."""
    if rating.about is None:
        return None
    names, frontier = rating.votes.competitors, rating.price_frontier
    return about_competitors(rating.about, names, frontier, rating.elo)


def is_one_group(rating: Rating) -> bool:
    """Whether two groups of annotators were looked for, and not found."""
    return rating.groups.p_value is not None and not rating.groups.members


def groups_of(rating: Rating) -> TwoGroups | None:
    """Return the two groups of annotators, and the gaps between their boards."""
    if not rating.groups.members:
        return None
    votes = rating.groups.label(rating.known_votes)
    model = replace(PRESETS["davidson"], name="by group", strength_by=(GROUP,))
    fit = fit_model(votes, model=model)
    look = rating.standing.look
    gaps = level_gap_columns(fit, GROUP, SMALLER, LARGER, look)
    sentence = describe_groups(rating.groups, rating.annotator_columns)
    return two_groups(rating.groups, sentence, gaps)


def flagged_competitors(columns: Columns) -> list[str]:
    """Return the competitors that a table flags."""
    return [row["competitor"] for row in records(columns) if row["flagged"]]
