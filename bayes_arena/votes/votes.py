"""Votes as counts: the sufficient statistics of every model.

A row counts the votes of one annotator on one ordered pair in one slice, by outcome.  Rows
are sorted by their codes and names are sorted, so that the order of votes decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from pathlib import Path

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.errors import (
    VotesError,
    did_you_mean,
    listing,
    plural,
    require_finite,
    require_seed,
)
from bayes_arena.said import Note, Use, joined
from bayes_arena.votes import saved
from bayes_arena.votes.saved import Attributes

# Columns of the counts.  Those of clear wins (A>>B, B>>A) are there if verdicts are graded.
FIRST, SECOND, TIE, FIRST_CLEARLY, SECOND_CLEARLY = range(5)
MIN_VOTES = 10  # from which a competitor has a rank, and an annotator is judged
ANNOTATOR = "annotator"  # the role of who voted
PROMPT = "prompt"  # the slice that holds the prompts
NO_ANNOTATORS = (
    "The votes do not say who voted.",
    (" Name the annotators' column with ", Use("annotator"), "."),
)
NO_SLICE = (
    "Columns become slices with ",
    Use("slices"),
    ", prompts with ",
    Use("prompt"),
    ".",
)


@dataclass(frozen=True, eq=False, repr=False)
class Votes:
    """Counts of votes, one row for each annotator, ordered pair and slice.

    Attributes
    ----------
    competitors : tuple of str
        Names, sorted.
    annotators : tuple of str
        Names, sorted; empty where annotators are unknown.
    i, j : ndarray of int, shape (rows,)
        Codes of the competitors shown first and second.
    annotator : ndarray of int, shape (rows,)
        Codes of the annotators; ``n_annotators`` where nobody knows who voted.
    counts : ndarray, shape (rows, 3) or (rows, 5)
        Votes for the first, for the second, and ties; where verdicts are graded also clear
        wins of the first and of the second.
    given : ndarray, shape (rows,), optional
        Number of votes in each row, where importance weights make the counts another.
    slices : mapping of str to ndarray of int, shape (rows,)
        Codes of the levels of each slice (category, language, "prompt"); their number
        where a vote has no prompt.
    levels : mapping of str to tuple of str
        Names of the levels of each slice, sorted.
    features : mapping of str to ndarray, shape (rows,)
        Differences between the two answers (length, style), first minus second.
    sided : bool
        Whether the votes say who was shown first.
    dropped : mapping of str to int
        Votes that were left out on reading, by reason.
    remarks : tuple of Note
        What reading noticed: a kind and a sentence each.
    n_votes
    n_competitors
    n_annotators
    graded
    folded
    votes_by_competitor
    votes_by_annotator

    Methods
    -------
    keep
    drop
    known
    split
    save
    load
    """

    competitors: tuple[str, ...]
    annotators: tuple[str, ...]
    i: Ints
    j: Ints
    annotator: Ints
    counts: Floats
    given: Floats | None = None
    slices: Mapping[str, Ints] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    features: Mapping[str, Floats] = field(default_factory=dict)
    sided: bool = True
    dropped: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[Note, ...] = ()

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.i)

    def __repr__(self) -> str:
        """Return a line that says how many votes there are."""
        noun = "vote" if self.n_votes == 1 else "votes"
        text = (
            f"{self.n_votes:,.12g} {noun} on {plural(self.n_competitors, 'competitor')}"
        )
        if self.annotators:
            text += f" by {plural(self.n_annotators, 'annotator')}"
        for name, levels in self.levels.items():
            text += f", {plural(len(levels), 'level')} of {name}"
        return f"<Votes: {text}>"

    @property
    def n_votes(self) -> float:
        """Number of votes, or the sum of their frequency weights."""
        return float(self.cast.sum())

    @property
    def cast(self) -> Floats:
        """Number of votes in each row, or the sum of their frequency weights, (rows,)."""
        return self.counts.sum(axis=1) if self.given is None else self.given

    @property
    def n_competitors(self) -> int:
        """Number of competitors."""
        return len(self.competitors)

    @property
    def n_annotators(self) -> int:
        """Number of annotators; 0 where they are unknown."""
        return len(self.annotators)

    @property
    def graded(self) -> bool:
        """Whether verdicts tell clear wins from others."""
        return self.counts.shape[1] > 3

    @property
    def folded(self) -> Floats:
        """Wins of the first, wins of the second and ties, grades put together, (rows, 3)."""
        if not self.graded:
            return self.counts
        folded = self.counts[:, :3].copy()
        folded[:, FIRST] += self.counts[:, FIRST_CLEARLY]
        folded[:, SECOND] += self.counts[:, SECOND_CLEARLY]
        return folded

    @property
    def has_fractions(self) -> bool:
        """Whether votes have fractional weights, so that there are no single votes."""
        return bool(np.any(self.counts % 1))

    @property
    def score_of_first(self) -> Floats:
        """Score of the first competitor, a tie counting half, (rows,)."""
        folded = self.folded
        return folded[:, FIRST] + folded[:, TIE] / 2

    @property
    def pair_code(self) -> Ints:
        """Number of each row's pair, whoever was shown first, (rows,)."""
        low = np.minimum(self.i, self.j)
        high = np.maximum(self.i, self.j)
        return low * self.n_competitors + high

    @property
    def votes_by_competitor(self) -> Floats:
        """Votes on each competitor, (competitors,)."""
        cast, n = self.cast, self.n_competitors
        return sums(self.i, cast, n) + sums(self.j, cast, n)

    @property
    def votes_by_annotator(self) -> Floats:
        """Votes of each annotator, (annotators,)."""
        return self.votes_by_level("annotator")

    def votes_by_level(self, by: str) -> Floats:
        """Return the votes of each annotator, or of each level of a slice, (levels,)."""
        n = self.n_levels(by)
        return sums(self.level(by), self.cast, n + 1)[:n]

    def level(self, by: str | None) -> Ints:
        """Return the code of the annotator, or of the level of a slice; 0 for None."""
        if by is None:
            return np.zeros(len(self), np.intp)
        if by == "annotator":
            return self.annotator
        if by in self.slices:
            return self.slices[by]
        known = listing(self.slices) or "none"
        raise VotesError(
            joined(
                f"The votes have no slice {by!r}.{did_you_mean(str(by), self.slices)} "
                f"Slices: {known}. ",
                NO_SLICE,
            )
        )

    def n_levels(self, by: str) -> int:
        """Return the number of annotators, or of levels of a slice."""
        return self.n_annotators if by == "annotator" else len(self.levels[by])

    def known(self, *kinds: str) -> Votes:
        """Return the votes whose annotator, or prompt, is known.

        Parameters
        ----------
        *kinds : str
            "annotator", "prompt", or a slice.
        """
        kept = np.ones(len(self), bool)
        for by in kinds:
            if by == "annotator":
                self.require_annotators()
            kept &= self.level(by) < self.n_levels(by)
        return self if kept.all() else self.alone(kept)

    def level_or_row(self, by: str) -> Ints:
        """Return codes of levels, in which each row without a level stands alone, (rows,)."""
        level, n = self.level(by), self.n_levels(by)
        return np.where(level < n, level, n + np.arange(len(self)))

    def one_by_one(self) -> tuple[Ints, Ints]:
        """Return the row and the outcome of every single vote, both (votes,)."""
        row, outcome = np.nonzero(self.counts)
        times = self.counts[row, outcome].astype(np.intp)
        return np.repeat(row, times), np.repeat(outcome, times)

    def take(self, rows: Array) -> Votes:
        """Return some rows, in the given order, with the same names."""
        return replace(
            self,
            i=self.i[rows],
            j=self.j[rows],
            annotator=self.annotator[rows],
            counts=self.counts[rows],
            given=None if self.given is None else self.given[rows],
            slices={name: codes[rows] for name, codes in self.slices.items()},
            features={name: values[rows] for name, values in self.features.items()},
        )

    def with_counts(self, counts: Floats) -> Votes:
        """Return the votes of other counts, such as a part of these."""
        if self.given is None:
            return replace(self, counts=counts)
        given = self.given * counts.sum(axis=1) / self.counts.sum(axis=1)
        return replace(self, counts=counts, given=given)

    def collapse(
        self,
        *,
        annotators: bool = False,
        slices: Sequence[str] = (),
        features: Sequence[str] = (),
    ) -> Votes:
        """Return the counts summed over all that a model does not tell apart.

        Parameters
        ----------
        annotators : bool
            Whether rows of different annotators stay apart.
        slices, features : sequence of str
            Slices and features that stay apart.
        """
        if not self.annotators:
            annotators = True
        is_all = set(slices) == set(self.slices) and set(features) == set(self.features)
        if annotators and is_all:
            return self
        told_apart = replace(
            self,
            slices={name: self.slices[name] for name in slices},
            levels={name: self.levels[name] for name in slices},
            features={name: self.features[name] for name in features},
        )
        if not annotators:
            nobody = np.zeros_like(self.annotator)
            told_apart = replace(told_apart, annotators=(), annotator=nobody)
        return told_apart.summed_rows()

    def kinds_of_rows(self) -> tuple[Ints, Ints]:
        """Return the first row of each kind, in order, and the number of each row's kind."""
        columns = [self.annotator, self.i, self.j, *self.slices.values()]
        return distinct_rows([*columns, *self.features.values()])

    def summed_rows(self) -> Votes:
        """Return the votes with rows that agree put together, in order."""
        first, row = self.kinds_of_rows()
        given = None if self.given is None else sums(row, self.given, len(first))
        counts = summed_by(row, self.counts, len(first))
        return replace(self.take(first), counts=counts, given=given)

    def keep(
        self,
        *,
        annotators: str | Iterable[str] | None = None,
        more_than: float | None = None,
        competitors: str | Iterable[str] | None = None,
    ) -> Votes:
        """Return the votes of some annotators on some competitors, as if there were no others.

        Parameters
        ----------
        annotators, competitors : str or iterable of str, optional
            Names; votes between two of these competitors are kept.
        more_than : float, optional
            Keep annotators with more votes than this (delta in Algorithm 3 of Liu et al.,
            2025).

        Raises
        ------
        VotesError
            If a name is unknown, annotators are, or no vote is left.
        """
        kept = np.ones(len(self), bool)
        if annotators is not None:
            kept &= self.of_annotators(self.are_named("annotators", annotators))
        if more_than is not None:
            require_finite(more_than=more_than)
            self.require_annotators()
            cast = self.votes_by_annotator
            if cast.max(initial=0.0) <= more_than:
                raise VotesError(
                    f"No annotator has more than {more_than:g} votes; "
                    f"the most is {cast.max():g}."
                )
            kept &= self.of_annotators(cast > more_than)
        if competitors is not None:
            is_kept = self.are_named("competitors", competitors)
            kept &= is_kept[self.i] & is_kept[self.j]
        return self.alone(kept)

    def drop(
        self,
        *,
        annotators: str | Iterable[str] = (),
        competitors: str | Iterable[str] = (),
    ) -> Votes:
        """Return the votes without those of some annotators, or on some competitors.

        Competitors that only they saw are left out, too.
        """
        kept = np.ones(len(self), bool)
        if names := as_names(annotators):
            kept &= ~self.of_annotators(self.are_named("annotators", names))
        if names := as_names(competitors):
            is_dropped = self.are_named("competitors", names)
            kept &= ~(is_dropped[self.i] | is_dropped[self.j])
        return self.alone(kept)

    def require_annotators(self) -> None:
        """Raise a VotesError if annotators are unknown."""
        if not self.annotators:
            raise VotesError(NO_ANNOTATORS)

    def of_annotators(self, mask: Array) -> Array:
        """Return which rows are of some annotators, (annotators,)."""
        return np.append(mask, False)[self.annotator]

    def are_named(self, kind: str, names: str | Iterable[str]) -> Array:
        """Return which competitors or annotators are among some names."""
        if kind == "annotators":
            self.require_annotators()
        known: tuple[str, ...] = getattr(self, kind)
        wanted = as_names(names)
        if unknown := sorted(wanted.difference(known)):
            raise VotesError(
                f"None of the {len(known):,} {kind} is called {unknown[0]!r}."
                f"{did_you_mean(unknown[0], known) or f' They are {listing(known)}.'}"
            )
        return np.array([name in wanted for name in known], bool)

    def alone(self, kept: Array) -> Votes:
        """Return some rows as if there were no others."""
        if not kept.any():
            raise VotesError("No vote is left.")
        return self.take(np.flatnonzero(kept)).used()

    def used(self) -> Votes:
        """Return the votes without names that no row has."""
        (i, j), competitors = renumbered([self.i, self.j], self.competitors)
        votes = replace(self, i=i, j=j, competitors=competitors)
        if self.annotators:
            (annotator,), annotators = renumbered([self.annotator], self.annotators)
            votes = replace(votes, annotator=annotator, annotators=annotators)
        slices, levels = {}, {}
        for name, codes in self.slices.items():
            (slices[name],), levels[name] = renumbered([codes], self.levels[name])
        return replace(votes, slices=slices, levels=levels)

    def split(
        self, parts: int | float, *, by: str | None = None, seed: int = 0
    ) -> tuple[Votes, ...]:
        """Divide the votes at random into parts that share their names.

        Parameters
        ----------
        parts : int or float
            Number of parts with about as many votes each, or the share of the votes in the
            first of two.
        by : str, optional
            ``"annotator"``, ``"prompt"`` or another slice, whose levels stay whole.  By
            default votes are divided one by one.
        seed : int
            Seed of the random numbers.

        Returns
        -------
        tuple of Votes
            Their rows are those of the votes; ``merge`` puts them together again.
        """
        require_seed(seed)
        is_number = isinstance(parts, int) and parts >= 2
        is_share = isinstance(parts, Real) and 0 < parts < 1
        if not is_number and not is_share:
            raise VotesError(
                f"parts must be 2, 3 and so on, or a share between 0 and 1; not {parts!r}."
            )
        ends = np.array([parts, 1.0]) if parts < 1 else np.arange(1, parts + 1) / parts
        rng = np.random.default_rng(seed)
        if by is None:
            counts = divided_votes(self.counts, np.diff(ends, prepend=0.0), rng)
        else:
            if by == ANNOTATOR:
                self.require_annotators()
            part = divided_levels(self.level_or_row(by), self.cast, ends, rng)
            counts = np.where(
                (part == np.arange(len(ends))[:, None])[..., None], self.counts, 0.0
            )
        whole = [self.with_counts(each) for each in counts]
        return tuple(
            votes.take(np.flatnonzero(votes.counts.any(axis=1))) for votes in whole
        )

    def save(self, path: str | Path) -> None:
        """Write the votes to a file, ``.npz``, that ``Votes.load`` and ``read_votes`` read."""
        saved.save(self.attributes, path)

    @staticmethod
    def load(path: str | Path) -> Votes:
        """Read votes that ``save`` wrote."""
        return Votes(**saved.load(path))

    @property
    def attributes(self) -> Attributes:
        """What makes these votes, by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}


def sums(codes: Ints, values: Floats, size: int) -> Floats:
    """Return the sums of values by code, (size,)."""
    return np.bincount(codes, values, size).astype(float, copy=False)


def summed_by(row: Ints, counts: Floats, n_rows: int) -> Floats:
    """Return the sums of counts by row, (rows, outcomes)."""
    return np.stack([sums(row, column, n_rows) for column in counts.T], axis=1)


def kish(sizes: Array) -> float:
    """Return Kish's number of groups of some sizes, (sum n)^2 / sum n^2."""
    return float(sizes.sum() ** 2 / (sizes**2).sum()) if len(sizes) else 0.0


def as_names(names: str | Iterable[str]) -> set[str]:
    """Return a name or several as a set."""
    if not isinstance(names, Iterable):
        raise VotesError(f"Names are text, or a list of text; not {names!r}.")
    return {names} if isinstance(names, str) else {str(name) for name in names}


def renumbered(
    columns: Sequence[Ints], names: Sequence[str]
) -> tuple[list[Ints], tuple[str, ...]]:
    """Return codes of those names only that occur, and these names.

    The code beyond the last name, of what is unknown, stays that.
    """
    is_used = np.zeros(len(names) + 1, bool)
    for codes in columns:
        is_used[codes] = True
    is_used = is_used[:-1]
    if is_used.all():
        return list(columns), tuple(names)
    new_code = np.append(np.cumsum(is_used) - 1, is_used.sum())
    kept = np.array(names, object)[is_used]
    return [new_code[codes] for codes in columns], tuple(kept)


def divided_votes(counts: Floats, shares: Floats, rng: np.random.Generator) -> Floats:
    """Deal votes to parts at random, (parts, rows, outcomes).

    A count that is not whole goes to one part.
    """
    whole = np.floor(counts).astype(np.int64)
    is_whole = whole == counts
    dealt = rng.multinomial(np.where(is_whole, whole, 1), shares).astype(float)
    dealt[~is_whole] *= counts[~is_whole][:, None]
    return np.moveaxis(dealt, -1, 0)


def divided_levels(
    level: Ints, votes: Floats, ends: Floats, rng: np.random.Generator
) -> Ints:
    """Deal the levels of rows to parts at random, whole; return the part of each row."""
    size = np.bincount(level, votes)
    order = rng.permutation(len(size))
    middle = np.cumsum(size[order]) - size[order] / 2
    part = np.empty(len(size), np.intp)
    part[order] = np.searchsorted(ends, middle / size.sum(), side="right")
    return part[level]


def distinct_rows(columns: Sequence[Array]) -> tuple[Ints, Ints]:
    """Return the distinct rows of some columns, sorted by the first column, then the next.

    Returns
    -------
    first : ndarray, shape (distinct,)
        The index of one row of each kind.
    row : ndarray, shape (rows,)
        The number of each row's kind.
    """
    if all(column.dtype.kind in "iu" for column in columns):
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        if np.prod([float(size) for size in sizes]) < 2**62:
            key = np.zeros(len(columns[0]), np.int64)
            for column, size in zip(columns, sizes, strict=True):
                key = key * size + column
            _, first, row = np.unique(key, return_index=True, return_inverse=True)
            return first, row
    order = np.lexsort([column for column in reversed(columns)])
    is_new = np.zeros(len(order), bool)
    is_new[:1] = True
    for column in columns:
        is_new[1:] |= np.diff(column[order]) != 0
    row = np.empty(len(order), np.intp)
    row[order] = np.cumsum(is_new) - 1
    return order[is_new], row
