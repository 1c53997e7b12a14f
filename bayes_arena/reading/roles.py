"""Roles: what the columns of a source stand for, and what they are called once they are read.

A frame that is read has a column for each role:

``a, b`` or ``pair``          the competitors, in two columns or in one cell
``winner``                    the label of the outcome
``wins_a, wins_b, ties``      counts
``annotator, weight``         who voted, and how much a vote counts
``slice NAME``                the level of a slice
``feature SIDE NAME``         a difference, or the numbers of both answers
``prompt K``, ``record``      what may be the prompt: columns, or the record itself
``row``                       the number of the record

and until a layout has written one vote a row also ``choice``, ``order``, ``ranking``,
``each K`` (a column for each competitor or annotator), other columns of results, and the
fields of nested records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

# Roles of one column each; a frame calls them so.
SINGLE = ("a", "b", "pair", "choice", "order", "ranking", "annotator", "weight")
# What a vote itself is; the rest tells more about it.
OF_VOTES = (
    "a", "b", "winner", "wins_a", "wins_b", "ties", "annotator", "weight",
)  # fmt: skip
RECORD = (
    "record"  # the column that tells records apart, where each holds several verdicts
)
ROW = "row"  # the column that numbers records


@dataclass(frozen=True)
class Constant:
    """A value that stands for a column."""

    value: str

    def __str__(self) -> str:
        """Return the value."""
        return self.value


type Column = str | Constant


@dataclass(frozen=True)
class Roles:
    """Which column of a source plays which role.

    Attributes
    ----------
    a, b : str or Constant, optional
        The competitors: shown first and second, or who won and who lost; in rankings ``a``
        is ranked.
    pair : str, optional
        One column that names both.
    choice, order : str, optional
        One column that names the options of a choice, or all in their order.
    results : mapping of str to str
        The columns of the result, by what the layout calls them.
    of_annotators : mapping of str to str
        A column of verdicts for each annotator, by name.
    of_competitors : mapping of str to str
        A column of ranks, or of wins over it, for each competitor, by name.
    ranking : str, optional
        What tells rankings apart.
    fields : mapping of str to str
        The columns of records that nest their votes, by the names of the format.
    keys : mapping of str to str
        The keys of nested objects, by what they hold.
    annotator : str or Constant, optional
    weight : str, optional
    slices : mapping of str to str or Constant
    features : mapping of str to tuple of str
        One column of differences, or the columns of both answers.
    games : tuple of str
        Columns that may tell games with several rows apart: an identifier, a date.
    prompts : tuple of str
        Columns that may hold the prompts, the likeliest first.
    how : mapping of str to str
        Why a column was taken for a competitor's or for the result, where neither an option
        nor its name says so.
    """

    a: Column | None = None
    b: Column | None = None
    pair: str | None = None
    choice: str | None = None
    order: str | None = None
    results: Mapping[str, str] = field(default_factory=dict)
    of_annotators: Mapping[str, str] = field(default_factory=dict)
    of_competitors: Mapping[str, str] = field(default_factory=dict)
    ranking: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    annotator: Column | None = None
    weight: str | None = None
    slices: Mapping[str, Column] = field(default_factory=dict)
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    games: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    how: Mapping[str, str] = field(default_factory=dict)

    @property
    def sides(self) -> tuple[str, str]:
        """What the columns of the competitors are called."""
        return str(self.a or "a"), str(self.b or "b")

    @property
    def each(self) -> Mapping[str, str]:
        """A column for each annotator or competitor, by name."""
        return self.of_annotators or self.of_competitors

    def columns(self) -> dict[str, Column]:
        """Return the columns in use, by what each is called once it is read."""
        return dict(self.named_columns())

    def named_columns(self) -> Iterator[tuple[str, Column]]:
        """Yield what each column in use is called once it is read, and the column."""
        for role in SINGLE:
            column = getattr(self, role)
            if column is not None:
                yield role, column
        yield from self.results.items()
        yield from self.fields.items()
        for place, column in enumerate(self.each.values()):
            yield each_column(place), column
        for name, column in self.slices.items():
            yield slice_column(name), column
        for name, columns in self.features.items():
            yield from zip(feature_columns(name, len(columns)), columns, strict=True)
        for place, column in enumerate(self.games):
            yield game_column(place), column
        for place, column in enumerate(self.prompts):
            yield prompt_column(place), column

    @property
    def taken(self) -> set[str]:
        """The columns of the source in use."""
        return {column for column in self.columns().values() if isinstance(column, str)}


def each_column(place: int) -> str:
    """Return what the column of one of several competitors or annotators is called."""
    return f"each {place}"


def slice_column(name: str) -> str:
    """Return what the column of a slice is called."""
    return f"slice {name}"


def feature_columns(name: str, size: int) -> list[str]:
    """Return what the columns of a feature are called: of a difference, or of both sides."""
    return [f"feature {side} {name}" for side in range(size)]


def game_column(place: int) -> str:
    """Return what a column that may tell games apart is called."""
    return f"game {place}"


def prompt_column(place: int) -> str:
    """Return what a column that may hold the prompts is called."""
    return f"prompt {place}"
