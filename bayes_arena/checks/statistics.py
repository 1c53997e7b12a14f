"""What votes show: shares, and gaps between groups of votes and what a model expects.

With s_g and e_g the scores (or shares of ties) seen and expected in group g, n_g its
votes and N their sum, the *gap* is sqrt(sum_g n_g (s_g - e_g)^2 / N): how far groups
are, on average, from what is expected.  Chance alone makes a gap; what the model does
not know makes a larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.fits.result import Fit, estimable, seen_votes
from bayes_arena.said import Call, Said, Use
from bayes_arena.votes.votes import FIRST, PROMPT, SECOND, TIE, Votes

# A number from counts of wins, losses and ties (rows, 3), and their probabilities.
type Value = Callable[[Floats, Floats], float]
# What is left of the rows, (rows,), from the same.
type Residual = Callable[[Floats, Floats], Floats]

UPSETS = "upsets (decided votes for the weaker)"
FIRST_SIDE = "wins of the first side (decided votes)"
TIES = "ties"


@dataclass(frozen=True)
class Statistic:
    """A number that votes show.

    Attributes
    ----------
    name : str
    value : callable
    about : str, or tuple of str and remedies
        What follows for the board if it is predicted badly.
    is_gap : bool
        Whether only a value larger than predicted is a fault.
    """

    name: str
    value: Value
    about: Said
    is_gap: bool = False


@dataclass(frozen=True)
class GroupGap:
    """Groups of votes whose scores, or ties, are compared with what is expected.

    ``groups`` returns a matrix that sums rows by group, (groups, rows), each turned by its
    sign; or None where the votes have no such groups.
    """

    name: str
    groups: Callable[[Votes, Floats], csr_array | None]
    of_ties: bool
    about: Said


def statistics_of(fit: Fit) -> list[Statistic]:
    """Return the statistics that the votes of a fit allow."""
    votes = seen_votes(fit)
    strength = fit.strength[estimable(fit)]
    has_ties = fit.model.ties == "davidson"
    shares = share_statistics(votes, strength)
    if has_ties:
        shares.append(Statistic(TIES, lambda counts, p: share_of_ties(counts), HARDLY))
    return shares + gap_statistics(votes, strength, has_ties)


def share_statistics(votes: Votes, strength: Floats) -> list[Statistic]:
    """Return shares of upsets and of the first side, and the score of the top one."""
    is_first_better = strength[votes.i] >= strength[votes.j]
    top = int(strength.argmax())
    statistics = [
        Statistic(
            UPSETS,
            lambda counts, p: share_of_upsets(counts, is_first_better),
            "The gaps between all scores are too wide, or too narrow.",
        ),
        Statistic(
            f"score of {votes.competitors[top]}",
            lambda counts, p: score_of(counts, votes, top),
            "The score of the top competitor is off.",
        ),
    ]
    if votes.sided:
        first = Statistic(FIRST_SIDE, lambda counts, p: share_of_first(counts), SIDE)
        statistics.append(first)
    return statistics


def gap_statistics(votes: Votes, strength: Floats, has_ties: bool) -> list[Statistic]:
    """Return the gaps that the votes allow."""
    statistics = []
    for gap in GAPS:
        groups = gap.groups(votes, strength)
        if groups is None or (gap.of_ties and not has_ties):
            continue
        value = partial(gap_of, groups, score_residual)
        if gap.of_ties:  # a tie is one whichever way a vote is turned
            value = partial(gap_of, abs(groups), tie_residual)
        statistics.append(Statistic(f"gap of {gap.name}", value, gap.about, True))
    return statistics


def by_pair(votes: Votes, strength: Floats) -> csr_array:
    """Return the groups of votes on each pair, turned to the lower code."""
    sign = np.where(votes.i < votes.j, 1.0, -1.0)
    return groups_of(votes.pair_code, np.arange(len(votes)), sign)


def by_competitor(votes: Votes, strength: Floats) -> csr_array:
    """Return the groups of votes on each competitor, turned to it: a row is in two."""
    return on_both_sides(votes, votes.i, votes.j)


def by_competitor_and_prompt(votes: Votes, strength: Floats) -> csr_array | None:
    """Return the groups of votes on each competitor at each prompt, turned to it."""
    if PROMPT not in votes.slices:
        return None
    first = votes.level_or_row(PROMPT) * votes.n_competitors
    return on_both_sides(votes, first + votes.i, first + votes.j)


def by_annotator(votes: Votes, strength: Floats) -> csr_array | None:
    """Return the groups of votes of each annotator, turned to the stronger."""
    if votes.n_annotators < 2:
        return None
    sign = np.where(strength[votes.i] >= strength[votes.j], 1.0, -1.0)
    return groups_of(votes.level_or_row("annotator"), np.arange(len(votes)), sign)


def on_both_sides(votes: Votes, first: Ints, second: Ints) -> csr_array:
    """Return groups of which each row is in two: for its first, and against its second."""
    row = np.tile(np.arange(len(votes)), 2)
    sign = np.repeat([1.0, -1.0], len(votes))
    return groups_of(np.concatenate([first, second]), row, sign)


def share_of_upsets(counts: Floats, is_first_better: Array) -> float:
    """Return the share of decided votes that the weaker competitor won."""
    weaker = np.where(is_first_better, counts[:, SECOND], counts[:, FIRST])
    return float(weaker.sum() / decided(counts))


def share_of_first(counts: Floats) -> float:
    """Return the share of decided votes that the first side won."""
    return float(counts[:, FIRST].sum() / decided(counts))


def decided(counts: Floats) -> float:
    """Return the number of decided votes; 1 if there are none."""
    return max(float(counts[:, [FIRST, SECOND]].sum()), 1.0)


def score_of(counts: Floats, votes: Votes, competitor: int) -> float:
    """Return the mean score of a competitor."""
    won = counts[votes.i == competitor, FIRST].sum()
    won += counts[votes.j == competitor, SECOND].sum()
    seen = counts[(votes.i == competitor) | (votes.j == competitor)]
    return float((won + seen[:, TIE].sum() / 2) / seen.sum())


def share_of_ties(counts: Floats) -> float:
    """Return the share of ties."""
    return float(counts[:, TIE].sum() / counts.sum())


def score_residual(counts: Floats, p: Floats) -> Floats:
    """Return the scores of the first side less those expected, (rows,)."""
    points = np.array([1.0, 0.0, 0.5])  # in the order of the counts
    return np.asarray(counts @ points - counts.sum(axis=1) * (p @ points))


def tie_residual(counts: Floats, p: Floats) -> Floats:
    """Return the ties less those expected, (rows,)."""
    return np.asarray(counts[:, TIE] - counts.sum(axis=1) * p[:, TIE])


def groups_of(group: Ints, row: Ints, sign: Floats) -> csr_array:
    """Return a matrix that sums rows by group, each with a sign, (groups, rows)."""
    _, code = np.unique(group, return_inverse=True)
    shape = (int(code.max()) + 1, int(row.max()) + 1)
    return csr_array((sign, (code, row)), shape=shape)


def gap_of(groups: csr_array, residual: Residual, counts: Floats, p: Floats) -> float:
    """Return the gap of groups, from counts and probabilities of the rows."""
    n_votes = abs(groups) @ counts.sum(axis=1)
    sums = groups @ residual(counts, p)
    return float(np.sqrt(np.sum(sums**2 / n_votes) / n_votes.sum()))


SIDE = (
    "The side matters: use a model with a position",
    (", such as ", Use(model="davidson")),
    ". The ranking stands where sides were drawn at random.",
)
HARDLY = "It touches the probability of a tie, and hardly the ranking."
GAPS = (
    GroupGap(
        "pairs' scores",
        by_pair,
        False,
        (
            "Some pairs end otherwise than the scores say",
            (": ", Call("pairs"), " shows them"),
            ". The ranking is that against all opponents on average.",
        ),
    ),
    GroupGap(
        "competitors' scores by prompt",
        by_competitor_and_prompt,
        False,
        (
            "Competitors are stronger on some prompts than on others. The ranking stands; "
            "its intervals have to allow for the choice of prompts, as ",
            Use(interval="clustered"),
            " does.",
        ),
    ),
    GroupGap(
        "annotators' agreement with the ranking",
        by_annotator,
        False,
        (
            "Annotators differ in how closely they follow the ranking, which is that of "
            "their average.",
            (" See ", Call("annotators"), "."),
            (" See ", Call("shared_ranking"), "."),
        ),
    ),
    GroupGap("competitors' ties", by_competitor, True, HARDLY),
    GroupGap(
        "annotators' ties",
        by_annotator,
        True,
        (HARDLY, (" ", Use(model="am-davidson"), " has ties by annotator.")),
    ),
)
