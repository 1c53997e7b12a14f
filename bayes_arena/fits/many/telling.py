"""What there is to be told of many boards: a warning of a kind, however many boards it is of."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter

from bayes_arena.errors import ArenaError, FailedBoardsWarning, listing
from bayes_arena.fits.many.boards import Names

Told = tuple[Names, type[Warning], str]
"""A board, and the class and the text of a warning of it."""


def warn_of_boards(told: Iterable[Told], of: int) -> None:
    """Warn once of every kind: of how many boards, and what was said of the first.

    Parameters
    ----------
    told : iterable of Told
        Every warning of every board.
    of : int
        How many boards there are.
    """
    kind = itemgetter(1)
    for category, alike in groupby(sorted(told, key=lambda one: kind(one).__name__), kind):
        (first, _, text), *others = alike
        boards = {first, *(names for names, *_ in others)}
        text = f"{len(boards):,} of {of:,} boards, the first of them {' · '.join(first)}: {text}"
        warnings.warn(text, category, stacklevel=4)


def warn_of_failures(failed: Mapping[Names, ArenaError], of: int) -> None:
    """Warn of the boards that are missing, and why.

    Raises
    ------
    ArenaError
        If all are, that of the first.
    """
    if not failed:
        return
    if len(failed) == of:
        names, error = next(iter(failed.items()))
        others = f"all {of:,} failed" if of > 1 else "it was the only one"
        error.add_note(f"That was the board {' · '.join(names)}; {others}.")
        raise error
    listed = [f"{' · '.join(names)} ({error})" for names, error in failed.items()]
    warnings.warn(
        f"{len(failed):,} of {of:,} boards {'is' if len(failed) == 1 else 'are'} missing: {listing(listed)}. "
        "The others are not affected.",
        FailedBoardsWarning,
        stacklevel=3,
    )
