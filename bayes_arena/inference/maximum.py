"""Maximum likelihood: flat priors, as in the paper.

Without theta the likelihood is concave.  A strength has a finite estimate only among
competitors each of whom scored, directly or through others, against each other one
(Ford, 1957): in a strongly connected component of the graph of scores.

With theta the scale and the sign of r are open, as theta_k (r_i - r_j) is.  So theta is left
free, from r of m-ELO and theta = 1, under a ridge that only fixes the scale; then theta is
divided by its mean, and r multiplied by it (Liu et al., 2025, section 3.2); and Newton's
method ends at mean 1.  Dividing on the way would put a wall between the two signs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayes_arena.arrays import Array, Floats
from bayes_arena.errors import FitError, NotIdentifiedError, listing
from bayes_arena.inference.mode import posterior_mode
from bayes_arena.inference.posterior import Posterior, start_from
from bayes_arena.model.build import build_design
from bayes_arena.model.constants import RIDGE_SD
from bayes_arena.model.priors import FLAT, Spread
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

REMEDY = "Use model='bradley-terry', or prior='default'."
REMEDY_FOR_ANNOTATORS = (
    "Leave out annotators with few votes with votes.keep(more_than=50), or use "
    "prior='default'."
)


def maximum_likelihood(votes: Votes, model: Model) -> Posterior:
    """Return the maximum-likelihood estimate.

    Parameters
    ----------
    votes : Votes
        Of competitors that all have a finite estimate (:func:`with_finite_estimate`).
    model : Model

    Raises
    ------
    FitError
        If there is no finite maximum.
    """
    require_connected(votes)
    design = build_design(votes, model, FLAT)
    alike = model.discrimination == "none"
    remedy = REMEDY if alike else REMEDY_FOR_ANNOTATORS
    try:
        if alike:
            posterior = posterior_mode(design)
        else:
            posterior = posterior_mode(design, free_discrimination(votes, model))
    except np.linalg.LinAlgError as error:
        raise NotIdentifiedError(
            "The votes do not determine all parameters under a flat prior. " + remedy
        ) from error
    if not posterior.converged:
        raise FitError(f"{describe_runaway(posterior)} {remedy}")
    return posterior


def require_connected(votes: Votes) -> None:
    """Raise an error where groups of competitors were never compared."""
    n = votes.n_competitors
    graph = csr_array((np.ones(len(votes)), (votes.i, votes.j)), shape=(n, n))
    n_groups, _ = connected_components(graph, directed=False)
    if n_groups > 1:
        raise NotIdentifiedError(
            f"The competitors fall into {n_groups} groups that were never compared: by "
            "maximum likelihood their scores have nothing in common. Add votes between "
            "the groups, or use prior='default'."
        )


def free_discrimination(votes: Votes, model: Model) -> Floats:
    """Return the best r and theta of free scale, brought to theta of mean 1."""
    alike = replace(model, discrimination="none")
    simpler = posterior_mode(build_design(votes, alike, FLAT))
    constrained = build_design(votes, model, FLAT)
    free = build_design(votes, model, replace(FLAT, discrimination=Spread(RIDGE_SD)))
    free = free.without_sum("discrimination")
    posterior = posterior_mode(free, start_from(free, simpler))
    theta = 1 + posterior.mean_of("discrimination")
    mean = theta.mean()
    if abs(mean) < 1e-6 * np.abs(theta).max():
        raise NotIdentifiedError(
            "The annotators' discriminations sum to zero: as many votes follow a ranking "
            "as follow its reverse. Use model='m-elo'."
        )
    x = start_from(constrained, posterior)
    x[constrained.indices(constrained.block("strength"))] *= mean
    x[constrained.indices(constrained.block("discrimination"))] = theta / mean - 1
    return x


def describe_runaway(posterior: Posterior) -> str:
    """Say that there is no finite maximum, and whose theta runs away."""
    design = posterior.design
    if not design.has("discrimination"):
        return "No finite maximum-likelihood estimate exists."
    theta = np.abs(1 + posterior.mean_of("discrimination"))
    largest = np.argsort(-theta)
    largest = largest[theta[largest] >= theta.max() / 2]
    names = [repr(design.votes.annotators[k]) for k in largest]
    return (
        "No finite maximum-likelihood estimate exists: the discrimination of "
        f"{listing(names)} runs to infinity, as their votes fit a ranking too well."
    )


def with_finite_estimate(votes: Votes, model: Model) -> Array:
    """Return which competitors have a finite estimate under a flat prior, (competitors,).

    These are the largest group in which each scored against each, through others at
    least.  Where annotators have a theta this is not known beforehand, and all are in it.
    """
    n = votes.n_competitors
    if model.discrimination != "none":
        return np.ones(n, bool)
    folded = visible_votes(model, votes).folded
    seen = visible_votes(model, votes)
    first = folded[:, FIRST] + folded[:, TIE]
    second = folded[:, SECOND] + folded[:, TIE]
    score = np.concatenate([first, second])
    winner = np.concatenate([seen.i, seen.j])
    loser = np.concatenate([seen.j, seen.i])
    scored = score > 0
    graph = csr_array((score[scored], (winner[scored], loser[scored])), shape=(n, n))
    _, component = connected_components(graph, connection="strong")
    return component == np.bincount(component).argmax()
