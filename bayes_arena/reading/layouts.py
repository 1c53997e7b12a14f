"""Layouts: how arenas, judges and crowd platforms write votes down.

A layout finds its columns in the header, by their usual names or as the options name them,
and may rewrite them to one vote a row.  Roles of columns:

``a, b`` or ``pair``        the competitors, in two columns or in one cell
``winner``                  the label of the outcome
``wins_a, wins_b, ties``    counts, or the three columns of a one-hot winner
``score_a, score_b``        the higher score wins
``rater:NAME``              the verdict of one annotator
``annotator, weight``       who voted, and how much a vote counts
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from bayes_arena.errors import VotesError, did_you_mean, listing
from bayes_arena.reading import records, tables
from bayes_arena.reading.columns import (
    ANNOTATORS,
    PAIR_CELLS,
    TIMES,
    WINNERS,
    Header,
    Words,
    words,
)
from bayes_arena.reading.options import Options

type Roles = dict[str, str]
type Finder = Callable[[Header, Options], Roles | None]
type Writer = Callable[[pl.DataFrame, tables.Noticed], pl.DataFrame]

MODELS = (
    "model", "generator", "system", "competitor", "candidate", "model a", "name",
    "llm",
)  # fmt: skip
RANKED = (
    "competitor", "model", "system", "item", "candidate", "player", "team", "option",
    "name",
)  # fmt: skip
RANKINGS = (
    "ranking", "ranking id", "ballot", "ballot id", "race", "race id", "list",
    "group", "contest", "voter", "event",
)  # fmt: skip
RANKS = ("rank", "place", "position", "ranking position", "finish")
FIELDS = ("metadata", "meta", "id", "user id")  # of records that may be there, too
RATER = re.compile(
    r"(annotator|rater|judge|worker|labell?er|expert|reviewer|evaluator|coder|user)"
    r" (\d+|[a-z])( (winner|vote|label|choice|preference|verdict))?"
)


class Constant(str):
    """A value that stands for a column."""

    __slots__ = ()


# The baseline of arena-hard v0.1, whose records do not name it.
V01_BASELINE = Constant("gpt-4-0314")


@dataclass(frozen=True)
class Layout:
    """How votes are written down.

    Attributes
    ----------
    name, needs : str
        Its name in ``layout=``; the columns that it needs, and the options that name them.
    find : callable
        Returns the column of every role, None if some are not there.
    write : callable, optional
        Rewrites a table whose columns are named by their roles to one vote a row; it may
        add remarks.
    is_sided : bool
        Whether ``a`` was shown first.
    is_weighted : bool
        Whether it writes weights or parts of votes.
    prompts : tuple of str
        Further usual names of its column of prompts.
    """

    name: str
    needs: str
    find: Finder
    write: Writer | None = None
    is_sided: bool = True
    is_weighted: bool = False
    prompts: tuple[str, ...] = ()


def competitors(header: Header, options: Options) -> Roles | None:
    """Return the columns of the competitors: two, one and a constant, or one cell."""
    if options.baseline is not None:
        pair = header.pair_of_competitors()
        if options.a is None and pair:
            raise VotesError(
                f"baseline= is for votes that name one competitor; {pair[0]!r} and "
                f"{pair[1]!r} name both. Leave it out, or name one column with a=."
            )
        a = option_column(header, options, "a") or header.first(MODELS)
        return {"a": a, "b": Constant(options.baseline)} if a else None
    if options.a is not None and options.b is not None:
        return {"a": header.column(options.a, "a"), "b": header.column(options.b, "b")}
    if options.b is not None:
        raise VotesError("b= needs a= beside it: name both columns of competitors.")
    if options.a is not None:
        return {"pair": header.column(options.a, "a")}
    if pair := header.pair_of_competitors():
        return {"a": pair[0], "b": pair[1]}
    cell = header.first(PAIR_CELLS)
    return {"pair": cell} if cell else None


def option_column(header: Header, options: Options, name: str) -> str | None:
    """Return the column that an option names, None if it names none."""
    given = getattr(options, name)
    return None if given is None else header.column(given, name)


def winner_columns(header: Header, options: Options) -> list[str] | None:
    """Return the columns that ``winner=`` names if it names several."""
    names = options.winner
    if isinstance(names, str):  # a name, or several with commas between
        names = () if names in header.names else names.split(",")
    if names is None or len(names) < 2:
        return None
    return [header.column(name.strip(), "winner") for name in names]


def winner_of(header: Header, options: Options, taken: Collection[str]) -> str | None:
    """Return the column of winners."""
    if options.winner is None:
        return header.first(WINNERS, taken)
    if winner_columns(header, options) is not None:
        return None
    return option_column(header, options, "winner")


def find_votes(header: Header, options: Options) -> Roles | None:
    """Find a pair and its winner; the loser's column beside the winner's will do."""
    met = competitors(header, options)
    if met is None or "pair" in met:
        return None
    columns = [column for column in met.values() if not isinstance(column, Constant)]
    winner = winner_of(header, options, columns)
    if winner in columns:
        loser = next((column for column in met.values() if column != winner), winner)
        return {"a": winner, "b": loser}
    return met | {"winner": winner} if winner else None


def pair_results_finder(
    usual: Callable[[Header], Sequence[str] | None], *roles: str, least: int = 2
) -> Finder:
    """Return a finder of a pair and several columns of its results."""

    def find(header: Header, options: Options) -> Roles | None:
        met = competitors(header, options)
        columns: Sequence[str] | None = winner_columns(header, options)
        if columns is None and options.winner is None:
            columns = usual(header)
        if not met or not columns or not least <= len(columns) <= len(roles):
            return None
        return met | dict(zip(roles, columns, strict=False))

    return find


def find_one_hot(header: Header, options: Options) -> Roles | None:
    """Find a pair and three columns of which one is 1: counts called winner."""
    roles = pair_results_finder(Header.counts, "hot_a", "hot_b", "ties", least=3)(
        header, options
    )
    return roles if roles and words(roles["hot_a"])[0] == "winner" else None


def find_winner_and_loser(header: Header, options: Options) -> Roles | None:
    """Find a winner and a loser."""
    if options.a is not None and options.b is not None and options.winner is None:
        return competitors(header, options)
    if any(given is not None for given in (options.a, options.b, options.winner)):
        return None
    won = header.winner_and_loser()
    return {"a": won[0], "b": won[1]} if won else None


def find_win_counts(header: Header, options: Options) -> Roles | None:
    """Find a winner, a loser, and how often the one beat the other."""
    won = find_winner_and_loser(header, options)
    if won is None or header.pair_of_competitors():
        return None
    times = option_column(header, options, "weight") or header.first(
        TIMES, won.values()
    )
    return won | {"weight": times} if times else None


def find_pair_cell(header: Header, options: Options) -> Roles | None:
    """Find a cell that names both competitors, and the winner."""
    cell = option_column(header, options, "a") or header.first(PAIR_CELLS)
    winner = winner_of(header, options, [cell or ""])
    return {"pair": cell, "winner": winner} if cell and winner else None


def find_raters(header: Header, options: Options) -> Roles | None:
    """Find a pair, and a column of verdicts for each of several annotators."""
    met = competitors(header, options)
    columns = winner_columns(header, options)
    if columns is None and options.winner is None:
        columns = [
            name for name in header.names if RATER.fullmatch(" ".join(words(name)))
        ]
    if not met or not columns or len(columns) < 2:
        return None
    return met | {f"rater:{column}": column for column in columns}


def find_rankings(header: Header, options: Options) -> Roles | None:
    """Find rankings with a row for each competitor ranked."""
    rank = winner_of(header, options, ()) if options.winner else header.first(RANKS)
    a = option_column(header, options, "a") or header.first(RANKED, [rank])
    ranking = option_column(header, options, "b") or header.first(RANKINGS, [rank, a])
    annotator = header.first(ANNOTATORS, [rank, a])
    if ranking is None:
        ranking = annotator
    return (
        {"a": a, "rank": rank, "ranking": ranking} if a and rank and ranking else None
    )


def find_rank_columns(header: Header, options: Options) -> Roles | None:
    """Find rankings with a column for each competitor."""
    columns = winner_columns(header, options)
    if columns is None:
        columns = [name for name in header.names if is_of_ranks(words(name))]
        if len(columns) < 3:
            return None
    return {f"rank:{rank_of(column)}": column for column in columns}


def is_of_ranks(words: Words) -> bool:
    """Whether a column holds the ranks of a competitor: ``rank_A``."""
    return len(words) > 1 and "rank" in (words[0], words[-1])


def rank_of(column: str) -> str:
    """Return whose ranks a column holds: ``rank_A`` those of A."""
    return re.sub(r"(?i)^rank[ _.:-]*|[ _.:-]*rank$", "", column.strip()) or column


def find_matrix(header: Header, options: Options) -> Roles | None:
    """Take the first column as who won, and the others as whom they beat."""
    if len(header.names) < 3:
        return None
    a = option_column(header, options, "a") or header.names[0]
    return {"a": a, **{f"loser:{name}": name for name in header.names if name != a}}


def names_finder(
    a: str, b: str, *winner: str, baseline: Constant | None = None
) -> Finder:
    """Return a finder of columns that a format names; ``baseline`` stands for no b."""

    def find(header: Header, options: Options) -> Roles | None:
        results = [header.first((name,)) for name in winner]
        if options.layout is None and not all(results):
            return None
        if options.winner is not None:
            column = winner_of(header, options, ())
            results = [column] if column else [*(winner_columns(header, options) or ())]
        first = option_column(header, options, "a") or header.first((a,))
        second = option_column(header, options, "b") or header.first((b,)) or baseline
        if options.baseline is not None:
            second = Constant(options.baseline)
        columns = (first, second, *results)
        if len(results) != len(winner) or not all(columns):
            return None
        roles = zip(("a", "b", "winner", "winner_2"), columns, strict=False)
        return {role: column for role, column in roles if column}

    return find


def find_judge_arena(header: Header, options: Options) -> Roles | None:
    """Find preferences from 0, for A, to 1, for B."""
    if options.layout is None and not {"model_A", "model_B", "preference"} <= {
        *header.names
    }:
        return None
    roles = find_votes(header, options)
    return roles if roles is not None and "winner" in roles else None


def fields_finder(*names: str) -> Finder:
    """Return a finder of records that nest their votes."""

    def find(header: Header, options: Options) -> Roles | None:
        columns = {name: header.first((name,)) for name in (*names, *FIELDS)}
        if not all(columns[name] for name in names):
            return None
        return {f"field:{name}": column for name, column in columns.items() if column}

    return find


PAIR_AND = "the two competitors (a=, b=; or a= for one cell with both) and "
# fmt: off
LAYOUTS = (
    Layout("arena-hard", "the model (a=), the baseline (b=, or its name: baseline=) and "
           "games (winner=)",
           names_finder("model", "baseline", "games", baseline=V01_BASELINE),
           records.arena_hard, prompts=("uid", "question id")),
    Layout("alpaca-eval", "generator_1 (a=), generator_2 (b=) and preference (winner=)",
           names_finder("generator 1", "generator 2", "preference"),
           records.alpaca_eval, is_sided=False, is_weighted=True),
    Layout("mt-bench", "model_1 (a=), model_2 (b=), g1_winner and g2_winner "
           "(winner=[first, second])",
           names_finder("model 1", "model 2", "g 1 winner", "g 2 winner"), records.mt_bench),
    Layout("judge-arena", "model_A (a=), model_B (b=) and preference (winner=)",
           find_judge_arena, records.judge_arena, is_weighted=True),
    Layout("comparia", "model_a_name (a=), model_b_name (b=), chosen_model_name and "
           "both_equal (winner=[chosen, both_equal])",
           names_finder("model a name", "model b name", "chosen model name", "both equal"),
           records.comparia),
    Layout("open-webui", "the columns data and type", fields_finder("data", "type"),
           records.open_webui, is_sided=False, is_weighted=True),
    Layout("label-studio", "the columns data and annotations",
           fields_finder("data", "annotations"), records.label_studio),
    Layout("argilla", "the columns responses and metadata",
           fields_finder("responses", "metadata"), records.argilla, is_sided=False,
           is_weighted=True),
    Layout("win-counts", "the winner (a=), the loser (b=) and the number of wins (weight=)",
           find_win_counts, is_sided=False),
    Layout("votes", PAIR_AND + "the winner (winner=)", find_votes),
    Layout("one-hot", PAIR_AND + "three columns (winner=[first, second, tie])",
           find_one_hot, tables.one_hot),
    Layout("wins", PAIR_AND + "their numbers of wins and ties "
           "(winner=[first, second, ties])",
           pair_results_finder(Header.counts, "wins_a", "wins_b", "ties"), is_sided=False),
    Layout("winner-loser", "the winner (a=) and the loser (b=)", find_winner_and_loser,
           is_sided=False),
    Layout("pair-cell", "the cell (a=) and the winner (winner=)", find_pair_cell),
    Layout("raters", PAIR_AND + "the annotators' columns (winner=[first, second, ...])",
           find_raters, tables.raters),
    Layout("two-scores", PAIR_AND + "their scores (winner=[first, second])",
           pair_results_finder(Header.scores, "score_a", "score_b"), tables.two_scores),
    Layout("rankings", "the ranking (b=), the competitor (a=) and the rank (winner=)",
           find_rankings, tables.rankings, is_sided=False, is_weighted=True),
    Layout("rank-columns", "columns such as rank_A, rank_B, rank_C (winner=[...])",
           find_rank_columns, tables.rank_columns, is_sided=False, is_weighted=True),
    Layout("win-matrix", "names in the first column (a=), and a column for each of them",
           find_matrix, tables.win_matrix, is_sided=False, is_weighted=True),
)
# fmt: on
BY_NAME = {layout.name: layout for layout in LAYOUTS}
# Formats whose columns are those of another layout.
ALIASES = {
    "arena-33k": "votes",
    "arena-55k": "one-hot",
    "arena-100k": "votes",
    "arena-140k": "votes",
    "arena-expert-5k": "votes",
    "mt-bench-pairs": "votes",
    "evalica": "votes",
    "crowd-kit": "votes",
    "toloka": "votes",
    "annotator-columns": "raters",
}


def choose(header: Header, options: Options) -> tuple[Layout, Roles]:
    """Return the layout of some columns, and the column of each role."""
    if options.layout is not None:
        return named_layout(header, options)
    for layout in LAYOUTS[:-1]:  # any table of three columns might be a matrix
        roles = layout.find(header, options)
        if roles is not None:
            return layout, roles
    raise VotesError(unrecognised(header, options))


def named_layout(header: Header, options: Options) -> tuple[Layout, Roles]:
    """Return the layout that the user names, and the column of each role."""
    name = str(options.layout)
    layout = BY_NAME.get(ALIASES.get(name, name))
    if layout is None:
        known = (*BY_NAME, *ALIASES)
        raise VotesError(
            f"No layout is called {name!r}.{did_you_mean(name, known)} "
            f"The layouts are {', '.join(known)}."
        )
    roles = layout.find(header, options)
    if roles is None:
        raise VotesError(
            f"The layout {name} needs {layout.needs}. "
            f"The columns are {listing(header.names)}."
        )
    return layout, roles


def unrecognised(header: Header, options: Options) -> str:
    """Say which columns are missing, and how to name them."""
    columns = f"The columns are {listing(header.names)}."
    met = competitors(header, options)
    if met is None:
        return (
            "No columns are recognised as the two competitors. Name them with a= and b=, and "
            f"the winner's with winner=. {columns}"
        )
    return (
        f"{listing(met.values())} are the competitors, but no column is recognised as the "
        f"winner. Name it with winner=. {columns}"
    )


def annotator_of(
    header: Header, options: Options, taken: Mapping[str, str]
) -> str | None:
    """Return the column of annotators, or the constant that stands for it."""
    given = options.annotator or options.judge
    if given and any(role.startswith(("rater:", "field:")) for role in taken):
        raise VotesError(
            "Who voted stands in these records: leave out judge= and annotator=."
        )
    if options.judge is not None and options.annotator:
        raise VotesError("judge= and annotator= both say who voted. Give one.")
    column = header.first(ANNOTATORS, taken.values())
    if options.judge is not None and column and options.annotator is None:
        raise VotesError(
            f"judge={options.judge!r} says who cast all votes, but the column {column!r} "
            "names annotators. Leave out judge=, or remove the column."
        )
    if options.judge is not None:
        return Constant(options.judge)
    if options.annotator is False:
        return None
    return option_column(header, options, "annotator") or column
