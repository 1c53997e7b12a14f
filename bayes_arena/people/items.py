"""What annotators judged: items, and their verdicts on them.

An item is a pair of competitors, on one prompt where prompts are known; a vote without one
is on an item of its own.
"""

from __future__ import annotations

from bayes_arena.arrays import Floats, Ints
from bayes_arena.votes.votes import FIRST, PROMPT, SECOND, TIE, Votes, distinct_rows


def verdicts_by_item(votes: Votes) -> tuple[Floats, Ints]:
    """Return votes for the earlier name, for the other and ties, (rows, 3), and items."""
    swapped = votes.i > votes.j
    verdicts = votes.folded.copy()
    verdicts[swapped] = verdicts[swapped][:, [SECOND, FIRST, TIE]]
    item = [votes.pair_code]
    if PROMPT in votes.slices:
        item.append(votes.level_or_row(PROMPT))
    return verdicts, distinct_rows(item)[1]
