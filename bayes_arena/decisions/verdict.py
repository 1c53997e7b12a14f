"""The verdict: one sentence with one number about which competitor is the best, and what lies behind it.

"A leads" if P(A is best) is at least the level, .95. Otherwise "the best is one of A, B, C": the smallest set that
contains the best with probability .99, if it is small: at most three competitors or a fifth of all, and never all of
them. Otherwise there are not enough votes to say. No sentence claims that competitors are equally good, which votes
cannot show. Where no votes connect some groups of competitors, the verdict is about the largest group.

Sets have probability .99 so that the sentence is wrong less than one time in twenty in every kind of arena, not only on
average over arenas drawn from the prior: where three lead by about the same, the smallest .95 set misses the best one
time in ten (``benchmarks/decisions.py``). At another level they miss a fifth of what it may miss.

Behind it, with r* the competitors' strengths, l the leader and all expectations over the posterior,

    expected regret  = E[max_j r*_j - r*_l]                      in Elo points: the loss if l is not the best
    expected tau     = mean over pairs of 2 P(order right) - 1   Kendall's, of the order of the posterior means

The number of votes to go is an estimate, not a promise. With m times as many votes of the same kind, posterior standard
deviations would be about 1 / sqrt(m) of what they are. If the means stayed, draws r would become
mean + (r - mean) / sqrt(m), and the estimate is the smallest m at which P(best), or the expected share of pairs in the
right order, (1 + tau) / 2, reaches the level. It is often too high: means do move, and well-chosen pairs
(:func:`~bayes_arena.next_pairs`) take fewer votes, in ``benchmarks/decisions.py`` about half of the estimate at 500
votes. For new prompts it is too low if further votes are on old prompts. In words it is an order of magnitude only.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bayes_arena.arrays import Floats, Ints
from bayes_arena.fits.arguments import held
from bayes_arena.fits.result import Fit
from bayes_arena.markup import html_paragraph, percent, ranked
from bayes_arena.ratings.decision_draws import best_probabilities, decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.intervals.contract import require_level

LEADS = 0.95
"""Probability of a leader, by default."""
SPARED = 5
"""A set misses the best with this part of the probability with which a leader may not be the best."""
FEW, SHARE = 3, 5
"""A set has at most three competitors, or one in five of all."""
MULTIPLES = np.geomspace(1, 1000, 300)
"""Multiples of the votes that are tried; beyond the last there is no estimate."""
MANY = 100
"""Competitors from which not all draws are needed for the share of pairs in the right order: pairs are many."""
MORE = (
    (0.5, "less than half as many votes again"),
    (2.0, "about as many votes again"),
    (10.0, "several times as many votes"),
    (math.inf, "more than ten times as many votes"),
)
"""Further votes, as multiples of those cast."""
ORDERS = ("a few", "dozens", "hundreds", "thousands", "tens of thousands", "hundreds of thousands", "millions")
"""Orders of magnitude, from less than ten on."""


@dataclass(frozen=True)
class Verdict:
    """Which competitor is the best, as far as the votes settle it.

    Attributes
    ----------
    headline : str
        The verdict in words, without its probability.
    level : float
        Probability at which one competitor leads.
    named : tuple of str
        The leader, or the few of whom one is the best, the likeliest first; empty if there are not enough votes to say.
    probability : float
        Probability that the best is one of them; of the likeliest, if nobody is named.
    leader : str
        The competitor that is the likeliest to be the best.
    p_best : float
        Probability that it is.
    regret_elo : float
        Expected regret in Elo points: how far behind the best it is expected to be.
    expected_tau : float
        Expected Kendall's tau between the order of the posterior means and the true order.
    votes : float
        Votes that count, to which those below are added.
    votes_to_name, votes_to_rank : float
        Estimates of the further votes after which one competitor leads, and after which a share of ``level`` of all
        pairs is expected to be in the right order: 0 when that is reached, infinite if it takes more than a thousand
        times the votes cast, or if votes like these never reach it because they leave the direction of the ranking
        open or do not connect all competitors.
    """

    headline: str
    level: float
    named: tuple[str, ...]
    probability: float
    leader: str
    p_best: float
    regret_elo: float
    expected_tau: float
    votes: float
    votes_to_name: float
    votes_to_rank: float

    def __str__(self) -> str:
        return self.sentence

    @property
    def sentence(self) -> str:
        """The verdict in words, with its probability, which ``str`` returns."""
        what = "P" if len(self.named) > 1 else "P(best)"
        return f"{self.headline.removesuffix('.')} ({what} {chance(self.probability, self.level)})."

    def _repr_html_(self) -> str:
        return html_paragraph(self.sentence)

    @property
    def explained(self) -> list[str]:
        """What lies behind the sentence, in further sentences."""
        at = percent(self.level, "g")
        return [
            f"To name the best at {at}, {more(self.votes_to_name, self.votes)}.",
            f"Whoever takes {self.leader} for the best loses {self.regret_elo:.1f} Elo points on average.",
            f"To have {at} of all pairs in the right order, {more(self.votes_to_rank, self.votes)}; "
            f"{percent((1 + self.expected_tau) / 2)} are expected to be (Kendall's tau {self.expected_tau:.2f}).",
        ]


@held
def verdict(fit: Fit, *, level: float = LEADS) -> Verdict:
    """Say in one sentence which competitor is the best, as far as the votes settle it.

    Parameters
    ----------
    fit : Fit
        A fitted model.
    level : float
        Probability at which one competitor leads. Stopping at P(best) >= .95, however often one looks, is wrong about
        one time in twenty over arenas drawn from the prior. In an arena whose best two are nearly equal it is wrong
        more often, but at little cost.

    Returns
    -------
    Verdict
        That one competitor leads, that the best is one of a few (.99 at level .95), or that there are not enough votes
        to say.

    Raises
    ------
    ModelError
        If the level is not between 0 and 1.
    NotIdentifiedError
        If the votes do not determine the estimate under a flat prior.

    Examples
    --------
    >>> print(verdict(fit(example_arena().votes)))
    model-18 leads (P(best) above 0.999).
    """
    require_level(level)
    return verdict_of(fit, decision_strengths(fit), level)


def verdict_of(fit: Fit, strength: Floats, level: float) -> Verdict:
    """Return the verdict from draws of r* in logits (n_draws, n)."""
    sizes = np.bincount(fit.cells.components)
    among = np.flatnonzero(fit.cells.components == sizes.argmax())
    p_best = best_probabilities(strength[:, among])
    named, first = among[likely_best(p_best, level)], among[p_best.argmax()]
    names, leader = [fit.cells.competitors[place] for place in named], fit.cells.competitors[first]
    probability = float(p_best[np.searchsorted(among, named)].sum() if len(named) else p_best.max())
    every = max(1, fit.cells.n_competitors // MANY)
    cast, ranked = fit.cells.n_votes * fit.cells.design_effect, _best_first(strength[::every])
    mirrored = (fit.mirror_probability or 0.0) > 1 - level

    def to_go(ranked: Floats, reached: Callable[[Floats], float], *, never: bool) -> float:
        mean = ranked.mean(axis=0)
        place = bisect_left(MULTIPLES, level, key=lambda m: reached(mean + (ranked - mean) / math.sqrt(m)))
        unknown = (place and never) or place == len(MULTIPLES)
        return math.inf if unknown else math.ceil(cast * (MULTIPLES[place] - 1))

    behind = strength[:, among].max(axis=1) - strength[:, first]
    return Verdict(
        headline=_apart(sizes) + _headline(fit, names, leader),
        level=level,
        named=tuple(names),
        probability=probability,
        leader=leader,
        p_best=float(p_best.max()),
        regret_elo=EloScale().points_per_logit * float(behind.mean()),
        expected_tau=2 * in_order(ranked) - 1,
        votes=cast,
        votes_to_name=to_go(_best_first(strength[:, among]), leads, never=mirrored),
        votes_to_rank=to_go(ranked, in_order, never=mirrored or len(sizes) > 1),
    )


def _best_first(strength: Floats) -> Floats:
    """Return draws (n_draws, n) with the competitors in the order of their means, the best first."""
    return strength[:, np.argsort(-strength.mean(axis=0), kind="stable")]


def _headline(fit: Fit, named: list[str], leader: str) -> str:
    board = _board(fit.about)
    if not named:
        return f"Not enough votes to say which is the best{board}: the likeliest is {leader}."
    *others, last = named
    if not others:
        return f"{last} leads{board}."
    return f"The best{board} is one of {', '.join(others)} and {last}."


def _board(about: Mapping[str, str]) -> str:
    """Say in short what a ranking is about; empty if that is everything."""
    short = {name: what for name, what in about.items() if name not in ("cap", "effective_votes")}
    return "".join(f" {one}" for one in ranked(short))


def _apart(sizes: Ints) -> str:
    """Say that no votes connect groups of these sizes, if there are several."""
    if len(sizes) == 1:
        return ""
    return (
        f"No votes connect {len(sizes)} groups of competitors, so nobody is the best of all; of the largest group, "
        f"{sizes.max()} of {sizes.sum()}, this can be said. "
    )


def likely_best(p_best: Floats, level: float = LEADS, one_of: float | None = None) -> Ints:
    """Return the leader, else the smallest set that contains the best with probability ``one_of``; empty if too large.

    They are indices, the most likely first, given the probability that each competitor is the best, (n,).
    """
    n = len(p_best)
    order = np.argsort(-p_best, kind="stable")
    if p_best[order[0]] >= level:
        return order[:1]
    one_of = 1 - (1 - level) / SPARED if one_of is None else one_of
    size = 1 + int(np.searchsorted(np.cumsum(p_best[order]), one_of - 1e-12))
    return order[: size if size <= min(max(FEW, n // SHARE), n - 1) else 0]


def leads(ranked: Floats) -> float:
    """Return the share of draws (n_draws, n) in which the first competitor is the best."""
    return float((ranked.argmax(axis=1) == 0).mean())


def in_order(ranked: Floats) -> float:
    """Return the share of draws and pairs in which the competitor ranked first is the better of the two."""
    columns = np.ascontiguousarray(ranked.T)
    right = sum(np.count_nonzero(column > columns[place + 1 :]) for place, column in enumerate(columns))
    return float(right / (len(ranked) * math.comb(len(columns), 2)))


def chance(p: float, level: float = LEADS) -> str:
    """Format a probability rounded down, so that it reaches a level only if it does, and is never one.

    >>> chance(0.9499), chance(0.951), chance(0.9969), chance(0.9999), chance(0.9749, 0.975)
    ('0.94', '0.95', '0.996', 'above 0.999', '0.974')
    """
    if p >= 0.9995:
        return "above 0.999"
    digits = max(3 if p >= 0.995 else 2, len(f"{level:.12g}") - 2)
    return f"{math.floor(p * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def more(votes: float, cast: float) -> str:
    """Say how many further votes it takes, beside those cast, to an order of magnitude."""
    if not votes:
        return "there are enough votes"
    if math.isinf(votes):
        return "no number of votes like these can be estimated"
    return "it would take " + next(words for limit, words in MORE if votes <= limit * cast)


def order_of(votes: float) -> str:
    """Return the order of magnitude of a number of votes, in words.

    >>> order_of(7), order_of(230), order_of(54_000)
    ('a few', 'hundreds', 'tens of thousands')
    """
    return ORDERS[min(int(math.log10(max(votes, 1))), len(ORDERS) - 1)]
