"""Build the design of a model for some votes."""

from __future__ import annotations

from collections.abc import Iterator

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
    votes, group = sort_by_group(votes, eliminated)
    blocks: list[Block] = []
    for effect in effects:
        is_local = effect.by == eliminated is not None
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
        blocks=tuple(blocks),
        terms=tuple(term for block in blocks for term, _ in terms_of(block, votes)),
        layout=build_layout(blocks, count_groups(votes, eliminated, group)),
    )


def largest_kind(effects: tuple[Effect, ...], votes: Votes) -> str | None:
    """Return what has the most parameters, the annotators or a slice, to be eliminated."""
    sizes: dict[str, int] = {}
    for effect in effects:
        if effect.by is not None:
            n_parameters = len(parameter_keys(effect, votes))
            sizes[effect.by] = sizes.get(effect.by, 0) + n_parameters
    return max(sizes, key=lambda by: sizes[by], default=None)


def sort_by_group(votes: Votes, eliminated: str | None) -> tuple[Votes, Ints]:
    """Return the votes sorted by group, and the group of each row.

    If nothing is eliminated, groups are plain runs of rows.
    """
    if eliminated is None:
        return votes, np.arange(len(votes)) // ROWS_PER_CHUNK
    group = votes.level(eliminated)
    if np.all(np.diff(group) >= 0):
        return votes, group
    order = np.argsort(group, kind="stable")
    return votes.take(order), group[order]


def count_groups(votes: Votes, eliminated: str | None, group: Ints) -> int:
    """Return the number of groups, also of those without votes."""
    if eliminated is None:
        return int(group.max(initial=0)) + 1
    return count_levels(votes, eliminated)


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


def build_layout(blocks: list[Block], n_groups: int) -> ParameterLayout:
    """Return the layout of all parameters, with the sums that are held at zero."""
    n_shared = next_column(blocks, is_local=False)
    n_local = next_column(blocks, is_local=True)
    return ParameterLayout(
        n_shared=n_shared,
        n_groups=n_groups,
        n_local=n_local,
        shared_sums=zero_sums([b for b in blocks if not b.is_local], n_shared),
        local_sums=zero_sums([b for b in blocks if b.is_local], n_local),
    )


def zero_sums(blocks: list[Block], n_columns: int) -> Floats:
    """Return the coefficients of the sums that are held at zero, (columns, sums)."""
    blocks = [block for block in blocks if block.effect.zero_sum]
    sums = np.zeros((n_columns, len(blocks)))
    for b, block in enumerate(blocks):
        sums[block.columns, b] = 1.0
    return sums
