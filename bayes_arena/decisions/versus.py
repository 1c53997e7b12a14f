"""One competitor against another: which is the better, by how much, and how many more votes would settle it.

With d the gap r*_i - r*_j in the draws used for decisions, P(i is better) is the share of draws in which d is positive.
The order is settled at a level if that probability, or that of the other order, is at least the level, and never where
the prior alone relates the two.

The number of further votes on the pair that would settle it is an estimate, not a promise. The information about d in
a vote is

    s'(d)^2 / v,        s'(d) the slope of the expected score, v the variance of a score under the model,

and n such votes reduce the standard deviation from sd to (1 / sd^2 + n s'(d)^2 / v)^(-1/2). The estimate is the n at
which the level is reached *if d does not change*. It does: that many votes settled .57 and .64 of the pairs tried, with
Bradley-Terry and am-Davidson (``benchmarks/versus.py``). There is no estimate where slices differ (answers,
categories), as votes on new prompts are less informative; where the direction of the ranking is open, as direct votes
cannot settle the order; and where no votes connect the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtri

from bayes_arena.arrays import Columns, DataFrame, Floats, Ints, sum_by, table_of
from bayes_arena.decisions.verdict import chance, order_of
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.likelihood.outcomes.likelihood import ETA
from bayes_arena.likelihood.predictor import lead
from bayes_arena.markup import html_paragraph, percent
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.estimates import pair_indices
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.ratings.probabilities import score_columns, share_above, shares_ahead
from bayes_arena.votes.outcomes import whole_counts, wins_losses_ties

AT_ONCE = 2_000
"""Pairs whose gaps are drawn together; bounds the memory."""
BEYOND = 1000
"""Multiple of the votes cast beyond which no number of further votes is estimated."""


@dataclass(frozen=True)
class Versus:
    """One competitor against another.

    Attributes
    ----------
    competitor, opponent : str
        The two, in the order of the call.
    level : float
        Probability at which an order is settled, and coverage of the intervals.
    p_better : float
        Probability that the competitor is better than the opponent.
    settled : bool
        Whether this probability, or that of the other order, is at least the level, and votes compare the two.
    elo_gap, lower, upper : float
        The competitor's lead in Elo points: posterior mean and interval.
    expected_score : float
        Expected score of the competitor in a vote on the two by those whom the board is about, a tie counting one half.
    votes, wins, losses, ties : float
        Votes so far on the two that count; both-bad votes are among the ties.
    votes_to_go : float or None
        Estimate of the further votes on the two that would settle their order: 0 where it is settled, infinite if it
        takes more than a thousand times the votes cast; None where it cannot be estimated.
    connected : bool
        Whether votes compare the two, possibly through others; if not, the prior alone relates them, and nothing is
        settled.
    """

    competitor: str
    opponent: str
    level: float
    p_better: float
    settled: bool
    elo_gap: float
    lower: float
    upper: float
    expected_score: float
    votes: float
    wins: float
    losses: float
    ties: float
    votes_to_go: float | None
    connected: bool = True

    def __str__(self) -> str:
        if self.p_better < 0.5:
            return str(self.turned_round)
        said = f"{self.competitor} is better than {self.opponent} (probability {chance(self.p_better, self.level)})."
        if not self.settled:
            said = (
                f"The votes do not settle whether {self.competitor} is better than {self.opponent} (probability "
                f"{chance(self.p_better, self.level)})."
            )
        so_far = "No vote was cast on the two; all of this follows from votes on others."
        if not self.connected:
            so_far = "No votes compare the two, not even through others; the prior alone relates them."
        if self.votes:
            so_far = (
                f"Of {self.votes:,.12g} votes on the two it won {self.wins:,.12g}, lost {self.losses:,.12g} and tied "
                f"{self.ties:,.12g}."
            )
        sentences = [
            said,
            f"It is {max(self.elo_gap, 0.0):.0f} Elo points ahead ({percent(self.level, 'g')} interval "
            f"{self.lower:.0f} to {self.upper:.0f}) and is expected to take {percent(self.expected_score)} of their "
            "votes, a tie counting one half.",
            so_far,
        ]
        if not self.settled and self.votes_to_go is not None:
            sentences.append(
                f"{order_of(self.votes_to_go).capitalize()} more votes on the two would settle it if the gap does not "
                "change."
                if math.isfinite(self.votes_to_go)
                else "They are too close to estimate how many votes would settle it."
            )
        return " ".join(sentences)

    def _repr_html_(self) -> str:
        return html_paragraph(str(self))

    @property
    def turned_round(self) -> Versus:
        """The opponent against the competitor."""
        return replace(
            self,
            competitor=self.opponent,
            opponent=self.competitor,
            p_better=1 - self.p_better,
            elo_gap=-self.elo_gap,
            lower=-self.upper,
            upper=-self.lower,
            expected_score=1 - self.expected_score,
            wins=self.losses,
            losses=self.wins,
        )


@held
def versus(fit: Fit, competitor: str, opponent: str, *, level: float = 0.95) -> Versus:
    """Say which of two competitors is the better, by how much, and how many more votes would settle it.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    competitor, opponent : str
        The two.
    level : float
        Probability at which their order is settled, and coverage of the interval.

    Returns
    -------
    Versus

    Raises
    ------
    ModelError
        If a name is not a competitor, the two are the same, or the level is not between 0 and 1.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    Examples
    --------
    >>> found = versus(fit(example_arena().votes), "model-06", "model-12")
    >>> found.settled, round(found.p_better, 1)
    (False, 0.8)
    """
    require_level(level)
    columns = _compared(fit, *pair_indices(fit, [(competitor, opponent)]), level)
    numbers: dict[str, Any] = {name: column.tolist()[0] for name, column in columns.items()}
    return Versus(competitor, opponent, level, **numbers)


@held
def pairs(fit: Fit, *, level: float = 0.95) -> DataFrame:
    """Say of all pairs who is the better, and how sure that is, the least settled pair first.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        Probability at which an order is settled, and coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        The fields of a :class:`Versus`, but for the level: ``competitor``, the likelier to be better, ``opponent,
        p_better, settled, elo_gap, lower, upper, expected_score, votes, wins, losses, ties, votes_to_go, connected``.

    Raises
    ------
    ModelError
        If the level is not between 0 and 1.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.
    """
    return table_of(pair_columns(fit, level)[0], level=level, **fit.about, **fit.numbers)


def pair_columns(
    fit: Fit, level: float, most: int | None = None, of: tuple[str, str] | None = None
) -> tuple[Columns, int, int]:
    """Compare all pairs, the likelier competitor first, and return the ``most`` least settled ones; or the pair ``of``.

    The columns are the fields of a :class:`Versus`; with them come the number of pairs, and of those not settled.
    """
    require_level(level)
    i, j = pair_indices(fit, [of] if of else None)
    ahead = shares_ahead(decision_strengths(fit))[i, j]
    if of is None:
        i, j = np.where(ahead >= 0.5, i, j), np.where(ahead >= 0.5, j, i)
    likelier = np.maximum(ahead, 1 - ahead)
    order = np.argsort(likelier, kind="stable")[:most]
    names = np.array(fit.cells.competitors, dtype=object)
    columns = {"competitor": names[i[order]], "opponent": names[j[order]], **_compared(fit, i[order], j[order], level)}
    return columns, len(i), int(((likelier < level) | ~_connected(fit, i, j)).sum())


def _compared(fit: Fit, i: Ints, j: Ints, level: float) -> Columns:
    parts = [slice(first, first + AT_ONCE) for first in range(0, max(len(i), 1), AT_ONCE)]
    gaps = [_gaps(decision_strengths(fit), i[part], j[part], level) for part in parts]
    p_better, mean, variance, lower, upper = (np.concatenate(one) for one in zip(*gaps, strict=True))
    connected = _connected(fit, i, j)
    settled = (np.maximum(p_better, 1 - p_better) >= level) & connected
    points, open_direction = EloScale().points_per_logit, fit.mirror_probability or 0.0
    score = score_columns(fit, i, j)[0]["mean"]
    wins, losses, ties = _votes_between(fit, i, j)
    return {
        "p_better": p_better,
        "settled": settled,
        "elo_gap": points * mean,
        "lower": points * lower,
        "upper": points * upper,
        "expected_score": score + open_direction * (1 - 2 * score),
        "votes": whole_counts(wins + losses + ties),
        "wins": whole_counts(wins),
        "losses": whole_counts(losses),
        "ties": whole_counts(ties),
        "votes_to_go": np.where(connected, _votes_to_go(fit, i, j, (mean, variance), settled, level), np.array(None)),
        "connected": connected,
    }


def _gaps(strength: Floats, i: Ints, j: Ints, level: float) -> tuple[Floats, ...]:
    """Return P(ahead), mean, variance and the bounds of the gaps of pairs, given draws of all strengths."""
    gap = strength[:, i] - strength[:, j]
    return share_above(gap), gap.mean(axis=0), gap.var(axis=0), *equal_tailed(gap, level)


def _connected(fit: Fit, i: Ints, j: Ints) -> np.ndarray:
    """Return whether votes compare each pair, possibly through others."""
    return np.asarray(fit.cells.components[i] == fit.cells.components[j])


def _votes_between(fit: Fit, i: Ints, j: Ints) -> tuple[Floats, Floats, Floats]:
    cells, n = fit.voted, fit.cells.n_competitors
    wins, losses, ties = wins_losses_ties(cells.counts)
    forward, backward = cells.a * n + cells.b, cells.b * n + cells.a
    won = sum_by(forward, wins, n * n) + sum_by(backward, losses, n * n)
    tied = sum_by(forward, ties, n * n) + sum_by(backward, ties, n * n)
    return won[i * n + j], won[j * n + i], tied[i * n + j]


def _votes_to_go(fit: Fit, i: Ints, j: Ints, gap: tuple[Floats, Floats], settled: Ints, level: float) -> np.ndarray:
    """Estimate how many more votes on each pair would settle it; None where that is not possible."""
    if fit.estimand is not None or (fit.mirror_probability or 0.0) > 1 - level:
        return np.array([0 if done else None for done in settled.tolist()], object)
    (mean, variance), target = gap, fit.target
    leads = [lead(x, i, j) for x in (fit.point.strength, *(fit.point.slices[part] for part in target.directions))]
    z = target.predictor.coordinates(leads, fit.point.common, [one.mean for one in target.own])
    with np.errstate(divide="ignore", invalid="ignore"):  # far apart, chances no longer move
        by_vote = (expit(mean) * expit(-mean)) ** 2 / target.likelihood.expected_score(z)[1][ETA]
        missing = np.maximum((ndtri(level) / mean) ** 2 - 1 / variance, 0.0) / by_vote
    cast = fit.cells.n_votes * fit.cells.design_effect
    to_go = [math.ceil(votes) if votes <= BEYOND * cast else math.inf for votes in missing.tolist()]
    return np.array([0 if done else max(votes, 1) for done, votes in zip(settled.tolist(), to_go, strict=True)], object)
