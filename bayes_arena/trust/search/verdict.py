"""Which of several judgements counts, and when votes alone do not tell who is honest.

Those left out casting ``TOO_MANY`` of the votes or more, nobody is judged: from votes alone the two sides look the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayes_arena.errors import listing
from bayes_arena.trust.judgement import Judgement
from bayes_arena.votes.cells import LOSS, WIN

TOO_MANY, DOUBTFUL, OF_ONE_MIND = 0.4, 0.2, 0.9
"""Shares of the votes by those left out: where nobody can be judged, and where the likeliest reading may be the wrong
one. Of all such readings the one counts whose left out are of one mind: a crowd taken for a bloc is not."""
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
    if share > DOUBTFUL and best.left_out.sum() >= CROWD:
        mind, best = max(
            ((_of_one_mind(one), one) for one in judgements if one.share_left_out > DOUBTFUL), key=lambda pair: pair[0]
        )
        share = best.share_left_out if mind > OF_ONE_MIND else max(best.share_left_out, TOO_MANY)
    return best if share < TOO_MANY else replace(best, kinds=None, drips=(), unjudged=_too_many(share, best))


def _of_one_mind(judgement: Judgement) -> float:
    """Share of the decided votes on those whom the left out favour or hate that are as they want it.

    A bloc votes as one; a crowd that is taken for those who hate the bloc's competitor is of several minds.
    """
    cells, suspect = judgement.cells, judgement.left_out[judgement.cells.annotator]
    aims = [judgement.aim(k) for k in range(cells.n_annotators)]
    aim, down = np.array([one for one, _ in aims])[cells.annotator], np.array([two for _, two in aims])[cells.annotator]
    on = suspect & ((cells.a == aim) | (cells.b == aim))
    towards_a = np.where(cells.a == aim, ~down, down)
    wanted = np.where(towards_a, cells.counts[:, WIN], cells.counts[:, LOSS])[on].sum()
    return float(wanted / max(cells.counts[on][:, [WIN, LOSS]].sum(), 1.0))


def _too_many(share: float, judgement: Judgement) -> str:
    names, kinds = judgement.cells.competitors, judgement.kinds
    aims = [one.competitor for one in judgement.campaigns] + [one for one, _ in (kinds.aims if kinds else ())]
    about = f" ({listing(dict.fromkeys(names[one] for one in aims))})" if aims else ""
    return (
        f"Annotators who pull together{about} may have cast {share:.0%} of the votes. Where they cast so many, votes "
        "alone do not tell who is honest, so nobody is judged."
    )
