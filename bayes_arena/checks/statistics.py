"""What votes show: shares, and gaps between groups of votes and what a model expects.

With s_g and e_g the scores (or shares of ties) seen and expected in group g, n_g its
votes and N their sum, the *gap* is sqrt(sum_g n_g (s_g - e_g)^2 / N): how far groups
are, on average, from what is expected.  Chance alone makes a gap; what the model does
not know makes a larger one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bayes_arena.arrays import Array, Floats, Ints
from bayes_arena.fits.result import Fit, estimable, seen_votes
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
    about : str
        What follows for the board if it is predicted badly.
    is_gap : bool
        Whether only a value larger than predicted is a fault.
    """

    name: str
    value: Value
    about: str
    is_gap: bool = False


def statistics_of(fit: Fit) -> list[Statistic]:
    """Return the statistics that the votes of a fit allow."""
    votes = seen_votes(fit)
    strength = fit.strength[estimable(fit)]
    is_first_better = strength[votes.i] >= strength[votes.j]
    statistics = share_statistics(votes, is_first_better, int(strength.argmax()))
    statistics += gap_statistics(votes, is_first_better)
    if fit.model.ties == "davidson":
        statistics += tie_statistics(votes)
    return statistics


def share_statistics(votes: Votes, is_first_better: Array, top: int) -> list[Statistic]:
    """Return shares of upsets and of the first side, and the score of the top one."""
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
        about = (
            "The side matters. Use a model with a position, such as 'davidson'. The "
            "ranking stands where sides were drawn at random."
        )
        first = Statistic(FIRST_SIDE, lambda counts, p: share_of_first(counts), about)
        statistics.append(first)
    return statistics


def gap_statistics(votes: Votes, is_first_better: Array) -> list[Statistic]:
    """Return the gaps of scores that the votes allow."""
    statistics = [pair_gap(votes)]
    if PROMPT in votes.slices:
        statistics.append(prompt_gap(votes))
    if votes.n_annotators > 1:
        statistics.append(annotator_gap(votes, is_first_better))
    return statistics


def pair_gap(votes: Votes) -> Statistic:
    """Return the gap of the scores of pairs."""
    # A pair that is shown both ways is one: its score is that of the lower code.
    sign = np.where(votes.i < votes.j, 1.0, -1.0)
    groups = groups_of(votes.pair_code, np.arange(len(votes)), sign)
    return Statistic(
        "gap of pairs' scores",
        gap_of(groups, score_residual),
        "Some pairs end otherwise than the scores say: pairs() shows them. The "
        "ranking is that against all opponents on average.",
        is_gap=True,
    )


def prompt_gap(votes: Votes) -> Statistic:
    """Return the gap of the scores of competitors on each prompt."""
    # A row belongs to two groups: it counts for the first, and against the second.
    competitor = np.concatenate([votes.i, votes.j])
    prompt = np.tile(votes.level_or_row(PROMPT), 2)
    row = np.tile(np.arange(len(votes)), 2)
    sign = np.repeat([1.0, -1.0], len(votes))
    groups = groups_of(prompt * votes.n_competitors + competitor, row, sign)
    return Statistic(
        "gap of competitors' scores by prompt",
        gap_of(groups, score_residual),
        "Competitors are stronger on some prompts than on others. The ranking "
        "stands; its intervals have to allow for the choice of prompts, as "
        "interval='clustered' does.",
        is_gap=True,
    )


def annotator_gap(votes: Votes, is_first_better: Array) -> Statistic:
    """Return the gap of the scores that annotators give to the better of two."""
    sign = np.where(is_first_better, 1.0, -1.0)
    annotator = votes.level_or_row("annotator")
    groups = groups_of(annotator, np.arange(len(votes)), sign)
    return Statistic(
        "gap of annotators' agreement with the ranking",
        gap_of(groups, score_residual),
        "Annotators differ in how closely they follow the ranking, which is that "
        "of their average: annotators() and shared_ranking() tell more.",
        is_gap=True,
    )


def tie_statistics(votes: Votes) -> list[Statistic]:
    """Return the share of ties, and the gaps of ties of competitors and annotators."""
    about = "It touches the probability of a tie, and hardly the ranking."
    share = Statistic(TIES, lambda counts, p: share_of_ties(counts), about)
    statistics = [share, competitor_tie_gap(votes, about)]
    if votes.n_annotators > 1:
        about += " 'am-davidson' has ties by annotator."
        statistics.append(annotator_tie_gap(votes, about))
    return statistics


def competitor_tie_gap(votes: Votes, about: str) -> Statistic:
    """Return the gap of the ties of competitors."""
    competitor = np.concatenate([votes.i, votes.j])
    row = np.tile(np.arange(len(votes)), 2)
    gap = gap_of(groups_of(competitor, row, np.ones(len(row))), tie_residual)
    return Statistic("gap of competitors' ties", gap, about, is_gap=True)


def annotator_tie_gap(votes: Votes, about: str) -> Statistic:
    """Return the gap of the ties of annotators."""
    row = np.arange(len(votes))
    annotator = votes.level_or_row("annotator")
    gap = gap_of(groups_of(annotator, row, np.ones(len(row))), tie_residual)
    return Statistic("gap of annotators' ties", gap, about, is_gap=True)


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


def gap_of(groups: csr_array, residual: Residual) -> Value:
    """Return the gap of groups as a function of counts and probabilities."""
    members = abs(groups)

    def gap(counts: Floats, p: Floats) -> float:
        n_votes = members @ counts.sum(axis=1)
        sums = groups @ residual(counts, p)
        return float(np.sqrt(np.sum(sums**2 / n_votes) / n_votes.sum()))

    return gap
