"""What the label of a winner means.

A label is read by rule, in this order: it is the name of one of the two competitors; it is
the name of their column, or the word by which the two columns differ (``home``, ``H``,
``1``); it is a grade (``A>>B``, ``B is slightly better``, ``much worse``) or a score
(``2-1``); it is a known word for a side, a tie, two bad answers, or for no verdict.
Numbers mean nothing by themselves, and single letters only beside another of their set
(``W`` and ``L``), or as the initial of a side that the columns name (``H`` of home).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from bayes_arena.errors import VotesError
from bayes_arena.reading.columns import SIDES, words
from bayes_arena.said import Use
from bayes_arena.votes.votes import FIRST, FIRST_CLEARLY, SECOND, SECOND_CLEARLY, TIE

# What a label can mean besides the columns of counts.
BOTH_BAD, UNPLAYED, UNKNOWN = 5, 6, -1
MEANINGS = {
    "model_a": FIRST, "model_b": SECOND, "tie": TIE, "both_bad": BOTH_BAD,
    "unplayed": UNPLAYED, "model_a_clearly": FIRST_CLEARLY, "model_b_clearly": SECOND_CLEARLY,
}  # fmt: skip
CLEARLY_WON = {FIRST: FIRST_CLEARLY, SECOND: SECOND_CLEARLY}
SIDE_OF_WORD = {word: side for pair in SIDES for side, word in enumerate(pair)}
WORDS_OF_SIDES = {word: side for word, side in SIDE_OF_WORD.items() if len(word) > 1}
LETTERS_IN_TEXT = {word: SIDE_OF_WORD[word] for word in "ab12"}  # "A is better"
# Letters that results are written with: where the first is a label, and one of the next,
# they mean this.  Of a letter in several sets the first meaning counts.
LETTER_SETS = (
    ("x", "12", {"1": FIRST, "x": TIE, "2": SECOND}),  # football pools
    ("h", "ad", {"h": FIRST, "d": TIE, "a": SECOND}),
    ("w", "ldt", {"w": FIRST, "d": TIE, "t": TIE, "l": SECOND}),
    ("a", "b", {"a": FIRST, "b": SECOND, "t": TIE}),
    ("a", "c", {"a": FIRST, "b": SECOND}),
    ("b", "c", {"a": FIRST, "b": SECOND}),
    ("c", "ab", {"c": TIE, "d": BOTH_BAD}),
    ("l", "r", {"l": FIRST, "r": SECOND, "t": TIE}),
    ("x", "y", {"x": FIRST, "y": SECOND}),
)
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
SCORE = re.compile(r"(0|[1-9]\d{0,2}) ?[-–:] ?(0|[1-9]\d{0,2})")  # 12:05 is a time
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
    # nobody decided
    "inconclusive", "abstain", "abstained", "abstention", "no consensus", "unclear",
    "inconsistent", "unsure", "not sure", "cannot tell", "can t tell", "can t say",
    "don t know", "no decision",
)  # fmt: skip
PHRASES = {
    **dict.fromkeys(TIE_WORDS, TIE),
    **dict.fromkeys(BOTH_BAD_WORDS, BOTH_BAD),
    **dict.fromkeys(UNPLAYED_WORDS, UNPLAYED),
}
NOT_PLAYED = [
    text for text, outcome in (MARKS | PHRASES).items() if outcome == UNPLAYED
]
NOBODY_WON = {  # what says so
    text
    for text, outcome in (MARKS | PHRASES).items()
    if outcome not in (FIRST, SECOND)
}
FIRST_WINS, SECOND_WINS = {FIRST, FIRST_CLEARLY}, {SECOND, SECOND_CLEARLY}
CLEARLY = (
    "much", "significantly", "far", "a lot", "considerably", "strongly", "clearly",
    "significant", "strong",
)  # fmt: skip
SLIGHTLY = (
    "", "slightly", "marginally", "somewhat", "a bit", "a little", "weakly", "slight",
)  # fmt: skip
# Results of the first, alone or graded: much-better, slightly worse.
BETTER = {"better": FIRST, "superior": FIRST, "worse": SECOND, "inferior": SECOND}
OTHER_SIDE = {FIRST: SECOND, SECOND: FIRST}
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
    "is",
    "was",
    "preferred",
    "best",
    "than",
}


def meanings_of(
    labels: Collection[str], columns: tuple[str, str], given: Mapping[str, str]
) -> dict[str, int]:
    """Return what labels mean, apart from names of competitors: an outcome for each.

    ``columns`` are those of the first and of the second competitor; ``given`` are the
    meanings that the user gives to labels.
    """
    known: dict[str, int] = {}
    for label, meaning in given.items():
        if not isinstance(meaning, str) or meaning not in MEANINGS:
            raise VotesError(
                (
                    Use("outcomes"),
                    f" maps {label!r} to {meaning!r}; the outcomes are "
                    f"{', '.join(MEANINGS)}.",
                )
            )
        known[bare(str(label))] = MEANINGS[meaning]
    bares = {label: bare(label) for label in labels}
    whole = sides_of_labels(set(bares.values()) - known.keys(), columns)
    known = outcomes_of_scores(set(bares.values())) | known
    inside = WORDS_OF_SIDES | LETTERS_IN_TEXT | sides_of_columns(columns)
    for text in set(bares.values()) - known.keys():
        known[text] = outcome_of(text, whole, inside)
    return {label: known[text] for label, text in bares.items()}


def outcomes_of_scores(labels: set[str]) -> dict[str, int]:
    """Return who won games of which the labels are the scores: ``2-1``, ``0:0``.

    Where the second number is always the higher one they may be ranges (ages 18-24, 25-34),
    and are none.
    """
    scores = {}
    for label in labels:
        if match := SCORE.fullmatch(label):
            scores[label] = int(match[1]), int(match[2])
    if all(first < second for first, second in scores.values()):
        return {}
    return {
        label: FIRST if first > second else SECOND if first < second else TIE
        for label, (first, second) in scores.items()
    }


def outcome_of(label: str, whole: Mapping[str, int], inside: Mapping[str, int]) -> int:
    """Return the outcome that a bare label names: as a whole, or by the words inside."""
    spaced = " ".join(words(label))
    for text in (label, spaced):
        if text in whole:
            return whole[text]
    is_letter = len(spaced) == 1
    return UNKNOWN if is_letter else meaning_of(label, inside)


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
    text = re.sub(
        r"^(left|right|tie|bothbad)[ _-]?vote$", r"\1", text
    )  # FastChat's logs
    text = text.replace("≫", ">>").replace("≪", "<<")
    return re.sub(r"^(-?\d+)\.0$", r"\1", text)


def sides_of_labels(labels: set[str], columns: tuple[str, str]) -> dict[str, int]:
    """Return the meaning of labels that are one word or letter, given the others.

    A numeral is a side only if the columns differ in it and no other numeral is a label.
    """
    of_columns = sides_of_columns(columns)
    if any(map(NUMBER.fullmatch, labels - of_columns.keys())):
        of_columns = {
            word: side for word, side in of_columns.items() if not word.isdigit()
        }
    letters = initials(columns) | letters_beside_others(labels)
    return WORDS_OF_SIDES | letters | of_columns


def sides_of_columns(columns: tuple[str, str]) -> dict[str, int]:
    """Return the sides that the names of two columns give, whole or where they differ."""
    sides: dict[str, int] = {}
    for side, texts in enumerate(side_words(columns)):
        for text in texts:
            sides |= {text: side, text.replace(" ", ""): side}
    return sides


def initials(columns: tuple[str, str]) -> dict[str, int]:
    """Return H, A and D for columns called home and away, L, R and T for left and right."""
    first, second = side_words(columns)
    for a, b in SIDES:
        if len(a) > 1 and a in first and b in second:
            return {"d": TIE, "t": TIE, a[0]: FIRST, b[0]: SECOND}
    return {}


def letters_beside_others(labels: set[str]) -> dict[str, int]:
    """Return the meaning of single letters that other labels support: W beside L."""
    letters: dict[str, int] = {}
    for letter, others, meanings in LETTER_SETS:
        if letter in labels and labels & set(others):
            letters = meanings | letters
    return letters


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
    side_of = {**SIDE_OF_WORD, **sides}  # two letters support each other
    order = side_of.get(left, UNKNOWN), side_of.get(right, UNKNOWN)
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
    results = [word for word in text if word in BETTER]
    others = " ".join(
        w for w in text if w not in sides and w not in NOUNS | VERBS | BETTER.keys()
    )
    if others not in CLEARLY + SLIGHTLY or len(sides_named) > 1 or len(results) > 1:
        return UNKNOWN
    if not sides_named and not results:
        return UNKNOWN
    winner = sides[sides_named[0]] if sides_named else FIRST
    if results and BETTER[results[0]] == SECOND:
        winner = OTHER_SIDE[winner]
    return CLEARLY_WON[winner] if others in CLEARLY else winner
