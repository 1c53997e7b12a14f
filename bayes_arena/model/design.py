"""The design: rows of votes, and the parameters that each of them depends on.

The parameters of an effect are a *block* of columns.  A predictor of a row is a sum of
*terms*, each a coefficient times one parameter; so a term is a design matrix with one
entry in each row.

Rows are sorted by *group*: the annotators, or the levels of a slice, whose parameters
are the local ones.  All other parameters are shared (see arrow.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.model.arrow import ParameterLayout
from bayes_arena.model.constants import ROWS_PER_CHUNK
from bayes_arena.model.effects import Effect, Outcomes
from bayes_arena.votes.votes import Votes


@dataclass(frozen=True)
class Block:
    """The parameters of an effect.

    Attributes
    ----------
    effect : Effect
    is_local : bool
    columns : slice
        Among the shared ones; or among the local ones, and then the same in each group.
    keys : ndarray of int, shape (parameters,)
        What each parameter belongs to, sorted: a level, and where each competitor has its
        own, level times competitors plus competitor.
    column : ndarray of int, shape (parameters,)
        Its column, counted from the first of the block.
    sd : float
        The current spread.
    """

    effect: Effect
    is_local: bool
    columns: slice
    keys: Ints
    column: Ints
    sd: float

    @property
    def is_estimated(self) -> bool:
        """Whether the spread is estimated."""
        return self.effect.spread.is_estimated


@dataclass(frozen=True)
class Term:
    """A summand of a predictor: in each row, a coefficient times one parameter.

    ``column`` (rows,) is that of the parameter, among the shared ones or among the
    local ones of the row's group.
    """

    predictor: int
    is_local: bool
    column: Ints
    coefficient: Floats


@dataclass(frozen=True)
class Chunk:
    """The rows of some consecutive groups.

    ``first_local`` is the index of the first local parameter of these groups, and
    ``group_start`` (rows,) the distance from it to the first one of each row's group, of
    which there are ``n_local`` (rows,); ``block_start`` (rows,) is where the cells of the
    group's block of D begin.
    """

    groups: slice
    rows: slice
    n_votes: Floats
    statistic: Floats
    terms: tuple[Term, ...]
    first_local: int
    group_start: Ints
    n_local: Ints
    block_start: Ints

    def position(self, term: Term) -> Ints:
        """Return a term's position among the shared or the chunk's local parameters."""
        return self.group_start + term.column if term.is_local else term.column

    def index(self, term: Term) -> Ints:
        """Return the index of a term's parameter among all parameters, (rows,)."""
        first = self.first_local if term.is_local else 0
        return first + self.position(term)


@dataclass(frozen=True)
class Design:
    """Rows of votes, sorted by group, and what they depend on.

    The number of votes ``n_votes`` (rows,) and ``statistic`` (coordinates, rows), the
    counts times the outcome table, are sufficient.  ``group`` is (rows,), and
    ``group_of_level`` (levels,) that of each annotator, or level of the slice.
    """

    votes: Votes
    outcomes: Outcomes
    n_votes: Floats
    statistic: Floats
    group: Ints
    group_of_level: Ints
    blocks: tuple[Block, ...]
    terms: tuple[Term, ...]
    layout: ParameterLayout

    @property
    def phi(self) -> Floats:
        """Logits of the outcomes per unit of each coordinate, (outcomes, coordinates)."""
        return self.outcomes.phi

    def block(self, name: str) -> Block:
        """Return the block of an effect."""
        return next(block for block in self.blocks if block.effect.name == name)

    def has(self, name: str) -> bool:
        """Whether there is an effect of this name."""
        return any(block.effect.name == name for block in self.blocks)

    def indices(self, block: Block) -> Ints:
        """Return the index of each parameter of a block, in the order of its keys."""
        index = block.columns.start + block.column
        if not block.is_local:
            return index
        level = block.keys
        if block.effect.per_competitor:
            level = level // self.votes.n_competitors
        start = self.layout.starts[self.group_of_level[level]]
        return self.layout.n_shared + start + index

    def prior_precision(self) -> Floats:
        """Return the prior precision of each parameter, (parameters,)."""
        precision = np.zeros(self.layout.size)
        for block in self.blocks:
            precision[self.indices(block)] = block.sd**-2.0
        return precision

    def with_spreads(self, spreads: Mapping[str, float]) -> Design:
        """Return the same design with other spreads of some effects."""
        blocks = []
        for block in self.blocks:
            sd = spreads.get(block.effect.name, block.sd)
            blocks.append(replace(block, sd=sd))
        return replace(self, blocks=tuple(blocks))

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows in chunks of whole groups."""
        n_groups = self.layout.n_groups
        first_row = np.searchsorted(self.group, np.arange(n_groups + 1))
        # A new chunk starts where the rows pass a multiple of the size of a chunk.
        multiple = first_row[:-1] // ROWS_PER_CHUNK
        starts = np.unique(multiple, return_index=True)[1]
        for start, stop in pairwise([*starts, n_groups]):
            rows = slice(first_row[start], first_row[stop])
            yield self.chunk(slice(start, stop), rows)

    def chunk(self, groups: slice, rows: slice) -> Chunk:
        """Return the rows of some groups."""
        terms = []
        for term in self.terms:
            column, coefficient = term.column[rows], term.coefficient[rows]
            terms.append(replace(term, column=column, coefficient=coefficient))
        layout, group = self.layout, self.group[rows]
        first, first_cell = (
            layout.starts[groups.start],
            layout.block_starts[groups.start],
        )
        return Chunk(
            groups=groups,
            rows=rows,
            n_votes=self.n_votes[rows],
            statistic=self.statistic[:, rows],
            terms=tuple(terms),
            first_local=layout.n_shared + int(first),
            group_start=layout.starts[group] - first,
            n_local=layout.n_local[group],
            block_start=layout.block_starts[group] - first_cell,
        )
