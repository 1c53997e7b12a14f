"""Whether a board depends on the prior.

In a chain or a league, where competitors met only those of similar strength, the estimated
spread of the strengths pulls the ends together.  A second fit with a weak prior tells.
"""

from __future__ import annotations

import numpy as np

from bayes_arena.boards.standing import Standing
from bayes_arena.errors import ArenaError, listing
from bayes_arena.fits.fit import find_posterior
from bayes_arena.inference.scale import board_of
from bayes_arena.model.priors import PRIORS
from bayes_arena.threads import threads_for

MOST_MOVED = 2.0  # half-widths by which a score may move


def prior_sensitivity(standing: Standing) -> str:
    """Return a sentence about who moves under a weak prior, or nothing.

    Only models without theta, slices and style are asked, under the default prior.
    """
    fit = standing.fit
    model = fit.model
    is_plain = not (model.needs_annotators or model.strength_by or model.style)
    if not is_plain or fit.method != "gaussian" or fit.prior != PRIORS["default"]:
        return ""
    try:
        weak = find_posterior(fit.votes, model, PRIORS["weak"], "gaussian")
    except ArenaError:
        return ""
    with threads_for(fit.votes.n_competitors):
        strength = board_of(weak).strength
    moves = np.abs(strength - standing.strength) / standing.half_width
    moves[~standing.ranked] = 0.0
    if moves.max() <= MOST_MOVED:
        return ""
    worst = np.argsort(-moves)
    worst = worst[moves[worst] > MOST_MOVED]
    names = [fit.votes.competitors[c] for c in worst]
    return (
        f"The scores of {listing(names)} depend on the prior: they met hardly anybody of "
        "another strength. Use prior='weak'."
    )
