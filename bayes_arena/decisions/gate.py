"""A gate: whether the votes show what is required of one competitor against another, do not, or are too few.

With d the gap r*_new - r*_base in the draws used for decisions, m a margin and a level, it is required that

    better       d > m
    not worse    d > -m
    settled      d > 0, or d < 0.

The gate says yes where the probability of that is at least the level, no where the probability of the contrary is, and
otherwise that there are not enough votes. Nothing is said of two that no path of votes connects. How often it is wrong
is measured in ``benchmarks/gate.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from bayes_arena.decisions.verdict import chance, order_of
from bayes_arena.decisions.versus import Versus, versus
from bayes_arena.errors import ModelError, require_choice
from bayes_arena.fits.result import Fit
from bayes_arena.ratings.decision_draws import decision_strengths
from bayes_arena.ratings.elo import EloScale
from bayes_arena.ratings.estimates import pair_indices
from bayes_arena.ratings.probabilities import share_above

Required = Literal["better", "not-worse", "settled"]
Answer = Literal["yes", "no", "not enough votes"]


@dataclass(frozen=True)
class Gate:
    """Whether the votes show what is required, why in one sentence, and the probability of what is required."""

    answer: Answer
    why: str
    probability: float

    def __str__(self) -> str:
        return f"{self.answer}: {self.why}"


def gate(fit: Fit, new: str, base: str, *, required: Required, margin: float = 0.0, level: float = 0.95) -> Gate:
    """Say whether the votes show what is required of a competitor, with a probability of ``level``.

    ``margin`` is in Elo points: by how much it has to be better, or may be worse.
    """
    require_choice("required", required, get_args(Required))
    if not 0 <= margin < np.inf or (required != "better" and (margin > 0) != (required == "not-worse")):
        raise ModelError(
            f"margin={margin!r} does not go with {required!r}: 'not-worse' needs a margin in Elo points above 0, "
            "'better' takes one, and 'settled' none."
        )
    found = versus(fit, new, base, level=level)
    (i,), (j,) = pair_indices(fit, [(new, base)])
    strength = decision_strengths(fit)
    gap = EloScale().points_per_logit * (strength[:, i] - strength[:, j])
    least = -margin if required == "not-worse" else margin
    p = float(share_above(gap - least))
    if not found.connected:
        return Gate("not enough votes", f"no votes compare {new} and {base}, not even through others.", p)
    if required == "settled":
        p = max(p, 1 - p)
        better, worse = (new, base) if found.p_better >= 0.5 else (base, new)
        return _answer(p, 0.0, f"{better} is better than {worse}", "", found)
    by = f" by {margin:g} Elo points or more" if margin else ""
    is_so = f"{new} is better than {base}{by}" if required == "better" else f"{new} is not worse than {base}{by}"
    is_not = f"{new} is worse than {base}{by}" if required == "not-worse" else f"{new} is not better than {base}{by}"
    return _answer(p, 1 - p, is_so, is_not, found)


def _answer(p: float, contrary: float, is_so: str, is_not: str, found: Versus) -> Gate:
    """Return the answer, given the probabilities of what is required and of its contrary."""
    level = found.level
    if p >= level:
        return Gate("yes", f"{is_so} (probability {chance(p, level)}).", p)
    if contrary >= level:
        return Gate("no", f"{is_not} (probability {chance(contrary, level)}).", p)
    more = ""
    if found.votes_to_go and np.isfinite(found.votes_to_go):
        more = f" {order_of(found.votes_to_go).capitalize()} more votes on the two would settle which is better."
    return Gate("not enough votes", f"that {is_so} has a probability of {chance(p, level)}, not {level:g}.{more}", p)
