"""Which column plays which role.

Names match without case, in any of the usual spellings: a name is cut into words
(``HomeTeam`` is home, team; ``player1`` is player, 1), and two columns are a pair if their
words differ only in the side that they name: ``model_a, model_b`` or ``left, right``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from bayes_arena.errors import VotesError, did_you_mean, listing
from bayes_arena.said import Use

type Words = tuple[str, ...]

# Words that tell two sides apart, the first side first.
SIDES = (
    ("a", "b"),
    ("1", "2"),
    ("left", "right"),
    ("home", "away"),
    ("red", "blue"),
    ("first", "second"),
    ("white", "black"),
    ("x", "y"),
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
UNNAMED_SIDES = SIDES[2:7]  # that say enough alone: left, right, but not 1, 2
SCORES = ("score", "scores", "goals", "points", "pts", "runs", "sets", "games")
SCORES_IN_FULL = (("fthg", "ftag"), ("hg", "ag"), ("home goal", "away goal"))
WINS = (
    "wins", "win", "n wins", "num wins", "wins count", "win count", "winner model",
    "won", "model wins", "player wins", "team wins", "winner", "model win", "votes",
)  # fmt: skip
TIES = (
    "ties", "tie", "draws", "draw", "n ties", "n draws", "num ties", "tie count",
    "winner tie", "tied", "draw count", "count tie",
)  # fmt: skip
WINNER_WORDS = (
    "winner", "winning", "won", "win", "wins", "w", "better", "chosen", "preferred",
)  # fmt: skip
LOSER_WORDS = (
    "loser", "losing", "lost", "loss", "loses", "l", "worse", "rejected", "dispreferred",
)  # fmt: skip
OF_ANSWERS = ("better", "chosen", "preferred")  # alone they name texts, not competitors
WINNERS = (
    "winner", "label", "verdict", "preference", "preferred", "result", "outcome", "vote",
    "choice", "chosen", "decision", "judgment", "judgement", "selection", "selected",
    "answer", "won", "winning model", "winner model", "winner name", "preferred model",
    "chosen model", "chosen model name", "best", "better", "better model", "ftr", "res",
    "human preference", "user vote", "final verdict", "winner label", "overall winner",
    "overall preference", "overall quality", "winning side", "winner side", "victor",
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
            for position, word in enumerate(parts):
                if word in sides:
                    rest = " ".join(parts[:position] + parts[position + 1 :])
                    by_side.setdefault((rest, word), name)
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
            for first, second in sides or (SIDES if name else UNNAMED_SIDES):
                a, b = self.by_side.get((name, first)), self.by_side.get((name, second))
                if a is not None and b is not None and a != b:
                    return a, b
        return None

    def pair_of_competitors(self) -> tuple[str, str] | None:
        """Return the columns of the two competitors, by their usual names."""
        if columns := self.pair(COMPETITORS):
            return columns
        for first, second in OTHER_PAIRS:
            if first in self.by_words and second in self.by_words:
                return self.by_words[first], self.by_words[second]
        return None

    def winner_and_loser(self) -> tuple[str, str] | None:
        """Return the columns of who won and of who lost, by their usual names."""
        sides = list(product(WINNER_WORDS, LOSER_WORDS))
        alone = [(won, lost) for won, lost in sides if won not in OF_ANSWERS]
        return self.pair([""], alone) or self.pair(
            list(filter(None, COMPETITORS)), sides
        )

    def counts(self) -> tuple[str, ...] | None:
        """Return the columns that count the wins of both, and their ties if there is one."""
        wins = self.pair(WINS)
        if wins is None:
            return None
        ties = self.first(TIES)
        return wins if ties is None else (*wins, ties)

    def scores(self) -> tuple[str, str] | None:
        """Return the columns of two scores, by their usual names."""
        for first, second in SCORES_IN_FULL:
            if first in self.by_words and second in self.by_words:
                return self.by_words[first], self.by_words[second]
        before = [f"{name} {score}" for score in SCORES for name in ("", *COMPETITORS)]
        after = [f"{score} {name}" for score in SCORES for name in COMPETITORS]
        return self.pair([name.strip() for name in (*before, *after)])
