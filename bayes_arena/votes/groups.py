"""Groups of dependent votes: those by one annotator, on one prompt or from one ranking.

Groups are named by what their votes share, ``"annotator"`` or a slice of the cells. Votes of a group are not
independent, so leaving out a single vote understates the error on new groups: the other votes of its group remain.
Which split is right depends on the question: predicting votes of the same groups, or of groups not seen before.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bayes_arena.arrays import Floats, Ints, sum_by
from bayes_arena.errors import DependentVotesWarning, ModelError, listing, warn
from bayes_arena.votes.cells import Cells, slices_left, with_counts
from bayes_arena.votes.names import ANNOTATOR, ITEM, PROMPT

SAMPLED = (PROMPT, "ranking", ITEM)
"""Slices whose levels are a sample, so that a future vote has a new level; those of a category or language are not."""
PREPOSITIONS = {ANNOTATOR: "by", PROMPT: "on", "ranking": "from", ITEM: "on"}


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every cell.

    Attributes
    ----------
    over : str
        What the votes of a group share: ``"annotator"`` or a slice.
    names : tuple of str
        The groups that have votes, sorted; ``of_cell`` holds indices into them.
    """

    over: str
    names: tuple[str, ...]
    of_cell: Ints

    @property
    def label(self) -> str:
        """How a vote relates to its group: by an annotator, on a prompt."""
        return PREPOSITIONS.get(self.over, f"of the {self.over}")

    @property
    def size(self) -> int:
        """Number of groups."""
        return len(self.names)


def groups_of(cells: Cells, over: str) -> Groups:
    """Group the votes by annotator or by a slice."""
    if over == ANNOTATOR and cells.n_annotators:
        names, codes = cells.annotators, cells.annotator
    elif over in cells.slices:
        names, codes = cells.slice_names[over], cells.slices[over]
    else:
        known = [*([ANNOTATOR] if cells.n_annotators else []), *cells.slices]
        option = f"--{over} COLUMN" if over in (ANNOTATOR, PROMPT) else f"--slice {over}=COLUMN"
        raise ModelError(
            f"The votes cannot be grouped by {over!r}: they carry {listing(known) or 'no groups'}. Name its column "
            f"when reading them, {option}."
        )
    used, of_cell = np.unique(codes, return_inverse=True)
    return Groups(over, tuple(names[index] for index in used), of_cell)


def divide(cells: Cells, left_out: Floats) -> tuple[Cells, Cells]:
    """Split the votes into those kept and those left out, given the counts left out, shape (n_cells, 4).

    Competitors and annotators stay the same; each part keeps the levels of a slice on which it has votes.
    """
    kept, out = (with_counts(cells, counts) for counts in (cells.counts - left_out, left_out))
    return replace(kept, **slices_left(kept)), replace(out, **slices_left(out))


def shared(cells: Cells) -> list[str]:
    """Return the sampled slices in which at least half of the votes share their group with another vote."""
    found = []
    for over in SAMPLED:
        if over in cells.slices:
            groups, votes = groups_of(cells, over), np.ceil(cells.counts).sum(axis=1)
            of_group = sum_by(groups.of_cell, votes, groups.size)
            if 2 * of_group[of_group > 1].sum() >= of_group.sum():
                found.append(over)
    return found


def question(cells: Cells, over: str | None) -> str:
    """Say which votes are predicted when single votes (``over`` is None) or groups of them are left out."""
    if over is not None:
        return f"a vote {PREPOSITIONS.get(over, 'of')} a new {over}"
    known = [*([ANNOTATOR] if cells.n_annotators else []), *(name for name in SAMPLED if name in cells.slices)]
    same = " and ".join(f"{PREPOSITIONS[name]} the same {plural(name)}" for name in known)
    return f"another vote {same}".rstrip()


def warn_of_shared(cells: Cells) -> None:
    """Warn that single votes are left out although votes share a prompt or a ranking."""
    for over in shared(cells):
        those = plural(over)
        warn(
            f"Votes share {those}, so leaving out single votes measures how well further votes {PREPOSITIONS[over]} "
            f"these {those} are predicted, not votes {PREPOSITIONS[over]} new ones. For new {those} leave out whole "
            f"{those}: over={over!r} (--over {over}).",
            DependentVotesWarning,
        )


def plural(name: str) -> str:
    """Return the plural of what votes share."""
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"
