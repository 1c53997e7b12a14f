"""Layouts: how arenas, judges and crowd platforms write votes down.

A layout finds the roles of its columns in the header, by their usual names or as the options
name them, and may rewrite them to one vote a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import polars as pl

from bayes_arena.errors import VotesError, did_you_mean, listing
from bayes_arena.reading import records, tables
from bayes_arena.reading.cells import are_orders, orders_in_cells
from bayes_arena.reading.columns import (
    ANNOTATORS,
    PAIR_CELLS,
    SCORES,
    TIMES,
    Header,
    Words,
    has_word,
    words,
)
from bayes_arena.reading.finding import (
    competitors,
    loser_beside,
    option_column,
    usual_winners,
    winner_column,
    winner_columns,
)
from bayes_arena.reading.options import Options
from bayes_arena.reading.roles import Column, Constant, Roles
from bayes_arena.reading.sheet import Sheet
from bayes_arena.said import Said, Use, joined

type Finder = Callable[[Sheet, Options], Roles | None]
type Writer = Callable[[pl.DataFrame, Roles, bool], tables.Written]

RANKED = (
    "competitor", "model", "system", "item", "candidate", "player", "team", "option",
    "name", "model name", "model id", "system name", "system id", "player name",
    "team name", "driver", "rider", "athlete", "runner", "contestant", "horse", "club",
    "provider", "llm", "generator",
)  # fmt: skip
RANKINGS = (
    "ranking", "ranking id", "ballot", "ballot id", "race", "race id", "list",
    "group", "contest", "voter", "event", "game", "game id", "match", "match id", "heat",
    "round", "question", "question id", "prompt", "prompt id", "item", "item id", "task",
    "respondent", "session", "trial", "poll", "set",
)  # fmt: skip
ORDERS = (  # of cells that hold all in their order
    "ranking", "rank order", "ranked list", "preference order", "ordering", "order", "ranks",
)  # fmt: skip
RANKS = ("rank", "place", "position", "ranking position", "finish", "ranked", "placing")
# Keys of objects that name a competitor, and that hold its rank or score.
NAME_KEYS = (
    "model",
    "model_name",
    "system",
    "competitor",
    "generator",
    "player",
    "name",
)
RANK_KEYS = ("rank", "ranking", "place", "position")
SCORE_KEYS = ("overall_score", "score", "rating", "points")
HOT = tables.HOT  # the columns of a one-hot winner
COUNTS = ("wins_a", "wins_b", "ties")
BOTH_SCORES = ("score_a", "score_b")
FIELDS = ("metadata", "meta", "id", "user id")  # of records that may be there, too
RATER = re.compile(
    r"(annotator|rater|judge|worker|labell?er|expert|reviewer|evaluator|coder|user)"
    r" (\d+|[a-z])( (winner|vote|label|choice|preference|verdict))?"
)


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
    results : tuple of str
        What its columns of results are called.
    has_mirrors : bool
        Whether a game may have two rows, one as each of the two saw it.
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
    results: tuple[str, ...] = ("winner",)
    has_mirrors: bool = False
    is_sided: bool = True
    is_weighted: bool = False
    is_of_numbers: bool = False
    prompts: tuple[str, ...] = ()


def find_votes(sheet: Sheet, options: Options) -> Roles | None:
    """Find a pair and its winner."""
    roles = competitors(sheet, options)
    if roles is None or roles.pair is not None:
        return None
    usual = next(iter(usual_winners(sheet, roles.taken)), None)
    winner = winner_column(sheet, options) if options.winner else usual
    return replace(roles, results={"winner": winner}) if winner else None


def pair_and(
    usual: Callable[[Header], Sequence[str] | None],
    results: Sequence[str],
    least: int = 2,
) -> Finder:
    """Return a finder of a pair and several columns of its results."""

    def find(sheet: Sheet, options: Options) -> Roles | None:
        roles = competitors(sheet, options)
        columns: Sequence[str] | None = winner_columns(sheet, options)
        if columns is None and options.winner is None:
            columns = usual(sheet.header)
        if not roles or not columns or not least <= len(columns) <= len(results):
            return None
        return replace(roles, results=dict(zip(results, columns, strict=False)))

    return find


def one_hot_columns(header: Header) -> Sequence[str] | None:
    """Return three columns called winner of which one is 1."""
    columns = header.counts()
    is_one_hot = columns and len(columns) == 3 and words(columns[0])[0] == "winner"
    return columns if is_one_hot else None


def find_winner_and_loser(sheet: Sheet, options: Options) -> Roles | None:
    """Find a winner and a loser; or a pair and who won it, where no side was shown first."""
    if options.a is not None and options.b is not None and options.winner is None:
        roles = competitors(sheet, options)
        won = sheet.header.won_and_lost(*roles.sides) if roles else None
        return Roles(a=won[0], b=won[1]) if won else roles
    won = sheet.header.winner_and_loser()
    if won and options.a is None and options.winner is None:
        return Roles(a=won[0], b=won[1])
    voted = find_votes(sheet, options)
    if voted is None:
        return competitors(sheet, options) if options.winner is None else None
    winner = voted.results["winner"]
    loser = loser_beside(voted, winner)
    return Roles(a=winner, b=loser) if loser else voted


def find_win_counts(sheet: Sheet, options: Options) -> Roles | None:
    """Find a winner, a loser, and how often the one beat the other."""
    won = find_winner_and_loser(sheet, options)
    if won is None:
        return None
    times = option_column(sheet, options, "weight")
    times = times or sheet.header.first(TIMES, won.taken)
    return replace(won, weight=times) if times else None


def find_pair_cell(sheet: Sheet, options: Options) -> Roles | None:
    """Find a cell that names both competitors, and the winner."""
    cell = option_column(sheet, options, "a") or sheet.header.first(PAIR_CELLS)
    usual = next(iter(usual_winners(sheet, [cell or ""])), None)
    winner = winner_column(sheet, options) if options.winner else usual
    return Roles(pair=cell, results={"winner": winner}) if cell and winner else None


def find_raters(sheet: Sheet, options: Options) -> Roles | None:
    """Find a pair, and a column of verdicts for each of several annotators."""
    roles = competitors(sheet, options)
    columns: Sequence[str] | None = winner_columns(sheet, options)
    if columns is None and options.winner is None:
        columns = rater_columns(sheet.header)
    if not roles or not columns or len(columns) < 2:
        return None
    return replace(roles, of_annotators={column: column for column in columns})


def rater_columns(header: Header) -> list[str]:
    """Return the columns that are called after numbered annotators."""
    return [name for name in header.names if RATER.fullmatch(" ".join(words(name)))]


def find_rankings(sheet: Sheet, options: Options) -> Roles | None:
    """Find rankings with a row for each competitor ranked."""
    header = sheet.header
    rank = winner_column(sheet, options) if options.winner else header.first(RANKS)
    value = "score" if rank and has_word(rank, SCORES) else "rank"
    a = option_column(sheet, options, "a") or header.first(RANKED, [rank])
    ranking = option_column(sheet, options, "b") or header.first(RANKINGS, [rank, a])
    if ranking is None:
        ranking = header.first(ANNOTATORS, [rank, a])
    if not (a and rank and ranking):
        return None
    return Roles(a=a, results={value: rank}, ranking=ranking)


def find_rank_columns(sheet: Sheet, options: Options) -> Roles | None:
    """Find rankings with a column for each competitor."""
    columns: Sequence[str] | None = winner_columns(sheet, options)
    if columns is None:
        columns = [name for name in sheet.header.names if is_of_ranks(words(name))]
        if len(columns) < 3:
            return None
    return Roles(of_competitors={rank_of(column): column for column in columns})


def is_of_ranks(words: Words) -> bool:
    """Whether a column holds the ranks of a competitor: ``rank_A``."""
    return len(words) > 1 and "rank" in (words[0], words[-1])


def rank_of(column: str) -> str:
    """Return whose ranks a column holds: ``rank_A`` those of A."""
    return re.sub(r"(?i)^rank[ _.:-]*|[ _.:-]*rank$", "", column.strip()) or column


def find_choices(sheet: Sheet, options: Options) -> Roles | None:
    """Find a cell that names the options, and the one that was chosen."""
    found = find_pair_cell(sheet, options)
    return None if found is None else replace(found, pair=None, choice=found.pair)


def find_orders(sheet: Sheet, options: Options) -> Roles | None:
    """Find a cell that names all in their order: called so, or with marks of it."""
    column = option_column(sheet, options, "a")
    named = [sheet.header.by_words.get(name) for name in ORDERS]
    likely = [c for c in named if c and orders_in_cells(sorted(sheet.cells(c)))]
    marked = [c for c in sheet.header.names if are_orders(sheet.cells(c))]
    column = column or next(iter([*likely, *marked]), None)
    return Roles(order=column) if column else None


def find_nested_ranks(sheet: Sheet, options: Options) -> Roles | None:
    """Find a column of lists of competitors, each with a rank or a score."""
    named = option_column(sheet, options, "a")
    for column in [named] if named else sheet.nested:
        objects = [o for value in sheet.records(column) for o in objects_in(value)]
        name = common_key(objects, NAME_KEYS)
        value = common_key(objects, (*RANK_KEYS, *SCORE_KEYS))
        if name and value:
            kind = "rank" if value in RANK_KEYS else "score"
            return Roles(fields={"competitors": column}, keys={"a": name, kind: value})
    return None


def objects_in(value: object) -> list[dict[str, object]]:
    """Return the objects of a list; nothing of anything else."""
    values = value if isinstance(value, list) else []
    return [each for each in values if isinstance(each, dict)]


def common_key(
    objects: Sequence[dict[str, object]], known: Sequence[str]
) -> str | None:
    """Return the first known key that all objects have."""
    has_all = (key for key in known if all(key in each for each in objects))
    return next(has_all, None) if objects else None


def find_promptfoo(sheet: Sheet, options: Options) -> Roles | None:
    """Find results of promptfoo, of which some were compared by select-best."""
    known = ("provider", "testIdx", "gradingResult")
    if not {*known} <= {*sheet.header.names}:
        return None
    fields = [*known, "prompt"] if "prompt" in sheet.header.names else known
    return Roles(fields={name: name for name in fields})


def find_matrix(sheet: Sheet, options: Options) -> Roles | None:
    """Take the first column as who won, and the others as whom they beat."""
    names = sheet.header.names
    if len(names) < 3:
        return None
    a = option_column(sheet, options, "a") or names[0]
    return Roles(a=a, of_competitors={name: name for name in names if name != a})


def names_finder(a: str, b: str, *winner: str) -> Finder:
    """Return a finder of the columns that a format names.

    Unless the format is named all of them have to be there; then options may name others.
    """

    def find(sheet: Sheet, options: Options) -> Roles | None:
        usual = sheet.header.by_words
        if options.layout is None and not usual.keys() >= {a, b, *winner}:
            return None
        first = option_column(sheet, options, "a") or usual.get(a)
        second = second_of_format(sheet, options, b)
        results = [usual.get(name) for name in winner]
        if options.winner is not None:
            column = winner_column(sheet, options)
            results = [column] if column else [*(winner_columns(sheet, options) or ())]
        found = [column for column in results if column]
        if not (first and second) or len(found) != len(winner):
            return None
        labels = dict(zip(("winner", "winner_2"), found, strict=False))
        return Roles(a=first, b=second, results=labels)

    return find


def second_of_format(sheet: Sheet, options: Options, b: str) -> Column | None:
    """Return the second competitor's column of a format, or the baseline that is named."""
    if options.baseline is not None:
        return Constant(options.baseline)
    return option_column(sheet, options, "b") or sheet.header.by_words.get(b)


def find_arena_hard(sheet: Sheet, options: Options) -> Roles | None:
    """Find the games of a model against the baseline, which records or an option name."""
    usual = sheet.header.by_words
    if options.layout is None and not are_games(sheet, usual.get("games")):
        return None
    model = option_column(sheet, options, "a") or usual.get("model")
    games = winner_column(sheet, options) or usual.get("games")
    if not (model and games):
        return None
    baseline = second_of_format(sheet, options, "baseline")
    if baseline is None:
        raise VotesError(
            (
                "These records of arena-hard do not name the baseline: name it with ",
                Use("baseline"),
                ". That of v0.1 was gpt-4-0314.",
            ),
            Use(baseline="gpt-4-0314"),
        )
    return Roles(a=model, b=baseline, results={"winner": games})


def are_games(sheet: Sheet, column: str | None) -> bool:
    """Whether a column holds lists of games with a score each, as arena-hard writes them."""
    if column is None:
        return False
    records = [value for value in sheet.records(column) if isinstance(value, list)]
    games = [game for record in records for game in record]
    return bool(games) and all(isinstance(g, dict) and "score" in g for g in games)


def find_judge_arena(sheet: Sheet, options: Options) -> Roles | None:
    """Find preferences from 0, for A, to 1, for B."""
    known = {"model_A", "model_B", "preference"}
    if options.layout is None and not known <= {*sheet.header.names}:
        return None
    roles = find_votes(sheet, options)
    return roles if roles is not None and roles.results else None


def fields_finder(*names: str) -> Finder:
    """Return a finder of records that nest their votes."""

    def find(sheet: Sheet, options: Options) -> Roles | None:
        columns = {name: sheet.header.first((name,)) for name in (*names, *FIELDS)}
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
FORMATS = (  # of arenas, judges and platforms: they are there as a whole or not at all
    Layout("arena-hard", in_columns(a="the model", b="the baseline", winner="games"),
           find_arena_hard, records.arena_hard, prompts=("uid", "question id")),
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
    Layout("promptfoo", "the columns provider, testIdx and gradingResult", find_promptfoo,
           records.promptfoo, is_sided=False, is_weighted=True),
)
LAYOUTS = (
    *FORMATS,
    Layout("win-counts", in_columns(a="the winner", b="the loser", weight="the wins"),
           find_win_counts, is_sided=False),
    Layout("votes", with_pair("the winner"), find_votes),
    Layout("one-hot", with_pair("three columns", winner=("FIRST", "SECOND", "TIE")),
           pair_and(one_hot_columns, HOT, least=3), tables.one_hot, results=HOT),
    Layout("wins", with_pair("their numbers of wins and ties",
                             winner=("FIRST", "SECOND", "TIES")),
           pair_and(Header.counts, COUNTS), results=COUNTS, has_mirrors=True,
           is_sided=False, is_of_numbers=True),
    Layout("winner-loser", in_columns(a="the winner", b="the loser"),
           find_winner_and_loser, is_sided=False),
    Layout("pair-cell", in_columns(a="the cell", winner="the winner"), find_pair_cell),
    Layout("choices", in_columns(a="the cell with the options", winner="the winner"),
           find_choices, tables.choices, is_sided=False, is_weighted=True),
    Layout("nested-ranks", ("a column of lists (", Use("a"), "), each of a competitor and "
                            "its rank or score"),
           find_nested_ranks, records.nested_ranks, is_sided=False, is_weighted=True),
    Layout("orders", in_columns(a="the cell with the order"),
           find_orders, tables.orders, is_sided=False, is_weighted=True),
    Layout("raters", with_pair("the annotators' columns", winner=("FIRST", "SECOND", "...")),
           find_raters, tables.raters),
    Layout("two-scores", with_pair("their scores", winner=("FIRST", "SECOND")),
           pair_and(Header.scores, BOTH_SCORES), tables.two_scores, results=BOTH_SCORES,
           has_mirrors=True),
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


def named_layout(sheet: Sheet, options: Options) -> tuple[Layout, Roles]:
    """Return the layout that the user names, and the roles of its columns."""
    name = str(options.layout)
    layout = BY_NAME.get(ALIASES.get(name, name))
    if layout is None:
        known = (*BY_NAME, *ALIASES)
        raise VotesError(
            f"No layout is called {name!r}.{did_you_mean(name, known)} "
            f"The layouts are {', '.join(known)}."
        )
    roles = layout.find(sheet, options)
    if roles is None:
        columns = f". The columns are {listing(sheet.header.names)}."
        raise VotesError(joined(f"The layout {name} needs ", layout.needs, columns))
    return layout, roles


def annotator_of(sheet: Sheet, options: Options, roles: Roles) -> Column | None:
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
    column = sheet.header.first(ANNOTATORS, roles.taken)
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
    return option_column(sheet, options, "annotator") or column
