"""What the label of a winner means.

A label is read by rule, in this order: it is the name of one of the two competitors; it is
the name of their column, or the word by which the two columns differ (``home``, ``H``,
``1``); it is a grade (``A>>B``, ``B is slightly better``); it is a known word for a side,
a tie, two bad answers, or a game that was not played.  Numbers mean nothing by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from bayes_arena.errors import VotesError
from bayes_arena.votes.columns import SIDES, words
from bayes_arena.votes.votes import FIRST, FIRST_CLEARLY, SECOND, SECOND_CLEARLY, TIE

NUMBER = r"[-+]?\d+(\.\d+)?"
# What a label can mean besides the columns of counts.
BOTH_BAD, UNPLAYED, UNKNOWN = 5, 6, -1
MEANINGS = {
    "model_a": FIRST, "model_b": SECOND, "tie": TIE, "both_bad": BOTH_BAD,
    "unplayed": UNPLAYED, "model_a_clearly": FIRST_CLEARLY, "model_b_clearly": SECOND_CLEARLY,
}  # fmt: skip
TIE_WORDS = {
    "tie", "tied", "ties", "draw", "drawn", "draws", "same", "equal", "equally good", "even",
    "both good", "both", "all good", "both equal", "both same", "about the same",
    "roughly the same", "nearly the same", "no preference", "no difference", "similar",
    "neither is better", "undecided", "indifferent", "tie inconsistent", "tie both good",
    "both are good", "they are equal", "a b tie", "no winner", "about equal",
    "both equally good", "both are the same",
}  # fmt: skip
BOTH_BAD_WORDS = {
    "both bad", "bothbad", "tie bothbad", "tie both bad", "both are bad", "neither",
    "both are poor", "both poor", "all bad", "equally bad", "both wrong", "neither good",
    "none are good", "both equally bad",
}  # fmt: skip
UNPLAYED_WORDS = {
    "n a", "na", "nan", "null", "none", "nil", "missing", "postponed", "cancelled",
    "canceled", "abandoned", "unplayed", "not played", "void", "skip", "skipped", "pending",
    "tbd", "tba", "not judged", "unjudged", "no verdict", "error", "no vote", "scheduled",
    "unresolved", "np", "pp", "no result", "not yet played", "unrated", "not available",
}  # fmt: skip
MEANING_OF_WORDS = (
    (TIE_WORDS, TIE),
    (BOTH_BAD_WORDS, BOTH_BAD),
    (UNPLAYED_WORDS, UNPLAYED),
)
RESULTS = {  # of the first
    "1-0": FIRST, "0-1": SECOND, "1/2-1/2": TIE, "½-½": TIE, "0.5-0.5": TIE,
    "win": FIRST, "won": FIRST, "wins": FIRST, "loss": SECOND, "lost": SECOND, "lose": SECOND,
}  # fmt: skip
UNPLAYED_MARKS = {"", "-", "--", "–", "—", "?", ".", "…", "_", "#n/a", "[[]]"}
TIE_MARKS = {"=", "==", "~", "≈", "a=b", "b=a"}
CLEARLY = {
    "much", "significantly", "far", "a lot", "considerably", "strongly", "clearly",
    "significant", "strong",
}  # fmt: skip
SLIGHTLY = {
    "", "slightly", "marginally", "somewhat", "a bit", "a little", "weakly", "slight",
}  # fmt: skip
NOUNS = {
    "model", "response", "answer", "assistant", "system", "output", "player", "team", "side",
    "option", "candidate", "competitor", "completion", "choice", "text", "the", "chatbot",
    "image", "agent", "bot", "llm", "summary", "generation",
}  # fmt: skip
WINS = {
    "win", "wins", "won", "winner", "better", "is", "was", "preferred", "best",
    "than",
}  # fmt: skip


def outcomes_of(
    labels: Collection[str], columns: tuple[str, str], given: Mapping[str, str] | None
) -> dict[str, int]:
    """Return what labels mean, apart from names of competitors: an outcome for each.

    Parameters
    ----------
    labels : collection of str
        As they are written.
    columns : (str, str)
        The columns of the first and of the second competitor.
    given : mapping of str to str, optional
        Meanings that the user gives: keys of ``MEANINGS``.
    """
    meaning = {bare(label): outcome for label, outcome in given_meanings(given).items()}
    bares = {label: bare(label) for label in labels}
    rest = {label for label in bares.values() if label not in meaning}
    meaning |= meanings(rest, columns)
    return {label: meaning.get(text, UNKNOWN) for label, text in bares.items()}


def are_mixed(meaning: Mapping[str, int]) -> bool:
    """Whether some labels tell clear wins from others, and some say only who won."""
    is_graded = any(
        outcome in (FIRST_CLEARLY, SECOND_CLEARLY) for outcome in meaning.values()
    )
    plain = [label for label, outcome in meaning.items() if outcome in (FIRST, SECOND)]
    return is_graded and any(
        not re.search(r"[<>]|better|slightly", label.casefold()) for label in plain
    )


def given_meanings(given: Mapping[str, str] | None) -> dict[str, int]:
    """Return the outcomes that the user gives to labels."""
    outcomes = {}
    for label, meaning in (given or {}).items():
        if not isinstance(meaning, str) or meaning not in MEANINGS:
            raise VotesError(
                f"outcomes= maps {label!r} to {meaning!r}; the outcomes are "
                f"{', '.join(MEANINGS)}."
            )
        outcomes[str(label)] = MEANINGS[meaning]
    return outcomes


def bare(label: str) -> str:
    """Return a label in lower case without brackets, quotes and needless spaces."""
    text = label.strip().casefold()
    while len(text) > 1 and text[0] + text[-1] in (
        "[]",
        "()",
        '""',
        "''",
        "``",
        "**",
        "{}",
    ):
        text = text[1:-1].strip()
    text = (
        re.sub(r"\s*([<>=≫≪»«]+)\s*", r"\1", text).replace("≫", ">>").replace("≪", "<<")
    )
    return re.sub(r"^(-?\d+)\.0$", r"\1", text)


def meanings(labels: Collection[str], columns: tuple[str, str]) -> dict[str, int]:
    """Return the meanings of bare labels, where they are known."""
    whole = sides_of_labels(labels, columns)
    inside = {word: side for pair in SIDES for side, word in enumerate(pair)}
    inside |= {word: side for word, side in whole.items() if len(word) > 1}
    outcomes = {}
    for label in labels:
        text = " ".join(words(label))
        outcomes[label] = whole.get(label, whole.get(text, UNKNOWN))
        if outcomes[label] == UNKNOWN:
            outcomes[label] = meaning_of(label, inside)
    return {label: meaning for label, meaning in outcomes.items() if meaning != UNKNOWN}


def sides_of_labels(
    labels: Collection[str], columns: tuple[str, str]
) -> dict[str, int]:
    """Return the meaning of labels that are one word or letter, given the others.

    A numeral is a side only if the columns differ in it and no other numeral is a label;
    a letter means what it does beside the others: C is a tie beside A and B, D beside H.
    """
    first, second = side_words(columns)
    sides = {word: side for pair in SIDES for side, word in enumerate(pair)}
    for side, texts in ((FIRST, first), (SECOND, second)):
        sides |= dict.fromkeys(texts | {text.replace(" ", "") for text in texts}, side)
    others = {label for label in labels if re.fullmatch(NUMBER, label)} - {"1", "2"}
    if others or not {"1", "2"} <= first | second:
        sides = {word: side for word, side in sides.items() if word not in ("1", "2")}
    letters = set(labels)
    if {"x", "1"} <= letters <= {"1", "x", "2"}:  # football pools
        return {"1": FIRST, "x": TIE, "2": SECOND}
    if "h" in letters or ("away" in second and "b" not in letters):
        sides |= {"h": FIRST, "a": SECOND, "d": TIE}
    elif letters & {"a", "b"}:
        sides |= {"c": TIE} | ({"d": BOTH_BAD} if "c" in letters else {})
    if "w" in letters:
        sides |= {"w": FIRST, "l": SECOND, "d": TIE, "t": TIE}
    elif "r" in letters or "right" in second:
        sides |= {"l": FIRST, "r": SECOND, "t": TIE}
    return sides


def side_words(columns: tuple[str, str]) -> tuple[set[str], set[str]]:
    """Return the words for the first and the second side that two columns give."""
    a, b = words(columns[0]), words(columns[1])
    sides = {" ".join(a)}, {" ".join(b)}
    if len(a) == len(b):
        differ = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        if len(differ) == 1:
            sides[0].add(differ[0][0])
            sides[1].add(differ[0][1])
    return sides


def meaning_of(label: str, sides: Mapping[str, int]) -> int:
    """Return the outcome that a bare label names, UNKNOWN if none."""
    if re.fullmatch(NUMBER, label):
        return UNKNOWN
    if label in UNPLAYED_MARKS:
        return UNPLAYED
    if label in TIE_MARKS:
        return TIE
    if match := re.fullmatch(r"(\w+)([<>]+|=+)(\w+)", label):
        return meaning_of_arrows(match[1], match[2], match[3], sides)
    if label in RESULTS:
        return RESULTS[label]
    parts = words(label)
    texts = {" ".join(parts), " ".join(w for w in parts if w not in NOUNS | {"is"})}
    for known, outcome in MEANING_OF_WORDS:
        if texts & known:
            return outcome
    return meaning_of_words(parts, sides)


def meaning_of_arrows(
    left: str, arrows: str, right: str, sides: Mapping[str, int]
) -> int:
    """Return the outcome of ``A>>B`` and the like."""
    order = sides.get(left), sides.get(right)
    if order not in ((FIRST, SECOND), (SECOND, FIRST)) or len(set(arrows)) > 1:
        return UNKNOWN
    if arrows[0] == "=":
        return TIE
    winner = order[0] if arrows[0] == ">" else order[1]
    return winner if len(arrows) == 1 else clearly(winner)


def meaning_of_words(parts: tuple[str, ...], sides: Mapping[str, int]) -> int:
    """Return the outcome of ``response A is much better`` and the like."""
    text = " ".join(parts).split(" than ")[0].split()
    named = [word for word in text if word in sides and word not in NOUNS]
    others = " ".join(w for w in text if w not in sides and w not in NOUNS | WINS)
    if len(named) != 1:
        return UNKNOWN
    winner = sides[named[0]]
    if others in SLIGHTLY:
        return winner
    return clearly(winner) if others in CLEARLY else UNKNOWN


def clearly(winner: int | None) -> int:
    """Return the outcome of a clear win."""
    return FIRST_CLEARLY if winner == FIRST else SECOND_CLEARLY
