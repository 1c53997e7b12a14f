"""``fit``: fit a model to votes, by whichever method."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict

from bayes_arena.errors import PACKAGE, ConvergenceError, TooLargeError
from bayes_arena.fits.arguments import held
from bayes_arena.fits.plan import Asked, Plan, Robust, asked_for, choose
from bayes_arena.fits.result import Fit
from bayes_arena.inference.estimand import Estimand
from bayes_arena.inference.marginal.directions import with_directions, with_directions_of
from bayes_arena.inference.marginal.finding import Evidence, find_marginal
from bayes_arena.inference.marginal.gaussian import spread_uncertainty
from bayes_arena.inference.marginal.spreads import information
from bayes_arena.inference.methods import Method
from bayes_arena.inference.mode.mode import Mode, Simpler, find_mode, judge_direction
from bayes_arena.inference.order import in_own_order
from bayes_arena.likelihood.presets import Answers, Dimensions, without_answers
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.promotion.discounting import discounted, dispersed, unsettled
from bayes_arena.promotion.promotions import Cast, Promotions
from bayes_arena.threads import one_thread
from bayes_arena.votes.cells import Cells
from bayes_arena.votes.names import PROGRAM, PROMPT

if TYPE_CHECKING:
    from bayes_arena.fits.sampling import Sampler

ANSWERS = f"strength_by_{PROMPT}"
UNSURE = 0.3
"""Posterior sd of the logarithm of a spread above which the hyperprior, rather than the votes, determines it."""
UNKNOWN = 10.0
"""The same, above which its number means nothing: nearly no curvature is left."""
Judgement = tuple[float | None, Evidence | None]
"""The probability of a mode's mirror image, and how its spreads were estimated."""
NOT_ONE_CROWD = "those on some competitors are not of one crowd"
REMEDY = ". Model them all the same with answers=True (--answers on)."
"""What follows where answers are left out as noise."""


@held
def fit(
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
    draws: int = 1000,
    tune: int = 300,
    sampler: Sampler = "nutpie",
    seed: int = 0,
) -> Fit:
    """Fit a model to votes.

    Parameters
    ----------
    cells : Cells, path, sequence of paths, or dataframe
        Votes, from :func:`~bayes_arena.read_votes`, or what it reads without options.
    model : str or Model, optional
        A preset (``"bradley-terry"``, ``"m-elo"``, ``"am-elo"``, ``"davidson"``, ``"am-davidson"``) or any
        :class:`~bayes_arena.Model`. Default: ``"am-davidson"`` where annotators are known (``"am-elo"`` under a flat
        prior); where they are not, ``"davidson"``, or ``"bradley-terry"`` where there are no ties, with a position
        effect where most votes are on pairs shown both ways (``"bradley-terry"`` under a flat prior). Where programs
        vote alongside people (``read_votes(programs=...)``), a preset gives them a taste of their own, as its name then
        says; a Model is used as it is.
    prior : str or Prior
        ``"flat"`` gives the paper's maximum-likelihood estimate, ``"default"`` Gaussian priors whose spreads are
        estimated. Where competitors met others of similar strength, as in a league, more than the votes themselves
        could have arranged, the spread of strengths is not estimated but that of ``"weak"``, N(0, 5), with a warning
        (:mod:`bayes_arena.inference.pairing`).
    method : {"map", "marginal", "nuts"}, optional
        ``"map"``: the posterior mode at the spreads of the prior. ``"marginal"``: the mean of the Gaussian nearest to
        the posterior, at spreads estimated from the votes; if hardly any annotator voted twice, how much annotators
        differ is what the prior expects, with a warning. ``"nuts"``: the posterior is sampled (seconds to minutes).
        Default: ``"marginal"`` where annotators or slices are pooled, else ``"map"``.
    answers : {"auto", True, False}
        Whether a preset has answers: a strength of every competitor on every prompt, and a tie propensity of every
        prompt. ``"auto"``: if prompts repeat often enough (100 answers with two votes, and half of the votes on prompts
        that repeat), the spreads are estimated, and that of answers is clearly above noise. Your own
        :class:`~bayes_arena.Model` is used as it is, unless ``True``.
    dimensions : int or "auto"
        Directions in which annotators disagree about the competitors, beyond how sharply they discriminate. Strengths
        are then what they have in common. ``"auto"``: as many, up to two, as raise the evidence, for presets with
        annotators' discrimination, if spreads are estimated; a :class:`~bayes_arena.Model` is used as it is.
    drift : bool
        Whether strengths move over the periods of the votes (``read_votes(time=...)``), as a random walk whose spread
        is estimated. Results are then about the last period; :meth:`Fit.on <bayes_arena.Fit.on>` gives others, and
        :func:`~bayes_arena.history` all of them. Without it, votes that carry times are tested for change.
    groups : str or sequence of str
        Groups of the annotators (their age, their country), slices of the votes, or columns of votes not yet read, in
        each of which competitors have a strength of their own, pooled towards what all share. An annotator is of one
        group of each kind.
    robust : {"auto", True, False}
        Whether votes count by what else their annotators do where those on a competitor are not of one crowd
        (:mod:`bayes_arena.promotion`), so that nobody buys a place. Nobody is left out, and where the votes on every
        competitor are of one crowd the fit is the same. ``"auto"``: for presets with parameters of annotators, if the
        spreads of the prior can be estimated. ``result.promotions`` has what was found.
    keep, drop : sequence of str
        Annotators whose votes are to count in full, whatever they are, and annotators whose votes are to be left out.
        Both are recorded in the fit.
    draws, tune : int
        For ``"nuts"``: draws to keep, and to tune with, in each of four chains.
    sampler : {"nutpie", "pymc", "numpyro", "blackjax"}
        For ``"nuts"``: nutpie samples the compiled density of the model; the others are the ``nuts_sampler`` of
        ``pymc.sample``, for the PyMC program of the model, which has the same posterior.
    seed : int
        For ``"nuts"``: the same seed starts the same chains. The sampler's sums may differ in their last bits from run
        to run, though, and then chains part.

    Returns
    -------
    Fit

    Warns
    -----
    NoMaximumWarning
        Under a flat prior, if the estimate lies at infinity.
    IdentificationWarning
        If the comparisons are disconnected, the votes leave the direction of the ranking open, hardly any
        annotator voted twice, answers are left out though some prompts repeat, or the pairing depended on the ranking.
    LeftOutEffectWarning
        If votes favour the competitor shown first, or second, and the model has no position effect.
    ChangedStrengthsWarning
        If the votes carry times, and strengths changed.
    DiscountedVotesWarning
        If some votes do not count, or count in part.

    Raises
    ------
    VotesError
        If the votes are not cells and cannot be read.
    ModelError
        If the model, prior, method or sampler is unknown, the model needs annotators and there are none, votes by one
        annotator are of several groups, or the posterior is to be sampled and the prior has an infinite spread.
    ConvergenceError
        If the gradient does not vanish.
    NotIdentifiedError
        If the votes do not determine the parameters.
    TooLargeError
        If the fit needs more memory than there is.
    CompilerError
        For ``"nuts"`` by a sampler other than nutpie, if PyTensor cannot write to its folder.
    MissingPackageError
        For ``"nuts"``, if the sampler is not installed, or PyMC where it needs it.

    References
    ----------
    Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, equations 2 to 7.
    """
    counting: Asked = {"robust": robust, "keep": keep, "drop": drop}
    parts: Asked = {"answers": answers, "dimensions": dimensions, "drift": drift, "groups": groups}
    asked: Asked = {"method": method, **parts, **counting}
    plan = choose(cells, model=model, prior=prior, **asked)
    result = solve(plan, draws=draws, tune=tune, sampler=sampler, seed=seed)
    for category, text in result.notes:
        warnings.warn(text, category, skip_file_prefixes=PACKAGE)
    return result


class Noise(ConvergenceError):
    """Answers cannot be told from noise."""


class Sampling(TypedDict, total=False):
    """Options of ``"nuts"``."""

    draws: int
    tune: int
    sampler: Sampler
    seed: int


class Route(Asked, Sampling, total=False):
    """The options of :func:`fit` except the model and the prior."""


def solve(plan: Plan, *, draws: int = 1000, tune: int = 300, sampler: Sampler = "nutpie", seed: int = 0) -> Fit:
    """Fit a plan without issuing warnings; ``Fit.notes`` has them.

    Votes are discounted by the model without answers, and answers added to what it found.
    """
    if plan.method == "nuts":
        from bayes_arena.fits.sampling import require_samplable

        require_samplable(plan.problem.objective, sampler, draws, tune)
    simple, promotions = _without_answers(plan), None
    said: tuple[str, ...] = ()
    result = _fitted(simple)
    if plan.robust:
        result, promotions, said = _discounted(result, simple)
        plan = _on(result.cells, plan)
    if simple.problem.model is not plan.problem.model:
        result = _with_answers(result, plan)
    if plan.method == "nuts":
        result = _sampled(result, draws=draws, tune=tune, sampler=sampler, seed=seed)
    mode = replace(result.mode, open_questions=(*said, *result.mode.open_questions))
    return replace(result, mode=mode, promotions=promotions)


def _without_answers(plan: Plan) -> Plan:
    """Return the plan that is fitted first."""
    simple = plan.otherwise or plan
    model = without_answers(simple.problem.model) if plan.robust else simple.problem.model
    if model is not simple.problem.model:
        simple = replace(simple, problem=replace(simple.problem, model=model))
    if simple.method != "nuts":
        return simple
    return replace(simple, method="marginal" if simple.problem.prior.hyper is not None else "map")


def _discounted(start: Fit, plan: Plan) -> tuple[Fit, Promotions, tuple[str, ...]]:
    """Return the fit of the votes as they count, what was found of those that do not, and what is not settled."""
    fits = {id(start.mode): start}

    def again(problem: Problem) -> Mode:
        result = _fitted(_on(problem.cells, plan))
        fits[id(result.mode)] = result
        return result.mode

    found = discounted(start.mode, again, plan.kept)
    cast = Cast(start.cells.counts, start.board) if found.centres else None
    return fits[id(found.mode)], Promotions.of(found, cast), (*unsettled(found), *dispersed(found))


def _on(cells: Cells, plan: Plan) -> Plan:
    """Return the same plan on votes as they count."""
    if cells is plan.problem.cells:
        return plan
    otherwise = _on(cells, plan.otherwise) if plan.otherwise else None
    why = f"{asked_for(plan.kept, plan.dropped)}{NOT_ONE_CROWD}"
    problem = replace(plan.problem, cells=cells, as_cast=plan.problem.cells).because(votes=why)
    return replace(plan, problem=problem, otherwise=otherwise)


def _fitted(plan: Plan) -> Fit:
    """Fit a plan by its mode, all votes as they are."""

    def find(ordered: Problem) -> tuple[Mode, Judgement]:
        mode, judgement = _find(ordered, plan.method)
        looked_for = plan.most_directions and not math.isnan(mode.free_energy)
        return with_directions(mode) if looked_for else mode, judgement

    with one_thread():
        mode, (mirror_probability, evidence) = in_own_order(find, plan.problem)
    return Fit(
        mode=_said(mode, plan),
        prior=plan.problem.prior,
        method=plan.method,
        evidence=evidence,
        mirror_probability=mirror_probability,
        estimand=_estimand(plan.problem),
        kept=plan.kept,
        dropped=plan.dropped,
    )


def _with_answers(simpler: Fit, plan: Plan) -> Fit:
    """Add answers to a fit, where the votes can tell them from noise."""

    def find(ordered: Problem, known: Simpler) -> tuple[Mode, Judgement]:
        mode, judgement = _find(ordered, simpler.method, known)
        if plan.otherwise is not None:
            _require_sure(mode)
        if not plan.most_directions:
            return mode, judgement
        looked_for = not math.isnan(simpler.mode.free_energy)
        return with_directions_of(known, mode) if looked_for else with_directions(mode), judgement

    try:
        with one_thread():
            mode, (mirror_probability, evidence) = in_own_order(find, plan.problem, simpler.mode)
    except (TooLargeError, ConvergenceError) as error:
        if plan.otherwise is None:
            raise
        said = f"Answers are left out: {error}{REMEDY if isinstance(error, Noise) else ''}"
        mode = simpler.mode
        problem = mode.problem.because(answers=str(error))
        return replace(simpler, mode=replace(mode, problem=problem, open_questions=(*mode.open_questions, said)))
    return replace(
        simpler,
        mode=_said(mode, plan),
        evidence=evidence,
        mirror_probability=mirror_probability,
        estimand=_estimand(plan.problem),
    )


def _sampled(start: Fit, *, draws: int, tune: int, sampler: Sampler, seed: int) -> Fit:
    """Sample the posterior of a fit."""
    from bayes_arena.fits.sampling import draws_of, mean_spreads, sample

    mode, problem = start.mode, replace(start.mode.problem, prior=start.prior)
    estimated = information(mode) if problem.prior.hyper is not None else None
    tree = sample(problem, estimated, draws=draws, tune=tune, sampler=sampler, seed=seed)
    if problem.model.is_crossed:  # the common scale depends on the spreads of slices
        mode = replace(mode, problem=replace(problem, prior=mean_spreads(tree, problem)))
    samples = draws_of(tree, mode.problem if problem.model.is_crossed else problem)
    found = replace(start, mode=mode, method="nuts", evidence=None, seed=seed, samples=samples, tree=tree)
    return found if found.estimand is None else found.in_view()


def _said(mode: Mode, plan: Plan) -> Mode:
    """Return the mode with the warnings about a plan."""
    return replace(mode, open_questions=tuple(dict.fromkeys((*mode.open_questions, *plan.said))))


def _estimand(problem: Problem) -> Estimand | None:
    return Estimand() if set(problem.model.strength_by) - {PROGRAM} else None


def _find(problem: Problem, route: str, simpler: Simpler | None = None) -> tuple[Mode, Judgement]:
    """Return the mode, at estimated spreads where possible, the probability of its mirror image, and the evidence."""
    if route == "map" or problem.prior.hyper is None:
        mode, mirror_probability = judge_direction(find_mode(problem))
        return mode, (mirror_probability, None)
    found, evidence = find_marginal(problem, simpler)
    mode, mirror_probability = judge_direction(found)
    return mode, (mirror_probability, evidence)


def _require_sure(mode: Mode) -> None:
    """Raise Noise if the votes do not tell answers from noise."""
    if not mode.problem.prior.estimates(ANSWERS):
        return
    sd = spread_uncertainty(mode, ANSWERS, doubtful=UNSURE)
    if sd > UNSURE:
        left = f"uncertain by {sd:.2f}, more than {UNSURE:g}" if sd < UNKNOWN else "undetermined"
        raise Noise(f"the votes leave the logarithm of their spread {left}, so answers cannot be told from noise")
