"""The words of the page, explained; and what was fitted, in words."""

from __future__ import annotations

from collections.abc import Collection

from bayes_arena.boards.standing import Standing
from bayes_arena.columns import ANNOTATORS, BOARD, meaning
from bayes_arena.fits.options import OWN
from bayes_arena.fits.result import Fit
from bayes_arena.version import __version__

ALWAYS = ("Elo", "Interval", "Rank range", "P(best)", "P")
# Words for which the columns of tables are explained.
OF_BOARD = {
    "Rank range": "rank_lower",
    "P(best)": "p_best",
    "Before": "elo_before",
    "Change": "elo_change",
}
WORDS = {
    "Elo": meaning(BOARD, "elo"),
    "Interval": "A range that holds the true value with the probability in its heading.",
    **{word: meaning(BOARD, name) for word, name in OF_BOARD.items()},
    "P": (
        "A probability; of an annotator, that the agreement is below 0.4 of the median "
        "annotator's (it does not count favourites or copied votes)."
    ),
    "Davidson": (
        "A model of wins, ties and losses in which all votes have equal weight, so that "
        "the board is an average over annotators."
    ),
    "Combined": (
        "Davidson's board, in which all votes have equal weight, moved towards the board "
        "in which votes weigh by how closely their annotator follows the ranking: as far "
        "as is safe, whatever annotators believe."
    ),
    "Agreement": meaning(ANNOTATORS, "agreement"),
    "Anomalous": (
        "From P 0.8 on, with ten votes and a fault: a favourite, votes against the "
        "ranking, nothing but ties, one side, or no more agreement than chance; and so is "
        "an account that casts the same votes as another. From 0.5 on, or with three in "
        "four votes for a side, suspect. A probability is no proof: look at the votes."
    ),
    "Differs": (
        "Agrees no more than chance with the others, and yet votes by a ranking: one of "
        "its own. That is another taste, and not a fault."
    ),
    "Favourite": (
        "A competitor to which an annotator gives far more, or far less, than everybody "
        "else's votes lead to expect. It is reported and not corrected."
    ),
    "Contested": (
        "A competitor about which annotators disagree far more than about the others."
    ),
    "Two groups": (
        "Annotators who prefer some competitors to others more than the rest do, beyond "
        "chance and apart from how closely they follow the ranking. Nothing is corrected "
        "for them: the board is the average over all."
    ),
}


def words_of(used: Collection[str]) -> dict[str, str]:
    """Return what words mean: those of every page, and of the others those that are used."""
    return {word: text for word, text in WORDS.items() if word in {*ALWAYS, *used}}


def fitted_in_words(standing: Standing, share: float | None = None) -> dict[str, str]:
    """Return what was fitted, and how its intervals came about.

    ``share`` is that of a combined board.
    """
    fit = standing.fit
    uncertainty = standing.uncertainty
    intervals = uncertainty.name
    if uncertainty.cluster:
        intervals += f" by {uncertainty.cluster}"
    facts = {
        "Model": fit.plan,
        "Prior": prior_in_words(fit),
        "Intervals": f"{intervals}, {100 * standing.look.level:g} %",
        "Votes": f"{fit.votes.n_votes:,.0f}",
        "Seed": str(standing.look.seed),
        "Made with": f"bayes-arena {__version__}",
    }
    if share is not None:
        facts["Combined"] = f"{100 * share:.0f} % of the way to am-davidson"
    left_out = [f"{n:,} {reason}" for reason, n in fit.votes.dropped.items()]
    if left_out:
        facts["Left out"] = ", ".join(left_out)
    return facts


def prior_in_words(fit: Fit) -> str:
    """Return the prior of the strengths."""
    if fit.method == OWN:
        return "of your own"
    if fit.prior.is_flat:
        return "flat: maximum likelihood"
    block = fit.posterior.design.block("strength")
    known = "estimated from the votes" if block.is_estimated else "given"
    return f"strengths are normal; standard deviation {block.sd:.2f} logits, {known}"
