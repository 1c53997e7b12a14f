"""What is known of a judge that is a program, and in what words it is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from bayes_arena.arrays import Floats
from bayes_arena.markup import html_facts
from bayes_arena.ratings.intervals.contract import equal_tailed
from bayes_arena.reliability.programs.concordance import Concordance
from bayes_arena.reliability.programs.worth import Worth

HUMANS = "humans"
"""All annotators that are no programs."""
COUNTED = 10.0
"""Numbers from which decimals say nothing."""


@dataclass(frozen=True)
class Estimate:
    """A posterior mean with the bounds of an interval."""

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, draws: Floats, level: float) -> Self:
        """Return the estimate that draws (n_draws,) give."""
        lower, upper = equal_tailed(draws, level)
        return cls(float(draws.mean()), float(lower), float(upper))

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.lower:.2f}, {self.upper:.2f}]"


@dataclass(frozen=True)
class JudgeReport:
    """A judge beside the annotators of reference; what the model or the votes do not say is None.

    Attributes
    ----------
    judge, model : str
        The annotator, and the model that was fitted.
    votes : float
        Votes of the judge.
    reference : "humans" or tuple of str
        Whom it is held against.
    reference_votes : float
        Their votes.
    worth : Worth
        Of the judge's votes, in theirs.
    level : float
        Coverage of the intervals.
    theta : Estimate or None
        Discrimination, relative to the mean of theirs, each counting by votes.
    tie_propensity : Estimate or None
        nu, relative to the median of theirs.
    position : Estimate or None
        Effect of being shown first, in logits.
    order_consistency : float or None
        Share of verdicts that stay when the order of the two is turned round.
    in_both_orders : int
        Items (pairs of competitors, on one prompt where prompts are known) that were judged in both orders.
    with_reference, among_reference : Concordance or None
        Agreement and kappa of the judge with one of them, and of two of them.
    taste_spread : float or None
        tau, in logits.
    tastes : mapping of str to Estimate
        u of every competitor against the mean of all, in logits, the clearest first.
    self_preference : Estimate or None
        Mean taste for its own kind less the mean of the others.
    own : tuple of str
        Its own kind.
    """

    judge: str
    model: str
    votes: float
    reference: str | tuple[str, ...]
    reference_votes: float
    worth: Worth
    level: float
    theta: Estimate | None = None
    tie_propensity: Estimate | None = None
    position: Estimate | None = None
    order_consistency: float | None = None
    in_both_orders: int = 0
    with_reference: Concordance | None = None
    among_reference: Concordance | None = None
    taste_spread: float | None = None
    tastes: Mapping[str, Estimate] = field(default_factory=dict)
    self_preference: Estimate | None = None
    own: tuple[str, ...] = ()

    def __str__(self) -> str:
        width = max(map(len, self.rows()))
        return "\n".join([self.sentence, *(f"  {name:<{width}}  {_shown(one)}" for name, one in self.rows().items())])

    def _repr_html_(self) -> str:
        return html_facts({name: _shown(one) for name, one in self.rows().items()}, said=[self.sentence])

    @property
    def sentence(self) -> str:
        """What its votes are worth, in words."""
        now = f"{self.judge}: {self.votes:,.12g} votes worth {self.worth.votes:,.0f} {self._theirs}"
        now += f" ({self.worth.each:.2g} each)"
        if self.taste_spread is None:
            return f"{now}, if it has no taste of its own: this model gives it none, and so no bound."
        if self.worth.most is None:
            return f"{now}; more of them may say what no number of {self._theirs} on the same pairs does."
        return f"{now}, and never more than {self.worth.most:,.0f} however many it casts."

    @property
    def _theirs(self) -> str:
        return "human votes" if self.reference == HUMANS else "votes of the reference"

    def rows(self) -> dict[str, Estimate | float]:
        """All that the model and the votes say, by what it is."""
        beside, two = self.with_reference, self.among_reference
        found = {
            "votes": self.votes,
            f"worth in {self._theirs}": self.worth.votes,
            "worth of each": self.worth.each,
            "worth at most": self.worth.most if self.taste_spread is not None else None,
            "theta, times theirs": self.theta,
            "tie propensity, times theirs": self.tie_propensity,
            "side, in logits": self.position,
            "verdict kept in the other order": self.order_consistency,
            "agreement with one of them": beside.agreement if beside else None,
            "kappa with one of them": beside.kappa if beside else None,
            "agreement of two of them": two.agreement if two else None,
            "kappa of two of them": two.kappa if two else None,
            "spread of taste, in logits": self.taste_spread,
            "taste for its own kind": self.self_preference,
            **{f"taste for {name}": taste for name, taste in self.tastes.items()},
        }
        return {name: one for name, one in found.items() if one is not None}


def _shown(number: Estimate | float) -> str:
    if isinstance(number, Estimate):
        return str(number)
    return f"{number:,.0f}" if number >= COUNTED else f"{number:.2f}"
