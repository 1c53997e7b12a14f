"""Layouts: how arenas, judges and crowd platforms write votes down.

A layout finds the roles of its columns in the header, by their usual names or as the options
name them, and may rewrite them to one vote a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

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
from bayes_arena.reading.roles import Column, Constant, Roles
from bayes_arena.said import Said, Use, joined

type Finder = Callable[[Header, Options], Roles | None]
type Writer = Callable[[pl.DataFrame, Roles, bool], tables.Written]

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


# The baseline of arena-hard v0.1, whose records do not name it.
V01_BASELINE = Constant("gpt-4-0314")


@dataclass(frozen=True)
class Layout:
    """How votes are written down.

    Attributes
    ----------
    name : str
        Its name in ``layout=``.
    needs : text
        The columns that it needs, and the options that name them.
    find : callable
        Returns the roles of columns, None if some are not there.
    write : callable, optional
        Rewrites a table whose columns are called by their roles to one vote a row.
    is_sided : bool
        Whether ``a`` was shown first.
    is_weighted : bool
        Whether it writes weights or parts of votes.
    is_of_numbers : bool
        Whether its results are numbers of votes, or ranks; then no column is taken for
        numbers of votes.
    prompts : tuple of str
        Further usual names of its column of prompts.
    """

    name: str
    needs: Said
    find: Finder
    write: Writer | None = None
    is_sided: bool = True
    is_weighted: bool = False
    is_of_numbers: bool = False
    prompts: tuple[str, ...] = ()


def competitors(header: Header, options: Options) -> Roles | None:
    """Return the columns of the competitors: two, one and a constant, or one cell."""
    if options.baseline is not None:
        return against_baseline(header, options)
    if options.a is not None and options.b is not None:
        a, b = header.column(options.a, "a"), header.column(options.b, "b")
        return Roles(a=a, b=b)
    if options.b is not None:
        text = (Use("b"), " needs ", Use("a"), ": name both columns of competitors.")
        raise VotesError(text)
    if options.a is not None:
        return Roles(pair=header.column(options.a, "a"))
    if pair := header.pair_of_competitors():
        return Roles(a=pair[0], b=pair[1])
    cell = header.first(PAIR_CELLS)
    return Roles(pair=cell) if cell else None


def against_baseline(header: Header, options: Options) -> Roles | None:
    """Return the column of the competitors that met the baseline."""
    pair = header.pair_of_competitors()
    if options.a is None and pair:
        raise VotesError(
            (
                Use("baseline"),
                f" is for votes that name one competitor; {pair[0]!r} and {pair[1]!r} name "
                "both. Leave it out, or name one column with ",
                Use("a"),
                ".",
            )
        )
    a = option_column(header, options, "a") or header.first(MODELS)
    return Roles(a=a, b=Constant(str(options.baseline))) if a else None


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
    if met is None or met.pair is not None:
        return None
    winner = winner_of(header, options, met.taken)
    if winner in met.taken:
        loser = met.b if winner == met.a else met.a
        return Roles(a=winner, b=loser)
    return replace(met, results={"winner": winner}) if winner else None


def pair_and(
    usual: Callable[[Header], Sequence[str] | None], *results: str, least: int = 2
) -> Finder:
    """Return a finder of a pair and several columns of its results."""

    def find(header: Header, options: Options) -> Roles | None:
        met = competitors(header, options)
        columns: Sequence[str] | None = winner_columns(header, options)
        if columns is None and options.winner is None:
            columns = usual(header)
        if not met or not columns or not least <= len(columns) <= len(results):
            return None
        return replace(met, results=dict(zip(results, columns, strict=False)))

    return find


def one_hot_columns(header: Header) -> Sequence[str] | None:
    """Return three columns called winner of which one is 1."""
    columns = header.counts()
    return columns if columns and words(columns[0])[0] == "winner" else None


def find_winner_and_loser(header: Header, options: Options) -> Roles | None:
    """Find a winner and a loser."""
    if options.a is not None and options.b is not None and options.winner is None:
        return competitors(header, options)
    if any(given is not None for given in (options.a, options.b, options.winner)):
        return None
    won = header.winner_and_loser()
    return Roles(a=won[0], b=won[1]) if won else None


def find_win_counts(header: Header, options: Options) -> Roles | None:
    """Find a winner, a loser, and how often the one beat the other."""
    won = find_winner_and_loser(header, options)
    if won is None or header.pair_of_competitors():
        return None
    times = option_column(header, options, "weight") or header.first(TIMES, won.taken)
    return replace(won, weight=times) if times else None


def find_pair_cell(header: Header, options: Options) -> Roles | None:
    """Find a cell that names both competitors, and the winner."""
    cell = option_column(header, options, "a") or header.first(PAIR_CELLS)
    winner = winner_of(header, options, [cell or ""])
    return Roles(pair=cell, results={"winner": winner}) if cell and winner else None


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
    return replace(met, of_annotators={column: column for column in columns})


def find_rankings(header: Header, options: Options) -> Roles | None:
    """Find rankings with a row for each competitor ranked."""
    rank = winner_of(header, options, ()) if options.winner else header.first(RANKS)
    a = option_column(header, options, "a") or header.first(RANKED, [rank])
    ranking = option_column(header, options, "b") or header.first(RANKINGS, [rank, a])
    if ranking is None:
        ranking = header.first(ANNOTATORS, [rank, a])
    if not (a and rank and ranking):
        return None
    return Roles(a=a, results={"rank": rank}, ranking=ranking)


def find_rank_columns(header: Header, options: Options) -> Roles | None:
    """Find rankings with a column for each competitor."""
    columns = winner_columns(header, options)
    if columns is None:
        columns = [name for name in header.names if is_of_ranks(words(name))]
        if len(columns) < 3:
            return None
    return Roles(of_competitors={rank_of(column): column for column in columns})


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
    losers = {name: name for name in header.names if name != a}
    return Roles(a=a, of_competitors=losers)


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
        second: Column | None = option_column(header, options, "b")
        second = second or header.first((b,)) or baseline
        if options.baseline is not None:
            second = Constant(options.baseline)
        found = [column for column in results if column]
        if len(found) != len(winner) or not (first and second):
            return None
        labels = dict(zip(("winner", "winner_2"), found, strict=False))
        return Roles(a=first, b=second, results=labels)

    return find


def find_judge_arena(header: Header, options: Options) -> Roles | None:
    """Find preferences from 0, for A, to 1, for B."""
    known = {"model_A", "model_B", "preference"}
    if options.layout is None and not known <= {*header.names}:
        return None
    roles = find_votes(header, options)
    return roles if roles is not None and roles.results else None


def fields_finder(*names: str) -> Finder:
    """Return a finder of records that nest their votes."""

    def find(header: Header, options: Options) -> Roles | None:
        columns = {name: header.first((name,)) for name in (*names, *FIELDS)}
        if not all(columns[name] for name in names):
            return None
        return Roles(fields={name: c for name, c in columns.items() if c})

    return find


def with_pair(text: str, **columns: tuple[str, ...]) -> Said:
    """Say that a layout needs the two competitors and something else."""
    return (
        "the two competitors (",
        Use("a", "b"),
        "; or ",
        Use("a"),
        f" for one cell with both) and {text} (",
        Use(**columns) if columns else Use("winner"),
        ")",
    )


def in_columns(**columns: str) -> Said:
    """Say that a layout needs some columns, each named by an option."""
    parts: list[Said] = []
    for option, column in columns.items():
        parts += [", ", f"{column} (", (Use(option),), ")"]
    return joined(*parts[1:])


# fmt: off
LAYOUTS = (
    Layout("arena-hard", in_columns(a="the model", b="the baseline", winner="games"),
           names_finder("model", "baseline", "games", baseline=V01_BASELINE),
           records.arena_hard, prompts=("uid", "question id")),
    Layout("alpaca-eval", in_columns(a="generator_1", b="generator_2", winner="preference"),
           names_finder("generator 1", "generator 2", "preference"),
           records.alpaca_eval, is_sided=False, is_weighted=True),
    Layout("mt-bench", in_columns(a="model_1", b="model_2", winner="g1_winner,g2_winner"),
           names_finder("model 1", "model 2", "g 1 winner", "g 2 winner"), records.mt_bench),
    Layout("judge-arena", in_columns(a="model_A", b="model_B", winner="preference"),
           find_judge_arena, records.judge_arena, is_weighted=True),
    Layout("comparia", in_columns(a="model_a_name", b="model_b_name",
                                  winner="chosen_model_name,both_equal"),
           names_finder("model a name", "model b name", "chosen model name", "both equal"),
           records.comparia),
    Layout("open-webui", "the columns data and type", fields_finder("data", "type"),
           records.open_webui, is_sided=False, is_weighted=True),
    Layout("label-studio", "the columns data and annotations",
           fields_finder("data", "annotations"), records.label_studio),
    Layout("argilla", "the columns responses and metadata",
           fields_finder("responses", "metadata"), records.argilla, is_sided=False,
           is_weighted=True),
    Layout("win-counts", in_columns(a="the winner", b="the loser", weight="the wins"),
           find_win_counts, is_sided=False),
    Layout("votes", with_pair("the winner"), find_votes),
    Layout("one-hot", with_pair("three columns", winner=("FIRST", "SECOND", "TIE")),
           pair_and(one_hot_columns, "hot_a", "hot_b", "ties", least=3), tables.one_hot),
    Layout("wins", with_pair("their numbers of wins and ties",
                             winner=("FIRST", "SECOND", "TIES")),
           pair_and(Header.counts, "wins_a", "wins_b", "ties"), is_sided=False,
           is_of_numbers=True),
    Layout("winner-loser", in_columns(a="the winner", b="the loser"),
           find_winner_and_loser, is_sided=False),
    Layout("pair-cell", in_columns(a="the cell", winner="the winner"), find_pair_cell),
    Layout("raters", with_pair("the annotators' columns", winner=("FIRST", "SECOND", "...")),
           find_raters, tables.raters),
    Layout("two-scores", with_pair("their scores", winner=("FIRST", "SECOND")),
           pair_and(Header.scores, "score_a", "score_b"), tables.two_scores),
    Layout("rankings", in_columns(b="the ranking", a="the competitor", winner="the rank"),
           find_rankings, tables.rankings, is_sided=False, is_weighted=True,
           is_of_numbers=True),
    Layout("rank-columns", ("columns such as rank_A, rank_B, rank_C (",
                            Use(winner=("rank_A", "rank_B", "...")), ")"),
           find_rank_columns, tables.rank_columns, is_sided=False, is_weighted=True),
    Layout("win-matrix", ("names in the first column (", Use("a"),
                          "), and a column for each of them"),
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
    """Return the layout of some columns, and their roles."""
    if options.layout is not None:
        return named_layout(header, options)
    for layout in LAYOUTS[:-1]:  # any table of three columns might be a matrix
        roles = layout.find(header, options)
        if roles is not None:
            return layout, roles
    raise VotesError(unrecognised(header, options))


def named_layout(header: Header, options: Options) -> tuple[Layout, Roles]:
    """Return the layout that the user names, and the roles of its columns."""
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
        columns = f". The columns are {listing(header.names)}."
        raise VotesError(joined(f"The layout {name} needs ", layout.needs, columns))
    return layout, roles


def unrecognised(header: Header, options: Options) -> Said:
    """Say which columns are missing, and how to name them."""
    columns = f"The columns are {listing(header.names)}."
    met = competitors(header, options)
    if met is None:
        return (
            "No columns are recognised as the two competitors. Name them with ",
            Use("a"),
            " and ",
            Use("b"),
            ", and the winner's with ",
            Use("winner"),
            f". {columns}",
        )
    return (
        f"{listing(met.columns().values())} are the competitors, but no column is "
        "recognised as the winner. Name it with ",
        Use("winner"),
        f". {columns}",
    )


def annotator_of(header: Header, options: Options, roles: Roles) -> Column | None:
    """Return the column of annotators, or the constant that stands for it."""
    if (options.annotator or options.judge) and (roles.of_annotators or roles.fields):
        raise VotesError(
            (
                "Who voted stands in these records: leave out ",
                Use("judge"),
                " and ",
                Use("annotator"),
                ".",
            )
        )
    if options.judge is not None and options.annotator:
        raise VotesError(
            (Use("judge"), " and ", Use("annotator"), " both say who voted. Give one.")
        )
    column = header.first(ANNOTATORS, roles.taken)
    if options.judge is not None and column and options.annotator is None:
        raise VotesError(
            (
                Use(judge=options.judge),
                f" says who cast all votes, but the column {column!r} names annotators. "
                "Leave out ",
                Use("judge"),
                ", or remove the column.",
            )
        )
    if options.judge is not None:
        return Constant(options.judge)
    if options.annotator is False:
        return None
    return option_column(header, options, "annotator") or column
