"""Which of several judgements counts, and when votes alone do not tell who is honest.

Those left out casting ``TOO_MANY`` of the votes or more, nobody is judged: from votes alone the two sides look the
same. Nor is anybody where many seem to guess and yet agree with each other: to a bloc that made the ranking, honest
annotators guess, but those who guess have nothing that they could agree on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayes_arena.errors import listing
from bayes_arena.trust.judgement import Judgement
from bayes_arena.trust.mixture.shares import GUESSER
from bayes_arena.trust.plain.ballots import Ballots
from bayes_arena.trust.search.blocs import disagreement
from bayes_arena.votes.outcomes import LOSS, WIN

TOO_MANY, DOUBTFUL, OF_ONE_MIND = 0.4, 0.1, 0.9
"""Shares of the votes by those left out: where nobody can be judged, and where the likeliest reading may be the wrong
one. The likeliest counts whose left out are of one mind: a crowd taken for a bloc is not. Blocs were at .97 or more,
crowds at .56 to .77."""
MANY_GUESS = 0.2
"""Share of the votes of seeming guessers from which it is asked whether they agree."""
AGREED, BEYOND = 0.47, 4.0
"""Share of the votes of seeming guessers against each other's ranking, and standard errors of it away from 1/2, from
which they do not guess. Those who do were at .471 or more, and 2.3 errors away; crowds taken for them at .40 to .45."""
CROWD = 5
"""Annotators: fewer are no crowd that could be taken for a bloc."""


def choose(judgements: Sequence[Judgement]) -> Judgement:
    """Return the judgement that counts, or one in which nobody is judged.

    Parameters
    ----------
    judgements : sequence of Judgement
        One for each reading of the votes, the likeliest first.
    """
    best = judgements[0]
    share = best.share_left_out
    if _share_alone(best) > DOUBTFUL and _alone(best).sum() >= CROWD:
        rivals = [(_of_one_mind(one), one) for one in judgements if _share_alone(one) > DOUBTFUL]
        mind, best = max(rivals, key=lambda pair: min(pair[0], OF_ONE_MIND))
        share = best.share_left_out if mind >= OF_ONE_MIND else max(best.share_left_out, TOO_MANY)
    unjudged = _too_many(share, best) if share >= TOO_MANY else _no_guessers(best)
    return replace(best, kinds=None, drips=(), unjudged=unjudged) if unjudged else best


def _alone(judgement: Judgement) -> NDArray[np.bool_]:
    """Who is left out, and is in no campaign: those are of one mind, being determined."""
    return np.asarray(judgement.left_out & (judgement.campaign < 0))


def _share_alone(judgement: Judgement) -> float:
    """Share of the votes that they cast."""
    return float(judgement.votes[_alone(judgement)].sum() / judgement.votes.sum())


def _of_one_mind(judgement: Judgement) -> float:
    """Share of the decided votes on those whom they favour or hate that are as they want it.

    A bloc votes as one; a crowd that is taken for those who hate the bloc's competitor is of several minds.
    """
    cells, suspect = judgement.cells, _alone(judgement)[judgement.cells.annotator]
    aim, down = (of_annotators[cells.annotator] for of_annotators in judgement.aims)
    on = suspect & ((cells.a == aim) | (cells.b == aim))
    towards_a = np.where(cells.a == aim, ~down, down)
    wanted = np.where(towards_a, cells.counts[:, WIN], cells.counts[:, LOSS])[on].sum()
    return float(wanted / max(cells.counts[on][:, [WIN, LOSS]].sum(), 1.0))


def _no_guessers(judgement: Judgement) -> str:
    """Say that nobody is judged where many seem to guess and agree with each other; else nothing."""
    if judgement.kinds is None:
        return ""
    guess = judgement.kinds.probability[GUESSER] > 0.5
    share = float(judgement.votes[guess].sum() / judgement.votes.sum())
    if share <= MANY_GUESS:
        return ""
    against, error = disagreement(Ballots.of(judgement.cells), guess), 0.5 / math.sqrt(judgement.votes[guess].sum())
    if against > min(AGREED, 0.5 - BEYOND * error):
        return ""
    return (
        f"Those who by the ranking of the others all but guess cast {share:.0%} of the votes, and agree with each "
        "other. Votes alone do not tell which ranking is right, so nobody is judged."
    )


def _too_many(share: float, judgement: Judgement) -> str:
    names, kinds = judgement.cells.competitors, judgement.kinds
    aims = [one.competitor for one in judgement.campaigns] + [one for one, _ in (kinds.aims if kinds else ())]
    about = f" ({listing(dict.fromkeys(names[one] for one in aims))})" if aims else ""
    return (
        f"Annotators who pull together{about} may have cast {share:.0%} of the votes. Where they cast so many, votes "
        "alone do not tell who is honest, so nobody is judged."
    )
