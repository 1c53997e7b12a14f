"""Programs as judges: how a judge votes compared with people, and what its votes are worth.

A judge is an annotator with its own theta, tie propensity and position effect, and also a taste: it sees strengths
q_i = r_i + u_i with u_i ~ N(0, tau^2), r being the strengths that people see. However many votes it casts, they
determine r_i - r_j only to within sqrt(2) tau (:mod:`bayes_arena.reliability.worth`). In a model without tastes, a
consistent judge weighs more than a person, and its preferences bias the board.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.fits.arguments import held
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.markup import html_facts
from bayes_arena.ratings.intervals.contract import equal_tailed, require_level
from bayes_arena.ratings.slices import numbers_of
from bayes_arena.reliability.concordance import Concordance, across_orders, among, between
from bayes_arena.reliability.worth import Worth, worth
from bayes_arena.threads import one_thread
from bayes_arena.votes.names import ANNOTATOR, PROGRAM

HUMANS = "humans"
"""All annotators that are not programs."""
COUNTED = 10.0
"""Numbers of at least this size are shown without decimals."""
DRAWS, FEWEST, LARGEST = 4000, 500, 5_000_000
"""Draws, fewest draws, and most draws times annotators: with many annotators there are fewer draws."""


@dataclass(frozen=True)
class Estimate:
    """A posterior mean with the bounds of an interval."""

    value: float
    lower: float
    upper: float

    @classmethod
    def of(cls, draws: Floats, level: float) -> Self:
        """Return the estimate from draws (n_draws,)."""
        lower, upper = equal_tailed(draws, level)
        return cls(float(draws.mean()), float(lower), float(upper))

    def __str__(self) -> str:
        return f"{self.value:z.2f} [{self.lower:z.2f}, {self.upper:z.2f}]"


@dataclass(frozen=True)
class JudgeReport:
    """A judge compared with the reference annotators; None where the model or the votes do not tell.

    Attributes
    ----------
    judge, model : str
        The annotator, and the model that was fitted.
    votes : float
        Votes of the judge.
    reference : "humans" or tuple of str
        The annotators it is compared with.
    reference_votes : float
        Their votes.
    worth : Worth
        Worth of the judge's votes, in theirs.
    level : float
        Coverage of the intervals.
    theta : Estimate or None
        Discrimination, relative to the reference annotators' mean, weighted by votes.
    tie_propensity : Estimate or None
        nu, relative to the median of the reference annotators'.
    position : Estimate or None
        Position effect in favour of the competitor shown first, in logits.
    order_consistency : float or None
        Share of verdicts that stay the same when the two answers are shown in the other order.
    in_both_orders : int
        Items (pairs of competitors, on one prompt where prompts are known) that were judged in both orders.
    with_reference, among_reference : Concordance or None
        Agreement and kappa of the judge with a reference annotator, and of two reference annotators.
    taste_spread : float or None
        tau, in logits.
    tastes : mapping of str to Estimate
        u of every competitor relative to the mean of all, in logits, the clearest first.
    self_preference : Estimate or None
        Mean taste for its own kind minus that for the others.
    own : tuple of str
        Competitors of its own kind.
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
            return f"{now}, if it has no taste of its own: this model has none, so their worth is unbounded."
        if self.worth.most is None:
            return f"{now}; enough of them may be worth more than any number of {self._theirs} on the same pairs."
        return f"{now}, and never more than {self.worth.most:,.0f}, however many it casts."

    @property
    def _theirs(self) -> str:
        return "human votes" if self.reference == HUMANS else "votes of the reference"

    def rows(self) -> dict[str, Estimate | float]:
        """All that the model and the votes tell, by label."""
        beside, two = self.with_reference, self.among_reference
        found = {
            "votes": self.votes,
            f"worth in {self._theirs}": self.worth.votes,
            "worth of each": self.worth.each,
            "worth at most": self.worth.most if self.taste_spread is not None else None,
            "theta, relative to theirs": self.theta,
            "tie propensity, relative to theirs": self.tie_propensity,
            "position effect, in logits": self.position,
            "same verdict in the other order": self.order_consistency,
            "agreement with one of them": beside.agreement if beside else None,
            "kappa with one of them": beside.kappa if beside else None,
            "agreement between two of them": two.agreement if two else None,
            "kappa between two of them": two.kappa if two else None,
            "spread of taste, in logits": self.taste_spread,
            "taste for its own kind": self.self_preference,
            **{f"taste for {name}": taste for name, taste in self.tastes.items()},
        }
        return {name: one for name, one in found.items() if one is not None}


def _shown(number: Estimate | float) -> str:
    if isinstance(number, Estimate):
        return str(number)
    return f"{number:,.0f}" if number >= COUNTED else f"{number:.2f}"


@held
def judge_report(
    fit: Fit,
    judge: str,
    *,
    reference: str | Sequence[str] = HUMANS,
    own: Sequence[str] | None = None,
    level: float = 0.95,
) -> JudgeReport:
    """Report how a judge votes compared with people, and what its votes are worth.

    Parameters
    ----------
    fit : Fit
        A fitted model. The worth of the judge's votes is bounded only if the model gives it a taste, as presets do
        where votes were read with ``programs=``.
    judge : str
        An annotator.
    reference : "humans", or names
        The annotators to compare it with: all but programs, or those named.
    own : sequence of str, optional
        Competitors of its own kind; by default those whose names begin with the judge's.
    level : float
        Coverage of the intervals.

    Returns
    -------
    JudgeReport
        ``print`` shows it as text; ``dataclasses.asdict`` makes it serialisable as JSON.

    Raises
    ------
    ModelError
        If an annotator is unknown, no annotator is left to compare the judge with, or the
        level is invalid.
    NotIdentifiedError
        If the votes without the judge's do not determine the strengths (under a flat prior).
    """
    require_level(level)
    cells = fit.cells
    named = [reference] if isinstance(reference, str) else list(reference)
    others = [name for name in cells.people if name != judge] if reference == HUMANS else named
    _require_known(cells.annotators, [judge, *others], "annotator")
    _require_known(cells.competitors, own or (), "competitor")
    if not others or judge in others:
        raise ModelError(
            f"There is no annotator to compare {judge!r} with. Name some (reference=[...]), or read votes of people. "
            "check shows how often it contradicts itself."
        )
    place = {name: index for index, name in enumerate(cells.annotators)}
    k, theirs, votes = place[judge], [place[name] for name in others], fit.cast.votes_by_annotator()
    with one_thread():
        size = min(DRAWS, max(FEWEST, LARGEST // cells.n_annotators))
        _, common, numbers, slices = draw_parameters(fit, size=size)
    slices_of_taste = [ANNOTATOR, *([PROGRAM] if judge in cells.programs else [])]
    kind = next((one for one in slices_of_taste if one in fit.model.strength_by), None)
    taste = _tastes(fit, slices, kind, judge) if kind else {}
    kin = tuple(own) if own is not None else tuple(name for name in cells.competitors if name.startswith(judge))
    order_consistency, in_both_orders = across_orders(cells, judge)
    return JudgeReport(
        judge=judge,
        model=fit.model.name,
        votes=float(votes[k]),
        reference=HUMANS if reference == HUMANS else tuple(others),
        reference_votes=float(votes[theirs].sum()),
        **{
            name: Estimate.of(draws, level)
            for name, draws in _habits(fit, common, numbers, k, theirs, votes[theirs]).items()
        },
        order_consistency=order_consistency,
        in_both_orders=in_both_orders,
        with_reference=between(cells, judge, others),
        among_reference=among(cells, others),
        taste_spread=fit.spreads.spread(f"strength_by_{kind}") if kind else None,
        tastes={name: Estimate.of(taste[name], level) for name in sorted(taste, key=lambda one: -_clarity(taste[one]))},
        self_preference=_preference(taste, kin, level),
        own=kin,
        worth=worth(fit, judge, others),
        level=level,
    )


def _habits(
    fit: Fit, common: Floats, numbers: Floats, k: int, theirs: Sequence[int], votes: Floats
) -> dict[str, Floats]:
    """Return draws of theta, tie propensity and position effect of annotator k, where the model has them."""
    target, found = fit.target, {}
    shared = {effect.name: common[:, column] for column, effect in enumerate(target.common)}
    for column, effect in enumerate(target.own):
        own, of_others = numbers[:, k, column], numbers[:, theirs, column]
        if effect.name == "discrimination":
            found["theta"] = own / np.average(of_others, axis=1, weights=votes)
        elif effect.name == "tie_propensity":
            with np.errstate(over="ignore"):
                times = np.exp(own - np.median(of_others, axis=1))
            if np.isfinite(times).all():  # else, under a flat prior, nothing says how much more often it ties
                found["tie_propensity"] = times
        elif effect.name == "position":
            found["position"] = shared["position"] + own
    return found


def _tastes(fit: Fit, slices: Floats, kind: str, judge: str) -> dict[str, Floats]:
    """Return draws of an annotator's tastes, centred, by competitor."""
    codes, competitor, place = numbers_of(fit, kind)
    of_judge = codes == fit.mode.problem.slice_names[kind].index(judge)
    draws = slices[:, place[of_judge]]
    draws = draws - draws.mean(axis=1, keepdims=True)
    return {fit.cells.competitors[i]: column for i, column in zip(competitor[of_judge], draws.T, strict=True)}


def _clarity(draws: Floats) -> float:
    return abs(float(draws.mean())) / float(draws.std())


def _preference(taste: Mapping[str, Floats], kin: Collection[str], level: float) -> Estimate | None:
    """Return the mean taste for some competitors minus that for the others, if there are others."""
    liked, rest = ([draws for name, draws in taste.items() if (name in kin) == inside] for inside in (True, False))
    return Estimate.of(np.mean(liked, axis=0) - np.mean(rest, axis=0), level) if liked and rest else None


def _require_known(known: Sequence[str], names: Sequence[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ModelError(
            f"There is no {what} {listing(map(repr, unknown))}."
            f"{did_you_mean(unknown[0], known) or f' Use names of fit.cells.{what}s.'}"
        )
