"""Build the design of a model for some votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bayes_arena.arrays import Array, Floats, Ints, positions_of
from bayes_arena.errors import ModelError
from bayes_arena.model.arrow import ParameterLayout
from bayes_arena.model.constants import ROWS_PER_CHUNK
from bayes_arena.model.design import Block, Design, Term
from bayes_arena.model.effects import Effect, effects_of, outcomes_of
from bayes_arena.model.priors import Prior
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.votes.votes import Votes


def build_design(votes: Votes, model: Model, prior: Prior) -> Design:
    """Return the design of a model.

    Rows that the model does not tell apart are summed.

    Parameters
    ----------
    votes : Votes
    model : Model
    prior : Prior
    """
    votes = visible_votes(model, votes).collapse(
        annotators=model.needs_annotators,
        slices=model.strength_by,
        features=model.style,
    )
    return design_of_rows(votes, model, prior)


def design_of_rows(votes: Votes, model: Model, prior: Prior) -> Design:
    """Return the design with the rows as they are, sorted by group."""
    effects = effects_of(model, prior)
    eliminated = largest_kind(effects, votes)
    local = [effect for effect in effects if effect.by == eliminated is not None]
    n_local = local_sizes(local, votes, eliminated)
    group_of_level = ranks_of(n_local)
    votes, group = sort_by_group(votes, eliminated, group_of_level)
    blocks: list[Block] = []
    # An effect of which levels have different numbers of parameters takes the last columns.
    for effect in sorted(effects, key=lambda e: e.per_competitor and e in local):
        is_local = effect in local
        blocks.append(
            build_block(effect, votes, is_local, next_column(blocks, is_local))
        )
    outcomes = outcomes_of(model)
    counts = outcomes.counts(votes)
    return Design(
        votes=votes,
        outcomes=outcomes,
        n_votes=counts.sum(axis=1),
        statistic=np.ascontiguousarray((counts @ outcomes.phi).T),
        group=group,
        group_of_level=group_of_level,
        blocks=tuple(blocks),
        terms=tuple(term for block in blocks for term, _ in terms_of(block, votes)),
        layout=build_layout(blocks, np.sort(n_local)),
    )


def largest_kind(effects: tuple[Effect, ...], votes: Votes) -> str | None:
    """Return what has the most parameters, the annotators or a slice, to be eliminated."""
    sizes: dict[str, int] = {}
    for effect in effects:
        if effect.by is not None:
            n_parameters = len(parameter_keys(effect, votes))
            sizes[effect.by] = sizes.get(effect.by, 0) + n_parameters
    return max(sizes, key=lambda by: sizes[by], default=None)


def local_sizes(
    effects: Sequence[Effect], votes: Votes, eliminated: str | None
) -> Ints:
    """Return how many parameters the local effects have in each group, in order of levels.

    If nothing is eliminated, groups are plain runs of rows, which have none.
    """
    if eliminated is None:
        return np.zeros(int(runs_of_rows(votes).max(initial=0)) + 1, np.intp)
    sizes = []
    for effect in effects:
        keys = parameter_keys(effect, votes)
        level = keys // votes.n_competitors if effect.per_competitor else keys
        sizes.append(np.bincount(level, minlength=count_levels(votes, eliminated)))
    return np.sum(sizes, axis=0)


def ranks_of(sizes: Ints) -> Ints:
    """Return the place of each number in the order of all, (numbers,)."""
    place = np.empty_like(sizes)
    place[np.argsort(sizes, kind="stable")] = np.arange(len(sizes))
    return place


def runs_of_rows(votes: Votes) -> Ints:
    """Return the run of each row, (rows,)."""
    return np.arange(len(votes)) // ROWS_PER_CHUNK


def sort_by_group(
    votes: Votes, eliminated: str | None, group_of_level: Ints
) -> tuple[Votes, Ints]:
    """Return the votes sorted by group, and the group of each row.

    If nothing is eliminated, groups are plain runs of rows.
    """
    if eliminated is None:
        return votes, runs_of_rows(votes)
    group = group_of_level[votes.level(eliminated)]
    if np.all(np.diff(group) >= 0):
        return votes, group
    order = np.argsort(group, kind="stable")
    return votes.take(order), group[order]


def count_levels(votes: Votes, by: str) -> int:
    """Return the number of annotators, or of levels of a slice."""
    return votes.n_annotators if by == "annotator" else len(votes.levels[by])


def row_keys(effect: Effect, votes: Votes) -> list[Ints]:
    """Return the key of the parameter that each row reads; two, if competitors have own.

    An unknown level, -1, has a key below all others.
    """
    level = votes.level(effect.by)
    if not effect.per_competitor:
        return [level]
    return [level * votes.n_competitors + side for side in (votes.i, votes.j)]


def parameter_keys(effect: Effect, votes: Votes) -> Ints:
    """Return the keys of an effect's parameters, sorted.

    A competitor has a parameter only at the levels of a slice where it was seen.
    """
    if effect.per_competitor and effect.by is not None:
        return np.unique(np.concatenate(row_keys(effect, votes)))
    if effect.per_competitor:
        return np.arange(votes.n_competitors)
    return np.arange(1 if effect.by is None else count_levels(votes, effect.by))


def build_block(effect: Effect, votes: Votes, is_local: bool, start: int) -> Block:
    """Return the block of an effect, whose first column is ``start``."""
    keys = parameter_keys(effect, votes)
    column = np.arange(len(keys))
    if is_local:  # counted from 0 in each group
        level = keys // votes.n_competitors if effect.per_competitor else keys
        column -= np.searchsorted(level, level)
    columns = slice(start, start + int(column.max()) + 1)
    return Block(effect, is_local, columns, keys, column, initial_spread(effect, votes))


def terms_of(block: Block, votes: Votes) -> Iterator[tuple[Term, Array]]:
    """Yield the terms of a block, and which rows have no parameter for them.

    There is one, or that of i and minus that of j.  Rows without a parameter, since its
    annotator or level is not known, have the coefficient 0.
    """
    feature = feature_values(block.effect, votes)
    for keys, sign in zip(row_keys(block.effect, votes), (1.0, -1.0), strict=False):
        position = positions_of(block.keys, keys)
        is_unknown = position < 0
        column = block.columns.start + block.column[position]
        coefficient = np.where(is_unknown, 0.0, sign * feature)
        yield (
            Term(block.effect.predictor, block.is_local, column, coefficient),
            is_unknown,
        )


def next_column(blocks: list[Block], is_local: bool) -> int:
    """Return the first free column, among the shared or the local ones."""
    ends = [block.columns.stop for block in blocks if block.is_local == is_local]
    return max(ends, default=0)


def feature_values(effect: Effect, votes: Votes) -> Floats:
    """Return what multiplies the parameters of an effect, (rows,): a feature or 1."""
    if effect.feature is None:
        return np.ones(len(votes))
    if effect.feature not in votes.features:
        raise ModelError(
            f"The fit reads the feature {effect.feature!r}, and these votes do not have it. "
            "Add a column of this name."
        )
    return votes.features[effect.feature]


def initial_spread(effect: Effect, votes: Votes) -> float:
    """Return the prior's sd, which for a feature is per root mean square over votes."""
    if effect.feature is None:
        return effect.spread.sd
    cast = votes.counts.sum(axis=1)
    mean_square = cast @ feature_values(effect, votes) ** 2 / cast.sum()
    if mean_square == 0:
        return effect.spread.sd
    return effect.spread.sd / float(np.sqrt(mean_square))


def build_layout(blocks: list[Block], n_local: Ints) -> ParameterLayout:
    """Return the layout of all parameters, with the sums that are held at zero."""
    n_shared = next_column(blocks, is_local=False)
    local = [block for block in blocks if block.is_local]
    return ParameterLayout(
        n_shared=n_shared,
        n_local=n_local,
        shared_sums=zero_sums([b for b in blocks if not b.is_local], n_shared),
        local_sums=zero_sums(local, next_column(local, is_local=True)),
    )


def zero_sums(blocks: list[Block], n_columns: int) -> Floats:
    """Return the coefficients of the sums that are held at zero, (columns, sums)."""
    blocks = [block for block in blocks if block.effect.zero_sum]
    sums = np.zeros((n_columns, len(blocks)))
    for b, block in enumerate(blocks):
        sums[block.columns, b] = 1.0
    return sums
