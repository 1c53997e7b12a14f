"""``fit``: one verb, several routes, one result."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, get_args

from bayes_arena.errors import IdentificationWarning, ModelError, NoMaximumWarning, require_choice
from bayes_arena.fits.result import Evidence, Fit
from bayes_arena.inference.marginal.quadrature import integrate_annotators, is_sparse
from bayes_arena.inference.marginal.spreads import estimate_spreads, information
from bayes_arena.inference.methods import Method
from bayes_arena.inference.mode.mode import find_mode, judge_direction
from bayes_arena.likelihood.priors import Prior
from bayes_arena.likelihood.problem import Problem
from bayes_arena.likelihood.specification import Model
from bayes_arena.threads import one_thread

if TYPE_CHECKING:
    from bayes_arena.fits.sampling import Sampler


def fit(
    cells: object,
    *,
    model: str | Model | None = None,
    prior: str | Prior = "default",
    method: Method | None = None,
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
        A preset (``"bradley-terry"``, ``"m-elo"``, ``"am-elo"``, ``"am-davidson"``) or any
        :class:`~bayes_arena.Model`. Default: ``"am-davidson"`` where annotators are known (``"am-elo"`` under a flat
        prior), ``"bradley-terry"`` otherwise.
    prior : str or Prior
        ``"flat"`` gives the paper's maximum-likelihood estimate, ``"default"`` weak Gaussian priors.
    method : {"map", "marginal", "nuts"}, optional
        ``"map"``: the posterior mode at the spreads of the prior. ``"marginal"``: the spreads are estimated from the
        votes first, by the Laplace evidence or, where annotators have few votes each (more annotators than twice the
        square root of the number of votes), with the annotators integrated out by quadrature; where hardly anybody
        voted twice they are taken to be alike, with a warning. ``"nuts"``: the whole posterior is sampled (seconds to
        minutes). Default: ``"marginal"`` where annotators are pooled, else ``"map"``.
    draws, tune : int
        For ``"nuts"``: draws to keep, and to tune with, in each of four chains.
    sampler : {"nutpie", "pymc", "numpyro", "blackjax"}
        For ``"nuts"``: the ``nuts_sampler`` of ``pymc.sample``.
    seed : int
        For ``"nuts"``: the same seed gives the same draws.

    Returns
    -------
    Fit

    Warns
    -----
    NoMaximumWarning
        Under a flat prior, if the estimate lies at infinity.
    IdentificationWarning
        If the comparisons are disconnected, the annotators do not settle which end of the ranking is up, or hardly
        anybody voted twice.

    Raises
    ------
    VotesError
        If the votes are not cells and cannot be read.
    ModelError
        If the model, prior, method or sampler is unknown, the model needs annotators and there are none, or the prior
        is to be sampled and has an infinite spread.
    ConvergenceError
        If the gradient does not vanish.
    NotIdentifiedError
        If the votes do not determine the parameters.
    TooLargeError
        If the fit needs more memory than the machine has.
    CompilerError
        For ``"nuts"``, if PyTensor cannot write to its folder.

    References
    ----------
    Liu et al., "am-ELO: A Stable Framework for Arena-based LLM Evaluation", ICML 2025, equations 2 to 7.
    """
    problem = Problem.of(cells, model, prior)
    estimable = problem.prior.hyper is not None
    method = method or ("marginal" if estimable and problem.model.needs_annotators else "map")
    require_choice("method", method, get_args(Method))
    if method == "marginal" and not estimable:
        raise ModelError("method='marginal' estimates the spreads of the prior, and this prior fixes them.")
    if method == "nuts":
        from bayes_arena.fits.sampling import draws_of, require_samplable, sample

        require_samplable(problem.objective, sampler, draws, tune)
    evidence: Evidence | None = None
    if method == "marginal":
        evidence = "quadrature" if is_sparse(problem) else "laplace"
    with one_thread():
        if method == "map" or not estimable:
            mode = find_mode(problem)
        elif evidence == "quadrature":
            mode = integrate_annotators(problem)
        else:
            mode = estimate_spreads(problem)
        mirror_probability = None
        if evidence != "quadrature" and not mode.at_infinity:
            mode, mirror_probability = judge_direction(mode)
        known = information(mode) if method == "nuts" and estimable else None
    tree = samples = None
    if method == "nuts":
        tree = sample(problem, known, draws=draws, tune=tune, sampler=sampler, seed=seed)
        samples = draws_of(tree, problem)
    for text in mode.open_questions:
        warnings.warn(text, IdentificationWarning, stacklevel=2)
    for text in mode.at_infinity:
        warnings.warn(text, NoMaximumWarning, stacklevel=2)
    return Fit(
        mode=mode,
        prior=problem.prior,
        method=method,
        evidence=evidence,
        seed=seed if method == "nuts" else None,
        samples=samples,
        tree=tree,
        mirror_probability=mirror_probability,
    )
