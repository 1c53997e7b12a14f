"""What a judge that is a program does, beside people, and what its votes are worth.

A judge is one more annotator, with theta, ties and a side of its own, and one thing more: a taste, a strength of every
competitor in its eyes, q_i = r_i + u_i with u_i ~ N(0, tau^2), r being what people see. However many votes it casts,
they say r_i - r_j to within sqrt(2) tau and no better (:mod:`bayes_arena.reliability.programs.worth`). Without a taste
in the model a consistent judge counts for more than a person, and its likes become those of everybody.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bayes_arena.arguments import held
from bayes_arena.arrays import Floats
from bayes_arena.errors import ModelError, did_you_mean, listing
from bayes_arena.fits.posterior_draws import draw_parameters
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.intervals.contract import require_level
from bayes_arena.ratings.slices import numbers_of
from bayes_arena.reliability.programs.concordance import across_orders, among, between
from bayes_arena.reliability.programs.report import HUMANS, Estimate, JudgeReport
from bayes_arena.reliability.programs.worth import worth
from bayes_arena.threads import one_thread
from bayes_arena.votes.names import ANNOTATOR, PROGRAM

DRAWS, FEWEST, LARGEST = 4000, 500, 5_000_000
"""Draws, and draws times annotators that are kept: with many annotators there are fewer draws."""


@held
def judge_report(
    fit: Fit,
    judge: str,
    *,
    reference: str | Sequence[str] = HUMANS,
    own: Sequence[str] | None = None,
    level: float = 0.95,
) -> JudgeReport:
    """Report what a judge does beside people, and what its votes are worth.

    Parameters
    ----------
    fit : Fit
        A fitted model; one in which the judge has a taste, as it has in a preset where votes were read with
        ``programs=``, bounds what its votes are worth.
    judge : str
        An annotator.
    reference : "humans", or names
        Whom it is held against: all annotators that are no programs, or these.
    own : sequence of str, optional
        Competitors of its own kind; by default those whose names begin as the judge is called.
    level : float
        Coverage of the intervals.

    Returns
    -------
    JudgeReport
        ``print`` says it in words; ``dataclasses.asdict`` gives what JSON can hold.

    Raises
    ------
    ModelError
        If nobody is called so, their votes do not count, nobody is left to hold the judge against, or the level is not
        possible.
    NotIdentifiedError
        If the votes without the judge's do not determine the strengths (under a flat prior).
    """
    require_level(level)
    cells = fit.cells
    named = [reference] if isinstance(reference, str) else list(reference)
    others = [name for name in cells.people if name != judge] if reference == HUMANS else named
    suspects = fit.trust.suspects if fit.trust else ()
    left_out = [name for name in (judge, *others) if name in suspects]
    if left_out:
        raise ModelError(
            f"The votes of {listing(map(repr, left_out))} do not count in this fit. To report on them: guard=False "
            "(--no-guard)."
        )
    _require_known(cells.annotators, [judge, *others], "annotator")
    _require_known(cells.competitors, own or (), "competitor")
    if not others or judge in others:
        raise ModelError(
            f"Nobody but {judge!r} is left to hold it against. Name others (reference=[...]), or read votes of people. "
            "How often it contradicts itself is in check."
        )
    place = {name: index for index, name in enumerate(cells.annotators)}
    k, theirs, votes = place[judge], [place[name] for name in others], cells.votes_by_annotator()
    with one_thread():
        size = min(DRAWS, max(FEWEST, LARGEST // cells.n_annotators))
        _, common, numbers, slices = draw_parameters(fit, size=size)
    kind = _kind_of_taste(fit, judge)
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
    """Return draws of what annotator k does, where the model says: theta, ties and side, beside the others'."""
    target, found = fit.target, {}
    shared = {effect.name: common[:, column] for column, effect in enumerate(target.common)}
    for column, effect in enumerate(target.own):
        own, of_others = numbers[:, k, column], numbers[:, theirs, column]
        if effect.name == "discrimination":
            found["theta"] = own / np.average(of_others, axis=1, weights=votes)
        elif effect.name == "tie_propensity":
            found["tie_propensity"] = np.exp(own - np.median(of_others, axis=1))
        elif effect.name == "position":
            found["position"] = shared["position"] + own
    return found


def _kind_of_taste(fit: Fit, judge: str) -> str | None:
    """Return by what kind of slice the model gives a judge a taste, if it does."""
    known = [ANNOTATOR, *([PROGRAM] if judge in fit.cells.programs else [])]
    return next((kind for kind in known if kind in fit.model.strength_by), None)


def _tastes(fit: Fit, slices: Floats, kind: str, judge: str) -> dict[str, Floats]:
    """Return draws of the tastes of an annotator, against their mean, by competitor."""
    codes, competitor, place = numbers_of(fit, kind)
    of_judge = codes == fit.mode.problem.slice_names[kind].index(judge)
    draws = slices[:, place[of_judge]]
    draws = draws - draws.mean(axis=1, keepdims=True)
    return {fit.cells.competitors[i]: column for i, column in zip(competitor[of_judge], draws.T, strict=True)}


def _clarity(draws: Floats) -> float:
    return abs(float(draws.mean())) / float(draws.std())


def _preference(taste: Mapping[str, Floats], kin: Collection[str], level: float) -> Estimate | None:
    """Return the mean taste for some competitors less that for the others, if there are both."""
    liked, rest = ([draws for name, draws in taste.items() if (name in kin) == inside] for inside in (True, False))
    return Estimate.of(np.mean(liked, axis=0) - np.mean(rest, axis=0), level) if liked and rest else None


def _require_known(known: Sequence[str], names: Sequence[str], what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ModelError(
            f"There is no {what} {listing(map(repr, unknown))}."
            f"{did_you_mean(unknown[0], known) or f' Use names of fit.cells.{what}s.'}"
        )
