"""Grades of verdicts: found in labels, cut from the margins of two scores, or folded.

A label names its grade by arrows (``A>>B``: the second) or in words (``A is much better``). Words are ranked by how
much they say, and those that occur anywhere in a source are its grades, the weakest being the first: with ``slightly``
and ``much`` alone there are two. Numbers on a scale have no meaning of their own: ``outcomes=`` gives it to them
(``{"-2": "model_a_2", ...}``).

A source in which some verdicts are graded and others say only who won, or some by arrows and others in words, has mixed
scales: such a win may be of any grade, and is invalid unless grades are folded.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import narwhals as nw
import polars as pl

from bayes_arena.errors import LONGEST_VALUE, VotesError, shortened
from bayes_arena.votes.layouts.columns import column_names
from bayes_arena.votes.layouts.tables import MARGIN
from bayes_arena.votes.names import MOST_GRADES
from bayes_arena.votes.outcomes import OF_NAME, OUTCOMES, wins_by
from bayes_arena.votes.sources.frames import Frame, in_polars

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


def by_arrows() -> dict[str, str]:
    """Return the outcomes of labels with arrows: ``a>>b`` and ``b<<a`` are ``model_a_2``."""
    found = dict[str, str]()
    for grade in range(1, MOST_GRADES + 1):
        won, lost = wins_by(grade)
        found |= {f"a{'>' * grade}b": won, f"b{'<' * grade}a": won, f"b{'>' * grade}a": lost, f"a{'<' * grade}b": lost}
    return found


def by_words(labels: Collection[str]) -> dict[str, str]:
    """Return the outcomes of those labels that say in words who is better, and how much.

    Parameters
    ----------
    labels : collection of str
        All labels of a source, in lower case.
    """
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
