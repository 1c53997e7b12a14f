"""What a fit chooses by default, and why: every default is chosen here, and shown before anything is fitted."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypedDict, get_args

from bayes_arena.errors import ModelError, did_you_mean, listing, require_choice
from bayes_arena.fits.arguments import held
from bayes_arena.inference.change import is_timed
from bayes_arena.inference.marginal.directions import MOST
from bayes_arena.inference.marginal.finding import Evidence
from bayes_arena.inference.methods import Method
from bayes_arena.inference.mode.mode import require_memory
from bayes_arena.inference.pairing import with_pairing
from bayes_arena.likelihood.predictor import effects
from bayes_arena.likelihood.presets import Answers, Dimensions, in_dimensions, with_answers, with_drift, with_groups
from bayes_arena.likelihood.priors import DRIFT, Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.markup import html_table
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROGRAM, PROMPT, TIME
from bayes_arena.votes.periods import period_of
from bayes_arena.votes.reading.read_votes import read_votes
from bayes_arena.votes.selection import drop_annotators

if TYPE_CHECKING:
    from bayes_arena.promotion.promotions import Promotions

Robust = bool | Literal["auto"]
COMES, UNKNOWN = "comes with the model", "not recorded"


class Asked(TypedDict, total=False):
    """The options of :func:`choose` except the model and the prior."""

    method: Method | None
    answers: Answers
    dimensions: Dimensions
    drift: bool
    groups: Sequence[str]
    robust: Robust
    keep: Sequence[str]
    drop: Sequence[str]


TIES = {"half": "half a win for each side", "drop": "left out"}
SIDES = {"none": "left out", "common": "one effect", "annotator": "one effect per annotator"}
METHODS = {
    "map": "the mode of the posterior",
    "marginal": "the Gaussian nearest to the posterior",
    "nuts": "draws of the posterior",
    "posterior": "draws that were given",
}


@dataclass(frozen=True)
class Choice:
    """One choice that a fit made, or was told.

    Attributes
    ----------
    what : str
        What it is about, such as ``"ties"``.
    taken : str
        What was chosen.
    why : str
        The reason, in the votes or in the call.
    """

    what: str
    taken: str
    why: str


@dataclass(frozen=True, eq=False)
class Plan:
    """What is fitted, and how: all that was chosen.

    Attributes
    ----------
    problem : Problem
        Votes, model and prior, with the reasons for them. Of a fit: the votes as they count.
    method : str
        As in :class:`~bayes_arena.Fit`.
    robust : bool
        Whether votes are discounted where those on a competitor are not of one crowd.
    kept, dropped : tuple of str
        Annotators whose votes count in full whatever they are, and those whose votes were left out, on request.
    promotions : Promotions or None
        Of a fit: what was found of such votes.
    evidence : {"laplace", "variational"} or None
        Of a fit: how ``"marginal"`` integrated the parameters out.
    otherwise : Plan or None
        What is fitted instead if answers cannot be told from noise.
    said : tuple of str
        Warnings about it.
    most_directions : int
        How many directions in which annotators disagree are looked for, by evidence.
    """

    problem: Problem
    method: str
    robust: bool = False
    kept: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    promotions: Promotions | None = None
    evidence: Evidence | None = None
    otherwise: Plan | None = None
    said: tuple[str, ...] = ()
    most_directions: int = 0

    @property
    def choices(self) -> tuple[Choice, ...]:
        """All choices, in the order in which they are made."""
        model, prior, cells = self.problem.model, self.problem.prior, self.problem.cells
        taken = {
            "model": model.name,
            "ties": TIES.get(model.ties, f"an outcome, {model.ties}"),
            "sides": SIDES[model.position],
        }
        if cells.grades > 1:
            kept = "all" if model.grades == cells.grades else f"{model.grades} of"
            taken["grades"] = f"{kept} {cells.grades} kept apart" if model.grades > 1 else "folded: a win is a win"
        if cells.programs:
            taken["programs"] = "a taste of their own" if PROGRAM in model.strength_by else "annotators like others"
        if said := self._votes():
            taken["votes"] = said
        taken["strengths"] = self._spread("strength")
        own = [effect for effect in effects(model, prior) if effect.level == "annotator" and effect.spread]
        if own:
            spread_of = {effect.name.replace("_", " "): self._spread(effect.spread) for effect in own}
            alike = f"{', '.join(spread_of)}: {next(iter(spread_of.values()))}"
            each = "; ".join(f"{name}: {spread}" for name, spread in spread_of.items())
            taken["annotators"] = alike if len(set(spread_of.values())) == 1 else each
        if own:
            looked_for = f"up to {self.most_directions}, as many as raise the evidence"
            taken["directions"] = looked_for if self.most_directions else str(model.dimensions or "none")
        if PROMPT in cells.slices:
            numbers = ["a strength of every competitor on every prompt"] * (PROMPT in model.strength_by)
            numbers += ["ties of every prompt"] * (PROMPT in model.ties_by and not numbers)
            taken["answers"] = "".join(numbers) or "left out"
            if self.otherwise is not None:
                taken["answers"] += ", unless they turn out to be noise"
        if is_timed(cells):
            names = cells.slice_names[TIME]
            over = f"{len(names)} {period_of(names)}s, {names[0]} to {names[-1]}"
            steps = f"strengths move by the {period_of(names)}, {self._spread(DRIFT)}"
            taken["time"] = f"{steps}; {over}" if model.drift else f"strengths stay, over {over}"
        for by in dict.fromkeys((*model.strength_by, *model.ties_by)):
            if by not in (PROMPT, PROGRAM):
                kinds = {"strengths": model.strength_by, "ties": model.ties_by, "theta": model.discrimination_by}
                taken[f"by {by}"] = listing([what for what, of in kinds.items() if by in of])
        mode = self.evidence == "laplace" and self.method == "marginal"
        taken["method"] = f"{self.method}, {METHODS['map' if mode else self.method]}"
        reasons = dict(self.problem.reasons)
        if mode and "evidence" in reasons:
            reasons["method"] = f"{reasons.get('method', UNKNOWN)}; {reasons['evidence']}"
        return tuple(Choice(what, how, reasons.get(what, self._unsaid(what))) for what, how in taken.items())

    def _votes(self) -> str:
        """Say how the votes count; empty where nobody asked."""
        cast = self.promotions.cast if self.promotions else None
        if cast is not None:
            return f"{self.problem.cells.n_votes:,.0f} of {cast.counts.sum():,.0f} count"
        if self.robust:
            return "all count" if self.promotions else "all count, unless those on a competitor are not of one crowd"
        return "all others count" if self.dropped else "all count" if self.kept else ""

    def _unsaid(self, what: str) -> str:
        """Return the reason for a choice that has none: it comes with the model, or none was recorded."""
        known = ("ties", "sides", "grades", "answers", "programs", "directions", "time")
        of_model = what in known or what.startswith("by ")
        return COMES if of_model and self.problem.reasons else UNKNOWN

    def _spread(self, name: str) -> str:
        """Describe the spread of one kind of parameter."""
        prior, sd = self.problem.prior, self.problem.prior.spread(name)
        if math.isinf(sd):
            return "no prior"
        if self.method == "map" or not prior.estimates(name):
            return f"spread {sd:.3g}"
        return f"spread {sd:.2f}, estimated" if self.evidence else "spread estimated"

    def __repr__(self) -> str:
        choices = self.choices
        wide = max(len(one.what) for one in choices)
        return "\n".join(f"{one.what:<{wide}}  {one.taken} ({one.why})" for one in choices)

    def _repr_html_(self) -> str:
        """Return the same as a table, for notebooks."""
        choices = self.choices
        return html_table({name: [getattr(one, name) for one in choices] for name in ("what", "taken", "why")})


@held
def choose(
    cells: object,
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    method: Method | None = None,
    answers: Answers = "auto",
    dimensions: Dimensions = "auto",
    drift: bool = False,
    groups: Sequence[str] = (),
    robust: Robust = "auto",
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Plan:
    """Say what :func:`~bayes_arena.fit` would fit to votes, and why.

    Parameters
    ----------
    cells, model, prior, method, answers, dimensions, drift, groups, robust, keep, drop
        As for :func:`~bayes_arena.fit`.

    Returns
    -------
    Plan

    Raises
    ------
    VotesError, ModelError, NotIdentifiedError, TooLargeError
        As for :func:`~bayes_arena.fit`.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> plan = ba.choose(ba.example_arena().votes)
    >>> [choice.what for choice in plan.choices]
    ['model', 'ties', 'sides', 'votes', 'strengths', 'annotators', 'directions', 'method']
    """
    if not isinstance(cells, Cells):
        cells = read_votes(cells, slices=list(distinct(groups)))
    problem = Problem.of(cells, model, prior)
    preset = not isinstance(model, Model)
    counting: Asked = {"robust": robust, "keep": keep, "drop": drop}
    parts: Asked = {"answers": answers, "dimensions": dimensions, "drift": drift, "groups": groups}
    asked: Asked = {"method": method, **parts, **counting}
    return planned(problem, preset=preset, **asked)


def planned(
    problem: Problem,
    *,
    preset: bool,
    method: Method | None = None,
    answers: Answers = "auto",
    dimensions: Dimensions = "auto",
    drift: bool = False,
    groups: Sequence[str] = (),
    robust: Robust = "auto",
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Plan:
    """Make the remaining choices; answers and directions may be added to a model that is a ``preset``."""
    estimable = problem.prior.hyper is not None
    require_choice("method", method or "map", get_args(Method))
    require_memory(problem)
    keep, drop = distinct(keep), distinct(drop)
    if both := [name for name in keep if name in drop]:
        raise ModelError(f"Votes are to be kept and left out, by keep and drop: {listing(map(repr, both))}. Name one.")
    if drop:
        problem = replace(problem, cells=drop_annotators(problem.cells, drop))
    is_robust, problem = _counting(problem, robust, keep, drop, preset=preset)
    if groups := distinct(groups):
        asked_for_all = {f"by {kind}": "asked for" for kind in groups}
        problem = replace(problem, model=with_groups(problem.model, problem.cells, groups)).because(**asked_for_all)
    if drift:
        problem = replace(problem, model=with_drift(problem.model)).because(time="asked for")
    elif is_timed(problem.cells):
        problem = problem.because(time="tested for change")
    most = 0
    if dimensions != "auto":
        problem = replace(problem, model=in_dimensions(problem.model, dimensions)).because(directions="asked for")
    elif preset and problem.model.discrimination == "annotator":
        by_evidence = estimable and method != "map"
        most = MOST if by_evidence else 0
        problem = problem.because(directions="by evidence" if by_evidence else "their spread is not estimated")
    plain, weak = with_pairing(problem)
    if weak:
        plain = plain.because(strengths="competitors mostly met others of about their strength")
    problem = plain
    by_votes, left_out = answers == "auto", ""
    if not by_votes or (estimable and method != "map" and preset):
        asked, why, left_out = with_answers(problem.model, problem.cells, answers)
        problem = replace(problem, model=asked).because(answers=why)
    elif preset:
        problem = problem.because(answers="their spread is not estimated")
    said = tuple(text for text in (left_out, weak) if text)
    whole = Plan(problem, "map", is_robust, keep, drop, said=said, most_directions=most)
    plan = _routed(whole, method)
    if by_votes and problem.model is not plain.model:
        return replace(plan, otherwise=_routed(replace(plan, problem=plain), method))
    return plan


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    """Return names, each once; one by itself is meant as a name."""
    several = [names] if isinstance(names, str) else names
    if not isinstance(several, Collection) or not all(isinstance(name, str) for name in several):
        raise ModelError(f"Annotators and groups are told by their names, not {names!r}. Use a sequence of names.")
    return tuple(dict.fromkeys(several))


def _routed(plan: Plan, method: Method | None) -> Plan:
    """Return a plan with the method that is asked for, or that its problem needs."""
    problem, estimable = plan.problem, plan.problem.prior.hyper is not None
    pooled = problem.model.needs_annotators or problem.model.is_crossed
    route: Method = method or ("marginal" if estimable and pooled else "map")
    if route == "marginal" and not estimable:
        raise ModelError(
            "method='marginal' estimates the spreads of the prior, but this prior fixes them. Use method='map', or a "
            "Prior with hyper."
        )
    if method:
        why = "asked for"
    elif not pooled:
        why = "neither annotators nor slices have parameters"
    else:
        why = "annotators or slices have parameters" if estimable else "the prior fixes all spreads"
    return replace(plan, problem=problem.because(method=why), method=route)


def _counting(
    problem: Problem, robust: Robust, keep: Sequence[str], drop: Sequence[str], *, preset: bool
) -> tuple[bool, Problem]:
    """Return whether votes may be discounted, and the problem with the reason for that."""
    if robust != "auto" and not isinstance(robust, bool):
        raise ModelError(f"robust must be 'auto', True or False, not {robust!r}.")
    names = problem.cells.annotators
    if unknown := [name for name in keep if name not in set(names)]:
        raise ModelError(
            f"Annotators to be kept cast none of the votes: {listing(map(repr, unknown))}."
            f"{did_you_mean(str(unknown[0]), names) or ' Use names of cells.annotators.'}"
        )
    if robust is True and not names:
        raise ModelError(
            "Votes are discounted by who cast them, which these do not say. Name the column (annotator=..., "
            "--annotator)."
        )
    usual = preset and problem.model.needs_annotators and problem.prior.hyper is not None
    is_robust = bool(names) and (usual if robust == "auto" else robust)
    why = "asked for" if robust != "auto" else "annotators are known" if is_robust else "annotators have no parameters"
    return is_robust, problem.because(votes=f"{asked_for(keep, drop)}{why}")


def asked_for(kept: Sequence[str], dropped: Sequence[str]) -> str:
    """Say whose votes were to be left out, or to count in full, as the beginning of a reason."""
    whose = f"left out on request: {listing(dropped)}; " if dropped else ""
    return whose + (f"in full on request: those of {listing(kept)}; " if kept else "")
