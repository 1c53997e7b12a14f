"""Which layout a source has: formats by all that they write, then names, then values.

1.  A format is there if all its columns are (``names_finder`` and the like).
2.  Where two columns' words say who won (``winner, loser``; ``candidate_chosen,
    candidate_not_chosen``), each row lists a winner and a loser.
3.  Two competitors need a result: the column, or columns, that ``winner=`` names; a usual
    name whose values tell who won; a one-hot winner, counts, raters, scores; the only column
    whose values tell it.
4.  Rankings, in rows or in columns.
5.  A square table whose rows and columns have the same names is a matrix of wins.

What is none of these is refused, with what values suggest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations

from bayes_arena.errors import MOST_SHOWN, VotesError, listing
from bayes_arena.reading.cells import names_in_cells
from bayes_arena.reading.columns import (
    DRAWN_COUNTS,
    INITIAL_SCORES,
    LOST_COUNTS,
    SCORES,
    TIES,
    TIMES,
    WINS,
    WON_COUNTS,
    has_word,
    words,
)
from bayes_arena.reading.finding import (
    IDS,
    NO_RESULTS,
    competitors,
    loser_beside,
    usual_winners,
    winner_by_values,
    winner_column,
    winner_columns,
    winners_by_values,
    without_header,
)
from bayes_arena.reading.labels import (
    FIRST_WINS,
    NUMBER,
    SECOND_WINS,
    UNPLAYED,
    meanings_of,
)
from bayes_arena.reading.layouts import (
    BY_NAME,
    FORMATS,
    RANKED,
    RANKINGS,
    RANKS,
    Layout,
    named_layout,
    one_hot_columns,
    rater_columns,
)
from bayes_arena.reading.options import Options
from bayes_arena.reading.roles import Roles
from bayes_arena.reading.sheet import Sheet
from bayes_arena.reading.tables import MARGINS
from bayes_arena.reading.values import are_texts
from bayes_arena.said import Said, Use, joined
from bayes_arena.votes.votes import TIE

type Found = tuple[Layout, Roles]

MOST_LABELS = 12  # different values of a column that may hold labels
LEAST_TOLD = (
    0.5  # share of the rows in which a column of a usual name has to tell who won
)


def choose(sheet: Sheet, options: Options) -> Found:
    """Return the layout of a source, and the roles of its columns."""
    if options.layout is not None:
        return named_layout(sheet, options)
    ways = (find_format, find_winners_and_losers, find_results, find_ranks, find_square)
    for way in ways:
        found = way(sheet, options)
        if found is not None:
            return found
    raise VotesError(unrecognised(sheet, options))


def first_of(names: Sequence[str], sheet: Sheet, options: Options) -> Found | None:
    """Return the first of some layouts whose columns are there."""
    for name in names:
        roles = BY_NAME[name].find(sheet, options)
        if roles is not None:
            return BY_NAME[name], roles
    return None


def find_format(sheet: Sheet, options: Options) -> Found | None:
    """Find a format of an arena, a judge or a platform."""
    return first_of([layout.name for layout in FORMATS], sheet, options)


def find_ranks(sheet: Sheet, options: Options) -> Found | None:
    """Find rankings, in rows, columns or cells, where no option names competitors."""
    if options.a is not None or options.b is not None:
        return None
    known = ("rankings", "rank-columns", "orders", "nested-ranks")
    return first_of(known, sheet, options)


def find_square(sheet: Sheet, options: Options) -> Found | None:
    """Find a square table: its first column holds the names of all others."""
    first, *others = sheet.header.names or ("",)
    rows = without_margins(sheet.texts.get(first, ()))
    columns = without_margins(others)
    if options != Options() or len(columns) < 2 or rows != columns:
        return None
    return named_layout(sheet, replace(options, layout="win-matrix"))


def without_margins(names: Iterable[str]) -> list[str]:
    """Return names in order, without those of totals."""
    return sorted(name for name in names if name.casefold() not in MARGINS)


def find_winners_and_losers(sheet: Sheet, options: Options) -> Found | None:
    """Find two columns whose words say that the one lists who won, the other who lost.

    Columns called won and lost, wins and losses, W and L are counts if they hold numbers
    that are no ids; texts that were chosen and rejected name no competitors.
    """
    pair = columns_of_winners(sheet, options)
    if pair is None:
        return None
    won, lost = pair
    if are_counts(sheet, won, lost):
        return None
    require_names(sheet, won, lost)
    roles = Roles(a=won, b=lost)
    times = sheet.header.first(TIMES, roles.taken)
    if options.weight is None and times is not None:
        return BY_NAME["win-counts"], replace(roles, weight=times)
    return BY_NAME["winner-loser"], roles


def columns_of_winners(sheet: Sheet, options: Options) -> tuple[str, str] | None:
    """Return the columns of winners and losers, by options or by their words."""
    header = sheet.header
    winner = winner_column(sheet, options)
    if options.a is not None and options.b is not None:
        a, b = header.column(options.a, "a"), header.column(options.b, "b")
        if options.winner is None:
            return header.won_and_lost(a, b)
        loser = loser_beside(Roles(a=a, b=b), winner or "")
        return (winner, str(loser)) if winner and loser else None
    if any(given is not None for given in (options.a, options.b, options.baseline)):
        return None
    if header.pair_of_competitors():
        return None
    pair = header.winner_and_loser() or winners_by_structure(sheet)
    if pair is None:
        return None
    return pair if options.winner is None or winner in pair else None


def winners_by_structure(sheet: Sheet) -> tuple[str, str] | None:
    """Return the only two columns that say who won and who lost, and share names.

    Columns called chosen and rejected alone come last, as they may hold texts.
    """
    pairs = (sheet.header.won_and_lost(*two) for two in combinations(sheet.texts, 2))
    found = list(dict.fromkeys(filter(None, pairs)))
    named = [pair for pair in found if sheet.share(*pair) and are_names(sheet, pair)]
    longer = [pair for pair in named if any(len(words(name)) > 1 for name in pair)]
    candidates = longer or named or found
    return candidates[0] if len(candidates) == 1 else None


def are_names(sheet: Sheet, pair: tuple[str, str]) -> bool:
    """Whether two columns hold names."""
    return all(map(sheet.holds_names, pair))


def are_counts(sheet: Sheet, won: str, lost: str) -> bool:
    """Whether columns called won and lost hold numbers of games, and no ids."""
    if not (has_word(won, WON_COUNTS) and has_word(lost, LOST_COUNTS)):
        return False
    if not (sheet.holds_numbers(won) and sheet.holds_numbers(lost)):
        return False
    return not (has_word(won, ("id",)) or sheet.share_as_ids(won, lost))


def require_names(sheet: Sheet, won: str, lost: str) -> None:
    """Refuse texts in place of names: answers of which one was chosen."""
    if are_texts(sheet.values(won)) or are_texts(sheet.values(lost)):
        raise VotesError(
            f"{won!r} and {lost!r} hold texts and no names: nothing says which system wrote "
            "them. Add the names of the systems as two columns."
        )


def find_results(sheet: Sheet, options: Options) -> Found | None:
    """Find two competitors and a result."""
    roles = competitors(sheet, options)
    if roles is None:
        return None
    if options.winner is None:
        found = usual_result(sheet, roles)
        return found and with_options(sheet, found)
    columns = winner_columns(sheet, options)
    if columns is not None:
        return several_results(sheet, roles, columns)
    winner = winner_column(sheet, options)
    if winner is None:
        return None
    if winner in roles.sides:
        raise VotesError(lists_winners(roles, winner))
    return with_options(sheet, with_winner(roles, winner))


def lists_winners(roles: Roles, winner: str) -> Said:
    """Say that a competitor's column is no result, unless it lists who won."""
    said = f"{winner!r} is the column of a competitor. If it lists who won each vote: "
    loser = loser_beside(roles, winner)
    return (said, Use(a=winner, b=str(loser), layout="winner-loser"), ".")


def with_options(sheet: Sheet, found: Found) -> Found:
    """Return a choice of several where the cells of a pair name more than two."""
    layout, roles = found
    if layout.name != "pair-cell" or roles.pair is None:
        return found
    winners = sheet.values(roles.results["winner"])
    names = names_in_cells(sorted(sheet.cells(roles.pair)), winners)
    if all(len(several) == 2 for several in names):
        return found
    return BY_NAME["choices"], replace(roles, pair=None, choice=roles.pair)


def with_winner(roles: Roles, winner: str) -> Found:
    """Return the layout of votes with a column of winners."""
    name = "votes" if roles.pair is None else "pair-cell"
    return BY_NAME[name], replace(roles, results={"winner": winner})


def usual_result(sheet: Sheet, roles: Roles) -> Found | None:
    """Find the result by usual names, whose values tell it; else by values."""
    winners = usual_winners(sheet, roles.taken)
    numeric = numeric_result(sheet, roles)
    if len(winners) == 1 and numeric is None:
        return with_winner(roles, winners[0])
    if roles.a is not None and roles.b is not None:
        pair = roles.a, roles.b
        told = [w for w in winners if sheet.share_told(w, pair) >= LEAST_TOLD]
        if told:
            return with_winner(roles, told[0])
    if numeric is not None:
        return numeric
    if winners:
        return with_winner(roles, winners[0])
    by_values = winner_by_values(sheet, roles)
    return None if by_values is None else (BY_NAME["votes"], by_values)


def numeric_result(sheet: Sheet, roles: Roles) -> Found | None:
    """Find a one-hot winner, counts of wins, verdicts of raters, or scores by usual names."""
    header = sheet.header
    if columns := one_hot_columns(header):
        return with_columns("one-hot", roles, columns)
    counts = header.counts()
    are_named = header.pair(WINS) is not None
    if counts and (are_named or all(map(sheet.holds_numbers, counts[:2]))):
        return with_columns("wins", roles, counts)
    if len(raters := rater_columns(header)) > 1:
        return with_columns("raters", roles, raters)
    if scores := header.scores():
        return with_columns("two-scores", roles, scores)
    return None


def with_columns(name: str, roles: Roles, columns: Sequence[str]) -> Found:
    """Return the layout of votes with several columns of results."""
    layout = BY_NAME[name]
    if name == "raters":
        return layout, replace(
            roles, of_annotators={column: column for column in columns}
        )
    return layout, replace(
        roles, results=dict(zip(layout.results, columns, strict=False))
    )


def several_results(sheet: Sheet, roles: Roles, columns: Sequence[str]) -> Found:
    """Return the layout of the columns that ``winner=`` names: scores, counts or verdicts."""
    if not all(map(sheet.holds_numbers, columns)):
        return with_columns("raters", roles, columns)
    if len(columns) == 2 and all(is_score(column) for column in columns):
        return with_columns("two-scores", roles, columns)
    if len(columns) == 3 and all(
        words(column)[:1] == ("winner",) for column in columns
    ):
        return with_columns("one-hot", roles, columns)
    if len(columns) in (2, 3) and all(is_count(column) for column in columns):
        return with_columns("wins", roles, columns)
    raise VotesError(joined(*ask_for_numbers(columns, {})))


def is_score(column: str) -> bool:
    """Whether a column is called after goals, points or another score."""
    return has_word(column, SCORES) or column.casefold() in INITIAL_SCORES


def is_count(column: str) -> bool:
    """Whether a column is called after wins, losses or ties."""
    return has_word(column, (*WINS, *TIES, *WON_COUNTS, *LOST_COUNTS, *DRAWN_COUNTS))


def ask_for_numbers(columns: Sequence[str], named: dict[str, str]) -> Iterator[Said]:
    """Ask what two or three columns of numbers are; ``named`` are further options."""
    winner = tuple(columns)
    yield f"{listing(map(repr, columns))} hold numbers. "
    if len(winner) == 2:
        yield ("If these are scores, of which the higher wins: ",)
        yield (Use(**named, winner=winner, layout="two-scores"), ". ")
    yield "If they are numbers of wins and ties: " if len(winner) > 2 else "Of wins: "
    yield (Use(**named, winner=winner, layout="wins"), ". ")


def unrecognised(sheet: Sheet, options: Options) -> Said:
    """Say which columns are missing, what may be in their place, and how to name it."""
    columns = f"The columns are {listing(sheet.header.names)}. "
    roles = competitors(sheet, options)
    if roles is None:
        nobody = "No columns are recognised as the two competitors. "
        return joined(nobody, columns, *no_competitors(sheet))
    a, b = roles.sides
    if lacks_header(sheet, a, b):
        return header_missing(sheet, a, b)
    pair = listing(map(repr, roles.columns().values()))
    said = f"{pair} are the competitors, but no column is recognised as the result. "
    return joined(said, columns, *may_be_result(sheet, roles, {}))


def lacks_header(sheet: Sheet, a: str, b: str) -> bool:
    """Whether the names of two columns are values of them."""
    return {a, b} <= sheet.values(a) | sheet.values(b)


def header_missing(sheet: Sheet, a: str, b: str) -> Said:
    """Say that the first row is no header."""
    told = winners_by_values(sheet, Roles(a=a, b=b))
    winner = told[0] if told else None
    return without_header(sheet.header.names, (a, b), winner, sheet.file)


def no_competitors(sheet: Sheet) -> Iterator[Said]:
    """Say which columns share names, or rank; else that votes name two competitors."""
    pair = likely_competitors(sheet)
    ranked = likely_ranking(sheet)
    counts = sheet.header.counts()
    first = sheet.header.names[:2]
    if all(map(NUMBER.fullmatch, first)) and len(first) > 1:
        yield (header_missing(sheet, *first),)
    elif pair is not None and lacks_header(sheet, *pair):
        yield (header_missing(sheet, *pair),)
    elif pair is not None:
        a, b = pair
        shared = listing(sorted(sheet.values(a) & sheet.values(b)))
        yield f"{a!r} and {b!r} share names ({shared}). "
        yield from may_be_result(sheet, Roles(a=a, b=b), {"a": a, "b": b})
    elif ranked is not None:
        yield (
            "If ",
            f"{ranked['winner']!r} ranks: ",
            Use(layout="rankings", **ranked),
            ".",
        )
    elif counts and all(map(sheet.holds_numbers, counts)):
        yield f"{listing(map(repr, counts))} hold numbers of games of one competitor a row; "
        yield "votes need both that met."
    else:
        yield ("Name them with ", Use("a"), " and ", Use("b"), ", and the result with ")
        yield (Use("winner"), ".")


def likely_competitors(sheet: Sheet) -> tuple[str, str] | None:
    """Return the two columns of names that share most of them."""
    names = [column for column in sheet.texts if sheet.holds_names(column)]
    best, most = None, 0.0
    for a, b in combinations(names, 2):
        first, second = sheet.values(a), sheet.values(b)
        share = len(first & second) / len(first | second)
        if share > most:
            best, most = (a, b), share
    return best


def likely_ranking(sheet: Sheet) -> dict[str, str] | None:
    """Return the columns of competitors, of numbers, and of what tells rankings apart.

    In each ranking a competitor stands once, beside others.
    """
    numbers = [column for column in sheet.texts if sheet.holds_numbers(column)]
    usual = [column for column in numbers if has_word(column, (*RANKS, *SCORES))]
    found = []
    for ranking, a in permutations(sheet.texts, 2):
        values = [column for column in usual or numbers if column not in (a, ranking)]
        if values and sheet.holds_names(a) and sheet.are_groups(ranking, a):
            is_usual = has_word(a, RANKED) + has_word(ranking, RANKINGS)
            found.append((is_usual, {"a": a, "b": ranking, "winner": values[0]}))
    return max(found, key=lambda each: each[0])[1] if found else None


def numbers_of_both(sheet: Sheet, columns: Sequence[str]) -> Sequence[str]:
    """Return two columns of numbers whose names differ in the side; else all, if few.

    Few are two or three.  Identifiers, and what tells time, are no such numbers.
    """
    likely = [column for column in columns if not has_word(column, (*IDS, *NO_RESULTS))]
    numbers = [column for column in likely if sheet.holds_numbers(column)]
    for pair in sheet.header.pairs_alike():
        if set(pair) <= set(numbers):
            return pair
    counts = [column for column in numbers if sheet.holds_counts(column)]
    return counts if len(counts) in (2, 3) else ()


def nested_labels(sheet: Sheet, roles: Roles) -> list[str]:
    """Return the paths to values in objects that are labels of who won."""
    return [
        path
        for path, values in sheet.leaves.items()
        if (meanings := {*meanings_of(values, roles.sides, {}).values()})
        - {TIE, UNPLAYED}
        <= FIRST_WINS | SECOND_WINS
        and meanings & (FIRST_WINS | SECOND_WINS)
    ]


def values_of(sheet: Sheet, column: str) -> frozenset[str]:
    """Return the values of a column, or at the end of a path."""
    return sheet.leaves.get(column, sheet.values(column))


def may_be_result(sheet: Sheet, roles: Roles, named: dict[str, str]) -> Iterator[Said]:
    """Say which columns may hold the result, and how to name each.

    ``named`` are the options that name the competitors, as far as they have to be typed.
    """
    found = usual_result(sheet, roles)
    if named and found is not None:
        yield ("If they are the competitors: ", Use(**named), ".")
        return
    told = [*winners_by_values(sheet, roles), *nested_labels(sheet, roles)]
    for column in told[:MOST_SHOWN]:
        yield f"{column!r} may hold the result ({listing(sorted(values_of(sheet, column)))}): "
        yield (Use(**named, winner=column), ". ")
    others = [column for column in sheet.texts if column not in roles.taken]
    others = [column for column in others if column not in sheet.nested]
    numbers = numbers_of_both(sheet, others)
    labels = [
        column for column in others if 2 <= len(sheet.values(column)) <= MOST_LABELS
    ]
    if not told and numbers:
        yield from ask_for_numbers(numbers, named)
    elif not told and labels:
        for column in labels[:MOST_SHOWN]:
            yield f"{column!r} holds {listing(sorted(sheet.values(column)))}. "
        yield ("If one is the result: ", Use(**named, winner=labels[0]), ". ")
    if roles.pair is None:
        first = Use(**named, layout="winner-loser")
        yield ("If each row lists the winner first: ", first, ".")
