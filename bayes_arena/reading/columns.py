"""Which column plays which role.

Names match without case, in any of the usual spellings: a name is cut into words
(``HomeTeam`` is home, team; ``player1`` is player, 1), and two columns are a pair if their
words differ only in the side that they name: ``model_a, model_b`` or ``left, right``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from bayes_arena.errors import VotesError, did_you_mean, listing
from bayes_arena.said import Use

type Words = tuple[str, ...]

# Words that tell two sides apart, the first side first.
SIDES = (
    ("a", "b"),
    ("1", "2"),
    ("0", "1"),
    ("left", "right"),
    ("home", "away"),
    ("home", "visitor"),
    ("home", "visiting"),
    ("host", "guest"),
    ("red", "blue"),
    ("r", "b"),
    ("first", "second"),
    ("white", "black"),
    ("x", "y"),
    ("team", "opp"),
    ("for", "against"),
)
# What columns of competitors are called besides their side; the first pair is taken.
COMPETITORS = (
    "model", "model name", "model id", "system", "system name", "system id", "llm",
    "competitor", "contestant", "team", "team name", "player", "player name", "agent",
    "assistant", "bot", "candidate", "option", "method", "engine", "generator", "name",
    "side", "fighter", "opponent", "item", "variant", "checkpoint", "provider", "",
    "id", "team id", "player id",
)  # fmt: skip
# Pairs whose names differ in more than a side, the first shown first.
OTHER_PAIRS = (
    ("a", "b"), ("player", "opponent"), ("team", "opponent"), ("model", "opponent"),
    ("model", "baseline"), ("model", "baseline model"), ("candidate", "baseline"),
    ("system", "baseline"),
    ("candidate", "reference"), ("model", "reference"), ("model", "reference model"),
    ("challenger", "champion"), ("challenger", "defender"), ("model", "model b"),
    ("model", "other model"), ("name", "opponent"), ("item", "opponent"),
)  # fmt: skip
# Sides that need another word.
NOT_ALONE = (
    ("a", "b"),
    ("1", "2"),
    ("0", "1"),
    ("r", "b"),
    ("x", "y"),
    ("for", "against"),
)
SCORES = (
    "score", "scores", "goals", "goal", "points", "point", "pts", "runs", "sets", "games",
)  # fmt: skip
WINS = (
    "wins", "win", "n wins", "num wins", "wins count", "win count", "winner model",
    "won", "model wins", "player wins", "team wins", "winner", "model win", "votes",
)  # fmt: skip
TIES = (
    "ties", "tie", "draws", "draw", "n ties", "n draws", "num ties", "tie count",
    "winner tie", "tied", "draw count", "count tie",
)  # fmt: skip
WON_COUNTS, LOST_COUNTS = ("won", "win", "wins", "w"), ("lost", "loss", "losses", "l")
DRAWN_COUNTS = ("d", "drawn", "t")
WINNER_WORDS = (
    "winner", "winning", "better", "chosen", "preferred", "selected", "victor", *WON_COUNTS,
)  # fmt: skip
LOSER_WORDS = (
    "loser", "losing", "loses", "worse", "rejected", "dispreferred", "not chosen",
    "not preferred", "not selected", "unchosen", "nonpreferred", "beaten", "defeated",
    *LOST_COUNTS,
)  # fmt: skip
# Alone these may name texts: the answer that was chosen.
OF_ANSWERS = ("better", "chosen", "preferred", "selected")
WINNERS = (
    "winner", "label", "verdict", "preference", "preferred", "result", "outcome", "vote",
    "choice", "chosen", "decision", "judgment", "judgement", "selection", "selected",
    "answer", "won", "winning model", "winner model", "winner name", "preferred model",
    "chosen model", "chosen model name", "best", "better", "better model", "ftr", "res",
    "human preference", "user vote", "final verdict", "winner label", "overall winner",
    "overall preference", "overall quality", "winning side", "winner side", "victor",
    "game result", "match result", "final result", "match outcome", "game outcome",
)  # fmt: skip
ANNOTATORS = (
    "judge", "annotator", "worker", "performer", "rater", "judge model", "evaluator",
    "labeler", "labeller", "voter", "reviewer", "expert", "coder", "assessor", "grader",
    "judge id", "annotator id", "worker id", "rater id", "evaluator id", "labeler id",
    "voter id", "reviewer id", "grader id", "judge name", "annotator name", "judge hash",
    "user", "user id", "username", "user name", "participant", "participant id",
)  # fmt: skip
PROMPTS = (
    "prompt", "prompt id", "question id", "question", "instruction", "instruction id",
    "item", "item id",
)  # fmt: skip
GAMES = (
    "game id", "match id", "fixture id", "event id", "game", "match", "fixture", "id", "date",
    "match date", "game date", "datetime", "day",
)  # fmt: skip
WEIGHTS = ("weight", "weights")
TIMES = ("n", "count", "counts", "times", "wins", "n votes", "num votes", "frequency")
PAIR_CELLS = (
    "pair", "cmp key", "model pair", "matchup", "match up", "match", "options", "models",
    "players", "teams", "competitors", "contestants", "comparison", "systems", "candidates",
)  # fmt: skip


def words(name: str) -> Words:
    """Return the words of a column's name in lower case, a platform's prefix left out."""
    name = re.sub(r"^(INPUT|OUTPUT|ASSIGNMENT|GOLDEN):", "", name.strip())
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    name = re.sub(r"(?<=[A-Za-z])(?=\d)", " ", name)
    return tuple(word for word in re.split(r"[\W_]+", name.casefold()) if word)


@dataclass(frozen=True)
class Header:
    """The columns of a source.

    Attributes
    ----------
    names : tuple of str
        As they are written.
    by_words : mapping of str to str
        The column of every form ``"words of the name"``; of two alike the first.
    by_side : mapping of (str, str) to str
        The column of every (other words, side).
    """

    names: tuple[str, ...]
    by_words: Mapping[str, str]
    by_side: Mapping[tuple[str, str], str]

    @classmethod
    def of(cls, names: Sequence[str]) -> Header:
        """Cut the names of columns into words."""
        by_words: dict[str, str] = {}
        by_side: dict[tuple[str, str], str] = {}
        sides = {*WINNER_WORDS, *LOSER_WORDS, *chain(*SIDES)}
        for name in names:
            parts = words(name)
            by_words.setdefault(" ".join(parts), name)
            for rest, phrase in phrases(parts):
                if phrase in sides:
                    by_side.setdefault((rest, phrase), name)
        return cls(tuple(names), by_words, by_side)

    def column(self, name: object, option: str) -> str:
        """Return the column that an option names."""
        if not isinstance(name, str):
            raise VotesError((Use(option), f" names a column, as text; not {name!r}."))
        if name in self.names:
            return name
        if column := self.by_words.get(" ".join(words(name))):
            if others := self.alike(column):
                raise VotesError(
                    (
                        f"Both {column!r} and {others[0]!r} may be the column {name!r}. "
                        "Write its name as it stands: ",
                        Use(**{option: column}),
                        ".",
                    )
                )
            return column
        raise VotesError(
            f"No column {name!r}.{did_you_mean(name, self.names)} The columns are "
            f"{listing(self.names)}."
        )

    def alike(self, column: str) -> list[str]:
        """Return the other columns of the same name but for case and spelling."""
        others = [name for name in self.names if name != column]
        return [name for name in others if words(name) == words(column)]

    def first(
        self, known: Collection[str], without: Collection[str | None] = ()
    ) -> str | None:
        """Return the column of the first known name that is there."""
        for name in known:
            column = self.by_words.get(name)
            if column is not None and column not in without:
                return column
        return None

    def pair(
        self, known: Collection[str], sides: Collection[tuple[str, str]] = ()
    ) -> tuple[str, str] | None:
        """Return the two columns that differ only in the side that they name."""
        for name in known:
            for first, second in sides or SIDES:
                if not (name or sides) and (first, second) in NOT_ALONE:
                    continue
                a, b = self.by_side.get((name, first)), self.by_side.get((name, second))
                if a is not None and b is not None and a != b:
                    return a, b
        return None

    def both(self, pairs: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
        """Return the columns of the first two known names that are both there."""
        for first, second in pairs:
            if first in self.by_words and second in self.by_words:
                return self.by_words[first], self.by_words[second]
        return None

    def pair_of_competitors(self) -> tuple[str, str] | None:
        """Return the columns of the two competitors, by their usual names."""
        return self.pair(COMPETITORS) or self.both(OTHER_PAIRS)

    def pairs_alike(self) -> list[tuple[str, str]]:
        """Return all two columns whose names differ only in a side."""
        rests = dict.fromkeys(rest for rest, _ in self.by_side)
        pairs = (self.pair([rest]) for rest in rests)
        return list(dict.fromkeys(filter(None, pairs)))

    def winner_and_loser(self) -> tuple[str, str] | None:
        """Return the columns of who won and of who lost, by their usual names."""
        sides = list(product(WINNER_WORDS, LOSER_WORDS))
        alone = [(won, lost) for won, lost in sides if won not in OF_ANSWERS]
        return self.pair([""], alone) or self.pair([*filter(None, COMPETITORS)], sides)

    def won_and_lost(self, first: str, second: str) -> tuple[str, str] | None:
        """Return two columns in the order of who won and who lost, if their words say so."""
        for won, lost in ((first, second), (second, first)):
            rests = {rest for rest, word in phrases(words(won)) if word in WINNER_WORDS}
            others = {
                rest for rest, word in phrases(words(lost)) if word in LOSER_WORDS
            }
            if rests & others:
                return won, lost
        return None

    def counts(self) -> tuple[str, ...] | None:
        """Return the columns that count the wins of both, and their ties if there is one.

        The losses of the first are wins of the second.
        """
        wins = self.pair(WINS) or self.both(product(WON_COUNTS, LOST_COUNTS))
        if wins is None:
            return None
        ties = self.first((*TIES, *DRAWN_COUNTS))
        return wins if ties is None else (*wins, ties)

    def scores(self) -> tuple[str, str] | None:
        """Return the columns of two scores, by their usual names."""
        before = [f"{name} {score}" for score in SCORES for name in ("", *COMPETITORS)]
        after = [f"{score} {name}" for score in SCORES for name in COMPETITORS]
        named = self.pair([name.strip() for name in (*before, *after)])
        return named or self.both(SCORES_BY_INITIAL)


def is_usual_winner(name: str) -> bool:
    """Whether a column has a name that the winner's column usually has."""
    return " ".join(words(name)) in WINNERS


def phrases(parts: Words) -> Iterator[tuple[str, str]]:
    """Yield each word of a name, and each two, after the other words."""
    for size in (1, 2):
        for start in range(len(parts) - size + 1):
            rest = " ".join(parts[:start] + parts[start + size :])
            yield rest, " ".join(parts[start : start + size])


def initial_scores() -> Iterator[tuple[str, str]]:
    """Yield names of scores with the initials of sides: ``hgoals, vgoals``."""
    for first, second in SIDES:
        for score in SCORES if len(first) > 1 else ():
            yield first[0] + score, second[0] + score
            yield f"{first[0]} {score}", f"{second[0]} {score}"


SCORES_BY_INITIAL = (
    ("fthg", "ftag"),
    ("hg", "ag"),
    *initial_scores(),
    *((score, f"{opp} {score}") for score in SCORES for opp in ("opp", "opponent")),
)
INITIAL_SCORES = frozenset(chain(*SCORES_BY_INITIAL))


def has_word(name: str, known: Collection[str]) -> bool:
    """Whether one of the words of a column's name is known."""
    return any(word in known for word in words(name))
