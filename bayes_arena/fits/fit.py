"""``fit``: fit a model to votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Unpack

import numpy as np

from bayes_arena import progress
from bayes_arena.arrays import Array
from bayes_arena.errors import (
    FitError,
    ModelError,
    NotIdentifiedError,
    TooLargeError,
    listing,
    require_choice,
    require_seed,
    warn,
)
from bayes_arena.fits.marginals import Marginals
from bayes_arena.fits.options import METHODS, OPTIONS, FitOptions, Method
from bayes_arena.fits.result import Fit, subset_competitors
from bayes_arena.inference.direction import better_direction, direction_is_open
from bayes_arena.inference.gaussian import nearest_gaussian
from bayes_arena.inference.maximum import maximum_likelihood, with_finite_estimate
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.posterior import Posterior
from bayes_arena.inference.spreads import estimated_blocks
from bayes_arena.model.arrow import ParameterLayout
from bayes_arena.model.build import build_design
from bayes_arena.model.design import Design
from bayes_arena.model.priors import Prior, PriorName, name_of_prior, resolve_prior
from bayes_arena.model.spec import Model, Preset, resolve_model, visible_votes
from bayes_arena.reading.options import ReadOptions, require_options
from bayes_arena.reading.read import votes_from
from bayes_arena.said import Note, Use
from bayes_arena.threads import threads_for
from bayes_arena.votes.components import count_components
from bayes_arena.votes.votes import Votes

MOST_SHARED = 10_000  # parameters that every annotator shares: a matrix of .8 GB
MOST_WITH_ANNOTATORS = 4_000  # competitors, where annotators have parameters
METHOD_WORDS: Mapping[Method, str] = {
    "gaussian": "Gaussian",
    "map": "posterior mode",
    "nuts": "sampled by NUTS",
}
LONG_WORK = 10.0  # seconds from which is said what is under way
# Processor seconds of a fit by products of sizes: 2.6 for 2,000 competitors (8e9), and 115
# for 190 levels that saw 330 each (1.4e10).
SHARED_COST, LOCAL_COST = 3.3e-10, 8.4e-9


def fit(
    votes: object,
    *,
    model: Preset | Model = "davidson",
    prior: PriorName | Prior = "default",
    method: Method = "gaussian",
    draws: int = 1000,
    tune: int = 300,
    seed: int = 0,
    **columns: Unpack[ReadOptions],
) -> Fit:
    """Fit a model to votes.

    Parameters
    ----------
    votes : Votes, path, dataframe or list of records
        What :func:`~bayes_arena.read_votes` reads, or has read.
    model : str or Model
        "davidson", in which all votes have equal weight; "bradley-terry", "m-elo",
        "am-elo" or "am-davidson"; or a :class:`~bayes_arena.Model`.
    prior : {"default", "weak", "flat"} or Prior
        "default" estimates the spreads of the parameters from the votes; "weak" has
        strengths of standard deviation 5; "flat" gives maximum likelihood.
    method : {"gaussian", "map", "nuts"}
        "gaussian": the Gaussian nearest to the posterior.  "map": the posterior mode, at
        the spreads that the Gaussian estimates, or that the prior fixes.  "nuts": the PyMC
        program of the model is sampled.  Under a flat prior the first two are maximum
        likelihood.
    draws, tune : int
        For "nuts": draws to keep and to tune with, in each of four chains.
    seed : int
        For "nuts".
    **columns
        Options of :func:`~bayes_arena.read_votes`, where votes are still to be read.

    Returns
    -------
    Fit

    Raises
    ------
    VotesError
        If the votes cannot be read.
    ModelError
        If an option is unknown, or the votes lack what the model needs.
    FitError
        If there is no trustworthy estimate.
    TooLargeError
        If there are too many competitors.

    Warns
    -----
    ArenaWarning
        If scores are not comparable, or the direction of the ranking is open.

    Examples
    --------
    >>> import bayes_arena as ba
    >>> fit = ba.fit(ba.example_arena().votes)
    >>> fit.plan
    'davidson, Gaussian'
    """
    require_choice("method", method, METHODS)
    require_seed(seed)
    prior = resolve_prior(prior)
    require_options(columns, OPTIONS)
    votes = votes_from(votes, **columns)
    model, votes, plan = resolve_model(model, votes)
    estimable = np.ones(votes.n_competitors, bool)
    if prior.is_flat:
        estimable = with_finite_estimate(votes, model)
        require_estimates(estimable)
    fitted = subset_competitors(votes, estimable)
    posterior = find_posterior(fitted, model, prior, method)
    notes = open_questions(votes, model, estimable, posterior)
    for note in notes:
        warn(note)
    result = Fit(
        votes=votes,
        model=model,
        prior=prior,
        method=method,
        plan=f"{plan}, {describe_method(prior, method)}",
        marginals=Marginals(posterior),
        warnings=tuple(notes),
        seed=seed,
    )
    if method == "nuts":
        from bayes_arena.fits.nuts import with_samples

        return with_samples(result, draws=draws, tune=tune)
    return result


def fitted(votes: object, **options: Unpack[FitOptions]) -> Fit:
    """Return a fit as it is, or fit votes, by Davidson's model if none is named."""
    if isinstance(votes, Fit):
        refuse_options(options)
        return votes
    return fit(votes, **options)


def refuse_options(options: Mapping[str, object]) -> None:
    """Raise an error for options that a fit would leave without effect."""
    ignored = [name for name, value in options.items() if value is not None]
    if ignored:
        raise ModelError(
            f"{ignored[0]}= has no effect on a fit. Give votes, or leave it out."
        )


def find_posterior(
    votes: Votes, model: Model, prior: Prior, method: Method
) -> Posterior:
    """Return the estimate that a prior and a method ask for."""
    design = build_design(votes, model, prior)
    require_room(design, votes)
    if (seconds := seconds_of(design.layout)) > LONG_WORK:
        progress.show(
            f"Fitting {design.layout.size:,} parameters: about {seconds:.0f} s"
        )
    try:
        with threads_for(design.layout.width):
            if prior.is_flat and method != "nuts":
                posterior = maximum_likelihood(design, model)
            elif method == "map":
                posterior = mode_at_estimated_spreads(design)
            else:
                posterior = better_direction(nearest_gaussian, design)
    except np.linalg.LinAlgError as error:
        raise FitError(
            "The votes and this prior leave some parameters open.", Use(prior="default")
        ) from error
    finally:
        progress.clear()
    require_convergence(posterior)
    return posterior


def seconds_of(layout: ParameterLayout) -> float:
    """Return about how many seconds of a processor a fit takes."""
    shared, local = layout.n_shared, layout.n_local.astype(float)
    local_work = np.sum(local**2 * (shared + local))
    return SHARED_COST * shared**3 + LOCAL_COST * float(local_work)


def mode_at_estimated_spreads(design: Design) -> Posterior:
    """Return the posterior mode, at the spreads and in the direction of the Gaussian."""
    if not estimated_blocks(design):
        return better_direction(posterior_mode, design)
    gaussian = better_direction(nearest_gaussian, design)
    require_convergence(gaussian)
    mode = posterior_mode(gaussian.design, gaussian.mean)
    return replace(mode, mirror_gap=gaussian.mirror_gap)


def require_convergence(posterior: Posterior) -> None:
    """Raise an error if a search did not end."""
    if posterior.converged:
        return
    text = f"The search for an estimate did not end in {posterior.n_iterations} steps: "
    if posterior.design.has("discrimination"):
        raise FitError(
            text
            + "these votes hardly tell strengths from how closely annotators follow "
            "them.",
            Use(model="davidson"),
        )
    raise FitError(
        text + "under this prior the votes leave some strengths open.",
        Use(prior="default"),
    )


def require_estimates(estimable: Array) -> None:
    """Raise an error if under a flat prior hardly anybody has a finite estimate."""
    if estimable.sum() < 2:
        raise NotIdentifiedError(
            "No two competitors scored against each other, directly or through others: "
            "nobody has a finite maximum-likelihood estimate.",
            Use(prior="default"),
        )


def require_room(design: Design, votes: Votes) -> None:
    """Refuse at once what would not fit into memory."""
    layout, n = design.layout, votes.n_competitors
    local = bool(layout.n_local.any())
    if layout.width > MOST_SHARED or (local and n > MOST_WITH_ANNOTATORS):
        limit = (
            f"{MOST_WITH_ANNOTATORS:,} where annotators or slices have parameters"
            if local
            else f"{MOST_SHARED:,}"
        )
        raise TooLargeError(
            f"{n:,} competitors, and {layout.width:,} parameters that all votes share, "
            f"are too many: the limit is {limit}. Fewer slices would help.",
            Use(model="davidson"),
        )


def describe_method(prior: Prior, method: Method) -> str:
    """Return the method in a word or two, and the prior where it is not the default one."""
    if prior.is_flat:
        return "maximum likelihood"
    words = METHOD_WORDS[method]
    match name_of_prior(prior):
        case "default":
            return words
        case None:
            return f"{words}, prior of your own"
        case name:
            return f"{words}, {name} prior"


def open_questions(
    votes: Votes, model: Model, estimable: Array, posterior: Posterior
) -> list[Note]:
    """Return what the votes leave open."""
    notes = []
    if not estimable.all():
        names = [repr(votes.competitors[c]) for c in np.flatnonzero(~estimable)]
        text = (
            f"No finite estimate for {listing(names)}: a flat prior has one for the "
            "largest group in which each scored against each, directly or through others."
        )
        notes.append(Note("infinite", text, (Use(prior="default"),)))
    n_groups = count_components(visible_votes(model, votes))
    if n_groups > 1 and estimable.all():
        text = (
            f"The competitors fall into {n_groups} groups that were never compared. "
            "Scores of different groups are not comparable."
        )
        notes.append(Note("disconnected", text))
    if model.discrimination != "none" and votes.n_votes < 2 * votes.n_annotators:
        text = (
            "Hardly any annotator voted twice: how annotators differ is what the prior "
            "expects."
        )
        notes.append(Note("single_votes", text))
    if direction_is_open(posterior):
        text = (
            "About as many votes follow the reverse of this ranking as follow it: which "
            "is right, they cannot tell."
        )
        notes.append(Note("direction", text))
    return notes
