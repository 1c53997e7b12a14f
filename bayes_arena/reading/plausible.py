"""Whether columns that options name, or values suggest, hold competitors and a result.

Asked on all votes, as a board must never come out of a column that holds no result.  Whoever
knows better names the layout, and nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayes_arena.errors import VotesError, listing
from bayes_arena.reading.columns import (
    COMPETITORS,
    OTHER_PAIRS,
    SIDES,
    WINNERS,
    Header,
    has_word,
    is_usual_winner,
    phrases,
    words,
)
from bayes_arena.reading.counting import Coded
from bayes_arena.reading.finding import IDS, NO_RESULTS, without_header
from bayes_arena.reading.labels import NUMBER
from bayes_arena.reading.opening import Opened
from bayes_arena.reading.options import Options
from bayes_arena.reading.sheet import DATE
from bayes_arena.reading.values import are_texts
from bayes_arena.said import Use
from bayes_arena.votes.votes import FIRST, SECOND

MANY = 10  # votes in which some competitor occurs twice


def require_votes(votes: Coded, opened: Opened, options: Options) -> None:
    """Raise a VotesError where columns hold no competitors, or no result."""
    roles = opened.roles
    if options.layout is not None or not isinstance(roles.a, str):
        return
    if not isinstance(roles.b, str):
        return
    require_competitors(votes, opened, (roles.a, roles.b), options)
    winner = roles.results.get("winner")
    if winner is not None and opened.layout.write is None:
        require_result(votes, opened, winner)


def require_competitors(
    votes: Coded, opened: Opened, pair: tuple[str, str], options: Options
) -> None:
    """Refuse texts, names in a header, and columns that nothing but an option calls so."""
    a, b = pair
    names = votes.pairs.competitors
    if are_texts(names):
        raise VotesError(
            f"{a!r} and {b!r} hold texts, not names of competitors: nothing says which "
            "system wrote them. Add the names of the systems as two columns."
        )
    if set(pair) <= set(names) and not are_usual(a, b):
        winner = opened.roles.results.get("winner")
        header = opened.header.names
        raise VotesError(without_header(header, pair, winner, opened.file))
    is_named = options.a is not None or options.b is not None
    if not is_named or are_competitors(votes, pair, opened.header):
        return
    values = [
        listing(names_in(votes, codes)) for codes in (votes.pairs.i, votes.pairs.j)
    ]
    said = (
        f"Nothing says that {a!r} ({values[0]}) and {b!r} ({values[1]}) hold competitors: "
        "they share no names, and neither their own names nor the winners tell. If they do: "
    )
    raise VotesError((said, Use(layout=opened.layout.name), "."))


def names_in(votes: Coded, codes: np.ndarray) -> list[str]:
    """Return the names of the competitors in a column."""
    return [votes.pairs.competitors[k] for k in np.unique(codes[codes >= 0])]


def are_competitors(votes: Coded, pair: tuple[str, str], header: Header) -> bool:
    """Whether two columns share names, are called so, or the winners are named after both."""
    a, b = pair
    if {FIRST, SECOND} <= {*votes.outcome[votes.is_named]}:
        return True
    names = votes.pairs.competitors
    is_usual = are_usual(a, b)
    if all(map(NUMBER.fullmatch, names)):
        are_ids = has_word(a, IDS) and has_word(b, IDS) and are_alike(a, b)
        return is_usual or are_ids
    if all(map(DATE.fullmatch, names)):
        return False
    if is_usual or header.won_and_lost(a, b):
        return True
    n_votes = len(votes.pairs.i)
    nobody_returns = n_votes >= MANY and len(names) == 2 * n_votes
    if nobody_returns or is_half(a, b, header) or is_half(b, a, header):
        return False
    shared = np.intersect1d(votes.pairs.i, votes.pairs.j)
    return bool((shared >= 0).any()) or are_alike(a, b)


def are_usual(a: str, b: str) -> bool:
    """Whether two columns have names that competitors usually have."""
    pair = " ".join(words(a)), " ".join(words(b))
    is_known = pair in OTHER_PAIRS or pair[::-1] in OTHER_PAIRS
    return is_known or bool(rests_alike(a, b) & set(COMPETITORS))


def are_alike(a: str, b: str) -> bool:
    """Whether the names of two columns differ only in a side."""
    return bool(rests_alike(a, b))


def rests_alike(a: str, b: str) -> set[str]:
    """Return what the names of two columns share besides the sides that they name."""
    return {
        rest
        for rest, one in phrases(words(a))
        for other_rest, other in phrases(words(b))
        if rest == other_rest and ((one, other) in SIDES or (other, one) in SIDES)
    }


def is_half(a: str, b: str, header: Header) -> bool:
    """Whether another column than ``b`` stands to ``a`` as the other side of a usual pair."""
    usual = header.pair_of_competitors()
    return usual is not None and a in usual and b not in usual


def require_result(votes: Coded, opened: Opened, winner: str) -> None:
    """Refuse a column of winners that tells something else, by its name or its labels."""
    if denies_result(winner, opened.header, is_named=bool(votes.is_named.any())):
        said = f"{winner!r} may tell something else than who won. If it is the result: "
        raise VotesError((said, Use(winner=winner, layout=opened.layout.name), "."))
    for label, column in other_columns(votes, opened):
        sides = " and ".join(map(repr, opened.roles.sides))
        said = (
            f"The label {label!r} names the column {column!r}, and the competitors are "
            f"{sides}. Name the columns of both, or say what it means: "
        )
        blank = Use(outcomes={label: "..."})
        raise VotesError((said, blank, " (model_a, model_b or tie)."))


def denies_result(column: str, header: Header, *, is_named: bool) -> bool:
    """Whether a column cannot hold a result, by its name.

    It is called a time, or something else that is no result; or it tells something of one
    side, as ``R_Stance`` beside ``B_Stance``, or ``winner_hand`` beside ``loser_hand``, and
    its values are no names.
    """
    if is_usual_winner(column):
        return False
    is_time = any(word.endswith(("time", "date")) for word in words(column))
    if is_time or has_word(column, NO_RESULTS):
        return True
    if is_named:
        return False
    has_loser = any(header.won_and_lost(column, name) for name in header.names)
    has_counterpart = any(column in pair for pair in header.pairs_alike())
    return has_loser or (has_counterpart and not has_word(column, WINNERS))


def other_columns(votes: Coded, opened: Opened) -> Iterator[tuple[str, str]]:
    """Yield labels of who won that name a column, and one that is of no competitor's side."""
    roles = opened.roles
    for code, label in enumerate(votes.labels):
        column = opened.header.by_words.get(" ".join(words(label)))
        if column is None or column in roles.sides:
            continue
        rows = (votes.label == code) & ~votes.is_named
        decided = votes.outcome[rows & np.isin(votes.outcome, (FIRST, SECOND))]
        if len(decided) and not same_side(column, roles.sides[decided[0]]):
            yield label, column


def same_side(column: str, competitor: str) -> bool:
    """Whether two columns name the same side: ``response_a`` and ``model_a``."""
    known = {side for pair in SIDES for side in pair}
    first = {word for _, word in phrases(words(column)) if word in known}
    return any(word in first for _, word in phrases(words(competitor)))
