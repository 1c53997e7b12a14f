"""Decoding of votes: labels of winners to outcomes and grades, columns to text and numbers, problems of invalid votes.

The table has one row for every group of equal votes, or for every vote.

A label names its grade by arrows (``A>>B``: the second) or in words (``A is much better``). Words are ranked by how
much they say, and those that occur anywhere in a source are its grades, the weakest being the first: with ``slightly``
and ``much`` alone there are two. Numbers on a scale have no meaning of their own: ``outcomes=`` gives it to them
(``{"-2": "model_a_2", ...}``).

A source in which some verdicts are graded and others say only who won, or some by arrows and others in words, has mixed
scales: such a win may be of any grade, and is invalid unless grades are folded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import narwhals as nw
import polars as pl

from bayes_arena.errors import LONGEST_VALUE, ColumnError, VotesError, shortened
from bayes_arena.votes.layouts.columns import column_names
from bayes_arena.votes.layouts.tables import MARGIN
from bayes_arena.votes.names import FEATURE, MOST_GRADES
from bayes_arena.votes.outcomes import LOSS, OF_NAME, OUTCOMES, TIE, WIN, n_outcomes, turned as mirrored, wins_by
from bayes_arena.votes.sources.frames import Frame, in_polars

ARROWS = {
    label.format(arrow * grade): wins_by(grade)[winner]
    for grade in range(1, MOST_GRADES + 1)
    for label, arrow, winner in (("a{}b", ">", 0), ("b{}a", "<", 0), ("b{}a", ">", 1), ("a{}b", "<", 1))
}
"""Labels with arrows: ``a>>b`` and ``b<<a`` are ``model_a_2``."""
WON, LOST = ("model_a", "left", "first", "home"), ("model_b", "right", "second", "away")
UNGRADED = (*WON, *LOST)
"""Labels that say who won, but not by how much."""
LABELS: Mapping[str, str] = {
    **dict.fromkeys(WON, "model_a"),
    **dict.fromkeys(LOST, "model_b"),
    **dict.fromkeys(("tie", "tied", "draw", "same", "equal"), "tie"),
    **dict.fromkeys(("tie (bothbad)", "both_bad", "bothbad"), "both_bad"),
    **ARROWS,
    **dict.fromkeys(("a=b", "b=a"), "tie"),
}
"""Labels in lower case. A graded verdict is one vote whatever its grade: it is still one judgement."""
CODE = re.compile(r"-?\d+(\.\d+)?")
MOST_CODES = 9
"""Largest number of different codes of a verdict: a nine-point scale."""
NAMES = ("a", "b", "winner", "annotator")
"""Columns that hold names."""
COUNTS = {"wins_a": "model_a", "wins_b": "model_b", "ties": "tie"}
"""Columns of counted votes, and what they count."""
MOST = 1e100
"""Largest weight or count; its reciprocal is the smallest positive one. Sums of squares stay finite."""
Grades = Literal["keep", "fold"] | Sequence[float]
"""What to do with grades; numbers are the least margins of each."""
WORDS = {
    "slightly": 1, "marginally": 1, "somewhat": 1, "a bit": 1, "a little": 1,
    "": 2,
    "much": 3, "significantly": 3, "far": 3, "a lot": 3, "considerably": 3, "strongly": 3, "clearly": 3,
}  # fmt: skip
"""How much words say, of a win."""
WORDED = re.compile(
    r"(?:(?:model|response|answer|assistant|system|output) )?(?P<side>a|b|1|2|left|right|first|second)"
    rf"(?: is| was)?(?: (?P<words>{'|'.join(filter(None, WORDS))}))? better(?: than .*)?"
)
FIRST = ("a", "1", "left", "first")
EQUAL = re.compile(r"(?:both (?:are )?)?(?:about|roughly|nearly) the same|equally good|no difference|neither is better")


def as_label(winner: pl.Expr) -> pl.Expr:
    """Write a column of winners as the table of labels has them: ``[[A >> B]]`` is ``a>>b``, and ``1.0`` is ``1``."""
    text = winner.cast(pl.String).str.strip_chars()
    bare = text.str.strip_prefix("[[").str.strip_suffix("]]").str.strip_chars().str.to_lowercase()
    return bare.str.replace_all(r"\s*([<>=]+)\s*", "${1}").str.replace(r"^(-?\d+)\.0$", "${1}")


def meanings_of(labels: Collection[str]) -> list[dict[str, str]]:
    """Return the possible meanings of labels that are numeric codes; none is assumed.

    0 may be a tie or the first competitor, and a scale may rise towards either.
    """
    if not labels or len(labels) > MOST_CODES or not all(CODE.fullmatch(label) for label in labels):
        return []
    codes = sorted(labels, key=float)
    if codes in (["0", "1", "2"], ["1", "2"]):
        zero_ties = {"0": "tie", "1": "model_a", "2": "model_b"}
        counted = [zero_ties] if len(codes) == 2 else [zero_ties, {"0": "model_a", "1": "model_b", "2": "tie"}]
        return [{code: meaning[code] for code in codes} for meaning in counted]
    middle = 0.0 if float(codes[0]) < 0 else (float(codes[0]) + float(codes[-1])) / 2
    steps = {code: float(code) - middle for code in codes}
    return [
        {code: wins_by(math.ceil(abs(step)))[step * way > 0] if step else "tie" for code, step in steps.items()}
        for way in (1, -1)
    ]


def decode(
    groups: pl.DataFrame, labels: Mapping[str, str], *, normalise: bool = False, ungraded: Collection[str] = ()
) -> pl.DataFrame:
    """Add ``outcome`` (code), a numeric ``weight`` and the ``problem`` of every group (null when it is valid).

    Names are normalised if asked, so that groups may become equal. If there are ``ungraded`` labels of winners, these
    and the winners' names are invalid.
    """
    names = [name for name in (*NAMES, "id") if name in groups.columns]
    keys = groups.with_columns(as_text(groups, name, normalise=normalise) for name in names)
    unknown, of_winner, scored = "unknown winner", dict[str, pl.Expr](), pl.lit("score" in groups.columns)
    if "winner" in names:
        codes = {label: OF_NAME[outcome] for label, outcome in labels.items()}
        winner, written = pl.col("winner"), keys["winner"].unique().drop_nulls()
        told = written.to_frame().select(as_label(winner).replace_strict(codes, default=None, return_dtype=pl.Int8))
        by_label = winner.replace_strict(written, told["winner"], default=None, return_dtype=pl.Int8)
        by_name = pl.when(winner == pl.col("a")).then(WIN).when(winner == pl.col("b")).then(LOSS).cast(pl.Int8)
        keys = keys.with_columns(by_label=by_label, by_name=by_name)
        keys = keys.with_columns(outcome=pl.coalesce("by_label", "by_name"))
        of_winner = {"missing winner": winner.is_null(), "ambiguous winner": pl.col("by_label") != pl.col("by_name")}
        if ungraded:
            of_winner["verdict off the scale"] = pl.col("by_name").is_not_null() | as_label(winner).is_in(
                list(ungraded)
            )
        if "score" in groups.columns:  # counts where there is no winner
            scored, of_winner["missing winner"] = winner.is_null(), winner.is_null() & pl.col("score").is_null()
            keys = keys.with_columns(outcome=pl.when(scored).then(WIN).otherwise("outcome").cast(pl.Int8))
    elif "winner_a" in groups.columns:
        marks = ("marked_a", "marked_b", "marked_tie")
        keys = keys.with_columns(
            marked_a=_is_hot("winner_a"), marked_b=_is_hot("winner_b"), marked_tie=_is_hot("winner_tie")
        )
        marked = pl.when("marked_a").then(WIN).when("marked_b").then(LOSS).when("marked_tie").then(TIE).cast(pl.Int8)
        total = pl.sum_horizontal(pl.col(mark).cast(pl.Int8) for mark in marks)
        complete = pl.all_horizontal(pl.col(mark).is_not_null() for mark in marks)
        keys = keys.with_columns(outcome=pl.when(complete & (total == 1)).then(marked))
        unknown = "not one winner"
    else:
        keys = keys.with_columns(outcome=pl.lit(WIN, pl.Int8))
        if not {"wins_a", "score"} & set(groups.columns):  # winner and loser: a tie has neither
            is_label = [as_label(pl.col(name)).is_in(list(labels)) for name in ("a", "b")]
            keys = keys.with_columns(outcome=pl.when(~pl.any_horizontal(is_label)).then("outcome"))
            unknown = "outcome for a name"
    problems = {
        "missing competitor": pl.col("a").is_null() | pl.col("b").is_null(),
        "competitor against itself": pl.col("a") == pl.col("b"),
        "null character": pl.any_horizontal(
            pl.col(name).cast(pl.String).str.contains("\0", literal=True) for name in names
        ),
        **{f"missing {name}": pl.col(name).is_null() for name in ("annotator", "id") if name in names},
        **of_winner,
        unknown: pl.col("outcome").is_null(),
    }
    if "score" in groups.columns:
        problems["bad score"] = scored & _no_number(pl.col("score"), least=0.0, most=1.0)
    weight = pl.lit(1.0)
    if "weight" in groups.columns:
        weight, problems["bad weight"] = pl.col("weight").cast(pl.Float64, strict=False), _no_number(pl.col("weight"))
    if counts := [_no_number(pl.col(name)) for name in COUNTS if name in groups.columns]:
        problems["bad count"] = pl.any_horizontal(counts)
    raw_weight = as_text(groups, "weight") if "weight" in groups.columns else pl.lit(None)
    if "score" in groups.columns:
        keys = keys.with_columns(pl.when(scored).then("score").alias("score"))
    return keys.with_columns(weight_text=raw_weight).with_columns(problem=first_of(problems), weight=weight)


def first_of(problems: Mapping[str, pl.Expr]) -> pl.Expr:
    """Return the name of the first problem that a row has, null where it has none."""
    found = (pl.when(wrong).then(pl.lit(name)) for name, wrong in problems.items())
    return pl.coalesce(*found, pl.lit(None, pl.String))


def without_sides(votes: pl.DataFrame) -> pl.DataFrame:
    """Write counted wins and ties as votes, and order the competitors of a pair by name where sides mean nothing.

    The votes from :func:`decode`, of a layout without sides, have an outcome or a score, or ``COUNTS`` say how often
    ``a`` and ``b`` won.
    """
    votes = votes.cast({pl.Categorical: pl.String})  # categories sort in the order in which they first occurred
    if "wins_a" in votes.columns:
        parts = [
            votes.with_columns(
                outcome=pl.lit(OF_NAME[outcome], pl.Int8), weight=pl.col("weight") * pl.col(name).cast(pl.Float64)
            )
            for name, outcome in COUNTS.items()
            if name in votes.columns
        ]
        votes = pl.concat(parts).filter(pl.col("weight") > 0)
    turned, outcome, score = pl.col("a") > pl.col("b"), pl.col("outcome"), pl.col("score").cast(pl.Float64)
    return votes.with_columns(
        a=pl.min_horizontal("a", "b"),
        b=pl.max_horizontal("a", "b"),
        outcome=pl.when(turned)
        .then(outcome.replace(dict(enumerate(mirrored(n_outcomes(MOST_GRADES))))))
        .otherwise(outcome),
        **({"score": pl.when(turned).then(1 - score).otherwise(score)} if "score" in votes.columns else {}),
        **{
            name: pl.when(turned).then(-pl.col(name) + 0.0).otherwise(pl.col(name))
            for name in votes.columns
            if name.startswith(FEATURE)
        },
    )


def as_text(table: pl.DataFrame, name: str, *, normalise: bool = False) -> pl.Expr:
    """Convert a column to text: empty and NaN are missing, and a whole number gives the same text as int and as float.

    Categories stay categories, which take a quarter of the memory. Names are normalised if asked.
    """
    column = pl.col(name)
    if name in NAMES and (table.schema[name].is_nested() or table.schema[name] == pl.Object):
        raise ColumnError(f"The column of {name!r} holds lists, records or objects, not names. Write names as text.")
    if table.schema[name].is_float():
        whole = (column == column.floor()) & (column.abs() < 2**53)
        integer = pl.when(whole).then(column).cast(pl.Int64, strict=False).cast(pl.String)
        return pl.coalesce(integer, column.fill_nan(None).cast(pl.String)).alias(name)
    text = column if table.schema[name] == pl.Categorical else column.cast(pl.String)
    if normalise and name in NAMES:
        text = normalised(column.cast(pl.String))
    return pl.when(text != "").then(text).alias(name)


def normalised(names: pl.Expr) -> pl.Expr:
    """Normalise names: no surrounding spaces, and Unicode form NFC."""
    return names.str.strip_chars().str.normalize("NFC")


def _no_number(column: pl.Expr, *, least: float = 1 / MOST, most: float = MOST) -> pl.Expr:
    """Whether a weight, count or score is neither zero nor a number between the bounds."""
    number = column.cast(pl.Float64, strict=False)
    return number.is_null() | ~(number == 0) & ~number.is_between(least, most)


def _is_hot(name: str) -> pl.Expr:
    """Read a one-hot column written as numbers, booleans or their text: true, false, or null if neither."""
    text = pl.col(name).cast(pl.String).str.strip_chars().str.to_lowercase()
    values = {"1": True, "1.0": True, "true": True, "0": False, "0.0": False, "false": False}
    return text.replace_strict(values, default=None, return_dtype=pl.Boolean)


def by_words(labels: Collection[str]) -> dict[str, str]:
    """Return the outcomes of those labels, of all of a source, that say in words who is better, and how much."""
    matches = ((label, WORDED.fullmatch(label.replace("_", " "))) for label in labels)
    said = {label: found for label, found in matches if found}
    weights = sorted({WORDS[found["words"] or ""] for found in said.values()})
    outcomes = {}
    for label, found in said.items():
        won, lost = wins_by(1 + weights.index(WORDS[found["words"] or ""]))
        outcomes[label] = won if found["side"] in FIRST else lost
    if outcomes:
        outcomes |= {label: "tie" for label in labels if EQUAL.fullmatch(label.replace("_", " "))}
    return outcomes


def folded(outcomes: Mapping[str, str]) -> dict[str, str]:
    """Return the same labels, with wins of every grade as wins."""
    return {label: name if name in OUTCOMES else OUTCOMES[OF_NAME[name] % 2] for label, name in outcomes.items()}


def require_grades(grades: object) -> None:
    """Refuse anything but "keep", "fold" and increasing positive margins, at most ``MOST_GRADES``."""
    if grades in ("keep", "fold"):
        return
    numbers = [] if isinstance(grades, str) or not isinstance(grades, Sequence) else list(grades)
    known = numbers and all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers)
    if not known or numbers[0] <= 0 or sorted(set(numbers)) != numbers or len(numbers) > MOST_GRADES:
        raise VotesError(
            f"grades must be 'keep', 'fold', or increasing positive margins, at most {MOST_GRADES}, such as [1, 3]; "
            f"not {shortened(repr(grades), LONGEST_VALUE)}."
        )


def cut(votes: Frame, grades: Grades) -> Frame:
    """Write margins of two scores as verdicts: a tie below the least margin, else a win of the grade reached."""
    if isinstance(grades, str):
        return votes
    if MARGIN not in column_names(votes):
        raise VotesError(
            f"grades={list(grades)!r} cuts margins of two scores (layout two-scores), and these votes have none. Use "
            "grades='keep', which reads the grades of labels."
        )
    size, winner = pl.col(MARGIN).abs(), pl.col("winner")
    for grade, least in enumerate(grades, 1):
        reached = size >= least if grade == len(grades) else (size >= least) & (size < grades[grade])
        arrows = pl.when(pl.col(MARGIN) > 0).then(pl.lit(f"a{'>' * grade}b")).otherwise(pl.lit(f"b{'>' * grade}a"))
        winner = pl.when(reached).then(arrows).otherwise(winner)
    winner = pl.when(size < grades[0]).then(pl.lit("tie")).otherwise(winner)
    return nw.from_native(in_polars(votes).with_columns(winner=winner))
