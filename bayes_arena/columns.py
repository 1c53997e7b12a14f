"""Every column of every table: its name, what it means, and how people see it.

Dataframes, CSV and JSON have columns under these names and in this order.  A screen shows
those that have a heading, some of them two in a cell; what a column means stands here once,
for ``--explain``, the page and the reference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bayes_arena.tables import Columns, Shown

type Text = Callable[[Any], str]
MOST_NEEDED = 100_000  # votes on a pair, beyond which their number says nothing more


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
    meaning : str
        In a few words, of the column beside it, too; none where the name says it all.
    heading : str
        On a screen; none for a column that is not shown, or beside another.
    text : callable
        How its values are written on a screen.
    beside : str
        The column that a cell holds, too.
    joint : callable
        How the two are written together.
    spare : int
        Place in which columns are left out of a narrow screen, the least first; 0 for
        never.
    is_optional : bool
        Whether some tables do without it.
    """

    name: str
    meaning: str = ""
    heading: str = ""
    text: Text = str
    beside: str = ""
    joint: Callable[[str, str], str] = "{} {}".format
    spare: int = 0
    is_optional: bool = False


type Table = tuple[Column, ...]


def number(form: str) -> Text:
    """Return how numbers are written; nothing for nan."""
    return lambda value: "" if math.isnan(value) else format(value, form)


def span(mark: str) -> Callable[[str, str], str]:
    """Return how the ends of a range are written: once where they are the same."""
    return lambda first, last: first if first == last else f"{first}{mark}{last}"


def votes_needed(count: float) -> str:
    """Write a number of votes; in words where it is beyond what anybody would ask for."""
    if math.isinf(count):
        return "too many"
    if count > MOST_NEEDED:
        return f"over {MOST_NEEDED:,}"
    return number(",.0f")(count)


def in_brackets(first: str, second: str) -> str:
    """Write a number, and a second one in brackets; nothing where there is none."""
    return f"{first} ({second})" if first else ""


URL = "url"  # a column of facts that holds addresses
WHOLE, SHARE, SIGNED = number("z.0f"), number(".2f"), number("+z.0f")


def interval(spare: int) -> Table:
    """Return the columns of an interval."""
    lower = Column(
        "lower",
        "ends of a range that holds the true value with the probability `level`",
        "{level} interval",
        WHOLE,
        beside="upper",
        joint=span(" … "),
        spare=spare,
    )
    return lower, Column("upper")


def with_error(name: str, meaning: str, text: Text, error: str) -> Table:
    """Return the column of a score, and that of its standard error."""
    heading = name.replace("_", " ")
    meaning = f"{meaning}; and the standard error"
    score = Column(name, meaning, heading, text, beside=error, joint="{} ± {}".format)
    return score, Column(error)


def held_out_scores() -> Table:
    """Return the columns of the scores of votes held out, and of their differences."""
    meanings = {
        "log_score": "of a vote held out, in nats; higher is better",
        "squared_error": "of the expected score of a vote held out; lower is better",
        "auc": "share of decided votes on the right side, ranked by prediction",
    }
    table: Table = ()
    for name, meaning in meanings.items():
        table += with_error(name, meaning, number(".4f"), f"{name}_se")
    for name in meanings:
        about = "difference from the first model"
        table += with_error(f"{name}_diff", about, number(".4f"), f"{name}_diff_se")
    return table


BOARD: Table = (
    Column("rank", "1 for the best; empty below `min_votes`", "rank", WHOLE, spare=5),
    Column("competitor", heading="competitor"),
    Column(
        "elo",
        "strength by the average vote: 400 points more mean ten wins to one loss, ties as "
        "half wins; 1000 is the mean of those that have a rank",
        "Elo",
        WHOLE,
    ),
    *interval(spare=4),
    Column(
        "rank_lower",
        "ranks that the competitor's own uncertainty allows, with the same probability; "
        "those whose ranges overlap need not be equally good",
        "rank range",
        WHOLE,
        beside="rank_upper",
        joint=span("–"),
        spare=3,
    ),
    Column("rank_upper"),
    Column("votes", "votes, or the sum of their weights", "votes", WHOLE, spare=2),
    Column("wins"),
    Column("losses"),
    Column("ties"),
    Column("p_best", "probability of being the best of all that have a rank"),
    Column("rank_before", is_optional=True),
    Column(
        "elo_before",
        "score and rank on the former board, on the scale of this one; or with the votes "
        "that were left out",
        "before",
        WHOLE,
        beside="rank_before",
        joint=in_brackets,
        spare=1,
        is_optional=True,
    ),
    Column(
        "elo_change",
        "of the score since the former board, among the competitors on both",
        "change",
        SIGNED,
        spare=2,
        is_optional=True,
    ),
    Column(
        "change_lower",
        "ends of the interval of the change; none where there are no new votes",
        "{level} change",
        SIGNED,
        beside="change_upper",
        joint=span(" … "),
        spare=1,
        is_optional=True,
    ),
    Column("change_upper", is_optional=True),
    Column(
        "changed",
        "whether the change is sure; on one board in twenty where nobody changed, any is",
        is_optional=True,
    ),
)
MORE_VOTES = Column(
    "more_votes",
    "on the two, as the others came, until their order is settled; 0 if it is, and none "
    "if that takes other prompts",
    "more votes",
    votes_needed,
    spare=3,
)
FRONTIER: Table = (
    Column("competitor", heading="competitor"),
    Column("price", "as the table about competitors has it", "price", number(".10g")),
    Column("elo", "score of the board", "Elo", WHOLE),
    *interval(spare=1),
    Column(
        "p_frontier",
        "probability of the frontier: that nobody cheaper, or equally cheap, is better",
        "P(frontier)",
        SHARE,
    ),
)
PAIRS: Table = (
    Column("first", heading="first"),
    Column("second", heading="second"),
    Column("gap", "Elo points by which the first is ahead", "Elo gap", WHOLE),
    *interval(spare=4),
    Column(
        "p_ahead",
        "probability that the first is stronger",
        "P(first ahead)",
        number(".3f"),
        spare=5,
    ),
    Column(
        "score",
        "share of votes that the first is expected to get, ties as half votes",
        "score",
        SHARE,
        spare=1,
    ),
    Column("votes", "votes on the two", "votes", WHOLE, spare=2),
    MORE_VOTES,
    Column("points", "of the first in the votes on the two, ties as half"),
    Column("expected", "points that the ranking lets expect of these votes"),
    Column(
        "p_unexplained",
        "chance of such points, or further off, by a ranking: at most this",
    ),
    Column("flagged", "whether it is said: one in twenty of these is false, at most"),
)
NEXT_PAIRS: Table = (
    Column("first", heading="first"),
    Column("second", heading="second"),
    Column(
        "p_ahead",
        "probability that the first is stronger",
        "P(first ahead)",
        SHARE,
        spare=3,
    ),
    Column("gap", "Elo points by which the first is ahead", "Elo gap", WHOLE, spare=2),
    Column("votes", "votes on the two", "votes", WHOLE, spare=1),
    MORE_VOTES,
    Column("worth", "of a vote on the pair, relative to the best pair"),
)
ANNOTATORS: Table = (
    Column("annotator", heading="annotator"),
    Column(
        "verdict",
        "anomalous (P of .8, ten votes, a fault), has a favourite, suspect (P of .5), "
        "differs (a ranking of its own), ordinary",
        "verdict",
    ),
    Column("why", "what speaks for the verdict", "why", spare=3),
    Column(
        "reason",
        "its kind: copies, favourite, reversed, ties, side, chance, loose, own ranking, "
        "opposed",
    ),
    Column(
        "p_anomaly",
        "probability that the agreement is below .4 of the median annotator's; it does "
        "not count favourites or copied votes",
        "P",
        SHARE,
        spare=2,
    ),
    Column(
        "agreement",
        "how much more often the better of two gets the vote than the worse: 1 is always "
        "with the others, 0 is chance, below 0 is against them",
    ),
    Column("lower", "ends of the interval of the agreement", beside="upper"),
    Column("upper"),
    Column(
        "theta",
        "discrimination: 1 on average, 0 for votes by chance, negative for reversed votes",
    ),
    Column("ties", "share of ties"),
    Column("side", "share of the decided votes that went to the first side"),
    Column("votes", heading="votes", text=WHOLE, spare=1),
    Column(
        "annotator_group",
        "smaller or larger: of two groups who rank differently",
        "group",
        spare=4,
        is_optional=True,
    ),
    Column(
        "theta_of_sum_one",
        "theta as the paper has it: the sum over annotators is 1",
        "theta / M",
        number(".4f"),
        is_optional=True,
    ),
    Column(
        "flagged_by_theta",
        "whether theta is at or below 0: the paper's rule",
        is_optional=True,
    ),
    Column(
        "own_maker",
        "preference for competitors of its own maker, in logits",
        "own maker",
        number("+.2f"),
        is_optional=True,
    ),
    Column("own_lower", "ends of its interval", beside="own_upper", is_optional=True),
    Column("own_upper", is_optional=True),
)
FAVOURITES: Table = (
    Column("annotator"),
    Column("competitor"),
    Column("direction", "for the competitor, or against"),
    Column("votes", "of the annotator on the competitor"),
    Column("wins", "of the competitor among them"),
    Column("score", "its wins, and half its ties"),
    Column("expected", "the score expected from all other votes"),
    Column("p_value", "of a score as far from it"),
    Column("flagged", "whether it is far beyond chance"),
)
CONTESTED: Table = (
    Column("competitor"),
    Column("disagreement", "1 is far from the median competitor, and usual"),
    Column("flagged", "whether it is above 8"),
)
ELPD, SE = with_error(
    "elpd",
    "log score of votes left out one at a time, summed, in nats; higher is better",
    number(".1f"),
    "se",
)
ELPD_DIFF, DSE = with_error(
    "elpd_diff", "difference from the best model", number(".1f"), "dse"
)
COMPARISON: Table = (
    Column("model", heading="model"),
    Column("rank", heading="rank"),
    *(ELPD, ELPD_DIFF, SE, DSE),
    Column(
        "weight",
        "share of the model in the best mixture of predictions",
        "weight",
        SHARE,
    ),
    Column(
        "pareto_k",
        "above .7 the estimate is unreliable: hold votes out",
        "pareto k",
        SHARE,
    ),
)
HELD_OUT: Table = (Column("model", heading="model"), *held_out_scores())
DIAGNOSIS: Table = (
    Column("check", heading="check"),
    Column("status", "ok; note: the ranking stands; problem: it may not", "status"),
    Column("finding", heading="finding"),
    Column("advice", "what follows for the board", "advice"),
)
ROUND: Table = (
    Column("round", heading="round"),
    Column("annotators", heading="annotators"),
    Column("excluded", "annotators with theta at or below epsilon", "excluded"),
    Column("waiting", "annotators with delta votes or fewer", "waiting"),
)
TABLES = {
    "leaderboard": BOARD,
    "frontier": FRONTIER,
    "pairs": PAIRS,
    "next_pairs": NEXT_PAIRS,
    "annotators": ANNOTATORS,
    "favourites": FAVOURITES,
    "contested": CONTESTED,
    "compare": COMPARISON,
    "held_out": HELD_OUT,
    "diagnose": DIAGNOSIS,
}


def of_facts(names: Sequence[str]) -> Table:
    """Return columns of facts about competitors: on a narrow screen the last goes first.

    An address is no text for a screen.
    """
    table: Table = ()
    for place, name in enumerate(names, 1):
        heading = "" if name.lower() == URL else literal(name)
        table += (Column(name, heading=heading, text=fact, spare=-place),)
    return table


def literal(name: str) -> str:
    """Return a name as a heading without gaps."""
    return name.replace("{", "{{").replace("}", "}}")


def fact(value: str | float | None) -> str:
    """Write a fact: text as it is, numbers as they were, nothing where it is missing."""
    if value is None or isinstance(value, str):
        return value or ""
    return number(".10g")(value)


def empty(table: Table) -> Columns:
    """Return the columns of a table without rows."""
    return {column.name: [] for column in table if not column.is_optional}


def shown(table: Table, columns: Columns, **words: str) -> Shown:
    """Return the columns that have a heading, as texts; words fill gaps in headings."""
    texts = {}
    for column in table:
        if column.heading and column.name in columns:
            texts[column.heading.format(**words)] = cells(column, columns)
    return texts


def cells(column: Column, columns: Columns) -> list[str]:
    """Return the texts of a column, with those of the column beside it."""
    texts = [column.text(value) for value in columns[column.name]]
    if column.beside not in columns:
        return texts
    others = map(column.text, columns[column.beside])
    pairs = zip(texts, others, strict=True)
    return [column.joint(first, second) for first, second in pairs]


def spared(table: Table, **words: str) -> list[str]:
    """Return the headings that a narrow screen may do without, the first to go first."""
    order = sorted((column.spare, column.heading) for column in table if column.spare)
    return [heading.format(**words) for _, heading in order]


def meanings(table: Table, columns: Columns) -> list[str]:
    """Return a line for each column whose name does not say it all."""
    known = {}
    for column in table:
        if column.meaning and column.name in columns:
            names = [name for name in (column.name, column.beside) if name in columns]
            known[", ".join(names)] = column.meaning
    width = max(map(len, known), default=0)
    return [f"{names:<{width}}  {meaning}" for names, meaning in known.items()]


def meaning(table: Table, name: str) -> str:
    """Return what a column means, as a sentence."""
    text = next(column.meaning for column in table if column.name == name)
    return f"{text[0].upper()}{text[1:]}."
