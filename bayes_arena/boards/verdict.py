"""The verdict: who is the best, as far as the votes can tell, in a sentence or two."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.boards.look import Interval, Look
from bayes_arena.boards.slices import gaussian_at, over_all_votes
from bayes_arena.boards.standing import (
    Standing,
    ranked_board,
    standing_of,
    wins_losses_ties,
)
from bayes_arena.boards.uncertainty import in_plural
from bayes_arena.errors import listing
from bayes_arena.fits.fit import fitted
from bayes_arena.fits.options import UnseededOptions
from bayes_arena.votes.votes import MIN_VOTES

SETTLED = 0.95  # P(best) below which nobody is the best, at whatever level
PROBABLE = 0.6  # and from which somebody probably is
MOST_NAMED = 3  # candidates that a sentence lists
UNRANKED = 0.05  # P(somebody without a rank is better), above which that is said
PROMPTS_LIMIT = 1.2  # ratio of widths from which prompts are too few, and not votes
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def verdict(
    fit: object,
    *,
    interval: Interval | None = None,
    cluster: str | None = None,
    min_votes: float = MIN_VOTES,
    seed: int = 0,
    **options: Unpack[UnseededOptions],
) -> str:
    """Say who is the best, and what would settle it.

    Parameters
    ----------
    fit : Fit, or votes
    interval, cluster, min_votes, seed
        As in :func:`~bayes_arena.leaderboard`; the draws are the same.
    **options
        Options of :func:`~bayes_arena.fit`, where votes are still to be fitted.

    Returns
    -------
    str
    """
    look = Look(interval, cluster, min_votes=min_votes, seed=seed)
    standing = standing_of(fitted(fit, **options), look)
    return verdict_of(standing)


def verdict_of(standing: Standing, *, is_divided: bool = False) -> str:
    """Return the verdict of a standing.

    Parameters
    ----------
    standing : Standing
    is_divided : bool
        Whether about half of the annotators vote against the others: then more votes
        would not settle what is open.
    """
    return the_best(standing, what_would_settle(standing, is_divided=is_divided))


def the_best(standing: Standing, remedy: str = "") -> str:
    """Return who is the best, and a sentence on what would settle it where it is open."""
    if standing.n_groups > 1:
        return (
            f"Nobody is the best of all: no votes compare {standing.n_groups} groups of "
            "competitors. Votes between them would."
        )
    candidates, p_best = candidates_of(standing)
    if len(candidates):
        verdict = name_the_best(standing, candidates, p_best, remedy)
    else:
        n = len(standing.ranked)
        verdict = f"It is open who is the best of {n:,} competitors. {remedy}"
    return scope_of(standing, candidates) + verdict + describe_unbeaten(standing)


def scope_of(standing: Standing, candidates: Ints) -> str:
    """Return of whom a verdict speaks, where others may be better; else nothing."""
    leader = candidates[0] if len(candidates) else standing.ranked[0]
    conditions = []
    if not standing.estimable.all():
        conditions.append("a finite estimate")
    if standing.p_unranked_ahead(leader) > UNRANKED:
        conditions.append(f"{standing.look.min_votes:g} votes or more")
    if not conditions:
        return ""
    return (
        f"Of the {len(standing.ranked):,} competitors with {' and '.join(conditions)}: "
    )


def describe_unbeaten(standing: Standing) -> str:
    """Return who has no finite estimate since nobody beat them, a sentence; or nothing."""
    _, losses, ties = wins_losses_ties(standing.votes)
    codes = np.flatnonzero(~standing.estimable & (losses + ties == 0))
    if not len(codes):
        return ""
    return f" {listing(standing.competitors[c] for c in codes)} never lost."


def name_the_best(
    standing: Standing, candidates: Ints, p_best: Floats, remedy: str
) -> str:
    """Return who of the candidates is the best, and what would settle it."""
    names = [standing.competitors[c] for c in candidates]
    p = p_best[0]
    if first_is_settled(standing):
        return f"{names[0]} is the best ({probability(p)})."
    if p >= PROBABLE:
        rest = describe_others(names[1:])
        return f"{names[0]} is probably the best ({probability(p)}). {rest}{remedy}"
    if len(names) == 1:
        return (
            f"{names[0]} is the likeliest to be the best ({probability(p)}). {remedy}"
        )
    likeliest = [f"{name} ({p:.2f})" for name, p in zip(names, p_best, strict=True)]
    if len(candidates) <= MOST_NAMED:
        listed = ", ".join(likeliest[:-1]) + f" or {likeliest[-1]}"
        return f"The best is {listed}. {remedy}"
    listed = f"{likeliest[0]} and {likeliest[1]}"
    return (
        f"It is open who is the best: {number_in_words(len(candidates))} competitors "
        f"cannot be ruled out, {listed} are the likeliest. {remedy}"
    )


def describe_others(names: list[str]) -> str:
    """Return who else may be the best, a sentence; nothing if nobody may."""
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} cannot be ruled out. "
    return f"{number_in_words(len(names)).capitalize()} others cannot be ruled out. "


def first_is_settled(standing: Standing) -> bool:
    """Return whether it is clear who is the best: the ranks say so, and P(best)."""
    if standing.n_groups > 1:
        return False
    _, last = standing.rank_ranges
    return bool(np.any((last == 1) & (standing.p_best >= SETTLED)))


def candidates_of(standing: Standing) -> tuple[Ints, Floats]:
    """Return who may be the best by their rank ranges, and P(best), likeliest first.

    Where many are about equal it may be nobody: each is unlikely to be the best.
    """
    first, _ = standing.rank_ranges
    mask = first == 1
    candidates, p_best = standing.ranked[mask], standing.p_best[mask]
    order = np.argsort(-p_best, kind="stable")
    return candidates[order], p_best[order]


def what_would_settle(standing: Standing, *, is_divided: bool = False) -> str:
    """Say whether more votes would help, or only more prompts (or other clusters)."""
    if is_divided:
        return "About half of the annotators vote against the others: no votes settle that."
    limit = limit_of(standing)
    if limit is not None:
        n = standing.votes.n_levels(limit)
        more = f"More {in_plural(limit)} would settle it"
        return f"{more}; more votes on these {n:,} would not."
    among = next(iter(standing.fit.model.strength_by), standing.uncertainty.cluster)
    if among is None:
        return "More votes would settle it."
    return f"More votes, on more {in_plural(among)}, would settle it."


def votes_help(standing: Standing) -> bool:
    """Whether more votes settle what is open, so that it can be said how many."""
    return not standing.fit.model.strength_by and limit_of(standing) is None


def limit_of(standing: Standing) -> str | None:
    """Return of which clusters there are too few, so that more votes settle nothing; or None.

    Intervals are wide since there are few prompts, not few votes; or since the board is
    that of a new level of a slice, wider than over the levels that there are.
    """
    fit = standing.fit
    board = ranked_board(fit, standing.look.min_votes)
    for by in fit.model.strength_by:
        here = gaussian_at(fit, over_all_votes(fit, by))
        if np.median(board.sd) >= PROMPTS_LIMIT * np.median(here.sd):
            return by
    cluster = standing.uncertainty.cluster
    if cluster is None:
        return None
    widths = standing.uncertainty.sd / board.sd
    return cluster if np.median(widths) >= PROMPTS_LIMIT else None


def probability(p: float) -> str:
    """Return a probability as a reader wants it."""
    return "P above 0.99" if p > 0.99 else f"P {p:.2f}"


def number_in_words(count: int) -> str:
    """Return a small number in words."""
    return NUMBERS[count] if count < len(NUMBERS) else f"{count:,}"
