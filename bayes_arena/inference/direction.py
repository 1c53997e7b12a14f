"""The direction of a ranking, where many annotators vote against it.

If theta and r change their signs, the leads theta (r_i - r_j) remain.  So where many
annotators vote against the ranking there may be two posteriors, with opposite rankings;
that of less loss, or free energy, is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bayes_arena.arrays import Floats
from bayes_arena.inference.posterior import Posterior
from bayes_arena.model.constants import ABOUT_HALF, MANY_REVERSED, NEAR_TIE
from bayes_arena.model.design import Design


def better_direction(
    search: Callable[[Design, Floats | None], Posterior], design: Design
) -> Posterior:
    """Return what a search finds; where many are reversed, the better of two.

    Parameters
    ----------
    search : callable
        Of the mode, or of the nearest Gaussian, given a design and where to start.
    design : Design
        Its spreads are where the search starts.
    """
    posterior = search(design, None)
    if share_reversed(posterior) < MANY_REVERSED:
        return posterior
    mirror = search(posterior.design, reversed_start(posterior))
    best, other = sorted([posterior, mirror], key=lambda found: found.loss)
    if best.mean_of("strength") @ other.mean_of("strength") > 0:
        return best
    return replace(best, mirror_gap=other.loss - best.loss)


def direction_is_open(posterior: Posterior) -> bool:
    """Whether the reverse of the ranking is about as likely.

    It is, where the losses say so; and where about half the votes, or the annotators,
    follow either: then the losses tell which half is the surer one, not which is right.
    So it is of maximum likelihood, whose two directions have the same loss.
    """
    if not posterior.design.has("discrimination"):
        return False
    theta = 1 + posterior.mean_of("discrimination")
    largest_share = max(share_reversed(posterior), float((theta < 0).mean()))
    gap = posterior.mirror_gap
    return largest_share >= ABOUT_HALF or (gap is not None and gap < NEAR_TIE)


def share_reversed(posterior: Posterior) -> float:
    """Return the share of the votes whose annotators have a negative theta."""
    design = posterior.design
    if not design.has("discrimination"):
        return 0.0
    theta = 1 + posterior.mean_of("discrimination")
    votes = np.bincount(design.votes.annotator, design.n_votes, len(theta))
    return float(votes[theta < 0].sum() / votes.sum())


def reversed_start(posterior: Posterior) -> Floats:
    """Return where to look for the reversed ranking: at -r and 2 - theta."""
    design = posterior.design
    x = posterior.mean.copy()
    for name in ("strength", "discrimination"):
        x[design.indices(design.block(name))] *= -1
    return x
