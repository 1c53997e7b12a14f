"""Which votes have a combined board, and what is said of it."""

from __future__ import annotations

import warnings

from bayes_arena.boards.look import Look
from bayes_arena.errors import ArenaError, ArenaWarning, ModelError, VotesError, listing
from bayes_arena.fits.fit import fit as fit_model
from bayes_arena.fits.result import Fit
from bayes_arena.model.priors import PRIORS
from bayes_arena.model.spec import PRESETS
from bayes_arena.rating.rated import MOST_JUDGED
from bayes_arena.said import Said, Use
from bayes_arena.votes.votes import Votes

FEWEST_COMPETITORS = 5  # with fewer no weighing is safe
LARGEST_GAP = 0.01  # share of the votes that may lack an annotator
NO_SHARE = 0.005  # of the way, below which the board is that of equal votes
COMBINED = Use(combined=True)


def require_combinable(fit: Fit, look: Look) -> None:
    """Raise an error unless the board of a fit can be combined with am-Davidson's.

    Raises
    ------
    ModelError
        If the model, prior, method or intervals are not the default, or there are too few
        competitors, or too few or too many annotators.
    VotesError
        If annotators are not known, or weights are no numbers of votes.
    """
    require_default_fit(fit)
    for name, value in (("interval", look.interval), ("cluster", look.cluster)):
        if value is not None:
            given = Use(**{name: value})
            raise ModelError(
                (COMBINED, " has intervals of its own: leave out ", given, ".")
            )
    require_votes(fit.votes)


def require_default_fit(fit: Fit) -> None:
    """Refuse a fit that was not made by default."""
    if fit.model.name != "davidson":
        known = fit.model.name in PRESETS
        remedies = (Use(model="davidson"),) if known else ()
        text: Said = (COMBINED, f" goes with the default model, not {fit.model.name}.")
        raise ModelError(text, *remedies)
    if fit.prior != PRIORS["default"]:
        raise ModelError(
            (COMBINED, " goes with the default prior."), Use(prior="default")
        )
    if fit.method != "gaussian":
        text = (COMBINED, f" goes with the default method, not {fit.method}.")
        raise ModelError(text, Use(method="gaussian"))


def require_votes(votes: Votes) -> None:
    """Refuse votes of which am-Davidson tells too little."""
    n, m = votes.n_competitors, votes.n_annotators
    if n < FEWEST_COMPETITORS:
        raise ModelError(
            (COMBINED, f" takes {FEWEST_COMPETITORS} competitors, and there are {n}.")
        )
    votes.require_annotators()
    if m == 1:
        raise ModelError((COMBINED, " weighs annotators, and there is one."))
    if m > MOST_JUDGED:
        raise ModelError(
            (COMBINED, f" takes up to {MOST_JUDGED:,} annotators, and there are {m:,}.")
        )
    if votes.has_fractions:
        raise VotesError(
            (COMBINED, " takes whole numbers of votes, and some weights are none.")
        )
    known = votes.known("annotator")
    n_unknown = votes.n_votes - known.n_votes
    if n_unknown > LARGEST_GAP * votes.n_votes:
        raise VotesError(
            (
                COMBINED,
                f" takes votes of known annotators, and {n_unknown:,.0f} of "
                f"{votes.n_votes:,.0f} lack one: more than one in a hundred.",
            )
        )
    if lost := sorted(set(votes.competitors).difference(known.competitors)):
        raise VotesError(
            (
                COMBINED,
                f" needs a known annotator for each competitor: {listing(lost)}.",
            )
        )


def is_combinable(fit: Fit, look: Look) -> bool:
    """Whether a combined board can be asked for."""
    try:
        require_combinable(fit, look)
    except ArenaError:
        return False
    return True


def two_fits(fit: Fit) -> tuple[Fit, Fit]:
    """Return Davidson's and am-Davidson's fits to the votes of known annotators."""
    known = fit.votes.known("annotator")
    plain = fit if known is fit.votes else fit_model(known, seed=fit.seed)
    with warnings.catch_warnings():  # they are not about the board
        warnings.simplefilter("ignore", ArenaWarning)
        return plain, fit_model(known, model="am-davidson", seed=fit.seed)


def describe_share(share: float) -> str:
    """Return how far the combined board goes, in a sentence."""
    if share < NO_SHARE:
        return "Equal votes: no weighing is safe here."
    return (
        f"This board goes {100 * share:.0f} % of the way from equal votes to votes weighed "
        "by how closely their annotator follows the ranking: as far as is safe."
    )
