"""How many votes, competitors, annotators and prompts there are: the same numbers wherever they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_arena.votes.names import PROMPT

if TYPE_CHECKING:
    from bayes_arena.votes.cells import Cells


def sizes(cells: Cells) -> dict[str, float]:
    """Return the numbers of votes, competitors and annotators: ``n_votes, n_competitors, n_annotators``.

    Where they apply, also the ``design_effect`` of importance weights, ``n_prompts``, and ``n_invalid``, the votes left
    out as invalid.
    """
    votes = int(cells.n_votes) if cells.n_votes.is_integer() else cells.n_votes
    size = {"n_votes": votes, "n_competitors": cells.n_competitors, "n_annotators": cells.n_annotators}
    if cells.design_effect != 1:
        size["design_effect"] = cells.design_effect
    if PROMPT in cells.slice_names:
        size["n_prompts"] = len(cells.slice_names[PROMPT])
    return size | ({"n_invalid": sum(cells.dropped.values())} if cells.dropped else {})
