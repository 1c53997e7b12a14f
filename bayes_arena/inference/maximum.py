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
from bayes_arena.model.build import build_design, build_layout
from bayes_arena.model.constants import NO_MEAN, RIDGE_SD
from bayes_arena.model.design import Design
from bayes_arena.model.priors import FLAT
from bayes_arena.model.spec import Model, visible_votes
from bayes_arena.said import Call, Use
from bayes_arena.votes.components import count_components
from bayes_arena.votes.votes import FIRST, SECOND, TIE, Votes

DEFAULT = Use(prior="default")
REMEDIES = (Use(model="bradley-terry"), DEFAULT)
DELTAS = (50, 20, 10)  # few votes of an annotator leave their discrimination open


def maximum_likelihood(design: Design, model: Model) -> Posterior:
    """Return the maximum-likelihood estimate.

    Parameters
    ----------
    design : Design
        Under flat priors, of competitors that all have a finite estimate
        (:func:`with_finite_estimate`).
    model : Model
        That of the design.

    Raises
    ------
    FitError
        If there is no finite maximum.
    """
    require_connected(design.votes)
    alike = model.discrimination == "none"
    remedies = REMEDIES if alike else remedies_for_annotators(design.votes)
    try:
        start = None if alike else free_discrimination(design, model)
        posterior = posterior_mode(design, start)
    except np.linalg.LinAlgError as error:
        raise NotIdentifiedError(
            "The votes do not determine all parameters under a flat prior.", *remedies
        ) from error
    if not posterior.converged:
        raise FitError(describe_runaway(posterior), *remedies)
    return posterior


def remedies_for_annotators(votes: Votes) -> tuple[Call | Use, ...]:
    """Return what may help where annotators differ: the largest delta that keeps two."""
    cast = votes.votes_by_annotator
    kept = [delta for delta in DELTAS if np.sum(cast > delta) >= 2]
    return (*(Call("votes.keep", more_than=delta) for delta in kept[:1]), DEFAULT)


def require_connected(votes: Votes) -> None:
    """Raise an error where groups of competitors were never compared."""
    n_groups = count_components(votes)
    if n_groups > 1:
        raise NotIdentifiedError(
            f"The competitors fall into {n_groups} groups that were never compared: by "
            "maximum likelihood their scores have nothing in common. Votes between the "
            "groups would help.",
            DEFAULT,
        )


def free_discrimination(design: Design, model: Model) -> Floats:
    """Return the best r and theta of free scale, brought to theta of mean 1."""
    alike = replace(model, discrimination="none")
    simpler = posterior_mode(build_design(design.votes, alike, FLAT))
    free = with_free_scale(design)
    posterior = posterior_mode(free, start_from(free, simpler))
    theta = 1 + posterior.mean_of("discrimination")
    mean = theta.mean()
    if abs(mean) < NO_MEAN * np.abs(theta).max():
        raise NotIdentifiedError(
            "The annotators' discriminations sum to zero: as many votes follow a ranking "
            "as follow its reverse.",
            Use(model="m-elo"),
        )
    x = posterior.mean.copy()
    x[design.indices(design.block("strength"))] *= mean
    x[design.indices(design.block("discrimination"))] = theta / mean - 1
    return x


def with_free_scale(design: Design) -> Design:
    """Return the design with the sum of theta left free, under a ridge."""
    theta = design.block("discrimination")
    free = replace(theta, effect=replace(theta.effect, zero_sum=False), sd=RIDGE_SD)
    blocks = [free if block is theta else block for block in design.blocks]
    layout = build_layout(blocks, design.layout.n_local)
    return replace(design, blocks=tuple(blocks), layout=layout)


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
    seen = visible_votes(model, votes)
    folded = seen.folded
    first = folded[:, FIRST] + folded[:, TIE]
    second = folded[:, SECOND] + folded[:, TIE]
    score = np.concatenate([first, second])
    winner = np.concatenate([seen.i, seen.j])
    loser = np.concatenate([seen.j, seen.i])
    scored = score > 0
    graph = csr_array((score[scored], (winner[scored], loser[scored])), shape=(n, n))
    _, component = connected_components(graph, connection="strong")
    return component == np.bincount(component).argmax()
