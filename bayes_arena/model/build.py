"""Build the design of a model for some votes."""

from __future__ import annotations

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.model.arrow import Layout
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
    terms: list[Term] = []
    for effect in effects:
        is_local = effect.by == eliminated is not None
        numbers, level = number_parameters(effect, votes)
        n_columns = len(level)
        if is_local:
            numbers, n_columns = number_within_levels(numbers, level)
        start = next_column(blocks, is_local)
        columns = slice(start, start + n_columns)
        block = Block(effect, is_local, columns, initial_spread(effect, votes))
        blocks.append(block)
        terms += build_terms(block, numbers, votes)
    outcomes = outcomes_of(model)
    counts = outcomes.counts(votes)
    return Design(
        votes=votes,
        outcomes=outcomes,
        n_votes=counts.sum(axis=1),
        statistic=np.ascontiguousarray((counts @ outcomes.phi).T),
        group=group,
        blocks=tuple(blocks),
        terms=tuple(terms),
        layout=build_layout(blocks, count_groups(votes, eliminated, group)),
    )


def largest_kind(effects: tuple[Effect, ...], votes: Votes) -> str | None:
    """Return what has the most parameters, the annotators or a slice, to be eliminated."""
    sizes: dict[str, int] = {}
    for effect in effects:
        if effect.by is not None:
            _, level = number_parameters(effect, votes)
            sizes[effect.by] = sizes.get(effect.by, 0) + len(level)
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


def number_parameters(effect: Effect, votes: Votes) -> tuple[list[Ints], Ints]:
    """Return the parameters of an effect, numbered level by level.

    Returns
    -------
    numbers : list of ndarray, shape (rows,)
        The parameter of each row; two, if each competitor has its own.
    level : ndarray, shape (parameters,)
        The level of each parameter.
    """
    if effect.per_competitor:
        if effect.by is None:
            return [votes.i, votes.j], np.zeros(votes.n_competitors, np.intp)
        keys, numbers = competitor_keys(effect.by, votes)
        return numbers, keys // votes.n_competitors
    if effect.by is None:
        return [votes.level(None)], np.zeros(1, np.intp)
    return [votes.level(effect.by)], np.arange(count_levels(votes, effect.by))


def competitor_keys(by: str, votes: Votes) -> tuple[Ints, list[Ints]]:
    """Return level * competitors + competitor where seen, and their numbers in the rows.

    A competitor has a parameter only at the levels where it was seen.
    """
    n = votes.n_competitors
    level = votes.level(by)
    keys = np.concatenate([level * n + votes.i, level * n + votes.j])
    seen, number = np.unique(keys, return_inverse=True)
    return seen, np.split(number, 2)


def number_within_levels(numbers: list[Ints], level: Ints) -> tuple[list[Ints], int]:
    """Return the numbers counted from 0 at each level, and the largest count."""
    first = np.searchsorted(level, level)
    rank = np.arange(len(level)) - first
    return [rank[number] for number in numbers], int(rank.max()) + 1


def slice_parameters(design: Design, block: Block) -> tuple[Ints, Ints, Ints]:
    """Return level, competitor and index of the parameters that competitors have by level.

    The index is that among all parameters; all are (seen,).
    """
    votes, by = design.votes, block.effect.by
    if by is None:
        n = votes.n_competitors
        return np.zeros(n, np.intp), np.arange(n), design.indices(block)
    keys, _ = competitor_keys(by, votes)
    level = keys // votes.n_competitors
    number = np.arange(len(keys))
    if block.is_local:
        (rank,), width = number_within_levels([number], level)
        number = level * width + rank
    return level, keys % votes.n_competitors, design.indices(block)[number]


def next_column(blocks: list[Block], is_local: bool) -> int:
    """Return the first free column, among the shared or the local ones."""
    ends = [block.columns.stop for block in blocks if block.is_local == is_local]
    return max(ends, default=0)


def build_terms(block: Block, numbers: list[Ints], votes: Votes) -> list[Term]:
    """Return the terms of a block: one, or that of i and minus that of j."""
    effect = block.effect
    feature = feature_values(effect, votes)
    terms = []
    for number, sign in zip(numbers, (1.0, -1.0), strict=False):
        column = block.columns.start + number
        terms.append(Term(effect.predictor, block.is_local, column, sign * feature))
    return terms


def feature_values(effect: Effect, votes: Votes) -> Floats:
    """Return what multiplies the parameters of an effect, (rows,): a feature or 1."""
    if effect.feature is None:
        return np.ones(len(votes))
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


def build_layout(blocks: list[Block], n_groups: int) -> Layout:
    """Return the layout of all parameters, with the sums that are held at zero."""
    n_shared = next_column(blocks, is_local=False)
    n_local = next_column(blocks, is_local=True)
    return Layout(
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
