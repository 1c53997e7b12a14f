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

# What a label can mean besides the columns of counts.
BOTH_BAD, UNPLAYED, UNKNOWN = 5, 6, -1
MEANINGS = {
    "model_a": FIRST, "model_b": SECOND, "tie": TIE, "both_bad": BOTH_BAD,
    "unplayed": UNPLAYED, "model_a_clearly": FIRST_CLEARLY, "model_b_clearly": SECOND_CLEARLY,
}  # fmt: skip
CLEARLY_WON = {FIRST: FIRST_CLEARLY, SECOND: SECOND_CLEARLY}
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
BRACKETS = ("[]", "()", '""', "''", "``", "**", "{}")
UNPLAYED_MARKS = ("", "-", "--", "–", "—", "?", ".", "…", "_", "#n/a", "n/a", "[[]]")
TIE_MARKS = ("=", "==", "~", "≈", "a=b", "b=a", "1/2-1/2", "½-½", "0.5-0.5")
MARKS = {  # whole labels, and results of the first
    **dict.fromkeys(UNPLAYED_MARKS, UNPLAYED),
    **dict.fromkeys(TIE_MARKS, TIE),
    **dict.fromkeys(("1-0", "win", "won", "wins"), FIRST),
    **dict.fromkeys(("0-1", "loss", "lost", "lose"), SECOND),
}  # fmt: skip
TIE_WORDS = (
    "tie", "tied", "ties", "draw", "drawn", "draws", "same", "equal", "equally good", "even",
    "both good", "both", "all good", "both equal", "both same", "about the same",
    "roughly the same", "nearly the same", "no preference", "no difference", "similar",
    "neither is better", "undecided", "indifferent", "tie inconsistent", "tie both good",
    "both are good", "they are equal", "a b tie", "no winner", "about equal",
    "both equally good", "both are the same",
)  # fmt: skip
BOTH_BAD_WORDS = (
    "both bad", "bothbad", "tie bothbad", "tie both bad", "both are bad", "neither",
    "both are poor", "both poor", "all bad", "equally bad", "both wrong", "neither good",
    "none are good", "both equally bad",
)  # fmt: skip
UNPLAYED_WORDS = (
    "n a", "na", "nan", "null", "none", "nil", "missing", "postponed", "cancelled",
    "canceled", "abandoned", "unplayed", "not played", "void", "skip", "skipped", "pending",
    "tbd", "tba", "not judged", "unjudged", "no verdict", "error", "no vote", "scheduled",
    "unresolved", "np", "pp", "no result", "not yet played", "unrated", "not available",
)  # fmt: skip
PHRASES = {
    **dict.fromkeys(TIE_WORDS, TIE),
    **dict.fromkeys(BOTH_BAD_WORDS, BOTH_BAD),
    **dict.fromkeys(UNPLAYED_WORDS, UNPLAYED),
}
NOT_PLAYED = [
    text for text, outcome in (MARKS | PHRASES).items() if outcome == UNPLAYED
]
CLEARLY = (
    "much", "significantly", "far", "a lot", "considerably", "strongly", "clearly",
    "significant", "strong",
)  # fmt: skip
SLIGHTLY = (
    "", "slightly", "marginally", "somewhat", "a bit", "a little", "weakly", "slight",
)  # fmt: skip
NOUNS = {
    "model", "response", "answer", "assistant", "system", "output", "player", "team", "side",
    "option", "candidate", "competitor", "completion", "choice", "text", "the", "chatbot",
    "image", "agent", "bot", "llm", "summary", "generation",
}  # fmt: skip
VERBS = {
    "win",
    "wins",
    "won",
    "winner",
    "better",
    "is",
    "was",
    "preferred",
    "best",
    "than",
}


def outcomes_of(
    labels: Collection[str], columns: tuple[str, str], given: Mapping[str, str]
) -> dict[str, int]:
    """Return what labels mean, apart from names of competitors: an outcome for each.

    ``columns`` are those of the first and of the second competitor; ``given`` are the
    meanings that the user gives to labels.
    """
    known = {}
    for label, meaning in given.items():
        if not isinstance(meaning, str) or meaning not in MEANINGS:
            raise VotesError(
                f"outcomes= maps {label!r} to {meaning!r}; the outcomes are "
                f"{', '.join(MEANINGS)}."
            )
        known[bare(str(label))] = MEANINGS[meaning]
    bares = {label: bare(label) for label in labels}
    whole = sides_of_labels(set(bares.values()) - known.keys(), columns)
    inside = {word: side for pair in SIDES for side, word in enumerate(pair)}
    inside |= {word: side for word, side in whole.items() if len(word) > 1}
    for text in set(bares.values()) - known.keys():
        spaced = " ".join(words(text))
        # An x may be a side or a tie: by itself it means nothing.
        other = UNKNOWN if text == "x" else meaning_of(text, inside)
        known[text] = whole.get(text, whole.get(spaced, other))
    return {label: known[text] for label, text in bares.items()}


def are_mixed(meaning: Mapping[str, int]) -> bool:
    """Whether some labels tell clear wins from others, and some say only who won."""
    is_graded = any(
        outcome in (FIRST_CLEARLY, SECOND_CLEARLY) for outcome in meaning.values()
    )
    plain = [label for label, outcome in meaning.items() if outcome in (FIRST, SECOND)]
    return is_graded and any(
        not re.search(r"[<>]|better|slightly", label.casefold()) for label in plain
    )


def bare(label: str) -> str:
    """Return a label in lower case without brackets, quotes and needless spaces."""
    text = label.strip().casefold()
    while len(text) > 1 and text[0] + text[-1] in BRACKETS:
        text = text[1:-1].strip()
    text = re.sub(r"\s*([<>=≫≪»«]+)\s*", r"\1", text)
    text = text.replace("≫", ">>").replace("≪", "<<")
    return re.sub(r"^(-?\d+)\.0$", r"\1", text)


def sides_of_labels(labels: set[str], columns: tuple[str, str]) -> dict[str, int]:
    """Return the meaning of labels that are one word or letter, given the others.

    A numeral is a side only if the columns differ in it and no other numeral is a label;
    a letter means what it does beside the others: C is a tie beside A and B, D beside H.
    """
    first, second = side_words(columns)
    sides = {word: side for pair in SIDES for side, word in enumerate(pair)}
    for side, texts in ((FIRST, first), (SECOND, second)):
        sides |= dict.fromkeys(texts | {text.replace(" ", "") for text in texts}, side)
    others = {label for label in labels if NUMBER.fullmatch(label)} - {"1", "2"}
    if others or not {"1", "2"} <= first | second:
        sides = {word: side for word, side in sides.items() if word not in ("1", "2")}
    if {"x", "1"} <= labels <= {"1", "x", "2"}:  # football pools
        return {"1": FIRST, "x": TIE, "2": SECOND}
    if "x" not in first | second and "y" not in labels:
        del sides["x"]
    if "h" in labels or ("away" in second and "b" not in labels):
        sides |= {"h": FIRST, "a": SECOND, "d": TIE}
    elif labels & {"a", "b"}:
        sides |= {"c": TIE} | ({"d": BOTH_BAD} if "c" in labels else {})
    if "w" in labels:
        sides |= {"w": FIRST, "l": SECOND, "d": TIE, "t": TIE}
    elif "r" in labels or "right" in second:
        sides |= {"l": FIRST, "r": SECOND, "t": TIE}
    return sides


def side_words(columns: tuple[str, str]) -> tuple[set[str], set[str]]:
    """Return the words for the first and the second side that two columns give."""
    a, b = words(columns[0]), words(columns[1])
    first, second = {" ".join(a)}, {" ".join(b)}
    if len(a) == len(b):
        differ = [pair for pair in zip(a, b, strict=True) if pair[0] != pair[1]]
        if len(differ) == 1:
            first.add(differ[0][0])
            second.add(differ[0][1])
    return first, second


def meaning_of(label: str, sides: Mapping[str, int]) -> int:
    """Return the outcome that a bare label names, UNKNOWN if none."""
    if NUMBER.fullmatch(label):
        return UNKNOWN
    if label in MARKS:
        return MARKS[label]
    if match := re.fullmatch(r"(\w+)([<>]+|=+)(\w+)", label):
        return meaning_of_arrows(match[1], match[2], match[3], sides)
    parts = words(label)
    for text in (
        " ".join(parts),
        " ".join(w for w in parts if w not in NOUNS | {"is"}),
    ):
        if text in PHRASES:
            return PHRASES[text]
    return meaning_of_words(parts, sides)


def meaning_of_arrows(
    left: str, arrows: str, right: str, sides: Mapping[str, int]
) -> int:
    """Return the outcome of ``A>>B`` and the like."""
    order = sides.get(left, UNKNOWN), sides.get(right, UNKNOWN)
    if set(order) != {FIRST, SECOND} or len(set(arrows)) > 1:
        return UNKNOWN
    if arrows[0] == "=":
        return TIE
    winner = order[0] if arrows[0] == ">" else order[1]
    return winner if len(arrows) == 1 else CLEARLY_WON[winner]


def meaning_of_words(parts: tuple[str, ...], sides: Mapping[str, int]) -> int:
    """Return the outcome of ``response A is much better`` and the like."""
    text = " ".join(parts).split(" than ")[0].split()
    sides_named = [word for word in text if word in sides and word not in NOUNS]
    others = " ".join(w for w in text if w not in sides and w not in NOUNS | VERBS)
    if len(sides_named) != 1 or others not in CLEARLY + SLIGHTLY:
        return UNKNOWN
    winner = sides[sides_named[0]]
    return CLEARLY_WON[winner] if others in CLEARLY else winner
